//! Seeds that follow from a run's own.
//!
//! Invariant: a seed in a report means the same case with every version of the compiler and of the
//! libraries, so it is made by a digest that is specified, and never by a hasher that may change.

use sha2::{Digest as _, Sha256};

use crate::schema::SEED_MAX;

/// The seed of a part of a run, told from the run's own and from what names the part.
#[must_use]
pub fn derive(seed: u64, of: &[&str]) -> u64 {
    let mut digest = Sha256::new();
    digest.update(seed.to_be_bytes());
    for name in of {
        // With its length, so that `ab`, `c` is not `a`, `bc`.
        digest.update((name.len() as u64).to_be_bytes());
        digest.update(name.as_bytes());
    }
    let bytes = digest.finalize();
    bytes[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)) & SEED_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told by SHA-256 today is told by it for ever: other values would be other cases.
    #[test]
    fn seeds_never_change() {
        let case = ["claim/is-exclusive", "postgres:18", "cas read committed", "1"];
        assert_eq!(derive(424_242, &case), 4_191_055_208_174_254);
        assert_eq!(derive(0, &[]), 6_035_174_789_811_066);
    }

    #[test]
    fn every_name_counts_and_so_does_where_it_ends() {
        let seeds = [
            derive(1, &["ab", "c"]),
            derive(1, &["a", "bc"]),
            derive(1, &["abc"]),
            derive(2, &["ab", "c"]),
        ];
        for (at, seed) in seeds.iter().enumerate() {
            assert!(*seed <= SEED_MAX);
            assert!(!seeds[..at].contains(seed), "{seeds:?}");
        }
    }
}
