//! What a contract found, and the checks that find it.

use leaseproof_engines::EngineError;

/// What a contract that was kept saw: one line for each thing worth knowing.
pub type Evidence = Vec<String>;

/// Kept with evidence, or why not.
pub type Judged = Result<Evidence, Finding>;

/// Why a contract was not found kept.
#[derive(Debug)]
pub enum Finding {
    /// The promise was broken; what was observed.
    Broken(String),
    /// It could not be decided; what was missing.
    Inconclusive(String),
    /// The engine lacks something, probed at run time.
    Unsupported(String),
    /// Somebody asked for the run to end before the case had.
    Interrupted,
    /// We could not find out.
    Errored(EngineError),
}

impl From<EngineError> for Finding {
    fn from(error: EngineError) -> Self {
        Self::Errored(error)
    }
}

/// Goes on when the promise holds here, and ends the contract as broken otherwise.
///
/// # Errors
/// [`Finding::Broken`] with what was observed.
pub fn check(holds: bool, observed: impl FnOnce() -> String) -> Result<(), Finding> {
    if holds { Ok(()) } else { Err(Finding::Broken(observed())) }
}

/// Goes on when two values are equal, and ends the contract as broken otherwise.
///
/// # Errors
/// [`Finding::Broken`] that names the step, what was promised and what was seen.
pub fn check_eq<T: std::fmt::Debug + PartialEq>(
    step: &str,
    seen: T,
    promised: T,
) -> Result<(), Finding> {
    check(seen == promised, || format!("{step}: {seen:?} where {promised:?} was promised"))
}
