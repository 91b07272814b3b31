//! Through which window a copy was lost: what the decision that dropped it had got wrong, and when.
//!
//! Kept beside the state only in scopes that ask for it. It observes and names; nothing depends on it. Each
//! wrong decision is noted for itself, with the copy that it wrongly counted on, and is forgotten when it
//! cannot cost a copy any more: a loss is put down only to a decision that had a part in it.

use std::sync::Arc;

use surehold::rebalance::historical;
use surehold::rebalance::message::{Action as Asked, Answer, FromServer, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId};
use surehold::rebalance::{CoordinatorEvent, Task};

use super::fleet::{Fleet, Leads as _};
use super::model::{Model, RoleOf, WorldOf};
use super::scope::Scope;
use super::world::{Decision, Mail};
use crate::memo::Steps;

/// A window of the move race (dossier 8, and two beyond it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Window {
    /// The load is acknowledged, the callback has not run: the source is still marked, and counts.
    Acked,
    /// The callback is between taking the mark away and queueing the drop.
    Half,
    /// The queue is read, then the callback runs, then the marks are read.
    Between,
    /// The inventory is copied, then the drop is acknowledged, then the queue is read.
    Acknowledged,
    /// The view of the source is old: its drop was acknowledged before the run began.
    OldView,
    /// It, or the copy of the inventory (window 2), is, and what #19889 had retained in its place has expired.
    Expired,
    /// Another coordinator's drop is on its way, or was carried out unseen.
    OtherLeader,
    /// The drop was found overdue and forgotten, and is carried out all the same.
    Overdue,
    /// The server vanished or started again, and its queue was forgotten with the drop in it.
    Forgotten,
    /// A drop arrives a second time, when the server has the segment again.
    Repeated,
    /// A view is ahead of the answer to a load: the new copy counts as loaded, and the source of a move that
    /// stands for it, or the load itself, counts too (D2).
    ViewAhead,
}

impl Window {
    /// All of them, in the dossier's order.
    pub const ALL: [Self; 11] = [
        Self::Acked,
        Self::Half,
        Self::Between,
        Self::Acknowledged,
        Self::OldView,
        Self::Expired,
        Self::OtherLeader,
        Self::Overdue,
        Self::Forgotten,
        Self::Repeated,
        Self::ViewAhead,
    ];

    /// Its number: in the dossier up to 5, then ours; D2 is one of the hazards beneath the dossier's table.
    #[must_use]
    pub fn number(self) -> &'static str {
        match self {
            Self::Acked => "0",
            Self::Half => "1a",
            Self::Between => "1b",
            Self::Acknowledged => "2",
            Self::OldView => "3",
            Self::Expired => "3e",
            Self::OtherLeader => "4",
            Self::Overdue => "5",
            Self::Forgotten => "6",
            Self::Repeated => "7",
            Self::ViewAhead => "D2",
        }
    }

    /// What it is.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::Acked => "load acknowledged, callback not run",
            Self::Half => "callback between mark and drop",
            Self::Between => "callback between the readings of queue and marks",
            Self::Acknowledged => "drop acknowledged between the copies of inventory and queue",
            Self::OldView => "view of the source old",
            Self::Expired => "view or copy of the source old, what was retained has expired",
            Self::OtherLeader => "drop of another leader in flight",
            Self::Overdue => "drop overdue, carried out later",
            Self::Forgotten => "drop forgotten as the server vanished",
            Self::Repeated => "drop arrives twice",
            Self::ViewAhead => "view of the target ahead of its answer",
        }
    }
}

/// Which losses count, in a scope that tells windows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sought {
    /// Those through this window.
    Through(Window),
    /// Those through none that has a name here: there must be none, or the table of windows hides something.
    Unnamed,
}

/// What a coordinator's queue says of a server's copy at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Nothing.
    #[default]
    Plain,
    /// It is the source of a move.
    Marked,
    /// Its mark is gone and its drop not yet queued.
    Half,
    /// Its drop is queued or sent.
    Queued,
}

/// How the last drop of a server's copy left its coordinator's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fate {
    /// There was none, or it is still there, or the copy has come back since.
    #[default]
    Open,
    /// It was acknowledged.
    Acknowledged,
    /// It was acknowledged and retained, and that has expired.
    Expired,
    /// It was found overdue.
    Overdue,
    /// The queue was thrown away.
    Forgotten,
    /// It was carried out a second time.
    Repeated,
}

/// What is noted of one server for one coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sight {
    /// How the last drop ended.
    pub fate: Fate,
    /// How it had ended when the run copied the inventory.
    pub fate_at_inventory: Fate,
    /// What the queue said when the run read it.
    pub stage_at_queue: Stage,
}

/// What is noted for the naming of windows: by coordinator, then by server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Watch {
    /// Empty where nobody asks.
    pub sights: Vec<Vec<Sight>>,
    /// Wrong drops that have cost, or may still cost, a copy; sorted.
    pub suspects: Vec<Suspect>,
    /// Whether something was lost that is not asked for: the path ends there.
    pub lost: bool,
    /// Through which window something was lost that is asked for.
    pub through: Option<Window>,
}

/// A drop that was decided because another copy was counted that was gone or going.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Suspect {
    /// Where the drop is.
    pub dropped: ServerId,
    /// Whose copy was wrongly counted.
    pub counted: ServerId,
    /// Why it was.
    pub window: Window,
}

/// What a run's picture says of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pictured {
    /// Whether the copy of the inventory lists the segment.
    pub served: bool,
    /// Whether it is marked as the source of a move.
    pub marked: bool,
    /// Whether a load is queued.
    pub arriving: bool,
    /// Whether a drop is queued, or retained.
    pub dropping: bool,
}

impl<F: Fleet> Model<F> {
    /// The same model, in which losses of this segment are noted that come through this window.
    pub(super) fn observed(&self, segment: SegmentId, window: Window) -> Self {
        let losses = Some(Sought::Through(window));
        let scope = Scope { losses, ..Scope::clone(&self.scope) };
        let (coordinator, historical) =
            (Arc::clone(&self.coordinator), Arc::clone(&self.historical));
        Self {
            #[cfg(feature = "checker")]
            renamings: crate::symmetry::names_kept(scope.servers.len()).into(),
            scope: Arc::new(scope),
            judged: self.judged.clone(),
            witnesses: false,
            polls_on: self.polls_on,
            coverage: None,
            led: Steps::new(),
            served: Steps::new(),
            watched: segment,
            coordinator,
            historical,
        }
    }

    pub(super) fn new_watch(&self, leaders: u8) -> Watch {
        let servers = self.scope.servers.len();
        let sights = match self.scope.losses {
            Some(_) => vec![vec![Sight::default(); servers]; usize::from(leaders)],
            None => Vec::new(),
        };
        Watch { sights, ..Watch::default() }
    }

    /// A coordinator has taken a step.
    pub(super) fn watch_step(
        &self,
        world: &mut WorldOf<F>,
        at: u8,
        before: &RoleOf<F>,
        event: &CoordinatorEvent,
    ) {
        if world.watch.sights.is_empty() {
            return;
        }
        let after = world.leaders[usize::from(at)].role.clone();
        let (was, is) = (before.drops(), after.drops());
        let sights = &mut world.watch.sights[usize::from(at)];
        for server in self.scope.ids() {
            let sight = &mut sights[usize::from(server.0)];
            let drop = (server, self.watched);
            if is.contains(&drop) && !was.contains(&drop) {
                sight.fate = Fate::Open;
            }
            if was.contains(&drop) && !is.contains(&drop) {
                sight.fate = fate_of(event);
            }
            if sight.fate == Fate::Acknowledged && expires(event, server, self.watched) {
                sight.fate = Fate::Expired;
            }
            let (from, to) = (before.phase(), after.phase());
            if from < 1 && to >= 1 {
                let there = world.servers[usize::from(server.0)].is_serving(self.watched);
                sight.fate_at_inventory = if there { Fate::Open } else { sight.fate };
            }
            if from < 2 && to >= 2 {
                sight.stage_at_queue = before.stage(server, self.watched);
            }
        }
        let runs = before.phase() == 3 && after.phase() == 0;
        let new = is.iter().filter(|drop| drop.1 == self.watched && !was.contains(drop));
        for (dropped, _) in new {
            let suspects = if runs {
                self.wrong_in_run(world, at, before, *dropped)
            } else {
                self.wrong_in_callback(world, at, *dropped)
            };
            world.watch.suspects.extend(suspects);
        }
        world.watch.suspects.sort_unstable();
        world.watch.suspects.dedup();
        if after.phase() == 0 {
            for sight in &mut world.watch.sights[usize::from(at)] {
                *sight = Sight { fate: sight.fate, ..Sight::default() };
            }
        }
    }

    /// What the picture of a run that drops a copy had got wrong of others.
    fn wrong_in_run(
        &self,
        world: &WorldOf<F>,
        at: u8,
        before: &RoleOf<F>,
        dropped: ServerId,
    ) -> Vec<Suspect> {
        let ahead = self.scope.ids().any(|server| {
            let target = before.pictured(server, self.watched);
            target.served && target.arriving
        });
        let others = self.scope.ids().filter(|other| *other != dropped);
        let wrong = others.filter_map(|counted| {
            let pictured = before.pictured(counted, self.watched);
            if !pictured.served || pictured.dropping {
                return None;
            }
            let window = match (pictured.marked, ahead) {
                (true, true) => Some(Window::ViewAhead),
                (true, false) => Some(Window::Acked),
                (false, _) => {
                    let half = before.stage(counted, self.watched) == Stage::Half;
                    self.is_wrong(world, at, counted, half)
                }
            };
            window.map(|window| Suspect { dropped, counted, window })
        });
        wrong.collect()
    }

    /// The end of a move counts on its target as it was when the load was done. It looks at nothing again, so
    /// only what happens outside this coordinator's own knowledge can be wrong.
    fn wrong_in_callback(&self, world: &WorldOf<F>, at: u8, dropped: ServerId) -> Vec<Suspect> {
        let others = self.scope.ids().filter(|other| *other != dropped);
        let wrong = others.filter_map(|counted| {
            let window = self.is_wrong(world, at, counted, false)?;
            let outside = matches!(
                window,
                Window::OtherLeader | Window::Overdue | Window::Forgotten | Window::Repeated
            );
            outside.then_some(Suspect { dropped, counted, window })
        });
        wrong.collect()
    }

    /// A wrong drop that was taken back, or whose copy has come back, costs nothing any more.
    pub(super) fn watch_moot(&self, world: &mut WorldOf<F>) {
        if world.watch.suspects.is_empty() {
            return;
        }
        let mut suspects = std::mem::take(&mut world.watch.suspects);
        suspects.retain(|suspect| {
            let serves = world.servers[usize::from(suspect.dropped.0)].serves(self.watched);
            !serves || self.may_be_dropped(world, suspect.dropped)
        });
        world.watch.suspects = suspects;
    }

    /// Whether a drop on a server is decided or on its way.
    fn may_be_dropped(&self, world: &WorldOf<F>, server: ServerId) -> bool {
        let is_this = |d: &Decision| d.server == server && d.segment == self.watched;
        world.decisions.iter().any(is_this) || self.letter_to(world, server, |_| true)
    }

    /// Through which windows a loss came: those by which the drop itself was decided, and those by which a
    /// drop was that counted on this copy and was carried out before.
    pub(super) fn windows_of_loss(&self, world: &WorldOf<F>, server: ServerId) -> Vec<Window> {
        let gone = |at: ServerId| !world.servers[usize::from(at.0)].serves(self.watched);
        let suspects = world.watch.suspects.iter().filter(|suspect| {
            suspect.dropped == server || (suspect.counted == server && gone(suspect.dropped))
        });
        suspects.map(|suspect| suspect.window).collect()
    }

    /// Why a copy that is plainly loaded in the picture is not, or will not be. `half`: its mark is gone by now,
    /// and its drop not yet queued.
    fn is_wrong(&self, world: &WorldOf<F>, at: u8, other: ServerId, half: bool) -> Option<Window> {
        let gone = !world.servers[usize::from(other.0)].is_serving(self.watched);
        let sight = world.watch.sights[usize::from(at)][usize::from(other.0)];
        let decided = |of: &dyn Fn(u8) -> bool| {
            let is_it = |d: &Decision| d.server == other && d.segment == self.watched;
            world.decisions.iter().any(|d| is_it(d) && of(d.leader))
        };
        let foreign =
            decided(&|leader| leader != at) || self.letter_to(world, other, |leader| leader != at);
        let own = decided(&|leader| leader == at);
        let loose = !own && self.letter_to(world, other, |leader| leader == at);
        if foreign || (gone && self.was_foreign(world, at, other)) {
            return Some(Window::OtherLeader);
        }
        match sight.fate {
            Fate::Overdue if gone || loose => Some(Window::Overdue),
            Fate::Forgotten if gone || loose => Some(Window::Forgotten),
            Fate::Repeated if gone => Some(Window::Repeated),
            Fate::Expired if gone => Some(Window::Expired),
            Fate::Acknowledged if gone && sight.fate_at_inventory == Fate::Acknowledged => {
                Some(Window::OldView)
            }
            Fate::Acknowledged if gone => {
                Some(between_readings(sight).unwrap_or(Window::Acknowledged))
            }
            _ if loose => Some(Window::Repeated),
            _ if own || half => between_readings(sight),
            _ => None,
        }
    }

    fn letter_to(&self, world: &WorldOf<F>, server: ServerId, of: impl Fn(u8) -> bool) -> bool {
        world.wire.iter().any(|letter| {
            let Mail::Asked(ToServer::Request(request), _) = &letter.mail else { return false };
            letter.server == server
                && request.segment == self.watched
                && request.action == Asked::Drop
                && of(letter.leader)
        })
    }

    /// Whether another coordinator's drop took the copy: none of this one's did.
    fn was_foreign(&self, world: &WorldOf<F>, at: u8, server: ServerId) -> bool {
        let sights = world.watch.sights.iter().enumerate();
        let mut others = sights.filter(|(leader, _)| *leader != usize::from(at));
        let own = world.watch.sights[usize::from(at)][usize::from(server.0)].fate;
        own == Fate::Open
            && others.any(|(_, sights)| sights[usize::from(server.0)].fate != Fate::Open)
    }

    /// A server announces a segment again: what became of the last drop is history, and whoever counted on
    /// this copy was right after all, unless another drop of it is on its way.
    pub(super) fn watch_announced(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        before: &historical::State,
    ) {
        let announces = world.servers[usize::from(server.0)].is_serving(self.watched);
        if world.watch.sights.is_empty() || before.announces(self.watched) || !announces {
            return;
        }
        if !self.may_be_dropped(world, server) {
            world.watch.suspects.retain(|suspect| suspect.counted != server);
        }
        for sights in &mut world.watch.sights {
            let sight = &mut sights[usize::from(server.0)];
            (sight.fate, sight.fate_at_inventory) = (Fate::Open, Fate::Open);
        }
    }

    /// A drop was carried out. If nobody waits for it and it had been settled, it is a repetition.
    pub(super) fn watch_dropped(&self, world: &mut WorldOf<F>, server: ServerId, leader: u8) {
        let waits = world
            .decisions
            .iter()
            .any(|d| d.server == server && d.leader == leader && d.segment == self.watched);
        if let Some(sights) = world.watch.sights.get_mut(usize::from(leader)) {
            let sight = &mut sights[usize::from(server.0)];
            if !waits && sight.fate == Fate::Open {
                sight.fate = Fate::Repeated;
            }
        }
    }
}

/// What a callback did between the readings of a run that saw neither mark nor drop.
fn between_readings(sight: Sight) -> Option<Window> {
    match sight.stage_at_queue {
        Stage::Half => Some(Window::Half),
        Stage::Marked => Some(Window::Between),
        Stage::Plain | Stage::Queued => None,
    }
}

fn fate_of(event: &CoordinatorEvent) -> Fate {
    match event {
        CoordinatorEvent::Received(addressed) => match &addressed.message {
            FromServer::Reply(reply) if reply.answer == Answer::Done => Fate::Acknowledged,
            FromServer::Reply(_) | FromServer::View(_) | FromServer::Outdated(_) => Fate::Open,
        },
        CoordinatorEvent::Continue { task: Task::Overdue(..), .. } => Fate::Overdue,
        CoordinatorEvent::Continue { .. }
        | CoordinatorEvent::Disappeared(_)
        | CoordinatorEvent::Elected(_)
        | CoordinatorEvent::Deposed => Fate::Forgotten,
        CoordinatorEvent::Appeared(..) | CoordinatorEvent::Require(..) => Fate::Open,
    }
}

/// Whether what was retained of a server's drop expires.
fn expires(event: &CoordinatorEvent, server: ServerId, segment: SegmentId) -> bool {
    let task = Task::Unconfirmed(server, segment);
    matches!(event, CoordinatorEvent::Continue { task: of, .. } if *of == task)
}
