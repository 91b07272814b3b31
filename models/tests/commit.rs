//! Commit: what the pull requests claim, and the shortest ways to the holes that were found by reading.
#![cfg(feature = "checker")]

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use stateright::Model as _;
use surehold::collections::Table;
use surehold::commit::completion::Mode;
use surehold::commit::controller::{self, Controller};
use surehold::commit::effect::Change;
use surehold::commit::event::{ControllerOutcome, Found};
use surehold::commit::invariant::Property;
use surehold::commit::message::{Order, ReingestStatus, Report, Tell};
use surehold::commit::object::{
    ControllerId, Crc, IdealState, Location, ObjectId, PartitionId, Record, ReplicaState,
    SegmentId, ServerId, Status, TableConfig, Version, View,
};
use surehold::commit::upstream::Release;
use surehold::commit::{
    ControllerEffect, ControllerEvent, Guard, Input, Server, ServerEffect, Task,
};
use surehold::guard::Weakened;
use surehold::{EffectId, Guards, Machine, Verified};
use surehold_models::commit::coverage::Coverage;
use surehold_models::commit::holes::{Finding, HOLES};
use surehold_models::commit::model::{Action, Fate, Model, Who};
use surehold_models::commit::runs::{Expected, Run, Variant};
use surehold_models::commit::tale::Tale;
use surehold_models::commit::world::{Stored, World};
use surehold_models::commit::{scopes, verdicts};
use surehold_models::runs::{AnyRun as _, Finished, Manner};

fn run(variant: Variant, scope: &str, property: Property) -> Finished {
    let scope = verdicts::scope(scope).expect("there is such a scope");
    Run::asked(variant, scope, property, Expected::Open).execute(&Manner::default())
}

fn steps(finished: &Finished) -> Option<usize> {
    finished.counterexample.as_ref().and_then(|steps| steps.last()).map(|step| step.step)
}

/// A server crashes, or a build fails: before #14920 committed rows are gone for ever, with it they come back.
#[test]
fn reingestion_brings_back_what_pauseless_alone_loses() {
    for scope in ["sane-server-crash", "sane-failed-upload"] {
        let before = run(Variant::Upstream(Release::Pr14741), scope, Property::Served);
        assert_eq!(before.property.as_deref(), Some("served"), "{scope}");
        let told = before.counterexample.expect("a violation has a path");
        let shown = told.last().map(|step| step.line.note.clone()).unwrap_or_default();
        assert!(shown.contains("is ERROR with seq 0"), "{scope}: {shown}");
        let ending = before.ending.expect("a violation ends somewhere");
        assert!(ending.contains("seq 0 is COMMITTING and in ERROR on S0 and S1"), "{ending}");
        let after = run(Variant::Upstream(Release::Pr14920), scope, Property::Served);
        assert_eq!((after.verdict, after.property), ("verified", None), "{scope}");
    }
}

/// Where pauseless commits alone lose rows, blocking ones do not: nothing is committed before it is built. Whatever the
/// table is set to, as before #14741 there is no other mode.
#[test]
fn blocking_commits_lose_nothing_there() {
    for scope in
        ["sane-server-crash", "sane-failed-upload", "sane-blocking-crash", "sane-blocking-upload"]
    {
        for property in [Property::Served, Property::Recoverable] {
            let found = run(Variant::Upstream(Release::Blocking), scope, property);
            assert_eq!((found.verdict, found.property), ("verified", None), "{scope}");
        }
    }
}

/// R1 and R2: the clean-up after a failed commit deletes the record of a segment that is listed by now.
#[test]
fn the_clean_up_of_2026_deletes_a_live_record() {
    for (scope, shortest) in [("sane-slow", 11), ("sane-reply-lost", 8)] {
        let variant = Variant::Upstream(Release::Aug2026);
        let found = run(variant, scope, Property::ListedHasRecord);
        assert_eq!(found.property.as_deref(), Some("listed-has-record"), "{scope}");
        assert_eq!(steps(&found), Some(shortest), "{scope}");
        let ending = found.ending.expect("a violation ends somewhere");
        assert!(ending.starts_with("seq 1 is listed and has no record"), "{ending}");
    }
}

/// R3: the commits of two partitions are written at once, and one that is too old fails the other.
#[test]
fn an_old_commit_fails_a_young_one_of_2026() {
    let found = run(Variant::Upstream(Release::Aug2026), "sane-batch", Property::OwnFailure);
    assert_eq!((found.property.as_deref(), steps(&found)), (Some("own-failure"), Some(12)));
    let ending = found.ending.expect("a violation ends somewhere");
    assert!(ending.starts_with("the commit of partition 1 seq 0 failed"), "{ending}");
}

/// R3: the verified leader refuses a member of a batch, whose replica was taken out meanwhile, and writes the other.
#[test]
fn one_of_a_batch_is_refused_and_the_other_written() {
    let mut model = verified_model("batch-refused");
    let coverage = Arc::new(Coverage::default());
    model.coverage = Some(Arc::clone(&coverage));
    let [refused, written] =
        [0, 1].map(|at| SegmentId { partition: PartitionId(at), ..segment(0) });
    let mut world = model.start();
    let takes_out = |world: &World, action: &Action| match *action {
        Action::Run(Who::Controller(1), _, Fate::Well) => true,
        Action::Run(Who::Server(0), number, Fate::Well) => {
            let pending = world.servers[0].pending.iter();
            let effect = pending.into_iter().find(|p| p.issued.id.number == number);
            let call = effect.map(|p| &p.issued.effect);
            matches!(call, Some(ServerEffect::Call(request)) if request.segment == refused)
        }
        _ => false,
    };
    while !world.store.ideal.has(refused, ReplicaState::Offline) {
        world = next(&model, &world, takes_out);
    }
    assert_eq!(world.controllers[0].role.in_step_3().count(), 2);
    let is_old = |_: &World, action: &Action| {
        matches!(action, Action::Run(Who::Controller(0), _, Fate::Well))
    };
    world = next(&model, &world, is_old);
    assert_eq!(world.controllers[0].role.in_step_3().count(), 0);
    assert!(world.store.ideal.has(written, ReplicaState::Online));
    assert!(world.store.ideal.has(refused, ReplicaState::Offline));
    let counted = coverage.table();
    let row = counted.iter().find(|(name, _)| name == "batch: one is refused, another is written");
    assert_eq!(row.map(|(_, count)| *count), Some(1));
}

/// What comes of the first of the events that may happen and are wanted.
fn next(
    model: &Model<Verified>,
    world: &World,
    is_wanted: impl Fn(&World, &Action) -> bool,
) -> World {
    let mut actions = Vec::new();
    model.enabled(world, &mut actions);
    let action = actions.into_iter().find(|action| is_wanted(world, action));
    let next = action.and_then(|action| model.apply(world, action, &mut Tale::untold()));
    next.expect("such an event may happen")
}

/// C6: a reingestion that keeps the only permit stops the server, until #15097.
#[test]
fn a_permit_that_is_kept_stops_the_server() {
    for (property, least) in [(Property::PermitsOfBuilds, 13), (Property::Recoverable, 12)] {
        let kept = run(Variant::Upstream(Release::Pr14920), "sane-one-permit", property);
        assert_eq!((kept.property.as_deref(), steps(&kept)), (Some(property.name()), Some(least)));
        let given = run(Variant::Upstream(Release::Aug2026), "sane-one-permit", property);
        assert_eq!((given.verdict, given.property), ("verified", None));
    }
}

/// R1 and R2 are told step by step, in the protocol's own words.
#[test]
fn the_lost_reply_is_told_in_the_protocols_words() {
    let variant = Variant::Upstream(Release::Aug2026);
    let found = run(variant, "sane-reply-lost", Property::ListedHasRecord);
    let told: Vec<_> = found.counterexample.into_iter().flatten().collect();
    let told: Vec<_> =
        told.iter().map(|step| format!("{} {}", step.line.actor, step.line.action)).collect();
    assert_eq!(
        told[3..],
        [
            "S0 begins to commit seq 0 at 2",
            "C0 compares and writes the record of seq 0: COMMITTING [0, 2)",
            "C0 writes the record of seq 1: IN_PROGRESS [2, ..)",
            "C0 writes the ideal state: seq 0 ONLINE, seq 1 CONSUMING (the reply is lost)",
            "C0 deletes the record of seq 1",
        ]
    );
}

/// C3: before #17885 a replica whose commit start was not answered has no way from COMMITTING to ONLINE but a download.
/// Without reingestion its rows are never served; with it they are read again.
#[test]
fn a_lost_start_loses_rows_before_17885() {
    let [before, after] = [Release::Pr14741, Release::Pr14920]
        .map(|release| run(Variant::Upstream(release), "sane-reply-lost", Property::Served));
    assert_eq!(before.property.as_deref(), Some("served"));
    assert_eq!((after.verdict, after.property), ("verified", None));
}

/// #18895 compares checksums on the way to ONLINE, so that what breaks there before it breaks by KEEP alone since.
#[test]
fn checksums_are_compared_on_the_way_to_online_alone() {
    let told = |release| {
        let found = run(Variant::Upstream(release), "sane-blocking-expiry", Property::Served);
        let told = found.counterexample.expect("it breaks in both");
        told.into_iter().map(|step| step.line.note).collect::<Vec<_>>().join("; ")
    };
    assert!(!told(Release::Pr14920).contains("KEEP"));
    assert!(told(Release::Aug2026).contains("S0 is answered KEEP"));
}

/// N7: an upload puts its object before it writes its record, and stops between.
#[test]
fn an_upload_that_stops_half_way_leaves_an_object_that_no_record_names() {
    let variant = Variant::Upstream(Release::Aug2026);
    let found = run(variant, "sane-rewrite-interrupted", Property::RightObject);
    assert_eq!(found.property.as_deref(), Some("right-object"));
    let told = found.counterexample.expect("a violation is told");
    let told: Vec<_> = told.iter().map(|step| (&*step.line.actor, &*step.line.action)).collect();
    let end = [
        ("minion", "begins to replace seq 0"),
        ("minion", "puts its copy onto the own object of seq 0"),
        ("minion", "crashes"),
    ];
    assert!(told.ends_with(&end), "{told:?}");
}

/// #14974: where the permit of a consumer that could not be opened is not given back, nobody on that server consumes
/// the partition any more.
#[test]
fn a_consumer_permit_that_is_kept_starves_the_partition_14974() {
    let kept = Variant::Without(vec![Guard::ConsumerPermitBack]);
    let kept = run(kept, "turns-broken", Property::Recoverable);
    assert_eq!((kept.property.as_deref(), steps(&kept)), (Some("recoverable"), Some(1)));
    let given = run(Variant::Verified, "turns-broken", Property::Recoverable);
    assert_eq!((given.verdict, given.property), ("verified", None));
}

/// The states of a scope, and the events of each that may happen.
fn explored<V: Guards<Guard>>(model: &Model<V>) -> Vec<(World, Vec<Action>)> {
    let mut found: HashSet<World> = model.init_states().into_iter().collect();
    let mut left: Vec<World> = found.iter().cloned().collect();
    let mut explored = Vec::new();
    while let Some(world) = left.pop() {
        let mut actions = Vec::new();
        model.actions(&world, &mut actions);
        let next = actions.iter().filter_map(|action| model.next_state(&world, *action));
        for next in next.collect::<Vec<_>>() {
            if found.insert(next.clone()) {
                left.push(next);
            }
        }
        explored.push((world, actions));
    }
    explored
}

fn verified_model(scope: &str) -> Model<Verified> {
    let scope = verdicts::scope(scope).expect("there is such a scope");
    let controller = Controller::new(scope.controller_limits());
    Model::new(controller, Server::new(scope.server_limits()), &scope)
}

fn release_model(release: Release, scope: &str) -> Model<Weakened<Guard>> {
    let scope = verdicts::scope(scope).expect("there is such a scope");
    let controller = release.controller().within(scope.controller_limits());
    Model::new(controller, release.server_within(scope.server_limits()), &scope)
}

/// C13: each subset of the replicas fails to open, and nobody is told.
#[test]
fn any_replicas_fail_to_open_while_the_segment_is_to_be_consumed() {
    let mut subsets = BTreeSet::new();
    for (world, _) in explored(&verified_model("opening-fails")) {
        let (id, store) = (segment(0), &world.store);
        let is_open = |stored: &Stored| stored.record.status == Status::InProgress;
        let listed = store.ideal.segments.get(&id).expect("it stays listed");
        let is_listed = listed.values().all(|is| *is == ReplicaState::Consuming);
        if store.records.get(&id).is_some_and(is_open) && is_listed {
            subsets.insert(store.view.servers(id, ReplicaState::Error).collect::<Vec<_>>());
        }
    }
    let all = BTreeSet::from([vec![], vec![S0], vec![S1], vec![S0, S1]]);
    assert_eq!(subsets, all);
}

/// C13: before #16904 nobody looked at what is still to be consumed, and it stays dead with all replicas in error.
#[test]
fn replicas_that_fail_to_open_are_dead_before_16904() {
    let [first, second] = ["S0 is ERROR with seq 0", "S1 is ERROR with seq 0"];
    // Before #14920 one is enough, as nothing in error is ever reset.
    let shortest = [(Release::Pr14741, vec![first]), (Release::Pr14920, vec![first, second])];
    for (release, shortest) in shortest {
        let variant = Variant::Upstream(release);
        let found = run(variant, "sane-opening-fails", Property::Recoverable);
        assert_eq!(found.property.as_deref(), Some("recoverable"));
        let told: Vec<_> = found.counterexample.into_iter().flatten().collect();
        let notes: Vec<_> = told.iter().map(|step| step.line.note.as_str()).collect();
        assert_eq!(notes, shortest);
    }
}

/// Periodic tasks are left out where they find nothing to do: begun all the same, they change nothing and ask for
/// nothing. What retention may delete is a choice of the scope.
#[test]
fn tasks_that_are_left_out_would_have_changed_nothing() {
    for scope in ["calm", "failed-twice", "blocking-rewrite", "opening-fails", "broken-interrupted"]
    {
        assert!(no_task_is_missed(&verified_model(scope)) > 100, "{scope}");
    }
    for release in Release::ALL {
        for scope in ["sane-failed-upload", "sane-blocking-rewrite", "sane-opening-fails"] {
            assert!(no_task_is_missed(&release_model(release, scope)) > 100, "{scope}");
        }
    }
}

/// How many of them there are.
fn no_task_is_missed<V: Guards<Guard>>(model: &Model<V>) -> usize {
    let tasks = [Task::Validate, Task::Repair, Task::Retry].map(|task| task(PARTITION));
    let mut left_out = 0;
    for (world, actions) in explored(model) {
        for (at, process) in world.controllers.iter().enumerate() {
            let idle =
                tasks.iter().filter(|task| process.role.leads() && !process.role.runs(**task));
            for (task, pick) in idle.flat_map(|task| [(*task, 0), (*task, 1)]) {
                let begins = |action: &&Action| matches!(**action, Action::Begin(by, of, _) if usize::from(by) == at && of == task);
                if world.broken.is_some() || actions.iter().any(|action| begins(&action)) {
                    continue;
                }
                let next =
                    model.apply(&world, Action::Begin(at as u8, task, pick), &mut Tale::untold());
                assert_eq!(next, None, "{task:?} from {pick} on");
                left_out += 1;
            }
        }
    }
    left_out
}

/// Rule 4 is upstream's: an orphan is listed. The verified validator comes to the same row by rule 1.
#[test]
fn upstream_lists_orphans() {
    let scope = verdicts::scope("sane-controller-crash").expect("there is such a scope");
    let variant = Variant::Upstream(Release::Pr14920);
    let run = Run::asked(variant, scope, Property::OneHead, Expected::Open);
    let found = run.execute(&Manner { coverage: true, ..Manner::default() });
    let row = found.coverage.iter().find(|(name, _)| name.contains("upstream: rule 4"));
    assert!(row.is_some_and(|(_, count)| *count > 0), "{row:?}");
}

#[test]
fn each_guard_is_removed_somewhere() {
    let mutants = verdicts::mutants();
    for guard in Guard::ALL {
        assert!(mutants.iter().any(|mutant| mutant.guards.contains(&guard)), "{}", guard.name());
    }
}

#[test]
fn names_of_scopes_are_their_own() {
    let mut names: Vec<_> = scopes::all().iter().map(|scope| scope.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Reads that are taken at once, and with the write that their answer leads to: without that, the same comes out.
/// With `SUREHOLD_ALL=1` also where that takes millions of states.
#[test]
fn verified_scopes_stay_verified_without_the_reduction() {
    let mut names = vec!["blocking-rewrite"];
    if std::env::var_os("SUREHOLD_ALL").is_some() {
        names.extend(["calm", "slow", "controller-crash", "toggle"]);
    }
    for name in names {
        let run = Run::verified(verdicts::scope(name).expect("there is such a scope"));
        let [reduced, whole] =
            [true, false].map(|reduce| run.execute(&Manner { reduce, ..Manner::default() }));
        assert_eq!((reduced.verdict, whole.verdict), ("verified", "verified"), "{name}");
        assert!(reduced.unique_states < whole.unique_states, "{name}");
        println!("{name}: {} states, {} without", reduced.unique_states, whole.unique_states);
    }
}

/// So do violations.
#[test]
fn violations_stay_violations_without_the_reduction() {
    let scopes = ["blocking-rewrite", "toggle", "reply-lost"];
    let mutants = verdicts::mutants();
    let broken = mutants.iter().filter(|mutant| mutant.run.expected != Expected::Verified);
    let small: Vec<_> = broken.filter(|m| scopes.contains(&m.run.scope.name)).collect();
    assert!(small.len() >= 3, "some mutants live in these scopes");
    for mutant in small {
        let whole = mutant.run.execute(&Manner { reduce: false, ..Manner::default() });
        assert_eq!(whole.verdict_text(), mutant.run.expected.text(), "{:?}", mutant.guards);
    }
}

/// A hole is confirmed where a property breaks, and refuted or a delay where it holds: as documented, in upstream's
/// newest variant.
#[test]
fn each_hole_is_shown_by_a_documented_run() {
    let documented = verdicts::upstream();
    for hole in HOLES {
        let Some((scope, property)) = hole.finding.shown() else { continue };
        let is_shown = |run: &&Run| {
            let is_newest = run.variant == Variant::Upstream(Release::Aug2026);
            is_newest && run.scope.name == scope && run.judged[0].name() == property
        };
        let run = documented.iter().find(is_shown);
        let run = run.unwrap_or_else(|| panic!("{}: no run in {scope}", hole.name));
        let breaks = matches!(run.expected, Expected::Violated(_));
        assert_eq!(breaks, matches!(hole.finding, Finding::Confirmed(..)), "{}", hole.name);
    }
}

/// R10 needs a replica whose transition has not been sent: a pending one keeps it from being reset.
#[test]
fn a_healthy_replica_is_reset_only_while_its_transition_is_not_sent() {
    let told = |scope| {
        let found = run(Variant::Upstream(Release::Aug2026), scope, Property::CopyKept);
        let told = found.counterexample.expect("it breaks in both");
        told.into_iter().map(|step| step.line.note).collect::<Vec<_>>().join("; ")
    };
    assert!(!told("sane-failed-upload").contains("S0 is ERROR"));
    assert!(told("sane-failed-prompt").contains("S0 is ERROR"));
}

const S0: ServerId = ServerId(0);
const S1: ServerId = ServerId(1);
const PARTITION: PartitionId = PartitionId(0);

fn segment(sequence: u32) -> SegmentId {
    SegmentId { partition: PARTITION, sequence, minute: 0 }
}

fn replicas(states: &[(ServerId, ReplicaState)]) -> Table<ServerId, ReplicaState> {
    let mut table = Table::new();
    for (server, state) in states {
        table.insert(*server, *state);
    }
    table
}

fn found(record: Record) -> Found {
    Found { record, version: Version(0), age_ms: 0 }
}

fn stored(sequence: u32) -> Record {
    let object = ObjectId { segment: segment(sequence), attempt: None };
    let start = u64::from(sequence);
    Record::starting_at(start, 2, 1).done(start + 1, Crc(1), Location::Object(object))
}

/// A controller, and what it waits for.
struct Leader<V: Guards<Guard>> {
    role: Controller<V>,
    state: controller::State,
    asked: EffectId,
}

impl<V: Guards<Guard>> Leader<V> {
    fn begin(role: Controller<V>, task: Task, pick: u32) -> Self {
        let table = TableConfig {
            mode: Mode::Pauseless,
            is_ordered: false,
            replicas: 2,
            row_limit: 1,
            may_refill: false,
            auto_reset: None,
        };
        let durable = controller::Durable { controller: ControllerId(0), incarnation: 0, table };
        let state = role.recover(durable);
        let mut leader = Self { role, state, asked: EffectId { incarnation: 0, number: 0 } };
        leader.take(ControllerEvent::Elected);
        let input = Input { now_ms: 0, minute: 0, pick };
        assert_eq!(
            leader.take(ControllerEvent::Continue { task, input }),
            [ControllerEffect::ReadIdeal]
        );
        leader
    }

    fn take(&mut self, event: ControllerEvent) -> Vec<ControllerEffect> {
        let step = self.role.step(&self.state, event).expect("it is taken");
        self.state = step.state;
        if let Some(issued) = step.effects.last() {
            self.asked = issued.id;
        }
        step.effects.into_iter().map(|issued| issued.effect).collect()
    }

    fn end(&mut self, outcome: ControllerOutcome) -> Vec<ControllerEffect> {
        let id = self.asked;
        self.take(ControllerEvent::Outcome { id, outcome })
    }
}

/// A repair run where S0 is dead, seq 0 is stored, and seq 1 is committing and in error on S1: what is done about seq 1.
fn repairs<V: Guards<Guard>>(role: Controller<V>, first: ReplicaState) -> Vec<ControllerEffect> {
    let mut leader = Leader::begin(role, Task::Repair(PARTITION), 1);
    let online = || replicas(&[(S0, ReplicaState::Online), (S1, ReplicaState::Online)]);
    let mut ideal = IdealState::default();
    let mut view = View::default();
    for (sequence, shown) in [(0, first), (1, ReplicaState::Error)] {
        ideal.segments.insert(segment(sequence), online());
        view.segments.insert(segment(sequence), replicas(&[(S1, shown)]));
    }
    leader.end(ControllerOutcome::Ideal(ideal, Version(0)));
    leader.end(ControllerOutcome::View(view));
    let committing =
        Record { status: Status::Committing, end: Some(2), ..Record::starting_at(1, 2, 1) };
    let records = vec![(segment(0), found(stored(0))), (segment(1), found(committing))];
    let mut done = Vec::new();
    let mut asked = leader.end(ControllerOutcome::Records(records));
    while let Some(effect) = asked.pop() {
        let outcome = match &effect {
            ControllerEffect::Reset(_, S0) => ControllerOutcome::Precondition,
            ControllerEffect::Reset(..) => ControllerOutcome::Applied,
            ControllerEffect::Call(Order { body: Tell::Supply(_), .. }) => {
                ControllerOutcome::Reported(Report::Supplies(false))
            }
            _ => ControllerOutcome::Reported(Report::Reingest(ReingestStatus::Accepted)),
        };
        done.push(effect);
        asked = leader.end(outcome);
    }
    done
}

/// R14: the reset of a dead server ends upstream's run, and later segments have no turn; a run that finds the first one
/// waiting goes on to them. The verified one leaves nobody out.
#[test]
fn a_dead_server_ends_a_repair_of_2026_but_not_every_one() {
    let reset = |server| ControllerEffect::Reset(segment(0), server);
    let order = Order { server: S1, segment: segment(1), body: Tell::Reingest };
    let again = ControllerEffect::Call(order);
    let upstream = || Release::Aug2026.controller();
    assert_eq!(repairs(upstream(), ReplicaState::Error), [reset(S1), reset(S0)]);
    assert_eq!(repairs(upstream(), ReplicaState::Offline), std::slice::from_ref(&again));
    let verified = Controller::new(controller::Limits::default());
    let done = repairs(verified, ReplicaState::Error);
    assert_eq!(done.first(), Some(&reset(S1)));
    assert_eq!(done.last(), Some(&again));
}

/// Retention takes segments out of the ideal state first, then deletes their records, and spares the last end.
#[test]
fn retention_deletes_what_is_old_but_for_the_last_end() {
    let role = Controller::new(controller::Limits::default());
    let mut leader = Leader::begin(role, Task::Retain(PARTITION), 3);
    let mut ideal = IdealState::default();
    for sequence in 0..3 {
        ideal.segments.insert(segment(sequence), replicas(&[(S0, ReplicaState::Online)]));
    }
    leader.end(ControllerOutcome::Ideal(ideal, Version(4)));
    let replaced = Record { status: Status::Uploaded, ..stored(2) };
    let records = vec![
        (segment(0), found(stored(0))),
        (segment(1), found(stored(1))),
        (segment(2), found(replaced)),
    ];
    let removed = vec![Change::Remove(segment(0)), Change::Remove(segment(1))];
    assert_eq!(
        leader.end(ControllerOutcome::Records(records)),
        [ControllerEffect::WriteIdeal(Version(4), removed)]
    );
    let deleted = |sequence| [ControllerEffect::DeleteRecord(segment(sequence))];
    assert_eq!(leader.end(ControllerOutcome::Applied), deleted(0));
    assert_eq!(leader.end(ControllerOutcome::Applied), deleted(1));
    assert_eq!(leader.end(ControllerOutcome::Applied), []);
}
