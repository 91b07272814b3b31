//! `surehold replay`: a reported race, step by step, against each variant.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use super::Format;
use super::exit::{Exit, Failure};
use super::paint::{Paint, Tone};
use super::script::{self, Played, Replayed, Script};

/// What to replay.
#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    /// Scenario files, of any protocol
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Replay against this variant only, and tell each operation
    #[arg(long)]
    variant: Option<String>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Replay {
    /// Replays each file. Exits 1 if an outcome is not the one that the file expects.
    pub(super) fn run(&self) -> Result<Exit, Failure> {
        let known = script::variants();
        if let Some(name) = self.variant.as_deref().filter(|name| !known.contains(name)) {
            let known = known.join(", ");
            return Err(Failure::Usage(format!("no variant {name}; known: {known}")));
        }
        let played = self.files.iter().map(|path| script::play(path, self.variant.as_deref()));
        let all = played.collect::<Result<Vec<_>, _>>()?;
        let mut out = BufWriter::new(io::stdout().lock());
        match self.format {
            Format::Text => {
                for script in &all {
                    self.tell(&mut out, script)?;
                }
            }
            Format::Json => {
                let told: Vec<_> = all.iter().map(|script| &script.data).collect();
                serde_json::to_writer_pretty(&mut out, &told).map_err(io::Error::from)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
        let mut replays = all.iter().flat_map(|script| &script.replays);
        let unexpected = replays.any(|replayed| !replayed.differences.is_empty());
        Ok(if unexpected { Exit::Unexpected } else { Exit::AsExpected })
    }

    fn tell(&self, out: &mut dyn Write, script: &Script) -> io::Result<()> {
        let paint = Paint::of_stdout();
        writeln!(out, "{}", paint.tint(Tone::Unsure, &script.name))?;
        for line in &script.story {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
        for (at, says) in script.steps.iter().enumerate() {
            writeln!(out, "  step {}: {says}", at + 1)?;
        }
        for replayed in &script.replays {
            writeln!(out, "\n{}", paint.tint(Tone::Unsure, &replayed.variant))?;
            for (at, step) in replayed.steps.iter().enumerate() {
                if self.variant.is_some() {
                    tell_step(out, paint, &script.steps, at, step)?;
                } else if let Some(refused) = &step.refused {
                    writeln!(out, "  step {} is refused{refused}", at + 1)?;
                }
            }
            tell_ending(out, paint, replayed)?;
        }
        writeln!(out)
    }
}

fn tell_step(
    out: &mut dyn Write,
    paint: Paint,
    says: &[String],
    at: usize,
    step: &Played,
) -> io::Result<()> {
    let says = says.get(at).map_or("", String::as_str);
    writeln!(out, "  step {}: {says}", at + 1)?;
    for line in &step.lines {
        let guards = match line.decided_by.as_slice() {
            [] => String::new(),
            guards => format!("  [{}]", guards.join(", ")),
        };
        let text = format!("    {:<12} {:<66} {}{guards}", line.actor, line.action, line.note);
        writeln!(out, "{}", paint.tint(Tone::Quiet, text.trim_end()))?;
    }
    if let Some(refused) = &step.refused {
        writeln!(out, "    {}", paint.tint(Tone::Good, &format!("refused{refused}")))?;
    }
    Ok(())
}

fn tell_ending(out: &mut dyn Write, paint: Paint, replayed: &Replayed) -> io::Result<()> {
    for (bad, line) in &replayed.ending {
        let text = match bad {
            Some(true) => paint.tint(Tone::Bad, line),
            Some(false) => paint.tint(Tone::Good, line),
            None => line.clone(),
        };
        writeln!(out, "  {text}")?;
    }
    for difference in &replayed.differences {
        writeln!(out, "  {}", paint.tint(Tone::Bad, &format!("UNEXPECTED {difference}")))?;
    }
    Ok(())
}
