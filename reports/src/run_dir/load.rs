//! Reading a run back.

use std::{fs, path::Path};

use serde::{Deserialize, de::DeserializeOwned};

use super::{RUN_JSON, ReadError};
use crate::{Run, schema::check_version};

/// The part of a report that every version has: what decides whether the rest can be read.
#[derive(Deserialize)]
struct Header {
    schema: String,
    #[serde(default)]
    tool: HeaderTool,
}

#[derive(Default, Deserialize)]
struct HeaderTool {
    version: Option<String>,
}

pub(super) fn load(path: &Path) -> Result<Run, ReadError> {
    let path = if path.is_dir() { &path.join(RUN_JSON) } else { path };
    let bytes =
        fs::read(path).map_err(|source| ReadError::Open { path: path.to_owned(), source })?;
    let schema = |source| ReadError::Schema { path: path.to_owned(), source };
    let header: Header = parse(path, &bytes)?;
    let tool = header.tool.version.as_deref().unwrap_or("of that schema");
    check_version(&header.schema, tool).map_err(schema)?;
    let run: Run = parse(path, &bytes)?;
    run.validate().map_err(schema)?;
    Ok(run)
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, ReadError> {
    serde_json::from_slice(bytes).map_err(|source| {
        let (path, line, column) = (path.to_owned(), source.line(), source.column());
        if source.is_eof() {
            ReadError::Truncated { path, line, column }
        } else {
            ReadError::Malformed { path, line, column, source }
        }
    })
}
