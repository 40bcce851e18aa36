//! Claims through SQLite's C API and nothing else: what a driver is held against.
//!
//! The connection is set up as the driver's are (extended codes, foreign keys, a busy timeout), and
//! whatever else matters, such as the journal, is the file's own. Like a session, a claim hands out owned
//! ids after the statement has run to its end.

use std::ffi::{CStr, CString, c_int};
use std::path::Path;
use std::ptr;

use libsqlite3_sys as sqlite;

use super::CODES;
use crate::driver::WireError;
use crate::error::{EngineError, ErrorKind};
use crate::lease::{ClaimBatch, EventId};
use crate::statement::Compiled;
use crate::store::{Result, SessionOptions};

/// A connection with one prepared claim.
pub struct PlainClaims {
    database: *mut sqlite::sqlite3,
    statement: *mut sqlite::sqlite3_stmt,
    parameters: Vec<String>,
}

fn fatal(message: impl ToString) -> EngineError {
    EngineError::new("sqlite", "claim", ErrorKind::Fatal, message.to_string())
}

#[expect(unsafe_code, reason = "it is the C API itself that is measured")]
impl PlainClaims {
    /// Opens the file and prepares a claim whose parameters are numbered.
    ///
    /// # Errors
    /// When SQLite refuses the file or the statement.
    pub fn open(file: &Path, claim: &Compiled) -> Result<Self> {
        let name = CString::new(file.as_os_str().as_encoded_bytes()).map_err(fatal)?;
        let text = CString::new(claim.text.as_str()).map_err(fatal)?;
        let parameters = claim.parameters.clone();
        let mut this = Self { database: ptr::null_mut(), statement: ptr::null_mut(), parameters };
        let timeout = SessionOptions::default().lock_timeout.as_millis();
        let timeout = c_int::try_from(timeout).unwrap_or(c_int::MAX);
        let flags = sqlite::SQLITE_OPEN_READWRITE
            | sqlite::SQLITE_OPEN_NOMUTEX
            | sqlite::SQLITE_OPEN_PRIVATECACHE;
        // SAFETY: both texts end with a NUL and outlive the calls, and both places to write to are the
        // struct's own, which closes whatever was opened, also after a failure.
        unsafe {
            let opened = &raw mut this.database;
            this.check(sqlite::sqlite3_open_v2(name.as_ptr(), opened, flags, ptr::null()))?;
            this.check(sqlite::sqlite3_extended_result_codes(this.database, 1))?;
            this.check(sqlite::sqlite3_busy_timeout(this.database, timeout))?;
            let pragma = c"PRAGMA foreign_keys = ON".as_ptr();
            let none = ptr::null_mut();
            this.check(sqlite::sqlite3_exec(this.database, pragma, None, none, ptr::null_mut()))?;
            let prepared = &raw mut this.statement;
            this.check(sqlite::sqlite3_prepare_v3(
                this.database,
                text.as_ptr(),
                -1,
                sqlite::SQLITE_PREPARE_PERSISTENT,
                prepared,
                ptr::null_mut(),
            ))?;
        }
        Ok(this)
    }

    /// Claims a batch. The ids come in the order in which SQLite returns them.
    ///
    /// # Errors
    /// When SQLite refuses, or the statement wants a parameter that a batch does not have.
    pub fn claim(&mut self, batch: &ClaimBatch, max_attempts: u32) -> Result<Vec<(EventId, i64)>> {
        self.bind(batch, max_attempts)?;
        let mut claimed = Vec::new();
        // SAFETY: the statement was prepared by `open` and belongs to this thread as long as it is
        // borrowed; a column is read before the next step, which may move it.
        let code = unsafe {
            loop {
                match sqlite::sqlite3_step(self.statement) {
                    sqlite::SQLITE_ROW => {
                        let bytes = sqlite::sqlite3_column_text(self.statement, 0);
                        let id = match bytes.is_null() {
                            true => String::new(),
                            false => CStr::from_ptr(bytes.cast()).to_string_lossy().into_owned(),
                        };
                        let due_at = sqlite::sqlite3_column_int64(self.statement, 1);
                        claimed.push((EventId(id), due_at));
                    }
                    code => break code,
                }
            }
        };
        // SAFETY: as above. Its result repeats that of the step.
        unsafe { sqlite::sqlite3_reset(self.statement) };
        if code != sqlite::SQLITE_DONE {
            self.check(code)?;
        }
        Ok(claimed)
    }

    fn bind(&mut self, batch: &ClaimBatch, max_attempts: u32) -> Result<()> {
        for (place, name) in (1..).zip(&self.parameters) {
            let number = match name.as_str() {
                "limit" => Some(batch.limit.into()),
                "max_attempts" => Some(max_attempts.into()),
                "now" => Some(batch.now.0),
                "until" => Some(batch.until.0),
                "token" => None,
                other => return Err(fatal(format!("the claim wants an unknown `:{other}`"))),
            };
            let bytes = &batch.token.0;
            let length = c_int::try_from(bytes.len()).map_err(fatal)?;
            // SAFETY: the statement has a parameter at each place, and SQLite copies the token.
            let code = unsafe {
                match number {
                    Some(number) => sqlite::sqlite3_bind_int64(self.statement, place, number),
                    None => sqlite::sqlite3_bind_blob(
                        self.statement,
                        place,
                        bytes.as_ptr().cast(),
                        length,
                        sqlite::SQLITE_TRANSIENT(),
                    ),
                }
            };
            self.check(code)?;
        }
        Ok(())
    }

    fn check(&self, code: c_int) -> Result<()> {
        if code == sqlite::SQLITE_OK {
            return Ok(());
        }
        // SAFETY: the message belongs to the connection, which lives, and is copied at once; without a
        // connection SQLite has a message for that.
        let message = unsafe { CStr::from_ptr(sqlite::sqlite3_errmsg(self.database)) };
        let message = message.to_string_lossy().into_owned();
        let error = WireError { code: Some(code.to_string()), message, connection: false };
        Err(CODES.classify("claim", error))
    }
}

#[expect(unsafe_code, reason = "what was opened through the C API is closed through it")]
impl Drop for PlainClaims {
    fn drop(&mut self) {
        // SAFETY: each is what SQLite gave out, or null, which it ignores; nothing uses them hereafter.
        unsafe {
            sqlite::sqlite3_finalize(self.statement);
            sqlite::sqlite3_close(self.database);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine as _;
    use crate::lease::{FencingToken, Instant, Strategy};
    use crate::servers::Endpoint;
    use crate::statement::{Placeholder, compile};
    use crate::store::StoreOptions;

    #[tokio::test]
    async fn a_plain_claim_takes_what_a_session_would() {
        let directory = tempfile::tempdir().unwrap();
        let endpoint = Endpoint::directory(directory.path().to_owned());
        let store = crate::sqlite::ENGINE.open(&endpoint, StoreOptions::default()).await.unwrap();
        let mut instruments = store.instruments().await.unwrap();
        instruments.fill(5).await.unwrap();
        let statements = crate::sqlite::ENGINE.statements();
        let claim = compile(statements.get("claim_batch").unwrap(), Placeholder::Numbered);
        let mut claims = PlainClaims::open(Path::new(&store.name()), &claim).unwrap();
        let batch = ClaimBatch {
            limit: 3,
            token: FencingToken::new("plain"),
            now: Instant(10),
            until: Instant(20),
            strategy: Strategy::UpdateReturning,
        };
        let taken = [(); 3].map(|()| claims.claim(&batch, 1).unwrap());
        assert_eq!(taken.each_ref().map(Vec::len), [3, 2, 0]);
        assert_eq!(taken[0][2], (EventId::new("event-00000002"), 2));
        let audit = instruments.audit().await.unwrap();
        assert_eq!((audit.attempts, audit.held), (5, 5));
        drop(claims);
        instruments.close().await;
        store.close().await.unwrap();
    }
}
