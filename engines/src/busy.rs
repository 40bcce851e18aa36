//! SQLite's lock wait, made visible: our own busy handler with the built-in schedule.
//!
//! SQLite has no server to ask. A connection that finds the file locked calls its busy handler, and
//! the time spent in there is the wait. This is the one module that needs the raw handle.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use sqlx::sqlite::SqliteConnection;

/// The delays of SQLite's own busy timeout in milliseconds; the last one repeats.
/// Source: `sqliteDefaultBusyCallback` in SQLite's `main.c`.
const DELAYS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// A millisecond before the first look of a waiter that is not earlier than `ms` after its first.
pub(crate) fn look_after_ms(ms: u64) -> u64 {
    let mut look = 0;
    for delay in DELAYS_MS.iter().chain(std::iter::repeat(&DELAYS_MS[DELAYS_MS.len() - 1])) {
        look += delay;
        if look > ms {
            break;
        }
    }
    look - 1
}

/// What a connection's busy handler has seen.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    waiting: AtomicBool,
    budget_ms: AtomicU64,
    slept_ms: AtomicU64,
    /// When the wait that goes on was last looked at, in nanoseconds since `ORIGIN`.
    marked_ns: AtomicU64,
    wait_ns: AtomicU64,
    waits: AtomicU64,
    total_ns: AtomicU64,
    longest_ns: AtomicU64,
}

/// What busy handlers have seen in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) waits: u64,
    pub(crate) total_ns: u64,
    pub(crate) longest_ns: u64,
}

static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now_ns() -> u64 {
    u64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl Busy {
    /// Whether the connection's running statement has found the file locked and not got it yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst)
    }

    /// A statement has ended: whatever it waited for, it waits no more.
    pub(crate) fn settle(&self) {
        self.waiting.store(false, Ordering::SeqCst);
    }

    /// The waits there have been so far.
    pub(crate) fn waited(&self) -> Waited {
        Waited {
            waits: self.waits.load(Ordering::SeqCst),
            total_ns: self.total_ns.load(Ordering::SeqCst),
            longest_ns: self.longest_ns.load(Ordering::SeqCst),
        }
    }

    /// How long the wait that goes on has lasted.
    pub(crate) fn current_ns(&self) -> u64 {
        let since_mark = now_ns().saturating_sub(self.marked_ns.load(Ordering::SeqCst));
        self.wait_ns.load(Ordering::SeqCst) + since_mark
    }

    /// A wait begins. A time-out's last call is part of it, so only the first call of a wait counts.
    fn begin_wait(&self) {
        self.waits.fetch_add(1, Ordering::SeqCst);
        self.wait_ns.store(0, Ordering::SeqCst);
        self.marked_ns.store(now_ns(), Ordering::SeqCst);
    }

    /// The wait has lasted until now: the sleep and, since the last call, SQLite's own attempts.
    fn mark(&self) {
        let now = now_ns();
        let passed = now.saturating_sub(self.marked_ns.swap(now, Ordering::SeqCst));
        let wait = self.wait_ns.fetch_add(passed, Ordering::SeqCst) + passed;
        self.total_ns.fetch_add(passed, Ordering::SeqCst);
        self.longest_ns.fetch_max(wait, Ordering::SeqCst);
    }

    /// The delay before attempt `count + 1`, or `None` when the budget is spent.
    fn delay(&self, count: usize) -> Option<Duration> {
        let wanted = DELAYS_MS[count.min(DELAYS_MS.len() - 1)];
        if count == 0 {
            self.slept_ms.store(0, Ordering::SeqCst);
        }
        let slept = self.slept_ms.load(Ordering::SeqCst);
        let left = self.budget_ms.load(Ordering::SeqCst).saturating_sub(slept);
        let delay = wanted.min(left);
        self.slept_ms.store(slept + delay, Ordering::SeqCst);
        (delay > 0).then(|| Duration::from_millis(delay))
    }
}

/// A handler that is installed; it must outlive its connection.
pub(crate) struct Installed(Arc<Busy>);

impl Installed {
    pub(crate) fn busy(&self) -> &Arc<Busy> {
        &self.0
    }
}

/// Installs a handler that waits at most `budget` for one lock.
///
/// # Errors
/// When the connection's worker is gone or SQLite refuses the handler.
#[expect(unsafe_code, reason = "SQLite's busy handler can be set through the raw handle only")]
pub(crate) async fn install(
    connection: &mut SqliteConnection,
    budget: Duration,
) -> Result<Installed, sqlx::Error> {
    let busy = Arc::new(Busy::default());
    let budget_ms = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
    busy.budget_ms.store(budget_ms, Ordering::SeqCst);
    let mut handle = connection.lock_handle().await?;
    let argument = Arc::as_ptr(&busy).cast_mut().cast::<c_void>();
    // SAFETY: the handle is locked, so no statement runs. `argument` stays valid for as long as the
    // connection can call back: `Installed` keeps one strong reference, and gives it up only after
    // the connection was closed (see `reclaim`).
    let code = unsafe {
        libsqlite3_sys::sqlite3_busy_handler(
            handle.as_raw_handle().as_ptr(),
            Some(on_busy),
            argument,
        )
    };
    drop(handle);
    if code == libsqlite3_sys::SQLITE_OK {
        // A second reference that is never dropped unless the close is seen: a worker thread that
        // outlives a connection dropped without a goodbye may still call back.
        std::mem::forget(Arc::clone(&busy));
        Ok(Installed(busy))
    } else {
        Err(sqlx::Error::Protocol(format!("busy handler refused with code {code}")))
    }
}

/// Gives the handler's memory back; the connection must have been closed.
#[expect(unsafe_code, reason = "undoes the reference that `install` leaked on purpose")]
pub(crate) fn reclaim(installed: Installed) {
    // SAFETY: `install` forgot exactly one strong reference of this very Arc, the connection that
    // could have used it is closed, and `Installed` is consumed, so this happens once.
    unsafe { Arc::decrement_strong_count(Arc::as_ptr(&installed.0)) };
}

/// Called by SQLite on the connection's own worker thread; a non-zero result means "try again".
#[expect(unsafe_code, reason = "the argument comes back through C")]
#[expect(
    clippy::disallowed_methods,
    reason = "this sleep is SQLite's own way of waiting for a lock"
)]
unsafe extern "C" fn on_busy(argument: *mut c_void, count: c_int) -> c_int {
    // SAFETY: `argument` is the pointer that `install` registered and keeps alive.
    let busy = unsafe { &*argument.cast::<Busy>() };
    if count == 0 {
        busy.begin_wait();
    }
    let Some(delay) = busy.delay(usize::try_from(count).unwrap_or(0)) else {
        return 0;
    };
    busy.waiting.store(true, Ordering::SeqCst);
    std::thread::sleep(delay);
    busy.mark();
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_ends_just_before_a_look() {
        assert_eq!([50, 200, 1000].map(look_after_ms), [52, 227, 1027]);
    }

    #[test]
    fn the_schedule_ends_when_the_budget_is_spent() {
        let busy = Busy::default();
        busy.budget_ms.store(10, Ordering::SeqCst);
        let delays: Vec<_> = (0..5).map(|count| busy.delay(count)).collect();
        let ms = |delay: u64| Some(Duration::from_millis(delay));
        assert_eq!(delays, [ms(1), ms(2), ms(5), ms(2), None]);
        assert_eq!(busy.delay(0), ms(1), "a new lock has a new budget");
    }
}
