//! Checkers: a history in, a verdict out, no I/O.

pub mod drain;
