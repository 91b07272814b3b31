//! `surehold list`.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use surehold::compaction::Guard;
use surehold::compaction::invariant::Property;
use surehold::compaction::upstream::Release;

use super::exit::{Exit, Failure};
use super::{Format, names};
use crate::compaction::runs::Variant;
use crate::compaction::scope::{Goal, Scope};
use crate::compaction::verdicts::Mutant;
use crate::compaction::{scopes, verdicts};

/// How the list is printed.
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl List {
    /// Prints everything that can be named on the command line.
    pub(super) fn run(&self) -> Result<Exit, Failure> {
        let mut out = BufWriter::new(io::stdout().lock());
        let known = Known::new();
        let printed = match self.format {
            Format::Text => known.print(&mut out),
            Format::Json => serde_json::to_writer_pretty(&mut out, &known)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out)),
        };
        match printed.and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::AsExpected),
            printed => Ok(printed.map(|()| Exit::AsExpected)?),
        }
    }
}

/// Everything that has a name.
#[derive(Debug, Serialize)]
struct Known {
    protocols: Vec<Named>,
    variants: Vec<Named>,
    guards: Vec<KnownGuard>,
    scopes: Vec<KnownScope>,
    properties: Vec<Named>,
}

#[derive(Debug, Serialize)]
struct Named {
    name: &'static str,
    says: &'static str,
}

#[derive(Debug, Serialize)]
struct KnownGuard {
    name: &'static str,
    why: &'static str,
    answers: &'static [&'static str],
    breaks: Vec<Break>,
}

/// What breaks without a guard, and which others must be removed with it.
#[derive(Debug, Serialize)]
struct Break {
    removed_with: Vec<&'static str>,
    scope: &'static str,
    properties: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct KnownScope {
    name: &'static str,
    tier: &'static str,
    question: &'static str,
    bounds: String,
    goal: Option<&'static str>,
}

impl Known {
    fn new() -> Self {
        let mutants = verdicts::mutants();
        Self {
            protocols: names::PROTOCOLS.into_iter().map(protocol).collect(),
            variants: names::variants().iter().map(variant).collect(),
            guards: Guard::ALL.into_iter().map(|guard| known_guard(guard, &mutants)).collect(),
            scopes: scopes::all().iter().map(known_scope).collect(),
            properties: Property::ALL
                .into_iter()
                .map(|property| Named { name: property.name(), says: property.says() })
                .collect(),
        }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        section(out, "protocols", &self.protocols)?;
        section(out, "variants", &self.variants)?;
        writeln!(out, "guards")?;
        let width = self.guards.iter().map(|guard| guard.name.len()).fold(0, usize::max);
        for guard in &self.guards {
            writeln!(out, "  {:<width$}  {}", guard.name, guard.why)?;
            writeln!(out, "  {:<width$}  answers {}", "", guard.answers.join(", "))?;
            for broken in &guard.breaks {
                writeln!(out, "  {:<width$}  {}", "", broken.text())?;
            }
        }
        writeln!(out, "\nscopes")?;
        let width = self.scopes.iter().map(|scope| scope.name.len()).fold(0, usize::max);
        for scope in &self.scopes {
            let (name, tier) = (scope.name, scope.tier);
            let line = format!("  {name:<width$}  {tier:<7}  {}", scope.question);
            writeln!(out, "{}", line.trim_end())?;
            writeln!(out, "  {:<width$}  {:<7}  {}", "", "", scope.bounds)?;
            if let Some(goal) = scope.goal {
                writeln!(out, "  {:<width$}  {:<7}  goal: {goal}", "", "")?;
            }
        }
        writeln!(out)?;
        section(out, "properties", &self.properties)
    }
}

impl Break {
    fn text(&self) -> String {
        let with: String = self.removed_with.iter().map(|guard| format!(" and {guard}")).collect();
        format!("without it{with}, {} breaks in {}", self.properties.join(", "), self.scope)
    }
}

fn section(out: &mut dyn Write, title: &str, rows: &[Named]) -> io::Result<()> {
    writeln!(out, "{title}")?;
    let width = rows.iter().map(|row| row.name.len()).fold(0, usize::max);
    for row in rows {
        writeln!(out, "  {:<width$}  {}", row.name, row.says)?;
    }
    if title == "properties" { Ok(()) } else { writeln!(out) }
}

fn protocol(name: &'static str) -> Named {
    let says = match name {
        "compaction" => {
            "Many blocks of a time range become fewer, and no sample is lost on the way."
        }
        _ => "",
    };
    Named { name, says }
}

fn variant(variant: &Variant) -> Named {
    let says = match variant {
        Variant::Verified | Variant::Without(_) => "This library's protocol, all guards kept.",
        Variant::Upstream(Release::V1_19) => "Cortex v1.19.0, as reported in #7075.",
        Variant::Upstream(Release::V1_20) => {
            "Cortex v1.20.0: with #7082, the short-term fix, and #6576."
        }
        Variant::Upstream(Release::Pr7130) => {
            "Cortex just after #7130 (2025-12-01): two-cycle clean-up."
        }
        Variant::Upstream(Release::Pr7209) => {
            "Cortex just after #7209 (2026-01-14): with #7157, #7156 and #7182 too."
        }
        Variant::Upstream(Release::V1_21) => "Cortex v1.21.0: with #7217, #7246 and #7260 too.",
        Variant::Upstream(Release::Main) => "Cortex master of August 2026: with #7391 too.",
    };
    Named { name: variant.name(), says }
}

fn known_guard(guard: Guard, mutants: &[Mutant]) -> KnownGuard {
    let lacking = mutants.iter().filter(|mutant| mutant.guards.contains(&guard));
    let breaks = lacking.map(|mutant| {
        let others = mutant.guards.iter().filter(|other| **other != guard);
        Break {
            removed_with: others.map(|other| other.name()).collect(),
            scope: mutant.run.scope.name,
            properties: mutant.run.judged.iter().map(|property| property.name()).collect(),
        }
    });
    KnownGuard {
        name: guard.name(),
        why: guard.why(),
        answers: guard.answers(),
        breaks: breaks.collect(),
    }
}

fn known_scope(scope: &Scope) -> KnownScope {
    KnownScope {
        name: scope.name,
        tier: names::tier_name(scope.tier),
        question: scope.question,
        bounds: scope.bounds(),
        goal: scope.goal.map(Goal::says),
    }
}
