//! Errors that the explorer makes on purpose in tests: a check that has never failed has shown nothing.

/// An error of a checker that the tests plant, to see that the comparison with the second opinion catches it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests plant errors"))]
pub(crate) enum Planted {
    /// The edge of this number, counted from 0 in the order of generation, is lost after its target was generated.
    DropEdge(u64),
    /// A run that met its time limit reports as if it were exhausted.
    TimeoutIsDone,
    /// An endless round that was found is not told.
    RoundIgnored,
    /// The form by which images of a state are found to be one leaves one of them out.
    TieMissed,
    /// Every edge counts as one that spends no fault.
    FaultIsFree,
    /// Successors outside the boundary are judged by no property.
    BoundaryUnjudged,
}
