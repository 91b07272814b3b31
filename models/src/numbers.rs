//! Numbers that matter: those at the ends of their range, and those that were met before. Bytes alone seldom say them.

use std::collections::VecDeque;

use arbitrary::Unstructured;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How many of the last numbers are met again.
const REMEMBERED: usize = 16;

/// How many numbers of one event are replaced at most.
const MOST: u8 = 3;

/// The greatest of each type, greatest first. Whatever is too great for a place is refused there.
const GREATEST: [u64; 4] = [u64::MAX, u32::MAX as u64, u16::MAX as u64, u8::MAX as u64];

/// The last numbers of what a role took and asked for.
#[derive(Default)]
pub(crate) struct Numbers(VecDeque<u64>);

impl Numbers {
    /// Remembers the numbers of an event or an effect.
    pub(crate) fn note<T: Serialize>(&mut self, told: &T) {
        let Ok(mut value) = serde_json::to_value(told) else { return };
        each_number(&mut value, &mut |number| self.0.extend(number.as_u64()));
        self.0.drain(..self.0.len().saturating_sub(REMEMBERED));
    }

    /// The event, with some of its numbers replaced as the bytes say.
    pub(crate) fn put_into<T>(&self, event: T, bytes: &mut Unstructured<'_>) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        let times = bytes.int_in_range(0..=MOST).unwrap_or(0);
        (0..times).fold(event, |event, _| self.put_one(&event, bytes).unwrap_or(event))
    }

    fn put_one<T>(&self, event: &T, bytes: &mut Unstructured<'_>) -> Option<T>
    where
        T: Serialize + DeserializeOwned,
    {
        let value = serde_json::to_value(event).ok()?;
        let mut count = 0;
        each_number(&mut value.clone(), &mut |_| count += 1);
        let place = bytes.choose_index(count).ok()?;
        let less = u64::from(bytes.int_in_range(0..=1_u8).ok()?);
        let candidates: Vec<u64> = match bytes.int_in_range(0..=3_u8).ok()? {
            0 | 1 => GREATEST.map(|most| most - less).to_vec(),
            2 => vec![less],
            _ => vec![*bytes.choose_iter(self.0.iter()).ok()?],
        };
        candidates.into_iter().find_map(|number| with(value.clone(), place, number))
    }
}

/// Another number in one place, if it fits there.
fn with<T: DeserializeOwned>(mut value: Value, place: usize, number: u64) -> Option<T> {
    let mut at = 0;
    each_number(&mut value, &mut |old| {
        if at == place {
            *old = number.into();
        }
        at += 1;
    });
    serde_json::from_value(value).ok()
}

fn each_number(value: &mut Value, visit: &mut impl FnMut(&mut serde_json::Number)) {
    match value {
        Value::Number(number) => visit(number),
        Value::Array(all) => all.iter_mut().for_each(|one| each_number(one, visit)),
        Value::Object(all) => all.values_mut().for_each(|one| each_number(one, visit)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use arbitrary::Unstructured;

    use super::Numbers;

    /// Three numbers of other types come to their ends, whatever the bytes are, and nothing else does.
    #[test]
    fn numbers_come_to_the_ends_of_their_ranges_and_are_met_again() {
        let mut numbers = Numbers::default();
        numbers.note(&(7_u8, [300_u64]));
        let mut met = std::collections::BTreeSet::new();
        for seed in 0..20_000_u32 {
            let input: Vec<u8> = (1..9_u32)
                .map(|at| (seed.wrapping_mul(at.wrapping_mul(0x9e37_79b9)) >> 20) as u8)
                .collect();
            let (a, b, c) = numbers.put_into(
                (10_u8, (20_u32, String::new()), Some(30_u64)),
                &mut Unstructured::new(&input),
            );
            met.extend([(0, u64::from(a)), (1, u64::from(b.0)), (2, c.unwrap_or(0))]);
        }
        for number in [10, 0, 1, 7, 254, 255] {
            assert!(met.remove(&(0, number)), "{number}");
        }
        for number in [20, 0, 1, 7, 300, u64::from(u32::MAX) - 1, u64::from(u32::MAX)] {
            assert!(met.remove(&(1, number)), "{number}");
        }
        for number in [30, 0, 1, 7, 300, u64::MAX - 1, u64::MAX] {
            assert!(met.remove(&(2, number)), "{number}");
        }
        assert!(met.is_empty(), "{met:?}");
    }
}
