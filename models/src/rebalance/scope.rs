//! Scopes: small worlds, each built around a question.

use surehold::rebalance::event::{Rule, ServerInfo};
use surehold::rebalance::invariant::Property;
use surehold::rebalance::object::{SegmentId, ServerId, TierId};

use super::window::Sought;
pub use crate::tier::Tier;

/// The tier of every server, unless a scope says otherwise.
pub const TIER: TierId = TierId(0);

/// A small world and what is asked of it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub question: &'static str,
    /// Servers, named A, B, C ... in this order.
    pub servers: Vec<Place>,
    /// How many replicas of each segment are required, in the first tier.
    pub required: u16,
    /// How many in further tiers.
    pub elsewhere: &'static [(TierId, u16)],
    /// How many segments there are, from 1.
    pub segments: u32,
    /// What may happen, and how often.
    pub budget: Budget,
    /// Whether the second change of leader brings the first one back.
    pub returns: bool,
    /// From how many places a run may begin to look; at least 1.
    pub picks: u8,
    /// How the views behave.
    pub views: Views,
    /// Whether a load takes time; otherwise it is done, or fails, when the request arrives.
    pub slow_loads: bool,
    /// Whether the delay after a drop and the deletion take time.
    pub slow_deletes: bool,
    /// What the operator does, in this order, at any time.
    pub operator: &'static [Operation],
    /// Of how many needless loads there may be; see [`Property::NoNeedlessLoad`].
    pub needless_loads: Option<u8>,
    /// Whether the goal must be reachable from everywhere.
    pub recovers: bool,
    /// Combinations that must occur within one path.
    pub witnesses: &'static [Witness],
    /// If only some losses count: those through one window, or through none.
    pub losses: Option<Sought>,
    /// When it is run.
    pub tier: Tier,
}

/// Where a server starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which segments it serves.
    pub serves: &'static [u32],
    /// Whether rules and balancing use it.
    pub managed: bool,
    /// How many bytes it can hold; each segment has one.
    pub capacity_bytes: u64,
    /// Its tier.
    pub tier: TierId,
}

/// How often each thing that need not happen may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Moves that the balancer proposes.
    pub moves: u8,
    /// Requests that the network repeats.
    pub repeats: u8,
    /// Answers and views that the network repeats.
    pub echoes: u8,
    /// Requests that are found overdue, or acknowledgements that wait too long.
    pub overdue: u8,
    /// Messages that are lost.
    pub losses: u8,
    /// Loads that fail.
    pub failures: u8,
    /// Fetches and deletions of which it is not known whether they were done.
    pub unknowns: u8,
    /// Times that discovery loses a server which is well.
    pub flaps: u8,
    /// Crashes.
    pub crashes: u8,
    /// Whether a crash may take the disk with it.
    pub disks: u8,
    /// Changes of leader.
    pub takeovers: u8,
}

impl Budget {
    /// How much of it is spent when so much is left.
    #[must_use]
    pub fn spent(&self, left: &Self) -> u32 {
        let counts = |budget: &Self| {
            let Self { moves, repeats, overdue, losses, failures, unknowns, .. } = *budget;
            let Self { flaps, crashes, disks, takeovers, .. } = *budget;
            let faults = [repeats, overdue, losses, failures, unknowns];
            [moves, flaps, crashes, disks, takeovers].into_iter().chain(faults).map(u32::from)
        };
        counts(self).sum::<u32>() - counts(left).sum::<u32>()
    }
}

/// How the coordinator's view follows the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Views {
    /// A poll and its answer come as two messages that anything may overtake.
    InFlight,
    /// A poll is answered and taken in at once, at any moment.
    Swift,
    /// Every view always shows the truth.
    Fresh,
    /// As swift; and a run begins only when every view shows the truth.
    Prompt,
}

/// What an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Wants this server empty.
    Decommission(u16),
    /// Requires so many replicas from now on.
    Require(u16),
}

/// A combination that must occur within one path, or the scope does not show what it was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Witness {
    /// A move has been completed: its target serves, its source does not.
    MoveDone,
    /// A server serves a segment, its answer is still on its way, and the view shows it already.
    ViewAhead,
    /// A server serves a segment no more, has said so, and the view still shows it.
    ViewBehind,
    /// A drop that is overdue was carried out all the same.
    ZombieDrop,
    /// A load that is overdue was carried out all the same.
    ZombieLoad,
    /// A drop of an older term is on its way while another leader leads.
    DropOfOldTerm,
    /// Two leaders lead.
    TwoLeaders,
    /// A drop is on its way to a server that has vanished from the view and come back.
    DropAcrossFlap,
    /// A request for an earlier life is on its way to a server that has started again.
    RequestAcrossRestart,
    /// A copy was lost to a crash and replaced.
    Replaced,
    /// A surplus copy was dropped.
    SurplusDropped,
    /// A load has failed and the segment was loaded elsewhere or again.
    FailedThenLoaded,
    /// A server that was to be emptied is empty, and the segment has its replicas.
    Drained,
    /// A segment is loaded while the files of its last copy there are still being deleted.
    LoadedWhileDeleting,
    /// A drop arrives while a load of the segment is under way.
    DropDuringLoad,
    /// An answer is on its way that nobody waits for any more.
    OldAnswer,
    /// A coordinator leads again after another did, and what it has asked before is on its way.
    LeadsAgain,
    /// A copy of a tier is dropped, and each tier has what it requires, or all that fits.
    TiersServed,
    /// The required number changes while a move is under way.
    RuleDuringMove,
    /// A server has started again with files that it does not announce, and they have not been touched yet.
    LeftOver,
    /// Nobody knows whether a fetch or a deletion was done, and it was not, or only in part.
    DoneInPart,
}

impl Scope {
    /// Names of its servers.
    pub fn ids(&self) -> impl Iterator<Item = ServerId> + use<> {
        (0..self.servers.len() as u16).map(ServerId)
    }

    /// All segments.
    pub fn segment_ids(&self) -> impl Iterator<Item = SegmentId> + use<> {
        (1..=self.segments).map(SegmentId)
    }

    /// What discovery says of a server, when the operator has done so much.
    pub fn info(&self, server: ServerId, operated: u8) -> ServerInfo {
        let place = self.servers[usize::from(server.0)];
        let done = &self.operator[..usize::from(operated)];
        let decommissioning = done.contains(&Operation::Decommission(server.0));
        let Place { managed, capacity_bytes, tier, .. } = place;
        ServerInfo { tier, capacity_bytes, decommissioning, managed }
    }

    /// What the first tier requires, when the operator has done so much.
    pub fn required_after(&self, operated: u8) -> u16 {
        let done = self.operator[..usize::from(operated)].iter().rev();
        let mut rules = done.filter_map(|operation| match operation {
            Operation::Require(count) => Some(*count),
            Operation::Decommission(_) => None,
        });
        rules.next().unwrap_or(self.required)
    }

    /// How many servers are to be emptied, when the operator has done so much.
    pub fn emptied_after(&self, operated: u8) -> usize {
        let all = self.ids().filter(|server| self.info(*server, operated).decommissioning);
        all.count()
    }

    /// The rule for each segment.
    pub fn rule(&self, operated: u8) -> Rule {
        let mut required = vec![(TIER, self.required_after(operated))];
        required.extend(self.elsewhere);
        Rule { size_bytes: 1, required }
    }

    /// Tiers that have a server or require a copy, ascending.
    pub fn tiers(&self) -> Vec<TierId> {
        let required = self.elsewhere.iter().map(|(tier, _)| *tier);
        let mut tiers: Vec<_> =
            self.servers.iter().map(|place| place.tier).chain(required).collect();
        tiers.sort_unstable();
        tiers.dedup();
        tiers
    }

    /// What a tier requires and has servers for, when the first requires so many.
    pub fn loadable(&self, tier: TierId, first: u16) -> u16 {
        let of = |(other, count): &(TierId, u16)| (*other == tier).then_some(*count);
        let required = match tier {
            TIER => first,
            _ => self.elsewhere.iter().find_map(of).unwrap_or(0),
        };
        let able = self.servers.iter().filter(|place| place.managed && place.tier == tier);
        required.min(able.count() as u16)
    }

    /// What all tiers require and have servers for, when the first requires so many.
    pub fn loadable_in_all(&self, first: u16) -> u16 {
        self.tiers().into_iter().map(|tier| self.loadable(tier, first)).sum()
    }

    /// What is judged when the verified protocol is.
    pub fn properties(&self) -> Vec<Property> {
        let mut all = vec![
            Property::LastCopyKept,
            Property::RequiredKept,
            Property::DropJustified,
            Property::OneAction,
            Property::NoOverfill,
            Property::NoGhost,
            Property::OldTermMoot,
            Property::FullDelay,
            Property::NoPingPong,
        ];
        all.extend(self.needless_loads.map(|_| Property::NoNeedlessLoad));
        all.extend(self.recovers.then_some(Property::Recoverable));
        all
    }

    /// Its bounds, in words.
    pub fn bounds(&self) -> String {
        let budget = &self.budget;
        let copies: usize = self.servers.iter().map(|place| place.serves.len()).sum();
        let mut parts = vec![
            format!("{} servers", self.servers.len()),
            match self.segments {
                1 => format!("{copies} of {} copies at the start", self.required),
                many => format!(
                    "{copies} copies of {many} segments at the start, {} of each required",
                    self.required
                ),
            },
        ];
        let counted = [
            (budget.moves, "move"),
            (budget.repeats, "repeated request"),
            (budget.echoes, "repeated answer"),
            (budget.overdue, "overdue answer"),
            (budget.losses, "lost message"),
            (budget.failures, "failed load"),
            (budget.unknowns, "unknown outcome"),
            (budget.flaps, "flap"),
            (budget.crashes, "crash"),
            (budget.takeovers, "change of leader"),
        ];
        for (count, name) in counted {
            match count {
                0 => {}
                1 => parts.push(format!("1 {name}")),
                _ => parts.push(format!("{count} × {name}")),
            }
        }
        if self.returns {
            parts.push("the first leader comes back".into());
        }
        for (tier, count) in self.elsewhere {
            parts.push(format!("{count} required in tier {}", tier.0));
        }
        if budget.crashes > 0 {
            parts.push(if budget.disks > 0 { "disk lost or kept" } else { "disk kept" }.into());
        }
        parts.push(
            match self.views {
                Views::InFlight => "views in flight",
                Views::Swift => "views at any time, swift",
                Views::Fresh => "views always fresh",
                Views::Prompt => "runs only on fresh views",
            }
            .into(),
        );
        parts.push(if self.slow_loads { "loads take time" } else { "loads swift" }.into());
        if self.slow_deletes {
            parts.push("deletions take time".into());
        }
        for operation in self.operator {
            parts.push(match operation {
                Operation::Decommission(server) => format!("{} to be emptied", name_of(*server)),
                Operation::Require(count) => format!("then {count} required"),
            });
        }
        parts.join(", ")
    }
}

/// How a server is called.
#[must_use]
pub fn name_of(server: u16) -> char {
    char::from(b'A' + (server % 26) as u8)
}
