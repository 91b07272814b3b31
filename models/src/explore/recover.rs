//! Recoverability: which states can reach a goal without a further fault.

use super::limits::Limits;
use super::memory::{push_gently, vec_bytes};
use super::report::Reason;

/// The fault-free edges of the states found, and which states are known to recover.
///
/// Backward reachability without a reversed graph: sweeps over the edges, in turn from the last state to the first and
/// back, each marking the states that have a marked successor, until a pass marks nothing. A pass reads memory in order,
/// apart from one bit for each state; the number of passes is bounded by the longest of the shortest ways to a goal, and
/// is small because one sweep follows a whole run of rising, or falling, indices.
#[derive(Default)]
pub(super) struct Recovery {
    /// Targets of all edges, in the order of their sources.
    targets: Vec<u32>,
    /// Number of edges of each expanded state.
    degrees: Vec<u32>,
    /// One bit for each state: whether it recovers.
    recovered: Vec<u64>,
    /// States that a bound has cut.
    cuts: Vec<u32>,
    states: usize,
}

/// What became of the question whether every state recovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recovered {
    /// The least index of a state that reaches neither a goal nor a bound.
    pub(super) first_stuck: Option<u32>,
    /// How many states reach a bound and no goal within it: of these nothing is known.
    pub(super) unsettled: u64,
}

impl Recovery {
    /// Adds the state of the next index.
    pub(super) fn add_state(&mut self, at_goal: bool, is_cut: bool) {
        if self.states.is_multiple_of(64) {
            push_gently(&mut self.recovered, 0);
        }
        self.states += 1;
        if at_goal {
            self.mark(self.states - 1);
        } else if is_cut {
            push_gently(&mut self.cuts, self.states as u32 - 1);
        }
    }

    /// Begins the edges of the next source. Sources come in the order of their indices, each once.
    pub(super) fn begin_source(&mut self) {
        push_gently(&mut self.degrees, 0);
    }

    /// Adds a fault-free edge of the source begun last, unless it cannot matter.
    pub(super) fn add_edge(&mut self, target: u32) {
        let source = self.degrees.len() - 1;
        if !self.is_marked(source) && target as usize != source {
            self.degrees[source] += 1;
            push_gently(&mut self.targets, target);
        }
    }

    /// Bytes allocated.
    pub(super) fn bytes(&self) -> u64 {
        let words = vec_bytes(&self.recovered);
        vec_bytes(&self.targets) + vec_bytes(&self.degrees) + vec_bytes(&self.cuts) + words
    }

    /// Judges, once all states are expanded. A goal counts first; a bound only excuses what reaches no goal.
    pub(super) fn judge(&mut self, limits: &mut Limits) -> Result<Recovered, Reason> {
        debug_assert_eq!(self.degrees.len(), self.states);
        self.sweep(limits)?;
        let beyond_goals = self.unmarked();
        for at in 0..self.cuts.len() {
            self.mark(self.cuts[at] as usize);
        }
        if beyond_goals > 0 && !self.cuts.is_empty() {
            self.sweep(limits)?;
        }
        let stuck = (0..self.states).find(|&state| !self.is_marked(state));
        let first_stuck = stuck.map(|state| state as u32);
        Ok(Recovered { first_stuck, unsettled: beyond_goals - self.unmarked() })
    }

    /// Marks whatever leads to a marked state.
    fn sweep(&mut self, limits: &mut Limits) -> Result<(), Reason> {
        while self.sweep_down(limits)? && self.sweep_up(limits)? {}
        Ok(())
    }

    fn unmarked(&self) -> u64 {
        let marked: u32 = self.recovered.iter().map(|word| word.count_ones()).sum();
        self.states as u64 - u64::from(marked)
    }

    fn sweep_down(&mut self, limits: &mut Limits) -> Result<bool, Reason> {
        let mut changed = false;
        let mut end = self.targets.len();
        for source in (0..self.states).rev() {
            let start = end - self.degrees[source] as usize;
            changed |= self.visit(source, start, end);
            end = start;
            self.look(limits)?;
        }
        Ok(changed)
    }

    fn sweep_up(&mut self, limits: &mut Limits) -> Result<bool, Reason> {
        let mut changed = false;
        let mut start = 0;
        for source in 0..self.states {
            let end = start + self.degrees[source] as usize;
            changed |= self.visit(source, start, end);
            start = end;
            self.look(limits)?;
        }
        Ok(changed)
    }

    /// Marks the source if one of its targets is marked; tells whether that is news.
    fn visit(&mut self, source: usize, start: usize, end: usize) -> bool {
        if self.is_marked(source) {
            return false;
        }
        let recovers =
            self.targets[start..end].iter().any(|&target| self.is_marked(target as usize));
        if recovers {
            self.mark(source);
        }
        recovers
    }

    fn look(&self, limits: &mut Limits) -> Result<(), Reason> {
        if limits.step() { limits.look(self.bytes(), 0) } else { Ok(()) }
    }

    fn mark(&mut self, state: usize) {
        self.recovered[state / 64] |= 1 << (state % 64);
    }

    fn is_marked(&self, state: usize) -> bool {
        self.recovered[state / 64] >> (state % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Options;

    /// The first stuck state of a graph given by the targets of each state.
    fn first_stuck(goals: &[usize], graph: &[&[u32]]) -> Option<u32> {
        judged(goals, &[], graph).first_stuck
    }

    fn judged(goals: &[usize], cuts: &[usize], graph: &[&[u32]]) -> Recovered {
        let mut recovery = Recovery::default();
        for state in 0..graph.len() {
            recovery.add_state(goals.contains(&state), cuts.contains(&state));
        }
        for targets in graph {
            recovery.begin_source();
            targets.iter().for_each(|&target| recovery.add_edge(target));
        }
        recovery.judge(&mut Limits::new(&Options::default())).expect("no limit")
    }

    #[test]
    fn a_bound_excuses_only_what_reaches_no_goal() {
        let graph: [&[u32]; 5] = [&[1, 2], &[3], &[4], &[], &[2]];
        let settled = Recovered { first_stuck: None, unsettled: 0 };
        assert_eq!(judged(&[3, 4], &[1, 2], &graph), settled);
        assert_eq!(judged(&[3], &[2], &graph), Recovered { unsettled: 2, ..settled });
        assert_eq!(judged(&[], &[3], &graph), Recovered { first_stuck: Some(2), unsettled: 3 });
    }

    #[test]
    fn a_way_may_lead_up_and_down() {
        let graph: [&[u32]; 6] = [&[4], &[5], &[1], &[2], &[3], &[]];
        assert_eq!(first_stuck(&[5], &graph), None);
        assert_eq!(first_stuck(&[2], &graph), Some(1));
    }

    #[test]
    fn a_long_way_down_needs_no_sweep_for_each_step() {
        let count = 200_000_u32;
        let back: Vec<[u32; 1]> = (0..count).map(|state| [state.saturating_sub(1)]).collect();
        let graph: Vec<&[u32]> = back.iter().map(<[u32; 1]>::as_slice).collect();
        assert_eq!(first_stuck(&[0], &graph), None);
        assert_eq!(first_stuck(&[1], &graph), Some(0));
    }

    #[test]
    fn staying_is_no_recovery() {
        assert_eq!(first_stuck(&[2], &[&[1, 2], &[1], &[]]), Some(1));
        assert_eq!(first_stuck(&[], &[&[1], &[0]]), Some(0));
    }
}
