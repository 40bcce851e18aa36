//! Text that may have come from a database, made visible and harmless before it is rendered.
//!
//! Characters that a terminal or a reader would act on are shown, not dropped: an escape sequence
//! in a detail is part of what was observed.

/// `text` in one line: runs of white space become one space, and control characters are shown.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().map(visible).collect()
}

/// `text` with its line breaks, and every other control character shown.
pub(super) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|char| if matches!(char, '\n' | '\t') { char } else { visible(char) })
        .collect()
}

/// The first `limit` characters of `text`, with an ellipsis for what is left out.
pub(super) fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn visible(char: char) -> char {
    match char {
        // Unicode has a picture of each of these, in the same order.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{FFFD}'),
        '\x7f' => '\u{2421}',
        // The second set of control characters, marks that reorder, hide or break text, and
        // code points that XML cannot carry.
        '\u{80}'..='\u{9f}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFFE}'
        | '\u{FFFF}' => '\u{FFFD}',
        _ => char,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(one_line("a\x1b[31mb\0c\x7f"), "a␛[31mb␀c␡");
        assert_eq!(
            one_line("\u{202E}gnp.exe\u{9b}31m\u{FFFF}"),
            "\u{FFFD}gnp.exe\u{FFFD}31m\u{FFFD}"
        );
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  a\r\n\tb \u{2028} c\n"), "a b c");
    }

    #[test]
    fn lines_keep_their_breaks() {
        assert_eq!(lines("a\r\n\tb\rc\x08"), "a\n\tb␍c␈");
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöüß", 3), "äöü…");
    }
}
