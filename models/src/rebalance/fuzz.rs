//! Random walks read from bytes: for fuzzing, and for replay of what it found.
//!
//! # Encoding
//!
//! The first seven bytes choose a world; whatever is missing is zero, and any bytes are some world:
//!
//! | byte | bits | meaning |
//! |---|---|---|
//! | 0 | 0-3 | servers, 2 to 12 |
//! |   | 4-5 | views: swift, in flight, fresh, swift only before a run |
//! |   | 6 | loads take time |
//! |   | 7 | deletions take time |
//! | 1 | 0-5 | segments, 1 to 40, growing with the square |
//! |   | 6-7 | required replicas: 1, 2, 3, 0 |
//! | 2 | 0-2 | the operator, see [`OPERATORS`] |
//! |   | 3-4 | changes of leader, 0 to 2 |
//! |   | 5 | the last server is the target of a clone |
//! |   | 6 | the goal is asked for at the end |
//! |   | 7 | nothing is looked at but what the model judges and the indices, which is faster |
//! | 3 | | kinds of faults: repeated message, overdue answer, lost message, failed load, flap, crash, lost disk, and no move |
//! | 4 | 0-3 | how often each kind of fault may happen, 0 to 15 |
//! |   | 4-7 | how many moves may begin, 4 to 64 |
//! | 5 | 0-3 | bytes free on the fullest server at the start, less one; 0: no server is ever full |
//! |   | 4-5 | copies of each segment at the start, 1 to 4 |
//! |   | 6-7 | how many servers, from the last on, start empty |
//! | 6 | | kinds of byte 3 taken away again, so that a mutation of one byte makes a swarm of worlds |
//!
//! Every further two bytes are one operation, up to [`MAX_OPERATIONS`]. Bits 0-2 of the first say which kind,
//! its other bits and the second byte are the argument. What is chosen is chosen *by index into what can
//! happen*, so no byte is wasted on what cannot:
//!
//! | kind | operation |
//! |---|---|
//! | 0 | one event of all that can happen |
//! | 1 | a coordinator goes on by itself: a run's phase, a callback, that it learns of its end |
//! | 2 | a run, up to its decision, is proposed a move of one segment |
//! | 3 | a message arrives, or whatever else may become of it |
//! | 4 | one event between a coordinator and one server |
//! | 5 | one fault, if any can happen, else as 0 |
//! | 6 | one event of one server: an effect ends, a crash, a restart |
//! | 7 | a coordinator and one server talk until nothing is on its way between them |
//!
//! An index means what the model's order of events makes it mean: a change of that order gives old inputs
//! another meaning. They stay valid, but a seed that showed a violation may have to be found anew.
//!
//! # Judgement
//!
//! After each event: nothing is broken that the model judges (the properties P1, P2, P3, P4, P6, P8, P9, I10), and of
//! our own coordinator
//!
//! - its indices are what its table of segments gives when counted from scratch (of every few events, and of
//!   the last: an index that is wrong stays so until the same copy changes again);
//! - no request is sent while another on the same segment and server is unsettled (P4), counted from the
//!   messages alone;
//! - the same event again gives the same world (of every few events);
//! - states that are equal hash equal, and others do not;
//! - a state read from its JSON is the same (of some, and of the last).
//!
//! Not judged: L3. How many moves may be decided is known for clusters that begin with all their copies; here a load
//! that was decided before for want of a copy may end as a move.
//!
//! At the end, if asked for and possible: with no further fault, all in turn reach the goal.

use std::collections::BTreeMap;
use std::hash::Hash;

use surehold::Verified;
use surehold::guard::Weakened;
use surehold::rebalance::coordinator;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::message::{FromServer, ToServer};
use surehold::rebalance::object::{Fence, Incarnation, SegmentId, ServerId, Term};
use surehold::rebalance::upstream::{self, Fix};
use surehold::rebalance::{Guard, Task};

use super::fleet::{Druid, Fleet, Leads as _, Ours};
use super::model::{Action, Model, RoleOf, WorldOf};
use super::scope::{Budget, Operation, Place, Scope, TIER, Tier, Views};
use super::tale::Tale;
use super::window::Window;
use super::world::{Broken, Letter, Mail};
pub use crate::fuzz::{Finding, HEADER, Walked};
use crate::retold::{self, Ground, Retold};
use crate::walk::{Visited, bits, is_read_as_written, is_set};

/// How many operations are read at most; bytes after them mean nothing.
pub const MAX_OPERATIONS: usize = 128;

/// After how many events no operation is begun: a longer walk finds less than two short ones.
const MAX_EVENTS: usize = 256;

/// How many events two that talk may take.
const LONGEST_TALK: usize = 24;

/// After how many events the indices are counted from scratch.
const EVENTS_BETWEEN_COUNTS: usize = 16;

/// After how many events one is taken twice, and compared with the last ones.
const EVENTS_BETWEEN_DOUBLES: usize = 4;

/// After how many events a state is written and read.
const EVENTS_BETWEEN_READS: usize = 32;

/// How many rounds a fair schedule may take to the goal.
const MAX_FAIR_ROUNDS: usize = 64;

/// What the operator does, by number.
pub const OPERATORS: [&[Operation]; 8] = [
    &[],
    &[Operation::Require(1)],
    &[Operation::Require(2)],
    &[Operation::Decommission(0)],
    &[Operation::Require(3), Operation::Require(1)],
    &[Operation::Decommission(1), Operation::Require(2)],
    &[Operation::Require(0), Operation::Require(2)],
    &[Operation::Decommission(0), Operation::Decommission(1), Operation::Require(1)],
];

/// Every segment there may be. A server starts with a range of it.
const SEGMENTS: [u32; 40] = {
    let mut all = [0; 40];
    let mut at = 0;
    while at < all.len() {
        all[at] = at as u32 + 1;
        at += 1;
    }
    all
};

/// Whose protocol walks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuzzVariant {
    /// Ours: everything is judged.
    Verified,
    /// Ours without some guards: everything is judged.
    Without(Vec<Guard>),
    /// Upstream's with a fix: only the last copy is judged, as nothing else was ever promised.
    Upstream(Fix),
}

impl FuzzVariant {
    /// The variant of this name: `verified`, or an upstream one's.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "verified" {
            return Some(Self::Verified);
        }
        let fix = Fix::ALL.into_iter().find(|fix| fix.name() == name);
        fix.map(Self::Upstream)
    }
}

/// Walks as the bytes say, and judges. See the [module](self).
///
/// # Errors
///
/// The first violation, with its timeline.
pub fn rebalance_ops(variant: &FuzzVariant, data: &[u8]) -> Result<Walked, Box<Finding>> {
    run(variant, data, None)
}

/// An input that shows the same by single events, as few as could be left after so many tries. `None` if this one
/// shows nothing, or single events do not.
#[must_use]
pub fn rebalance_events(variant: &FuzzVariant, data: &[u8], tries: usize) -> Option<Vec<u8>> {
    run(variant, data, Some(tries)).err()?.by_single_events
}

fn run(variant: &FuzzVariant, data: &[u8], tries: Option<usize>) -> Result<Walked, Box<Finding>> {
    match variant {
        FuzzVariant::Verified => walk(&Ours(Verified), data, true, tries),
        FuzzVariant::Without(guards) => {
            walk(&Ours(Weakened::without(guards.iter().copied())), data, true, tries)
        }
        FuzzVariant::Upstream(fix) => walk(&Druid(*fix), data, false, tries),
    }
}

/// The world that the first bytes choose.
fn world_of(data: &[u8]) -> Scope {
    // Few more often than many: what two segments do to each other, three seldom do worse.
    let root = usize::from(bits(data, 1, 0, 6));
    let segments = 1 + root * root * SEGMENTS.len() / (64 * 62 + 2);
    Scope {
        name: "fuzz",
        question: "What a random walk finds.",
        servers: places(data, segments),
        elsewhere: &[],
        returns: false,
        required: [1, 2, 3, 0][usize::from(bits(data, 1, 6, 2))],
        segments: segments as u32,
        budget: budget(data),
        picks: 3,
        views: [Views::Swift, Views::InFlight, Views::Fresh, Views::Prompt]
            [usize::from(bits(data, 0, 4, 2))],
        slow_loads: is_set(data, 0, 6),
        slow_deletes: is_set(data, 0, 7),
        operator: OPERATORS[usize::from(bits(data, 2, 0, 3))],
        needless_loads: None,
        recovers: false,
        witnesses: &[],
        losses: None,
        tier: Tier::Deep,
    }
}

fn budget(data: &[u8]) -> Budget {
    let often = bits(data, 4, 0, 4);
    let kind = |bit| is_set(data, 3, bit) && !is_set(data, 6, bit);
    let fault = |bit| if kind(bit) { often } else { 0 };
    Budget {
        repeats: fault(0),
        echoes: fault(0),
        overdue: fault(1),
        losses: fault(2),
        failures: fault(3),
        unknowns: 0,
        flaps: fault(4),
        crashes: fault(5),
        disks: fault(6),
        moves: if kind(7) { 0 } else { 4 * (1 + bits(data, 4, 4, 4)) },
        takeovers: bits(data, 2, 3, 2) % 3,
    }
}

/// Servers and what they serve. Those that do not start empty form a group for each copy; a group has each
/// segment once.
fn places(data: &[u8], segments: usize) -> Vec<Place> {
    let servers = 2 + usize::from(bits(data, 0, 0, 4)) % 11;
    let empty = usize::from(bits(data, 5, 6, 2)).min(servers - 1);
    let holders = servers - empty;
    let groups = (1 + usize::from(bits(data, 5, 4, 2))).min(holders);
    let serves = |at: usize| -> &'static [u32] {
        if at >= holders {
            return &[];
        }
        let (group, place) = (at % groups, at / groups);
        let size = holders / groups + usize::from(group < holders % groups);
        &SEGMENTS[place * segments / size..(place + 1) * segments / size]
    };
    let fullest = (0..servers).map(|at| serves(at).len()).max().unwrap_or(0);
    let free = usize::from(bits(data, 5, 0, 4));
    let capacity = if free == 0 { servers * segments } else { fullest + free - 1 };
    let clone = is_set(data, 2, 5).then_some(servers - 1);
    let place = |at| Place {
        serves: serves(at),
        managed: Some(at) != clone,
        capacity_bytes: capacity as u64,
        tier: TIER,
    };
    (0..servers).map(place).collect()
}

fn walk<F: Fleet>(
    fleet: &F,
    data: &[u8],
    is_ours: bool,
    tries: Option<usize>,
) -> Result<Walked, Box<Finding>>
where
    RoleOf<F>: Inspected,
{
    let ground_of = |data: &[u8]| {
        let mut model = Model::new(fleet, &world_of(data));
        if is_ours {
            model.judged.retain(|property| *property != Property::NoPingPong);
        } else {
            model.judged = vec![Property::LastCopyKept];
        }
        Setting { model, is_ours }
    };
    retold::walk(&ground_of, data, tries)
}

/// What is broken.
struct Breach(String);

/// What of a coordinator's state is looked at beyond what a model needs. Upstream's has nothing of it.
trait Inspected: Hash + Eq + Clone {
    /// An index that is wrong.
    fn index_fault(&self) -> Option<String> {
        None
    }
    /// The life of a server that it knows of.
    fn life_of(&self, _server: ServerId) -> Option<Incarnation> {
        None
    }
    /// Whether it is the same after it was written and read.
    fn is_read_as_written(&self) -> bool {
        true
    }
}

impl Inspected for upstream::State {}

impl Inspected for coordinator::State {
    fn index_fault(&self) -> Option<String> {
        coordinator::State::index_fault(self).map(|fault| fault.to_string())
    }

    fn life_of(&self, server: ServerId) -> Option<Incarnation> {
        self.server(server).and_then(|server| server.incarnation)
    }

    fn is_read_as_written(&self) -> bool {
        is_read_as_written(self)
    }
}

/// A letter, but for the numbers by which the protocol tells it from others.
fn name_of_letter(letter: &Letter) -> String {
    let Letter { leader, server, mail } = letter;
    let what = match mail {
        Mail::Asked(ToServer::Request(request), _) => {
            format!("asks {:?} {:?}", request.action, request.segment)
        }
        Mail::Asked(ToServer::Poll(_), _) => "polls".into(),
        Mail::Told(FromServer::Reply(reply)) => format!("replies {:?}", reply.segment),
        Mail::Told(FromServer::View(_)) => "shows".into(),
        Mail::Told(FromServer::Outdated(_)) => "is outdated".into(),
    };
    format!("{leader} {server:?} {what}")
}

/// Requests of coordinators that are not settled, from the messages alone.
#[derive(Default)]
struct Ledger {
    open: BTreeMap<(u8, ServerId, SegmentId), Fence>,
    /// The highest ticket that was seen.
    highest: BTreeMap<(u8, ServerId), Fence>,
}

impl Ledger {
    /// A request is on the wire; whether another is open on the same segment and server.
    fn sent(&mut self, at: u8, server: ServerId, segment: SegmentId, ticket: Fence) -> bool {
        let highest = self.highest.entry((at, server)).or_default();
        if ticket <= *highest {
            return false;
        }
        *highest = ticket;
        self.open.insert((at, server, segment), ticket).is_some()
    }

    fn settled(&mut self, at: u8, server: ServerId, segment: SegmentId, ticket: Fence) {
        if self.open.get(&(at, server, segment)) == Some(&ticket) {
            self.open.remove(&(at, server, segment));
        }
    }

    /// What a coordinator asked of a server, or of all, is forgotten.
    fn forgotten(&mut self, at: u8, server: Option<ServerId>) {
        self.open.retain(|(by, of, _), _| *by != at || server.is_some_and(|server| server != *of));
    }
}

/// Where a walk goes, and whose protocol is there.
struct Setting<F: Fleet> {
    model: Model<F>,
    is_ours: bool,
}

impl<F: Fleet> Ground for Setting<F>
where
    RoleOf<F>: Inspected,
{
    const HEADER: usize = HEADER;
    const MAX_OPERATIONS: usize = MAX_OPERATIONS;
    type Walk<'m>
        = Walk<'m, F>
    where
        Self: 'm;

    fn begin(&self, data: &[u8]) -> Walk<'_, F> {
        Walk::begun(&self.model, data, self.is_ours)
    }
}

/// A walk under way.
struct Walk<'m, F: Fleet>
where
    RoleOf<F>: Inspected,
{
    model: &'m Model<F>,
    world: WorldOf<F>,
    taken: Vec<Action>,
    /// Whether everything is looked at after each event.
    thorough: bool,
    ledger: Ledger,
    visited: Visited<RoleOf<F>>,
    visited_servers: Visited<surehold::rebalance::historical::State>,
    asks_for_goal: bool,
    fair_after: Option<usize>,
}

impl<F: Fleet> Retold for Walk<'_, F>
where
    RoleOf<F>: Inspected,
{
    type Action = Action;
    type Breach = Breach;

    fn operate(&mut self, operations: &[u8]) -> Result<(), Breach> {
        for operation in operations.chunks_exact(2).take(MAX_OPERATIONS) {
            if self.taken.len() >= MAX_EVENTS {
                break;
            }
            self.operate_once(operation[0] & 7, operation[0] >> 3, operation[1])?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Breach> {
        self.judge_written()?;
        if self.asks_for_goal {
            self.reach_the_goal()?;
        }
        self.judge_indices()
    }

    fn enabled(&self) -> Vec<Action> {
        let mut all = Vec::new();
        self.model.enabled(&self.world, &mut all);
        all
    }

    fn take(&mut self, action: Action) -> Result<(), Breach> {
        let next = self.model.apply(&self.world, action, &mut Tale::untold());
        self.taken.push(action);
        // Refused: nothing has happened.
        let Some(next) = next else { return Ok(()) };
        let again = || self.model.apply(&self.world, action, &mut Tale::untold());
        if self.looks() && again().as_ref() != Some(&next) {
            return Err(Breach("the same event gives two worlds".into()));
        }
        self.note(&next, action);
        let before = std::mem::replace(&mut self.world, next);
        self.judge(&before, action)
    }

    fn named(&self) -> Vec<String> {
        let mut world = self.model.start();
        let mut names = Vec::new();
        for action in &self.taken {
            names.push(self.name_in(&world, action));
            let next = self.model.apply(&world, *action, &mut Tale::untold());
            world = next.unwrap_or(world);
        }
        names
    }

    fn name_of(&self, action: &Action) -> String {
        self.name_in(&self.world, action)
    }

    fn tell(&self, breach: Breach) -> Finding {
        let mut timeline = Vec::new();
        let mut world = self.model.start();
        for (at, action) in self.taken.iter().enumerate() {
            let mut tale = Tale::told();
            let next = self.model.apply(&world, *action, &mut tale);
            timeline.extend(tale.into_lines().into_iter().map(|line| (at + 1, line)));
            world = next.unwrap_or(world);
        }
        let ending = match self.world.broken {
            Some(broken) => format!("{broken:?}"),
            None => breach.0.clone(),
        };
        Finding {
            property: breach.0.clone(),
            bounds: self.model.scope.bounds(),
            timeline,
            fair_after: self.fair_after,
            ending,
            shows: self.is_18764().then_some("#18764"),
            by_single_events: None,
        }
    }

    fn walked(&self) -> Walked {
        Walked::of(self.taken.len(), self.fair_after)
    }
}

impl<'m, F: Fleet> Walk<'m, F>
where
    RoleOf<F>: Inspected,
{
    fn begun(model: &'m Model<F>, data: &[u8], is_ours: bool) -> Self {
        Self {
            model,
            world: model.start(),
            taken: Vec::new(),
            thorough: is_ours && !is_set(data, 2, 7),
            ledger: Ledger::default(),
            visited: Visited::default(),
            visited_servers: Visited::default(),
            asks_for_goal: is_ours && is_set(data, 2, 6) && bits(data, 5, 0, 4) == 0,
            fair_after: None,
        }
    }

    fn name_in(&self, world: &WorldOf<F>, action: &Action) -> String {
        match *action {
            Action::Deliver { letter, repeated, fails } => {
                format!("{} {repeated} {fails}", name_of_letter(&world.wire[usize::from(letter)]))
            }
            Action::Lose(letter) => {
                format!("{} lost", name_of_letter(&world.wire[usize::from(letter)]))
            }
            Action::End(server, number, ending) => {
                let pending = &world.servers[usize::from(server.0)].pending;
                let issued = pending.iter().find(|issued| issued.id.number == number);
                format!("{server:?} {ending:?} {:?}", issued.map(|issued| &issued.effect))
            }
            _ => format!("{action:?}"),
        }
    }

    fn operate_once(&mut self, kind: u8, high: u8, low: u8) -> Result<(), Breach> {
        let started = self.model.led(&self.world);
        let leader = high % started;
        let (rest, number) = (usize::from(high / started), usize::from(low));
        let wide = usize::from(high) << 8 | number;
        let server = ServerId((number % self.world.servers.len()) as u16);
        let further = number / self.world.servers.len() + rest;
        let (model, world) = (self.model, &self.world);
        let mut some = Vec::new();
        match kind {
            1 => model.enabled_within_leader(world, leader, &mut some),
            2 => return self.propose(leader, rest, number),
            3 => model.enabled_of_wire(world, &mut some),
            4 if world.leaders[usize::from(leader)].role.term().is_some() => {
                model.enabled_of_link(world, leader, server, &mut some);
            }
            5 => self.faults(&mut some),
            6 => model.enabled_of_server(world, server, &mut some),
            7 => return self.talk(leader, server),
            _ => {}
        }
        let number = match kind {
            4 | 6 => further,
            1 => number,
            _ => wide,
        };
        if some.is_empty() {
            model.enabled(world, &mut some);
        }
        match some.get(number % some.len().max(1)).copied() {
            Some(action) => self.take(action),
            None => Ok(()),
        }
    }

    /// Faults that can happen. A move is none.
    fn faults(&self, faults: &mut Vec<Action>) {
        let world = &self.world;
        self.model.enabled_of_wire(world, faults);
        for at in 0..world.leaders.len() as u8 {
            self.model.enabled_of_links(world, at, faults);
        }
        for server in self.model.scope.ids() {
            self.model.enabled_of_server(world, server, faults);
        }
        let is_up = |server: ServerId| world.servers[usize::from(server.0)].role.is_some();
        faults.retain(|action| action.is_fault(is_up));
        if world.left.takeovers > 0 {
            faults.push(Action::TakeOver(self.model.next_leader(world)));
        }
        if usize::from(world.operated) < self.model.scope.operator.len() {
            faults.push(Action::Operate);
        }
    }

    /// A run goes on until it decides, and is then proposed a move.
    fn propose(&mut self, leader: u8, which: usize, segment: usize) -> Result<(), Breach> {
        const PHASES: usize = 4;
        for _ in 0..PHASES {
            let role = &self.world.leaders[usize::from(leader)].role;
            if role.term().is_none() || role.decides_next() {
                break;
            }
            self.take(Action::Run(leader, 0, None))?;
        }
        if !self.model.takes_moves(&self.world, leader) {
            return Ok(());
        }
        let segments = self.model.scope.segments as usize;
        let segment = SegmentId((segment % segments) as u32 + 1);
        let mut moves = Vec::new();
        self.model.moves_of(&self.world, leader, segment, &mut moves);
        match moves.get(which % moves.len().max(1)).copied() {
            Some(action) => self.take(action),
            None => Ok(()),
        }
    }

    /// What is between a coordinator and a server is carried to and fro, and what is queued is sent once.
    fn talk(&mut self, leader: u8, server: ServerId) -> Result<(), Breach> {
        let mut links = Vec::new();
        if self.world.leaders[usize::from(leader)].role.term().is_some() {
            self.model.enabled_of_link(&self.world, leader, server, &mut links);
        }
        let send = Action::Go(leader, Task::Send(server));
        if links.contains(&send) {
            self.take(send)?;
        }
        for _ in 0..LONGEST_TALK {
            let Some(letter) = self.letter(|by, at| by == leader && at == server) else { break };
            self.take(letter)?;
        }
        Ok(())
    }

    /// The first message on the wire between these that can arrive.
    fn letter(&self, between: impl Fn(u8, ServerId) -> bool) -> Option<Action> {
        let is_up = |server: ServerId| self.world.servers[usize::from(server.0)].role.is_some();
        let place = self.world.wire.iter().position(|letter| {
            let told = matches!(letter.mail, Mail::Told(_));
            between(letter.leader, letter.server) && (told || is_up(letter.server))
        });
        let plain = |place| Action::Deliver { letter: place as u16, repeated: false, fails: false };
        place.map(plain)
    }

    /// Nothing fails any more, and everybody is in turn.
    fn reach_the_goal(&mut self) -> Result<(), Breach> {
        let scope = &self.model.scope;
        let active = scope.ids().filter(|server| {
            let info = scope.info(*server, self.world.operated);
            info.managed && !info.decommissioning
        });
        if active.count() < usize::from(scope.required_after(self.world.operated)) {
            return Ok(());
        }
        self.fair_after = Some(self.taken.len());
        self.thorough = false;
        for _ in 0..MAX_FAIR_ROUNDS {
            if self.model.is_at_goal(&self.world) {
                return Ok(());
            }
            self.fair_round()?;
        }
        Err(Breach(Property::Recoverable.name().into()))
    }

    fn fair_round(&mut self) -> Result<(), Breach> {
        for server in self.model.scope.ids() {
            let mut own = Vec::new();
            self.model.enabled_of_server(&self.world, server, &mut own);
            self.take_fair(own)?;
        }
        for leader in 0..self.world.leaders.len() as u8 {
            let mut own = Vec::new();
            self.model.enabled_within_leader(&self.world, leader, &mut own);
            self.take_fair(own)?;
            let mut links = Vec::new();
            self.model.enabled_of_links(&self.world, leader, &mut links);
            self.take_fair(links)?;
        }
        let most = self.world.wire.len() * 2;
        for _ in 0..most {
            let Some(letter) = self.letter(|_, _| true) else { break };
            self.take(letter)?;
        }
        Ok(())
    }

    /// Takes each of some events that is no fault and can still happen.
    fn take_fair(&mut self, actions: Vec<Action>) -> Result<(), Breach> {
        let mut has_run = false;
        for action in actions {
            let is_up = |at: ServerId| self.world.servers[usize::from(at.0)].role.is_some();
            if action.is_fault(is_up) || !self.can_still(&action) {
                continue;
            }
            // One run of a round is enough.
            let runs = matches!(action, Action::Run(..));
            if !(runs && has_run) {
                self.take(action)?;
            }
            has_run |= runs;
        }
        Ok(())
    }

    /// Whether an event is not void by what was done since it was listed.
    fn can_still(&self, action: &Action) -> bool {
        let leads = |at: u8| self.world.leaders[usize::from(at)].role.term().is_some();
        match *action {
            Action::Go(at, Task::Callback(place)) => {
                usize::from(place) < self.world.leaders[usize::from(at)].role.callbacks()
            }
            Action::Go(at, _) | Action::Run(at, ..) | Action::View(at, _) => leads(at),
            _ => true,
        }
    }

    /// Whether this event is one of those that are looked at closely.
    fn looks(&self) -> bool {
        self.thorough && self.taken.len().is_multiple_of(EVENTS_BETWEEN_DOUBLES)
    }

    /// Keeps the books on what is asked, settled and forgotten.
    fn note(&mut self, next: &WorldOf<F>, action: Action) {
        if let Action::Deliver { letter, .. } = action {
            let letter = &self.world.wire[usize::from(letter)];
            if let Mail::Told(FromServer::Reply(reply)) = &letter.mail {
                self.ledger.settled(letter.leader, letter.server, reply.segment, reply.ticket);
            }
        }
        for (at, (old, new)) in self.world.leaders.iter().zip(&next.leaders).enumerate() {
            let at = at as u8;
            if old.role.term() != new.role.term() {
                self.ledger.forgotten(at, None);
            }
            for server in self.model.scope.ids() {
                let met = old.role.life_of(server) != new.role.life_of(server);
                if met || !new.sees(server) {
                    self.ledger.forgotten(at, Some(server));
                }
            }
        }
    }

    fn judge(&mut self, before: &WorldOf<F>, action: Action) -> Result<(), Breach> {
        if let Some(broken) = self.world.broken {
            return Err(Breach(broken.property().name().into()));
        }
        self.judge_requests(action)?;
        for at in 0..self.world.leaders.len() {
            let (old, new) = (&before.leaders[at], &self.world.leaders[at]);
            if old == new {
                continue;
            }
            if self.looks() && !self.visited.fits(&new.role) {
                return Err(Breach("a hash tells what is equal, or does not tell".into()));
            }
        }
        self.judge_servers(before)?;
        if self.taken.len().is_multiple_of(EVENTS_BETWEEN_COUNTS) {
            self.judge_indices()?;
        }
        if self.thorough && self.taken.len().is_multiple_of(EVENTS_BETWEEN_READS) {
            return self.judge_written();
        }
        Ok(())
    }

    fn judge_servers(&mut self, before: &WorldOf<F>) -> Result<(), Breach> {
        if !self.looks() {
            return Ok(());
        }
        for (old, new) in before.servers.iter().zip(&self.world.servers) {
            let Some(role) = new.role.as_ref().filter(|_| old != new) else { continue };
            if !self.visited_servers.fits(role) {
                return Err(Breach("a server's hash tells what is equal, or does not tell".into()));
            }
        }
        Ok(())
    }

    fn judge_indices(&self) -> Result<(), Breach> {
        let mut faults = self.world.leaders.iter().filter_map(|leader| leader.role.index_fault());
        match faults.next() {
            Some(fault) => Err(Breach(format!("an index is wrong: {fault}"))),
            None => Ok(()),
        }
    }

    /// P4, from the messages that a sending has put on the wire.
    fn judge_requests(&mut self, action: Action) -> Result<(), Breach> {
        let Action::Go(at, Task::Send(server)) = action else { return Ok(()) };
        let sent = self.world.wire.iter().filter_map(|letter| match letter.mail {
            Mail::Asked(ToServer::Request(request), _)
                if letter.leader == at && letter.server == server =>
            {
                Some((request.ticket, request.segment))
            }
            _ => None,
        });
        // Upstream's requests have no numbers to tell one from another.
        let mut sent: Vec<_> = sent.filter(|(ticket, _)| ticket.term != Term(0)).collect();
        sent.sort_unstable();
        for (ticket, segment) in sent {
            if self.ledger.sent(at, server, segment, ticket) {
                return Err(Breach(Property::OneAction.name().into()));
            }
        }
        Ok(())
    }

    fn judge_written(&self) -> Result<(), Breach> {
        let leaders = self.world.leaders.iter().all(|leader| leader.role.is_read_as_written());
        let roles = self.world.servers.iter().filter_map(|node| node.role.as_deref());
        if self.thorough && !(leaders && roles.clone().all(is_read_as_written)) {
            return Err(Breach("a state is read as another than was written".into()));
        }
        Ok(())
    }

    /// Whether the copy that was lost last had been judged superfluous since another was counted whose drop was
    /// acknowledged after the inventory had been copied: window 2, the report's own.
    fn is_18764(&self) -> bool {
        let Some(Broken::LastDropped(segment, _)) = self.world.broken else { return false };
        let window = Window::Acknowledged;
        let observed = self.model.observed(segment, window);
        let retold = self.taken.iter().try_fold(observed.start(), |world, action| {
            observed.apply(&world, *action, &mut Tale::untold())
        });
        retold.is_some_and(|world| world.watch.through == Some(window))
    }
}
