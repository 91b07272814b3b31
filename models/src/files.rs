//! Scenario files that are anything: read or refused, and what is read is replayed.
//!
//! Text that a fuzzer makes up is refused by its first comma. So an input is one of the committed scenarios and what is
//! to be changed in it: numbers become others, words others of the same file, steps come twice or not at all.

use std::path::Path;
use std::sync::OnceLock;

use arbitrary::{Arbitrary as _, Unstructured};
use serde::Serialize;
use serde_json::Value;

use crate::{commit, compaction, rebalance};

/// How many bytes are read at most.
pub const MAX_LEN: usize = 256;

/// How many changes are made at most.
const MAX_CHANGES: usize = 12;

/// Replaying a longer text takes longer, and shows no more.
const MAX_TEXT: usize = 20_000;

/// What became of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No scenario of its protocol, with what was said of it.
    Refused(String),
    /// It was replayed against this variant.
    Replayed(&'static str),
}

/// Reads bytes as a text, or as a committed scenario with changes, and replays it against one of its protocol's variants.
///
/// # Panics
///
/// If anything does, or a refusal says nothing, or a scenario that is read is replayed otherwise the second time.
pub fn scenario(data: &[u8]) -> Outcome {
    let mut bytes = Unstructured::new(&data[..data.len().min(MAX_LEN)]);
    let at = u16::arbitrary(&mut bytes).unwrap_or(0);
    let variant = usize::from(u8::arbitrary(&mut bytes).unwrap_or(0));
    let known = committed();
    let text = match known.get(usize::from(at) % (known.len() + 1)) {
        Some(known) => changed(known.clone(), &mut bytes).to_string(),
        None => String::from_utf8_lossy(bytes.take_rest()).into_owned(),
    };
    let outcome = played(&text, variant);
    if let Outcome::Refused(why) = &outcome {
        assert!(!why.is_empty(), "a refusal says why: {text}");
    }
    outcome
}

/// The committed scenarios, in the order of their paths.
fn committed() -> &'static [Value] {
    static ALL: OnceLock<Vec<Value>> = OnceLock::new();
    ALL.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut paths: Vec<_> = ["compaction", "rebalance", "commit"]
            .iter()
            .flat_map(|protocol| folder.join(protocol).read_dir().into_iter().flatten())
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.sort();
        let read = |path: &std::path::PathBuf| {
            serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
        };
        paths.iter().filter_map(read).collect()
    })
}

fn changed(mut file: Value, bytes: &mut Unstructured<'_>) -> Value {
    for _ in 0..MAX_CHANGES {
        if bytes.is_empty() || change(&mut file, bytes).is_err() {
            break;
        }
    }
    file
}

/// Changes one part of a file.
fn change(file: &mut Value, bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let parts = count(file);
    let (at, other) = (bytes.int_in_range(0..=parts - 1)?, bytes.int_in_range(0..=parts - 1)?);
    let other = nth(file, &mut other.clone()).map(|part| part.clone());
    let Some(part) = nth(file, &mut at.clone()) else { return Ok(()) };
    match part {
        Value::Number(number) => *part = Value::from(number_for(number.as_u64(), bytes)?),
        Value::String(word) => *word = word_for(word, other, bytes)?,
        Value::Array(items) if !items.is_empty() => {
            let item = bytes.int_in_range(0..=items.len() - 1)?;
            match bytes.int_in_range(0..=2_u8)? {
                0 => drop(items.remove(item)),
                1 => items.push(items[item].clone()),
                _ => items.swap(0, item),
            }
        }
        Value::Object(fields) if bytes.ratio(1, 2)? => {
            let name = fields.keys().nth(bytes.int_in_range(0..=fields.len().max(1) - 1)?).cloned();
            name.and_then(|name| fields.remove(&name));
        }
        _ => *part = other.unwrap_or(Value::Null),
    }
    Ok(())
}

fn number_for(now: Option<u64>, bytes: &mut Unstructured<'_>) -> arbitrary::Result<u64> {
    let now = now.unwrap_or(0);
    let some = [0, 1, 2, 3, 26, 64, 255, 65_535, u64::from(u32::MAX), u64::MAX / 2, u64::MAX];
    Ok(match bytes.int_in_range(0..=15_usize)? {
        0..=1 => now.wrapping_add(1),
        2 => now.wrapping_sub(1),
        3 => u64::arbitrary(bytes)?,
        chosen => some[(chosen - 4) % some.len()],
    })
}

/// Another word of the same file, or the same with one of its words taken out, come twice or become a number.
fn word_for(
    word: &str,
    other: Option<Value>,
    bytes: &mut Unstructured<'_>,
) -> arbitrary::Result<String> {
    if let (Some(Value::String(other)), true) = (other, bytes.ratio(1, 3)?) {
        return Ok(other);
    }
    let mut words: Vec<String> = word.split(' ').map(str::to_string).collect();
    let at = bytes.int_in_range(0..=words.len() - 1)?;
    match bytes.int_in_range(0..=3_u8)? {
        0 => drop(words.remove(at)),
        1 => words.insert(at, words[at].clone()),
        2 => words[at] = number_for(words[at].parse().ok(), bytes)?.to_string(),
        _ => words[at] = String::arbitrary(bytes)?,
    }
    Ok(words.join(" "))
}

/// How many parts a file has, itself among them.
fn count(part: &Value) -> usize {
    1 + match part {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// The part of this number, each before those within it.
fn nth<'a>(part: &'a mut Value, number: &mut usize) -> Option<&'a mut Value> {
    if *number == 0 {
        return Some(part);
    }
    *number -= 1;
    match part {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, number)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, number)),
        _ => None,
    }
}

/// Reads a text as the command does, and replays it twice.
fn played(text: &str, variant: usize) -> Outcome {
    if text.len() > MAX_TEXT {
        return Outcome::Refused("too long to be replayed often".into());
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let of = |variants: Vec<&'static str>| variants[variant % variants.len()];
    match value.get("protocol").and_then(Value::as_str) {
        Some("rebalance") => {
            let read = rebalance::scenario::Scenario::parse(text);
            let name = of(rebalance::replay::variants());
            twice(read, name, |scenario| rebalance::replay::replay(scenario, name))
        }
        Some("commit") => {
            let read = commit::scenario::Scenario::parse(text);
            let name = of(commit::replay::variants());
            twice(read, name, |scenario| commit::replay::replay(scenario, name))
        }
        _ => {
            let read = compaction::scenario::Scenario::parse(text);
            let name = of(compaction::replay::variants());
            let replay = |scenario: &_| compaction::replay::replay(scenario, name)?.ok();
            twice(read, name, replay)
        }
    }
}

fn twice<S, E: ToString, R: Serialize>(
    read: Result<S, E>,
    name: &'static str,
    replay: impl Fn(&S) -> Option<R>,
) -> Outcome {
    let scenario = match read {
        Ok(scenario) => scenario,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let told = || serde_json::to_string(&replay(&scenario)).unwrap_or_default();
    assert_eq!(told(), told(), "replayed otherwise the second time");
    Outcome::Replayed(name)
}
