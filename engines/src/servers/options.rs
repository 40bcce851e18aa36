//! How servers are to be provided, for a whole run.

use std::path::PathBuf;
use std::time::Duration;

use crate::servers::OwnerPid;

/// How servers are to be provided.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProvideOptions {
    /// The program whose hidden command `keep` is [`keeper_main`](crate::servers::keeper_main).
    pub keeper: PathBuf,
    /// The process for whose lifetime servers are kept; those of one owner are shared.
    pub owner: OwnerPid,
    /// Whether containers may be started.
    pub docker: bool,
    /// Whether images may be pulled and built; otherwise only those that are there are used.
    pub fetch: bool,
    /// Whether installed programs may be run.
    pub native: bool,
    /// How long to wait without any sign of progress.
    pub patience: Duration,
}

impl ProvideOptions {
    /// Every provider allowed, and 180 s of patience.
    #[must_use]
    pub fn new(keeper: impl Into<PathBuf>, owner: OwnerPid) -> Self {
        Self {
            keeper: keeper.into(),
            owner,
            docker: true,
            fetch: true,
            native: true,
            patience: Duration::from_secs(180),
        }
    }
}
