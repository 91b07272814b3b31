//! `surehold list`.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::Format;
use super::exit::{Exit, Failure};
use super::selection::VERIFIED;
use crate::everything::{AnyProtocol, GuardCard, protocols};
use crate::runs::{Card, SharedRun};

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
    protocols: Vec<KnownProtocol>,
}

/// What a protocol has by name.
#[derive(Debug, Serialize)]
struct KnownProtocol {
    name: &'static str,
    says: &'static str,
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
    is_second_line: bool,
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
        Self { protocols: protocols().into_iter().map(KnownProtocol::of).collect() }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for (at, protocol) in self.protocols.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            protocol.print(out)?;
        }
        Ok(())
    }
}

impl KnownProtocol {
    fn of(protocol: &'static dyn AnyProtocol) -> Self {
        let mutants: Vec<_> = protocol.mutants().into_iter().map(|(_, run)| run).collect();
        let named = |(name, says)| Named { name, says };
        let ours = (VERIFIED, "This library's protocol, all guards kept.");
        let variants = std::iter::once(ours).chain(protocol.releases());
        Self {
            name: protocol.name(),
            says: protocol.says(),
            variants: variants.map(named).collect(),
            guards: protocol.guards().iter().map(|guard| known_guard(guard, &mutants)).collect(),
            scopes: protocol.scopes().iter().map(known_scope).collect(),
            properties: protocol.properties().into_iter().map(named).collect(),
        }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "protocol {}\n  {}\n", self.name, self.says)?;
        section(out, "variants", &self.variants)?;
        writeln!(out, "guards")?;
        let width = self.guards.iter().map(|guard| guard.name.len()).fold(0, usize::max);
        for guard in &self.guards {
            guard.print(out, width)?;
        }
        writeln!(out, "\nscopes")?;
        let width = self.scopes.iter().map(|scope| scope.name.len()).fold(0, usize::max);
        for scope in &self.scopes {
            scope.print(out, width)?;
        }
        writeln!(out)?;
        section(out, "properties", &self.properties)
    }
}

impl KnownGuard {
    fn print(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        writeln!(out, "  {:<width$}  {}", self.name, self.why)?;
        writeln!(out, "  {:<width$}  answers {}", "", self.answers.join(", "))?;
        if self.is_second_line {
            writeln!(out, "  {:<width$}  a second line of defence: alone, unproved", "")?;
        }
        for broken in &self.breaks {
            writeln!(out, "  {:<width$}  {}", "", broken.text())?;
        }
        Ok(())
    }
}

impl KnownScope {
    fn print(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let (name, tier) = (self.name, self.tier);
        let line = format!("  {name:<width$}  {tier:<8}  {}", self.question);
        writeln!(out, "{}", line.trim_end())?;
        writeln!(out, "  {:<width$}  {:<8}  {}", "", "", self.bounds)?;
        match self.goal {
            Some(goal) => writeln!(out, "  {:<width$}  {:<8}  goal: {goal}", "", ""),
            None => Ok(()),
        }
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

fn known_guard(guard: &GuardCard, mutants: &[SharedRun]) -> KnownGuard {
    let lacking = mutants.iter().filter(|run| run.removed().contains(&guard.name));
    let breaks = lacking.filter(|run| run.expected() != "verified").map(|run| Break {
        removed_with: run.removed().into_iter().filter(|other| *other != guard.name).collect(),
        scope: run.scope().name,
        properties: run.judged(),
    });
    KnownGuard {
        name: guard.name,
        why: guard.why,
        answers: guard.answers,
        is_second_line: guard.is_second_line,
        breaks: breaks.collect(),
    }
}

fn known_scope(scope: &Card) -> KnownScope {
    KnownScope {
        name: scope.name,
        tier: scope.tier.name(),
        question: scope.question,
        bounds: scope.bounds.clone(),
        goal: scope.goal,
    }
}
