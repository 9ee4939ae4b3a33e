//! Compares the base results with the new results. The two sides are two results folders, or the results of two
//! builds that run alternately.

mod render;
mod report;
mod samples;
mod settings;

pub use render::ReportFormat;
pub use report::{ComparisonReport, Pairing};
pub(crate) use samples::Key;
pub use samples::Samples;
