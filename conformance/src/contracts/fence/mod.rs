//! The contracts of the family `fence`: one file each, one list.

pub mod compares_exactly;

crate::contracts::family! { fence, for_each_fence_contract,
    compares_exactly,
}
