//! Upstream's index update and deletion of blocks (dossier 7, C6 to C8), the same in every release.
//!
//! The bucket index itself is left out: each pass reads what it would hold, so marks and metas that an older
//! index knows are read again. How old a mark is is asked where the mark is read.

use super::super::effect::Effect;
use super::super::event::{Input, Outcome};
use super::super::object::{BlockId, Body, Key, Prefix};
use super::cleaner::{Pass, Turn};

/// The deletion of blocks in one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Deletion {
    /// Blocks to delete whose mark is old enough.
    pub ripe: Vec<BlockId>,
    /// Blocks without a meta, looked at after those.
    pub partial: Vec<BlockId>,
    /// What is being done.
    pub stage: Stage,
}

/// One operation of it; those from `HasMeta` on are for the first ripe block, or else the first partial one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Stage {
    /// C6: listing global marks, before the blocks (#5457).
    #[default]
    Marks,
    /// C6: reading the block's own copy of the first of these.
    Mark(Vec<BlockId>),
    /// C6: listing block directories.
    Directories,
    /// C6: reading the meta of the first of these.
    Metas(Vec<BlockId>),
    /// C8: is the partial block marked?
    PartialMark,
    /// C8: what is there of it?
    PartialDirectory,
    /// C7: is there a meta?
    HasMeta,
    /// C7: deleting it.
    Meta,
    /// C7: listing what is left.
    Directory,
    /// C7: deleting the first of these objects.
    Objects(Vec<Key>),
    /// C7: is there a mark?
    HasMark,
    /// C7: deleting the block's own copy.
    LocalMark,
    /// C7: deleting the global copy.
    GlobalMark,
}

impl Turn<'_> {
    pub(super) fn begin_deleting(&mut self) {
        self.go(Pass::Deletion(Deletion::default()), Effect::List(Prefix::Marks));
    }

    fn delete(&mut self, deletion: Deletion, stage: Stage, effect: Effect) {
        self.go(Pass::Deletion(Deletion { stage, ..deletion }), effect);
    }

    pub(super) fn go_on_deleting(&mut self, deletion: Deletion, outcome: Outcome, input: Input) {
        match deletion.stage {
            Stage::Marks | Stage::Mark(_) | Stage::Directories | Stage::Metas(_) => {
                self.go_on_looking(deletion, outcome, input);
            }
            Stage::PartialMark | Stage::PartialDirectory => {
                self.go_on_with_partial(deletion, outcome, input);
            }
            Stage::HasMeta
            | Stage::Meta
            | Stage::Directory
            | Stage::Objects(_)
            | Stage::HasMark
            | Stage::LocalMark
            | Stage::GlobalMark => self.go_on_with_block(deletion, outcome, input),
        }
    }

    /// C6. An error ends the pass; a global mark without the block's own copy is passed over with a warning.
    fn go_on_looking(&mut self, mut deletion: Deletion, outcome: Outcome, input: Input) {
        match (std::mem::take(&mut deletion.stage), outcome) {
            (Stage::Marks, Outcome::Listed(keys)) => {
                let marked = |key: &Key| match key {
                    Key::GlobalDeletionMark(id) => Some(*id),
                    _ => None,
                };
                self.read_mark(deletion, keys.iter().filter_map(marked).collect());
            }
            (Stage::Mark(mut unread), outcome @ (Outcome::Found(_) | Outcome::Absent)) => {
                let id = unread.remove(0);
                let delay_ms = self.role.deletion_delay_ms.unwrap_or(u64::MAX);
                if let Outcome::Found(Body::DeletionMark(mark)) = outcome
                    && mark.is_ripe(input.now_ms, delay_ms)
                {
                    deletion.ripe.push(id);
                }
                self.read_mark(deletion, unread);
            }
            (Stage::Directories, Outcome::Listed(keys)) => {
                self.read_meta(deletion, directories_in(&keys), input);
            }
            (Stage::Metas(mut unread), outcome @ (Outcome::Found(_) | Outcome::Absent)) => {
                let id = unread.remove(0);
                if outcome == Outcome::Absent {
                    deletion.partial.push(id);
                }
                self.read_meta(deletion, unread, input);
            }
            (_, _) => self.blocks_deleted(input),
        }
    }

    fn read_mark(&mut self, deletion: Deletion, unread: Vec<BlockId>) {
        match unread.first() {
            Some(&id) => {
                self.delete(deletion, Stage::Mark(unread), Effect::Get(Key::DeletionMark(id)));
            }
            None => self.delete(deletion, Stage::Directories, Effect::List(Prefix::AllBlocks)),
        }
    }

    fn read_meta(&mut self, deletion: Deletion, unread: Vec<BlockId>, input: Input) {
        match unread.first() {
            Some(&id) => self.delete(deletion, Stage::Metas(unread), Effect::Get(Key::Meta(id))),
            None => self.next_block(deletion, input),
        }
    }

    fn next_block(&mut self, deletion: Deletion, input: Input) {
        if let Some(&id) = deletion.ripe.first() {
            self.delete(deletion, Stage::HasMeta, Effect::Exists(Key::Meta(id)));
        } else if let Some(&id) = deletion.partial.first() {
            self.delete(deletion, Stage::PartialMark, Effect::Get(Key::DeletionMark(id)));
        } else {
            self.blocks_deleted(input);
        }
    }

    fn leave_block(&mut self, mut deletion: Deletion, input: Input) {
        if deletion.ripe.is_empty() {
            deletion.partial.remove(0);
        } else {
            deletion.ripe.remove(0);
        }
        self.next_block(deletion, input);
    }

    /// C8: deleted at once if it is marked, or if only visit marks are there (#5498); else an upload may be
    /// running.
    fn go_on_with_partial(&mut self, deletion: Deletion, outcome: Outcome, input: Input) {
        let Some(&id) = deletion.partial.first() else { return };
        let is_visit_mark = |key: &Key| matches!(key, Key::VisitMark(_));
        match (&deletion.stage, outcome) {
            (Stage::PartialMark, Outcome::Absent) => {
                self.delete(deletion, Stage::PartialDirectory, Effect::List(Prefix::Block(id)));
            }
            (Stage::PartialMark, Outcome::Found(_)) => {
                self.delete(deletion, Stage::HasMeta, Effect::Exists(Key::Meta(id)));
            }
            (Stage::PartialDirectory, Outcome::Listed(keys)) if keys.iter().all(is_visit_mark) => {
                self.delete(deletion, Stage::HasMeta, Effect::Exists(Key::Meta(id)));
            }
            (_, _) => self.leave_block(deletion, input),
        }
    }

    /// C7. An error leaves the block for the next pass.
    fn go_on_with_block(&mut self, mut deletion: Deletion, outcome: Outcome, input: Input) {
        let first = deletion.ripe.first().or(deletion.partial.first());
        let Some(&id) = first else { return };
        match (std::mem::take(&mut deletion.stage), outcome) {
            (Stage::HasMeta, Outcome::Exists) => {
                self.delete(deletion, Stage::Meta, Effect::Delete(Key::Meta(id)));
            }
            (Stage::HasMeta, Outcome::Absent) | (Stage::Meta, Outcome::Applied) => {
                self.delete(deletion, Stage::Directory, Effect::List(Prefix::Block(id)));
            }
            (Stage::Directory, Outcome::Listed(mut keys)) => {
                keys.retain(|key| !matches!(key, Key::Meta(_) | Key::DeletionMark(_)));
                self.delete_objects(deletion, id, keys);
            }
            (Stage::Objects(mut keys), Outcome::Applied) => {
                keys.remove(0);
                self.delete_objects(deletion, id, keys);
            }
            (Stage::HasMark, Outcome::Exists) => {
                self.delete(deletion, Stage::LocalMark, Effect::Delete(Key::DeletionMark(id)));
            }
            (Stage::HasMark, Outcome::Absent) | (Stage::LocalMark, Outcome::Applied) => {
                let delete = Effect::Delete(Key::GlobalDeletionMark(id));
                self.delete(deletion, Stage::GlobalMark, delete);
            }
            (_, _) => self.leave_block(deletion, input),
        }
    }

    fn delete_objects(&mut self, deletion: Deletion, id: BlockId, keys: Vec<Key>) {
        match keys.first() {
            Some(&key) => self.delete(deletion, Stage::Objects(keys), Effect::Delete(key)),
            None => {
                self.delete(deletion, Stage::HasMark, Effect::Exists(Key::DeletionMark(id)));
            }
        }
    }
}

/// The blocks of which something is there.
fn directories_in(keys: &[Key]) -> Vec<BlockId> {
    let mut blocks: Vec<_> = keys.iter().filter_map(|key| key.block()).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}
