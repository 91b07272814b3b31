//! The trait is sealed: a service cannot bring guards of its own.

use surehold::Guards;

#[derive(Clone, Debug)]
struct Lax;

impl<G: Copy> Guards<G> for Lax {
    fn keeps(&self, _guard: G) -> bool {
        false
    }
}

fn main() {}
