//! The repair of replicas in error (dossier 9.3).

use super::super::effect::ControllerEffect as Effect;
use super::super::event::{ControllerOutcome as Outcome, Found, Task};
use super::super::guard::Guard;
use super::super::message::{Order, Report, Tell};
use super::super::object::{IdealState, ReplicaState, SegmentId, ServerId, Status, View};
use super::Turn;
use super::commit::servers;
use super::state::{Act, Chore, Repair as Stage};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    /// `None` if what was outstanding cannot end so. Whatever fails is left to the next run.
    pub(super) fn repair(&mut self, task: Task, stage: Stage, outcome: Outcome) -> Option<()> {
        let Task::Repair(partition) = task else { return None };
        match (stage, outcome) {
            (Stage::Ideal(pick), Outcome::Ideal(ideal, _)) => {
                self.go_on(task, Chore::Repair(Stage::View(pick, ideal)), Effect::ReadView);
            }
            (Stage::View(pick, ideal), Outcome::View(view)) => {
                let stage = Stage::Records(pick, ideal, view);
                self.go_on(task, Chore::Repair(stage), Effect::ListRecords(partition));
            }
            (Stage::Records(pick, ideal, view), Outcome::Records(records)) => {
                let mut acts = Vec::new();
                for (id, found) in &records {
                    self.repair_of(*id, found, &ideal, &view, pick, &mut acts);
                }
                acts.reverse();
                self.act(task, acts);
            }
            (Stage::Acting(acts), outcome) => return self.acted(task, acts, outcome),
            (_, Outcome::Failed | Outcome::Unknown) => {}
            (_, _) => return None,
        }
        Some(())
    }

    /// The next thing to do.
    fn act(&mut self, task: Task, acts: Vec<Act>) {
        let Some(next) = acts.last() else { return };
        let order = |server, segment, body| Effect::Call(Order { server, segment, body });
        let effect = match *next {
            Act::Ask(segment, server, range) => order(server, segment, Tell::Supply(range)),
            Act::Reingest(segment, server) => order(server, segment, Tell::Reingest),
            Act::Reset(segment, server) => Effect::Reset(segment, server),
        };
        self.go_on(task, Chore::Repair(Stage::Acting(acts)), effect);
    }

    fn acted(&mut self, task: Task, mut acts: Vec<Act>, outcome: Outcome) -> Option<()> {
        let done = acts.pop()?;
        match (done, outcome) {
            (Act::Ask(segment, server, _), Outcome::Reported(Report::Supplies(true))) => {
                acts.retain(|act| act.segment() != segment);
                acts.push(Act::Reset(segment, server));
            }
            // That a server is dead upstream ends the run: its reset throws (R14).
            (Act::Reset(..), Outcome::Precondition)
                if !self.judge.applies(Guard::ResetErrorOnly) =>
            {
                acts.clear();
            }
            (Act::Ask(..) | Act::Reingest(..), Outcome::Reported(_))
            | (Act::Reset(..), Outcome::Applied | Outcome::Precondition)
            | (_, Outcome::Failed | Outcome::Unknown) => {}
            (_, _) => return None,
        }
        self.act(task, acts);
        Some(())
    }

    fn repair_of(
        &mut self,
        id: SegmentId,
        found: &Found,
        ideal: &IdealState,
        view: &View,
        pick: u32,
        acts: &mut Vec<Act>,
    ) {
        let mut errors: Vec<_> = view.servers(id, ReplicaState::Error).collect();
        begin_at(&mut errors, pick);
        let Some(shown) = view.segments.get(&id) else { return };
        if errors.is_empty() || !ideal.segments.contains_key(&id) {
            return;
        }
        let everywhere = shown.values().all(|is| *is == ReplicaState::Error);
        let record = &found.record;
        if record.status == Status::Committing && everywhere {
            return self.reingest(id, found, ideal, &errors, pick, acts);
        }
        // Whoever still waits for a copy either finds one, and shows it, or is in error as well by and by.
        let is_online = || shown.values().any(|is| *is == ReplicaState::Online);
        if record.status == Status::Committing
            && !self.judge.demands(Guard::ResetBesideOnline, is_online())
        {
            return;
        }
        // While some replicas still consume, those in error wait for the commit (C13).
        let is_open = record.status == Status::InProgress;
        let guard = if is_open { Guard::ResetConsuming } else { Guard::ResetErrors };
        if is_open && !everywhere || !self.judge.applies(guard) {
            return;
        }
        let errors_only = self.judge.applies(Guard::ResetErrorOnly);
        // Upstream resets whatever is not OFFLINE, who is there first, and is refused where a listed server is dead.
        let offline = |at: &ServerId| shown.get(at) == Some(&ReplicaState::Offline);
        let mut listed = servers(ideal, id);
        begin_at(&mut listed, pick);
        let whole = listed.into_iter().filter(|at| !offline(at));
        let (there, gone): (Vec<_>, Vec<_>) = whole.partition(|at| shown.get(at).is_some());
        let all = if errors_only { errors } else { [there, gone].concat() };
        acts.extend(all.into_iter().map(|server| Act::Reset(id, server)));
    }

    /// A committing segment that is in error everywhere. If somebody still has all of it, that one goes on from
    /// there; otherwise it is read again, where the order in which segments are filled does not matter (C15).
    fn reingest(
        &mut self,
        id: SegmentId,
        found: &Found,
        ideal: &IdealState,
        errors: &[ServerId],
        pick: u32,
        acts: &mut Vec<Act>,
    ) {
        if let Some(range) = found.record.range().filter(|_| self.judge.applies(Guard::KeepMemory))
        {
            acts.extend(errors.iter().map(|server| Act::Ask(id, *server, range)));
        }
        let table = self.state.durable.table;
        if !self.judge.demands(Guard::InOrder, !table.is_ordered || table.may_refill) {
            return;
        }
        let mut listed = servers(ideal, id);
        begin_at(&mut listed, pick);
        let picked = listed.first();
        if let Some(server) = picked.filter(|_| self.judge.applies(Guard::Reingest)) {
            acts.push(Act::Reingest(id, *server));
        }
    }
}

/// Servers that are equally good, beginning at one of them.
fn begin_at(servers: &mut [ServerId], pick: u32) {
    let at = pick as usize % servers.len().max(1);
    servers.rotate_left(at);
}
