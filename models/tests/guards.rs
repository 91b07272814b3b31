//! The models turn `weaken` on, in the same build as everything beside them. The default roles stay as
//! they are: no room for a guard to be dropped in, and another type than a weakened one.
//!
//! That a weakened role cannot be put where a default one is asked for is shown by files that must not
//! compile, in `tests/guards.rs` of the library.

use std::any::TypeId;

use surehold::compaction::compactor::Limits;
use surehold::compaction::object::GroupId;
use surehold::compaction::plan::Range;
use surehold::compaction::{Cleaner, Compactor, Guard, cleaner};
use surehold::guard::Weakened;
use surehold::{Guards, Verified};
use surehold_models::everything::protocols;
use surehold_models::tier::Tier;

/// A field as in a service.
struct Service {
    compactor: Compactor,
    cleaner: Cleaner,
}

#[test]
fn guards_take_no_room_beside_weakened_ones() {
    assert_eq!(size_of::<Verified>(), 0);
    assert_eq!(size_of::<Cleaner>(), size_of::<cleaner::Limits>());
    assert_eq!(size_of::<Compactor>(), size_of::<Limits>());
    assert_eq!(size_of::<Service>(), size_of::<(Limits, cleaner::Limits)>());
    // A weakened one has to keep somewhere what it is without.
    assert!(size_of::<Compactor<Weakened<Guard>>>() > size_of::<Limits>());
}

#[test]
fn a_service_holds_the_verified_roles() {
    let limits = Limits::for_range(Range { group: GroupId(1), start_ms: 0, end_ms: 100 });
    let service = Service {
        compactor: Compactor::new(limits),
        cleaner: Cleaner::new(cleaner::Limits::default()),
    };
    assert_eq!(type_of(&service.compactor), TypeId::of::<Compactor<Verified>>());
    assert_eq!(type_of(&service.cleaner), TypeId::of::<Cleaner<Verified>>());
    assert_ne!(type_of(&service.compactor), TypeId::of::<Compactor<Weakened<Guard>>>());
    assert_ne!(type_of(&service.cleaner), TypeId::of::<Cleaner<Weakened<Guard>>>());
}

/// The guards that a weakened role is without, and the default keeps.
#[test]
fn each_guard_can_be_dropped_alone_and_only_from_the_weakened() {
    for guard in Guard::ALL {
        let weakened = Weakened::without([guard]);
        let dropped: Vec<_> = Guard::ALL.into_iter().filter(|g| !weakened.keeps(*g)).collect();
        assert_eq!(dropped, [guard]);
        assert!(Verified.keeps(guard));
    }
}

fn type_of<T: 'static>(_: &T) -> TypeId {
    TypeId::of::<T>()
}

/// A removal shows something only where the protocol with all of its guards is shown to hold.
#[test]
fn the_verified_protocol_is_run_wherever_a_guard_is_removed() {
    for protocol in protocols() {
        let verified = protocol.verified(&|card| matches!(card.tier, Tier::Ci | Tier::Nightly));
        let names: Vec<_> = verified.iter().map(|run| run.scope().name).collect();
        for (_, run) in protocol.mutants() {
            let name = run.scope().name;
            assert!(names.contains(&name), "{} is not run in {name}", protocol.name());
        }
    }
}
