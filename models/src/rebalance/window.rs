//! Through which window a copy was lost: what the run that dropped it had got wrong, and when.
//!
//! Kept beside the state only in scopes that ask for it. It observes and names; nothing depends on it.

use surehold::rebalance::message::{Action as Asked, Answer, FromServer, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId};
use surehold::rebalance::{CoordinatorEvent, Task};

use super::fleet::{Fleet, Leads as _};
use super::model::{Model, RoleOf, WorldOf};
use super::world::Mail;

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
    pub const ALL: [Self; 10] = [
        Self::Acked,
        Self::Half,
        Self::Between,
        Self::Acknowledged,
        Self::OldView,
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
            Self::OtherLeader => "drop of another leader in flight",
            Self::Overdue => "drop overdue, carried out later",
            Self::Forgotten => "drop forgotten as the server vanished",
            Self::Repeated => "drop arrives twice",
            Self::ViewAhead => "view of the target ahead of its answer",
        }
    }
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
    /// Through which window the last wrong drop was decided.
    pub suspect: Option<Window>,
    /// Whether something was lost through a window that is not asked for: the path ends there.
    pub lost: bool,
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

const SEGMENT: SegmentId = SegmentId(1);

impl<F: Fleet> Model<F> {
    pub(super) fn new_watch(&self, leaders: u8) -> Watch {
        let servers = self.scope.servers.len();
        let sights = match self.scope.window {
            Some(_) => vec![vec![Sight::default(); servers]; usize::from(leaders)],
            None => Vec::new(),
        };
        Watch { sights, suspect: None, lost: false }
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
            let drop = (server, SEGMENT);
            if is.contains(&drop) && !was.contains(&drop) {
                sight.fate = Fate::Open;
            }
            if was.contains(&drop) && !is.contains(&drop) {
                sight.fate = fate_of(event);
            }
            let (from, to) = (before.phase(), after.phase());
            if from < 1 && to >= 1 {
                let there = world.servers[usize::from(server.0)].is_serving(SEGMENT);
                sight.fate_at_inventory = if there { Fate::Open } else { sight.fate };
            }
            if from < 2 && to >= 2 {
                sight.stage_at_queue = before.stage(server, SEGMENT);
            }
        }
        let decides = before.phase() == 3 && after.phase() == 0;
        for drop in is.iter().filter(|drop| decides && !was.contains(drop)) {
            if let Some(window) = self.window_of(world, at, before, drop.0) {
                world.watch.suspect = Some(window);
            }
        }
        if after.phase() == 0 {
            for sight in &mut world.watch.sights[usize::from(at)] {
                *sight = Sight { fate: sight.fate, ..Sight::default() };
            }
        }
    }

    /// What the picture of a run that drops a copy had got wrong of another, if it had.
    fn window_of(
        &self,
        world: &WorldOf<F>,
        at: u8,
        before: &RoleOf<F>,
        dropped: ServerId,
    ) -> Option<Window> {
        let ahead = self.scope.ids().any(|server| {
            let target = before.pictured(server, SEGMENT);
            target.served && target.arriving
        });
        self.scope.ids().filter(|other| *other != dropped).find_map(|other| {
            let pictured = before.pictured(other, SEGMENT);
            if !pictured.served || pictured.dropping {
                return None;
            }
            if pictured.marked {
                return Some(if ahead { Window::ViewAhead } else { Window::Acked });
            }
            self.is_wrong(world, at, other)
        })
    }

    /// Why a copy that is plainly loaded in the picture is not, or will not be.
    fn is_wrong(&self, world: &WorldOf<F>, at: u8, other: ServerId) -> Option<Window> {
        let gone = !world.servers[usize::from(other.0)].is_serving(SEGMENT);
        let sight = world.watch.sights[usize::from(at)][usize::from(other.0)];
        let foreign = world.decisions.iter().any(|d| d.server == other && d.leader != at)
            || self.letter_to(world, other, |leader| leader != at);
        let own = world.decisions.iter().any(|d| d.server == other && d.leader == at);
        let loose = !own && self.letter_to(world, other, |leader| leader == at);
        if foreign || (gone && self.was_foreign(world, at, other)) {
            return Some(Window::OtherLeader);
        }
        match sight.fate {
            Fate::Overdue if gone || loose => Some(Window::Overdue),
            Fate::Forgotten if gone || loose => Some(Window::Forgotten),
            Fate::Repeated if gone => Some(Window::Repeated),
            Fate::Acknowledged if gone && sight.fate_at_inventory == Fate::Acknowledged => {
                Some(Window::OldView)
            }
            Fate::Acknowledged if gone => Some(Window::Acknowledged),
            _ if loose => Some(Window::Repeated),
            _ if own => match sight.stage_at_queue {
                Stage::Half => Some(Window::Half),
                Stage::Marked => Some(Window::Between),
                Stage::Plain | Stage::Queued => None,
            },
            _ => match sight.stage_at_queue {
                Stage::Half => Some(Window::Half),
                _ => None,
            },
        }
    }

    fn letter_to(&self, world: &WorldOf<F>, server: ServerId, of: impl Fn(u8) -> bool) -> bool {
        world.wire.iter().any(|letter| {
            let Mail::Asked(ToServer::Request(request), _) = &letter.mail else { return false };
            letter.server == server && request.action == Asked::Drop && of(letter.leader)
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

    /// A server announces a segment again: what became of the last drop is history.
    pub(super) fn watch_announced(&self, world: &mut WorldOf<F>, server: ServerId) {
        for sights in &mut world.watch.sights {
            let sight = &mut sights[usize::from(server.0)];
            (sight.fate, sight.fate_at_inventory) = (Fate::Open, Fate::Open);
        }
    }

    /// A drop was carried out. If nobody waits for it and it had been settled, it is a repetition.
    pub(super) fn watch_dropped(&self, world: &mut WorldOf<F>, server: ServerId, leader: u8) {
        let waits = world.decisions.iter().any(|d| d.server == server && d.leader == leader);
        if let Some(sights) = world.watch.sights.get_mut(usize::from(leader)) {
            let sight = &mut sights[usize::from(server.0)];
            if !waits && sight.fate == Fate::Open {
                sight.fate = Fate::Repeated;
            }
        }
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
