//! Text that means nothing to a Markdown reader, in a cell or outside.

use super::super::text::{lines, one_line};

/// `text` in one line, with everything that Markdown or HTML gives a meaning to escaped.
pub(in crate::format) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in one_line(text).chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => {
                escaped.push('\\');
                escaped.push(char);
            }
            _ => escaped.push(char),
        }
    }
    escaped
}

/// `code` in one line as a code span, for outside a table: there a `|` would end the cell.
///
/// Escapes mean nothing inside a code span, so its fence is longer than any run of backticks in
/// it.
pub(in crate::format) fn code(code: &str) -> String {
    let code = one_line(code);
    let fence = "`".repeat(longest_run(&code) + 1);
    // A space that touches the fence is taken off again by the reader.
    let space = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{code}{space}{fence}")
}

/// `code` with its lines, as a block of its own between blank lines.
pub(in crate::format) fn block(code: &str) -> String {
    let code = lines(code);
    let fence = "`".repeat(longest_run(&code).max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", code.trim_end())
}

fn longest_run(code: &str) -> usize {
    code.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_a_cell() {
        assert_eq!(text("a|b\nc\r\n\nd"), "a\\|b c d");
        assert_eq!(text(r"a\|b"), r"a\\\|b");
    }

    #[test]
    fn html_links_and_images_stay_text() {
        assert_eq!(text("<script>&amp;"), "&lt;script&gt;&amp;amp;");
        assert_eq!(text("![x](http://y)"), r"\!\[x\](http://y)");
        assert_eq!(text("*a* _b_ `c` ~~d~~"), r"\*a\* \_b\_ \`c\` \~\~d\~\~");
    }

    #[test]
    fn a_code_span_holds_backticks() {
        assert_eq!(code("leaseproof run"), "`leaseproof run`");
        assert_eq!(code("a `b` ``c``"), "``` a `b` ``c`` ```");
        assert_eq!(code("a\nb"), "`a b`");
        assert_eq!(block("a\n```\nb\n"), "````\na\n```\nb\n````\n");
    }
}
