//! Counterexamples as files.

use std::fs;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use crate::runs::Finished;

/// A directory that takes counterexamples.
#[derive(Debug)]
pub(super) struct Shelf {
    directory: PathBuf,
}

impl Shelf {
    /// Makes the directory if need be, before anything is run: a long check must not be for nothing.
    pub(super) fn at(directory: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(directory).map_err(|error| {
            Failure::Usage(format!("cannot create {}: {error}", directory.display()))
        })?;
        Ok(Self { directory: directory.to_path_buf() })
    }

    /// Writes the run into a file of its own if it has a counterexample.
    pub(super) fn put(&self, finished: &Finished) -> Result<(), Failure> {
        let Some(name) = file_name(finished) else {
            return Ok(());
        };
        let path = self.directory.join(name);
        let written = serde_json::to_string_pretty(finished)
            .map_err(std::io::Error::from)
            .and_then(|text| fs::write(&path, text + "\n"));
        written.map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display())))
    }
}

/// `<variant>[-<guards>]-<scope>-<property>.json`, guards with a plus between them.
fn file_name(finished: &Finished) -> Option<String> {
    let property = finished.property.as_deref()?;
    finished.counterexample.as_ref()?;
    let guards = finished.guard_removed.join("+");
    let parts = [finished.variant, &guards, finished.scope, property];
    let named: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let name = named.join("-");
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-.+".contains(c) { c } else { '-' }
    };
    Some(name.chars().map(plain).collect::<String>() + ".json")
}
