//! Compares base results with new results. Both come from results folders, or from two builds that run alternately.

mod render;
mod report;
mod samples;
mod settings;

pub use render::ReportFormat;
pub use report::{ComparisonReport, Pairing};
pub(crate) use samples::Key;
pub use samples::Samples;
