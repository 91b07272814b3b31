//! The scopes of commit.

use surehold::commit::completion::Mode;
use surehold::commit::object::{ReplicaState, SegmentId};
use surehold::commit::server::ParallelSegmentConsumptionPolicy as Policy;

use super::model::Action;
use super::scope::{Budget, Goal, PARTITION, Scope, Tier};

const NONE: Budget = Budget {
    server_crashes: 0,
    deaths: 0,
    controller_crashes: 0,
    leaders: 0,
    losses: 0,
    misses: 0,
    failures: 0,
    openings: 0,
    expiries: 0,
    delays: 0,
    rewrites: 0,
    minion_crashes: 0,
    reads: 0,
    adrift: 0,
    toggles: 0,
    breaks: 0,
    pauses: 0,
    retentions: 0,
};

/// S0 is to build, and S1 has given up catching up with one row of two.
const PART_KEPT: &[&str] = &[
    "S1 consumes seq 0 to 1",
    "S0 consumes seq 0 to 2",
    "S0 reports seq 0 for COMMIT",
    "S0 starts to commit seq 0",
    "C0 commits seq 0 for COMMIT_CONTINUE",
    "S1 goes ONLINE with seq 0",
    "S1 gives up seq 0",
    "S1 gives up seq 0",
];

fn base(name: &'static str, question: &'static str, budget: Budget) -> Scope {
    Scope {
        name,
        question,
        mode: Mode::Pauseless,
        partitions: 1,
        servers: 2,
        segments: 2,
        done: 0,
        rows: 2,
        stops_early: false,
        is_ordered: false,
        skew: true,
        two_names: false,
        is_new: false,
        reads_apart: false,
        starts_apart: false,
        jobs: None,
        buildable: None,
        permits: None,
        consumption: None,
        is_prompt: false,
        asks_rounds: false,
        strays: false,
        repairs_offline: false,
        resets: false,
        begun: &[],
        in_step_3: false,
        after: &[],
        budget,
        goal: Some(Goal::Settled),
        tier: Tier::Ci,
    }
}

/// Another controller leads; the only server crashes, starts again, consumes the first partition's segment again, and
/// cannot go on.
const TAKEN_OUT: [Action; 5] = [
    Action::Lead,
    Action::Crash(0, false),
    Action::Restart(0),
    Action::Transition(0, FIRST, ReplicaState::Consuming),
    Action::Break(0, FIRST),
];

const FIRST: SegmentId = SegmentId { partition: PARTITION, sequence: 0, minute: 0 };

/// With one row a segment: all replicas stop where they should.
fn single(scope: Scope) -> Scope {
    Scope { rows: 1, ..scope }
}

/// Not with every check.
fn nightly(scope: Scope) -> Scope {
    Scope { tier: Tier::Nightly, ..scope }
}

/// With replicas that may stop before they have all rows, each by its own clock.
fn early(scope: Scope) -> Scope {
    Scope { stops_early: true, ..scope }
}

/// With one server, which builds two segments with one permit.
fn one_permit(name: &'static str, question: &'static str, budget: Budget) -> Scope {
    Scope { segments: 3, servers: 1, permits: Some(1), ..single(base(name, question, budget)) }
}

/// With replicas that take turns to consume.
fn in_turn(policy: Policy, scope: Scope) -> Scope {
    Scope { consumption: Some(policy), ..scope }
}

/// All of them.
#[must_use]
pub fn all() -> Vec<Scope> {
    let ours = ours();
    let sane = ours.iter().filter_map(|scope| {
        let name = sane_name(scope.name)?;
        Some(Scope { name, skew: false, tier: sane_tier(scope.name), ..scope.clone() })
    });
    let sane: Vec<_> = sane.collect();
    let blocking = super::blocking::scopes(&ours);
    ours.into_iter().chain(sane).chain(blocking).collect()
}

/// With sane clocks the verified protocol is run where guards are removed: there it has to hold with all of them.
fn sane_tier(name: &str) -> Tier {
    if matches!(name, "slow" | "batch") { Tier::Ci } else { Tier::Upstream }
}

/// The name of a scope of ours with sane clocks, in which upstream's variants are run.
fn sane_name(name: &str) -> Option<&'static str> {
    let sane = match name {
        "slow" => "sane-slow",
        "server-crash" => "sane-server-crash",
        "server-controller-crash" => "sane-server-controller-crash",
        "controller-crash" => "sane-controller-crash",
        "leader-change" => "sane-leader-change",
        "reply-lost" => "sane-reply-lost",
        "failed-upload" => "sane-failed-upload",
        "crash-expiry" => "sane-crash-expiry",
        "slow-lost" => "sane-slow-lost",
        "toggle" => "sane-toggle",
        "rewrite" => "sane-rewrite",
        "blocking-rewrite" => "sane-blocking-rewrite",
        "blocking-leader" => "sane-blocking-leader",
        "dead-server" => "sane-dead-server",
        "blocking-dead" => "sane-blocking-dead",
        "failed-prompt" => "sane-failed-prompt",
        "ordered" => "sane-ordered",
        "never-builds" => "sane-never-builds",
        "retention" => "sane-retention",
        "crash-slow" => "sane-crash-slow",
        "batch" => "sane-batch",
        "one-permit" => "sane-one-permit",
        "turns-broken" => "sane-turns-broken",
        "rewrite-interrupted" => "sane-rewrite-interrupted",
        "write-late" => "sane-write-late",
        "blocking-read-fails" => "sane-blocking-read-fails",
        "broken-reset" => "sane-broken-reset",
        "opening-fails" => "sane-opening-fails",
        _ => return None,
    };
    Some(sane)
}

/// Scopes of the verified protocol.
fn ours() -> Vec<Scope> {
    vec![
        early(base(
            "calm",
            "Nothing fails: a segment is committed and the next one begins.",
            Budget { ..NONE },
        )),
        base(
            "slow",
            "Something that is alive takes longer than is waited for.",
            Budget { delays: 1, ..NONE },
        ),
        single(base(
            "server-crash",
            "A server crashes at any point of a commit (dossier 7).",
            Budget { server_crashes: 1, ..NONE },
        )),
        nightly(base(
            "server-crash-two",
            "So with two rows, of which a replica may have one.",
            Budget { server_crashes: 1, ..NONE },
        )),
        base(
            "controller-crash",
            "The leader crashes between any two operations (dossier 7).",
            Budget { controller_crashes: 1, ..NONE },
        ),
        base(
            "leader-change",
            "Another controller leads in the middle of a commit, and the old one goes on (R5, R6).",
            Budget { leaders: 1, ..NONE },
        ),
        base(
            "reply-lost",
            "A reply is lost after its effect (R2, C3).",
            Budget { losses: 1, ..NONE },
        ),
        base("failed-upload", "A build or an upload fails (C5).", Budget { failures: 1, ..NONE }),
        single(base(
            "failed-twice",
            "Two builds or uploads fail, be it of one replica (C5, C13, R10).",
            Budget { failures: 2, ..NONE },
        )),
        Scope {
            mode: Mode::Blocking,
            servers: 1,
            ..single(base(
                "blocking-failed-build",
                "Every replica's build or upload fails, and no end is fixed yet (C5).",
                Budget { failures: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            ..early(base(
                "back-elsewhere",
                "Every replica that won comes back at another offset, and no end is fixed yet.",
                Budget { server_crashes: 1, ..NONE },
            ))
        },
        single(base(
            "failed-expiry",
            "A build fails, and the stream forgets the range before it is read again (R9).",
            Budget { failures: 1, expiries: 1, ..NONE },
        )),
        Scope {
            skew: false,
            ..single(base(
                "expiry",
                "All memory of a range is gone, and the stream forgets it; clocks agree (R9).",
                Budget { server_crashes: 1, expiries: 1, ..NONE },
            ))
        },
        nightly(single(base(
            "crash-expiry",
            "All memory of a range is gone, and the stream forgets it (R9).",
            Budget { server_crashes: 1, expiries: 1, ..NONE },
        ))),
        nightly(single(base(
            "crash-expiry-fails",
            "So, and builds or uploads fail, twice.",
            Budget { server_crashes: 1, expiries: 1, failures: 2, ..NONE },
        ))),
        Scope {
            goal: None,
            tier: Tier::Nightly,
            ..single(base(
                "dead-expiry",
                "A server stays away, and the stream forgets what it may still have: nothing is recorded as lost (R9).",
                Budget { server_crashes: 1, deaths: 1, expiries: 1, ..NONE },
            ))
        },
        Scope {
            tier: Tier::Deep,
            ..early(base(
                "crash-expiry-two",
                "So with two rows, and replicas that stop where they like (R11); nobody has exhausted it.",
                Budget { server_crashes: 1, expiries: 1, ..NONE },
            ))
        },
        Scope {
            skew: false,
            ..nightly(early(base(
                "expiry-two",
                "All memory of a range of two rows is gone, replicas stop where they like, and clocks agree (R9, R11).",
                Budget { server_crashes: 1, expiries: 1, ..NONE },
            )))
        },
        Scope {
            begun: PART_KEPT,
            asks_rounds: true,
            ..base(
                "part-kept",
                "One replica has the first row of a range, the other loses all, and the stream forgets that row (R9).",
                Budget { server_crashes: 1, expiries: 1, ..NONE },
            )
        },
        early(base(
            "slow-lost",
            "A delayed commit and a lost reply (R4).",
            Budget { delays: 1, losses: 1, ..NONE },
        )),
        nightly(early(base(
            "crash-slow",
            "A delayed commit and a crash (R4).",
            Budget { delays: 1, server_crashes: 1, ..NONE },
        ))),
        Scope {
            mode: Mode::Blocking,
            ..base(
                "toggle",
                "The operator switches the mode in the middle of a commit (R8).",
                Budget { controller_crashes: 1, toggles: 1, ..NONE },
            )
        },
        base(
            "rewrite",
            "A minion replaces a segment (C1, C18, R7).",
            Budget { rewrites: 1, delays: 1, ..NONE },
        ),
        Scope {
            mode: Mode::Blocking,
            ..base(
                "blocking-rewrite",
                "A minion replaces a segment whose commit is half done (C12).",
                Budget { rewrites: 1, controller_crashes: 1, ..NONE },
            )
        },
        Scope {
            mode: Mode::Blocking,
            ..base(
                "blocking-leader",
                "An old leader goes on in blocking mode, while a minion replaces the segment (R6, C8).",
                Budget { rewrites: 1, leaders: 1, ..NONE },
            )
        },
        Scope {
            two_names: true,
            ..base(
                "two-names",
                "The next segment gets two names (C8, N5).",
                Budget { controller_crashes: 1, ..NONE },
            )
        },
        Scope {
            is_prompt: true,
            ..base(
                "failed-prompt",
                "A build fails, and Helix is never late with a transition.",
                Budget { failures: 1, ..NONE },
            )
        },
        early(base(
            "failed-early",
            "Builds fail, and a replica has read past the end (R11, C20).",
            Budget { failures: 2, ..NONE },
        )),
        Scope {
            skew: false,
            ..early(base(
                "crash-early",
                "The committer crashes, the other replica has read past the end, and clocks agree (R11, C20).",
                Budget { server_crashes: 1, ..NONE },
            ))
        },
        Scope {
            is_prompt: true,
            ..early(base(
                "slow-lost-prompt",
                "A delay and a lost reply, and Helix is never late with a transition (R10 needs that it is).",
                Budget { delays: 1, losses: 1, ..NONE },
            ))
        },
        single(base(
            "server-controller-crash",
            "A server crashes and so does the leader: a copy may be built before the ideal state knows (N4).",
            Budget { server_crashes: 1, controller_crashes: 1, ..NONE },
        )),
        Scope {
            is_ordered: true,
            goal: None,
            ..single(base(
                "ordered",
                "All memory of a range of an ordered table is gone: it is not read again after later rows (C15).",
                Budget { server_crashes: 1, ..NONE },
            ))
        },
        Scope {
            buildable: Some(1),
            goal: None,
            ..base(
                "never-builds",
                "A segment is too large to be built, by anybody, ever (R13): nothing false is said of it.",
                Budget { ..NONE },
            )
        },
        Scope {
            mode: Mode::Blocking,
            ..single(base(
                "blocking-dead",
                "In blocking mode a server with the only copy never returns, or the other one cannot build (N1, C5).",
                Budget { server_crashes: 1, deaths: 1, failures: 1, ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            ..base(
                "late-rewrite",
                "A minion replaces a segment before a late replica has reported (C1).",
                Budget { rewrites: 1, ..NONE },
            )
        },
        Scope {
            mode: Mode::Blocking,
            segments: 3,
            ..single(base(
                "three",
                "Whoever creates a segment's record is so slow that the segment is done meanwhile (N3, C8).",
                Budget { ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            segments: 3,
            done: 1,
            ..single(base(
                "retention",
                "Retention runs while consumption is paused, and the last segment was replaced by a minion (R12).",
                Budget { rewrites: 1, pauses: 1, retentions: 1, ..NONE },
            ))
        },
        Scope {
            strays: true,
            ..base(
                "leader-unheard",
                "Another controller leads, and servers have not heard of it.",
                Budget { leaders: 1, ..NONE },
            )
        },
        base(
            "broken-consumers",
            "Consumers break: a replica is taken out, or all are and the segment is begun again (C13).",
            Budget { breaks: 2, ..NONE },
        ),
        Scope {
            repairs_offline: true,
            ..base(
                "replica-repaired",
                "Consumers break, and the validator has their replicas consume again (dossier 9.1, rule 2).",
                Budget { breaks: 2, ..NONE },
            )
        },
        Scope {
            resets: true,
            ..early(base(
                "auto-reset",
                "What a segment has not when it stops is passed over on purpose, and its leader crashes (#16492).",
                Budget { controller_crashes: 1, ..NONE },
            ))
        },
        base(
            "write-fails",
            "A write of a controller has no effect, at any point of a commit.",
            Budget { misses: 1, ..NONE },
        ),
        Scope {
            mode: Mode::Blocking,
            ..single(base(
                "blocking-interrupted",
                "So in blocking mode; or a reply is lost, or the leader crashes.",
                Budget { losses: 1, misses: 1, controller_crashes: 1, ..NONE },
            ))
        },
        Scope {
            reads_apart: true,
            ..single(base(
                "reads-apart",
                "Somebody writes between a controller's read and its compare-and-set, as two lead (C8, R6).",
                Budget { leaders: 1, ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            reads_apart: true,
            ..single(base(
                "blocking-reads-apart",
                "So in blocking mode (C8).",
                Budget { leaders: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            segments: 3,
            jobs: Some(1),
            ..single(base(
                "reread-refused",
                "A server is asked to read two segments again and has room for one.",
                Budget { server_crashes: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            starts_apart: true,
            ..single(base(
                "reread-just-started",
                "A server is asked to read a segment again when it has just started.",
                Budget { server_crashes: 2, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            ..single(base(
                "reread-interrupted",
                "The completion of a segment that was read again is interrupted.",
                Budget { server_crashes: 1, controller_crashes: 1, losses: 1, misses: 1, ..NONE },
            ))
        },
        Scope {
            is_new: true,
            two_names: true,
            ..single(base(
                "new-partition",
                "The stream has a partition that nothing is known of, and two validators begin it (rule 5).",
                Budget { leaders: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            ..single(base(
                "switch-failed-upload",
                "The operator switches the mode, and an upload fails: the replica thinks in one mode, the leader in the other (R8, C5).",
                Budget { toggles: 1, failures: 1, ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            servers: 1,
            segments: 3,
            done: 1,
            ..single(base(
                "retention-interrupted",
                "Retention is interrupted.",
                Budget { retentions: 1, controller_crashes: 1, losses: 1, misses: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            ..single(base(
                "broken-interrupted",
                "A consumer breaks, and what the leader does about it is interrupted (C13).",
                Budget { breaks: 1, controller_crashes: 1, losses: 1, misses: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            reads_apart: true,
            ..single(base(
                "broken-paused",
                "A consumer breaks while the operator pauses consumption, and each reads before it writes.",
                Budget { breaks: 1, pauses: 1, ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            servers: 1,
            is_prompt: true,
            ..single(base(
                "broken-reset",
                "A consumer breaks, and its replica is reset and consumes again before its message is carried out (N6).",
                Budget { breaks: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            ..single(base(
                "broken-leader",
                "A consumer breaks, and another leader commits what the old one takes out (N6).",
                Budget { breaks: 1, leaders: 1, ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            servers: 1,
            reads_apart: true,
            ..single(base(
                "blocking-broken-leader",
                "So in blocking mode; each reads before it writes, or crashes between.",
                Budget { breaks: 1, leaders: 1, controller_crashes: 1, ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            repairs_offline: true,
            ..single(base(
                "broken-dead",
                "A consumer breaks while the other server stays away, and the validator has it consume again.",
                Budget { breaks: 1, server_crashes: 1, deaths: 1, ..NONE },
            ))
        },
        Scope {
            two_names: true,
            ..single(base(
                "two-names-leader",
                "Two leaders create the next segment in two minutes (C8).",
                Budget { leaders: 1, ..NONE },
            ))
        },
        Scope {
            partitions: 2,
            servers: 1,
            ..single(base(
                "batch",
                "Two partitions come to step 3 at once, and one of them is repaired or too old by then (R3).",
                Budget { delays: 1, ..NONE },
            ))
        },
        Scope {
            partitions: 2,
            servers: 1,
            skew: false,
            in_step_3: true,
            after: &TAKEN_OUT,
            ..single(base(
                "batch-refused",
                "Two commits are in step 3 under an old leader, the new one takes the only replica of one of them out, and clocks agree (R3).",
                Budget { leaders: 1, server_crashes: 1, breaks: 1, ..NONE },
            ))
        },
        Scope {
            partitions: 2,
            servers: 1,
            skew: false,
            in_step_3: true,
            tier: Tier::Deep,
            ..single(base(
                "batch-any",
                "So with a change of leader, a crash and a consumer that breaks whenever they like.",
                Budget { leaders: 1, server_crashes: 1, breaks: 1, ..NONE },
            ))
        },
        Scope {
            servers: 1,
            segments: 3,
            jobs: Some(1),
            tier: Tier::Deep,
            ..single(base(
                "reread-refused-leader",
                "So while another controller comes to lead.",
                Budget { server_crashes: 1, leaders: 1, ..NONE },
            ))
        },
        single(base(
            "opening-fails",
            "Replicas fail to open, any of them or all, before anybody is told (C13).",
            Budget { openings: 2, ..NONE },
        )),
        one_permit(
            "one-permit",
            "A segment cannot be built at first, and the next one is built by the same server (C6).",
            Budget { failures: 1, ..NONE },
        ),
        Scope {
            skew: false,
            ..one_permit(
                "one-permit-crash",
                "A segment is read again and built, the next one is built by the same server, and clocks agree (C6).",
                Budget { server_crashes: 1, ..NONE },
            )
        },
        in_turn(
            Policy::AllowDuringBuildOnly,
            Scope {
                is_ordered: true,
                ..base(
                    "turns-build",
                    "Replicas of a partition take turns to consume, and give way as they build; a build fails.",
                    Budget { failures: 1, ..NONE },
                )
            },
        ),
        in_turn(
            Policy::AllowAlways,
            early(base(
                "turns-early",
                "So, or as they bring a copy; one that is behind and has given way does not catch up.",
                Budget { delays: 1, ..NONE },
            )),
        ),
        in_turn(
            Policy::AllowDuringDownloadOnly,
            Scope {
                servers: 1,
                segments: 3,
                ..single(base(
                    "turns-download",
                    "So as they bring a copy alone; the server crashes.",
                    Budget { server_crashes: 1, ..NONE },
                ))
            },
        ),
        in_turn(
            Policy::DisallowAlways,
            Scope {
                mode: Mode::Blocking,
                ..single(base(
                    "turns-broken",
                    "They give way when they are offloaded, and a consumer breaks (#14974).",
                    Budget { breaks: 1, ..NONE },
                ))
            },
        ),
        Scope {
            mode: Mode::Blocking,
            servers: 1,
            ..single(base(
                "rewrite-interrupted",
                "A minion crashes between its object and its record, or the leader as it commits.",
                Budget { rewrites: 1, minion_crashes: 1, controller_crashes: 1, ..NONE },
            ))
        },
        nightly(single(base(
            "read-fails",
            "A read of a controller or a server fails, at any point of a commit.",
            Budget { reads: 1, ..NONE },
        ))),
        Scope {
            servers: 1,
            ..single(base(
                "read-fails-crash",
                "A read of a controller or a server fails, while a segment is committed or read again after a crash.",
                Budget { reads: 1, server_crashes: 1, ..NONE },
            ))
        },
        Scope {
            mode: Mode::Blocking,
            ..single(base(
                "blocking-read-fails",
                "So in blocking mode, and a consumer breaks (N8).",
                Budget { reads: 1, breaks: 1, ..NONE },
            ))
        },
        single(base(
            "write-late",
            "A controller's write lands after it was given up, and a minion may have replaced the segment by then.",
            Budget { adrift: 1, rewrites: 1, ..NONE },
        )),
        single(base(
            "write-late-leader",
            "So, or another controller leads by then.",
            Budget { adrift: 1, leaders: 1, ..NONE },
        )),
        Scope {
            mode: Mode::Blocking,
            ..single(base(
                "blocking-write-late",
                "So in blocking mode; or its writer has crashed.",
                Budget { adrift: 1, controller_crashes: 1, ..NONE },
            ))
        },
        nightly(single(base(
            "dead-server",
            "A server with the only copy never returns (N1).",
            Budget { server_crashes: 1, deaths: 1, failures: 1, ..NONE },
        ))),
    ]
}
