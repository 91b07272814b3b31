//! Guards as a type: which of the verified protocol's conditions a role keeps.
//!
//! A role is generic over [`Guards`] and defaults to [`Verified`], which keeps them all, has no size and
//! cannot be configured. The only other implementation, `Weakened`, exists under the feature `weaken` and
//! is another type: a service whose field says `Compactor` holds the verified one, even where Cargo
//! unifies features and builds the models into the same binary.

mod sealed {
    pub trait Sealed {}
}

/// Which guards a role keeps. Sealed: there is no third implementation.
pub trait Guards<G: Copy>:
    sealed::Sealed + Clone + core::fmt::Debug + Send + Sync + 'static
{
    /// Whether this guard is kept.
    fn keeps(&self, guard: G) -> bool;
}

/// All guards kept. What a service runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Verified;

impl sealed::Sealed for Verified {}

impl<G: Copy> Guards<G> for Verified {
    #[inline]
    fn keeps(&self, _guard: G) -> bool {
        true
    }
}

/// Some guards removed, to see what breaks. For models, fuzzing and tests.
#[cfg(feature = "weaken")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weakened<G> {
    removed: Vec<G>,
}

#[cfg(feature = "weaken")]
impl<G> Weakened<G> {
    /// All guards but these.
    pub fn without(removed: impl IntoIterator<Item = G>) -> Self {
        Self { removed: removed.into_iter().collect() }
    }
}

#[cfg(feature = "weaken")]
impl<G> sealed::Sealed for Weakened<G> {}

#[cfg(feature = "weaken")]
impl<G: Copy + PartialEq + core::fmt::Debug + Send + Sync + 'static> Guards<G> for Weakened<G> {
    fn keeps(&self, guard: G) -> bool {
        !self.removed.contains(&guard)
    }
}

/// Asks guards while a step is taken, and notes which of them decided something.
#[derive(Debug)]
pub(crate) struct Judge<'a, V, G> {
    guards: &'a V,
    decided_by: Vec<G>,
}

impl<'a, G: Copy + PartialEq, V: Guards<G>> Judge<'a, V, G> {
    pub(crate) fn new(guards: &'a V) -> Self {
        Self { guards, decided_by: Vec::new() }
    }

    /// Whether to go on. A failed condition stops the role only while the guard is kept.
    pub(crate) fn demands(&mut self, guard: G, condition: bool) -> bool {
        condition || !self.applies(guard)
    }

    /// For a guard that makes the role do something: whether it is kept. Noted as deciding if so.
    pub(crate) fn applies(&mut self, guard: G) -> bool {
        let kept = self.guards.keeps(guard);
        if kept && !self.decided_by.contains(&guard) {
            self.decided_by.push(guard);
        }
        kept
    }

    /// Whether a guard is kept, without noting anything: for the order of operations and the form of
    /// paths, which decide at every step.
    pub(crate) fn keeps(&self, guard: G) -> bool {
        self.guards.keeps(guard)
    }

    pub(crate) fn into_decided(self) -> Vec<G> {
        self.decided_by
    }
}
