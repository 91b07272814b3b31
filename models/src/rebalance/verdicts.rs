//! The documented verdicts: what a plain check runs, and what must come out.

use surehold::rebalance::Guard;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::upstream::Fix;

use super::runs::{Expected, Rebalance, Run, Variant};
use super::scope::{Scope, Tier, Views};
use super::scopes;
use super::window::{Sought, Window};
use crate::runs;

/// A hole, the guards that close it, and the run that shows what happens without them.
pub type Mutant = runs::Mutant<Rebalance>;

/// The scope of this name.
pub fn scope(name: &str) -> Option<Scope> {
    scopes::all().into_iter().find(|scope| scope.name == name)
}

/// The verified protocol in every scope of a tier.
pub fn verified(tier: Tier) -> Vec<Run> {
    let scopes = scopes::all().into_iter().filter(|scope| scope.tier == tier);
    scopes.map(Run::verified).collect()
}

/// Upstream's variants: first whether anything is lost where nothing fails, then window by window.
pub fn upstream() -> Vec<Run> {
    let whole = scopes::all().into_iter().filter(|scope| scope.tier == Tier::Upstream);
    let whole: Vec<_> = whole.filter(|scope| scope.losses.is_none()).collect();
    let mut all = Vec::new();
    for fix in Fix::ALL {
        for scope in &whole {
            all.push(run(fix, scope.clone(), Property::LastCopyKept));
            if scope.required > 1 {
                all.push(run(fix, scope.clone(), Property::RequiredKept));
            }
        }
    }
    all.extend(window_runs().into_iter().filter(|run| !is_too_large(run)));
    all
}

/// What is too large for every check. It is run now and then, one run after the other, and its verdicts are
/// committed beside those of every check.
pub fn beyond() -> Vec<Run> {
    window_runs().into_iter().filter(|run| is_too_large(run) && may_be_exhausted(run)).collect()
}

/// Of the search for losses without a name: where nothing else happens, and of one replica from the lock on.
/// What else there is has not been tried.
fn may_be_exhausted(run: &Run) -> bool {
    let scope = &run.scope;
    let late = matches!(run.variant, Variant::Upstream(fix) if fix >= Fix::Lock);
    let is_one = scope.required == 1 && !scope.name.contains("takeover");
    scope.losses != Some(Sought::Unnamed) || scope.name.contains("calm") || (late && is_one)
}

/// Every variant through every window, and through none that has a name.
fn window_runs() -> Vec<Run> {
    let scopes = scopes::all().into_iter().filter(|scope| scope.tier == Tier::Upstream);
    let windows = scopes.filter(|scope| scope.losses.is_some());
    let all =
        windows.flat_map(|scope| Fix::ALL.map(|fix| run(fix, scope.clone(), asked_of(&scope))));
    all.filter(may_expire).collect()
}

/// Only #19889 retains anything that could expire.
fn may_expire(run: &Run) -> bool {
    run.scope.losses != Some(Sought::Through(Window::Expired))
        || run.variant == Variant::Upstream(Fix::Retain)
}

/// Of the search for losses without a name, what is left out of every check: more than 100,000 states.
fn is_large_search(fix: Fix, scope: &Scope) -> bool {
    let fresh = scope.views == Views::Fresh;
    let of = |kind: &str| scope.name.contains(kind);
    let small = match fix {
        Fix::None | Fix::Delta => fresh && of("calm-one"),
        Fix::Lock => fresh || !of("flap"),
        Fix::Atomic => fresh || of("calm-one"),
        Fix::Retain => true,
    };
    !small || of("takeover") || (scope.required > 1 && !of("calm"))
}

/// Whether a window cannot be exhausted with every check: before #18769 two replicas on three servers have
/// hundreds of thousands of states and more. Such a window is run beyond.
fn is_too_large(run: &Run) -> bool {
    if let (Variant::Upstream(fix), Some(Sought::Unnamed)) = (&run.variant, run.scope.losses) {
        return is_large_search(*fix, &run.scope);
    }
    let early = matches!(run.variant, Variant::Upstream(fix) if fix <= Fix::Delta);
    early && run.scope.required > 1 && run.expected == Expected::Verified
}

/// What is asked of a window: of one replica whether it is the last, of two whether enough are left.
fn asked_of(scope: &Scope) -> Property {
    if scope.required > 1 { Property::RequiredKept } else { Property::LastCopyKept }
}

fn run(fix: Fix, scope: Scope, property: Property) -> Run {
    let open = match scope.losses {
        Some(Sought::Through(window)) => {
            is_open(fix, window, scope.required, scope.views == Views::Fresh)
        }
        // A callback that runs late drops the source though the target is given up meanwhile.
        Some(Sought::Unnamed) => fix <= Fix::Delta,
        None => loses(fix, &scope, property),
    };
    let expected = if open { Expected::Violated(property) } else { Expected::Verified };
    Run::asked(Variant::Upstream(fix), scope, property, expected).alike()
}

/// Whether a move loses copies though nothing fails. Last copies are safe from #19889 on, and behind the lock
/// as long as views are fresh; of two replicas one goes in every variant (D2).
fn loses(fix: Fix, scope: &Scope, property: Property) -> bool {
    let fresh = scope.views == Views::Fresh;
    match (fix, property) {
        (_, Property::RequiredKept) => true,
        (Fix::Retain, _) => false,
        (Fix::Lock, _) => !fresh,
        (Fix::None | Fix::Delta | Fix::Atomic, _) => true,
    }
}

/// The table of windows, as the checker found it.
fn is_open(fix: Fix, window: Window, required: u16, fresh: bool) -> bool {
    match window {
        Window::Acked => fix == Fix::None,
        Window::Half | Window::Between => fix <= Fix::Delta,
        Window::Acknowledged => fix <= Fix::Delta || fix == Fix::Atomic,
        Window::OldView => !fresh && fix != Fix::Retain,
        Window::Expired => fix == Fix::Retain,
        Window::OtherLeader | Window::Overdue | Window::Forgotten => true,
        Window::Repeated => !fresh || required > 1 || !matches!(fix, Fix::Lock | Fix::Retain),
        Window::ViewAhead => required > 1,
    }
}

/// The verified protocol without some guards: each removal must be noticed.
pub fn mutants() -> Vec<Mutant> {
    use Guard::{
        AskBeforeMoveDrop, AskNow, DeletedFirst, DropAtOnce, DropEndsLoad, EnoughOthers,
        FencedAgain, FencedView, LatchPerDrop, LateStays, LifeNamed, LifeOrders, ManagedOnly,
        MoveCountsOnce, NewerWins, NumberFence, OneOperation, OwnNumber, ReplyTeaches, RoomFirst,
        StepDown, TermFence, TermSurvives,
    };
    use Property::{
        DropJustified, FullDelay, LastCopyKept, NoGhost, NoNeedlessLoad, NoOverfill, NoPingPong,
        OldTermMoot, OneAction, RequiredKept,
    };
    type Row = (&'static [&'static str], &'static [Guard], &'static str, Property);
    let noticed: [Row; 36] = [
        (&["window 0", "#18764"], &[EnoughOthers], "deficit", RequiredKept),
        (&["window 0", "#18764"], &[EnoughOthers, MoveCountsOnce], "move-two", RequiredKept),
        (&["window 1a", "window 1b"], &[DropAtOnce], "move-one", LastCopyKept),
        (&["window 1a", "window 1b"], &[DropAtOnce], "move-two", RequiredKept),
        (&["window 2"], &[AskNow], "flap-crash", RequiredKept),
        (&["window 2"], &[AskNow, MoveCountsOnce], "move-one", LastCopyKept),
        (&["window 2"], &[AskNow, MoveCountsOnce], "move-two", RequiredKept),
        (&["window 3", "D8"], &[ReplyTeaches], "move-one", LastCopyKept),
        (&["window 3", "D8"], &[ReplyTeaches], "move-two", RequiredKept),
        (&["window 3", "D1"], &[NewerWins], "move-one", LastCopyKept),
        (&["window 4", "D3"], &[FencedView], "takeover-repeat", LastCopyKept),
        (&["window 4", "D5"], &[TermFence], "takeover-repeat", LastCopyKept),
        (&["window 4", "D3"], &[TermSurvives], "takeover-crash", LastCopyKept),
        (&["window 5"], &[LateStays], "move-one", LastCopyKept),
        (&["window 5"], &[LateStays], "move-two", RequiredKept),
        (&["window 6"], &[FencedAgain], "flap", LastCopyKept),
        (&["window 6"], &[NumberFence], "flap", LastCopyKept),
        (&["window 6"], &[LifeNamed], "crash-twice", LastCopyKept),
        (&["window 6", "D7", "churn only"], &[LifeOrders], "crash-twice", NoNeedlessLoad),
        (&["window 7"], &[NumberFence], "move-one", LastCopyKept),
        (&["window 7"], &[NumberFence], "move-two", RequiredKept),
        (&["window 7", "#14616"], &[OwnNumber], "move-one", LastCopyKept),
        (&["D2"], &[AskBeforeMoveDrop], "deficit", RequiredKept),
        (&["D2"], &[AskBeforeMoveDrop, MoveCountsOnce], "move-two", RequiredKept),
        (&["D2", "L3", "churn only"], &[MoveCountsOnce], "decommission-two", NoPingPong),
        (&["D5", "churn only"], &[StepDown], "takeover-two", NoNeedlessLoad),
        (&["P4"], &[OneOperation], "deficit", OneAction),
        (&["P6"], &[RoomFirst], "little-room", NoOverfill),
        (&["D6"], &[TermFence, DropEndsLoad], "takeover-slow", NoGhost),
        (&["P9"], &[TermFence], "takeover-repeat", OldTermMoot),
        (&["D9"], &[ManagedOnly], "clone", DropJustified),
        (&["D9"], &[ManagedOnly], "clone", RequiredKept),
        (&["#18291"], &[LatchPerDrop], "slow-disk", FullDelay),
        (&["#2118"], &[DeletedFirst], "slow-disk", NoGhost),
        (&["P3"], &[EnoughOthers], "crash-twice", DropJustified),
        (&["window 4", "D3"], &[FencedView], "takeover-two", RequiredKept),
    ];
    let unnoticed: [Row; 1] = [(&["D6"], &[DropEndsLoad], "takeover-slow", NoGhost)];
    let mutant = |(holes, guards, name, property): Row, expected| {
        let variant = Variant::Without(guards.to_vec());
        let run = Run::asked(variant, known(name), property, expected).alike();
        Mutant { holes, guards, run }
    };
    let noticed = noticed.into_iter().map(|row| mutant(row, Expected::Violated(row.3)));
    let unnoticed = unnoticed.into_iter().map(|row| mutant(row, Expected::Verified));
    noticed.chain(unnoticed).chain(stock()).collect()
}

/// With historicals that refuse nothing, as stock ones: what still holds, asked of everything, and what does
/// not.
fn stock() -> Vec<Mutant> {
    const FENCES: &[Guard] =
        &[Guard::NumberFence, Guard::TermFence, Guard::TermSurvives, Guard::LifeNamed];
    let run = |scope: &str| Run {
        variant: Variant::Without(FENCES.to_vec()),
        ..Run::verified(known(scope))
    };
    let holds = |scope: &'static str| Mutant {
        holes: &["stock historicals"],
        guards: FENCES,
        run: run(scope),
    };
    ["calm-one", "calm-two", "clone"].map(holds).into()
}

/// A scope that this file names.
fn known(name: &str) -> Scope {
    scope(name).unwrap_or_else(|| panic!("the table of verdicts names no scope `{name}`"))
}
