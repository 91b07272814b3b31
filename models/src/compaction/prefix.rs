//! What has happened before a scope begins, run with the variant's own transitions.

use surehold::Issued;
use surehold::compaction::Effect;
use surehold::compaction::object::{Body, Key, Prefix};

use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::scope::{Act, Until};
use super::tale::Tale;
use super::world::RoleState;

impl<F: Fleet> Model<F> {
    /// Runs what has happened before the scope begins. A variant that does not get as far as an act says
    /// begins where it stopped.
    pub fn run_prefix(&self, tale: &mut Tale) -> WorldOf<F> {
        self.play_prefix(tale).0
    }

    /// The first act of the prefix that this variant does not get to, if there is one.
    pub fn unreached_act(&self) -> Option<Act> {
        self.play_prefix(&mut Tale::untold()).1
    }

    fn play_prefix(&self, tale: &mut Tale) -> (WorldOf<F>, Option<Act>) {
        let mut world = self.origin();
        let mut unreached = None;
        for act in self.scope.prefix {
            match *act {
                Act::Run(process, until) => {
                    if !self.run_until(&mut world, process, until, Clock::Later, tale) {
                        unreached = unreached.or(Some(*act));
                    }
                }
                Act::RunBehind(process, until) => {
                    if !self.run_until(&mut world, process, until, Clock::Behind, tale) {
                        unreached = unreached.or(Some(*act));
                    }
                }
                Act::Lose(process) => {
                    if !self.lose(&mut world, process, tale) {
                        unreached = unreached.or(Some(*act));
                    }
                }
                Act::Pause(process) => {
                    tale.pauses(&self.scope, process);
                    self.spend_fault(&mut world);
                    world.processes[process as usize].change().paused = true;
                }
                Act::Crash(process) => {
                    tale.crashes(&self.scope, process);
                    self.crash(&mut world, process);
                }
                Act::Expire => {
                    let mut actions = Vec::new();
                    self.enabled(&world, &mut actions);
                    for action in actions {
                        if let Action::Expire(key, partition) = action {
                            tale.expires(&self.scope, &world.store, key, partition);
                            let visit = world.store.change().markers.get_mut(&(key, partition));
                            visit.expect("an enabled marker is there").expired = true;
                        }
                    }
                }
                Act::Ripen => {
                    let marked: Vec<_> =
                        world.store.blocks.iter().filter(|(_, block)| block.ripens()).collect();
                    let marked: Vec<_> = marked.into_iter().map(|(id, _)| *id).collect();
                    for id in marked {
                        tale.ripens(&self.scope, id);
                        self.ripen(&mut world, id);
                    }
                }
                Act::Upload => {
                    let place = self.scope.early.len() + usize::from(world.arrived);
                    tale.uploads(&self.scope, place);
                    self.place(world.store.change(), place);
                    world.arrived += 1;
                }
            }
        }
        self.settle(&mut world, &mut Tale::untold());
        (world, unreached)
    }

    pub(super) fn run_until(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        until: Until,
        clock: Clock,
        tale: &mut Tale,
    ) -> bool {
        const ENOUGH: usize = 200;
        for _ in 0..ENOUGH {
            self.settle_one(world, process, tale);
            let waits = |issued: &&Issued<Effect>| !self.is_waiting(world, process, issued);
            let next = world.processes[process as usize].pending.iter().find(waits);
            let Some(number) = next.map(|issued| issued.id.number) else { return false };
            if self.has_come(world, process, until) {
                return true;
            }
            self.run_by(world, process, number, clock, tale);
        }
        false
    }

    /// Carries out an operation. A clock other than the usual one shows only where a plan is stamped.
    fn run_by(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        number: u16,
        clock: Clock,
        tale: &mut Tale,
    ) {
        if clock != Clock::Later && world.faults_left > 0 {
            let (mut wrong, mut told) = (world.clone(), tale.clone());
            let choice = Choice { clock, ..Choice::default() };
            if self.run(&mut wrong, process, number, Fate::Done, choice, &mut told).is_some() {
                (*world, *tale) = (wrong, told);
                return;
            }
        }
        self.run(world, process, number, Fate::Done, Choice::default(), tale);
    }

    /// Loses the write that a process is about to make.
    fn lose(&self, world: &mut WorldOf<F>, process: u8, tale: &mut Tale) -> bool {
        let pending = &world.processes[process as usize].pending;
        let write = pending.iter().find(|i| matches!(i.effect, Effect::Put(..)));
        let Some(number) = write.map(|issued| issued.id.number) else { return false };
        self.run(world, process, number, Fate::Late, Choice::default(), tale).is_some()
    }

    pub(super) fn has_come(&self, world: &WorldOf<F>, process: u8, until: Until) -> bool {
        let actor = &world.processes[process as usize];
        let about_to =
            |wanted: fn(&Effect) -> bool| actor.pending.iter().any(|issued| wanted(&issued.effect));
        let completed = |partition: u32| {
            world.store.markers.iter().any(|((_, p), v)| *p == partition && v.marker.is_completed())
        };
        let gone = world.store.plans.is_empty() && world.store.markers.is_empty();
        let removed = || {
            let mut deleted =
                world.store.blocks.values().filter(|b| b.deleted.is_some()).peekable();
            deleted.peek().is_some() && !world.store.blocks.values().any(|b| b.is_marked())
        };
        let deleting = about_to(|e| matches!(e, Effect::Delete(Key::Plan(_))));
        let marking = about_to(|e| matches!(e, Effect::Put(_, Body::DeletionMark(_))));
        let RoleState::Compactor(state) = &actor.role else {
            return (until == Until::Gone && gone)
                || (until == Until::Marking && marking)
                || (until == Until::Deleting && deleting)
                || (until == Until::Removed && removed());
        };
        match until {
            Until::Marking => marking,
            Until::Deleting => deleting,
            Until::Gone => gone,
            Until::Removed => removed(),
            Until::PlanPending => about_to(|e| matches!(e, Effect::Put(Key::Plan(_), _))),
            Until::PlanWritten => !world.store.plans.is_empty(),
            Until::PlanDone => {
                let mut plans = world.store.plans.values().peekable();
                plans.peek().is_some()
                    && plans.all(|plan| {
                        (0..plan.count()).all(|p| completed(p) || plan.members(p).is_empty())
                    })
            }
            Until::Picked => {
                state.has_picked().is_some()
                    && about_to(|e| matches!(e, Effect::Get(Key::Marker(..))))
            }
            Until::Claimed => {
                about_to(|e| matches!(e, Effect::Get(Key::Marker(..)))) && state.jobs_running() > 0
            }
            Until::Merged => about_to(|e| matches!(e, Effect::Put(Key::Meta(_), _))),
            Until::Uploaded => about_to(
                |e| matches!(e, Effect::Put(_, Body::Marker(marker)) if marker.is_completed()),
            ),
            // Ours has then found no plan before, and made one; upstream's asks for plans next.
            Until::Synced if self.dated => about_to(|e| matches!(e, Effect::List(Prefix::Plans))),
            Until::Synced => about_to(|e| matches!(e, Effect::Put(Key::Plan(_), _))),
        }
    }

    /// Takes the steps of one process that nobody else can tell.
    pub(super) fn settle_one(&self, world: &mut WorldOf<F>, process: u8, tale: &mut Tale) {
        if self.may_begin(&world.processes[process as usize]) {
            self.begin(world, process);
        }
        while let Some(number) = self.immediate_of(world, process) {
            self.run(world, process, number, Fate::Done, Choice::default(), tale);
        }
        if self.may_begin(&world.processes[process as usize]) {
            self.begin(world, process);
        }
    }
}
