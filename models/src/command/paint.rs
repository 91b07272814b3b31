//! Colour, where somebody looks.

use std::io::{self, IsTerminal};

/// Whether text is coloured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    is_on: bool,
}

/// What a colour is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tone {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Not known.
    Unsure,
    /// What the eye may skip.
    Quiet,
}

impl Paint {
    /// Colour on standard output, unless that is no terminal or `NO_COLOR` is set to anything.
    pub(super) fn of_stdout() -> Self {
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { is_on: io::stdout().is_terminal() && !is_refused }
    }

    /// No colour.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { is_on: false }
    }

    /// The text in a colour.
    pub(super) fn tint(self, tone: Tone, text: &str) -> String {
        if !self.is_on || text.is_empty() {
            return text.to_string();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "1;31",
            Tone::Unsure => "33",
            Tone::Quiet => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_ends_where_the_text_ends() {
        let paint = Paint { is_on: true };
        assert_eq!(paint.tint(Tone::Good, "verified"), "\x1b[32mverified\x1b[0m");
        assert_eq!(paint.tint(Tone::Good, ""), "");
        assert_eq!(Paint::none().tint(Tone::Bad, "violated"), "violated");
    }
}
