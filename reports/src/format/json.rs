//! The run as JSON, which is the report that nothing is lost in.

use crate::Run;

/// Renders `run` as pretty JSON that ends with a newline.
#[must_use]
pub fn render(run: &Run) -> String {
    let mut text =
        serde_json::to_string_pretty(run).expect("every map of a run has keys that are strings");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_is_rendered_reads_back_the_same() {
        for run in [sample::kept(), sample::hostile(), sample::full()] {
            let text = render(&run);
            assert!(text.ends_with("}\n"));
            let read: Run = serde_json::from_str(&text).unwrap();
            assert_eq!(read, run);
            assert_eq!(render(&read), text);
        }
    }
}
