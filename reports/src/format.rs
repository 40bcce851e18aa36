//! The renderings of a run. Each is a function of the [`crate::Run`] alone and cannot fail.

pub mod bench;
pub mod comparison;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod table;

mod finding;
mod number;
mod observed;
mod rotten;
pub(crate) mod text;
mod variants;

/// `text` in one line for a terminal, with everything that a terminal would act on shown.
#[must_use]
pub fn plain(text: &str) -> String {
    text::one_line(text)
}
