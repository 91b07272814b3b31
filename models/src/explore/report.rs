//! What a run found, and how far it came.

use std::fmt;

use super::path::Counterexample;

/// The report of a run over the model `M`.
pub type ReportOf<M> = Report<<M as stateright::Model>::State, <M as stateright::Model>::Action>;

/// What a run found, and how far it came.
#[derive(Clone, Debug)]
pub struct Report<State, Action> {
    /// The verdict. It is about the whole space only if [`exhausted`](Self::exhausted).
    pub verdict: Verdict,
    /// Whether every reachable state was found and expanded. False after a safety violation, a deadlock or a limit, where
    /// the counts below are no size of the space.
    pub exhausted: bool,
    /// Whether recoverability was judged to the end: asked for, a goal set, the states exhausted and no limit met since.
    pub recoverability_judged: bool,
    /// Whether endless rounds were looked for to the end: asked for, a goal set, the states exhausted and no limit met.
    pub rounds_judged: bool,
    /// States generated: the initial ones and one for each edge, with duplicates.
    pub generated: u64,
    /// Different states found.
    pub unique: u64,
    /// States found but not fully expanded when the run stopped; 0 if exhausted.
    pub unexpanded: u64,
    /// Levels of the search that hold a state: 1 if there are only initial states.
    pub depth: u32,
    /// Wall time of the run in seconds, recoverability included, the rebuilding of a counterexample not.
    pub seconds: f64,
    /// Greatest number of states that waited for their expansion at one time.
    pub peak_frontier: u64,
    /// Bytes of the visited set when the run stopped: table, fingerprints, parents, and in exact mode the states without
    /// what they own on the heap.
    pub visited_bytes: u64,
    /// Expected number of states missed because their fingerprint was taken, `unique^2 / 2^65`; 0 in exact mode. It
    /// supposes that different states feed different bytes to the hasher.
    pub expected_missed: f64,
    /// States whose fingerprint an earlier, different state has. Always 0 unless in exact mode, which alone can see them;
    /// more than 0 there means that a run by fingerprints loses states.
    pub collisions: u64,
    /// States in which a bound of the scope stopped something.
    pub cut_states: u64,
    /// States whose every way to a goal leads past a bound of the scope: whether they recover is not known. They mean
    /// something only if [`recoverability_judged`](Self::recoverability_judged).
    pub unsettled_states: u64,
    /// Goal states.
    pub goal_states: u64,
    /// Names of the `Sometimes` properties that no state met. They mean something only if
    /// [`exhausted`](Self::exhausted).
    pub unreached: Vec<&'static str>,
    /// The way to the violation; [`None`] if there is none, and for [`Kind::Unreached`], which no path shows.
    pub counterexample: Option<Counterexample<State, Action>>,
}

impl<State, Action> Report<State, Action> {
    /// Generated states per second of wall time, 0 for a run too short to measure.
    pub fn generated_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.generated as f64 / self.seconds } else { 0.0 }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Every reachable state was found, and everything that was asked holds.
    Verified,
    /// A property does not hold.
    Violated {
        /// Name of the property: the model's own, [`DEADLOCK_FREE`](super::DEADLOCK_FREE),
        /// [`RECOVERABLE`](super::RECOVERABLE) or [`NO_ENDLESS_ROUND`](super::NO_ENDLESS_ROUND).
        property: String,
        /// What sort of property it is.
        kind: Kind,
    },
    /// The run stopped before it could know. Nothing follows about the rest of the space.
    Incomplete {
        /// Why it stopped.
        reason: Reason,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Verified => write!(f, "verified"),
            Verdict::Violated { property, kind } => write!(f, "violated: {property} ({kind})"),
            Verdict::Incomplete { reason } => write!(f, "incomplete: {reason}"),
        }
    }
}

/// The sorts of violation.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// An `Always` property is false in a reachable state.
    Safety,
    /// A state without successors may not stop.
    Deadlock,
    /// A state cannot reach a goal without a fault. After a deadlock, this is the other way of being stuck: for ever busy.
    Unrecoverable,
    /// A `Sometimes` property is false in every reachable state: the scope does not show what it was made to show.
    Unreached,
    /// A run can go on for ever, fairly, without a fault and without a goal.
    Endless,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Safety => "safety",
            Kind::Deadlock => "deadlock",
            Kind::Unrecoverable => "unrecoverable",
            Kind::Endless => "endless",
            Kind::Unreached => "unreached",
        })
    }
}

/// Why a run is incomplete.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reason {
    /// The wall time ran out.
    TimeLimit,
    /// The memory ran out.
    MemoryLimit,
    /// There are more states than may be stored.
    StateLimit,
    /// The model has a state outside its `within_boundary`. stateright drops such states unjudged; here the run stops,
    /// since bounds belong in `actions`, where [`is_cut`](super::Judged::is_cut) can tell of them.
    Boundary,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::TimeLimit => "time limit",
            Reason::MemoryLimit => "memory limit",
            Reason::StateLimit => "state limit",
            Reason::Boundary => "a state lies outside the boundary",
        })
    }
}
