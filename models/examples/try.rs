//! try SCOPE VARIANT|-guard,guard PROPERTY|all SECS
use surehold::compaction::{Guard, invariant::Property, upstream::Release};
use surehold_models::compaction::{runs::*, scopes};
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut scope = scopes::all().into_iter().find(|s| s.name == a[1]).expect("scope");
    if std::env::var("PLANS").is_ok() {
        scope.max_plans = std::env::var("PLANS").unwrap().parse().unwrap();
    }
    let variant = if a[2] == "verified" {
        Variant::Verified
    } else if let Some(g) = a[2].strip_prefix('-') {
        Variant::Without(g.split(',').map(|n| Guard::from_name(n).expect(n)).collect())
    } else {
        Variant::Upstream(Release::ALL.into_iter().find(|r| r.name() == a[2]).expect("release"))
    };
    let all = scope.properties();
    let judged: Vec<Property> = if a[3] == "all" {
        all
    } else {
        Property::ALL.into_iter().filter(|p| a[3].split(',').any(|n| n == p.name())).collect()
    };
    let run = Run { variant, scope, judged, expected: Expected::Open };
    let mut manner = Manner { options: limited_to(a[4].parse().unwrap()), ..Manner::default() };
    manner.reduce = std::env::var("NORED").is_err();
    if std::env::var("SR").is_ok() {
        manner.engine = Engine::Stateright;
    }
    let f = execute(&run, &manner);
    println!(
        "{} {:?} {}: {} {} unique {} depth {} {:.1}s cut {}",
        f.variant,
        f.guard_removed,
        f.scope,
        f.verdict_text(),
        f.reason.clone().unwrap_or_default(),
        f.unique_states,
        f.depth,
        f.seconds,
        f.cut_states
    );
    if std::env::var("Q").is_err() {
        let mut last = 0;
        for s in f.counterexample.iter().flatten() {
            let n = if s.step == last { String::new() } else { s.step.to_string() };
            last = s.step;
            println!(
                "{n:>3} {:<12} {:<55} {} {}",
                s.line.actor,
                s.line.action,
                s.line.note,
                s.line.decided_by.join(",")
            );
        }
    } else if let Some(c) = &f.counterexample {
        println!("   {} steps", c.last().map_or(0, |s| s.step));
    }
    if let Some(e) = f.ending {
        println!("=> {e}");
    }
}
