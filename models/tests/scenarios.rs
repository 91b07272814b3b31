//! Each scenario ends for each variant as its file says.

use std::path::PathBuf;

use surehold_models::compaction::replay::{Replayed, replay, variants};
use surehold_models::compaction::scenario::Scenario;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios/compaction")
}

fn scenario(path: &PathBuf) -> Scenario {
    let text = std::fs::read_to_string(path).expect("a scenario can be read");
    Scenario::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn played(scenario: &Scenario, variant: &str) -> Replayed {
    let replayed = replay(scenario, variant).expect("there is such a variant");
    replayed.expect("each move was read before")
}

#[test]
fn every_scenario_ends_as_expected_for_every_variant() {
    let entries = std::fs::read_dir(directory()).expect("there are scenarios");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut wrong = Vec::new();
    for path in &paths {
        let scenario = scenario(path);
        for variant in variants() {
            let of = format!("{}, {variant}", scenario.name);
            match played(&scenario, variant).differences {
                None => wrong.push(format!("{of}: nothing is expected")),
                Some(differences) => {
                    wrong.extend(differences.into_iter().map(|d| format!("{of}: {d}")));
                }
            }
        }
        let unknown = scenario.expect.keys().filter(|name| !variants().contains(&name.as_str()));
        wrong.extend(unknown.map(|name| format!("{}: there is no variant {name}", scenario.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reported_race_loses_a_quarter_and_a_whole_block() {
    let scenario = scenario(&directory().join("cortex-7075.json"));
    let lost = |variant| played(&scenario, variant).outcome.lost.expect("it is always said");
    assert_eq!(lost("cortex-1.19"), ["1/4 of N", "all of block5"]);
    assert!(lost("verified").is_empty());
}
