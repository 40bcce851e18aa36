//! Stores that break `unit/classifies-errors`.

use crate::controls::answers::{ForgetsCode, SwallowsAtCommit, SwallowsRefusal, coded, misreports};
use crate::controls::{Control, Planted};
use leaseproof_engines::{Capability, ErrorKind};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "retryable-taken-for-fatal",
        &[Planted::Session(|| misreports(|error| error.is_retryable(), ErrorKind::Fatal))],
    )
    .seen_in("k3s-io/kine#721, laravel/framework#56944, DOMjudge/domjudge#2848"),
    Control::new(
        "deadlock-taken-for-fatal",
        &[Planted::Session(|| {
            misreports(|error| coded(error, &["1213", "40P01"]), ErrorKind::Fatal)
        })],
    )
    .requires(&[Capability::ConcurrentWriters]),
    Control::new(
        "lock-timeout-taken-for-fatal",
        &[Planted::Session(|| {
            misreports(|error| coded(error, &["1205", "55P03", "5"]), ErrorKind::Fatal)
        })],
    ),
    Control::new(
        "serialization-failure-taken-for-fatal",
        &[Planted::Session(|| misreports(|error| coded(error, &["40001"]), ErrorKind::Fatal))],
    )
    .requires(&[Capability::Serializable])
    .seen_in("Couchers-org/couchers#9439, divviup/janus#358"),
    Control::new(
        "stale-snapshot-taken-for-fatal",
        &[Planted::Session(|| misreports(|error| coded(error, &["517"]), ErrorKind::Fatal))],
    )
    .unless(&[Capability::ConcurrentWriters])
    .seen_in("IntersectMBO/ouroboros-consensus#2233"),
    Control::new("commit-swallows-its-error", &[Planted::Session(|| Box::new(SwallowsAtCommit))])
        .seen_in("dotnet/efcore#30851"),
    Control::new(
        "refused-write-taken-for-retryable",
        &[Planted::Session(|| {
            misreports(|error| error.kind == ErrorKind::Fenced, ErrorKind::Retryable)
        })],
    )
    .seen_in("joker1007/crono_trigger#55, laravel/framework#33933"),
    Control::new("refused-write-taken-for-done", &[Planted::Session(|| Box::new(SwallowsRefusal))]),
    Control::new(
        "lost-connection-taken-for-fatal",
        &[Planted::Session(|| {
            misreports(|error| error.kind == ErrorKind::Unavailable, ErrorKind::Fatal)
        })],
    )
    .requires(&[Capability::Terminate]),
    Control::new(
        "lost-connection-taken-for-retryable",
        &[Planted::Session(|| {
            misreports(|error| error.kind == ErrorKind::Unavailable, ErrorKind::Retryable)
        })],
    )
    .requires(&[Capability::Terminate]),
    Control::new(
        "refused-value-taken-for-retryable",
        &[Planted::Session(|| {
            misreports(|error| error.kind == ErrorKind::Fatal, ErrorKind::Retryable)
        })],
    ),
    Control::new("error-without-its-code", &[Planted::Session(|| Box::new(ForgetsCode))]),
];
