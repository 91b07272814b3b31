//! The order of things, and each of them once.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use surehold::runtime::driver::{
    Driver, GivenUp, Limits, NotOffered, NotStarted, Refused, Settled,
};
use surehold::runtime::durables::{Durables, Memory};
use surehold::{EffectId, Issued};

use crate::toy::{Effect, Event, Kept, Outcome, Refusal, Toy, go_on, newborn};

/// A store that tells what it has, and fails when told to.
#[derive(Clone, Default)]
struct Watched(Rc<RefCell<Disk>>);

#[derive(Default)]
struct Disk {
    kept: Option<Kept>,
    saves: usize,
    fails: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct DiskFull;

impl fmt::Display for DiskFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the disk is full")
    }
}

impl std::error::Error for DiskFull {}

impl Durables<Kept> for Watched {
    type Error = DiskFull;

    fn load(&mut self) -> Result<Option<Kept>, DiskFull> {
        Ok(self.0.borrow().kept.clone())
    }

    fn save(&mut self, kept: &Kept) -> Result<(), DiskFull> {
        let mut disk = self.0.borrow_mut();
        disk.saves += 1;
        if disk.fails {
            return Err(DiskFull);
        }
        disk.kept = Some(kept.clone());
        Ok(())
    }
}

impl Watched {
    fn numbers(&self) -> Vec<u32> {
        self.0.borrow().kept.iter().flat_map(|kept| kept.numbers.clone()).collect()
    }
}

const LIMITS: Limits = Limits { waiting: 100, effects: 100, batch: 100 };

fn started(disk: &Watched, limits: Limits) -> Driver<Toy, Watched> {
    Driver::start(Toy, disk.clone(), go_on, limits).expect("it starts")
}

fn round(driver: &mut Driver<Toy, Watched>) {
    assert_eq!(driver.gather(), []);
    driver.persist().expect("the disk has room");
}

fn told(issued: &Issued<Effect>) -> Event {
    Event::Outcome(issued.id, Outcome::Told)
}

#[test]
fn nothing_is_handed_out_or_shown_before_it_is_durable() {
    let disk = Watched::default();
    let mut driver = started(&disk, LIMITS);
    let published = driver.published();
    driver.offer(Event::Keep(7)).unwrap();
    assert_eq!(driver.gather(), []);
    assert_eq!(driver.hand_out(), None);
    assert!(published.load().kept.numbers.is_empty());
    assert!(disk.numbers().is_empty());
    assert!(driver.is_dirty());
    driver.persist().unwrap();
    assert!(!driver.is_dirty());
    assert_eq!(disk.numbers(), [7]);
    assert_eq!(published.load().kept.numbers, [7]);
    assert_eq!(driver.hand_out().unwrap().effect, Effect::Tell(7));
    assert_eq!(driver.hand_out(), None);
}

#[test]
fn a_crash_before_the_write_leaves_no_trace() {
    let disk = Watched::default();
    let mut driver = started(&disk, LIMITS);
    driver.offer(Event::Keep(7)).unwrap();
    let _ = driver.gather();
    drop(driver);
    let driver = started(&disk, LIMITS);
    assert!(driver.published().load().kept.numbers.is_empty());
}

#[test]
fn events_that_wait_share_one_write() {
    let disk = Watched::default();
    let mut driver = started(&disk, Limits { batch: 8, ..LIMITS });
    let before = disk.0.borrow().saves;
    for n in 0..10 {
        driver.offer(Event::Keep(n)).unwrap();
    }
    round(&mut driver);
    assert_eq!(disk.0.borrow().saves, before + 1);
    assert_eq!(disk.numbers(), [0, 1, 2, 3, 4, 5, 6, 7]);
    round(&mut driver);
    assert_eq!(disk.0.borrow().saves, before + 2);
    driver.offer(Event::Say(1)).unwrap();
    round(&mut driver);
    assert_eq!(disk.0.borrow().saves, before + 2, "nothing durable has changed");
}

#[test]
fn each_life_is_larger_and_durable_before_it_is_lived() {
    let disk = Watched::default();
    let life = |driver: &Driver<Toy, Watched>| driver.published().load().kept.life;
    let first = Driver::start(Toy, disk.clone(), newborn(1, 70), LIMITS).unwrap();
    assert_eq!(life(&first), 70);
    assert_eq!(disk.0.borrow().kept.as_ref().unwrap().life, 70);
    let clock_behind = Driver::start(Toy, disk.clone(), newborn(1, 3), LIMITS).unwrap();
    assert_eq!(life(&clock_behind), 71);
    let last = Driver::start(Toy, disk.clone(), newborn(1, u32::MAX), LIMITS).unwrap();
    assert_eq!(life(&last), u32::MAX);
    let none = Driver::start(Toy, disk.clone(), newborn(1, 0), LIMITS);
    assert!(matches!(none, Err(NotStarted::NoLifeLeft)));
    let other = Driver::start(Toy, disk, newborn(2, 0), LIMITS);
    assert!(matches!(other, Err(NotStarted::OtherName { own: 2, kept: 1 })));
}

#[test]
fn an_outcome_is_taken_once_and_of_this_life_only() {
    let disk = Watched::default();
    let mut driver = started(&disk, LIMITS);
    driver.offer(Event::Keep(7)).unwrap();
    round(&mut driver);
    let never_out = Event::Outcome(EffectId { incarnation: 0, number: 1 }, Outcome::Told);
    assert_eq!(driver.settle(never_out), Settled::NotOut);
    let issued = driver.hand_out().unwrap();
    assert_eq!(driver.settle(told(&issued)), Settled::Taken);
    assert_eq!(driver.settle(told(&issued)), Settled::NotOut);
    assert_eq!(driver.give_up(issued.id, ()), GivenUp::NotOut);
    round(&mut driver);
    assert_eq!(driver.published().load().heard, [(1, Outcome::Told)]);

    driver.offer(Event::Keep(8)).unwrap();
    round(&mut driver);
    let old = driver.hand_out().unwrap();
    let mut driver = started(&disk, LIMITS);
    driver.offer(Event::Keep(9)).unwrap();
    round(&mut driver);
    let new = driver.hand_out().unwrap();
    assert_eq!(old.id.number, new.id.number);
    assert_eq!(driver.settle(told(&old)), Settled::NotOut);
    assert_eq!(driver.published().load().heard, [], "8 is not told again, nor taken for told");
    assert_eq!(driver.hand_out(), None);
    let direct = surehold::Machine::step(&Toy, &driver.published().load(), told(&old));
    assert_eq!(direct.unwrap_err(), Refusal::OtherLife);
}

#[test]
fn an_outcome_does_not_come_in_as_an_event() {
    let mut driver = started(&Watched::default(), LIMITS);
    driver.offer(Event::Keep(7)).unwrap();
    round(&mut driver);
    let issued = driver.hand_out().unwrap();
    assert_eq!(driver.offer(told(&issued)), Err(NotOffered::Outcome(told(&issued))));
    assert_eq!(driver.settle(Event::Say(1)), Settled::NotOut);
}

#[test]
fn queues_are_bounded_and_outcomes_go_first() {
    let mut driver = started(&Watched::default(), Limits { waiting: 3, effects: 2, batch: 100 });
    let offer = |driver: &mut Driver<Toy, Watched>, n| driver.offer(Event::Keep(n));
    for n in 0..3 {
        offer(&mut driver, n).unwrap();
    }
    assert!(!driver.has_room());
    assert_eq!(offer(&mut driver, 3), Err(NotOffered::Full(Event::Keep(3))));
    round(&mut driver);
    assert_eq!(driver.ready(), 2, "the third waits until there is room for its effect");
    assert!(!driver.has_work());
    let first = driver.hand_out().unwrap();
    let _second = driver.hand_out().unwrap();
    round(&mut driver);
    assert_eq!(driver.ready(), 0);
    assert_eq!(driver.settle(told(&first)), Settled::Taken);
    assert!(driver.has_work());
    round(&mut driver);
    assert_eq!(driver.hand_out().unwrap().effect, Effect::Tell(2));
}

#[test]
fn a_refusal_finds_whoever_offered() {
    let disk = Watched::default();
    let mut driver = started(&disk, LIMITS);
    driver.offer(Event::Keep(7)).unwrap();
    let again = driver.offer(Event::Keep(7)).unwrap();
    let next = driver.offer(Event::Keep(8)).unwrap();
    assert!(driver.waits(again) && driver.waits(next));
    assert_eq!(driver.gather(), [Refused::Event(again, Refusal::Twice(7))]);
    assert!(!driver.waits(next));
    driver.persist().unwrap();
    assert_eq!(disk.numbers(), [7, 8]);
}

#[test]
fn what_nobody_knows_is_told_to_the_role_and_not_done_again() {
    let mut driver = started(&Watched::default(), LIMITS);
    driver.offer(Event::Keep(7)).unwrap();
    round(&mut driver);
    let issued = driver.hand_out().unwrap();
    assert_eq!(driver.give_up(issued.id, ()), GivenUp::Unknown);
    assert_eq!(driver.settle(told(&issued)), Settled::NotOut, "it is too late to know");
    round(&mut driver);
    assert_eq!(driver.published().load().heard, [(1, Outcome::Unknown)]);
    assert_eq!(driver.hand_out(), None);
}

#[test]
fn a_wait_that_is_given_up_begins_anew() {
    let mut driver = started(&Watched::default(), LIMITS);
    driver.offer(Event::Pause).unwrap();
    round(&mut driver);
    let issued = driver.hand_out().unwrap();
    assert_eq!(driver.give_up(issued.id, ()), GivenUp::Again);
    assert!(!driver.is_quiet());
    assert_eq!(driver.hand_out().as_ref(), Some(&issued));
    assert_eq!(driver.published().load().heard, []);
    assert_eq!(driver.settle(Event::Outcome(issued.id, Outcome::Elapsed)), Settled::Taken);
    round(&mut driver);
    assert_eq!(driver.published().load().heard, [(1, Outcome::Elapsed)]);
}

#[test]
fn an_outcome_that_does_not_fit_leaves_the_effect_out() {
    let mut driver = started(&Watched::default(), LIMITS);
    driver.offer(Event::Keep(7)).unwrap();
    round(&mut driver);
    let issued = driver.hand_out().unwrap();
    assert_eq!(driver.settle(Event::Outcome(issued.id, Outcome::Odd)), Settled::Taken);
    assert_eq!(driver.gather(), [Refused::Outcome(issued.id, Refusal::Unfit)]);
    driver.persist().unwrap();
    assert_eq!(driver.out().collect::<Vec<_>>(), [&issued]);
    assert_eq!(driver.give_up(issued.id, ()), GivenUp::Unknown);
    round(&mut driver);
    assert!(driver.is_quiet());
}

#[test]
fn what_has_no_outcome_is_not_waited_for() {
    let mut driver = started(&Watched::default(), LIMITS);
    driver.offer(Event::Say(1)).unwrap();
    driver.offer(Event::Say(2)).unwrap();
    round(&mut driver);
    assert!(!driver.is_quiet());
    assert_eq!(driver.hand_out().unwrap().effect, Effect::Say(1));
    assert_eq!(driver.hand_out().unwrap().effect, Effect::Say(2));
    assert!(driver.is_quiet());
}

#[test]
fn a_write_that_fails_is_the_end() {
    let disk = Watched::default();
    let mut driver = started(&disk, LIMITS);
    let published = driver.published();
    driver.offer(Event::Keep(7)).unwrap();
    round(&mut driver);
    let issued = driver.hand_out().unwrap();
    driver.offer(Event::Keep(8)).unwrap();
    let _ = driver.gather();
    disk.0.borrow_mut().fails = true;
    assert_eq!(driver.persist(), Err(DiskFull));
    disk.0.borrow_mut().fails = false;
    assert!(driver.has_ended());
    assert_eq!(driver.hand_out(), None);
    assert_eq!(driver.offer(Event::Say(1)), Err(NotOffered::Ended(Event::Say(1))));
    assert_eq!(driver.settle(told(&issued)), Settled::Ended);
    assert_eq!(driver.give_up(issued.id, ()), GivenUp::NotOut);
    assert_eq!(driver.gather(), []);
    assert_eq!(driver.persist(), Ok(()));
    assert_eq!(published.load().kept.numbers, [7], "8 may be durable or not, and is not shown");
}

#[test]
fn a_driver_that_stops_takes_outcomes_and_begins_nothing() {
    let mut driver = started(&Watched::default(), LIMITS);
    driver.offer(Event::Keep(7)).unwrap();
    driver.offer(Event::Keep(8)).unwrap();
    round(&mut driver);
    let issued = driver.hand_out().unwrap();
    driver.offer(Event::Keep(9)).unwrap();
    driver.stop();
    assert_eq!(driver.offer(Event::Keep(10)), Err(NotOffered::Stopping(Event::Keep(10))));
    assert_eq!(driver.hand_out(), None);
    assert!(!driver.is_quiet());
    assert_eq!(driver.settle(told(&issued)), Settled::Taken);
    round(&mut driver);
    assert!(driver.is_quiet());
    assert_eq!(driver.published().load().kept.numbers, [7, 8]);
}

/// Of any run: an effect is out only if what it tells is kept, and is told once in all lives.
#[test]
fn random_runs_keep_the_order_through_crashes() {
    for seed in 0..300_u64 {
        let mut random = Random(seed);
        let mut memory = Memory::empty();
        let mut told = Vec::new();
        let mut next = 0;
        for _ in 0..20 {
            let limits = Limits { waiting: 3, effects: 3, batch: 1 + random.below(4) };
            let mut driver = Driver::start(Toy, &mut memory, go_on, limits).unwrap();
            for _ in 0..random.below(40) {
                match random.below(5) {
                    0 => {
                        next += u32::from(driver.offer(Event::Keep(next)).is_ok());
                    }
                    1 => assert_eq!(driver.gather(), []),
                    2 => driver.persist().unwrap(),
                    3 => {
                        let Some(issued) = driver.hand_out() else { continue };
                        let Effect::Tell(n) = issued.effect else { continue };
                        assert!(driver.published().load().kept.numbers.contains(&n));
                        told.push((n, driver.published().load().kept.life));
                    }
                    _ => {
                        let some = driver.out().nth(random.below(3)).cloned();
                        let Some(issued) = some else { continue };
                        assert_eq!(driver.settle(self::told(&issued)), Settled::Taken);
                    }
                }
            }
        }
        let kept = &memory.kept().unwrap().numbers;
        assert!(told.iter().all(|(n, _)| kept.contains(n)), "seed {seed}");
        let mut once = told.clone();
        once.dedup_by_key(|(n, _)| *n);
        assert_eq!(once, told, "seed {seed}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
