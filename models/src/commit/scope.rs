//! Scopes: small worlds, each built around a question.

use surehold::commit::completion::Mode;
use surehold::commit::controller;
use surehold::commit::invariant::Property;
use surehold::commit::object::{AutoReset, PartitionId, SegmentId, TableConfig};
use surehold::commit::server::{self, ParallelSegmentConsumptionPolicy};

use super::model::Action;
pub use crate::tier::Tier;

/// The first partition; most scopes have no other.
pub const PARTITION: PartitionId = PartitionId(0);

/// How many servers a scenario has.
pub const SERVERS: usize = 2;

/// A small world and what is asked of it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub question: &'static str,
    /// How the table commits at the start.
    pub mode: Mode,
    /// How many partitions the table has, from 1; each has its own chain of segments.
    pub partitions: u16,
    /// How many servers there are, 1 to 3; each has a replica of every segment.
    pub servers: u8,
    /// How many segments a partition has, from 1; the last one is never consumed.
    pub segments: u32,
    /// How many of them are done, stored and served when the scope begins.
    pub done: u32,
    /// How many rows a segment may have.
    pub rows: u64,
    /// Whether replicas may stop before that, each by its own clock.
    pub stops_early: bool,
    /// Whether the order of rows matters (dedup).
    pub is_ordered: bool,
    /// Whether every age test may go either way; otherwise clocks are sane, and ages come in the order in which
    /// records were written.
    pub skew: bool,
    /// Whether whoever repairs, or leads as another, creates segments in a later minute than the first leader's commits.
    pub two_names: bool,
    /// Whether nothing of the table is known at the beginning but its stream, which has forgotten its first row: the
    /// validator is to begin (rule 5 of dossier 9.1). It runs here even where it finds all well (rule 2).
    pub is_new: bool,
    /// Whether a controller's read is an event of its own even where its answer leads to a compare-and-set: others may
    /// come between.
    pub reads_apart: bool,
    /// Whether Helix asks a server that starts for nothing at first.
    pub starts_apart: bool,
    /// How many reingestions a server may run at once, if that matters.
    pub jobs: Option<usize>,
    /// More rows than this cannot be built into a copy, by anybody, ever.
    pub buildable: Option<u64>,
    /// How many builds a server may run at once, if not as many as by default.
    pub permits: Option<usize>,
    /// Whether the replicas of a partition on a server take turns to consume, and what may go on beside.
    pub consumption: Option<ParallelSegmentConsumptionPolicy>,
    /// Whether Helix sends each transition before it resets a replica, which it refuses while one is pending.
    pub is_prompt: bool,
    /// Whether a server may not have heard who leads, and ask the controller that led before.
    pub strays: bool,
    /// Whether the validator has a replica that gave up consume again.
    pub repairs_offline: bool,
    /// Whether the segment after one that ends behind the stream begins at the stream's end.
    pub resets: bool,
    /// Whether it is asked for endless rounds where all is asked. That wants every edge, and states that are told apart.
    pub asks_rounds: bool,
    /// What has happened before it begins: moves as in a scenario. They cost nothing of what may happen.
    pub begun: &'static [&'static str],
    /// Whether all commits of the first segments have come to step 3 at the beginning, and nobody has read for it.
    pub in_step_3: bool,
    /// What has happened then, before the first event that is chosen; it is paid for by the budget.
    pub after: &'static [Action],
    /// What may happen, and how often.
    pub budget: Budget,
    /// What must be reachable from everywhere.
    pub goal: Option<Goal>,
    /// When it is run.
    pub tier: Tier,
}

/// How often each thing that need not happen may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// A server crashes: its memory goes, its disk stays.
    pub server_crashes: u8,
    /// Of these, it never comes back.
    pub deaths: u8,
    /// A controller crashes between two operations, and starts again.
    pub controller_crashes: u8,
    /// Another controller leads from now on; what the old one does goes on.
    pub leaders: u8,
    /// A reply is lost after the effect.
    pub losses: u8,
    /// A controller's write, move or reset has no effect; and it is told so, or nothing.
    pub misses: u8,
    /// A build or an upload fails.
    pub failures: u8,
    /// A replica fails to open, before anybody is told.
    pub openings: u8,
    /// A partition's stream forgets a row that a commit has passed.
    pub expiries: u8,
    /// Something that is alive takes longer than is waited for.
    pub delays: u8,
    /// A minion replaces a completed segment by another of the same rows.
    pub rewrites: u8,
    /// Of these, the minion crashes on its way.
    pub minion_crashes: u8,
    /// A read of a controller or of a server fails.
    pub reads: u8,
    /// A controller's write lands later than it is waited for.
    pub adrift: u8,
    /// The operator switches the mode.
    pub toggles: u8,
    /// The consumer of a replica cannot go on.
    pub breaks: u8,
    /// The operator pauses consumption; it may be resumed at any time.
    pub pauses: u8,
    /// Retention deletes what has become old enough.
    pub retentions: u8,
}

/// What must be reachable from everywhere without another fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Every committed range is served by somebody, or recorded as lost.
    Served,
    /// Everything is done, stored and served by all, and a segment is consumed.
    Settled,
}

impl Budget {
    /// How often whatever a scenario or a beginning needs may happen.
    const MANY: u8 = 200;

    /// Whatever moves can be made of, as often as they need it; no other leader.
    pub const OFTEN: Self = Self {
        server_crashes: Self::MANY,
        deaths: Self::MANY,
        controller_crashes: Self::MANY,
        leaders: 0,
        losses: Self::MANY,
        misses: 0,
        failures: Self::MANY,
        openings: Self::MANY,
        expiries: Self::MANY,
        delays: Self::MANY,
        rewrites: Self::MANY,
        minion_crashes: 0,
        reads: 0,
        adrift: 0,
        toggles: Self::MANY,
        // No move asks for these.
        breaks: 0,
        pauses: 0,
        retentions: 0,
    };
}

impl Goal {
    /// In words.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::Served => "every committed row is served by somebody or recorded as lost",
            Self::Settled => {
                "every segment is done, stored and served by all who are there, and the next one is consumed"
            }
        }
    }
}

impl Scope {
    /// The table as it is configured in this mode.
    #[must_use]
    pub fn table(&self, mode: Mode) -> TableConfig {
        TableConfig {
            mode,
            is_ordered: self.is_ordered,
            replicas: u16::from(self.servers),
            row_limit: self.rows,
            may_refill: false,
            auto_reset: self.resets.then_some(AutoReset { offsets: Some(0), seconds: None }),
        }
    }

    /// The limits of its controllers.
    #[must_use]
    pub fn controller_limits(&self) -> controller::Limits {
        controller::Limits {
            repairs_offline: self.repairs_offline,
            ..controller::Limits::default()
        }
    }

    /// The segment of this place in a partition's chain, named at the beginning.
    #[must_use]
    pub fn segment(&self, partition: PartitionId, sequence: u32) -> SegmentId {
        SegmentId { partition, sequence, minute: 0 }
    }

    /// The first segment of a partition.
    #[must_use]
    pub fn first(&self, partition: PartitionId) -> SegmentId {
        self.segment(partition, 0)
    }

    /// The partitions.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionId> + use<> {
        (0..self.partitions).map(PartitionId)
    }

    /// The limits of its servers.
    #[must_use]
    pub fn server_limits(&self) -> server::Limits {
        let limits = server::Limits::default();
        server::Limits {
            max_jobs: self.jobs.unwrap_or(limits.max_jobs),
            max_builds: self.permits.unwrap_or(limits.max_builds),
            consumption: self.consumption,
        }
    }

    /// The first offset that the stream has at the beginning.
    #[must_use]
    pub fn first_offset(&self) -> u64 {
        u64::from(self.is_new)
    }

    /// The minute that a segment created now is named after: by a commit, or by a periodic task. Where nothing is known
    /// yet the first leader's validator is the first to create.
    #[must_use]
    pub fn minute(&self, controller: u8, is_task: bool) -> u32 {
        let is_later = controller > 0 || is_task && !self.is_new;
        u32::from(self.two_names && is_later)
    }

    /// What is judged when the verified protocol is.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        let mut all: Vec<_> =
            Property::ALL.into_iter().filter(|property| property.is_safety()).collect();
        all.extend(self.goal.map(|goal| match goal {
            Goal::Served => Property::Served,
            Goal::Settled => Property::Recoverable,
        }));
        all.extend(self.asks_rounds.then_some(Property::NoEndlessRound));
        all
    }

    /// Its bounds, in words.
    #[must_use]
    pub fn bounds(&self) -> String {
        let budget = &self.budget;
        let mode = match self.mode {
            Mode::Pauseless => "pauseless",
            Mode::Blocking => "blocking",
        };
        let mut parts =
            vec![mode.to_string(), format!("{} segments of {} rows", self.segments, self.rows)];
        if self.done > 0 {
            parts.push(format!("{} done at the beginning", self.done));
        }
        if self.in_step_3 {
            parts.push("the first ones in step 3 at the beginning".into());
        }
        if !self.after.is_empty() {
            parts.push(format!("{} events of these before", self.after.len()));
        }
        if self.partitions > 1 {
            parts.push(format!("{} partitions", self.partitions));
        }
        let replicas = match self.servers {
            1 => "1 replica".to_string(),
            many => format!("{many} replicas"),
        };
        parts.push(format!("{replicas}; reads at once, the last segment opened at once"));
        if !self.begun.is_empty() {
            parts.push(format!("begun when {}", self.begun.join(", then ")));
        }
        let counted = [
            (budget.server_crashes, "server crash"),
            (budget.deaths, "server that stays away"),
            (budget.controller_crashes, "controller crash"),
            (budget.leaders, "change of leader"),
            (budget.losses, "lost reply"),
            (budget.misses, "operation without effect"),
            (budget.failures, "failed build or upload"),
            (budget.openings, "replica that fails to open"),
            (budget.expiries, "expired row"),
            (budget.delays, "delay"),
            (budget.rewrites, "minion rewrite"),
            (budget.minion_crashes, "minion that crashes"),
            (budget.reads, "failed read"),
            (budget.adrift, "late write"),
            (budget.toggles, "mode switch"),
            (budget.breaks, "consumer that breaks"),
            (budget.pauses, "pause"),
            (budget.retentions, "run of retention"),
        ];
        for (count, name) in counted {
            match count {
                0 => {}
                1 => parts.push(format!("1 {name}")),
                _ => parts.push(format!("{count} × {name}")),
            }
        }
        if self.stops_early {
            parts.push("replicas may stop early".into());
        }
        if self.is_ordered {
            parts.push("ordered".into());
        }
        if let Some(rows) = self.buildable {
            parts.push(format!("no copy of more than {rows} rows can be built"));
        }
        match self.permits {
            None => {}
            Some(1) => parts.push("1 build permit".into()),
            Some(many) => parts.push(format!("{many} build permits")),
        }
        if let Some(policy) = self.consumption {
            parts.push(format!("one consumer at a time ({})", policy.name()));
        }
        if self.is_prompt {
            parts.push("transitions sent at once".into());
        }
        if self.strays {
            parts.push("requests may go to the controller that led before".into());
        }
        if self.repairs_offline {
            parts.push("replicas that gave up consume again".into());
        }
        if self.resets {
            parts.push("what the stream is ahead is passed over".into());
        }
        if self.is_new {
            parts.push("nothing known of the table but its stream".into());
        }
        if self.reads_apart {
            parts.push("a read and the compare-and-set that follows it apart".into());
        }
        if self.starts_apart {
            parts.push("a server that starts is asked for nothing at first".into());
        }
        match self.jobs {
            None => {}
            Some(1) => parts.push("1 reingestion at a time".into()),
            Some(many) => parts.push(format!("{many} reingestions at a time")),
        }
        if self.two_names {
            parts.push("two minutes".into());
        }
        parts.push(if self.skew { "clocks skewed" } else { "clocks sane" }.into());
        parts.join(", ")
    }
}

/// How a server is called.
#[must_use]
pub fn server_name(server: u16) -> String {
    format!("S{server}")
}
