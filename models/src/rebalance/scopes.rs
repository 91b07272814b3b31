//! The scopes of rebalance.

use surehold::rebalance::object::TierId;

use super::scope::{Budget, Operation, Place, Scope, TIER, Tier, Views, Witness};
use super::window::{Sought, Window};

const NONE: Budget = Budget {
    moves: 0,
    repeats: 0,
    echoes: 0,
    overdue: 0,
    losses: 0,
    failures: 0,
    unknowns: 0,
    flaps: 0,
    crashes: 0,
    disks: 0,
    takeovers: 0,
};

const HOLDS: Place = Place { serves: &[1], managed: true, capacity_bytes: 10, tier: TIER };
/// Both segments.
const HOLDS_TWO: Place = Place { serves: &[1, 2], ..HOLDS };
const EMPTY: Place = Place { serves: &[], ..HOLDS };
/// With room for one segment.
const SMALL: Place = Place { capacity_bytes: 1, ..EMPTY };
/// The second tier.
const COLD: TierId = TierId(1);
/// A server of it.
const COLD_EMPTY: Place = Place { tier: COLD, ..EMPTY };
const COLD_HOLDS: Place = Place { tier: COLD, ..HOLDS };

/// So many servers, of which the first hold the segment.
fn base(
    name: &'static str,
    question: &'static str,
    servers: usize,
    required: u16,
    held: usize,
) -> Scope {
    let servers = (0..servers).map(|at| if at < held { HOLDS } else { EMPTY }).collect();
    Scope {
        name,
        question,
        servers,
        required,
        segments: 1,
        elsewhere: &[],
        budget: NONE,
        returns: false,
        picks: 3,
        views: Views::Swift,
        slow_loads: false,
        slow_deletes: false,
        operator: &[],
        needless_loads: Some(0),
        recovers: true,
        witnesses: &[],
        losses: None,
        tier: Tier::Ci,
    }
}

/// All of them.
#[must_use]
pub fn all() -> Vec<Scope> {
    let mut all = ours();
    all.extend(ours_further());
    all.extend(druid());
    all
}

/// Scopes of the verified protocol.
fn ours() -> Vec<Scope> {
    vec![
        Scope {
            budget: Budget { moves: 2, repeats: 1, overdue: 1, losses: 1, failures: 1, ..NONE },
            witnesses: &[
                Witness::MoveDone,
                Witness::ViewAhead,
                Witness::ZombieDrop,
                Witness::FailedThenLoaded,
            ],
            ..base(
                "move-one",
                "One replica moves twice while the network and the disk misbehave.",
                3,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 2, repeats: 1, overdue: 1, losses: 1, failures: 1, ..NONE },
            witnesses: &[Witness::MoveDone, Witness::ViewAhead],
            ..base("move-two", "One of two replicas moves.", 3, 2, 2)
        },
        Scope {
            budget: Budget { moves: 2, losses: 1, failures: 1, ..NONE },
            witnesses: &[Witness::MoveDone, Witness::FailedThenLoaded],
            ..base(
                "calm-one",
                "One replica moves twice; nothing is late, repeated or forgotten.",
                3,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 2, losses: 1, failures: 1, ..NONE },
            witnesses: &[Witness::MoveDone, Witness::ViewAhead],
            ..base(
                "calm-two",
                "One of two replicas moves; nothing is late, repeated or forgotten.",
                3,
                2,
                2,
            )
        },
        Scope {
            budget: Budget { moves: 2, overdue: 1, ..NONE },
            witnesses: &[Witness::SurplusDropped],
            ..base("surplus", "There are two copies too many.", 3, 1, 3)
        },
        Scope {
            budget: Budget { moves: 1, failures: 1, overdue: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::ZombieLoad],
            ..base("deficit", "There is a copy too few.", 3, 2, 1)
        },
        Scope {
            budget: Budget { moves: 1, failures: 1, overdue: 1, losses: 1, ..NONE },
            needless_loads: Some(3),
            witnesses: &[Witness::FailedThenLoaded, Witness::ZombieLoad],
            ..base("cold-start", "No copy is there yet, two are required.", 3, 2, 0)
        },
        Scope {
            budget: Budget { moves: 1, flaps: 1, overdue: 1, repeats: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::DropAcrossFlap],
            ..base("flap", "Discovery loses a server that is well.", 3, 1, 1)
        },
        Scope {
            budget: Budget { moves: 1, flaps: 1, crashes: 1, disks: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::DropAcrossFlap, Witness::RequestAcrossRestart],
            ..base("flap-crash", "A flap and a crash, two replicas.", 3, 2, 2)
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, overdue: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm, Witness::TwoLeaders],
            ..base("takeover-two", "Another leader, two replicas.", 3, 2, 2)
        },
        Scope {
            budget: Budget { moves: 2, crashes: 2, disks: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::RequestAcrossRestart],
            ..base(
                "crash-twice",
                "Servers start again under the same name, with their data or without.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 1, crashes: 1, disks: 1, repeats: 1, ..NONE },
            views: Views::InFlight,
            needless_loads: Some(2),
            witnesses: &[Witness::RequestAcrossRestart],
            ..base("crash-lag", "A crash while views are on their way.", 2, 1, 1)
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, crashes: 1, ..NONE },
            needless_loads: Some(4),
            witnesses: &[Witness::DropOfOldTerm, Witness::RequestAcrossRestart],
            ..base(
                "takeover-crash",
                "Another leader, and a server that forgets what it was told of it.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, crashes: 1, disks: 1, ..NONE },
            needless_loads: None,
            witnesses: &[Witness::DropOfOldTerm, Witness::Replaced],
            ..base("takeover-disk", "Another leader, and a server that loses its disk.", 2, 1, 1)
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, ..NONE },
            views: Views::InFlight,
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm],
            ..base("takeover-lag", "Another leader while views are on their way.", 2, 1, 1)
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, overdue: 1, repeats: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm, Witness::ZombieDrop],
            ..base(
                "takeover-repeat",
                "Another leader, and requests that come late or twice.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, flaps: 1, ..NONE },
            needless_loads: Some(4),
            witnesses: &[Witness::DropOfOldTerm, Witness::DropAcrossFlap],
            ..base("takeover-flap", "Another leader, and discovery loses a server.", 2, 1, 1)
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, ..NONE },
            slow_loads: true,
            slow_deletes: true,
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm],
            ..base("takeover-slow", "Another leader while loads and deletions take time.", 2, 1, 1)
        },
        Scope {
            budget: Budget { moves: 3, failures: 1, ..NONE },
            slow_loads: true,
            slow_deletes: true,
            witnesses: &[Witness::LoadedWhileDeleting],
            ..base(
                "slow-disk",
                "A segment comes back to a server that is still deleting it.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 2, unknowns: 2, crashes: 1, ..NONE },
            slow_loads: true,
            slow_deletes: true,
            needless_loads: Some(6),
            witnesses: &[Witness::LeftOver, Witness::DoneInPart],
            ..base(
                "disk-unknown",
                "Nobody learns whether a fetch or a deletion was done, and a crash leaves files.",
                2,
                1,
                1,
            )
        },
        Scope {
            operator: &[Operation::Require(0)],
            budget: Budget { moves: 1, flaps: 1, overdue: 1, ..NONE },
            needless_loads: Some(2),
            ..base(
                "unused",
                "A segment is required no more: its copies go, wherever they turn up.",
                2,
                1,
                1,
            )
        },
        Scope {
            operator: &[Operation::Require(0)],
            budget: Budget { crashes: 1, takeovers: 1, ..NONE },
            needless_loads: Some(2),
            tier: Tier::Nightly,
            ..base(
                "unused-takeover",
                "So, and the new leader has never seen a server that has one.",
                2,
                2,
                2,
            )
        },
        Scope {
            operator: &[Operation::Decommission(0)],
            budget: Budget { moves: 1, overdue: 1, ..NONE },
            witnesses: &[Witness::Drained, Witness::RuleDuringMove],
            ..base("decommission", "A server is to be emptied.", 3, 1, 1)
        },
        Scope {
            operator: &[Operation::Decommission(0)],
            budget: Budget { moves: 1, overdue: 1, failures: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::Drained],
            ..base(
                "decommission-two",
                "A server with one of two replicas is to be emptied.",
                3,
                2,
                2,
            )
        },
        Scope {
            operator: &[Operation::Decommission(0)],
            budget: Budget { failures: 1, ..NONE },
            needless_loads: Some(2),
            segments: 2,
            servers: vec![HOLDS_TWO, SMALL, SMALL],
            witnesses: &[Witness::Drained],
            ..base(
                "little-room",
                "Two segments have to go where there is room for one each.",
                3,
                1,
                1,
            )
        },
        Scope {
            operator: &[Operation::Decommission(0), Operation::Decommission(1)],
            budget: Budget { overdue: 1, failures: 1, ..NONE },
            ..base(
                "decommission-all",
                "Every server is to be emptied: one has to keep the copy.",
                2,
                1,
                1,
            )
        },
        Scope {
            operator: &[Operation::Require(1)],
            budget: Budget { moves: 1, overdue: 1, ..NONE },
            witnesses: &[Witness::RuleDuringMove],
            ..base("rule-change", "Fewer replicas are required while one moves.", 3, 2, 2)
        },
        Scope {
            servers: vec![HOLDS, EMPTY, Place { managed: false, ..HOLDS }],
            budget: Budget { moves: 1, ..NONE },
            witnesses: &[Witness::MoveDone],
            ..base("clone", "A clone serves the segment too.", 3, 1, 1)
        },
    ]
}

/// Further scopes of the verified protocol: views that lag, answers that are repeated, leaders that come back,
/// tiers.
fn ours_further() -> Vec<Scope> {
    vec![
        Scope {
            budget: Budget { moves: 1, flaps: 1, ..NONE },
            views: Views::InFlight,
            needless_loads: Some(2),
            witnesses: &[Witness::DropAcrossFlap, Witness::ViewBehind],
            ..base("flap-lag", "Discovery loses a server while views are on their way.", 2, 1, 1)
        },
        Scope {
            budget: Budget { takeovers: 1, overdue: 1, ..NONE },
            views: Views::InFlight,
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm, Witness::ZombieDrop],
            tier: Tier::Nightly,
            ..base(
                "takeover-lag-late",
                "Another leader while views are on their way and a drop is late.",
                2,
                1,
                2,
            )
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, overdue: 1, failures: 1, ..NONE },
            views: Views::InFlight,
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm, Witness::ZombieDrop],
            tier: Tier::Nightly,
            ..base(
                "takeover-lag-fails",
                "Another leader in the middle of a move, views on their way, an answer that is late, a load that fails.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 1, overdue: 1, repeats: 1, ..NONE },
            views: Views::InFlight,
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm, Witness::ZombieDrop],
            tier: Tier::Deep,
            ..base(
                "takeover-lag-repeat",
                "So, and a request comes twice in place of the failed load.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 2, takeovers: 1, ..NONE },
            slow_loads: true,
            slow_deletes: true,
            needless_loads: Some(2),
            witnesses: &[Witness::DropOfOldTerm, Witness::DropDuringLoad],
            ..base(
                "takeover-overtaken",
                "An old leader's drop meets a load that takes time.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 2, overdue: 1, ..NONE },
            returns: true,
            needless_loads: Some(4),
            witnesses: &[Witness::DropOfOldTerm, Witness::LeadsAgain, Witness::ZombieDrop],
            tier: Tier::Nightly,
            ..base(
                "re-election-late",
                "Another leader, then the first again, and an answer is late.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 2, echoes: 1, overdue: 1, losses: 1, ..NONE },
            witnesses: &[Witness::MoveDone, Witness::OldAnswer],
            ..base("echo", "Answers come twice.", 3, 1, 1)
        },
        Scope {
            budget: Budget { moves: 2, echoes: 1, repeats: 1, ..NONE },
            views: Views::InFlight,
            witnesses: &[Witness::MoveDone, Witness::OldAnswer, Witness::ViewAhead],
            ..base(
                "echo-lag",
                "Answers and views come twice, while views are on their way.",
                2,
                1,
                1,
            )
        },
        Scope {
            budget: Budget { moves: 1, takeovers: 2, ..NONE },
            returns: true,
            needless_loads: Some(4),
            witnesses: &[Witness::DropOfOldTerm, Witness::LeadsAgain],
            ..base("re-election", "Another leader, and then the first again.", 2, 1, 1)
        },
        Scope {
            operator: &[Operation::Require(2)],
            budget: Budget { moves: 1, overdue: 1, failures: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::RuleDuringMove],
            ..base("rule-rise", "More replicas are required while one moves.", 3, 1, 1)
        },
        Scope {
            servers: vec![HOLDS, EMPTY, COLD_HOLDS, COLD_EMPTY],
            elsewhere: &[(COLD, 1)],
            budget: Budget { moves: 2, overdue: 1, repeats: 1, ..NONE },
            witnesses: &[Witness::MoveDone],
            ..base("two-tiers", "A copy in each of two tiers, and one of them moves.", 4, 1, 1)
        },
        Scope {
            servers: vec![HOLDS, HOLDS, COLD_EMPTY],
            elsewhere: &[(COLD, 2)],
            budget: Budget { failures: 1, overdue: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::TiersServed, Witness::FailedThenLoaded],
            ..base(
                "tier-shift",
                "The copies are to be in another tier, which has fewer servers than it needs.",
                3,
                0,
                2,
            )
        },
        Scope {
            servers: vec![HOLDS, HOLDS, EMPTY],
            elsewhere: &[(COLD, 1)],
            budget: Budget { moves: 1, overdue: 1, ..NONE },
            witnesses: &[Witness::TiersServed],
            ..base(
                "tier-without-servers",
                "One tier has a copy too many, another no server.",
                3,
                1,
                2,
            )
        },
        Scope {
            servers: vec![HOLDS_TWO, EMPTY, COLD_HOLDS, COLD_EMPTY],
            elsewhere: &[(COLD, 1)],
            segments: 2,
            budget: Budget { moves: 1, ..NONE },
            picks: 1,
            witnesses: &[Witness::MoveDone],
            ..base(
                "two-tiers-two-segments",
                "Two segments in two tiers, one copy is missing.",
                4,
                1,
                1,
            )
        },
        Scope {
            servers: vec![HOLDS_TWO, EMPTY, COLD_HOLDS, COLD_EMPTY],
            elsewhere: &[(COLD, 1)],
            segments: 2,
            budget: Budget { moves: 1, overdue: 1, ..NONE },
            picks: 1,
            // One in place of the late load. It is decided once more when a request of the move overtakes it: it
            // is refused by its number then, and nothing comes of it. Each further move may add one.
            needless_loads: Some(2),
            witnesses: &[Witness::MoveDone],
            tier: Tier::Nightly,
            ..base(
                "two-tiers-two-segments-late",
                "Two segments in two tiers, a move, a late answer.",
                4,
                1,
                1,
            )
        },
        Scope {
            servers: vec![HOLDS, HOLDS, COLD_EMPTY],
            elsewhere: &[(COLD, 1)],
            budget: Budget { flaps: 1, failures: 1, ..NONE },
            needless_loads: Some(2),
            witnesses: &[Witness::TiersServed],
            ..base(
                "tier-flap",
                "Discovery loses the only server of a tier, for which a copy of another tier stands in.",
                3,
                1,
                2,
            )
        },
        Scope {
            servers: vec![HOLDS, COLD_EMPTY],
            elsewhere: &[(COLD, 1)],
            budget: Budget { takeovers: 1, crashes: 1, ..NONE },
            needless_loads: Some(4),
            witnesses: &[Witness::TiersServed, Witness::TwoLeaders],
            ..base(
                "tier-takeover-crash",
                "A new leader never saw the only server of a tier, for which the last copy stands in.",
                2,
                0,
                1,
            )
        },
    ]
}

/// Scopes of upstream's variants.
fn druid() -> Vec<Scope> {
    let views = [(Views::Swift, ""), (Views::Fresh, "-fresh")];
    let mut all = Vec::new();
    for (servers, required, copies) in [(2, 1, "one"), (3, 2, "two")] {
        for (views, suffix) in views {
            let name = leak(format!("druid-{copies}{suffix}"));
            let question = "A move, and nothing else that need not happen.";
            let scope = base(name, question, servers, required, usize::from(required));
            let budget = Budget { moves: 1, ..NONE };
            all.push(Scope { budget, views, ..upstream(scope) });
            // Of one replica there is no third copy that could be taken for a surplus.
            let windows = Window::ALL.into_iter();
            for window in windows.filter(|w| required > 1 || *w != Window::ViewAhead) {
                let name = leak(format!("window-{}-{copies}{suffix}", window.number()));
                let scope = base(name, window.says(), servers, required, usize::from(required));
                let (budget, losses) = (budget_of(window), Some(Sought::Through(window)));
                all.push(Scope { budget, views, losses, ..upstream(scope) });
            }
            // One for each set of faults that the windows above have.
            for (kind, window) in UNNAMED {
                let name = leak(format!("unnamed-{kind}-{copies}{suffix}"));
                let question = "A loss that no window of the table accounts for.";
                let scope = base(name, question, servers, required, usize::from(required));
                let (budget, losses) = (budget_of(window), Some(Sought::Unnamed));
                all.push(Scope { budget, views, losses, ..upstream(scope) });
            }
        }
    }
    all
}

/// Faults in which a loss is looked for that has no name, each by a window that needs them.
const UNNAMED: [(&str, Window); 5] = [
    ("calm", Window::Acked),
    ("takeover", Window::OtherLeader),
    ("overdue", Window::Overdue),
    ("flap", Window::Forgotten),
    ("repeat", Window::Repeated),
];

fn upstream(scope: Scope) -> Scope {
    Scope { tier: Tier::Upstream, needless_loads: None, recovers: false, ..scope }
}

/// The faults without which a window is not there.
fn budget_of(window: Window) -> Budget {
    let moves = Budget { moves: 1, ..NONE };
    match window {
        Window::Acked
        | Window::Half
        | Window::Between
        | Window::Acknowledged
        | Window::OldView
        | Window::ViewAhead => moves,
        Window::OtherLeader => Budget { takeovers: 1, ..moves },
        Window::Overdue | Window::Expired => Budget { overdue: 1, ..moves },
        Window::Forgotten => Budget { flaps: 1, ..moves },
        Window::Repeated => Budget { repeats: 1, ..moves },
    }
}

/// Scopes are made once and live as long as the process: their names are static.
fn leak(name: String) -> &'static str {
    Box::leak(name.into_boxed_str())
}
