//! A queue of runs, done by several threads, delivered in order.

use std::any::Any;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::exit::Failure;
use super::progress::Progress;
use crate::runs::{Finished, Manner, SharedRun};

/// How long nothing may be heard before the progress line is drawn again.
const TICK: Duration = Duration::from_millis(500);

/// A run and how it is done.
pub(super) type Job = (SharedRun, Manner);

enum News {
    Begun(usize),
    Ended(usize, Box<Finished>),
    Panicked(Box<dyn Any + Send>),
}

/// Does the jobs, several at a time, and delivers each result as soon as those before it are delivered.
///
/// The threads are left alone when a delivery fails: nobody waits for the rest, and the process ends.
///
/// # Panics
///
/// At once, if a run panics.
pub(super) fn work(
    jobs: Vec<Job>,
    threads: NonZeroUsize,
    progress: &mut Progress,
    mut deliver: impl FnMut(usize, Finished) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let count = jobs.len();
    let news = hire(jobs, threads);
    let mut early = BTreeMap::new();
    let mut next = 0;
    while next < count {
        match news.recv_timeout(TICK) {
            Ok(News::Begun(at)) => progress.begun(at),
            Ok(News::Ended(at, finished)) => {
                progress.ended(at);
                early.insert(at, finished);
            }
            Ok(News::Panicked(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("every job ends or panics"),
        }
        progress.clear();
        while let Some(finished) = early.remove(&next) {
            deliver(next, *finished)?;
            next += 1;
        }
        progress.draw();
    }
    progress.clear();
    Ok(())
}

fn hire(jobs: Vec<Job>, threads: NonZeroUsize) -> Receiver<News> {
    let (tell, news) = channel();
    let workers = threads.get().min(jobs.len());
    let jobs: Arc<[Job]> = jobs.into();
    let next = Arc::new(AtomicUsize::new(0));
    for _ in 0..workers {
        let (jobs, next, tell) = (Arc::clone(&jobs), Arc::clone(&next), tell.clone());
        thread::spawn(move || toil(&jobs, &next, &tell));
    }
    news
}

/// Takes jobs until there is none left, or nobody listens any more.
fn toil(jobs: &[Job], next: &AtomicUsize, tell: &Sender<News>) {
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some((run, manner)) = jobs.get(at) else {
            return;
        };
        if tell.send(News::Begun(at)).is_err() {
            return;
        }
        let ended = match catch_unwind(AssertUnwindSafe(|| run.execute(manner))) {
            Ok(finished) => News::Ended(at, Box::new(finished)),
            Err(panic) => News::Panicked(panic),
        };
        if tell.send(ended).is_err() {
            return;
        }
    }
}
