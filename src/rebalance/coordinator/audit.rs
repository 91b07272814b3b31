//! Whether the indices of a state say what its table of segments says.

use core::cmp::Reverse;
use core::fmt;
use std::collections::BTreeMap;

use super::super::object::{SegmentId, ServerId};
use super::state::{Kind, Phase, Segment, Server, State};

/// An index that has come apart from the table of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexFault {
    /// A copy is noted on a server that is not known.
    NoServer(ServerId, SegmentId),
    /// What this server may hold is not what the table says.
    Holds(ServerId),
    /// What is queued for this server is not what the table says.
    Queue(ServerId),
    /// Bytes are kept on a server for more or fewer segments than the table says.
    UsedBytes {
        /// Which server.
        server: ServerId,
        /// What the index has.
        kept: u128,
        /// What the table gives.
        counted: u128,
    },
}

impl fmt::Display for IndexFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServer(server, segment) => {
                write!(f, "segment {} has a copy on server {}, unknown", segment.0, server.0)
            }
            Self::Holds(server) => write!(f, "server {} is said to hold other segments", server.0),
            Self::Queue(server) => write!(f, "server {} has another queue", server.0),
            Self::UsedBytes { server, kept, counted } => {
                write!(f, "server {} uses {counted} bytes and is said to use {kept}", server.0)
            }
        }
    }
}

/// What the table of segments says of one server.
#[derive(Default)]
struct Counted {
    holds: Vec<SegmentId>,
    queue: Vec<(Kind, Reverse<SegmentId>)>,
    late: Vec<(Kind, Reverse<SegmentId>)>,
    used_bytes: u128,
}

impl Counted {
    fn fault(mut self, at: ServerId, server: &Server) -> Option<IndexFault> {
        self.queue.sort_unstable();
        self.late.sort_unstable();
        // Of a server that is not shown, it is what the table said once.
        if server.shown && !server.holds.iter().eq(&self.holds) {
            return Some(IndexFault::Holds(at));
        }
        if !server.queue.iter().eq(&self.queue) || !server.late.iter().eq(&self.late) {
            return Some(IndexFault::Queue(at));
        }
        let (kept, counted) = (server.used_bytes, self.used_bytes);
        (kept != counted).then_some(IndexFault::UsedBytes { server: at, kept, counted })
    }
}

impl State {
    /// The first index that differs from the table of segments, counted from scratch. Every state that a
    /// step makes has none; this looks at all of it, so it is for tests and for a state that was read.
    #[must_use]
    pub fn index_fault(&self) -> Option<IndexFault> {
        let mut counted: BTreeMap<_, _> =
            self.servers.keys().map(|at| (*at, Counted::default())).collect();
        for (id, segment) in self.segments() {
            if let Err(fault) = count(&mut counted, id, segment) {
                return Some(fault);
            }
        }
        let servers = self.servers.iter().zip(counted.into_values());
        servers.filter_map(|((at, server), counted)| counted.fault(*at, server)).next()
    }
}

fn count(
    counted: &mut BTreeMap<ServerId, Counted>,
    id: SegmentId,
    segment: &Segment,
) -> Result<(), IndexFault> {
    let size = u128::from(segment.size_bytes());
    for (at, copy) in segment.copies.iter() {
        let of = counted.get_mut(at).ok_or(IndexFault::NoServer(*at, id))?;
        of.holds.push(id);
        if let Some(op) = copy.operation {
            let late = matches!(op.phase, Phase::Late(_));
            let line = if late { &mut of.late } else { &mut of.queue };
            line.push((op.kind, Reverse(id)));
        }
        if copy.takes_space() {
            of.used_bytes += size;
        }
    }
    Ok(())
}
