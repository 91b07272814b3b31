//! All ways in which actors of a kind can exchange their names.

/// Who takes whose name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// The new name of each actor, by its old one.
    to: Vec<u8>,
    /// The old name of each actor, by its new one.
    from: Vec<u8>,
}

impl Renaming {
    fn new(to: Vec<u8>) -> Self {
        let mut from = vec![0; to.len()];
        for (old, new) in (0..).zip(&to) {
            from[usize::from(*new)] = old;
        }
        Self { to, from }
    }

    /// The new name of an actor. Who is none keeps his.
    #[must_use]
    pub fn of(&self, name: u64) -> u64 {
        let new = usize::try_from(name).ok().and_then(|name| self.to.get(name));
        new.map_or(name, |new| u64::from(*new))
    }

    /// Actors by their new names: what stands in the place of each.
    pub fn in_order<'a, T>(&'a self, actors: &'a [T]) -> impl Iterator<Item = &'a T> {
        (0..actors.len()).map(|new| {
            let old = self.from.get(new).map_or(new, |old| usize::from(*old));
            &actors[old]
        })
    }

    /// A set of actors, a bit for each.
    #[must_use]
    pub fn of_bits(&self, bits: u64) -> u64 {
        let set = (0..64).filter(|name| bits >> name & 1 == 1);
        set.fold(0, |all, name| all | 1 << self.of(name))
    }
}

/// Every renaming under which actors of one kind stay of that kind, the one that changes nothing first. `kinds` says of
/// each actor of which kind it is; `None` for one that keeps its name.
#[must_use]
pub fn renamings<K: PartialEq>(kinds: &[Option<K>]) -> Vec<Renaming> {
    let mut all = Vec::new();
    extend(kinds, &mut Vec::new(), &mut all);
    all
}

/// The one renaming under which so many actors keep their names.
#[must_use]
pub fn names_kept(actors: usize) -> Vec<Renaming> {
    renamings(&vec![None::<()>; actors])
}

fn extend<K: PartialEq>(kinds: &[Option<K>], to: &mut Vec<u8>, all: &mut Vec<Renaming>) {
    let Some(kind) = kinds.get(to.len()) else {
        all.push(Renaming::new(to.clone()));
        return;
    };
    for (name, other) in (0..).zip(kinds) {
        let fits = match kind {
            Some(_) => kind == other,
            None => usize::from(name) == to.len(),
        };
        if fits && !to.contains(&name) {
            to.push(name);
            extend(kinds, to, all);
            to.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_of_a_kind_exchange_names_and_others_keep_theirs() {
        let to = |kinds: &[Option<u8>]| {
            renamings(kinds).into_iter().map(|renaming| renaming.to).collect::<Vec<_>>()
        };
        assert_eq!(to(&[]), [Vec::<u8>::new()]);
        assert_eq!(to(&[Some(0), Some(1), None]), [[0, 1, 2]]);
        assert_eq!(to(&[None, None]), [[0, 1]]);
        assert_eq!(names_kept(2), renamings(&[None::<u8>, None]));
        assert_eq!(to(&[Some(0), Some(0), Some(1)]), [[0, 1, 2], [1, 0, 2]]);
        let three = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        assert_eq!(to(&[Some(0), Some(0), Some(0)]), three);
        assert_eq!(to(&[Some(0), Some(1), Some(0), Some(1)]).len(), 4);
    }

    #[test]
    fn places_and_bits_follow_the_names() {
        let renaming = Renaming::new(vec![1, 2, 0]);
        assert_eq!([0, 1, 2, 3].map(|name| renaming.of(name)), [1, 2, 0, 3]);
        assert_eq!(renaming.in_order(&["a", "b", "c", "d"]).copied().collect::<String>(), "cabd");
        assert_eq!(renaming.of_bits(0b1101), 0b1011);
    }
}
