//! Telling what happened, in the protocol's own words.

use surehold::rebalance::event::Outcome;
use surehold::rebalance::message::{Action as Asked, Answer, FromServer, Reply, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId};
use surehold::rebalance::{Guard, HistoricalEffect, Refusal, Task};

use super::model::Action;
use super::scope::{Operation, Scope, name_of};
use super::world::{Letter, Mail, World};
pub use crate::line::Line;

/// A story being told, or not: an untold one costs nothing.
#[derive(Debug, Default)]
pub struct Tale {
    lines: Option<Vec<Line>>,
}

impl Tale {
    /// A story nobody hears.
    pub fn untold() -> Self {
        Self { lines: None }
    }

    /// A story.
    pub fn told() -> Self {
        Self { lines: Some(Vec::new()) }
    }

    /// Its lines.
    pub fn into_lines(self) -> Vec<Line> {
        self.lines.unwrap_or_default()
    }

    fn add(&mut self, note: impl FnOnce() -> String) {
        let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) else { return };
        let note = note();
        if line.note.is_empty() {
            line.note = note;
        } else {
            line.note.push_str("; ");
            line.note.push_str(&note);
        }
    }

    /// An event of the world begins a line.
    pub(super) fn begins<C>(&mut self, scope: &Scope, world: &World<C>, action: Action) {
        if let Some(lines) = &mut self.lines {
            let (actor, action) = event(scope, world, action);
            lines.push(Line { actor, action, note: String::new(), decided_by: Vec::new() });
        }
    }

    pub(super) fn decides(&mut self, guards: &[Guard]) {
        if let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) {
            line.decided_by.extend(guards.iter().map(|guard| guard.name()));
        }
    }

    pub(super) fn decides_to(
        &mut self,
        scope: &Scope,
        leader: u8,
        verb: &str,
        segment: SegmentId,
        server: ServerId,
    ) {
        let who = leader_name(scope, leader);
        self.add(|| match verb {
            "move" => format!("{who} begins a move of {} to {}", name(scope, segment), at(server)),
            "load" => format!("{who} decides to load {} on {}", name(scope, segment), at(server)),
            _ => format!("{who} decides to drop {} from {}", name(scope, segment), at(server)),
        });
    }

    pub(super) fn answers(&mut self, scope: &Scope, server: ServerId, message: &FromServer) {
        self.add(|| format!("{} answers: {}", at(server), told(scope, message)));
    }

    pub(super) fn ends(
        &mut self,
        scope: &Scope,
        server: ServerId,
        effect: &HistoricalEffect,
        outcome: Outcome,
    ) {
        self.add(|| match (effect, outcome) {
            (HistoricalEffect::Fetch(id), Outcome::Done) => {
                format!("{} has loaded and announces {}", at(server), name(scope, *id))
            }
            (HistoricalEffect::Fetch(id), Outcome::Unknown) => {
                format!("{} cannot tell whether it has loaded {}", at(server), name(scope, *id))
            }
            (HistoricalEffect::Fetch(id), _) => {
                format!("{} cannot load {}", at(server), name(scope, *id))
            }
            (HistoricalEffect::Wait { .. }, _) => "the delay is over".into(),
            (HistoricalEffect::Delete(id), Outcome::Done) => {
                format!("the files of {} on {} are deleted", name(scope, *id), at(server))
            }
            (HistoricalEffect::Delete(id), Outcome::Unknown) => {
                format!(
                    "whether the files of {} on {} are gone is unknown",
                    name(scope, *id),
                    at(server)
                )
            }
            (HistoricalEffect::Delete(id), _) => {
                format!("the files of {} on {} cannot be deleted", name(scope, *id), at(server))
            }
            (HistoricalEffect::Send(_), _) => String::new(),
        });
    }

    pub(super) fn refuses(&mut self, refusal: Refusal) {
        self.add(|| format!("not taken: {refusal}"));
    }
}

fn at(server: ServerId) -> char {
    name_of(server.0)
}

/// How a segment is called.
pub(super) fn name(scope: &Scope, segment: SegmentId) -> String {
    if scope.segments == 1 { "S".into() } else { format!("S{}", segment.0) }
}

pub(super) fn leader_name(scope: &Scope, leader: u8) -> String {
    if scope.budget.takeovers == 0 {
        "coordinator".into()
    } else {
        format!("coordinator {}", leader + 1)
    }
}

fn event<C>(scope: &Scope, world: &World<C>, action: Action) -> (String, String) {
    let leader = |at: u8| leader_name(scope, at);
    match action {
        Action::Go(who, Task::Send(server)) => {
            (leader(who), format!("sends what is queued for {}", at(server)))
        }
        Action::Go(who, Task::Poll(server)) => {
            (leader(who), format!("asks {} what it serves", at(server)))
        }
        Action::Go(who, Task::Callback(_)) => (leader(who), "runs a callback".into()),
        Action::Go(who, Task::Overdue(server, id)) => {
            let what =
                format!("waits no longer for the answer of {} on {}", at(server), name(scope, id));
            (leader(who), what)
        }
        Action::Go(who, Task::Unconfirmed(server, id)) => {
            let (server, id) = (at(server), name(scope, id));
            (leader(who), format!("waits no longer for the view of {server} to confirm {id}"))
        }
        Action::Go(who, Task::Run) | Action::Run(who, _, None) => (leader(who), "runs".into()),
        Action::Run(who, _, Some(proposed)) => {
            let (from, to) = (at(proposed.from), at(proposed.to));
            let id = name(scope, proposed.segment);
            (leader(who), format!("runs; the balancer proposes to move {id} from {from} to {to}"))
        }
        Action::View(who, server) => (leader(who), format!("sees {} afresh", at(server))),
        Action::Deliver { letter, repeated, fails } => {
            let letter = &world.wire[usize::from(letter)];
            let (actor, mut text) = arrives(scope, letter);
            if repeated {
                text.push_str(" (it will arrive once more)");
            }
            if fails {
                text.push_str(" (the load fails)");
            }
            (actor, text)
        }
        Action::Lose(letter) => {
            let (_, text) = arrives(scope, &world.wire[usize::from(letter)]);
            ("network".into(), format!("loses: {text}"))
        }
        Action::End(server, number, _) => {
            let node = &world.servers[usize::from(server.0)];
            let issued = node.pending.iter().find(|issued| issued.id.number == number);
            let what = match issued.map(|issued| &issued.effect) {
                Some(HistoricalEffect::Fetch(id)) => format!("ends fetching {}", name(scope, *id)),
                Some(HistoricalEffect::Wait { segment, .. }) => {
                    format!("has waited since {} was dropped", name(scope, *segment))
                }
                Some(HistoricalEffect::Delete(id)) => {
                    format!("deletes the files of {}", name(scope, *id))
                }
                Some(HistoricalEffect::Send(_)) | None => "goes on".into(),
            };
            (at(server).to_string(), what)
        }
        Action::Vanish(who, server) => {
            ("discovery".into(), format!("no longer shows {} to {}", at(server), leader(who)))
        }
        Action::Appear(who, server) => {
            ("discovery".into(), format!("shows {} to {}", at(server), leader(who)))
        }
        Action::Crash(server, true) => {
            (at(server).to_string(), "crashes and loses its disk".into())
        }
        Action::Crash(server, false) => (at(server).to_string(), "crashes".into()),
        Action::Restart(server) => (at(server).to_string(), "starts again".into()),
        Action::TakeOver(who) => (leader(who), "wins the election".into()),
        Action::Depose(who) => (leader(who), "learns that it leads no longer".into()),
        Action::Operate => {
            let what = match scope.operator[usize::from(world.operated)] {
                Operation::Decommission(server) => format!("wants {} empty", name_of(server)),
                Operation::Require(count) => format!("requires {count} replicas from now on"),
            };
            ("operator".into(), what)
        }
    }
}

/// Who reads a message, and what it says.
fn arrives(scope: &Scope, letter: &Letter) -> (String, String) {
    match &letter.mail {
        Mail::Asked(ToServer::Request(request), _) => {
            let verb = match request.action {
                Asked::Load => "LOAD",
                Asked::Drop => "DROP",
            };
            let from = if scope.budget.takeovers > 0 {
                format!(" from {}", leader_name(scope, letter.leader))
            } else {
                String::new()
            };
            let text = format!("receives {verb} {}{from}", name(scope, request.segment));
            (at(letter.server).to_string(), text)
        }
        Mail::Asked(ToServer::Poll(_), _) => {
            (at(letter.server).to_string(), "is asked what it serves".into())
        }
        Mail::Told(message) => {
            let text = format!("hears from {}: {}", at(letter.server), told(scope, message));
            (leader_name(scope, letter.leader), text)
        }
    }
}

fn told(scope: &Scope, message: &FromServer) -> String {
    match message {
        FromServer::Reply(Reply { action, segment, answer, .. }) => {
            let verb = match action {
                Asked::Load => "LOAD",
                Asked::Drop => "DROP",
            };
            let word = match answer {
                Answer::Done => "SUCCESS",
                Answer::Failed => "FAILED",
                Answer::RefusedNumber => "refused, the number is not new",
                Answer::RefusedIncarnation => "refused, it was meant for another life",
                Answer::RefusedTerm(_) => "refused, the term is old",
            };
            format!("{verb} {} {word}", name(scope, *segment))
        }
        FromServer::View(view) if view.segments.is_empty() => "it serves nothing".into(),
        FromServer::View(view) => {
            let names: Vec<_> = view.segments.iter().map(|id| name(scope, *id)).collect();
            format!("it serves {}", names.join(" "))
        }
        FromServer::Outdated(_) => "the term is old".into(),
    }
}
