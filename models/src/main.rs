use surehold::Verified;
use surehold::compaction::upstream::Release;
use surehold_models::compaction::{fleet::*, model::*, scopes, tale::Tale};
use surehold_models::explore::*;
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn run<F: Fleet>(f: &F, scope: &surehold_models::compaction::scope::Scope, label: &str, props: Option<Vec<surehold::compaction::invariant::Property>>) {
    let mut m = Model::new(f, scope);
    if let Some(p)=props { m.judged=p; }
    m.reduce = std::env::var("NORED").is_err();
    let secs: u64 = std::env::var("SECS").ok().and_then(|s|s.parse().ok()).unwrap_or(60);
    let r = explore(&m, &Options { time_limit: Some(std::time::Duration::from_secs(secs)), ..Options::default() });
    println!("{label} {}: {} unique {} gen {} depth {} {:.1}s {:.0}/s cut {} goals {} bytes {} front {}", scope.name, r.verdict, r.unique, r.generated, r.depth, r.seconds, r.generated_per_second(), r.cut_states, r.goal_states, r.visited_bytes, r.peak_frontier);
    if let Some(c) = r.counterexample {
        let mut n = 0;
        for (s, a) in c.states.iter().zip(&c.actions) {
            let mut t = Tale::told();
            m.apply(s, *a, &mut t);
            n += 1;
            for (i, l) in t.into_lines().iter().enumerate() { println!("{:>3} {:<12} {:<60} {} {:?}", if i==0 {n.to_string()} else {String::new()}, l.actor, l.action, l.note, l.decided_by); }
        }
        println!("broken {:?}", c.states.last().unwrap().broken);
    }
}
fn main() {
    let which = std::env::args().nth(1).unwrap();
    for s in scopes::all() {
        if !s.name.starts_with(&which) { continue }
        match std::env::args().nth(2) {
            None => run(&Ours(Verified), &s, "verified", None),
            Some(v) => { let r = Release::ALL.into_iter().find(|r| r.name()==v).unwrap();
              let p = std::env::args().nth(3).map(|p| surehold::compaction::invariant::Property::ALL.into_iter().filter(|q| q.name()==p).collect());
              run(&Cortex(r), &s, &v, p) }
        }
    }
}
