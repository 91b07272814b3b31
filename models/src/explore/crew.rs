//! Pieces of work for a number of threads. What comes out does not depend on how many there are.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Works on all pieces, on so many threads, and gives the results in the order of the pieces.
///
/// # Panics
///
/// As `work` does.
pub(super) fn work_on<P: Send, R: Send>(
    pieces: Vec<P>,
    threads: usize,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(pieces.len());
    if threads <= 1 {
        return pieces.into_iter().map(work).collect();
    }
    let queue = Mutex::new(pieces.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take_turns = || {
        let mut done = Vec::new();
        while let Some((number, piece)) = next() {
            done.push((number, work(piece)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(take_turns)).collect();
        let mut done = take_turns();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces_on_any_number_of_threads() {
        let expected: Vec<u64> = (0..100).map(|number| number * number).collect();
        for threads in [0, 1, 2, 3, 7, 200] {
            let results = work_on((0..100).collect(), threads, |number: u64| number * number);
            assert_eq!(results, expected);
        }
        assert!(work_on(Vec::new(), 4, |number: u64| number).is_empty());
    }

    #[test]
    #[should_panic(expected = "piece 5")]
    fn a_panic_of_a_helper_is_passed_on() {
        work_on((0..100).collect(), 3, |number: u64| assert_ne!(number, 5, "piece 5"));
    }
}
