//! A store whose statements are not all the reference ones, for who measures and does not judge.

use leaseproof_engines::statement::Statements;
use leaseproof_engines::store::{Store, StoreOptions};
use leaseproof_engines::{EngineError, ErrorKind};

use crate::harness::target::Target;

/// Opens a store with the reference statements after this edit.
///
/// # Errors
/// When an edit finds nothing to change, or the engine cannot open the store.
pub(crate) async fn opened<E: std::fmt::Display>(
    target: &Target,
    edit: impl FnOnce(&mut Statements) -> Result<(), E>,
    mut options: StoreOptions,
) -> Result<Box<dyn Store>, EngineError> {
    let engine = target.engine;
    let mut statements = engine.statements_on(options.clock);
    edit(&mut statements).map_err(|error| {
        let message = error.to_string();
        EngineError::new(engine.name(), "change a statement", ErrorKind::Fatal, message)
    })?;
    options.statements = Some(statements);
    engine.open(&target.endpoint, options).await
}

/// Removes the store, whatever was seen on it.
///
/// # Errors
/// What was seen, when that is an error; otherwise that the store could not be removed.
pub(crate) async fn closed<T>(
    store: Box<dyn Store>,
    seen: Result<T, EngineError>,
) -> Result<T, EngineError> {
    let closed = store.close().await;
    let seen = seen?;
    closed?;
    Ok(seen)
}
