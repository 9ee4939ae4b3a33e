//! Two sides of results against each other: two folders, or two builds run in turn.

mod render;
mod report;
mod samples;

pub(crate) use render::Format;
pub(crate) use report::{Pairing, Report};
pub(crate) use samples::{Key, Samples};
