//! The names of uploads that no metadata names yet: `<segment>.tmp.<uuid>` (dossier 1).

const MARK: &str = ".tmp.";
/// Lengths of a UUID's groups of hexadecimal digits.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// What all temporary names of a segment begin with.
#[must_use]
pub fn prefix(segment: &str) -> String {
    format!("{segment}{MARK}")
}

/// The temporary name of a segment for one upload; `id` is not used for another.
#[must_use]
pub fn name(segment: &str, id: u128) -> String {
    let digits = format!("{id:032x}");
    let mut name = prefix(segment);
    let mut at = 0;
    for length in GROUPS {
        if at > 0 {
            name.push('-');
        }
        name.push_str(&digits[at..at + length]);
        at += length;
    }
    name
}

/// Whether a path or URI names a temporary upload: only such are ever cleaned up.
#[must_use]
pub fn is_one(path: &str) -> bool {
    path.rsplit_once(MARK).is_some_and(|(segment, id)| !segment.is_empty() && is_uuid(id))
}

fn is_uuid(text: &str) -> bool {
    let mut groups = text.split('-');
    let all = GROUPS.iter().all(|length| {
        groups.next().is_some_and(|group| {
            group.len() == *length && group.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    });
    all && groups.next().is_none()
}
