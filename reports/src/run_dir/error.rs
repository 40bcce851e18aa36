//! Why a run could not be written or read; every message names the path.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::SchemaError;

/// Why a run could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunDirError {
    /// The id of the run cannot be the name of a directory.
    #[error(
        "the run id `{id}` is not a plain file name of letters, digits, `.`, `_` and `-` \
         that starts with a letter or digit"
    )]
    InvalidId {
        /// The id.
        id: String,
    },
    /// There is a run with this id already.
    #[error("the run directory `{}` exists already", .path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The run contradicts itself, and was not written.
    #[error("the run is not a valid report and was not written")]
    Invalid {
        /// The contradiction.
        source: SchemaError,
    },
    /// The file system refused, for example because it is full.
    #[error("could not write `{}`", .path.display())]
    Write {
        /// The file or directory that could not be written.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// `latest` is not a link, and so is not ours to replace.
    #[error("`{}` is not a link and was left as it is; move it away to publish a run", .path.display())]
    NotALink {
        /// The path of `latest`.
        path: PathBuf,
    },
    /// The run was not written before it was published.
    #[error("`{}` was not written, so there is nothing to publish", .path.display())]
    NothingToPublish {
        /// The path of the report that is not there.
        path: PathBuf,
    },
}

impl RunDirError {
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}

/// Why a run could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("could not read `{}`", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("`{}` is empty: there is nothing to compare with", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is a report, and not a baseline.
    #[error("`{}` is no baseline", .path.display())]
    NoBaseline {
        /// The file.
        path: PathBuf,
    },
    /// The file ends in the middle of a value.
    #[error("`{}` is cut short: it ends at line {line}, column {column}", .path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The line where it ends, from 1.
        line: usize,
        /// The column where it ends, in bytes, from 1; 0 is the start of the line.
        column: usize,
    },
    /// The file is not JSON, or JSON that is not a run.
    #[error("`{}` is not the report of a run", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line of the first thing that is wrong, from 1; 0 when it has no place.
        line: usize,
        /// The column of it, in bytes, from 1; 0 when it has no place.
        column: usize,
        /// What is wrong; its message ends with the line and column.
        source: serde_json::Error,
    },
    /// The report was changed after it was written.
    #[error("`{}` was changed after it was written: its digest is not that of its content", .path.display())]
    Edited {
        /// The file or directory.
        path: PathBuf,
    },
    /// The report has no digest.
    #[error("`{}` has no digest, so nothing shows that it is what was written", .path.display())]
    Unsealed {
        /// The file or directory.
        path: PathBuf,
    },
    /// The run is of another schema version, or contradicts itself.
    #[error("the report `{}` cannot be used", .path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The version or the contradiction.
        source: SchemaError,
    },
}
