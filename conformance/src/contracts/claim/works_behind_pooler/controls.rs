//! Stores that break `claim/works-behind-pooler`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "claim-by-a-lock-of-the-session",
        &[Planted::Store(Fault::ClaimByALockOfTheSession)],
    )
    .requires(&[Capability::ConcurrentWriters])
    .seen_in("goauthentik/authentik#23876, bensheldon/good_job#52, graphile/worker#125"),
    Control::new("state-kept-on-a-connection", &[Planted::Store(Fault::StateKeptOnAConnection)])
        .requires(&[Capability::ConcurrentWriters])
        .seen_in(
            "pgbouncer/pgbouncer#418, pgdogdev/pgdog#1407, transact-rs/sqlx#67, jackc/pgx#1590",
        ),
];
