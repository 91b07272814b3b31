//! What occurred in several runs together.

use std::io::{self, Write};

use super::paint::{Paint, Tone};

/// Sums of rows, in the order in which the runs list them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    rows: Vec<(String, u64)>,
}

impl Sum {
    /// Adds the rows of a run of a protocol. What two protocols have of one name is not the same.
    pub(super) fn add(&mut self, protocol: &str, rows: &[(String, u64)]) {
        for (name, count) in rows {
            let name = format!("{protocol}: {name}");
            match self.rows.iter_mut().find(|(other, _)| *other == name) {
                Some((_, sum)) => *sum += count,
                None => self.rows.push((name, *count)),
            }
        }
    }

    /// Whether nothing was counted at all.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Names of what never occurred.
    pub(super) fn never(&self) -> Vec<&str> {
        let zero = self.rows.iter().filter(|(_, count)| *count == 0);
        zero.map(|(name, _)| name.as_str()).collect()
    }

    /// How many rows occurred, and which did not.
    pub(super) fn print(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let (never, all) = (self.never(), self.rows.len());
        writeln!(out, "coverage: {} of {all} rows occurred", all - never.len())?;
        for name in never {
            writeln!(out, "  {}", paint.tint(Tone::Bad, &format!("never: {name}")))?;
        }
        Ok(())
    }

    /// Every row.
    pub(super) fn print_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, count) in &self.rows {
            writeln!(out, "{count:>14}  {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_occurred_anywhere_occurred() {
        let row = |name: &str, count| (name.to_string(), count);
        let mut sum = Sum::default();
        assert!(sum.is_empty());
        sum.add("p", &[row("a", 0), row("b", 1), row("c", 0)]);
        sum.add("p", &[row("a", 2), row("b", 3), row("c", 0)]);
        assert_eq!(sum.rows, [row("p: a", 2), row("p: b", 4), row("p: c", 0)]);
        assert_eq!(sum.never(), ["p: c"]);
        let mut text = Vec::new();
        sum.print(&mut text, Paint::none()).expect("memory takes everything");
        assert_eq!(
            String::from_utf8_lossy(&text),
            "coverage: 2 of 3 rows occurred\n  never: p: c\n"
        );
    }
}
