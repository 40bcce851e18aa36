//! SQLite's account of one connection's work: steps of the virtual machine, pages touched and written.
//!
//! The driver shows none of it. Statements that the driver keeps prepared are found through the raw
//! handle; the few that it does not keep, such as `BEGIN`, leave no account.

use std::ffi::c_int;

use sqlx::sqlite::SqliteConnection;

/// The work of one connection since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) steps: u64,
    pub(crate) pages: u64,
    pub(crate) written_pages: u64,
}

impl Work {
    pub(crate) fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.pages += other.pages;
        self.written_pages += other.written_pages;
    }
}

/// Reads the account of a connection.
///
/// # Errors
/// When the connection's worker is gone.
#[expect(unsafe_code, reason = "the account can be read through the raw handle only")]
pub(crate) async fn work(connection: &mut SqliteConnection) -> Result<Work, sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    let database = handle.as_raw_handle().as_ptr();
    let mut steps = 0;
    // SAFETY: the handle is locked, so no statement runs and none is finalized meanwhile; the
    // statements come from SQLite's own list of this very connection.
    unsafe {
        let mut statement = libsqlite3_sys::sqlite3_next_stmt(database, std::ptr::null_mut());
        while !statement.is_null() {
            let kind = libsqlite3_sys::SQLITE_STMTSTATUS_VM_STEP;
            let counted = libsqlite3_sys::sqlite3_stmt_status(statement, kind, 0);
            // SQLite counts in 32 bits without a sign and hands them out with one.
            steps += u64::from(counted.cast_unsigned());
            statement = libsqlite3_sys::sqlite3_next_stmt(database, statement);
        }
    }
    let status = |kind: c_int| {
        let (mut current, mut peak) = (0, 0);
        // SAFETY: as above, and both places to write to live until the call returns.
        let code = unsafe {
            libsqlite3_sys::sqlite3_db_status(database, kind, &raw mut current, &raw mut peak, 0)
        };
        if code == libsqlite3_sys::SQLITE_OK { u64::from(current.cast_unsigned()) } else { 0 }
    };
    Ok(Work {
        steps,
        pages: status(libsqlite3_sys::SQLITE_DBSTATUS_CACHE_HIT)
            + status(libsqlite3_sys::SQLITE_DBSTATUS_CACHE_MISS),
        written_pages: status(libsqlite3_sys::SQLITE_DBSTATUS_CACHE_WRITE),
    })
}
