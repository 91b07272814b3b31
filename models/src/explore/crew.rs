//! Threads that stay for a whole search. What they give does not depend on how many there are.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What a helper sends: the result of the piece of this number, or the panic that it ended in.
type News<R> = Result<(usize, R), Box<dyn Any + Send>>;

/// The calling thread and its helpers.
pub(super) struct Crew<'a, P, R> {
    work: &'a (dyn Fn(P) -> R + Sync),
    helpers: Vec<Sender<Vec<(usize, P)>>>,
    news: Receiver<News<R>>,
}

/// Calls `body` with so many threads, the calling one among them, that do `work`. They are gone afterwards.
pub(super) fn with_crew<P: Send, R: Send, T>(
    threads: usize,
    work: &(impl Fn(P) -> R + Sync),
    body: impl FnOnce(&Crew<'_, P, R>) -> T,
) -> T {
    thread::scope(|scope| {
        let (tell, news) = channel();
        let hire = |_| {
            let (order, orders) = channel();
            let tell = tell.clone();
            scope.spawn(move || help(&orders, &tell, work));
            order
        };
        let helpers = (1..threads).map(hire).collect();
        body(&Crew { work, helpers, news })
    })
}

/// Works until there are no more orders.
fn help<P, R>(orders: &Receiver<Vec<(usize, P)>>, tell: &Sender<News<R>>, work: &impl Fn(P) -> R) {
    for (number, piece) in orders.iter().flatten() {
        let news = catch_unwind(AssertUnwindSafe(|| (number, work(piece))));
        if tell.send(news).is_err() {
            return;
        }
    }
}

impl<P, R> Crew<'_, P, R> {
    /// How many threads there are.
    pub(super) fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Works on all pieces and gives the results in the order of the pieces.
    ///
    /// # Panics
    ///
    /// As the work does.
    pub(super) fn work_on(&self, pieces: Vec<P>) -> Vec<R> {
        let mut shares: Vec<Vec<_>> = (0..self.threads()).map(|_| Vec::new()).collect();
        for (number, piece) in pieces.into_iter().enumerate() {
            shares[number % self.threads()].push((number, piece));
        }
        let own = shares.pop().unwrap_or_default();
        let mut awaited = 0;
        for (helper, share) in
            self.helpers.iter().zip(shares).filter(|(_, share)| !share.is_empty())
        {
            awaited += share.len();
            helper.send(share).unwrap_or_else(|_| unreachable!("helpers stay"));
        }
        let mut done: Vec<_> =
            own.into_iter().map(|(number, piece)| (number, (self.work)(piece))).collect();
        for news in self.news.iter().take(awaited) {
            done.push(news.unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done.sort_unstable_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces_on_any_number_of_threads() {
        for threads in [0, 1, 2, 3, 7, 200] {
            with_crew(threads, &|number: u64| number * number, |crew| {
                for count in [0, 1, 2, 100] {
                    let expected: Vec<u64> = (0..count).map(|number| number * number).collect();
                    assert_eq!(crew.work_on((0..count).collect()), expected);
                }
            });
        }
    }

    #[test]
    #[should_panic(expected = "piece 5")]
    fn a_panic_of_a_helper_is_passed_on() {
        let work = |number: u64| assert_ne!(number, 5, "piece 5");
        with_crew(3, &work, |crew| crew.work_on((0..100).collect()));
    }
}
