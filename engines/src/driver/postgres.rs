//! Binds and reads PostgreSQL's types.

use sqlx::postgres::{PgArguments, PgConnection, PgRow, Postgres};
use sqlx::query::Query;
use sqlx::{Column, Row as _, TypeInfo};

use super::{Row, Value, WireError, impl_wire};

type PgQuery<'query> = Query<'query, Postgres, PgArguments>;

fn bind<'query>(query: PgQuery<'query>, value: &'query Value) -> PgQuery<'query> {
    match value {
        Value::Null => query.bind(None::<i64>),
        Value::Int(value) => query.bind(*value),
        Value::Text(value) => query.bind(value.as_str()),
        Value::Bytes(value) => query.bind(value.as_slice()),
    }
}

fn read(row: &PgRow) -> Result<Row, sqlx::Error> {
    let cell = |index: usize| {
        let value = match row.column(index).type_info().name() {
            "INT2" => row.try_get::<Option<i16>, _>(index)?.map(|value| Value::Int(value.into())),
            "INT4" => row.try_get::<Option<i32>, _>(index)?.map(|value| Value::Int(value.into())),
            "INT8" => row.try_get::<Option<i64>, _>(index)?.map(Value::Int),
            "BOOL" => row.try_get::<Option<bool>, _>(index)?.map(|value| Value::Int(value.into())),
            "BYTEA" => row.try_get::<Option<Vec<u8>>, _>(index)?.map(Value::Bytes),
            _ => row.try_get::<Option<String>, _>(index)?.map(Value::Text),
        };
        Ok(value.unwrap_or(Value::Null))
    };
    (0..row.len()).map(cell).collect()
}

fn error(error: &sqlx::Error) -> WireError {
    let code =
        error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned());
    WireError::from_sqlx(error, code)
}

impl_wire!(PgConnection, bind, read, error);
