//! Hashing a value as it is under other names.

use std::fmt;
use std::hash::Hasher;

use serde::ser::{self, Impossible, Serialize, Serializer};

/// Which numbers in a serialised value are names, or hold one, and what they become.
pub trait Names {
    /// The types, each with one number in it, and the fields that hold names.
    const PLACES: &'static [&'static str];

    /// The variants that hold a list of names which is kept ascending, and so has no order of its own.
    const SETS: &'static [&'static str] = &[];

    /// What the number in such a place becomes.
    fn renamed(&self, place: &'static str, number: u64) -> u64;
}

/// What the library's collections are serialised as: their entries, in the order of their keys.
const IN_ORDER_OF_KEYS: [&str; 3] = ["Table", "Map", "Set"];

/// Feeds a hasher with a value as it is with these names changed.
///
/// Two values of one type feed the same if they are equal under other names, as far as entries of collections are
/// concerned; and, but for a collision of hashes, only then.
pub fn feed<T: Serialize + ?Sized, N: Names>(value: &T, names: &N, hasher: &mut impl Hasher) {
    let mut feed = Feed { names, hasher, place: None, is_unordered: false };
    let fed = value.serialize(&mut feed);
    assert!(fed.is_ok(), "hashing cannot fail, and what is hashed has no reason to refuse");
}

/// The hash of one entry of a collection whose entries come in no order.
fn hash_of<T: Serialize + ?Sized, N: Names>(value: &T, names: &N) -> u64 {
    super::hash(|hasher| feed(value, names, hasher))
}

struct Feed<'a, N, H> {
    names: &'a N,
    hasher: &'a mut H,
    /// The place of a name, of which the number comes next.
    place: Option<&'static str>,
    /// Whether the list that comes next is a collection without an order of its own.
    is_unordered: bool,
}

impl<N: Names, H: Hasher> Feed<'_, N, H> {
    fn number(&mut self, number: u64) -> Result<(), fmt::Error> {
        let place = self.place.take();
        let number = place.map_or(number, |place| self.names.renamed(place, number));
        self.hasher.write_u64(number);
        Ok(())
    }

    fn at(&mut self, place: &'static str) {
        if N::PLACES.contains(&place) {
            self.place = Some(place);
        }
    }

    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), fmt::Error> {
        self.at(name);
        value.serialize(&mut *self)?;
        self.place = None;
        Ok(())
    }
}

/// The entries of a list, or of a collection that has no order.
struct Entries<'f, 'a, N, H> {
    feed: &'f mut Feed<'a, N, H>,
    /// The sum of the entries' hashes, if they have no order.
    sum: Option<u64>,
}

impl<N: Names, H: Hasher> Entries<'_, '_, N, H> {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
        match &mut self.sum {
            Some(sum) => *sum = sum.wrapping_add(hash_of(value, self.feed.names)),
            None => value.serialize(&mut *self.feed)?,
        }
        Ok(())
    }

    fn end(self) -> Result<(), fmt::Error> {
        if let Some(sum) = self.sum {
            self.feed.hasher.write_u64(sum);
        }
        Ok(())
    }
}

/// The parts of a variant.
struct Variant<'f, 'a, N, H> {
    feed: &'f mut Feed<'a, N, H>,
    /// Whether a list among them is a set.
    holds_set: bool,
}

impl<'f, 'a, N: Names, H: Hasher> Serializer for &'f mut Feed<'a, N, H> {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Entries<'f, 'a, N, H>;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Variant<'f, 'a, N, H>;
    type SerializeMap = Impossible<(), fmt::Error>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn serialize_bool(self, value: bool) -> Result<(), fmt::Error> {
        self.hasher.write_u8(u8::from(value));
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), fmt::Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), fmt::Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), fmt::Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), fmt::Error> {
        self.hasher.write_i64(value);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), fmt::Error> {
        self.number(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), fmt::Error> {
        self.number(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), fmt::Error> {
        self.number(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), fmt::Error> {
        self.number(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), fmt::Error> {
        self.hasher.write_u128(value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), fmt::Error> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), fmt::Error> {
        self.hasher.write_u64(value.to_bits());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), fmt::Error> {
        self.hasher.write_u32(value.into());
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), fmt::Error> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), fmt::Error> {
        self.hasher.write_usize(value.len());
        self.hasher.write(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), fmt::Error> {
        self.hasher.write_u8(0);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), fmt::Error> {
        self.hasher.write_u8(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), fmt::Error> {
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), fmt::Error> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
    ) -> Result<(), fmt::Error> {
        self.hasher.write_u32(index);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), fmt::Error> {
        if IN_ORDER_OF_KEYS.contains(&name) {
            self.is_unordered = true;
            return value.serialize(self);
        }
        self.field(name, value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<(), fmt::Error> {
        self.hasher.write_u32(index);
        value.serialize(self)
    }

    /// The number of entries comes first, or one that moves from a list to the next would leave no trace.
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, fmt::Error> {
        self.hasher.write_usize(len.ok_or(fmt::Error)?);
        let sum = std::mem::take(&mut self.is_unordered).then_some(0);
        Ok(Entries { feed: self, sum })
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant, fmt::Error> {
        self.hasher.write_u32(index);
        Ok(Variant { feed: self, holds_set: N::SETS.contains(&variant) })
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap, fmt::Error> {
        // No state has one: the library's maps are lists of entries, so that their keys need be no text.
        Err(fmt::Error)
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self, fmt::Error> {
        self.hasher.write_u32(index);
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

impl<N: Names, H: Hasher> ser::SerializeSeq for Entries<'_, '_, N, H> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
        self.add(value)
    }

    fn end(self) -> Result<(), fmt::Error> {
        Entries::end(self)
    }
}

/// Parts in a fixed order, of a fixed number.
macro_rules! parts {
    ($($kind:ident . $add:ident),+) => {
        $(impl<N: Names, H: Hasher> ser::$kind for &mut Feed<'_, N, H> {
            type Ok = ();
            type Error = fmt::Error;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), fmt::Error> {
                Ok(())
            }
        })+
    };
}

parts!(SerializeTuple.serialize_element, SerializeTupleStruct.serialize_field);

impl<N: Names, H: Hasher> ser::SerializeTupleVariant for Variant<'_, '_, N, H> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
        self.feed.is_unordered = self.holds_set;
        value.serialize(&mut *self.feed)?;
        self.feed.is_unordered = false;
        Ok(())
    }

    fn end(self) -> Result<(), fmt::Error> {
        Ok(())
    }
}

/// Fields by name. One that is left out tells so, or the next ones would take its place.
macro_rules! fields {
    ($($kind:ident),+) => {
        $(impl<N: Names, H: Hasher> ser::$kind for &mut Feed<'_, N, H> {
            type Ok = ();
            type Error = fmt::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), fmt::Error> {
                self.field(name, value)
            }

            fn skip_field(&mut self, _name: &'static str) -> Result<(), fmt::Error> {
                self.hasher.write_u8(u8::MAX);
                Ok(())
            }

            fn end(self) -> Result<(), fmt::Error> {
                Ok(())
            }
        })+
    };
}

fields!(SerializeStruct, SerializeStructVariant);

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use surehold::collections::{Map, Seq, Table};

    use super::*;

    #[derive(Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Name(u16);

    #[derive(Serialize, Clone)]
    struct Life {
        owner: Name,
        number: u16,
        word: Option<u64>,
    }

    struct Swap;

    impl Names for Swap {
        const PLACES: &'static [&'static str] = &["Name", "word"];
        const SETS: &'static [&'static str] = &["Add"];

        fn renamed(&self, _place: &'static str, number: u64) -> u64 {
            if number < 2 { 1 - number } else { number }
        }
    }

    struct Same;

    impl Names for Same {
        const PLACES: &'static [&'static str] = &[];
        const SETS: &'static [&'static str] = &["Add"];

        fn renamed(&self, _place: &'static str, number: u64) -> u64 {
            number
        }
    }

    fn swapped<T: Serialize>(value: &T) -> u64 {
        hash_of(value, &Swap)
    }

    fn plain<T: Serialize>(value: &T) -> u64 {
        hash_of(value, &Same)
    }

    #[test]
    fn names_change_and_other_numbers_do_not() {
        let life = |owner, number, word| Life { owner: Name(owner), number, word };
        assert_eq!(swapped(&life(0, 0, Some(1))), plain(&life(1, 0, Some(0))));
        assert_eq!(swapped(&life(1, 1, None)), plain(&life(0, 1, None)));
        assert_eq!(swapped(&life(2, 1, Some(7))), plain(&life(2, 1, Some(7))));
        assert_ne!(swapped(&life(0, 0, None)), plain(&life(0, 0, None)));
        // A place without its number leaves no trace on the next one.
        assert_eq!(swapped(&(life(0, 0, None), 1_u16)), plain(&(life(1, 0, None), 1_u16)));
    }

    #[test]
    fn entries_are_in_the_order_of_their_keys_and_so_in_none() {
        let table = |entries: &[(u16, u8)]| -> Table<Name, u8> {
            let mut table = Table::new();
            for (name, value) in entries {
                table.insert(Name(*name), *value);
            }
            table
        };
        let map = |entries: &[(u16, u8)]| -> Map<Name, u8> {
            entries.iter().map(|(name, value)| (Name(*name), *value)).collect()
        };
        assert_eq!(swapped(&table(&[(0, 3), (1, 5)])), plain(&table(&[(0, 5), (1, 3)])));
        assert_eq!(swapped(&map(&[(0, 3), (1, 5)])), plain(&map(&[(0, 5), (1, 3)])));
        assert_ne!(swapped(&table(&[(0, 3), (1, 5)])), plain(&table(&[(0, 3), (1, 5)])));
        assert_ne!(plain(&table(&[(0, 3)])), plain(&table(&[(0, 3), (1, 3)])));
        assert_ne!(plain(&table(&[])), plain(&table(&[(0, 0)])));
    }

    #[derive(Serialize)]
    enum Change {
        Ask(u8, Vec<Name>),
        Add(u8, Vec<Name>),
    }

    #[test]
    fn a_list_that_is_kept_ascending_by_name_has_no_order() {
        let names = || vec![Name(0), Name(1), Name(2)];
        assert_eq!(swapped(&Change::Add(1, names())), plain(&Change::Add(1, names())));
        assert_ne!(swapped(&Change::Ask(1, names())), plain(&Change::Ask(1, names())));
        let less = Change::Add(1, vec![Name(0), Name(1)]);
        assert_ne!(plain(&less), plain(&Change::Add(1, names())));
        assert_ne!(
            swapped(&(less, names())),
            plain(&(Change::Add(1, vec![Name(0), Name(1)]), names()))
        );
    }

    #[test]
    fn the_order_of_a_list_counts() {
        let list = |names: &[u16]| names.iter().map(|name| Name(*name)).collect::<Vec<_>>();
        let seq = |names: &[u16]| names.iter().map(|name| Name(*name)).collect::<Seq<_>>();
        assert_eq!(swapped(&list(&[0, 1])), plain(&list(&[1, 0])));
        assert_ne!(swapped(&list(&[0, 1])), plain(&list(&[0, 1])));
        assert_ne!(plain(&seq(&[0, 1])), plain(&seq(&[1, 0])));
        // Where one list ends and the next one begins.
        assert_ne!(plain(&(list(&[1]), list(&[]))), plain(&(list(&[]), list(&[1]))));
        assert_ne!(plain(&Some(list(&[]))), plain(&None::<Vec<Name>>));
    }
}
