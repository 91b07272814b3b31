//! Some fields of a JSON object, as they came. Whatever else there is is passed over.

use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Malformed, Place, Why};

/// What a field holds.
#[derive(Debug, Default)]
pub(super) enum Field {
    /// Nothing: it does not come, or is `null`.
    #[default]
    Absent,
    /// Something, twice.
    Twice,
    Text(String),
    /// A text of this many bytes, which are too many. It is not kept.
    TooLong {
        bytes: usize,
        most: usize,
    },
    Number(u64),
    /// Something else.
    Other(&'static str),
}

/// The fields of these names, with the longest text of each in bytes.
pub(super) fn read<'de, D: Deserializer<'de>, const N: usize>(
    body: D,
    names: [(&'static str, usize); N],
) -> Result<[Field; N], Malformed> {
    let malformed = |why| Malformed { place: Place::Body, name: "", why };
    let read = body.deserialize_any(Object(names)).map_err(|_| malformed(Why::Syntax))?;
    read.map_err(|other| malformed(Why::Is(other)))
}

impl Field {
    /// Whether it does not come.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// A text that is not empty.
    pub(super) fn text(self, name: &'static str) -> Result<String, Malformed> {
        let why = match self {
            Self::Text(text) if text.is_empty() => Why::Empty,
            Self::Text(text) => return Ok(text),
            Self::Number(_) => Why::Is("a number"),
            other => other.why(),
        };
        Err(Malformed { place: Place::Body, name, why })
    }

    pub(super) fn number(self, name: &'static str) -> Result<u64, Malformed> {
        let why = match self {
            Self::Number(number) => return Ok(number),
            other => other.why(),
        };
        Err(Malformed { place: Place::Body, name, why })
    }

    /// A text, if it is one.
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent
            | Self::Twice
            | Self::TooLong { .. }
            | Self::Number(_)
            | Self::Other(_) => None,
        }
    }

    fn why(self) -> Why {
        match self {
            Self::Absent => Why::Missing,
            Self::Twice => Why::Twice,
            Self::Text(_) => Why::Is("a text"),
            Self::TooLong { bytes, most } => Why::TooLong { bytes, most },
            Self::Number(_) => Why::Is("a number"),
            Self::Other(kind) => Why::Is(kind),
        }
    }
}

/// Reads the object, or says what is there instead.
struct Object<const N: usize>([(&'static str, usize); N]);

impl<'de, const N: usize> Visitor<'de> for Object<N> {
    type Value = Result<[Field; N], &'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = [const { Field::Absent }; N];
        while let Some(known) = entries.next_key_seed(Key(&self.0))? {
            let Some(at) = known else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            let field = entries.next_value_seed(Value { most: self.0[at].1 })?;
            fields[at] = if fields[at].is_absent() { field } else { Field::Twice };
        }
        Ok(Ok(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        skip(items)?;
        Ok(Err("an array"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Err("a text"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Err("a number"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Err("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Err("a number"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Err("true or false"))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Err("null"))
    }
}

/// Which of the names a key is.
struct Key<'a>(&'a [(&'static str, usize)]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|(name, _)| *name == key))
    }
}

/// Reads the value of a field, whatever it is.
struct Value {
    most: usize,
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Field, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Field, E> {
        let (bytes, most) = (text.len(), self.most);
        Ok(if bytes > most { Field::TooLong { bytes, most } } else { Field::Text(text.into()) })
    }

    fn visit_u64<E>(self, number: u64) -> Result<Field, E> {
        Ok(Field::Number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Field, E> {
        Ok(u64::try_from(number).map_or(Field::Other("a negative number"), Field::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Field, E> {
        Ok(Field::Other("no whole number in range"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Field, E> {
        Ok(Field::Other("true or false"))
    }

    fn visit_unit<E>(self) -> Result<Field, E> {
        Ok(Field::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Field, A::Error> {
        skip(items)?;
        Ok(Field::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Field, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::Other("an object"))
    }
}

fn skip<'de, A: SeqAccess<'de>>(mut items: A) -> Result<(), A::Error> {
    while items.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}
