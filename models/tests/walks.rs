//! What fuzzing found is kept in `models/scenarios/walks`: each shows of each variant what it says, and every run of
//! the tests replays it.

use std::path::{Path, PathBuf};

use surehold_models::found::Found;
use surehold_models::targets::{Subject, Target};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/walks");
    let files = std::fs::read_dir(folder).expect("there are walks");
    let mut files: Vec<_> = files.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn each_walk_shows_what_it_says() {
    for file in files() {
        let found = Found::load(&file).expect("a walk");
        for shown in found.replay().expect("it can be replayed") {
            let (name, subject) = (file.display(), &shown.subject);
            assert_eq!(shown.shows(), shown.expected, "{name}: {subject}");
        }
    }
}

#[test]
fn a_walk_of_what_is_not_there_is_refused() {
    let text = std::fs::read_to_string(&files()[0]).expect("a walk");
    let found = Found::parse(&text).expect("a walk");
    let refused = |change: fn(&mut Found)| {
        let mut other = found.clone();
        change(&mut other);
        other.replay().err().map(|error| error.to_string()).expect("it is refused")
    };
    assert!(refused(|found| found.walk.target = "none".into()).starts_with("there is no target"));
    assert!(refused(|found| found.walk.bytes = "0x".into()).contains("are no bytes"));
    assert!(refused(|found| found.protocol = "none".into()).contains("walks"));
    let nothing = || "nothing".to_string();
    let unknown =
        |found: &mut Found| drop(found.expect.insert("verified - none".into(), nothing()));
    let mut other = found.clone();
    unknown(&mut other);
    assert!(other.replay().err().expect("it is refused").to_string().contains("no guard none"));
    assert!(Found::parse("{}").is_err());
}

/// A seed of each protocol is made shorter and still loses what it lost.
#[test]
fn seeds_can_be_made_shorter() {
    for (target, seed, variant) in [
        ("compaction_ops", "7075-cortex-1.19-superseded", "cortex-1.19"),
        ("rebalance_ops", "18764-druid-18161-dropped-everywhere", "druid-18161"),
        ("commit_ops", "14920-pinot-14741-a-build-fails", "pinot-14741"),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-seeds");
        let data = std::fs::read(folder.join(target).join(seed)).expect("a seed");
        let target = Target::named(target).expect("a target");
        let subject = Subject { variant: variant.into(), without: Vec::new() };
        let walk = target.walker(&subject).expect("a variant");
        let first = walk(&data).expect_err("a seed shows something");
        let shrunk = target.shrink(&subject, &data, 300).expect("a variant").expect("it shows it");
        let found = walk(&shrunk.data).expect_err("what is shrunk shows something");
        assert_eq!((&found.property, found.shows), (&first.property, first.shows), "{seed}");
        assert_eq!(found.way(), shrunk.events, "{seed}");
        assert!(shrunk.events <= first.way(), "{seed}");
    }
}

/// What is shrunk is at most twice as long as the shortest way that the checker knows (docs/commit.md).
#[test]
fn what_is_shrunk_is_short() {
    for (seed, guard, shortest) in [
        ("without-end-given-up-reset-chain", "end-given-up", 14),
        ("without-ask-again-build-fails-recoverable", "ask-again", 3),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-seeds/commit_ops");
        let data = std::fs::read(folder.join(seed)).expect("a seed");
        let target = Target::named("commit_ops").expect("a target");
        let subject = Subject { without: vec![guard.into()], ..Subject::verified() };
        let shrunk = target.shrink(&subject, &data, 20_000).expect("a guard");
        let shrunk = shrunk.expect("a seed shows something");
        assert!(shrunk.events <= 2 * shortest, "{guard}: {}", shrunk.events);
    }
}

/// Whoever runs a target by hand or by script reads as many bytes as it does.
#[test]
fn scripts_say_how_long_inputs_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect(file);
    for target in Target::ALL {
        let (name, most) = (target.name, target.shape.max_len());
        assert!(read("fuzz/overnight").contains(&format!("{name}) echo {most} ;;")), "{name}");
        assert!(read("fuzz/table").contains(&format!("{name}) length={most} ;;")), "{name}");
        assert!(read("fuzz/README.md").contains(&format!("-max_len={most}")), "{name}");
        let run = read(".ci/run");
        let mut runs =
            run.lines().filter(|line| line.contains(&format!("fuzz run -s none {name} ")));
        assert!(runs.any(|line| line.ends_with(&format!("-max_len={most}"))), "{name}");
    }
}
