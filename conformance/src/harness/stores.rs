//! The stores of one case, all of which are removed when it ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseproof_engines::store::{Store, StoreOptions};
use leaseproof_engines::{EngineError, ErrorKind};

use crate::controls::faulty::FaultyStore;
use crate::controls::{Control, Planted};
use crate::harness::target::Target;
use crate::plan::variant::Variant;

/// The longest wait for a store to be removed; longer than a session's lock timeout.
const CLOSE_BOUND: Duration = Duration::from_secs(15);

/// The stores of one case, all of which are removed when it ends.
#[derive(Clone)]
pub struct Stores {
    pub(crate) target: Target,
    control: Option<&'static Control>,
    variant: Variant,
    open: Arc<Mutex<Vec<Arc<dyn Store>>>>,
}

impl Stores {
    pub(crate) fn new(
        target: &Target,
        control: Option<&'static Control>,
        variant: Variant,
    ) -> Self {
        Self { target: target.clone(), control, variant, open: Arc::default() }
    }

    pub(crate) fn planted(&self) -> &'static [Planted] {
        self.control.map_or(&[], |control| control.planted)
    }

    /// Opens a store, with what is planted in it if this case is a control.
    pub(crate) async fn open(&self, options: StoreOptions) -> Result<Arc<dyn Store>, EngineError> {
        let engine = self.target.engine;
        let mut options = self.variant.fill(options);
        let mut statements = engine.statements_on(options.clock);
        let mut faults = false;
        for planted in self.planted() {
            match planted {
                Planted::Store(fault) => {
                    faults = true;
                    engine.plant(*fault, &mut statements).map_err(|reason| {
                        let message = format!("`{}` cannot be planted: {reason}", fault.as_str());
                        EngineError::new(engine.name(), "plant a fault", ErrorKind::Fatal, message)
                    })?;
                }
                Planted::Isolation(isolation) => {
                    options.isolation = options.isolation.or(Some(*isolation));
                }
                Planted::Session(_) | Planted::Worker(_) | Planted::OneTokenPerActor => {}
            }
        }
        if faults {
            options.statements = Some(statements);
        }
        let mut store: Arc<dyn Store> = engine.open(&self.target.endpoint, options).await?.into();
        self.list().push(Arc::clone(&store));
        for planted in self.planted() {
            if let Planted::Session(fault) = planted {
                store = Arc::new(FaultyStore { inner: store, fault: *fault });
            }
        }
        Ok(store)
    }

    /// Removes every store that was opened.
    pub(crate) async fn close(&self) -> Result<(), EngineError> {
        let stores = std::mem::take(&mut *self.list());
        let mut outcome = Ok(());
        for store in stores {
            let closed = tokio::time::timeout(CLOSE_BOUND, store.close()).await;
            let closed = closed.unwrap_or_else(|_| {
                let message =
                    format!("the store could not be removed within {} s", CLOSE_BOUND.as_secs());
                let engine = self.target.engine.name();
                Err(EngineError::new(engine, "remove the store", ErrorKind::Unavailable, message))
            });
            outcome = outcome.and(closed);
        }
        outcome
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Arc<dyn Store>>> {
        self.open.lock().expect("nobody panics while holding the list")
    }
}
