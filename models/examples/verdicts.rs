//! Renews or checks what is committed of the verdicts.
//!
//! `verdicts renew` runs every documented run, writes `models/goldens/verdicts.json` and renews the tables of
//! the README and of `docs/`; `verdicts renew PROTOCOL` runs those of one protocol and keeps the others. `verdicts check` runs them
//! and fails if anything differs from what is committed. `verdicts compare FILE` does so with what
//! `surehold check --format json` has written, and runs nothing. `verdicts beyond` runs what is too large for every
//! check, one after the other with 12 GiB and ten minutes each, and writes `models/goldens/beyond.json`. `verdicts alone
//! [PROTOCOL]` takes each guard of which the tables say that its removal alone is unnoticed away in every ci scope, asks
//! everything there, and fails if something breaks after all.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use surehold_models::everything::{self, AnyProtocol};
use surehold_models::explore::Options;
use surehold_models::rebalance::runs::Rebalance;
use surehold_models::report::{PAGES, Row, renew};
use surehold_models::runs::{Manner, Protocol as _, SharedRun, limited_to};

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("compare") {
        return compare(&std::env::args().nth(2).expect("compare takes a file"));
    }
    let command = std::env::args().nth(1);
    if command.as_deref() == Some("beyond") {
        return run_beyond();
    }
    if command.as_deref() == Some("alone") {
        return alone(std::env::args().nth(2).as_deref());
    }
    let only = std::env::args().nth(2).filter(|_| command.as_deref() == Some("renew"));
    let rows = match only {
        Some(protocol) => renewed(&protocol),
        None => run_all(everything::documented()),
    };
    let golden = root().join("models/goldens/verdicts.json");
    let text = serde_json::to_string_pretty(&rows).expect("rows are plain data") + "\n";
    match command.as_deref() {
        Some("renew") => {
            std::fs::create_dir_all(root().join("models/goldens")).expect("goldens can be written");
            std::fs::write(golden, text).expect("goldens can be written");
            let read = |page| std::fs::read_to_string(root().join(page)).expect("there is a page");
            let old = PAGES.map(read);
            let new = renew(&old, &rows, &beyond()).expect("each table has its place");
            for (page, text) in PAGES.iter().zip(new) {
                std::fs::write(root().join(page), text).expect("a page can be written");
            }
            ExitCode::SUCCESS
        }
        Some("check") => {
            let committed = std::fs::read_to_string(golden).expect("goldens are committed");
            if committed == text {
                println!("{} verdicts are as committed", rows.len());
                return ExitCode::SUCCESS;
            }
            let committed: Vec<Row> = serde_json::from_str(&committed).expect("goldens are JSON");
            for row in rows.iter().filter(|row| !committed.contains(row)) {
                println!("not as committed: {row:?}");
            }
            ExitCode::FAILURE
        }
        _ => {
            eprintln!(
                "usage: verdicts renew [PROTOCOL]|check|compare FILE|beyond|alone [PROTOCOL]"
            );
            ExitCode::from(2)
        }
    }
}

/// Whether what is said to be unnoticed alone is so in every ci scope.
fn alone(only: Option<&str>) -> ExitCode {
    let protocols = everything::protocols().into_iter();
    let meant = protocols.filter(|protocol| only.is_none_or(|name| name == protocol.name()));
    let runs: Vec<_> = meant.flat_map(AnyProtocol::alone).collect();
    let noticed: Vec<_> =
        run_all(runs).into_iter().filter(|row| row.verdict != "verified").collect();
    for row in &noticed {
        println!("{} {:?} in {}: {}", row.protocol, row.guard_removed, row.scope, row.verdict);
    }
    println!("{} removals are noticed though they are said not to be", noticed.len());
    if noticed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn beyond() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("models/goldens/beyond.json"));
    serde_json::from_str(&text.expect("goldens are committed")).expect("goldens are JSON")
}

/// Runs what is beyond every check. Where time or memory do not suffice, the row says so.
fn run_beyond() -> ExitCode {
    let options = Options { memory_limit_bytes: Some(12 << 30), ..limited_to(10 * 60) };
    let manner = Manner { options, ..Manner::default() };
    let mut rows = Vec::new();
    for run in surehold_models::rebalance::verdicts::beyond() {
        let finished = Rebalance::execute(&run, &manner);
        let (variant, scope) = (finished.variant, finished.scope);
        println!("{variant} {scope}: {} {}", finished.verdict_text(), finished.unique_states);
        rows.push(Row::of(&finished));
    }
    let text = serde_json::to_string_pretty(&rows).expect("rows are plain data") + "\n";
    std::fs::write(root().join("models/goldens/beyond.json"), text)
        .expect("goldens can be written");
    ExitCode::SUCCESS
}

/// What a check has written must be what is committed, but for what a row tells besides.
fn compare(file: &str) -> ExitCode {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let fresh: Vec<Value> = serde_json::from_str(&text).expect("a check writes a JSON array");
    let golden = root().join("models/goldens/verdicts.json");
    let text = std::fs::read_to_string(golden).expect("goldens are committed");
    let committed: Vec<Value> = serde_json::from_str(&text).expect("goldens are JSON");
    let differs = |(old, new): &(&Value, &Value)| FIELDS.iter().any(|name| old[name] != new[name]);
    let differing: Vec<_> = committed.iter().zip(&fresh).filter(differs).collect();
    for (old, new) in &differing {
        let fields = |row: &Value| FIELDS.map(|name| row[name].to_string()).join(" ");
        println!("committed: {}\n    fresh: {}", fields(old), fields(new));
    }
    if differing.is_empty() && committed.len() == fresh.len() {
        println!("{} verdicts are as committed", fresh.len());
        ExitCode::SUCCESS
    } else {
        println!("{} committed, {} fresh", committed.len(), fresh.len());
        ExitCode::FAILURE
    }
}

/// What a committed row and a result of a check both have.
const FIELDS: [&str; 12] = [
    "protocol",
    "variant",
    "guard_removed",
    "scope",
    "bounds",
    "asked",
    "verdict",
    "property",
    "unique_states",
    "depth",
    "cut_states",
    "unsettled_states",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The committed rows, those of one protocol run again; in the order of the tables.
fn renewed(protocol: &str) -> Vec<Row> {
    let golden = root().join("models/goldens/verdicts.json");
    let text = std::fs::read_to_string(golden).expect("goldens are committed");
    let mut rows: Vec<Row> = serde_json::from_str(&text).expect("goldens are JSON");
    rows.retain(|row| row.protocol != protocol);
    let runs = everything::documented().into_iter().filter(|run| run.protocol() == protocol);
    rows.extend(run_all(runs.collect()));
    let order = everything::protocols().map(AnyProtocol::name);
    rows.sort_by_key(|row| order.iter().position(|name| *name == row.protocol));
    rows
}

/// Two runs at a time, as the machines have two cores; rows in the order of the tables.
fn run_all(runs: Vec<SharedRun>) -> Vec<Row> {
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(run) = runs.get(at) else { break };
                    let row = Row::of(&run.execute(&Manner::default()));
                    rows.lock().expect("no run panics").push((at, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().expect("no run panics");
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().map(|(_, row)| row).collect()
}
