use std::collections::{HashMap, HashSet, VecDeque};
use surehold::Verified;
use surehold_models::compaction::{fleet::*, model::*, scopes};
fn main() {
    let which = std::env::args().nth(1).unwrap();
    let s = scopes::all().into_iter().find(|s| s.name == which).unwrap();
    let m = Model::new(&Ours(Verified), &s);
    let mut seen = HashSet::new();
    let mut q = VecDeque::new();
    q.push_back(m.start());
    seen.insert(m.start());
    let max: usize = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(1_000_000);
    while let Some(w) = q.pop_front() {
        if seen.len() > max { break }
        let mut a = Vec::new();
        m.enabled(&w, &mut a);
        for x in a {
            if let Some(n) = m.apply(&w, x, &mut surehold_models::compaction::tale::Tale::untold()) {
                if seen.insert(n.clone()) { q.push_back(n); }
            }
        }
    }
    println!("states {}", seen.len());
    let n = s.compactors as usize + s.cleaners as usize;
    for p in 0..n {
        let mut roles: HashMap<String, usize> = HashMap::new();
        let mut kinds: HashMap<String, HashSet<String>> = HashMap::new();
        for w in &seen {
            let full = format!("{:?}", w.processes[p].role);
            let kind = { let mut k = String::new(); 
                let f = &full; for pat in ["search: ", "phase: ", "pass: "] { for (i,_) in f.match_indices(pat) { k.push_str(&f[i+pat.len()..].chars().take_while(|c| c.is_alphanumeric()).collect::<String>()); k.push(' ');} } k };
            *roles.entry(kind.clone()).or_default() += 1;
            kinds.entry(kind).or_default().insert(full);
        }
        println!("process {p}: distinct {}", kinds.values().map(|k| k.len()).sum::<usize>());
        let mut v: Vec<_> = roles.into_iter().collect(); v.sort_by_key(|x| std::cmp::Reverse(x.1));
        for (k, c) in v.iter().take(14) { println!("   {c:>8} distinct {:>5} {k}", kinds[k].len()); }
    }
    let stores: HashSet<_> = seen.iter().map(|w| w.store.clone()).collect();
    println!("stores {}", stores.len());
    let b: HashSet<_> = stores.iter().map(|s| format!("{:?}", s.blocks)).collect();
    let pl: HashSet<_> = stores.iter().map(|s| format!("{:?}", s.plans)).collect();
    let mk: HashSet<_> = stores.iter().map(|s| format!("{:?}", s.markers)).collect();
    println!("blocks {} plans {} markers {}", b.len(), pl.len(), mk.len());
    let r = seen.iter().map(|w| w.plans_made).fold([0;6], |mut a, p| {a[p as usize]+=1; a});
    println!("plans made {r:?}");
    for p in pl.iter().take(12) { println!("{p}"); }
}
