//! A driver as a task: adapters that panic, that answer nonsense, that take their time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use surehold::Issued;
use surehold::runtime::driver::Limits;
use surehold::runtime::durables::{Durables, Memory};
use surehold::runtime::shell::{Ended, NotTaken, run};
use surehold::runtime::{Adapter, Disk, Driver, Shell};
use tokio::sync::Semaphore;

use crate::toy::{Effect, Event, Kept, Outcome, Refusal, Toy, go_on};

/// What it does depends on the number it is to tell.
struct World {
    told: AtomicUsize,
    waits: AtomicUsize,
    /// Numbers from 100 are told once this lets them.
    gate: Semaphore,
}

impl World {
    fn new() -> Arc<Self> {
        let zero = || AtomicUsize::new(0);
        Arc::new(Self { told: zero(), waits: zero(), gate: Semaphore::new(0) })
    }
}

impl Adapter<Toy> for World {
    async fn carry_out(&self, issued: Issued<Effect>) -> Option<Event> {
        let outcome = match issued.effect {
            Effect::Tell(1) => panic!("this adapter has a fault"),
            Effect::Tell(2) => Outcome::Odd,
            Effect::Tell(3) => return None,
            Effect::Tell(n) => {
                if n >= 100 {
                    self.gate.acquire().await.unwrap().forget();
                }
                self.told.fetch_add(1, Ordering::SeqCst);
                Outcome::Told
            }
            Effect::Say(n) => {
                assert_ne!(n, 1, "nobody waits for this");
                return None;
            }
            // The first time it breaks.
            Effect::Wait => {
                assert!(self.waits.fetch_add(1, Ordering::SeqCst) > 0);
                Outcome::Elapsed
            }
        };
        Some(Event::Outcome(issued.id, outcome))
    }

    fn input(&self) {}
}

type Running<E> = tokio::task::JoinHandle<Ended<E>>;

fn spawn<D>(durables: D, limits: Limits, world: &Arc<World>) -> (Shell<Toy>, Running<D::Error>)
where
    D: Durables<Kept> + Send + 'static,
{
    let driver = Driver::start(Toy, durables, go_on, limits).unwrap();
    let (shell, task) = run(driver, Arc::clone(world), 1);
    (shell, tokio::spawn(task))
}

async fn until(shell: &Shell<Toy>, heard: usize) -> Vec<Outcome> {
    for _ in 0..500 {
        if shell.state().heard.len() >= heard {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    shell.state().heard.iter().map(|(_, outcome)| *outcome).collect()
}

#[tokio::test]
async fn a_panic_an_odd_answer_and_none_become_unknown_once() {
    let world = World::new();
    let (shell, task) = spawn(Memory::empty(), Limits::default(), &world);
    for n in [1, 2, 3, 4] {
        shell.take(Event::Keep(n)).await.unwrap();
    }
    shell.take(Event::Say(1)).await.unwrap();
    let mut heard = until(&shell, 4).await;
    heard.sort_by_key(|outcome| *outcome == Outcome::Told);
    assert_eq!(heard, [Outcome::Unknown, Outcome::Unknown, Outcome::Unknown, Outcome::Told]);
    assert_eq!(world.told.load(Ordering::SeqCst), 1);
    shell.take(Event::Keep(5)).await.unwrap();
    assert_eq!(until(&shell, 5).await.len(), 5, "it goes on");
    shell.stop();
    assert!(matches!(task.await.unwrap(), Ended::Stopped));
}

#[tokio::test]
async fn a_wait_that_breaks_begins_anew() {
    let world = World::new();
    let (shell, _task) = spawn(Memory::empty(), Limits::default(), &world);
    shell.take(Event::Pause).await.unwrap();
    assert_eq!(until(&shell, 1).await, [Outcome::Elapsed]);
    assert_eq!(world.waits.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn whoever_offers_hears_of_refusals_and_of_a_full_queue() {
    let world = World::new();
    let limits = Limits { waiting: 1, effects: 1, batch: 1 };
    let (shell, task) = spawn(Memory::empty(), limits, &world);
    shell.take(Event::Keep(100)).await.unwrap();
    // One waits in the driver, one before it.
    let waiting: Vec<_> = [100, 101]
        .map(|n| {
            let shell = shell.clone();
            tokio::spawn(async move { shell.take(Event::Keep(n)).await })
        })
        .into();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(shell.try_take(Event::Keep(102)).await, Err(NotTaken::Full));
    world.gate.add_permits(10);
    let mut answers = Vec::new();
    for task in waiting {
        answers.push(task.await.unwrap());
    }
    assert_eq!(answers, [Err(NotTaken::Refused(Refusal::Twice(100))), Ok(())]);
    drop(shell);
    assert!(matches!(task.await.unwrap(), Ended::Stopped), "nobody speaks to it any more");
}

#[tokio::test]
async fn a_stop_waits_for_what_is_under_way() {
    let world = World::new();
    let (shell, task) = spawn(Memory::empty(), Limits::default(), &world);
    shell.take(Event::Keep(100)).await.unwrap();
    shell.stop();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!task.is_finished());
    assert_eq!(shell.take(Event::Keep(4)).await, Err(NotTaken::Stopping));
    world.gate.add_permits(1);
    assert!(matches!(task.await.unwrap(), Ended::Stopped));
    assert_eq!(until(&shell, 1).await, [Outcome::Told]);
}

#[tokio::test]
async fn what_is_kept_on_a_disk_outlives_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("role");
    let world = World::new();
    let (shell, task) = spawn(Disk::open(&path, "toy").unwrap(), Limits::default(), &world);
    shell.take(Event::Keep(7)).await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    let (shell, _task) = spawn(Disk::open(&path, "toy").unwrap(), Limits::default(), &world);
    assert_eq!(shell.state().kept, Kept { name: 1, life: 1, numbers: vec![7] });
}
