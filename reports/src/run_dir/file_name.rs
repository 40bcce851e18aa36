//! File names made from ids and keys.
//!
//! Invariant: two keys never share a name, and every name is valid on the file systems and
//! archive formats that a run directory may be copied to, which refuse `:`, `*`, `"` and others.

/// The longest name that [`encode`] makes, in bytes. File systems allow 255, and the caller adds
/// a number, an extension, and the marks of a hidden file.
const LONGEST: usize = 200;

/// Whether `name` is one plain component of a path.
pub(super) fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
}

/// A file name, without extension, that stands for `key` alone.
///
/// The separators of a case key stay readable: `/` becomes `+` and `:` becomes `@`.
pub(super) fn encode(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b'/' => name.push('+'),
            b':' => name.push('@'),
            b'.' if name.is_empty() => name.push_str("%2E"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                name.push(char::from(byte));
            }
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.is_empty() || name.len() > LONGEST {
        // Everything in a name is ASCII, so that it can be cut anywhere.
        name.truncate(LONGEST - 17);
        name.push_str(&format!("%{:016x}", fingerprint(key)));
    }
    name
}

/// FNV-1a: stable between versions and machines, which the hasher of the standard library is not.
fn fingerprint(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_key_stays_readable() {
        assert_eq!(
            encode("claim/is-exclusive/postgres:18/skip-locked"),
            "claim+is-exclusive+postgres@18+skip-locked"
        );
    }

    #[test]
    fn hostile_keys_are_harmless_and_distinct() {
        let long = "x".repeat(5000);
        let keys = ["", ".", "..", "../x", "..+x", "a b", "a%20b", "a\0b", "a\nb", "é", "~", &long];
        let names: std::collections::BTreeSet<String> =
            keys.iter().map(|key| encode(key)).collect();
        assert_eq!(names.len(), keys.len());
        for name in names {
            assert!(!name.is_empty() && name.len() <= LONGEST, "{name}");
            assert!(!name.starts_with('.') && !name.contains('/'), "{name}");
            assert!(name.is_ascii() && !name.contains(char::is_control), "{name}");
        }
    }

    #[test]
    fn ids_are_plain() {
        assert!(is_plain("20300102T030405Z-a1b2c3"));
        let long = "x".repeat(300);
        for id in ["", ".", "..", "a/b", "-x", "a b", "a:b", "é", &long] {
            assert!(!is_plain(id), "{id}");
        }
    }
}
