//! What a coordinator remembers.
//!
//! Two indices are kept: by segment, who may hold it; by server, what it may hold and what is queued. A copy
//! is changed in one place only (`set_copy`), which keeps both and the list of what has to be
//! decided again, so that a run costs what has changed.

use std::sync::Arc;

use super::super::event::{Rule, ServerInfo};
use super::super::message::Action;
use super::super::object::{
    Fence, Incarnation, LeaderId, SegmentId, ServerId, Stamp, Term, TierId,
};
use crate::collections::{Map, Seq, Set, Table};

/// What a coordinator knows after a crash: its name, and that this is a new life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Durable {
    /// Its name.
    pub leader: LeaderId,
    /// Larger than that of any life before.
    pub incarnation: u32,
}

/// The state of a coordinator. All of it is volatile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct State {
    pub(crate) durable: Durable,
    /// The term it leads in.
    pub(crate) term: Option<Term>,
    /// The newest term it ever led in: none is led in twice, as the numbers of its requests begin anew.
    pub(crate) newest: Term,
    pub(crate) servers: Map<ServerId, Server>,
    /// Shared one by one: a change of one must not copy those beside it.
    pub(crate) segments: Map<SegmentId, Arc<Segment>>,
    /// Segments that the next run has to look at.
    pub(crate) due: Set<SegmentId>,
    /// The picture a weakened run has taken; the verified one decides on the state itself.
    pub(crate) picture: Option<Map<SegmentId, Arc<Segment>>>,
    /// Drops that a weakened coordinator has asked for and not yet committed.
    pub(crate) asked: Seq<(SegmentId, ServerId)>,
    /// Second operations, which a weakened coordinator puts beside the first.
    pub(crate) beside: Table<(ServerId, SegmentId), Operation>,
}

/// What is known of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Server {
    /// What discovery and the operator say.
    pub info: ServerInfo,
    /// Its life, once it has been heard of.
    pub incarnation: Option<Incarnation>,
    /// When it made the newest full view that has arrived.
    pub viewed: Option<Stamp>,
    /// The highest number given to a request to it in this term; it outlives the server's absence.
    pub(crate) issued: u32,
    /// The number from which on a fence cuts off all that was sent to it before it (re-)appeared.
    pub(crate) fence_from: u32,
    /// Whether discovery shows it.
    pub(crate) shown: bool,
    /// Whether a full view has come that carried such a fence.
    pub fenced: bool,
    /// Bytes of what it holds, or may come to hold by an operation that is not settled. Wide enough for any
    /// sizes: a sum that was cut off once would be wrong from then on.
    pub used_bytes: u128,
    /// Every segment of which it has a copy entry; once discovery does not show it, of which it had one then.
    pub(crate) holds: Set<SegmentId>,
    /// Operations not settled and not late, in sending order.
    pub(crate) queue: Set<(Kind, core::cmp::Reverse<SegmentId>)>,
    /// Operations that are late, in sending order.
    pub(crate) late: Set<(Kind, core::cmp::Reverse<SegmentId>)>,
}

impl Server {
    /// Bytes that nothing takes or may come to take.
    #[must_use]
    pub fn free_bytes(&self) -> u128 {
        u128::from(self.info.capacity_bytes).saturating_sub(self.used_bytes)
    }

    /// The line that an operation stands in.
    fn line_of(&mut self, op: Operation) -> &mut Set<(Kind, core::cmp::Reverse<SegmentId>)> {
        match op.phase {
            Phase::Queued | Phase::Sent(_) => &mut self.queue,
            Phase::Late(_) => &mut self.late,
        }
    }
}

/// What is known of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Segment {
    /// What is required; `None` if no rule was given yet, and then it is left alone. A rule stays, also one that
    /// requires nothing: a copy may turn up on a server that this leader has never seen.
    pub rule: Option<Rule>,
    /// By server.
    pub copies: Table<ServerId, Copy>,
}

/// A (segment, server) pair: what the server said, and the one operation that is outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Copy {
    /// Whether the server announced it, when last heard of.
    pub has: bool,
    /// When that was.
    pub stamp: Stamp,
    /// The operation that is not settled.
    pub operation: Option<Operation>,
}

/// An operation on one segment of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Operation {
    /// What it is.
    pub kind: Kind,
    /// How far it is.
    pub phase: Phase,
    /// For [`Kind::MoveTo`], the server to leave.
    pub from: Option<ServerId>,
}

/// Kinds of operation, in the order in which they are sent (dossier 9.1, I12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Kind {
    /// Give a copy up.
    Drop,
    /// Load the first copy in a tier.
    Load,
    /// Load a further copy.
    Replicate,
    /// Load in place of another server's copy.
    MoveTo,
}

impl Kind {
    /// What is asked of the server.
    #[must_use]
    pub fn action(self) -> Action {
        match self {
            Self::Drop => Action::Drop,
            Self::Load | Self::Replicate | Self::MoveTo => Action::Load,
        }
    }
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Phase {
    /// Not sent; it can be cancelled.
    Queued,
    /// Sent under this number.
    Sent(u32),
    /// Sent under this number, and not answered for too long. It may still be carried out.
    Late(u32),
}

impl Operation {
    /// The number it was sent under.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        match self.phase {
            Phase::Queued => None,
            Phase::Sent(number) | Phase::Late(number) => Some(number),
        }
    }
}

/// What a (segment, server) pair counts as: exactly one of these (dossier 4.4, recommended accounting).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Not there; or perhaps on its way, by a load that is late.
    Absent,
    /// A load is outstanding.
    Arriving,
    /// There, and no drop of it is outstanding.
    Serving,
    /// A drop is outstanding: it counts as gone.
    Leaving,
}

impl Copy {
    /// What it counts as.
    #[must_use]
    pub fn class(&self) -> Class {
        match self.operation {
            Some(Operation { kind: Kind::Drop, .. }) => Class::Leaving,
            Some(_) | None if self.has => Class::Serving,
            Some(Operation { phase: Phase::Late(_), .. }) | None => Class::Absent,
            Some(Operation { phase: Phase::Queued | Phase::Sent(_), .. }) => Class::Arriving,
        }
    }

    /// Whether bytes have to be kept for it. A late load keeps them: it may yet arrive (#10193).
    #[must_use]
    pub fn takes_space(&self) -> bool {
        self.has || self.operation.is_some_and(|op| op.kind != Kind::Drop)
    }

    fn is_blank(&self, viewed: Option<Stamp>) -> bool {
        !self.has && self.operation.is_none() && viewed.is_some_and(|viewed| self.stamp <= viewed)
    }
}

impl State {
    pub(crate) fn started(durable: Durable) -> Self {
        Self {
            durable,
            term: None,
            newest: Term::default(),
            servers: Map::new(),
            segments: Map::new(),
            due: Set::new(),
            picture: None,
            asked: Seq::new(),
            beside: Table::new(),
        }
    }

    /// The term it leads in, if it leads.
    #[must_use]
    pub fn term(&self) -> Option<Term> {
        self.term
    }

    /// Who it is.
    #[must_use]
    pub fn leader(&self) -> LeaderId {
        self.durable.leader
    }

    /// A server, if discovery shows it.
    #[must_use]
    pub fn server(&self, server: ServerId) -> Option<&Server> {
        self.servers.get(&server).filter(|server| server.shown)
    }

    /// All servers that discovery shows.
    pub fn servers(&self) -> impl Iterator<Item = (ServerId, &Server)> {
        let shown = self.servers.iter().filter(|(_, server)| server.shown);
        shown.map(|(id, server)| (*id, server))
    }

    /// What is known of a segment.
    #[must_use]
    pub fn segment(&self, segment: SegmentId) -> Option<&Segment> {
        self.segments.get(&segment).map(Arc::as_ref)
    }

    /// All segments that are known.
    pub fn segments(&self) -> impl Iterator<Item = (SegmentId, &Segment)> {
        self.segments.iter().map(|(id, segment)| (*id, segment.as_ref()))
    }

    /// A (segment, server) pair. Where nothing is noted, the last full view has shown that it is not there.
    #[must_use]
    pub fn copy(&self, segment: SegmentId, server: ServerId) -> Copy {
        let copies = self.segments.get(&segment).map(|segment| &segment.copies);
        let noted = copies.and_then(|copies| copies.get(&server)).copied();
        let viewed = self.servers.get(&server).and_then(|server| server.viewed);
        noted.unwrap_or_else(|| Copy { stamp: viewed.unwrap_or_default(), ..Copy::default() })
    }

    /// Whether a run has something to look at.
    #[must_use]
    pub fn has_due(&self) -> bool {
        !self.due.is_empty() || self.picture.is_some()
    }

    /// Whether a weakened run has taken a picture that it will decide on.
    #[must_use]
    pub fn has_picture(&self) -> bool {
        self.picture.is_some()
    }

    /// Whether a weakened coordinator has yet to commit a drop that it has asked for.
    #[must_use]
    pub fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// How many segments the next run will look at.
    #[must_use]
    pub fn due_len(&self) -> usize {
        self.due.len()
    }

    /// Whether something is queued for a server and was never sent.
    #[must_use]
    pub fn has_unsent(&self, server: ServerId) -> bool {
        self.operations_of(server).any(|(_, op)| op.phase == Phase::Queued)
    }

    /// What is not settled on a server: first what is not late, in sending order.
    pub fn operations_of(&self, server: ServerId) -> impl Iterator<Item = (SegmentId, Operation)> {
        let second = self.second_operations().filter(move |(at, ..)| *at == server);
        let first = self.in_time(server).chain(self.late(server));
        first.chain(second.map(|(_, id, op)| (id, op)))
    }

    /// What is queued for a server, or sent and not late, in sending order.
    pub(crate) fn in_time(&self, server: ServerId) -> impl Iterator<Item = (SegmentId, Operation)> {
        self.in_line(server, self.servers.get(&server).map(|server| &server.queue))
    }

    /// What is late on a server, in sending order.
    pub(crate) fn late(&self, server: ServerId) -> impl Iterator<Item = (SegmentId, Operation)> {
        self.in_line(server, self.servers.get(&server).map(|server| &server.late))
    }

    fn in_line<'a>(
        &'a self,
        server: ServerId,
        line: Option<&'a Set<(Kind, core::cmp::Reverse<SegmentId>)>>,
    ) -> impl Iterator<Item = (SegmentId, Operation)> + 'a {
        let ids = line.into_iter().flat_map(|line| line.iter().map(|(_, id)| id.0));
        ids.filter_map(move |id| self.copy(id, server).operation.map(|op| (id, op)))
    }

    /// Operations that are outstanding beside another one on the same segment and server. The verified
    /// coordinator never has one (P4).
    pub fn second_operations(&self) -> impl Iterator<Item = (ServerId, SegmentId, Operation)> {
        self.beside.iter().map(|((at, id), op)| (*at, *id, *op))
    }

    /// The fence that a poll brings: it cuts off what was forgotten, and spares what is outstanding. With the
    /// highest number instead, polls that come often enough would cut off every request.
    pub(crate) fn fence(&self, server: &Server) -> Fence {
        Fence { term: self.term.unwrap_or_default(), number: server.fence_from }
    }

    /// The one place where a copy changes.
    pub(crate) fn set_copy(&mut self, id: SegmentId, at: ServerId, new: Copy) {
        let old = self.copy(id, at);
        let Some(server) = self.servers.get_mut(&at) else { return };
        if self.segments.get(&id).is_none() {
            self.segments.insert(id, Arc::default());
        }
        let Some(segment) = self.segments.get_mut(&id).map(Arc::make_mut) else { return };
        let size = u128::from(segment.size_bytes());
        if old.takes_space() {
            server.used_bytes = server.used_bytes.saturating_sub(size);
        }
        if new.takes_space() {
            server.used_bytes += size;
        }
        if let Some(op) = old.operation {
            server.line_of(op).remove(&(op.kind, core::cmp::Reverse(id)));
        }
        if let Some(op) = new.operation {
            server.line_of(op).insert((op.kind, core::cmp::Reverse(id)));
        }
        if new.is_blank(server.viewed) {
            server.holds.remove(&id);
            segment.copies.remove(&at);
        } else {
            server.holds.insert(id);
            segment.copies.insert(at, new);
        }
        let nothing_known = segment.copies.is_empty() && segment.rule.is_none();
        let settled = old.operation.is_none() != new.operation.is_none();
        if old.class() != new.class() || settled {
            self.due.insert(id);
        }
        if nothing_known {
            self.remove(id);
        }
    }

    /// Nothing refers to a segment any more.
    fn remove(&mut self, id: SegmentId) {
        self.segments.remove(&id);
        self.due.remove(&id);
    }

    /// Forgets all that was known of a server and all that was asked of it.
    pub(crate) fn forget(&mut self, at: ServerId) {
        let Some(server) = self.servers.get_mut(&at) else { return };
        let holds = std::mem::take(&mut server.holds);
        server.queue = Set::new();
        server.late = Set::new();
        server.used_bytes = 0;
        server.viewed = None;
        self.beside.retain(|(server, _), _| *server != at);
        for id in holds.iter() {
            let Some(segment) = self.segments.get_mut(id).map(Arc::make_mut) else { continue };
            segment.copies.remove(&at);
            let nothing_known = segment.copies.is_empty() && segment.rule.is_none();
            self.due.insert(*id);
            if nothing_known {
                self.remove(*id);
            }
        }
    }

    /// Sets what is required; space is counted anew with the size.
    pub(crate) fn require(&mut self, id: SegmentId, rule: Rule) {
        let known = self.segments.get(&id).cloned().unwrap_or_default();
        let (was, is) = (u128::from(known.size_bytes()), u128::from(rule.size_bytes));
        for (at, _) in known.copies.iter().filter(|(_, copy)| copy.takes_space()) {
            if let Some(server) = self.servers.get_mut(at) {
                server.used_bytes = server.used_bytes.saturating_sub(was) + is;
            }
        }
        let copies = known.copies.clone();
        self.segments.insert(id, Arc::new(Segment { rule: Some(rule), copies }));
        self.due.insert(id);
    }
}

impl Segment {
    /// How large it is; 0 as long as no rule says so.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.rule.as_ref().map_or(0, |rule| rule.size_bytes)
    }

    /// How many replicas a tier has to have.
    #[must_use]
    pub fn required(&self, tier: TierId) -> usize {
        let required = self.rule.iter().flat_map(|rule| &rule.required);
        required.filter(|(of, _)| *of == tier).map(|(_, count)| usize::from(*count)).sum()
    }

    /// How many replicas there have to be in all tiers.
    #[must_use]
    pub fn required_in_all(&self) -> usize {
        let required = self.rule.iter().flat_map(|rule| &rule.required);
        required.map(|(_, count)| usize::from(*count)).sum()
    }

    /// Whether an operation is under way that is to replace the copy of this server.
    #[must_use]
    pub fn is_moving_from(&self, server: ServerId) -> bool {
        self.copies.values().any(|copy| {
            copy.operation
                .is_some_and(|op| op.from == Some(server) && !matches!(op.phase, Phase::Late(_)))
        })
    }
}
