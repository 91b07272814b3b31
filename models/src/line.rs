//! One line of a story.

/// One line: who did what, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Line {
    /// Who.
    pub actor: String,
    /// Did what, on which object.
    pub action: String,
    /// What came of it, and what was believed.
    pub note: String,
    /// The guards that decided what follows.
    pub decided_by: Vec<&'static str>,
}
