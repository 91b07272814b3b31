//! States that wait for their expansion, in the order in which they were found.

use std::collections::VecDeque;

/// States in a piece. Small enough that what comes of a piece stays in the cache until it is merged.
pub(super) const PIECE: usize = 128;

/// States that wait, in pieces: whoever expands a piece owns and drops it, so that no state is moved twice.
pub(super) struct Frontier<S> {
    pieces: VecDeque<Vec<S>>,
    /// Pieces of the level that is being expanded.
    of_level: usize,
}

impl<S> Frontier<S> {
    /// Empty.
    pub(super) fn new() -> Self {
        Frontier { pieces: VecDeque::new(), of_level: 0 }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a state of the next level.
    pub(super) fn push(&mut self, state: S) {
        let is_open = self.pieces.len() > self.of_level;
        match self.pieces.back_mut().filter(|piece| is_open && piece.len() < PIECE) {
            Some(piece) => piece.push(state),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(state);
                self.pieces.push_back(piece);
            }
        }
    }

    /// Begins the next level: whatever waits is of it.
    pub(super) fn begin_level(&mut self) {
        self.of_level = self.pieces.len();
    }

    /// Takes the first pieces of the level out, at most so many; none once all of them are.
    pub(super) fn take(&mut self, pieces: usize) -> Vec<Vec<S>> {
        let count = pieces.min(self.of_level);
        self.of_level -= count;
        self.pieces.drain(..count).collect()
    }

    /// Bytes allocated, not counting what states own elsewhere.
    pub(super) fn bytes(&self) -> u64 {
        (self.pieces.len() * PIECE * size_of::<S>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_level_by_level_in_order() {
        let mut frontier = Frontier::new();
        (0..300).for_each(|state| frontier.push(state));
        frontier.begin_level();
        let first = frontier.take(2);
        (300..310).for_each(|state| frontier.push(state));
        let rest = frontier.take(2);
        assert!(frontier.take(2).is_empty() && !frontier.is_empty());
        let level: Vec<i32> = first.into_iter().chain(rest).flatten().collect();
        assert_eq!(level, (0..300).collect::<Vec<_>>());
        frontier.begin_level();
        assert_eq!(frontier.take(9), [(300..310).collect::<Vec<_>>()]);
        assert!(frontier.is_empty());
    }
}
