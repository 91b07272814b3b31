//! The holes that were found by reading upstream's tree (dossier 13) and by models of it, each confirmed in
//! `pinot-2026-08` or refuted, by runs of it or by reading.

/// A hole.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    /// Its name.
    pub name: &'static str,
    /// What happens, or why it does not.
    pub says: &'static str,
    /// What became of it.
    pub finding: Finding,
}

/// What became of a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// In this scope this property breaks.
    Confirmed(&'static str, &'static str),
    /// It cannot be; in this scope this property holds.
    Refuted(&'static str, &'static str),
    /// It costs time and nothing else; in this scope this property holds.
    Delay(&'static str, &'static str),
    /// A scenario tells it, with a round that a fair run may repeat for ever.
    Told(&'static str),
    /// It cannot be, as upstream's source is read. The releases here are given what they were read to have, so that no
    /// run of theirs could tell.
    Read,
}

impl Finding {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Confirmed(..) | Self::Told(_) => "confirmed",
            Self::Refuted(..) => "refuted",
            Self::Delay(..) => "a delay",
            Self::Read => "refuted by reading",
        }
    }

    /// Where it is shown, if no run shows it.
    #[must_use]
    pub fn place(self) -> String {
        match self {
            Self::Confirmed(..) | Self::Refuted(..) | Self::Delay(..) => "a run".into(),
            Self::Told(scenario) => format!("`scenarios/commit/{scenario}`"),
            Self::Read => "the source".into(),
        }
    }

    /// The scope and the property of the run that shows it.
    #[must_use]
    pub fn shown(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Confirmed(scope, property)
            | Self::Refuted(scope, property)
            | Self::Delay(scope, property) => Some((scope, property)),
            Self::Told(_) | Self::Read => None,
        }
    }
}

use Finding::{Confirmed, Delay, Read, Refuted, Told};

const fn hole(name: &'static str, finding: Finding, says: &'static str) -> Hole {
    Hole { name, says, finding }
}

/// All of them, by name.
pub const HOLES: [Hole; 25] = [
    hole(
        "R1",
        Confirmed("sane-slow", "listed-has-record"),
        "The commit thread stalls before step 3, the validator lists the next segment, and the clean-up \
         after the refused step deletes its record.",
    ),
    hole(
        "R2",
        Confirmed("sane-reply-lost", "listed-has-record"),
        "The reply to step 3 is lost; the second try finds its own work, takes it for a failure and \
         deletes the record of the live segment.",
    ),
    hole(
        "R3",
        Confirmed("sane-batch", "own-failure"),
        "Commits of several partitions are written at once, and one of them is too old by then: all fail. It \
         costs the others a delay, until the validator ends what they began, and brings their clean-up (R1).",
    ),
    hole(
        "R4",
        Confirmed("sane-crash-slow", "whole-rows"),
        "A start by another than the winner is taken, at its own offset. With a crash a range that ends \
         at 2 is sealed with one row, stored and DONE: the other row is lost without an alarm.",
    ),
    hole(
        "R4, the other way",
        Confirmed("sane-slow-lost", "whole-rows"),
        "The same with a lost answer: a range that ends at 1 is sealed with two rows, so that one is \
         served twice.",
    ),
    hole(
        "R5",
        Delay("sane-leader-change", "recoverable"),
        "A change of leader between the start and the end of a commit refuses its end; the upload retry \
         makes up for it, a day later by default.",
    ),
    hole(
        "R6",
        Confirmed("sane-slow", "right-object"),
        "The end of a commit moves its object over the one that the retry has put there, and then is \
         refused.",
    ),
    hole(
        "R6, blocking",
        Confirmed("sane-blocking-leader", "right-object"),
        "A leader that leads no more moves its object over that of the commit under the new one.",
    ),
    hole(
        "R7",
        Confirmed("sane-server-crash", "no-lost-update"),
        "The retry writes what it made from an old record over one that was completed meanwhile.",
    ),
    hole(
        "R8",
        Confirmed("sane-toggle", "recoverable"),
        "The mode is switched while a commit is half done: no rule of the validator fits any more.",
    ),
    hole(
        "R9",
        Confirmed("sane-crash-expiry", "whole-rows"),
        "Reingestion from an offset that the stream has no more ends with other rows than the range, and \
         is DONE.",
    ),
    hole(
        "R10",
        Confirmed("sane-slow-lost", "copy-kept"),
        "One replica is in error, and a healthy one that has all rows in memory is reset with it. Only \
         while its own transition has not been sent: Helix refuses to reset a replica with a pending one \
         (`sane-failed-prompt` takes another step and another way).",
    ),
    hole(
        "R11",
        Confirmed("crash-early", "copy-kept"),
        "A replica has read past the end and may not cut there; the committer crashes; the reset throws \
         away the only rows. For good once the stream has forgotten them.",
    ),
    hole(
        "R12",
        Confirmed("sane-retention", "chain"),
        "Retention takes the last DONE segment for the last one; a later one that a minion replaced is \
         deleted, and consumption resumes before its end.",
    ),
    hole(
        "R13",
        Confirmed("sane-never-builds", "served"),
        "A segment that nobody can build stays in error for ever, as its end is fixed. The verified \
         protocol says nothing false of it (`never-builds`), but cannot serve it either: the limits have \
         to be raised.",
    ),
    hole(
        "R14",
        Told("r14-dead-server.json"),
        "The reset of a dead server fails and ends the run, so that later segments in error have no turn. After \
         N1 the replica that is there is in error again whenever the run comes: a run that is fair to all may go \
         round so for ever, with a segment waiting whose rows are all in the stream. A run that finds that replica \
         waiting, rather than in error, gets past it, so that recoverability alone does not see it.",
    ),
    hole(
        "N1",
        Confirmed("sane-blocking-dead", "served"),
        "DONE without an object: its only copy is on a server that never returns, and reingestion takes \
         committing segments only.",
    ),
    hole(
        "N2",
        Confirmed("sane-crash-slow", "one-end"),
        "KEEP is answered from the machine's memory, though metadata ends the segment elsewhere: the \
         heart of R4.",
    ),
    hole(
        "N3",
        Confirmed("three", "no-lost-update"),
        "A validator that was slow creates the next segment over the one that is done by now. Needs an \
         age test that errs.",
    ),
    hole(
        "N4",
        Refuted("sane-server-controller-crash", "copy-kept"),
        "Upstream builds after step 3 alone, so that nothing is on disk that OFFLINE to CONSUMING could \
         delete. Where any leader may go on with a commit it could be: see `local-first`.",
    ),
    hole(
        "N5",
        Read,
        "Whatever upstream adds to the ideal state, the validator's own write included, goes through one \
         function, which refuses a second segment of the same place and fails the run for the whole table \
         (dossier 9.1). So every release here keeps `one-head`, and its runs cannot tell; what would come of a \
         write without it is in the table of removals, `listed-only` + `one-head`.",
    ),
    hole(
        "N6",
        Confirmed("sane-broken-reset", "chain"),
        "A replica gives up and is reset before its message is carried out, which takes it out all the same. \
         The validator begins the segment again at the same offset, and the replica commits the old one.",
    ),
    hole(
        "N7",
        Confirmed("sane-rewrite-interrupted", "right-object"),
        "An upload of a minion's copy stops between its object, which is put over the segment's own, and its \
         record: the record keeps the checksum of a copy that is nowhere any more.",
    ),
    hole(
        "N8",
        Confirmed("sane-blocking-read-fails", "recoverable"),
        "A replica cannot read its record on its way to CONSUMING and is in error; the other one gives up. As not all \
         are in error, and nothing is committed, no rule fits, and nobody consumes the partition any more. *Our reading*: \
         that the transition throws, without a message that it has stopped.",
    ),
    hole(
        "N9",
        Told("n9-repairs-in-turn.json"),
        "Repairs that begin while one of two replicas of a committing segment still waits reset the other one, in turn, \
         for ever: none finds both in error, and nobody reads the segment again. It takes a repair that comes before the \
         patience of a replica is over; upstream's defaults are an hour between two runs and ten minutes of patience.",
    ),
];
