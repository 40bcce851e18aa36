//! Comparing the version that is wanted with the one a server or program says it has.

/// Whether the text may be a version: it becomes an image tag and part of a file name, and begins with the
/// number by which a server is known to be it. A tag such as `latest` names none, so that any server would
/// do, and its results would stand under a wrong name.
pub(crate) fn is_well_formed(version: &str) -> bool {
    !version.is_empty()
        && version.starts_with(|first: char| first.is_ascii_digit())
        && version.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}

/// Whether what a server says begins with the version that is wanted, number by number: `15` fits
/// `PostgreSQL 15.18`, `9.7` fits `9.7.1-log`, `1` fits neither. A wanted version without numbers
/// fits none.
pub(crate) fn matches(wanted: &str, said: &str) -> bool {
    let wanted = numbers(wanted);
    // MariaDB 10 puts a prefix for old replication clients before its own version.
    let said = said.strip_prefix("5.5.5-").unwrap_or(said);
    let start = said.find(|letter: char| letter.is_ascii_digit());
    let said = numbers(start.map_or("", |start| &said[start..]));
    !wanted.is_empty() && wanted.len() <= said.len() && wanted == said[..wanted.len()]
}

/// The dotted numbers that the text begins with.
fn numbers(text: &str) -> Vec<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    text[..end.unwrap_or(text.len())].split('.').map_while(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_well_formed, matches};

    #[test]
    fn versions_fit_number_by_number() {
        assert!(matches("15", "PostgreSQL 15.18 (Debian) compiled by gcc 12.2"));
        assert!(matches("9.7", "9.7.1"));
        assert!(matches("10.11", "5.5.5-10.11.14-MariaDB-0+deb12u2"));
        assert!(matches("18-alpine", "18.1"));
        assert!(matches("19", "postgres (PostgreSQL) 19rc1"));
        assert!(!matches("12", "PostgreSQL 15.18 (Debian) compiled by gcc 12.2"));
        assert!(!matches("1", "15.18"));
        assert!(!matches("15.18.1", "15.18"));
        assert!(!matches("15", "no number"));
        assert!(!matches("latest", "18.1"));
    }

    #[test]
    fn versions_become_tags_and_file_names() {
        assert!(is_well_formed("9.7"));
        assert!(is_well_formed("18-alpine_1"));
        for bad in ["", "..", "-1", "1/2", "1 2", "1;2", "ü", "latest", "foo"] {
            assert!(!is_well_formed(bad), "{bad}");
        }
    }
}
