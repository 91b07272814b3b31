//! `surehold fuzz-replay`: one input of a fuzz target, told; made shorter, and kept as a scenario.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::exit::{Exit, Failure};
use crate::found::Found;
use crate::targets::{Subject, Target, Unknown};

/// What to replay.
#[derive(Debug, clap::Args)]
pub(super) struct FuzzReplay {
    /// The target, such as `compaction_ops`
    target: String,
    /// The input, as a fuzzer wrote it
    file: PathBuf,
    /// Whose walk it is: `verified`, or a variant of upstream's
    #[arg(long, default_value = "verified")]
    variant: String,
    /// Walk with the verified protocol without these guards
    #[arg(long, value_name = "GUARD")]
    without: Vec<String>,
    /// Make it shorter first, and write the input to this file
    #[arg(long, value_name = "OUT")]
    shrink: Option<PathBuf>,
    /// How many inputs shrinking may try
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    tries: usize,
    /// Write a scenario to this file; one in `models/scenarios/walks` is replayed by the tests
    #[arg(long, value_name = "OUT")]
    scenario: Option<PathBuf>,
}

impl FuzzReplay {
    /// Tells the walk. Exits 1 if it shows something.
    pub(super) fn run(&self) -> Result<Exit, Failure> {
        let unknown = |error: Unknown| Failure::Usage(error.to_string());
        let target = Target::named(&self.target).map_err(unknown)?;
        let subject = Subject { variant: self.variant.clone(), without: self.without.clone() };
        let walk = target.walker(&subject).map_err(unknown)?;
        let mut data = std::fs::read(&self.file)
            .map_err(|error| Failure::Usage(format!("{}: {error}", self.file.display())))?;
        let Err(mut finding) = walk(&data) else {
            println!("{subject}: nothing is found");
            return Ok(Exit::AsExpected);
        };
        if let Some(out) = &self.shrink {
            let shrunk = target.shrink(&subject, &data, self.tries).map_err(unknown)?;
            let shrunk = shrunk.expect("the input shows something");
            let (events, bytes, tried) = (shrunk.events, shrunk.data.len(), shrunk.tried);
            eprintln!("{events} events by {bytes} bytes; {tried} inputs were tried");
            data = shrunk.data;
            write(out, &data)?;
            finding = walk(&data).expect_err("what is shrunk shows the same");
        }
        println!("{subject}: {finding}");
        if let Some(out) = &self.scenario {
            let found = Found::of(&target, &subject, &data, &finding).map_err(unknown)?;
            let text = serde_json::to_string_pretty(&found).expect("it is plain data") + "\n";
            write(out, text.as_bytes())?;
        }
        Ok(Exit::Unexpected)
    }
}

fn write(out: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = std::fs::File::create(out).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| Failure::Usage(format!("{}: {error}", out.display())))
}
