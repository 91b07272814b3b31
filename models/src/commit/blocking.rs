//! Blocking commits: the protocol before pauseless consumption (`pinot-blocking`), and scopes of that mode for it.
//!
//! Nothing is committed before it is stored, or at least before a server has built it, and the next segment begins only
//! then. So what a pauseless commit may lose is not committed yet here, and stays in the stream (dossier 0, 7, I4).

use surehold::commit::completion::Mode;
#[cfg(feature = "checker")]
use surehold::commit::invariant::Property;
#[cfg(feature = "checker")]
use surehold::commit::upstream::Release;

#[cfg(feature = "checker")]
use super::runs::{Expected, Run, Variant};
use super::scope::{Scope, Tier};

/// Scopes of upstream's variants in blocking mode: those of ours of which the name is given here, with sane clocks.
pub(super) fn scopes(ours: &[Scope]) -> Vec<Scope> {
    let blocking = ours.iter().filter_map(|scope| {
        let name = name(scope.name)?;
        let mode = Mode::Blocking;
        Some(Scope { name, mode, skew: false, tier: Tier::Upstream, ..scope.clone() })
    });
    blocking.collect()
}

fn name(ours: &str) -> Option<&'static str> {
    let blocking = match ours {
        "slow" => "sane-blocking-slow",
        "server-crash" => "sane-blocking-crash",
        "controller-crash" => "sane-blocking-controller",
        "reply-lost" => "sane-blocking-lost",
        "failed-upload" => "sane-blocking-upload",
        "crash-expiry" => "sane-blocking-expiry",
        _ => return None,
    };
    Some(blocking)
}

/// What breaks where, and what does not.
#[cfg(feature = "checker")]
pub(super) fn upstream(scope: impl Fn(&str) -> Scope) -> Vec<Run> {
    use Property::{OneEnd, Recoverable, RightObject, Served};
    let broken = [
        // A download that takes too long ends in an error that nobody resets (C13).
        ("sane-blocking-slow", Recoverable),
        // What a minion has replaced is not known to be committed (C12), and moved over (R6).
        ("sane-blocking-rewrite", Served),
        ("sane-blocking-rewrite", RightObject),
        // Two leaders move objects onto one name (R6).
        ("sane-blocking-leader", RightObject),
        // Rows that the stream has no more are passed over in silence (R9).
        ("sane-blocking-expiry", OneEnd),
        ("sane-blocking-expiry", Served),
    ];
    // What a pauseless commit alone loses (`pinot-14741`), and what the clean-up of 2026 breaks.
    let whole = [
        ("sane-blocking-slow", Served),
        ("sane-blocking-crash", Served),
        ("sane-blocking-crash", Recoverable),
        ("sane-blocking-controller", Recoverable),
        ("sane-blocking-lost", Recoverable),
        ("sane-blocking-upload", Served),
        ("sane-blocking-upload", Recoverable),
        ("sane-blocking-leader", Recoverable),
    ];
    let variant = || Variant::Upstream(Release::Blocking);
    let run =
        |name, property, expected| Run::asked(variant(), scope(name), property, expected).alike();
    let broken =
        broken.into_iter().map(|(name, breaks)| run(name, breaks, Expected::Violated(breaks)));
    let whole = whole.into_iter().map(|(name, holds)| run(name, holds, Expected::Verified));
    broken.chain(whole).collect()
}
