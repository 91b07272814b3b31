//! Where each object lies.
//!
//! Ids are ULIDs, groups ten digits, so that paths sort as keys do. The names are upstream's (dossier 2), with the
//! plan's id in them.

use object_store::path::Path;
use ulid::Ulid;

use crate::compaction::object::{BlockId, GroupId, Key, PlanId, PlanKey, Prefix};

const GROUPS: &str = "partitioned-groups";
const VISITS: &str = "visit-marks";
const MARKERS: &str = "markers";
const CLEANER: &str = "cleaner-visit-marker.json";

/// The path of an object.
#[must_use]
pub fn path_of(key: Key) -> Path {
    let block = |id: BlockId, rest: &str| format!("{}/{rest}", ulid(id.0));
    let global = |id: BlockId, rest: &str| format!("{MARKERS}/{}-{rest}", ulid(id.0));
    let text = match key {
        Key::Chunks(id) => block(id, "chunks"),
        Key::Index(id) => block(id, "index"),
        Key::Meta(id) => block(id, "meta.json"),
        Key::DeletionMark(id) => block(id, "deletion-mark.json"),
        Key::NoCompactMark(id) => block(id, "no-compact-mark.json"),
        Key::VisitMark(id) => block(id, "visit-mark.json"),
        Key::GlobalDeletionMark(id) => global(id, "deletion-mark.json"),
        Key::GlobalNoCompactMark(id) => global(id, "no-compact-mark.json"),
        Key::CleanerMarker => format!("{MARKERS}/{CLEANER}"),
        Key::Plan(plan) => format!("{GROUPS}/{}.json", name_of(plan)),
        Key::Marker(plan, partition) => {
            format!("{GROUPS}/{VISITS}/{}/partition-{partition}-visit-mark.json", name_of(plan))
        }
    };
    Path::from(text)
}

/// The folder that a listing goes through; `None` is the whole bucket.
#[must_use]
pub fn folder_of(prefix: Prefix) -> Option<Path> {
    let text = match prefix {
        Prefix::Blocks | Prefix::AllBlocks => return None,
        Prefix::Marks => MARKERS.to_owned(),
        Prefix::Plans => GROUPS.to_owned(),
        Prefix::AllMarkers => format!("{GROUPS}/{VISITS}"),
        Prefix::Markers(plan) => format!("{GROUPS}/{VISITS}/{}", name_of(plan)),
        Prefix::Block(id) => ulid(id.0),
    };
    Some(Path::from(text))
}

/// Whether a listing lists this key.
pub(super) fn is_beneath(key: Key, prefix: Prefix) -> bool {
    match prefix {
        Prefix::Blocks => matches!(key, Key::Meta(_)),
        Prefix::Marks => matches!(key, Key::GlobalDeletionMark(_) | Key::GlobalNoCompactMark(_)),
        Prefix::Plans => matches!(key, Key::Plan(_)),
        Prefix::AllMarkers => matches!(key, Key::Marker(..)),
        Prefix::Markers(plan) => matches!(key, Key::Marker(of, _) if of == plan),
        Prefix::Block(id) => key.block() == Some(id),
        Prefix::AllBlocks => key.block().is_some(),
    }
}

/// The object that lies there, if it is one of the protocol's: of any path at most one key, whose path it is.
#[must_use]
pub fn key_at(path: &Path) -> Option<Key> {
    let text = path.as_ref();
    let key = parse(text)?;
    (path_of(key).as_ref() == text).then_some(key)
}

fn parse(text: &str) -> Option<Key> {
    let (first, rest) = text.split_once('/')?;
    match first {
        MARKERS if rest == CLEANER => Some(Key::CleanerMarker),
        MARKERS => {
            let (id, kind) = rest.split_once('-')?;
            let id = BlockId(number(id)?);
            match kind {
                "deletion-mark.json" => Some(Key::GlobalDeletionMark(id)),
                "no-compact-mark.json" => Some(Key::GlobalNoCompactMark(id)),
                _ => None,
            }
        }
        GROUPS => match rest.split('/').collect::<Vec<_>>()[..] {
            [file] => Some(Key::Plan(plan(file.strip_suffix(".json")?)?)),
            [VISITS, folder, file] => {
                let partition =
                    file.strip_prefix("partition-")?.strip_suffix("-visit-mark.json")?;
                Some(Key::Marker(plan(folder)?, partition.parse().ok()?))
            }
            _ => None,
        },
        _ => {
            let id = BlockId(number(first)?);
            match rest {
                "chunks" => Some(Key::Chunks(id)),
                "index" => Some(Key::Index(id)),
                "meta.json" => Some(Key::Meta(id)),
                "deletion-mark.json" => Some(Key::DeletionMark(id)),
                "no-compact-mark.json" => Some(Key::NoCompactMark(id)),
                "visit-mark.json" => Some(Key::VisitMark(id)),
                _ => None,
            }
        }
    }
}

fn name_of(key: PlanKey) -> String {
    match key.plan {
        Some(plan) => format!("{:010}-{}", key.group.0, ulid(plan.0)),
        None => format!("{:010}", key.group.0),
    }
}

fn plan(name: &str) -> Option<PlanKey> {
    let (group, plan) = match name.split_once('-') {
        Some((group, plan)) => (group, Some(PlanId(number(plan)?))),
        None => (name, None),
    };
    Some(PlanKey { group: GroupId(group.parse().ok()?), plan })
}

fn ulid(id: u128) -> String {
    Ulid(id).to_string()
}

fn number(text: &str) -> Option<u128> {
    Ulid::from_string(text).ok().map(|ulid| ulid.0)
}
