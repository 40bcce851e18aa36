//! The contracts of the family `stop`: one file each, one list.

pub mod fails_on_lease_loss;
pub mod leaves_unacked_recoverable;
pub mod never_acks_expired;
pub mod release_is_claimable;
pub mod reports_backlog;
pub mod starts_no_new_batch;

crate::contracts::family! { stop, for_each_stop_contract,
    fails_on_lease_loss,
    leaves_unacked_recoverable,
    never_acks_expired,
    release_is_claimable,
    reports_backlog,
    starts_no_new_batch,
}
