//! The queue of operations towards one server (dossier 1.3 and 3).

use super::super::message::Action;
use super::super::object::{SegmentId, ServerId};
use super::coordinator::Callback;
use crate::collections::Table;

/// What a queue holds for a segment (dossier 1.2). On the wire only `load` and `drop` exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Act {
    /// Drop.
    Drop,
    /// First copy of a tier.
    Load,
    /// Further copy.
    Replicate,
    /// Target of a move.
    MoveTo,
    /// Source of a move: a mark, never sent.
    MoveFrom,
}

/// An operation in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Entry {
    /// What it is; the first label stays when another joins (dossier 3.1).
    pub act: Act,
    /// Whether it was sent at least once: it can then not be cancelled.
    pub sent: bool,
    /// What happens when it is settled.
    pub then: Vec<Then>,
}

/// A callback of an operation, before it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Then {
    /// The source of a move gives its copy up.
    Leave {
        /// Where the copy is.
        from: ServerId,
        /// Which of that server's queues it was; a later one has another number.
        queue: u32,
    },
    /// The mark of a move goes.
    Unmark,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Peon {
    /// Tells it from another queue of the same server's name.
    pub number: u32,
    pub(super) load: Table<SegmentId, Entry>,
    pub(super) drop: Table<SegmentId, Entry>,
    pub(super) marked: Table<SegmentId, ()>,
    /// Acknowledged and not yet seen in an inventory (#19889).
    pub(super) awaiting: Table<SegmentId, Act>,
}

impl Peon {
    /// An empty one.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Self {
            number,
            load: Table::new(),
            drop: Table::new(),
            marked: Table::new(),
            awaiting: Table::new(),
        }
    }

    fn side(&mut self, action: Action) -> &mut Table<SegmentId, Entry> {
        match action {
            Action::Load => &mut self.load,
            Action::Drop => &mut self.drop,
        }
    }

    /// Enqueues. A second operation of the same kind on the segment only adds its callback. A load and a
    /// drop of one segment may stand side by side (dossier 3.1).
    pub fn enqueue(&mut self, segment: SegmentId, act: Act, then: Option<Then>) {
        let action = if act == Act::Drop { Action::Drop } else { Action::Load };
        let side = self.side(action);
        if let Some(entry) = side.get_mut(&segment) {
            entry.then.extend(then);
        } else {
            side.insert(segment, Entry { act, sent: false, then: then.into_iter().collect() });
        }
    }

    /// Takes an operation back if it was never sent; a load if there is one, else a drop (dossier 3.4).
    pub fn cancel(&mut self, at: ServerId, segment: SegmentId) -> Option<Vec<Callback>> {
        let action = if self.load.contains_key(&segment) { Action::Load } else { Action::Drop };
        let unsent = self.side(action).get(&segment).is_some_and(|entry| !entry.sent);
        unsent.then(|| self.settle(at, segment, action, false).unwrap_or_default())
    }

    /// Takes an operation out; its callbacks are due. `None` if there is none: the answer is ignored.
    pub fn settle(
        &mut self,
        at: ServerId,
        segment: SegmentId,
        action: Action,
        success: bool,
    ) -> Option<Vec<Callback>> {
        let number = self.number;
        let entry = self.side(action).remove(&segment)?;
        let due = |then: &Then| Callback::due(*then, segment, at, number, success);
        Some(entry.then.iter().map(due).collect())
    }

    /// Everything is cancelled (dossier 3.5). What was sent is not recalled from the server.
    pub fn stop(mut self, at: ServerId) -> Vec<Callback> {
        let loads: Vec<_> = self.load.iter().map(|(id, _)| (*id, Action::Load)).collect();
        let drops: Vec<_> = self.drop.iter().map(|(id, _)| (*id, Action::Drop)).collect();
        let all = loads.into_iter().chain(drops);
        all.filter_map(|(id, action)| self.settle(at, id, action, false)).flatten().collect()
    }

    /// Operations in sending order: drops, loads, replicas, moves; newest segment first.
    pub fn entries(&self) -> Vec<(SegmentId, &Entry)> {
        let mut all: Vec<_> =
            self.drop.iter().chain(self.load.iter()).map(|(id, e)| (*id, e)).collect();
        all.sort_by_key(|(id, entry)| (entry.act, core::cmp::Reverse(*id)));
        all
    }

    /// Whether a segment is marked as the source of a move.
    #[must_use]
    pub fn is_marked(&self, segment: SegmentId) -> bool {
        self.marked.contains_key(&segment)
    }

    /// How many segments are marked.
    #[must_use]
    pub fn marks(&self) -> usize {
        self.marked.len()
    }

    /// Whether a drop of this segment is queued.
    #[must_use]
    pub fn drops(&self, segment: SegmentId) -> bool {
        self.drop.contains_key(&segment)
    }

    /// Whether a load of this segment is queued.
    #[must_use]
    pub fn loads(&self, segment: SegmentId) -> bool {
        self.load.contains_key(&segment)
    }

    /// What was acknowledged and is not yet confirmed.
    pub fn awaiting(&self) -> impl Iterator<Item = (SegmentId, Act)> {
        self.awaiting.iter().map(|(id, act)| (*id, *act))
    }

    /// All of it has been sent: it can be cancelled no more.
    pub fn mark_sent(&mut self) {
        for action in [Action::Drop, Action::Load] {
            let ids: Vec<_> = self.side(action).iter().map(|(id, _)| *id).collect();
            for id in ids {
                if let Some(entry) = self.side(action).get_mut(&id) {
                    entry.sent = true;
                }
            }
        }
    }
}
