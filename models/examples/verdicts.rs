//! Renews or checks what is committed of the verdicts.
//!
//! `verdicts renew` runs every documented run, writes `models/goldens/verdicts.json` and renews the tables of
//! the README. `verdicts check` runs them and fails if anything differs from what is committed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use surehold_models::everything;
use surehold_models::report::{Row, renew};
use surehold_models::runs::Manner;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let rows = run_all();
    let golden = root().join("models/goldens/verdicts.json");
    let text = serde_json::to_string_pretty(&rows).expect("rows are plain data") + "\n";
    match std::env::args().nth(1).as_deref() {
        Some("renew") => {
            std::fs::create_dir_all(root().join("models/goldens")).expect("goldens can be written");
            std::fs::write(golden, text).expect("goldens can be written");
            let readme = root().join("README.md");
            let old = std::fs::read_to_string(&readme).expect("there is a README");
            let new = renew(&old, &rows).expect("the README has a place for each table");
            std::fs::write(readme, new).expect("the README can be written");
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
            eprintln!("usage: verdicts renew|check");
            ExitCode::from(2)
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Two runs at a time, as the machines have two cores; rows in the order of the tables.
fn run_all() -> Vec<Row> {
    let runs = everything::documented();
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
