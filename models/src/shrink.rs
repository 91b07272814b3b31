//! Makes an input that shows something shorter.

use std::ops::Range;

/// How a target reads its bytes: some that choose the world, then operations of equal length. Bytes behind them mean
/// nothing, and one that is missing is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many bytes choose the world.
    pub header: usize,
    /// How many bytes an operation has.
    pub operation: usize,
    /// How many operations are read at most.
    pub operations: usize,
}

impl Shape {
    /// How many bytes are read at most.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.header + self.operation * self.operations
    }
}

/// What shrinking came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The input.
    pub data: Vec<u8>,
    /// How many events it takes.
    pub events: usize,
    /// How many inputs were tried.
    pub tried: usize,
}

/// Shorter in events first, then in bytes, then simpler in them.
type Size = (usize, usize, u64);

struct Search<'a> {
    shape: Shape,
    events: &'a dyn Fn(&[u8]) -> Option<usize>,
    best: Vec<u8>,
    size: Size,
    tried: usize,
    most: usize,
}

/// Shrinks an input as long as `events` still says how many it takes to show the same; `None` if the input itself does
/// not show it. At most so many inputs are tried. The same input always comes to the same result.
pub fn shrink(
    shape: Shape,
    data: &[u8],
    most: usize,
    events: &dyn Fn(&[u8]) -> Option<usize>,
) -> Option<Shrunk> {
    let best = data[..data.len().min(shape.max_len())].to_vec();
    let size = size_of(events(&best)?, &best);
    let mut search = Search { shape, events, best, size, tried: 1, most };
    loop {
        let before = search.size;
        search.leave_out();
        search.simplify();
        if search.size == before || search.tried >= most {
            return Some(Shrunk { events: search.size.0, data: search.best, tried: search.tried });
        }
    }
}

/// Up to how many events each pair of them is left out at once.
const FEW: usize = 64;

/// What shows something: the bytes that choose the world, and events in it.
#[derive(Clone)]
pub(crate) struct Story<A> {
    pub(crate) header: Vec<u8>,
    pub(crate) events: Vec<A>,
}

/// Leaves out events, and makes the world simpler, as long as what is left still shows the same. `shown` says which of
/// the events it is given happen up to there. At most so many stories are tried.
pub(crate) fn fewest<A: Clone>(
    mut story: Story<A>,
    most: usize,
    shown: impl Fn(&Story<A>) -> Option<Vec<A>>,
) -> Option<Story<A>> {
    story.events = shown(&story)?;
    let mut fewest = Fewest { best: story, shown, left: most };
    loop {
        let before = fewest.size();
        fewest.leave_out_runs();
        fewest.leave_out_pairs();
        fewest.simplify_world();
        if fewest.size() == before || fewest.left == 0 {
            return Some(fewest.best);
        }
    }
}

struct Fewest<A, S> {
    best: Story<A>,
    shown: S,
    left: usize,
}

impl<A: Clone, S: Fn(&Story<A>) -> Option<Vec<A>>> Fewest<A, S> {
    fn size(&self) -> (usize, u64) {
        size(&self.best)
    }

    /// Takes a story if it shows the same and is smaller.
    fn offer(&mut self, mut story: Story<A>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let Some(events) = (self.shown)(&story) else { return false };
        story.events = events;
        let is_smaller = size(&story) < self.size();
        if is_smaller {
            self.best = story;
        }
        is_smaller
    }

    /// Halves first, single ones last.
    fn leave_out_runs(&mut self) {
        let mut count = self.best.events.len().div_ceil(2);
        while count > 0 {
            let mut from = 0;
            while from < self.best.events.len() {
                let mut story = self.best.clone();
                story.events.drain(from..(from + count).min(story.events.len()));
                if !self.offer(story) {
                    from += count;
                }
            }
            count /= 2;
        }
    }

    /// Such as a crash, and the way back from it.
    fn leave_out_pairs(&mut self) {
        let mut one = 0;
        while one < self.best.events.len() && self.best.events.len() <= FEW {
            let mut other = one + 1;
            while other < self.best.events.len() {
                let mut story = self.best.clone();
                story.events.remove(other);
                story.events.remove(one);
                if !self.offer(story) {
                    other += 1;
                }
            }
            one += 1;
        }
    }

    fn simplify_world(&mut self) {
        for at in 0..self.best.header.len() {
            let byte = self.best.header[at];
            let fewer = (0..8).map(|bit| byte & !(1 << bit));
            for simpler in std::iter::once(0).chain(fewer).filter(|simpler| *simpler < byte) {
                let mut story = self.best.clone();
                story.header[at] = story.header[at].min(simpler) & simpler;
                self.offer(story);
            }
        }
    }
}

fn size<A>(story: &Story<A>) -> (usize, u64) {
    (story.events.len(), story.header.iter().map(|byte| u64::from(*byte)).sum())
}

/// An operation of each target: one event of all that can happen, by its place among them.
pub(crate) fn single(place: usize) -> [u8; 2] {
    [((place >> 8) << 3) as u8, place as u8]
}

fn size_of(events: usize, data: &[u8]) -> Size {
    (events, data.len(), data.iter().map(|byte| u64::from(*byte)).sum())
}

impl Search<'_> {
    /// Takes an input if it shows the same and is no larger. A size that stays the same is no progress.
    fn offer(&mut self, data: Vec<u8>) -> bool {
        if self.tried >= self.most || data == self.best {
            return false;
        }
        self.tried += 1;
        let Some(events) = (self.events)(&data) else { return false };
        let size = size_of(events, &data);
        let is_smaller = size < self.size;
        if is_smaller {
            (self.best, self.size) = (data, size);
        }
        is_smaller
    }

    fn operations(&self) -> usize {
        self.best.len().saturating_sub(self.shape.header).div_ceil(self.shape.operation)
    }

    /// The bytes of some operations.
    fn bytes(&self, from: usize, count: usize) -> Range<usize> {
        let at = |operation: usize| {
            (self.shape.header + operation * self.shape.operation).min(self.best.len())
        };
        at(from)..at(from + count)
    }

    /// Leaves out runs of operations: halves first, single ones last.
    fn leave_out(&mut self) {
        let mut count = self.operations().div_ceil(2);
        while count > 0 {
            let mut from = 0;
            while from < self.operations() {
                let mut shorter = self.best.clone();
                shorter.drain(self.bytes(from, count));
                if !self.offer(shorter) {
                    from += count;
                }
            }
            count /= 2;
        }
    }

    /// Puts simpler bytes in the place of others.
    fn simplify(&mut self) {
        let mut at = 0;
        while at < self.best.len() {
            let byte = self.best[at];
            let fewer = (0..8).map(|bit| byte & !(1 << bit));
            for simpler in [0, byte / 2, byte.saturating_sub(1)].into_iter().chain(fewer) {
                if simpler < self.best[at] {
                    let mut other = self.best.clone();
                    other[at] = simpler;
                    self.offer(other);
                }
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, Story, shrink};

    const SHAPE: Shape = Shape { header: 2, operation: 2, operations: 8 };

    /// It takes the two operations 7 and 9 in this order, whatever their second byte, and an odd second byte of the world.
    fn shows(data: &[u8]) -> Option<usize> {
        let operations = data.get(2..)?.chunks(2).map(|operation| operation[0]);
        let operations: Vec<u8> = operations.collect();
        let seven = operations.iter().position(|operation| *operation == 7)?;
        let nine = operations.iter().skip(seven).position(|operation| *operation == 9)?;
        (data[1] % 2 == 1).then_some(nine + operations.len())
    }

    #[test]
    fn what_is_not_needed_is_left_out() {
        let data = [9, 5, 1, 1, 7, 3, 2, 2, 7, 8, 9, 250, 4, 4];
        let shrunk = shrink(SHAPE, &data, 1000, &shows).expect("it shows it");
        assert_eq!((shrunk.data, shrunk.events), (vec![0, 1, 7, 0, 9, 0], 3));
    }

    /// It takes a 3 and, somewhere behind it, a 4; what comes after that does not happen.
    #[test]
    fn events_that_are_not_needed_are_left_out() {
        let shown = |events: &[u8]| {
            let three = events.iter().position(|event| *event == 3)?;
            let four = events.iter().skip(three).position(|event| *event == 4)?;
            Some(events[..=three + four].to_vec())
        };
        let fewest = |events: &[u8]| {
            let story = Story { header: vec![7], events: events.to_vec() };
            // The world has to be odd.
            let shown =
                |story: &Story<u8>| shown(&story.events).filter(|_| story.header[0] % 2 == 1);
            super::fewest(story, 1000, shown).map(|story| (story.header, story.events))
        };
        assert_eq!(fewest(&[1, 4, 3, 2, 2, 3, 5, 4, 6, 3, 4]), Some((vec![1], vec![3, 4])));
        assert_eq!(fewest(&[4, 3]), None);
    }

    #[test]
    fn what_shows_nothing_is_not_shrunk() {
        assert_eq!(shrink(SHAPE, &[0, 0, 7, 0, 9, 0], 1000, &shows), None);
        assert_eq!(shrink(SHAPE, &[], 1000, &shows), None);
    }

    /// Bytes that nobody reads go, and as few inputs are tried as was said.
    #[test]
    fn it_ends() {
        let mut data = vec![0, 1, 7, 0, 9, 0];
        data.resize(100, 3);
        let shrunk = shrink(SHAPE, &data, 1, &shows).expect("it shows it");
        assert_eq!((shrunk.data.len(), shrunk.tried), (SHAPE.max_len(), 1));
    }
}
