//! Small models with known answers, and planted errors that must be caught.

mod alike;
mod judgement;
mod limits;
mod planted;
mod reference;
mod refused;
mod rounds;
mod spaces;
mod threads;
mod toys;
