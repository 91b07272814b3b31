//! Strongly connected components, by Tarjan's algorithm, without recursion.

use super::rounds::Graph;

/// What a state is not yet.
const UNSEEN: u32 = u32::MAX;

/// The components of the part of a graph that these states span, but for single states that no step leads back to: nothing
/// goes round there. Each is sorted; they are in no particular order, but always in the same one.
pub(super) fn components(graph: &Graph<'_>, part: &[u32]) -> Vec<Vec<u32>> {
    let mut search = Search::over(graph, part);
    for &root in part {
        if search.numbers[root as usize] == UNSEEN {
            search.visit(root);
        }
    }
    search.found
}

struct Search<'a> {
    graph: &'a Graph<'a>,
    /// When each state was seen first; [`UNSEEN`] outside the part, too, but then it is not [within](Self::is_within).
    numbers: Vec<u32>,
    lows: Vec<u32>,
    is_within: Vec<bool>,
    is_open: Vec<bool>,
    next: u32,
    /// States whose component is not yet complete.
    open: Vec<u32>,
    /// States on the way from the root, each with the next of its edges.
    way: Vec<(u32, usize)>,
    found: Vec<Vec<u32>>,
}

impl<'a> Search<'a> {
    fn over(graph: &'a Graph<'a>, part: &[u32]) -> Self {
        let states = graph.states();
        let mut is_within = vec![false; states];
        part.iter().for_each(|&state| is_within[state as usize] = true);
        Search {
            graph,
            numbers: vec![UNSEEN; states],
            lows: vec![0; states],
            is_within,
            is_open: vec![false; states],
            next: 0,
            open: Vec::new(),
            way: Vec::new(),
            found: Vec::new(),
        }
    }

    fn visit(&mut self, root: u32) {
        self.enter(root);
        while let Some((state, edge)) = self.way.last_mut() {
            let state = *state;
            if *edge == self.graph.degree(state) {
                self.leave(state);
                continue;
            }
            let target = self.graph.target(state, *edge);
            *edge += 1;
            self.look_at(state, target);
        }
    }

    fn enter(&mut self, state: u32) {
        self.numbers[state as usize] = self.next;
        self.lows[state as usize] = self.next;
        self.next += 1;
        self.is_open[state as usize] = true;
        self.open.push(state);
        self.way.push((state, 0));
    }

    fn look_at(&mut self, state: u32, target: u32) {
        let at = target as usize;
        if !self.is_within[at] {
            return;
        }
        if self.numbers[at] == UNSEEN {
            self.enter(target);
        } else if self.is_open[at] {
            self.lower(state, self.numbers[at]);
        }
    }

    fn lower(&mut self, state: u32, low: u32) {
        let own = &mut self.lows[state as usize];
        *own = (*own).min(low);
    }

    fn leave(&mut self, state: u32) {
        self.way.pop();
        let low = self.lows[state as usize];
        if let Some(&(parent, _)) = self.way.last() {
            self.lower(parent, low);
        }
        if low == self.numbers[state as usize] {
            self.close(state);
        }
    }

    /// Everything opened since the state is one component.
    fn close(&mut self, state: u32) {
        let from = self.open.iter().rposition(|&open| open == state).unwrap_or(0);
        let mut component = self.open.split_off(from);
        component.iter().for_each(|&member| self.is_open[member as usize] = false);
        if component.len() > 1 || self.stays(state) {
            component.sort_unstable();
            self.found.push(component);
        }
    }

    /// Whether a step leads from a state to itself.
    fn stays(&self, state: u32) -> bool {
        (0..self.graph.degree(state)).any(|edge| self.graph.target(state, edge) == state)
    }
}
