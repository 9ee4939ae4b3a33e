//! Two sides of results against each other: two folders, or two builds run in turn.

mod render;
mod report;
mod samples;
mod settings;

pub use render::Format;
pub use report::{Pairing, Report};
pub(crate) use samples::Key;
pub use samples::Samples;
