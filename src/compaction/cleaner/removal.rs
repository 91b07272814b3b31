//! Deleting for good what has been marked for long enough (dossier 7, C7).
//!
//! The meta goes first, so that there is never a meta without its chunks; then whatever else is beneath the
//! block; the marks go last, the listed copy last of all, since that is what a pass finds the block by: a
//! deletion that was broken off is taken up by the next pass, and by any cleaner. Everything may be done
//! twice: a mark is never taken back, and an id never used again.
//!
//! # Blocks without a meta
//!
//! With a mark (dossier 7, C8) they are deleted at once. Only complete blocks are marked, so the upload was
//! over, and the meta went by a deletion whose turn had come; what is left is that deletion, broken off, or a
//! mark that landed after it.
//!
//! Without a mark they are left alone, whoever's they are. The upload may be still running, or its last
//! write may have yet to land, and nothing in the bucket tells that from one that was given up; a meta that
//! lands after its chunks were deleted is a block that holds nothing, and its parents would be let go for
//! it. No age is old enough for that, since no write is bound to a time. What a crashed upload leaves behind
//! is therefore litter, until somebody removes it who knows that no write is under way.

use super::super::effect::Effect;
use super::super::event::{Input, Outcome};
use super::super::guard::Guard;
use super::super::object::{BlockId, Body, Key, Prefix};
use super::Turn;
use super::state::{Marked, Pass, Removal};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn begin_removing(&mut self) {
        if self.limits.deletion_delay_ms.is_some() {
            self.go(Pass::Marked, Effect::List(Prefix::Marks));
        }
    }

    /// Turns to the first of these blocks; after the last, to what is left of blocks deleted before.
    pub(super) fn remove_next(&mut self, blocks: Vec<Marked>) {
        if let Some(block) = blocks.first() {
            let get = Effect::Get(Key::GlobalDeletionMark(block.id));
            self.go(Pass::Removing(Removal::Age, blocks), get);
        } else {
            self.go(Pass::Remains, Effect::List(Prefix::AllBlocks));
        }
    }

    pub(super) fn go_on_removing(
        &mut self,
        step: Removal,
        mut blocks: Vec<Marked>,
        outcome: Outcome,
        input: Input,
    ) {
        let Some(&block) = blocks.first() else { return };
        match (step, outcome) {
            (Removal::Age, Outcome::Found(Body::DeletionMark(mark))) => {
                let delay_ms = self.limits.deletion_delay_ms.unwrap_or(u64::MAX);
                let ripe = mark.is_ripe(input.now_ms, delay_ms);
                if self.judge.demands(Guard::RipeMarksOnly, ripe) {
                    self.remove(block, blocks);
                } else {
                    blocks.remove(0);
                    self.remove_next(blocks);
                }
            }
            (Removal::Meta, Outcome::Applied) => self.list_directory(block.id, blocks),
            (Removal::Directory, Outcome::Listed(keys)) => {
                let objects = self.objects(block, &keys);
                self.delete_objects(objects, blocks);
            }
            (Removal::Objects(mut objects), Outcome::Applied) => {
                objects.remove(0);
                self.delete_objects(objects, blocks);
            }
            // An error, or a deletion of unknown effect: the block is left as it is. Its mark is still
            // there, and the next pass takes it up.
            (_, _) => {
                blocks.remove(0);
                self.remove_next(blocks);
            }
        }
    }

    fn remove(&mut self, block: Marked, blocks: Vec<Marked>) {
        if !self.judge.applies(Guard::MarksGoLast) {
            let mut objects = marks_of(block);
            objects.push(Key::Meta(block.id));
            self.delete_objects(objects, blocks);
        } else if self.judge.applies(Guard::MetaGoesFirst) {
            let delete = Effect::Delete(Key::Meta(block.id));
            self.go(Pass::Removing(Removal::Meta, blocks), delete);
        } else {
            self.list_directory(block.id, blocks);
        }
    }

    fn list_directory(&mut self, id: BlockId, blocks: Vec<Marked>) {
        self.go(Pass::Removing(Removal::Directory, blocks), Effect::List(Prefix::Block(id)));
    }

    /// What is left to delete, in order.
    fn objects(&self, block: Marked, there: &[Key]) -> Vec<Key> {
        let mut objects = there.to_vec();
        objects.retain(|key| !matches!(key, Key::DeletionMark(_)));
        objects.extend(marks_of(block));
        objects
    }

    fn delete_objects(&mut self, objects: Vec<Key>, mut blocks: Vec<Marked>) {
        if let Some(&key) = objects.first() {
            self.go(Pass::Removing(Removal::Objects(objects), blocks), Effect::Delete(key));
        } else {
            blocks.remove(0);
            self.remove_next(blocks);
        }
    }
}

impl<V: Guards<Guard>> Turn<'_, V> {
    /// What is left of blocks that have no meta any more, each block's mark last.
    pub(super) fn remains_among(&mut self, keys: &[Key]) -> Vec<Key> {
        let mut data = Vec::new();
        let mut marks = Vec::new();
        for key in keys {
            match *key {
                Key::Chunks(id) | Key::Index(id) | Key::NoCompactMark(id) | Key::VisitMark(id)
                    if self.is_remains(id, keys) =>
                {
                    data.push(*key);
                }
                Key::DeletionMark(id) if self.is_remains(id, keys) => marks.push(*key),
                _ => {}
            }
        }
        data.append(&mut marks);
        data
    }

    fn is_remains(&mut self, id: BlockId, keys: &[Key]) -> bool {
        let marked = keys.contains(&Key::DeletionMark(id));
        !keys.contains(&Key::Meta(id)) && self.judge.demands(Guard::PartialsStay, marked)
    }

    /// Deletes the first of these objects; after the last the pass is over.
    pub(super) fn tidy(&mut self, objects: Vec<Key>) {
        if let Some(&key) = objects.first() {
            self.go(Pass::Tidying(objects), Effect::Delete(key));
        }
    }
}

/// The marks of a block in the order in which they go.
fn marks_of(block: Marked) -> Vec<Key> {
    let mut marks = vec![Key::DeletionMark(block.id)];
    if block.no_compact {
        marks.push(Key::GlobalNoCompactMark(block.id));
    }
    marks.push(Key::GlobalDeletionMark(block.id));
    marks
}

/// The blocks that are marked for deletion.
pub(super) fn marked_in(keys: &[Key]) -> Vec<Marked> {
    let marked = |key: &Key| match key {
        Key::GlobalDeletionMark(id) => {
            Some(Marked { id: *id, no_compact: keys.contains(&Key::GlobalNoCompactMark(*id)) })
        }
        _ => None,
    };
    keys.iter().filter_map(marked).collect()
}
