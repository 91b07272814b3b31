//! What fuzzing found, as a scenario: a walk by its bytes, and what it shows of each variant.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fuzz::Finding;
use crate::targets::{Subject, Target, Unknown};

/// A walk, kept because it once showed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// Whose walk it is.
    pub protocol: String,
    /// Its name.
    pub name: String,
    /// What it shows, in a sentence.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// What happens, a line for each event, as it was when the walk was kept: for whoever reads the file.
    pub story: Vec<String>,
    /// The walk.
    pub walk: Walk,
    /// What it shows of each variant: a property, or `nothing`.
    pub expect: BTreeMap<String, String>,
}

/// The bytes of a walk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// The target that reads them.
    pub target: String,
    /// The bytes, two hexadecimal digits each.
    pub bytes: String,
}

/// How a walk went for one variant.
pub struct Shown {
    /// The variant, as the file names it.
    pub subject: Subject,
    /// What it shows.
    pub finding: Option<Box<Finding>>,
    /// The property that the file expects, or `nothing`.
    pub expected: String,
}

/// What of a variant shows that it shows nothing.
pub const NOTHING: &str = "nothing";

impl Shown {
    /// The property that is broken, or `nothing`.
    #[must_use]
    pub fn shows(&self) -> &str {
        self.finding.as_ref().map_or(NOTHING, |finding| &finding.property)
    }
}

/// What cannot be read of such a file, and why.
#[derive(Debug)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl From<Unknown> for Unreadable {
    fn from(unknown: Unknown) -> Self {
        Self(unknown.to_string())
    }
}

impl Found {
    /// Of an input that shows something of a subject, and what it shows of the verified protocol.
    ///
    /// # Errors
    ///
    /// If the subject is none of the target's.
    pub fn of(
        target: &Target,
        subject: &Subject,
        data: &[u8],
        finding: &Finding,
    ) -> Result<Self, Unknown> {
        let verified = target.walker(&Subject::verified())?(data);
        let verified = verified.err().map_or(NOTHING.into(), |finding| finding.property);
        let shown = (subject.to_string(), finding.property.clone());
        let name = shown.0.replace(" - ", "-without-").replace(' ', "-");
        Ok(Self {
            protocol: target.protocol.into(),
            name: format!("{name}-{}", finding.property),
            title: format!("{subject}: {} is broken", finding.property),
            source: format!("found by {}", target.name),
            story: finding.to_string().lines().map(str::to_string).collect(),
            walk: Walk { target: target.name.into(), bytes: hex(data) },
            expect: [(Subject::verified().to_string(), verified), shown].into(),
        })
    }

    /// Reads such a file's text.
    ///
    /// # Errors
    ///
    /// If it is none; the error says what cannot be read.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        serde_json::from_str(text).map_err(|error| Unreadable(error.to_string()))
    }

    /// Reads such a file.
    ///
    /// # Errors
    ///
    /// As [`Found::parse`], with the file's name; or if it cannot be read.
    pub fn load(path: &Path) -> Result<Self, Unreadable> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let found = text.and_then(|text| Self::parse(&text).map_err(|error| error.to_string()));
        found.map_err(|error| Unreadable(format!("{}: {error}", path.display())))
    }

    /// Walks with each variant that the file names.
    ///
    /// # Errors
    ///
    /// If it names a target, a variant or a guard that there is not, or bytes that are none.
    pub fn replay(&self) -> Result<Vec<Shown>, Unreadable> {
        let target = Target::named(&self.walk.target)?;
        if target.protocol != self.protocol {
            return Err(Unreadable(format!("{} walks {}", target.name, target.protocol)));
        }
        let bytes = &self.walk.bytes;
        let data = bytes_of(bytes).ok_or_else(|| Unreadable(format!("`{bytes}` are no bytes")))?;
        let one = |(name, expected): (&String, &String)| {
            let subject = subject_of(name);
            let finding = target.walker(&subject)?(&data).err();
            Ok(Shown { subject, finding, expected: expected.clone() })
        };
        self.expect.iter().map(one).collect()
    }
}

/// As [`Subject`] is written.
fn subject_of(name: &str) -> Subject {
    let mut parts = name.split(" - ").map(str::to_string);
    let variant = parts.next().unwrap_or_default();
    Subject { variant, without: parts.collect() }
}

fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8));
    let digits = digits.collect::<Option<Vec<u8>>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|c| c[0] << 4 | c[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::{bytes_of, hex, subject_of};
    use crate::targets::Subject;

    #[test]
    fn bytes_and_subjects_are_read_as_they_are_written() {
        let data: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes_of(&hex(&data)), Some(data));
        for text in ["0", "0g", "+1", "é0"] {
            assert_eq!(bytes_of(text), None, "{text}");
        }
        let without = vec!["own-object".to_string(), "done-again".to_string()];
        for subject in [
            Subject::verified(),
            Subject { without, ..Subject::verified() },
            subject_of("druid-18161"),
        ] {
            assert_eq!(subject_of(&subject.to_string()), subject);
        }
    }
}
