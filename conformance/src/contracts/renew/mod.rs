//! The contracts of the family `renew`: one file each, one list.

pub mod counts_matched_rows;
pub mod extends_current_owner;
pub mod never_shortens;
pub mod never_shortens_out_of_order;
pub mod races_reclaim;
pub mod rejects_done;
pub mod rejects_expired;
pub mod rejects_expired_after_wait;
pub mod rejects_stale_token;

crate::contracts::family! { renew, for_each_renew_contract,
    counts_matched_rows,
    extends_current_owner,
    never_shortens,
    never_shortens_out_of_order,
    races_reclaim,
    rejects_done,
    rejects_expired,
    rejects_expired_after_wait,
    rejects_stale_token,
}
