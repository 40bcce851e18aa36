//! The rows of a Markdown table; the cells are escaped already.

/// Adds a header of `titles` and the rule below it.
pub(in crate::format) fn push_header(
    section: &mut String,
    titles: impl IntoIterator<Item = String>,
) {
    let titles: Vec<String> = titles.into_iter().collect();
    let columns = titles.len();
    push_row(section, titles);
    section.push_str(&format!("|{}\n", " --- |".repeat(columns)));
}

/// Adds a row of `cells`.
pub(in crate::format) fn push_row(section: &mut String, cells: impl IntoIterator<Item = String>) {
    section.push('|');
    for cell in cells {
        section.push_str(&format!(" {cell} |"));
    }
    section.push('\n');
}
