//! Columns of text, and how a long cell is broken into lines.

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

/// The space between two columns.
pub(super) const GAP: usize = 2;

/// The lines of a table: the header, its rule, and `rows`, in columns of `widths` characters.
///
/// A cell is broken into lines where it says so, and where it is wider than its column.
pub(super) fn grid(header: Vec<String>, rows: Vec<Vec<String>>, widths: &[usize]) -> Vec<String> {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('-')))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header)
        .add_rows(rows);
    for (index, width) in widths.iter().enumerate() {
        let gap = if index == 0 { 0 } else { GAP };
        let column = table.column_mut(index).expect("the header made a column for each width");
        column.set_padding((columns(gap), 0));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(columns(gap + width))));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// `id` in lines of at most `width` characters, broken behind a `/` or `-` where there is one.
pub(super) fn wrap_id(id: &str, width: usize) -> String {
    wrap(id.split_inclusive(['/', '-']), width, "  ")
}

/// `text` in lines of at most `width` characters, broken at spaces; `indent` is in front of every
/// line but the first.
pub(super) fn wrap_words(text: &str, width: usize, indent: &str) -> String {
    wrap(text.split_inclusive(' '), width, indent)
}

fn wrap<'text>(parts: impl Iterator<Item = &'text str>, width: usize, indent: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for part in parts {
        let last = lines.last_mut().expect("there is a first line, and lines are only added");
        // The first line holds more, because the later ones are indented.
        if last.is_empty() || chars(last) + chars(part.trim_end()) <= width {
            last.push_str(part);
        } else {
            lines.push(format!("{indent}{part}"));
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

/// How many characters `text` has.
pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}

fn columns(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_break_where_a_reader_expects_it() {
        assert_eq!(wrap_id("claim/is-exclusive", 18), "claim/is-exclusive");
        assert_eq!(wrap_id("claim/is-exclusive", 16), "claim/is-\n  exclusive");
    }

    #[test]
    fn words_break_at_spaces() {
        assert_eq!(wrap_words("40001 (retryable)", 17, ""), "40001 (retryable)");
        assert_eq!(wrap_words("40001 (retryable)", 12, ""), "40001\n(retryable)");
        assert_eq!(wrap_words("  a b, c d", 6, "    "), "  a b,\n    c\n    d");
    }

    #[test]
    fn a_cell_is_never_wider_than_its_column() {
        let rows = vec![vec!["a\nb".to_owned(), "x".repeat(9)]];
        let lines = grid(vec!["one".to_owned(), "two".to_owned()], rows, &[3, 5]);
        assert_eq!(lines, ["one  two", "----------", "a    xxxxx", "b    xxxx"]);
    }
}
