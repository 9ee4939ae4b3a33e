//! Experiments: from a TOML file to the cells that will run.

mod answers;
mod cell;
mod compared;
mod design_file;
mod difference;
mod engine;
mod equal_memory;
mod estimate;
mod expand;
mod facts;
mod file;
mod fixture;
mod inherited;
mod load;
mod outside;
mod overrides;
mod paths;
mod presentation;
mod reading;
mod resolved;
mod sweep;
mod trials;

pub(crate) use answers::AnswerFile;
pub(crate) use cell::{Cell, absences};
pub(crate) use design_file::{extended_tables, read_design, set_design};
pub(crate) use engine::{ENGINE, engine, engine_label, read_engine};
pub(crate) use estimate::Estimate;
pub(crate) use facts::catalog_order;
pub(crate) use outside::files_outside;
pub(crate) use overrides::Overrides;
pub(crate) use resolved::Experiment;
pub(crate) use trials::DEFAULT_INTERVAL_NS;
