//! Binds and reads SQLite's values.

use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Row as _, TypeInfo, ValueRef};

use super::{Row, Value, WireError, impl_wire};

type SqliteQuery<'query> = Query<'query, Sqlite, SqliteArguments>;

fn bind<'query>(query: SqliteQuery<'query>, value: &'query Value) -> SqliteQuery<'query> {
    match value {
        Value::Null => query.bind(None::<i64>),
        Value::Int(value) => query.bind(*value),
        Value::Text(value) => query.bind(value.as_str()),
        Value::Bytes(value) => query.bind(value.as_slice()),
    }
}

fn read(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    let cell = |index: usize| {
        let raw = row.try_get_raw(index)?;
        // The value's own storage class, not the column's declared type.
        let kind = raw.type_info();
        Ok(match if raw.is_null() { "NULL" } else { kind.name() } {
            "NULL" => Value::Null,
            "INTEGER" => Value::Int(row.try_get_unchecked(index)?),
            "BLOB" => Value::Bytes(row.try_get_unchecked(index)?),
            _ => Value::Text(row.try_get_unchecked(index)?),
        })
    };
    (0..row.len()).map(cell).collect()
}

fn error(error: &sqlx::Error) -> WireError {
    let code =
        error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned());
    WireError::from_sqlx(error, code)
}

impl_wire!(SqliteConnection, bind, read, error);
