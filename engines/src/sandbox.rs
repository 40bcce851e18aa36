//! Names for stores, and the list of a store's sessions that must end before it can be dropped.

use std::sync::Mutex;

use crate::store::SessionId;

/// Every schema, database and file of ours begins like this; nothing else is ever dropped.
pub const SANDBOX_PREFIX: &str = "leaseproof_";

/// A name that no other store has: the process id tells whose it was, 64 random bits the rest.
pub(crate) fn sandbox_name() -> String {
    format!("{SANDBOX_PREFIX}{}_{:016x}", std::process::id(), rand::random::<u64>())
}

/// The sessions a store has opened.
#[derive(Default)]
pub(crate) struct Roster(Mutex<Vec<SessionId>>);

impl Roster {
    pub(crate) fn add(&self, session: SessionId) {
        self.sessions().push(session);
    }

    pub(crate) fn all(&self) -> Vec<SessionId> {
        self.sessions().clone()
    }

    pub(crate) fn take(&self) -> Vec<SessionId> {
        std::mem::take(&mut *self.sessions())
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Vec<SessionId>> {
        self.0.lock().expect("nobody panics while holding the roster")
    }
}
