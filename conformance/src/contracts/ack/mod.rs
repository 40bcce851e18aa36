//! The contracts of the family `ack`: one file each, one list.

pub mod accepts_current_owner;
pub mod bulk_locks_in_order;
pub mod races_reclaim;
pub mod rejects_expired;
pub mod rejects_stale_token;
pub mod retry_is_idempotent;
pub mod unblocked_by_foreign_claim;

crate::contracts::family! { ack, for_each_ack_contract,
    accepts_current_owner,
    bulk_locks_in_order,
    races_reclaim,
    rejects_expired,
    rejects_stale_token,
    retry_is_idempotent,
    unblocked_by_foreign_claim,
}
