//! Whatever comes, in whatever order: a completion machine answers or refuses, never panics, and what it remembers is
//! sound.

use surehold::collections::Table;
use surehold::commit::completion::{
    Answer, Ask, Busy, Commit, Completion, Found, Gathering, Kind, Limits, Message, Mode, Outcome,
    Phase, Reason, Record, Refusal, Rule, Rules, Said, State, Turn, Upload,
};
use surehold::commit::object::{ServerId, Status};

const WALKS: u64 = 4_000;
const STEPS: usize = 60;

/// Numbers that look random: the same in every run.
struct Source(u64);

impl Source {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Offsets and servers of a segment, and some that belong to none.
const OFFSETS: &[u64] = &[0, 9, 10, 10, 10, 11, u64::MAX];
const SERVERS: &[u16] = &[1, 1, 2, 2, 3, 3, 77, u16::MAX];
const JUMPS_MS: &[u64] = &[0, 0, 0, 1, 1_000, 3_300, 6_601, 120_000, 2_000_000];

fn kind(source: &mut Source) -> Kind {
    match source.below(10) {
        0 => Kind::Consumed(None),
        1 | 2 => Kind::Consumed(Some(source.of(&Reason::ALL))),
        3..=5 => Kind::CommitStart,
        6 => Kind::CommitEnd,
        7 => Kind::Extend { extra_s: source.of(&[0, 20, 1_800, u32::MAX]) },
        8 => Kind::Stopped,
        _ => Kind::BuildFailed { rows: source.of(&[0, 1, u64::MAX]) },
    }
}

fn outcome(source: &mut Source) -> Outcome {
    let status = [Status::InProgress, Status::Committing, Status::Done, Status::Uploaded];
    match source.below(6) {
        0 | 1 => Outcome::Done,
        2 => Outcome::Failed,
        _ => {
            let replicas = source.of(&[0, 1, 2, 3, 3, 3, u16::MAX]);
            let end = source.of(&[None, Some(10), Some(10), Some(u64::MAX)]);
            let status = source.of(&[status[0], status[0], status[1], status[2], status[3]]);
            let record = Some(Record { status, end, replicas }).filter(|_| source.below(8) > 0);
            let mode = source.of(&[Mode::Blocking, Mode::Pauseless]);
            Outcome::Found(Found { record, mode, longest_ms: source.of(&[0, 200_000, u64::MAX]) })
        }
    }
}

/// What holds of everything that a machine remembers.
fn assert_sound(state: &State, limits: Limits) {
    let phase = match state {
        State::Absent => return,
        State::Idle(phase) => Some(phase),
        State::Busy(Busy { phase, .. }) => phase.as_ref(),
    };
    match phase {
        Some(Phase::PartialConsuming(gathering)) => {
            assert!(gathering.reports.is_empty(), "{gathering:?}");
            assert!(!gathering.excluded.is_empty(), "{gathering:?}");
        }
        Some(Phase::Holding(gathering)) => {
            assert!(gathering.initial_ms <= limits.ceiling_ms, "{gathering:?}");
        }
        Some(Phase::Decided(commit) | Phase::Notified(commit)) => {
            let ceiling_ms = commit.started_ms.saturating_add(limits.ceiling_ms);
            assert!(commit.limit_ms <= ceiling_ms, "{commit:?}");
        }
        Some(Phase::Uploading(upload)) => {
            assert_eq!(upload.ceiling_ms.is_some(), upload.mode == Mode::Pauseless, "{upload:?}");
        }
        Some(Phase::Resumed { .. } | Phase::Committed { .. } | Phase::Aborted) | None => {}
    }
}

/// What holds of an answer, after all that was remembered and asked.
fn assert_answered(before: &State, message: Message, answer: Answer, after: &State) {
    match answer {
        Answer::Commit { offset, .. } => {
            let State::Idle(Phase::Notified(commit)) = after else {
                panic!("{answer:?} leads to {after:?}");
            };
            assert_eq!((commit.winner, commit.offset), (message.from, offset));
            assert_eq!(offset, message.offset);
        }
        Answer::CommitSuccess => {
            let State::Busy(Busy { ask: Ask::Finish { committer, offset, .. }, .. }) = before
            else {
                panic!("{answer:?} comes from {before:?}");
            };
            assert_eq!((*committer, *offset), (message.from, message.offset));
            assert_eq!(after, &State::Idle(Phase::Committed { end: message.offset }));
        }
        Answer::CatchUp(end) => {
            assert!(end > message.offset, "{message:?} is to catch up to {end}");
        }
        Answer::Keep(offset) | Answer::Hold(offset) => assert_eq!(offset, message.offset),
        Answer::NotLeader | Answer::UploadSuccess => panic!("{answer:?} is the caller's"),
        Answer::Discard | Answer::Failed | Answer::CommitContinue | Answer::Processed => {}
    }
}

/// A step of a machine: the same when it is taken twice, and it leaves the state that it began with as it was.
fn step(state: &State, take: impl Fn(&State) -> Result<Turn, Refusal>) -> Result<Turn, Refusal> {
    let copy = state.clone();
    let (first, second) = (take(state), take(state));
    assert_eq!(first, second);
    assert_eq!(state, &copy);
    first
}

#[derive(Default, Debug, PartialEq)]
struct Tally {
    messages: usize,
    outcomes: usize,
    waited: usize,
    unfit: usize,
    unasked: usize,
}

fn walk(completion: &Completion, source: &mut Source, tally: &mut Tally) {
    let mut state = State::Absent;
    let mut now_ms = source.of(&[0, 1_000, u64::MAX - 5_000]);
    for _ in 0..STEPS {
        now_ms = now_ms.saturating_add(source.of(JUMPS_MS));
        let from = ServerId(source.of(SERVERS));
        // A message may be older than the last one.
        let at_ms = now_ms.saturating_sub(source.of(&[0, 0, 0, 5_000]));
        let message = Message { from, offset: source.of(OFFSETS), kind: kind(source), at_ms };
        let outcome = outcome(source);
        let gives_outcome = matches!(state, State::Busy(_)) != (source.below(10) == 0);
        let turn = if gives_outcome {
            step(&state, |state| completion.on_outcome(state, outcome))
        } else {
            step(&state, |state| completion.on_message(state, message))
        };
        let answers = match &state {
            State::Busy(busy) if gives_outcome => busy.message,
            State::Absent | State::Idle(_) | State::Busy(_) => message,
        };
        match turn {
            Ok(turn) => {
                tally.messages += usize::from(!gives_outcome);
                tally.outcomes += usize::from(gives_outcome);
                match turn.said {
                    Said::Ask(ask) => {
                        assert!(matches!(&turn.state, State::Busy(busy) if busy.ask == ask));
                    }
                    Said::Answer(answer) => assert_answered(&state, answers, answer, &turn.state),
                }
                assert_sound(&turn.state, completion.limits);
                state = if turn.state.is_over() { State::Absent } else { turn.state };
            }
            Err(Refusal::Busy(ask)) => {
                assert!(!gives_outcome);
                assert!(matches!(&state, State::Busy(busy) if busy.ask == ask));
                tally.waited += 1;
            }
            Err(Refusal::UnfitOutcome(ask)) => {
                assert!(gives_outcome);
                assert!(matches!(&state, State::Busy(busy) if busy.ask == ask));
                assert_eq!(matches!(outcome, Outcome::Found(_)), ask != Ask::Record);
                tally.unfit += 1;
            }
            Err(Refusal::NotAsked) => {
                assert!(gives_outcome);
                assert!(!matches!(state, State::Busy(_)));
                tally.unasked += 1;
            }
        }
    }
}

#[test]
fn whatever_comes_is_answered_or_refused() {
    let mut source = Source(0x9E37_79B9_7F4A_7C15);
    let mut tally = Tally::default();
    let all = [
        Rules::VERIFIED,
        Rules::PINOT_2026_08,
        Rules::PINOT_14741,
        Rules::VERIFIED.without(Rule::WinnerStarts),
        Rules::VERIFIED.without(Rule::KeepFromRecord),
        Rules::VERIFIED.without(Rule::ResumeCommit),
        Rules::VERIFIED.without(Rule::UploadedIsDone),
    ];
    for at in 0..WALKS {
        let rules = all[at as usize % all.len()];
        let completion = Completion { limits: Limits::default(), rules };
        walk(&completion, &mut source, &mut tally);
    }
    let Tally { messages, outcomes, waited, unfit, unasked } = tally;
    assert_eq!(messages + outcomes + waited + unfit + unasked, WALKS as usize * STEPS);
    assert!(
        [messages, outcomes, waited, unfit, unasked].iter().all(|count| *count > 5_000),
        "{tally:?}"
    );
}

/// A state that no machine was ever in, read from outside say: every outcome ends it, none panics.
#[test]
fn a_state_put_together_by_hand_ends() {
    let (mode, started_ms, initial_ms) = (Mode::Pauseless, u64::MAX, u64::MAX);
    let (winner, offset, limit_ms) = (ServerId(1), 10, 0);
    let excluded = Table::new();
    let gathering = Gathering {
        mode,
        replicas: 0,
        started_ms,
        initial_ms,
        reports: Table::new(),
        excluded: Table::new(),
    };
    let commit =
        Commit { mode, started_ms, initial_ms, limit_ms, winner, offset, excluded: Table::new() };
    let upload = Upload { mode, ceiling_ms: None, limit_ms, winner, offset, excluded };
    let phases = [
        Phase::PartialConsuming(gathering.clone()),
        Phase::Holding(gathering),
        Phase::Decided(commit.clone()),
        Phase::Notified(commit),
        Phase::Uploading(upload),
        Phase::Resumed { end: 10 },
        Phase::Committed { end: 10 },
        Phase::Aborted,
    ];
    let asks = [
        Ask::Record,
        Ask::Start { committer: winner, offset },
        Ask::Finish { committer: winner, offset, mode },
        Ask::SetOffline(winner),
        Ask::LowerRowLimit { rows: 1 },
    ];
    let completion = Completion::verified();
    let mut source = Source(7);
    for phase in phases.iter().cloned().map(Some).chain([None]) {
        for ask in asks {
            for _ in 0..50 {
                let kind = kind(&mut source);
                let message = Message { from: winner, offset, kind, at_ms: source.of(JUMPS_MS) };
                let state = State::Busy(Busy { ask, message, phase: phase.clone() });
                let outcome = outcome(&mut source);
                match step(&state, |state| completion.on_outcome(state, outcome)) {
                    Ok(_) => {}
                    Err(refusal) => assert_eq!(refusal, Refusal::UnfitOutcome(ask)),
                }
                let idle = phase.clone().map_or(State::Absent, State::Idle);
                let taken = step(&idle, |state| completion.on_message(state, message));
                assert!(taken.is_ok(), "{taken:?}");
            }
        }
    }
}
