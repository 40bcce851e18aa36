//! A server under test.

use leaseproof_engines::Engine;
use leaseproof_engines::servers::Endpoint;

/// A server that is up, and the engine it is.
#[derive(Clone)]
pub struct Target {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Where its server is.
    pub endpoint: Endpoint,
}
