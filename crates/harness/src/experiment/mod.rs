//! Experiments: from a TOML file to the cells that will run.

mod cell;
mod estimate;
mod file;
mod load;
mod paths;
mod sweep;
mod trials;

pub(crate) use cell::Cell;
pub(crate) use estimate::Estimate;
pub(crate) use file::SourceFile;
pub(crate) use load::{Experiment, Overrides, design_file, set_design};
pub(crate) use trials::RunMode;
