//! The fuzz targets by name. libFuzzer, the tests on stable and `surehold fuzz-replay` run the same functions.

use std::fmt;
use std::sync::OnceLock;

use crate::fuzz::{Finding, Walked};
use crate::shrink::{Shape, Shrunk, shrink};
use crate::{commit, fuzz, rebalance};

/// Random walks of one protocol.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, as `cargo fuzz` knows it.
    pub name: &'static str,
    /// Whose walks they are.
    pub protocol: &'static str,
    /// How its bytes are read.
    pub shape: Shape,
    walker: fn(&Subject) -> Result<Walker, Unknown>,
    by_events: fn(&Subject) -> Result<ByEvents, Unknown>,
}

/// Walks of one variant, as the bytes say.
pub type Walker = Box<dyn Fn(&[u8]) -> Result<Walked, Box<Finding>> + Send + Sync>;

/// An input that shows the same by single events, as few as could be left after so many tries, if there is one.
pub type ByEvents = Box<dyn Fn(&[u8], usize) -> Option<Vec<u8>>>;

/// Who walks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The name of a variant: `verified`, or one of upstream's.
    pub variant: String,
    /// Of the verified protocol, which guards it is without.
    pub without: Vec<String>,
}

impl Subject {
    /// The verified protocol.
    #[must_use]
    pub fn verified() -> Self {
        Self { variant: VERIFIED.into(), without: Vec::new() }
    }

    fn from_env() -> Self {
        let names = std::env::var("SUREHOLD_WITHOUT").unwrap_or_default();
        let without = names.split(',').filter(|name| !name.is_empty()).map(str::to_string);
        Self {
            variant: std::env::var("SUREHOLD_VARIANT").unwrap_or_else(|_| VERIFIED.into()),
            without: without.collect(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.variant)?;
        self.without.iter().try_for_each(|guard| write!(f, " - {guard}"))
    }
}

const VERIFIED: &str = "verified";

/// A name that names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unknown {}

impl Target {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self {
            name: "compaction_ops",
            protocol: "compaction",
            shape: Shape { header: fuzz::HEADER, operation: 2, operations: fuzz::MAX_OPERATIONS },
            walker: of_compaction::walker,
            by_events: of_compaction::by_events,
        },
        Self {
            name: "rebalance_ops",
            protocol: "rebalance",
            shape: Shape {
                header: rebalance::fuzz::HEADER,
                operation: 2,
                operations: rebalance::fuzz::MAX_OPERATIONS,
            },
            walker: of_rebalance::walker,
            by_events: of_rebalance::by_events,
        },
        Self {
            name: "commit_ops",
            protocol: "commit",
            shape: Shape {
                header: commit::fuzz::HEADER,
                operation: 2,
                operations: commit::fuzz::MAX_OPERATIONS,
            },
            walker: of_commit::walker,
            by_events: of_commit::by_events,
        },
    ];

    /// The target of this name.
    ///
    /// # Errors
    ///
    /// If there is none; the error lists those there are.
    pub fn named(name: &str) -> Result<Self, Unknown> {
        let found = Self::ALL.into_iter().find(|target| target.name == name);
        found.ok_or_else(|| {
            let known = Self::ALL.map(|target| target.name).join(", ");
            Unknown(format!("there is no target {name}; known: {known}"))
        })
    }

    /// Walks of a variant.
    ///
    /// # Errors
    ///
    /// If the protocol has no such variant or guard, or guards are to be taken from an upstream variant.
    pub fn walker(&self, subject: &Subject) -> Result<Walker, Unknown> {
        if subject.variant != VERIFIED && !subject.without.is_empty() {
            let variant = &subject.variant;
            return Err(Unknown(format!("{variant} has no guards that could be taken away")));
        }
        (self.walker)(subject)
    }

    /// Makes what an input shows shorter, as long as the same property is broken, by the same race where races are told
    /// apart: by leaving out bytes, then events, then bytes again. Each time at most so many inputs are tried. `None` if
    /// the input shows nothing.
    ///
    /// # Errors
    ///
    /// As [`Target::walker`].
    pub fn shrink(
        &self,
        subject: &Subject,
        data: &[u8],
        tries: usize,
    ) -> Result<Option<Shrunk>, Unknown> {
        let (walk, by_events) = (self.walker(subject)?, (self.by_events)(subject)?);
        let Err(first) = walk(data) else { return Ok(None) };
        let way = |data: &[u8]| {
            let found = walk(data).err()?;
            (found.property == first.property && found.shows == first.shows).then(|| found.way())
        };
        let shorter = |data: &[u8]| shrink(self.shape, data, tries, &way);
        let Some(by_bytes) = shorter(data) else { return Ok(None) };
        let single = by_events(&by_bytes.data, tries).and_then(|data| shorter(&data));
        let tried = by_bytes.tried + single.as_ref().map_or(0, |shrunk| shrunk.tried);
        let best = match single {
            Some(single) if single.events <= by_bytes.events => single,
            _ => by_bytes,
        };
        Ok(Some(Shrunk { tried, ..best }))
    }
}

/// Walks, and panics with what is found. Who walks, and what counts, is read once from the environment:
///
/// | variable | meaning | if it is not set |
/// |---|---|---|
/// | `SUREHOLD_VARIANT` | a variant | the verified protocol |
/// | `SUREHOLD_WITHOUT` | guards of the verified protocol, with commas, that are taken away | none |
/// | `SUREHOLD_SHOWS` | the issue whose race it has to be | whatever is broken |
///
/// # Panics
///
/// If something is found, or a variable names nothing.
pub fn fuzz(target: &'static str, data: &[u8]) {
    static SUBJECT: OnceLock<(Walker, Option<String>)> = OnceLock::new();
    let (walk, wanted) = SUBJECT.get_or_init(|| {
        let walker = Target::named(target).and_then(|target| target.walker(&Subject::from_env()));
        let wanted = std::env::var("SUREHOLD_SHOWS").ok();
        (walker.unwrap_or_else(|unknown| panic!("{unknown}")), wanted)
    });
    if let Err(finding) = walk(data)
        && wanted.as_deref().is_none_or(|wanted| finding.shows == Some(wanted))
    {
        panic!("{finding}");
    }
}

fn no_variant(subject: &Subject) -> Unknown {
    Unknown(format!("its protocol has no variant {}", subject.variant))
}

/// The guards of these names.
fn guards<G: Copy>(
    all: &[G],
    name: fn(G) -> &'static str,
    wanted: &[String],
) -> Result<Vec<G>, Unknown> {
    let find = |wanted: &String| {
        let found = all.iter().copied().find(|guard| name(*guard) == wanted);
        found.ok_or_else(|| Unknown(format!("its protocol has no guard {wanted}")))
    };
    wanted.iter().map(find).collect()
}

/// What the three have in common but for their types.
macro_rules! walks {
    ($name:ident, $module:path, $guard:path, $walk:ident, $events:ident) => {
        mod $name {
            use $guard as Guard;
            use $module::{FuzzVariant, $events, $walk};

            use super::{ByEvents, Subject, Unknown, Walker, guards, no_variant};

            fn variant(subject: &Subject) -> Result<FuzzVariant, Unknown> {
                match subject.without.as_slice() {
                    [] => {
                        let named = FuzzVariant::from_name(&subject.variant);
                        named.ok_or_else(|| no_variant(subject))
                    }
                    wanted => Ok(FuzzVariant::Without(guards(&Guard::ALL, Guard::name, wanted)?)),
                }
            }

            pub(super) fn walker(subject: &Subject) -> Result<Walker, Unknown> {
                let variant = variant(subject)?;
                Ok(Box::new(move |data| $walk(&variant, data)))
            }

            pub(super) fn by_events(subject: &Subject) -> Result<ByEvents, Unknown> {
                let variant = variant(subject)?;
                Ok(Box::new(move |data, tries| $events(&variant, data, tries)))
            }
        }
    };
}

walks!(of_compaction, crate::fuzz, surehold::compaction::Guard, compaction_ops, compaction_events);
walks!(
    of_rebalance,
    crate::rebalance::fuzz,
    surehold::rebalance::Guard,
    rebalance_ops,
    rebalance_events
);
walks!(of_commit, crate::commit::fuzz, surehold::commit::Guard, commit_ops, commit_events);
