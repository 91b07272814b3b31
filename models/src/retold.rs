//! Walks through bytes, the same for every protocol: what the bytes say happens and is judged; and what shows something is
//! told again by single events, so that those that are not needed can be left out.

use crate::fuzz::{Finding, Walked};
use crate::shrink::{Story, fewest, single};

/// Where walks go, as the first bytes choose it.
pub(crate) trait Ground {
    /// How many bytes choose it; those that are missing are zero.
    const HEADER: usize;
    /// How many operations are read at most.
    const MAX_OPERATIONS: usize;
    /// A walk there.
    type Walk<'m>: Retold
    where
        Self: 'm;

    /// At the beginning.
    fn begin(&self, data: &[u8]) -> Self::Walk<'_>;
}

/// A walk under way.
pub(crate) trait Retold {
    /// An event.
    type Action: Copy;
    /// What is broken.
    type Breach;

    /// The operations happen, and each event of them is judged.
    fn operate(&mut self, operations: &[u8]) -> Result<(), Self::Breach>;

    /// What is asked at the end.
    fn end(&mut self) -> Result<(), Self::Breach>;

    /// What can happen now.
    fn enabled(&self) -> Vec<Self::Action>;

    /// An event happens, and is judged.
    fn take(&mut self, action: Self::Action) -> Result<(), Self::Breach>;

    /// What happened, each by a name that stays the same when something else is left out: not by an effect's number.
    fn named(&self) -> Vec<String>;

    /// That name of an event that can happen now.
    fn name_of(&self, action: &Self::Action) -> String;

    /// Tells the walk from its beginning.
    fn tell(&self, breach: Self::Breach) -> Finding;

    /// How far it came.
    fn walked(&self) -> Walked;

    /// Whether what was found may show at the end alone. What else is broken there shows among the events, as those of
    /// the ending are told as well.
    fn is_of_the_end(&self, finding: &Finding) -> bool {
        finding.is_stuck()
    }
}

/// Walks as the bytes say. A finding is told again by single events if so many tries are given.
pub(crate) fn walk<G: Ground>(
    ground_of: &impl Fn(&[u8]) -> G,
    data: &[u8],
    tries: Option<usize>,
) -> Result<Walked, Box<Finding>> {
    let ground = ground_of(data);
    let mut walk = ground.begin(data);
    let done = walk.operate(data.get(G::HEADER..).unwrap_or_default());
    let Err(breach) = done.and_then(|()| walk.end()) else { return Ok(walk.walked()) };
    let mut finding = Box::new(walk.tell(breach));
    if let Some(tries) = tries {
        let header = (0..G::HEADER).map(|at| data.get(at).copied().unwrap_or(0)).collect();
        let story = Story { header, events: walk.named() };
        finding.by_single_events = by_single_events(ground_of, story, &finding, tries);
    }
    Err(finding)
}

/// The same finding by single operations, with as few events as can be left. `None` if those do not show it, or are more
/// than are read.
fn by_single_events<G: Ground>(
    ground_of: &impl Fn(&[u8]) -> G,
    story: Story<String>,
    finding: &Finding,
    tries: usize,
) -> Option<Vec<u8>> {
    let retell = |story: &Story<String>| {
        let ground = ground_of(&story.header);
        shown(ground.begin(&story.header), &story.events, finding)
    };
    let story = fewest(story, tries, |story| retell(story).map(|(events, _)| events))?;
    let (events, operations) = retell(&story)?;
    (events.len() <= G::MAX_OPERATIONS).then(|| [story.header, operations].concat())
}

/// Which of some events happen until the same is found, and the operations that choose them.
fn shown<W: Retold>(
    mut walk: W,
    events: &[String],
    finding: &Finding,
) -> Option<(Vec<String>, Vec<u8>)> {
    let (mut happened, mut operations) = (Vec::new(), Vec::new());
    let mut breach = None;
    for event in events {
        let enabled = walk.enabled();
        let place = enabled.iter().position(|action| walk.name_of(action) == *event);
        let Some(place) = place else { continue };
        happened.push(event.clone());
        operations.extend(single(place));
        breach = walk.take(enabled[place]).err();
        if breach.is_some() {
            break;
        }
    }
    if breach.is_none() && walk.is_of_the_end(finding) {
        breach = walk.end().err();
    }
    let found = walk.tell(breach?);
    let is_same = found.property == finding.property && found.shows == finding.shows;
    is_same.then_some((happened, operations))
}
