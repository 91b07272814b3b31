//! Endless rounds: a fair run always comes to its goal; one that starves somebody, or lacks a guard, need not.
#![cfg(feature = "checker")]

use stateright::Property;
use surehold::Verified;
use surehold::guard::Weakened;
use surehold_models::explore::{
    Fairness, Judged, Kind, NO_ENDLESS_ROUND, Options, Reason, ReportOf, Verdict, explore,
};

/// Some of a model's steps.
type Steps<M> =
    Box<dyn Fn(&<M as stateright::Model>::State, &<M as stateright::Model>::Action) -> bool + Sync>;

/// A model of which nothing but rounds is asked.
struct Rounds<M: Judged> {
    model: M,
    /// Which steps a run is fair to.
    owes: Steps<M>,
    /// Which steps are no part of a round, faults aside.
    spares: Steps<M>,
    /// Another goal than the model's.
    goal: Option<fn(&M::State) -> bool>,
    /// What a state forgets: what is only counted there hides that it comes again.
    forgets: fn(M::State) -> M::State,
}

impl<M: Judged> Rounds<M> {
    /// Fair to all that the model says is owed.
    fn of(model: M) -> Self {
        Self {
            model,
            owes: Box::new(|_, _| true),
            spares: Box::new(|_, _| false),
            goal: None,
            forgets: |state| state,
        }
    }

    /// Fair to these alone.
    fn owing(self, owes: impl Fn(&M::State, &M::Action) -> bool + Sync + 'static) -> Self {
        Self { owes: Box::new(owes), ..self }
    }

    fn report(&self, rounds: bool) -> ReportOf<Self> {
        explore(self, &Options { rounds, ..Options::default() })
    }

    /// How many steps a round has; 0 if there is none.
    fn round(&self) -> usize {
        let report = self.report(true);
        assert!(report.rounds_judged, "{}", report.verdict);
        let Some(path) = &report.counterexample else {
            assert_eq!(report.verdict, Verdict::Verified);
            return 0;
        };
        let property = NO_ENDLESS_ROUND.into();
        assert_eq!(report.verdict, Verdict::Violated { property, kind: Kind::Endless });
        let from = path.round_from.expect("a round");
        assert!(path.states.last() == path.states.get(from), "it ends where it begins");
        path.actions.len() - from
    }
}

impl<M: Judged> stateright::Model for Rounds<M> {
    type State = M::State;
    type Action = M::Action;

    fn init_states(&self) -> Vec<Self::State> {
        self.model.init_states()
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        self.model.actions(state, actions);
    }

    fn next_state(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        self.model.next_state(state, action).map(self.forgets)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        Vec::new()
    }
}

impl<M: Judged> Judged for Rounds<M> {
    fn is_fault(&self, state: &Self::State, action: &Self::Action) -> bool {
        self.model.is_fault(state, action) || (self.spares)(state, action)
    }

    fn goal(&self, state: &Self::State) -> Option<bool> {
        self.goal.map_or_else(|| self.model.goal(state), |goal| Some(goal(state)))
    }

    fn is_cut(&self, state: &Self::State) -> bool {
        self.model.is_cut(state)
    }

    fn may_stop(&self, state: &Self::State) -> bool {
        self.model.may_stop(state)
    }

    fn class(&self, state: &Self::State, action: &Self::Action) -> Option<u8> {
        self.model.class(state, action).filter(|_| (self.owes)(state, action))
    }

    fn fairness(&self, class: u8) -> Fairness {
        self.model.fairness(class)
    }
}

mod of_compaction {
    use surehold_models::compaction::fleet::Ours;
    use surehold_models::compaction::model::{Action, Model};
    use surehold_models::compaction::verdicts;

    use super::*;

    fn rounds(scope: &str) -> Rounds<Model<Ours<Verified>>> {
        let scope = verdicts::scope(scope).expect("a scope");
        Rounds::of(Model::new(&Ours(Verified), &scope))
    }

    fn is_of(action: &Action, process: u8) -> bool {
        matches!(action, Action::Run { process: of, .. } | Action::Begin(of) if *of == process)
    }

    /// The only compactor, and the cleaner after two of them.
    const CRUCIAL: [(&str, u8); 2] = [("crash", 0), ("endless-clean-up", 2)];

    #[test]
    fn a_fair_fleet_comes_to_its_goal_and_one_that_starves_a_process_need_not() {
        for (scope, process) in CRUCIAL {
            assert_eq!(rounds(scope).round(), 0, "{scope}");
            let starves_one = rounds(scope).owing(move |_, action| !is_of(action, process));
            assert!(starves_one.round() > 1, "{scope}");
            assert!(rounds(scope).owing(|_, _| false).round() > 1, "{scope}");
        }
    }

    /// The cleaner does what is left to do: nothing waits for a compactor.
    #[test]
    fn a_compactor_that_stands_still_hinders_no_clean_up() {
        let starves_one = rounds("endless-clean-up").owing(|_, action| !is_of(action, 0));
        assert_eq!(starves_one.round(), 0);
    }
}

mod of_rebalance {
    use surehold::rebalance::{Guard, Task};
    use surehold_models::rebalance::fleet::{Fleet, Ours};
    use surehold_models::rebalance::model::{Action, Model};
    use surehold_models::rebalance::verdicts;

    use super::*;

    fn rounds<F: Fleet>(fleet: &F, scope: &str) -> Rounds<Model<F>> {
        let scope = verdicts::scope(scope).expect("a scope");
        let mut model = Model::new(fleet, &scope);
        model.polls_on = true;
        Rounds::of(model)
    }

    #[test]
    fn a_fair_cluster_comes_to_its_goal() {
        for scope in ["calm-one", "deficit", "flap-lag", "tier-flap"] {
            assert_eq!(rounds(&Ours(Verified), scope).round(), 0, "{scope}");
        }
    }

    type Step = fn(&Action) -> bool;

    /// Whom it takes to come to the goal, by what is starved.
    const CRUCIAL: [(&str, Step); 7] = [
        ("deficit", |action| matches!(action, Action::Run(..))),
        ("deficit", |action| matches!(action, Action::Go(_, Task::Send(_)))),
        ("deficit", |action| matches!(action, Action::Deliver { .. })),
        ("tier-flap", |action| matches!(action, Action::View(..))),
        ("tier-flap", |action| matches!(action, Action::Appear(..))),
        ("flap-lag", |action| matches!(action, Action::Go(_, Task::Poll(_)))),
        ("tier-takeover-crash", |action| matches!(action, Action::Restart(_))),
    ];

    #[test]
    fn a_cluster_that_starves_one_kind_of_step_need_not() {
        for (at, (scope, is_starved)) in CRUCIAL.into_iter().enumerate() {
            let starving =
                rounds(&Ours(Verified), scope).owing(move |_, action| !is_starved(action));
            assert!(starving.round() > 0, "{at}: {scope}");
        }
    }

    /// Nothing is counted: what is judged by counting in a check would hide that a state comes again.
    fn uncounted<F: Fleet>(fleet: &F, scope: &str) -> Rounds<Model<F>> {
        let forgets = |mut world: surehold_models::rebalance::model::WorldOf<F>| {
            world.own_moves = 0;
            world.needless = 0;
            world.broken = None;
            world
        };
        Rounds { forgets, ..rounds(fleet, scope) }
    }

    /// L3: a copy that moves is taken for two, so that another is dropped, missed, and moved again. With each time the
    /// numbers of requests grow, so that no state comes again: there is no round in the space, but no end of it either.
    #[test]
    fn moves_to_and_fro_come_to_an_end_unless_a_move_counts_twice() {
        let scope = "decommission-two";
        let few = Options { rounds: true, max_states: Some(20_000), ..Options::default() };
        assert_eq!(explore(&uncounted(&Ours(Verified), scope), &few).verdict, Verdict::Verified);
        let weakened = Ours(Weakened::without([Guard::MoveCountsOnce]));
        let reason = Reason::StateLimit;
        let verdict = explore(&uncounted(&weakened, scope), &few).verdict;
        assert_eq!(verdict, Verdict::Incomplete { reason });
    }
}

mod of_commit {
    use surehold::commit::object::Status;
    use surehold::commit::{Controller, Guard, Server, Task};
    use surehold::guard::Guards;
    use surehold_models::commit::model::{Action, Model};
    use surehold_models::commit::scope::{Budget, Scope};
    use surehold_models::commit::verdicts;
    use surehold_models::commit::world::World;

    use super::*;

    fn scope(name: &str) -> Scope {
        verdicts::scope(name).expect("a scope")
    }

    /// After these moves, and nothing fails any more.
    fn after(begun: &'static [&'static str], segments: u32) -> Scope {
        let budget = Budget::default();
        Scope { name: "after", begun, segments, budget, stops_early: false, ..scope("calm") }
    }

    fn verified(scope: &Scope) -> Model<Verified> {
        let controller = Controller::new(scope.controller_limits());
        Model::new(controller, Server::new(scope.server_limits()), scope)
    }

    fn without(guards: &[Guard], scope: &Scope) -> Model<Weakened<Guard>> {
        let kept = Weakened::without(guards.iter().copied());
        let controller = Controller::weakened(scope.controller_limits(), kept.clone());
        Model::new(controller, Server::weakened(scope.server_limits(), kept), scope)
    }

    #[test]
    fn a_fair_table_comes_to_its_goal_and_one_that_starves_somebody_need_not() {
        let scope = scope("failed-twice");
        assert_eq!(Rounds::of(verified(&scope)).round(), 0);
        let rounds = || Rounds::of(without(&[Guard::ResetBesideOnline], &scope));
        assert_eq!(rounds().round(), 0);
        // S1 is in error, reset, and in error again, as S0 never gives up.
        let waits = |action: &Action| matches!(action, Action::GiveUp(0, _));
        assert!(rounds().owing(move |_, action| !waits(action)).round() > 1);
    }

    /// S0 names itself as the place of the only copy of seq 0 and dies; S1 commits seq 1 and loses it.
    const R14: &[&str] = &[
        "S0 consumes seq 0 to 2",
        "S0 reports seq 0 for COMMIT",
        "S0 starts to commit seq 0",
        "C0 commits seq 0 for COMMIT_CONTINUE",
        "S0 builds seq 0",
        "S0 fails to store seq 0",
        "S0 ends its commit of seq 0",
        "C0 commits seq 0",
        "S0 crashes for good",
        "S1 goes CONSUMING with seq 1",
        "S1 consumes seq 1 to 4",
        "S1 reports seq 1 for COMMIT",
        "S1 starts to commit seq 1",
        "C0 commits seq 1 for COMMIT_CONTINUE",
        "S1 crashes",
        "S1 starts",
    ];

    /// Seq 1, whose rows are all in the stream, is read again and done. What becomes of seq 0 is not asked: its rows are lost.
    fn is_read_again(world: &World) -> bool {
        let mut records = world.store.records.iter();
        records.any(|(id, stored)| id.sequence == 1 && stored.record.status == Status::Done)
    }

    fn r14(guards: &[Guard]) -> Rounds<Model<Weakened<Guard>>> {
        let model = without(guards, &after(R14, 3));
        assert_eq!(model.beginning().unreached, None);
        Rounds { goal: Some(is_read_again), ..Rounds::of(model) }
    }

    /// R14: recoverability alone does not see it, and no run that is fair to each server a repair may pick has it where a
    /// refused reset ends no run.
    #[test]
    fn a_repair_goes_round_for_ever_only_if_a_dead_server_ends_it() {
        let upstream = r14(&[Guard::ObjectBeforeDone, Guard::ResetErrorOnly]);
        let recoverable = upstream.report(false);
        assert_eq!(recoverable.verdict, Verdict::Verified);
        assert!(recoverable.recoverability_judged);
        assert!(upstream.round() > 1);
        assert_eq!(r14(&[Guard::ObjectBeforeDone]).round(), 0);
    }

    #[test]
    fn a_repair_that_always_picks_the_dead_server_is_not_fair() {
        let picks_s1 = |action: &Action| matches!(action, Action::Begin(_, Task::Repair(_), 1));
        let starving = r14(&[Guard::ObjectBeforeDone]).owing(move |_, action| !picks_s1(action));
        assert!(starving.round() > 1);
    }

    /// S0 commits seq 0 and loses it; S1 has nothing of it.
    const LOST: &[&str] = &[
        "S0 consumes seq 0 to 2",
        "S0 reports seq 0 for COMMIT",
        "S0 starts to commit seq 0",
        "C0 commits seq 0 for COMMIT_CONTINUE",
        "S0 crashes",
        "S0 starts",
    ];

    /// A repair begins while a replica has yet to come to its transition, or waits in vain.
    fn is_early<V: Guards<Guard>>(model: &Model<V>, world: &World, action: &Action) -> bool {
        let repairs = matches!(action, Action::Begin(_, Task::Repair(_), _));
        let mut actions = Vec::new();
        if repairs {
            model.enabled(world, &mut actions);
        }
        actions.iter().any(|other| {
            let waits = matches!(other, Action::GiveUp(..) | Action::Transition(..));
            waits && !model.is_fault(world, other)
        })
    }

    /// N9. A committing segment is read again when all of its replicas are in error at once; without the guard a repair
    /// resets those that are while another still waits, and each then waits while the other is reset. It takes a repair
    /// that begins before the patience of a replica is over, again and again.
    #[test]
    fn replicas_are_reset_in_turn_for_ever_only_by_repairs_that_begin_while_one_waits() {
        let scope = after(LOST, 2);
        assert_eq!(Rounds::of(verified(&scope)).round(), 0);
        let model = without(&[Guard::ResetBesideOnline], &scope);
        assert_eq!(model.beginning().unreached, None);
        assert!(Rounds::of(model.clone()).round() > 1);
        let own = model.clone();
        let spares = Box::new(move |world: &World, action: &Action| is_early(&own, world, action));
        assert_eq!(Rounds { spares, ..Rounds::of(model) }.round(), 0);
    }
}
