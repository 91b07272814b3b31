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
    states: usize,
}

impl Recovery {
    /// Adds the state of the next index. `at_goal` states have recovered, as have those that a bound has cut.
    pub(super) fn add_state(&mut self, at_goal: bool) {
        if self.states.is_multiple_of(64) {
            push_gently(&mut self.recovered, 0);
        }
        self.states += 1;
        if at_goal {
            self.mark(self.states - 1);
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
        vec_bytes(&self.targets) + vec_bytes(&self.degrees) + vec_bytes(&self.recovered)
    }

    /// The least index of a state that cannot recover, once all states are expanded.
    pub(super) fn first_stuck(&mut self, limits: &mut Limits) -> Result<Option<u32>, Reason> {
        debug_assert_eq!(self.degrees.len(), self.states);
        while self.sweep_down(limits)? && self.sweep_up(limits)? {}
        let stuck = (0..self.states).find(|&state| !self.is_marked(state));
        Ok(stuck.map(|state| state as u32))
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
        let mut recovery = Recovery::default();
        for state in 0..graph.len() {
            recovery.add_state(goals.contains(&state));
        }
        for targets in graph {
            recovery.begin_source();
            targets.iter().for_each(|&target| recovery.add_edge(target));
        }
        recovery.first_stuck(&mut Limits::new(&Options::default())).expect("no limit")
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
