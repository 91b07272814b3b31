//! A role that is small enough to see what a driver does with it: it keeps numbers, tells each of them to the world
//! once it is kept, and waits when asked to.

use surehold::machine::Stepped;
use surehold::{Driven, EffectId, Issued, Machine, Step};

#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(crate) struct Kept {
    pub(crate) name: u32,
    pub(crate) life: u32,
    pub(crate) numbers: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) kept: Kept,
    pub(crate) out: Vec<u16>,
    pub(crate) heard: Vec<(u16, Outcome)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Keep a number and tell it.
    Keep(u32),
    /// Ask for a wait.
    Pause,
    /// Say something that nobody answers.
    Say(u32),
    Outcome(EffectId, Outcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    Told,
    Elapsed,
    Unknown,
    /// Fits nothing.
    Odd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Tell(u32),
    Wait,
    Say(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Twice(u32),
    OtherLife,
    NotOut,
    Unfit,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Toy;

impl Machine for Toy {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = ();
    type Refusal = Refusal;
    type Durable = Kept;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut state = state.clone();
        let life = state.kept.life;
        let number = (1..).find(|n| !state.out.contains(n)).unwrap_or_default();
        let effect = match event {
            Event::Keep(n) if state.kept.numbers.contains(&n) => return Err(Refusal::Twice(n)),
            Event::Keep(n) => {
                state.kept.numbers.push(n);
                Some(Effect::Tell(n))
            }
            Event::Pause => Some(Effect::Wait),
            Event::Say(n) => Some(Effect::Say(n)),
            Event::Outcome(id, _) if id.incarnation != life => return Err(Refusal::OtherLife),
            Event::Outcome(id, _) if !state.out.contains(&id.number) => {
                return Err(Refusal::NotOut);
            }
            Event::Outcome(_, Outcome::Odd) => return Err(Refusal::Unfit),
            Event::Outcome(id, outcome) => {
                state.out.retain(|n| *n != id.number);
                state.heard.push((id.number, outcome));
                None
            }
        };
        let issue = |effect| {
            let awaits = Self::awaits(&effect);
            let number = if awaits { number } else { 0 };
            Issued { id: EffectId { incarnation: life, number }, effect }
        };
        let effects: Vec<_> = effect.into_iter().map(issue).collect();
        state.out.extend(effects.iter().map(|issued| issued.id.number).filter(|n| *n > 0));
        Ok(Step { state, effects, decided_by: Vec::new() })
    }

    fn recover(&self, kept: Kept) -> State {
        State { kept, out: Vec::new(), heard: Vec::new() }
    }
}

impl Driven for Toy {
    type Input = ();

    fn durable(&self, state: &State) -> Kept {
        state.kept.clone()
    }

    fn name(kept: &Kept) -> u64 {
        u64::from(kept.name)
    }

    fn incarnation(kept: &Kept) -> u32 {
        kept.life
    }

    fn reborn(kept: Kept, life: u32) -> Kept {
        Kept { life, ..kept }
    }

    fn awaits(effect: &Effect) -> bool {
        !matches!(effect, Effect::Say(_))
    }

    fn settles(event: &Event) -> Option<EffectId> {
        if let Event::Outcome(id, _) = event { Some(*id) } else { None }
    }

    fn unknown(issued: &Issued<Effect>, (): ()) -> Option<Event> {
        match issued.effect {
            Effect::Tell(_) => Some(Event::Outcome(issued.id, Outcome::Unknown)),
            Effect::Wait | Effect::Say(_) => None,
        }
    }
}

pub(crate) fn newborn(name: u32, least_life: u32) -> impl FnOnce(Option<Kept>) -> Kept {
    move |kept| {
        let numbers = kept.map_or_else(Vec::new, |kept| kept.numbers);
        Kept { name, life: least_life, numbers }
    }
}

/// Goes on from what is kept, whatever its name.
pub(crate) fn go_on(kept: Option<Kept>) -> Kept {
    kept.unwrap_or(Kept { name: 1, life: 0, numbers: Vec::new() })
}
