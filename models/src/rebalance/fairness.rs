//! What a fair run owes: the classes of steps that endless rounds are judged by.
//!
//! Each of them is owed weakly: a step of it, if from some moment on one is always possible. Nothing here waits for more,
//! since what is on its way, queued or under way stays so until its turn comes.

use surehold::rebalance::Task;
use surehold::rebalance::message::{FromServer, ToServer};
use surehold::rebalance::object::ServerId;

use super::fleet::Fleet;
use super::model::{Action, Model, WorldOf};
use super::world::Mail;

/// Classes of one link, from a coordinator to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// Discovery shows what is true.
    Discovery,
    /// What is queued is sent.
    Send,
    /// The view is asked for, or renewed.
    Look,
    /// A request arrives.
    Request,
    /// A poll arrives.
    Poll,
    /// An answer arrives.
    Reply,
    /// A view arrives.
    View,
}

/// Classes of one link.
const OF_A_LINK: usize = 7;
/// Classes of one coordinator: its run goes on, and what it follows up.
const OF_A_LEADER: usize = 2;
/// Classes of one server: its effects by number, the last ones together, and its start.
const OF_A_SERVER: usize = 3;
/// A server that is down starts again.
const START: usize = OF_A_SERVER - 1;
/// Where there are more classes than can be told apart, the last ones are one. A run owes less to them together than to
/// each, so that no round is overlooked.
const LAST: usize = 63;

impl<F: Fleet> Model<F> {
    /// The class of a step that is owed. A coordinator's run goes on and follows up what it has asked for, it sends what it
    /// has queued and looks at each server again and again; each kind of message between the two arrives; discovery comes
    /// to show what is true; each effect of a server ends, and a server that is down starts again.
    ///
    /// Nobody owes a move that a balancer may propose, an act of the operator, a fault, or that a request is found overdue:
    /// the goal must come without. Nor that a coordinator hears that another leads: it may act on for ever, and the cluster
    /// must come to its goal beside it. From where a run begins to look is its own choice, so that all of these are one
    /// class: it may make the same choice every time.
    pub(super) fn class_of(&self, world: &WorldOf<F>, action: &Action) -> Option<u8> {
        let place = match *action {
            Action::Run(at, _, None) => self.of_leader(at, 0),
            Action::Go(at, Task::Callback(_)) => self.of_leader(at, 1),
            Action::Go(at, Task::Send(server)) => self.of_link(at, server, Link::Send),
            Action::Go(at, Task::Poll(server)) | Action::View(at, server) => {
                self.of_link(at, server, Link::Look)
            }
            Action::Vanish(at, server) | Action::Appear(at, server) => {
                self.of_link(at, server, Link::Discovery)
            }
            Action::Deliver { letter, repeated: false, fails: false } => {
                let letter = world.wire.get(usize::from(letter))?;
                self.of_link(letter.leader, letter.server, kind_of(&letter.mail))
            }
            Action::End(server, number, _) => {
                self.of_server(server, usize::from(number).clamp(1, START) - 1)
            }
            Action::Restart(server) => self.of_server(server, START),
            _ => return None,
        };
        Some(place.min(LAST) as u8)
    }

    fn of_leader(&self, at: u8, class: usize) -> usize {
        usize::from(at) * OF_A_LEADER + class
    }

    fn of_server(&self, server: ServerId, class: usize) -> usize {
        let leaders = usize::from(self.leaders());
        leaders * OF_A_LEADER + usize::from(server.0) * OF_A_SERVER + class
    }

    fn of_link(&self, at: u8, server: ServerId, link: Link) -> usize {
        let (leaders, servers) = (usize::from(self.leaders()), self.scope.servers.len());
        let before = leaders * OF_A_LEADER + servers * OF_A_SERVER;
        before + (usize::from(at) * servers + usize::from(server.0)) * OF_A_LINK + link as usize
    }
}

fn kind_of(mail: &Mail) -> Link {
    match mail {
        Mail::Asked(ToServer::Request(_), _) => Link::Request,
        Mail::Asked(ToServer::Poll(_), _) => Link::Poll,
        Mail::Told(FromServer::Reply(_)) => Link::Reply,
        Mail::Told(FromServer::View(_) | FromServer::Outdated(_)) => Link::View,
    }
}

#[cfg(test)]
mod tests {
    use surehold::Verified;

    use super::super::fleet::Ours;
    use super::super::scopes;
    use super::*;

    /// Where the last classes are one, a round may be shown that is none.
    #[test]
    fn there_are_classes_enough_in_every_scope() {
        for scope in scopes::all() {
            let model = Model::new(&Ours(Verified), &scope);
            let last = ServerId(scope.servers.len() as u16 - 1);
            let last = model.of_link(model.leaders() - 1, last, Link::View);
            assert!(last <= LAST, "{}: {last}", scope.name);
        }
    }
}
