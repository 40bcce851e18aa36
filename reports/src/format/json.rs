//! The run as JSON, which is the report that nothing is lost in.

use serde::Serialize;

use crate::{Run, bench::BenchRun};

/// Renders `run` as pretty JSON that ends with a newline.
#[must_use]
pub fn render(run: &Run) -> String {
    pretty(run)
}

/// Renders `run` as pretty JSON that ends with a newline.
#[must_use]
pub fn render_bench(run: &BenchRun) -> String {
    pretty(run)
}

pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .expect("every map of a report has keys that are strings");
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
