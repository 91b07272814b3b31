//! Counterexamples as timelines.

use std::io::{self, Write};

use super::names;
use super::paint::{Paint, Tone};
use crate::everything;
use crate::explore::{DEADLOCK_FREE, NO_ENDLESS_ROUND};
use crate::runs::{AnyRun, Finished, Step};

/// Beyond these widths a column is not aligned any more: one long note must not push all guards away.
const WIDEST: [usize; 3] = [16, 72, 60];

/// Tells a run that found something: where it happened, each step, and how it ends. A run that found
/// nothing, or was stopped, has no story.
pub(super) fn of_run(
    out: &mut dyn Write,
    paint: Paint,
    run: &dyn AnyRun,
    finished: &Finished,
) -> io::Result<()> {
    let Some(property) = &finished.property else {
        return Ok(());
    };
    writeln!(out, "\n{} in {}: {}", names::label(run), finished.scope, finished.bounds)?;
    match (&finished.counterexample, &finished.reason) {
        (Some(steps), _) => tell(out, paint, steps, finished.round_from)?,
        (None, Some(reason)) => writeln!(out, "{reason}")?,
        (None, None) => writeln!(out, "(the engine {} tells no path)", finished.engine)?,
    }
    close(out, paint, finished.ending.as_deref(), finished.protocol, property)?;
    writeln!(out)
}

/// Writes steps, a line each: the step's number, who did what, what came of it, and the guards that decided
/// what follows. What nobody else can tell from the step before bears no number.
pub(super) fn tell(
    out: &mut dyn Write,
    paint: Paint,
    steps: &[Step],
    round_from: Option<usize>,
) -> io::Result<()> {
    let widths = widths(steps);
    let numbers = steps.last().map_or(0, |step| step.step.to_string().len()).max("step".len());
    let head = ["actor", "action", "note"].map(String::from);
    let head = row(numbers, "step", &head, widths, "[guards]");
    writeln!(out, "{}", paint.tint(Tone::Quiet, &head))?;
    let mut before = None;
    for step in steps {
        if step.step == 0 && before.is_none() {
            writeln!(out, "{}", paint.tint(Tone::Quiet, "before the scope begins"))?;
        } else if step.step > 0 && before == Some(0) {
            writeln!(out, "{}", paint.tint(Tone::Quiet, "from here on, anything may happen"))?;
        }
        let is_next = step.step > 0 && before != Some(step.step);
        if is_next && round_from == Some(step.step) {
            writeln!(out, "{}", paint.tint(Tone::Quiet, "from here on, again and again"))?;
        }
        let number = if is_next { step.step.to_string() } else { String::new() };
        before = Some(step.step);
        writeln!(out, "{}", row(numbers, &number, &cells(step), widths, &guards(step)))?;
    }
    Ok(())
}

/// Writes how it ends, and which property that breaks.
pub(super) fn close(
    out: &mut dyn Write,
    paint: Paint,
    ending: Option<&str>,
    protocol: &str,
    property: &str,
) -> io::Result<()> {
    if let Some(ending) = ending {
        writeln!(out, "{}", paint.tint(Tone::Bad, &format!("=> {ending}")))?;
    }
    match says(protocol, property) {
        Some(text) => writeln!(out, "   {property}: {text}"),
        None => writeln!(out, "   {property}"),
    }
}

/// What a property says, if it is not a scope's own.
fn says(protocol: &str, property: &str) -> Option<&'static str> {
    if property == DEADLOCK_FREE {
        return Some("there is always something left to do until the goal is reached.");
    }
    if property == NO_ENDLESS_ROUND {
        return Some(
            "no run goes on for ever without a fault, fairly, and never comes to the goal.",
        );
    }
    let of = everything::protocols().into_iter().find(|known| known.name() == protocol)?;
    of.properties().into_iter().find(|(name, _)| *name == property).map(|(_, says)| says)
}

fn cells(step: &Step) -> [String; 3] {
    [step.line.actor.clone(), step.line.action.clone(), step.line.note.clone()]
}

fn guards(step: &Step) -> String {
    match step.line.decided_by.as_slice() {
        [] => String::new(),
        guards => format!("[{}]", guards.join(", ")),
    }
}

fn widths(steps: &[Step]) -> [usize; 3] {
    let mut widths = [0; 3];
    for step in steps {
        for (at, cell) in cells(step).iter().enumerate() {
            widths[at] = cell.chars().count().clamp(widths[at], WIDEST[at]);
        }
    }
    widths
}

fn row(numbers: usize, number: &str, cells: &[String; 3], widths: [usize; 3], end: &str) -> String {
    let ([actor, action, note], [a, b, c]) = (cells, widths);
    let line = format!("{number:>numbers$}  {actor:<a$}  {action:<b$}  {note:<c$}  {end}");
    line.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::RECOVERABLE;
    use crate::line::Line;

    fn step(step: usize, action: &str, note: &str, decided_by: &[&'static str]) -> Step {
        let (actor, decided_by) = ("cleaner".to_string(), decided_by.to_vec());
        Step { step, line: Line { actor, action: action.into(), note: note.into(), decided_by } }
    }

    fn told(steps: &[Step]) -> String {
        let mut text = Vec::new();
        tell(&mut text, Paint::none(), steps, None).expect("memory takes everything");
        String::from_utf8_lossy(&text).into_owned()
    }

    #[test]
    fn columns_are_aligned_and_only_steps_are_numbered() {
        let steps = [
            step(0, "begins a cycle", "", &[]),
            step(1, "lists plans", "v1", &[]),
            step(1, "reads plan of v1", "there", &["one-plan", "own-claim"]),
            step(2, "has waited", "", &[]),
        ];
        let expected = "\
step  actor    action            note   [guards]
before the scope begins
      cleaner  begins a cycle
from here on, anything may happen
   1  cleaner  lists plans       v1
      cleaner  reads plan of v1  there  [one-plan, own-claim]
   2  cleaner  has waited
";
        assert_eq!(told(&steps), expected);
    }

    #[test]
    fn a_very_long_note_moves_no_other_column() {
        let long = "x".repeat(200);
        let text = told(&[step(1, "a", &long, &["one-plan"]), step(2, "b", "y", &["own-claim"])]);
        let widest = text.lines().find(|line| line.contains("own-claim")).map(str::len);
        assert!(widest.is_some_and(|widest| widest < 120), "{text}");
    }

    #[test]
    fn every_property_says_what_it_is() {
        for protocol in everything::protocols() {
            let names = protocol.properties().into_iter().map(|(name, _)| name);
            for name in names.chain([DEADLOCK_FREE, RECOVERABLE]) {
                assert!(says(protocol.name(), name).is_some(), "{name}");
            }
        }
    }
}
