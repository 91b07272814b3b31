//! The protocol as Pinot had it, so that the checker can find what its users found.
//!
//! The roles are the verified ones without the guards that a variant lacks: where a guard is missing they do what
//! upstream does.
//!
//! *Our reading*: [`Release::Aug2026`] follows the dossier's tree, read in its source. [`Release::Blocking`] follows the
//! blocking side of the same tree (dossier 0, 6.2, 6.5, 7), less what later issues say was added after; no source of
//! that time was read. It has no reset of segments in error, no upload retry of committing ones and no clean-up, and
//! no pauseless mode, so that in a scope of pauseless tables it commits as ever. [`Release::Pr14741`] and
//! [`Release::Pr14920`] follow the descriptions of the pull requests, and where these are silent the tree, less what
//! later issues say was added after.
//!
//! What no guard is about is told apart: what its server does besides ([`Ways`]), and what minions take ([`Minion`]).
//!
//! Whatever upstream adds to the ideal state goes through one function that refuses a second segment of the same place,
//! the validator's own write included (N5): so every release keeps [`Guard::OneHead`].
//!
//! Left out, as no scope here can tell: lease extension, brokers, the `committingSegments` list, partial upsert beyond its
//! order, topics of a table with several streams, clean-up of temporary objects. Offset auto-reset and the repair of single
//! OFFLINE replicas are options here as there, off by default.
//!
//! *Our reading*, where the dossier says otherwise or nothing: a server that has as many reingestions as it may answers 429,
//! as #14920 describes it (dossier 10.2: the later tree queues them); that a segment is completed already is answered 409.
//!
//! Group commit (R3) came with #13976, in September 2024, and was on by default ever since (#16819): so every release
//! lacks [`Guard::BatchApart`]. *Our reading* for [`Release::Blocking`], which is the last state before #14741. Here it is
//! that of step 3 alone, though upstream other updates of the ideal state may be of the batch as well; a member that is
//! refused fails all of them, though by the tree those behind it in the queue may be spared and tried again; and a member
//! without a replica to be consumed is refused at once, not after ten tries. What it costs is a delay: a commit that
//! fails in step 3 is finished by the validator, as after a crash in its place; but its clean-up comes with it (R1, R2).
//!
//! A reingestion of [`Release::Pr14920`] keeps its build permit (C6), as it was before #15097. *Our reading*: it was merged
//! after #14974, so that it gives the permit of a consumer back that could not be opened, and those before it do not.
//!
//! Two guards are older than any release here, so that each keeps them: retention has spared records that are not listed
//! since #2891 ([`Guard::RetainCompleted`]; for five days, which are longer than any scope), and the upload retry has set
//! checksum and location together since #14506 ([`Guard::OwnChecksum`]). *Our reading*: that #14506 came before #14741 is
//! told by its number alone. Segments in error that are still to be consumed are reset since #16904
//! ([`Guard::ResetConsuming`]), and a commit start that was not heard of is no dead end since #17885
//! ([`Guard::BuildUnheard`]).
//!
//! A reingestion of [`Release::Pr14920`] keeps its build permit (C6), as it was before #15097.

mod minion;
mod ways;

pub use minion::Minion;
pub use ways::Ways;

use super::completion::{Mode, Rules};
use super::controller::{self, Controller};
use super::guard::Guard;
use super::server::{self, Server};
use crate::guard::Weakened;

/// A point in upstream's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Release {
    /// Blocking commits, as before pauseless consumption (#14741): the three steps come at the end of a commit, when the
    /// copy is stored or at least built.
    Blocking,
    /// #14741: pauseless consumption without disaster recovery.
    Pr14741,
    /// #14920: with reingestion and the reset of segments in error.
    Pr14920,
    /// Master of August 2026: with clean-up after a failed commit (#17707), upload retry of committing segments
    /// (#17241), and uploaded segments known to be committed (#15062).
    Aug2026,
}

impl Release {
    /// All of them, oldest first.
    pub const ALL: [Self; 4] = [Self::Blocking, Self::Pr14741, Self::Pr14920, Self::Aug2026];

    /// Name of the variant.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocking => "pinot-blocking",
            Self::Pr14741 => "pinot-14741",
            Self::Pr14920 => "pinot-14920",
            Self::Aug2026 => "pinot-2026-08",
        }
    }

    /// The guards that it keeps.
    #[must_use]
    pub fn keeps(self) -> &'static [Guard] {
        match self {
            Self::Blocking | Self::Pr14741 => {
                &[Guard::NoCleanUp, Guard::OneHead, Guard::RetainCompleted, Guard::OwnChecksum]
            }
            Self::Pr14920 => &[
                Guard::NoCleanUp,
                Guard::OneHead,
                Guard::RetainCompleted,
                Guard::OwnChecksum,
                Guard::Reingest,
                Guard::ResetErrors,
                Guard::ConsumerPermitBack,
            ],
            Self::Aug2026 => &[
                Guard::OneHead,
                Guard::RetainCompleted,
                Guard::OwnChecksum,
                Guard::BuildUnheard,
                Guard::ResetConsuming,
                Guard::Reingest,
                Guard::ResetErrors,
                Guard::RetryCommitting,
                Guard::UploadedIsDone,
                Guard::InOrder,
                Guard::PermitBack,
                Guard::ConsumerPermitBack,
            ],
        }
    }

    /// The guards that it lacks.
    #[must_use]
    pub fn lacks(self) -> Weakened<Guard> {
        let kept = self.keeps();
        Weakened::without(Guard::ALL.into_iter().filter(|guard| !kept.contains(guard)))
    }

    fn rules(self) -> Rules {
        match self {
            Self::Blocking | Self::Pr14741 | Self::Pr14920 => Rules::PINOT_14741,
            Self::Aug2026 => Rules::PINOT_2026_08,
        }
    }

    /// The only mode that it knows: before #14741 there was no other, whatever a table may say.
    #[must_use]
    pub fn only_mode(self) -> Option<Mode> {
        (self == Self::Blocking).then_some(Mode::Blocking)
    }

    /// Its controller.
    #[must_use]
    pub fn controller(self) -> Controller<Weakened<Guard>> {
        self.controller_with(self.lacks())
    }

    /// The same with other guards than it lacks: to see which of them mends what.
    #[must_use]
    pub fn controller_with(self, lacks: Weakened<Guard>) -> Controller<Weakened<Guard>> {
        let controller = Controller::weakened(controller::Limits::default(), lacks);
        controller.with_rules(self.rules()).with_only(self.only_mode())
    }

    /// Its server.
    #[must_use]
    pub fn server(self) -> Server<Weakened<Guard>> {
        self.server_within(server::Limits::default())
    }

    /// Its server, with other limits than upstream's defaults.
    #[must_use]
    pub fn server_within(self, limits: server::Limits) -> Server<Weakened<Guard>> {
        Server::weakened(limits, self.lacks()).with_only(self.only_mode()).with_ways(self.ways())
    }
}
