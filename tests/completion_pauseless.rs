//! Where the verified completion machine differs from upstream's, message by message: pauseless commits of which
//! upstream has no sequences of its own, and what becomes of them.
//!
//! The controller around the machine does at once what is asked, by compare-and-set on the segment's status, as the
//! metadata steps do (dossier 6.5).

use surehold::commit::completion::{
    Answer, Ask, Completion, Found, Kind, Limits, Message, Mode, Outcome, Phase, Reason, Record,
    Rule, Rules, Said, State,
};
use surehold::commit::object::{ServerId, Status};

const S1: ServerId = ServerId(1);
const S2: ServerId = ServerId(2);
const S3: ServerId = ServerId(3);
const UPSTREAM: Rules = Rules::PINOT_2026_08;
const VERIFIED: Rules = Rules::VERIFIED;
/// What every winner is told without a lease.
const BUILD_S: u64 = 126;

struct Controller {
    completion: Completion,
    mode: Mode,
    state: State,
    record: Record,
    longest_ms: u64,
    /// The metadata steps of the next start or end fail.
    fails: bool,
    /// The rules that decided so far.
    decided_by: Vec<Rule>,
}

impl Controller {
    fn new(rules: Rules, mode: Mode) -> Self {
        Self {
            completion: Completion { limits: Limits::default(), rules },
            mode,
            state: State::Absent,
            record: Record { status: Status::InProgress, end: None, replicas: 3 },
            longest_ms: 0,
            fails: false,
            decided_by: Vec::new(),
        }
    }

    fn says(&mut self, at_s: u64, from: ServerId, kind: Kind, offset: u64) -> Answer {
        let message = Message { from, offset, kind, at_ms: at_s * 1000 };
        let mut turn = self.completion.on_message(&self.state, message).expect("it is not busy");
        loop {
            self.decided_by.extend(turn.decided_by);
            self.longest_ms = turn.longest_ms.unwrap_or(self.longest_ms);
            self.state = turn.state;
            match turn.said {
                Said::Answer(answer) => {
                    if self.state.is_over() {
                        self.state = State::Absent;
                    }
                    return answer;
                }
                Said::Ask(ask) => {
                    let outcome = self.carry_out(ask);
                    turn = self.completion.on_outcome(&self.state, outcome).expect("it was asked");
                }
            }
        }
    }

    fn reports(&mut self, at_s: u64, from: ServerId, offset: u64) -> Answer {
        self.says(at_s, from, Kind::Consumed(Some(Reason::TimeLimit)), offset)
    }

    fn starts(&mut self, at_s: u64, from: ServerId, offset: u64) -> Answer {
        self.says(at_s, from, Kind::CommitStart, offset)
    }

    fn ends(&mut self, at_s: u64, from: ServerId, offset: u64) -> Answer {
        self.says(at_s, from, Kind::CommitEnd, offset)
    }

    fn extends(&mut self, at_s: u64, from: ServerId, extra_s: u32) -> Answer {
        self.says(at_s, from, Kind::Extend { extra_s }, 40)
    }

    fn carry_out(&mut self, ask: Ask) -> Outcome {
        if matches!(ask, Ask::Start { .. } | Ask::Finish { .. }) && std::mem::take(&mut self.fails)
        {
            return Outcome::Failed;
        }
        match ask {
            Ask::Record => Outcome::Found(Found {
                record: Some(self.record),
                mode: self.mode,
                longest_ms: self.longest_ms,
            }),
            Ask::Start { offset, .. } => {
                self.write(Status::InProgress, Status::Committing, Some(offset))
            }
            Ask::Finish { offset, mode: Mode::Blocking, .. } => {
                self.write(Status::InProgress, Status::Done, Some(offset))
            }
            Ask::Finish { mode: Mode::Pauseless, .. } => {
                self.write(Status::Committing, Status::Done, self.record.end)
            }
            Ask::SetOffline(_) => Outcome::Done,
            Ask::LowerRowLimit { .. } => Outcome::Failed,
        }
    }

    fn write(&mut self, from: Status, to: Status, end: Option<u64>) -> Outcome {
        if self.record.status != from {
            return Outcome::Failed;
        }
        self.record = Record { status: to, end, ..self.record };
        Outcome::Done
    }

    /// Another controller leads, and knows nothing but metadata.
    fn lead_anew(&mut self) {
        self.state = State::Absent;
        self.longest_ms = 0;
    }

    /// S2 wins at 40 and has started its commit.
    fn started(rules: Rules) -> Self {
        let mut controller = Self::new(rules, Mode::Pauseless);
        assert_eq!(controller.reports(5, S1, 20), Answer::Hold(20));
        assert_eq!(controller.reports(6, S3, 40), Answer::Hold(40));
        assert_eq!(controller.reports(7, S2, 40), commit(40));
        assert_eq!(controller.starts(8, S2, 40), Answer::CommitContinue);
        assert_eq!(controller.status(), (Status::Committing, Some(40)));
        controller
    }

    fn status(&self) -> (Status, Option<u64>) {
        (self.record.status, self.record.end)
    }
}

fn commit(offset: u64) -> Answer {
    Answer::Commit { offset, build_s: BUILD_S }
}

/// Without a fault both do the same, but for one read.
#[test]
fn a_commit_without_faults() {
    for rules in [UPSTREAM, VERIFIED] {
        let mut controller = Controller::started(rules);
        assert_eq!(controller.reports(9, S1, 20), Answer::CatchUp(40));
        assert_eq!(controller.reports(9, S3, 40), Answer::Keep(40));
        assert_eq!(controller.reports(10, S1, 50), Answer::Hold(50));
        assert_eq!(controller.ends(60, S2, 40), Answer::CommitSuccess);
        assert_eq!(controller.status(), (Status::Done, Some(40)));
        assert_eq!(controller.state, State::Absent);
        assert_eq!(controller.reports(61, S1, 40), Answer::Keep(40));
        assert_eq!(controller.reports(61, S1, 50), Answer::Discard);
        let reads = if rules == UPSTREAM { vec![] } else { vec![Rule::KeepFromRecord] };
        assert_eq!(controller.decided_by, reads);
    }
}

/// R4: COMMIT was given twice, and the late start of whoever lost meanwhile comes while the other is winner.
fn two_were_told(rules: Rules) -> Controller {
    let mut controller = Controller::new(rules, Mode::Pauseless);
    let limit = Kind::Consumed(Some(Reason::RowLimit));
    assert_eq!(controller.says(5, S1, limit, 20), commit(20));
    // S1 is slow; the machine is too late, and S2 wins with fewer rows.
    assert_eq!(controller.reports(200, S2, 10), Answer::Hold(10));
    assert_eq!(controller.says(201, S2, limit, 10), commit(10));
    controller
}

#[test]
fn a_loser_starts_a_commit_upstream() {
    let mut controller = two_were_told(UPSTREAM);
    assert_eq!(controller.starts(202, S1, 20), Answer::CommitContinue);
    assert_eq!(controller.status(), (Status::Committing, Some(20)));
    // The machine still says where the segment ends by what it remembers: a replica seals 10 rows of 20 (N2).
    assert_eq!(controller.reports(203, S3, 10), Answer::Keep(10));
    assert_eq!(controller.ends(204, S1, 20), Answer::Failed);
    // Nobody will ever start again.
    assert_eq!(controller.says(205, S1, Kind::Consumed(Some(Reason::RowLimit)), 20), commit(20));
    assert_eq!(controller.starts(206, S1, 20), Answer::Failed);
    assert_eq!(controller.status(), (Status::Committing, Some(20)));
    assert_eq!(controller.decided_by, [Rule::UploadedIsDone; 0]);
}

#[test]
fn no_loser_starts_a_verified_commit() {
    let mut controller = two_were_told(VERIFIED);
    assert_eq!(controller.starts(202, S1, 20), Answer::Hold(20));
    assert_eq!(controller.decided_by, [Rule::WinnerStarts]);
    assert_eq!(controller.status(), (Status::InProgress, None));
    assert_eq!(controller.starts(203, S2, 10), Answer::CommitContinue);
    assert_eq!(controller.reports(204, S3, 10), Answer::Keep(10));
    assert_eq!(controller.ends(205, S2, 10), Answer::CommitSuccess);
    assert_eq!(controller.status(), (Status::Done, Some(10)));
}

/// N2: even if a loser starts, nobody keeps what ends elsewhere than metadata says.
#[test]
fn what_is_kept_is_judged_from_metadata() {
    let mut controller = two_were_told(VERIFIED.without(Rule::WinnerStarts));
    assert_eq!(controller.starts(202, S1, 20), Answer::CommitContinue);
    assert_eq!(controller.reports(203, S3, 10), Answer::Hold(10));
    assert_eq!(controller.decided_by, [Rule::KeepFromRecord]);
    // The machine was wrong and is gone; the next one begins with what metadata says.
    assert_eq!(controller.reports(204, S3, 10), Answer::CatchUp(20));
    assert_eq!(controller.reports(205, S3, 20), Answer::Keep(20));
    assert_eq!(controller.ends(206, S1, 20), Answer::CommitSuccess);
    assert_eq!(controller.status(), (Status::Done, Some(20)));
}

/// R5: another controller leads between the start and the end of a commit.
#[test]
fn a_new_leader_lets_a_commit_finish_only_if_verified() {
    let mut controller = Controller::started(UPSTREAM);
    controller.lead_anew();
    assert_eq!(controller.ends(60, S2, 40), Answer::Failed);
    assert_eq!(controller.reports(61, S2, 40), Answer::Hold(40));
    assert_eq!(controller.reports(65, S2, 40), commit(40));
    assert_eq!(controller.starts(66, S2, 40), Answer::Failed);
    assert_eq!(controller.status(), (Status::Committing, Some(40)));

    let mut controller = Controller::started(VERIFIED);
    controller.lead_anew();
    assert_eq!(controller.extends(58, S2, 20), Answer::Processed);
    assert_eq!(controller.reports(59, S1, 20), Answer::CatchUp(40));
    assert_eq!(controller.ends(60, S1, 30), Answer::Failed);
    assert_eq!(controller.ends(60, S2, 40), Answer::CommitSuccess);
    assert_eq!(controller.status(), (Status::Done, Some(40)));
    assert_eq!(controller.ends(61, S2, 40), Answer::Failed);
    assert_eq!(controller.reports(62, S2, 40), Answer::Keep(40));
}

/// C3: the answer to the start is lost, and the winner reports again.
#[test]
fn a_winner_that_reports_again() {
    let mut controller = Controller::started(UPSTREAM);
    assert_eq!(controller.reports(9, S2, 40), Answer::Hold(40));
    assert_eq!(controller.reports(12, S2, 40), Answer::Hold(40));
    assert_eq!(controller.reports(16, S2, 40), commit(40));
    assert_eq!(controller.starts(17, S2, 40), Answer::Failed);

    let mut controller = Controller::started(VERIFIED);
    assert_eq!(controller.reports(9, S2, 40), Answer::Hold(40));
    assert_eq!(controller.reports(12, S2, 40), Answer::Keep(40));
    // One that sends its start again may go on.
    assert_eq!(controller.starts(13, S2, 40), Answer::CommitContinue);
    assert_eq!(controller.starts(13, S2, 50), Answer::Hold(50));
    assert_eq!(controller.ends(60, S2, 40), Answer::CommitSuccess);
}

/// A start that fails before anything is written is tried again; one that fails after (R5, step 2 or 3) is not.
#[test]
fn a_start_that_fails() {
    for rules in [UPSTREAM, VERIFIED] {
        let mut controller = Controller::new(rules, Mode::Pauseless);
        let limit = Kind::Consumed(Some(Reason::RowLimit));
        assert_eq!(controller.says(5, S1, limit, 20), commit(20));
        controller.fails = true;
        assert_eq!(controller.starts(6, S1, 20), Answer::Failed);
        assert_eq!(controller.state, State::Absent);
        assert_eq!(controller.says(9, S1, limit, 20), commit(20));
        assert_eq!(controller.starts(10, S1, 20), Answer::CommitContinue);
        assert_eq!(controller.status(), (Status::Committing, Some(20)));
        // The end of the commit fails; it can be tried again only if another machine can begin from there.
        controller.fails = true;
        assert_eq!(controller.ends(20, S1, 20), Answer::Failed);
        let again = if rules == UPSTREAM { Answer::Failed } else { Answer::CommitSuccess };
        assert_eq!(controller.ends(21, S1, 20), again);
    }
}

/// C1: a segment was committed and replaced by an upload, and a replica reports late.
#[test]
fn a_late_replica_of_an_uploaded_segment() {
    for rules in [Rules::PINOT_14741, UPSTREAM, VERIFIED] {
        let mut controller = Controller::started(rules);
        assert_eq!(controller.ends(60, S2, 40), Answer::CommitSuccess);
        controller.record.status = Status::Uploaded;
        let late = controller.says(700, S3, Kind::Consumed(Some(Reason::RowLimit)), 40);
        let expected = if rules == Rules::PINOT_14741 { commit(40) } else { Answer::Keep(40) };
        assert_eq!(late, expected);
        let decides = controller.decided_by.contains(&Rule::UploadedIsDone);
        assert_eq!(decides, rules != Rules::PINOT_14741);
    }
}

/// R8: the table was switched to blocking in the middle of a commit.
#[test]
fn a_mode_that_changes_in_a_commit() {
    // A machine keeps the mode that it was made with, and so does what it asks for.
    for rules in [UPSTREAM, VERIFIED] {
        let mut controller = Controller::started(rules);
        controller.mode = Mode::Blocking;
        assert_eq!(controller.ends(60, S2, 40), Answer::CommitSuccess);
    }
    // With another leader upstream's next machine is a blocking one, which can neither end the commit nor start it.
    let mut controller = Controller::started(UPSTREAM);
    controller.mode = Mode::Blocking;
    controller.lead_anew();
    assert_eq!(controller.ends(60, S2, 40), Answer::Failed);
    assert_eq!(controller.says(61, S2, Kind::Consumed(Some(Reason::RowLimit)), 40), commit(40));
    assert_eq!(controller.starts(62, S2, 40), Answer::CommitContinue);
    assert_eq!(controller.ends(63, S2, 40), Answer::Failed);
    assert_eq!(controller.status(), (Status::Committing, Some(40)));

    let mut controller = Controller::started(VERIFIED);
    controller.mode = Mode::Blocking;
    controller.lead_anew();
    assert_eq!(controller.ends(60, S2, 40), Answer::CommitSuccess);
}

/// The lease is extended after the start, from when it is asked for, up to half an hour after the machine began.
#[test]
fn a_lease_in_pauseless_mode() {
    let mut controller = Controller::new(VERIFIED, Mode::Pauseless);
    let limit = Kind::Consumed(Some(Reason::RowLimit));
    assert_eq!(controller.says(0, S2, limit, 40), commit(40));
    assert_eq!(controller.extends(1, S2, 20), Answer::Failed);
    assert_eq!(controller.starts(2, S2, 40), Answer::CommitContinue);
    // Not asked for how long: two minutes.
    assert_eq!(controller.extends(100, S2, 0), Answer::Processed);
    let State::Idle(Phase::Uploading(upload)) = &controller.state else {
        panic!("{:?} does not upload", controller.state);
    };
    assert_eq!((upload.limit_ms, upload.ceiling_ms), (220_000, Some(1_800_000)));
    assert_eq!(controller.reports(220, S1, 20), Answer::CatchUp(40));
    for at_s in (200..1680).step_by(100) {
        assert_eq!(controller.extends(at_s, S2, 120), Answer::Processed);
    }
    assert_eq!(controller.extends(1680, S2, 120), Answer::Processed);
    assert_eq!(controller.extends(1681, S2, 120), Answer::Failed);
    assert_eq!(controller.state, State::Absent);
    // The verified commit goes on all the same: metadata says that it has begun.
    assert_eq!(controller.ends(1900, S2, 40), Answer::CommitSuccess);
}

/// A commit that started late makes the next machine of the table patient from the beginning, up to half an hour.
#[test]
fn a_slow_table_is_waited_for() {
    let mut controller = Controller::new(UPSTREAM, Mode::Blocking);
    let limit = Kind::Consumed(Some(Reason::RowLimit));
    assert_eq!(controller.says(0, S2, limit, 40), commit(40));
    assert_eq!(controller.extends(100, S2, 120), Answer::Processed);
    assert_eq!(controller.starts(200, S2, 40), Answer::CommitContinue);
    assert_eq!(controller.longest_ms, 200_000);
    controller.state = State::Absent;
    let patient = Answer::Commit { offset: 40, build_s: 200 };
    assert_eq!(controller.says(300, S2, limit, 40), patient);
    controller.longest_ms = 2_000_000;
    controller.state = State::Absent;
    let most = Answer::Commit { offset: 40, build_s: 1800 };
    assert_eq!(controller.says(300, S2, limit, 40), most);
    // Told again after its lease was extended, a winner hears of the longer one.
    let mut controller = Controller::new(UPSTREAM, Mode::Blocking);
    assert_eq!(controller.says(0, S2, limit, 40), commit(40));
    assert_eq!(controller.extends(100, S2, 120), Answer::Processed);
    let longer = Answer::Commit { offset: 40, build_s: 220 };
    assert_eq!(controller.says(101, S2, limit, 40), longer);
}
