//! Where what has to survive a crash is kept.

use core::convert::Infallible;

/// Keeps one value, the newest.
pub trait Durables<D> {
    /// Why it could not be read or written.
    type Error: core::error::Error + Send + Sync + 'static;

    /// What was saved last; `None` if nothing ever was.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not what was saved.
    fn load(&mut self) -> Result<Option<D>, Self::Error>;

    /// Saves a value. Once this returns, it survives a crash; a crash before leaves this one or the one before, whole.
    ///
    /// # Errors
    ///
    /// It may have been saved or not. The driver that asked takes it for its end, as after a crash.
    fn save(&mut self, durable: &D) -> Result<(), Self::Error>;
}

/// Keeps a value for as long as it lives itself: for simulations, which crash the driver and not this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory<D>(Option<D>);

impl<D> Memory<D> {
    /// Nothing was saved yet.
    #[must_use]
    pub fn empty() -> Self {
        Self(None)
    }

    /// What was saved last.
    #[must_use]
    pub fn kept(&self) -> Option<&D> {
        self.0.as_ref()
    }
}

impl<D: Clone> Durables<D> for Memory<D> {
    type Error = Infallible;

    fn load(&mut self) -> Result<Option<D>, Infallible> {
        Ok(self.0.clone())
    }

    fn save(&mut self, durable: &D) -> Result<(), Infallible> {
        self.0 = Some(durable.clone());
        Ok(())
    }
}

impl<D, S: Durables<D>> Durables<D> for &mut S {
    type Error = S::Error;

    fn load(&mut self) -> Result<Option<D>, S::Error> {
        (**self).load()
    }

    fn save(&mut self, durable: &D) -> Result<(), S::Error> {
        (**self).save(durable)
    }
}
