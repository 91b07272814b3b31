//! Roles fed with whatever bytes say: events that nothing in a world leads to, outcomes that fit no effect, lives and
//! numbers at the end of their range. Each is taken or refused, and never is there a panic.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::{Arbitrary, Unstructured};
use serde::Serialize;
use serde::de::DeserializeOwned;
use surehold::collections::{Map, Seq, Set, Table};
use surehold::commit::{Controller, Server, controller, server};
use surehold::compaction::{Cleaner, Compactor, cleaner, compactor};
use surehold::rebalance::{Coordinator, Historical, coordinator, historical};
use surehold::{Driven, EffectId, commit, compaction, rebalance};

use crate::numbers::Numbers;
use crate::walk::{Visited, is_read_as_written};

/// How many events a role is fed with at most.
pub const MAX_EVENTS: usize = 128;

/// How many bytes are read at most.
pub const MAX_LEN: usize = 4096;

/// What became of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many were taken.
    pub taken: usize,
    /// How many were refused.
    pub refused: usize,
}

/// Feeds one of the six roles. The bytes say which, what it recovers from, and with what; an event that brings an
/// outcome may be addressed to an effect that is outstanding. After each, the state is written and read, and is equal
/// to one of the last states exactly if it hashes equal.
///
/// # Panics
///
/// If a role panics, or any of this does not hold. An input that is too short for an event ends the run.
pub fn refusals(data: &[u8]) -> Tally {
    feed(data, false)
}

/// So, and each event, effect and state is written and read, and each event is taken twice with the same result.
///
/// # Panics
///
/// As [`refusals`].
pub fn purity(data: &[u8]) -> Tally {
    feed(data, true)
}

/// How many roles there are.
pub const ROLES: u8 = 6;

fn feed(data: &[u8], closely: bool) -> Tally {
    let mut bytes = Unstructured::new(&data[..data.len().min(MAX_LEN)]);
    let Ok(role) = bytes.arbitrary::<u8>() else { return Tally::default() };
    match role % ROLES {
        0 => feed_role::<Compactor>(&mut bytes, closely),
        1 => feed_role::<Cleaner>(&mut bytes, closely),
        2 => feed_role::<Coordinator>(&mut bytes, closely),
        3 => feed_role::<Historical>(&mut bytes, closely),
        4 => feed_role::<Controller>(&mut bytes, closely),
        _ => feed_role::<Server>(&mut bytes, closely),
    }
}

/// A role that can be made of bytes.
trait Role: Driven + Sized {
    /// With limits that the bytes say.
    fn of(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self>;

    /// The effect that an event brings the outcome of.
    fn names(event: &mut Self::Event) -> Option<&mut EffectId>;
}

fn feed_role<M>(bytes: &mut Unstructured<'_>, closely: bool) -> Tally
where
    M: Role,
    M::Durable: for<'a> Arbitrary<'a>,
    M::Event: for<'a> Arbitrary<'a> + Serialize + DeserializeOwned + Eq,
    M::Effect: Serialize + DeserializeOwned + Eq,
    M::State: Serialize + DeserializeOwned,
{
    let mut tally = Tally::default();
    let (Ok(machine), Ok(durable)) = (M::of(bytes), bytes.arbitrary()) else { return tally };
    let mut state = machine.recover(durable);
    let mut outstanding = Vec::new();
    let (mut visited, mut numbers) = (Visited::default(), Numbers::default());
    while tally.taken + tally.refused < MAX_EVENTS && !bytes.is_empty() {
        if bytes.ratio(1, LIFE).unwrap_or(false)
            && let Ok(durable) = bytes.arbitrary()
        {
            (state, outstanding) = (machine.recover(durable), Vec::new());
        }
        let drawn = drawn(&machine, &state, &outstanding, &numbers, bytes);
        let Ok(mut event) = drawn else { return tally };
        assert!(!closely || is_read_as_written(&event), "{event:?}");
        let step = machine.step(&state, event.clone());
        if closely {
            let again = machine.step(&state, event.clone());
            let same = match (&step, &again) {
                (Ok(one), Ok(other)) => {
                    let ids =
                        |effects: &[surehold::Issued<M::Effect>]| -> Vec<(EffectId, M::Effect)> {
                            effects.iter().map(|i| (i.id, i.effect.clone())).collect()
                        };
                    one.state == other.state
                        && ids(&one.effects) == ids(&other.effects)
                        && one.decided_by == other.decided_by
                }
                (Err(one), Err(other)) => one == other,
                _ => false,
            };
            assert!(same, "{event:?} is not taken twice alike");
        }
        let Ok(step) = step else {
            tally.refused += 1;
            continue;
        };
        tally.taken += 1;
        numbers.note(&event);
        if let Some(id) = M::names(&mut event) {
            outstanding.retain(|other| other != id);
        }
        for issued in &step.effects {
            assert!(!closely || is_read_as_written(&issued.effect), "{:?}", issued.effect);
            numbers.note(&issued.effect);
            if M::awaits(&issued.effect) && !outstanding.contains(&issued.id) {
                outstanding.push(issued.id);
            }
        }
        assert!(is_read_as_written(&step.state), "{:?}", step.state);
        assert!(visited.fits(&step.state), "{:?}", step.state);
        state = step.state;
    }
    tally
}

/// How many events are drawn in search of one.
const DRAWS: u8 = 16;

/// After how many events, about, a role begins another life: many come to where little is taken.
const LIFE: u8 = 16;

/// An event. Mostly one that is taken, and brings an outcome if one is awaited: others lead nowhere.
fn drawn<M>(
    machine: &M,
    state: &M::State,
    outstanding: &[EffectId],
    numbers: &Numbers,
    bytes: &mut Unstructured<'_>,
) -> arbitrary::Result<M::Event>
where
    M: Role,
    M::Event: for<'a> Arbitrary<'a> + Serialize + DeserializeOwned,
{
    let mut event = numbers.put_into(bytes.arbitrary()?, bytes);
    let draws = if bytes.ratio(7, 8)? { DRAWS } else { 1 };
    let awaits = !outstanding.is_empty() && bytes.ratio(3, 4)?;
    for _ in 0..draws {
        let mut is_wanted = !awaits;
        if let Some(id) = M::names(&mut event)
            && bytes.ratio(15, 16)?
            && let Ok(of) = bytes.choose(outstanding)
        {
            *id = *of;
            is_wanted = true;
        }
        if is_wanted && machine.step(state, event.clone()).is_ok() {
            break;
        }
        event = numbers.put_into(bytes.arbitrary()?, bytes);
    }
    Ok(event)
}

impl Role for Compactor {
    fn of(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        Ok(Self::new(compactor::Limits {
            concurrency: bytes.arbitrary()?,
            settle_delay_ms: bytes.arbitrary()?,
            claim_timeout_ms: bytes.arbitrary()?,
            partition_index_size_bytes: bytes.arbitrary()?,
            ..compactor::Limits::for_range(bytes.arbitrary()?)
        }))
    }

    fn names(event: &mut Self::Event) -> Option<&mut EffectId> {
        match event {
            compaction::Event::Outcome { id, .. } => Some(id),
            compaction::Event::Continue { .. } => None,
        }
    }
}

impl Role for Cleaner {
    fn of(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        Ok(Self::new(cleaner::Limits { deletion_delay_ms: bytes.arbitrary()? }))
    }

    fn names(event: &mut Self::Event) -> Option<&mut EffectId> {
        Compactor::names(event)
    }
}

impl Role for Coordinator {
    fn of(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        Ok(Self::new(coordinator::Limits { batch_size: bytes.int_in_range(0..=20)? }))
    }

    /// It has no outcomes: what it asks for is answered by a message.
    fn names(_: &mut Self::Event) -> Option<&mut EffectId> {
        None
    }
}

impl Role for Historical {
    fn of(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        Ok(Self::new(historical::Limits { drop_delay_ms: bytes.arbitrary()? }))
    }

    fn names(event: &mut Self::Event) -> Option<&mut EffectId> {
        match event {
            rebalance::HistoricalEvent::Outcome { id, .. } => Some(id),
            rebalance::HistoricalEvent::Received(_) => None,
        }
    }
}

impl Role for Controller {
    fn of(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        let limits = controller::Limits {
            age_limit_ms: bytes.arbitrary()?,
            repairs_offline: bytes.arbitrary()?,
            ..controller::Limits::default()
        };
        Ok(Self::new(limits))
    }

    fn names(event: &mut Self::Event) -> Option<&mut EffectId> {
        match event {
            commit::ControllerEvent::Outcome { id, .. } => Some(id),
            _ => None,
        }
    }
}

impl Role for Server {
    fn of(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        let limits = server::Limits {
            max_builds: bytes.int_in_range(0..=3)?,
            max_jobs: bytes.int_in_range(0..=3)?,
            ..server::Limits::default()
        };
        Ok(Self::new(limits))
    }

    fn names(event: &mut Self::Event) -> Option<&mut EffectId> {
        match event {
            commit::ServerEvent::Outcome { id, .. } => Some(id),
            _ => None,
        }
    }
}

/// What is done to a collection.
#[derive(Arbitrary, Debug)]
enum Deed {
    Insert(u8, u8),
    Remove(u8),
    Push(u8),
    Keep,
    Restore,
}

/// The persistent collections beside those of std: after each deed both hold the same, in the same order, and a clone
/// that was kept holds what it held.
///
/// # Panics
///
/// If they differ.
pub fn collections(data: &[u8]) {
    type Both =
        ((Map<u8, u8>, Set<u8>, Seq<u8>, Table<u8, u8>), (BTreeMap<u8, u8>, BTreeSet<u8>, Vec<u8>));
    let mut bytes = Unstructured::new(&data[..data.len().min(MAX_LEN)]);
    let mut now: Both = Default::default();
    let mut kept = now.clone();
    while !bytes.is_empty() {
        let Ok(deed) = bytes.arbitrary() else { return };
        let ((map, set, seq, table), (map_too, set_too, seq_too)) = &mut now;
        match deed {
            Deed::Insert(key, value) => {
                assert_eq!(map.insert(key, value), map_too.insert(key, value));
                assert_eq!(set.insert(key), set_too.insert(key));
                table.insert(key, value);
            }
            Deed::Remove(key) => {
                assert_eq!(map.remove(&key), map_too.remove(&key));
                assert_eq!(set.remove(&key), set_too.remove(&key));
                table.remove(&key);
            }
            Deed::Push(value) => {
                seq.push_back(value);
                seq_too.push(value);
            }
            Deed::Keep => kept = now.clone(),
            Deed::Restore => std::mem::swap(&mut now, &mut kept),
        }
        for ((map, set, seq, table), (map_too, set_too, seq_too)) in [&now, &kept] {
            assert!(map.iter().eq(map_too.iter()) && map.len() == map_too.len());
            assert!(set.iter().eq(set_too.iter()) && set.len() == set_too.len());
            assert!(seq.iter().eq(seq_too.iter()) && seq.len() == seq_too.len());
            assert!(table.iter().map(|(k, v)| (*k, *v)).eq(map_too.iter().map(|(k, v)| (*k, *v))));
            let rebuilt: Map<u8, u8> = map_too.iter().map(|(k, v)| (*k, *v)).collect();
            assert!(*map == rebuilt && is_read_as_written(map));
        }
    }
}
