//! Binds and reads the types of MySQL and MariaDB, which share one protocol.

use sqlx::mysql::{MySql, MySqlArguments, MySqlConnection, MySqlDatabaseError, MySqlRow};
use sqlx::query::Query;
use sqlx::{Column, Row as _, TypeInfo};

use super::{Row, Value, WireError, impl_wire};

type MySqlQuery<'query> = Query<'query, MySql, MySqlArguments>;

fn bind<'query>(query: MySqlQuery<'query>, value: &'query Value) -> MySqlQuery<'query> {
    match value {
        Value::Null => query.bind(None::<i64>),
        Value::Int(value) => query.bind(*value),
        Value::Text(value) => query.bind(value.as_str()),
        Value::Bytes(value) => query.bind(value.as_slice()),
    }
}

fn read(row: &MySqlRow) -> Result<Row, sqlx::Error> {
    let cell = |index: usize| {
        let kind = row.column(index).type_info().name();
        let value = if kind.contains("UNSIGNED") {
            let value = row.try_get_unchecked::<Option<u64>, _>(index)?;
            // No statement of ours reads an unsigned number near the limit.
            value.map(|value| Value::Int(i64::try_from(value).unwrap_or(i64::MAX)))
        } else if kind.contains("INT") {
            row.try_get_unchecked::<Option<i64>, _>(index)?.map(Value::Int)
        } else {
            row.try_get_unchecked::<Option<Vec<u8>>, _>(index)?.map(Value::Bytes)
        };
        Ok(value.unwrap_or(Value::Null))
    };
    (0..row.len()).map(cell).collect()
}

fn error(error: &sqlx::Error) -> WireError {
    // The errno, not the SQLSTATE: 1205 and 1020 share `HY000` with many fatal errors.
    let code = error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<MySqlDatabaseError>())
        .map(|error| error.number().to_string());
    WireError::from_sqlx(error, code)
}

impl_wire!(MySqlConnection, bind, read, error);
