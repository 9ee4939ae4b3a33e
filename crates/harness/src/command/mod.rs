//! The commands other than `run`.

mod calibrate;
mod check;
mod compare;
mod describe;
mod doctor;
mod engines;
mod fixtures;
mod gallery;
mod history;
mod list;
mod meta;
mod new;
mod plot;
mod report;
mod shell;
mod torture;
mod verify;
mod workload;

pub(crate) use calibrate::calibrate;
pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use describe::{describe, described};
pub(crate) use doctor::doctor;
pub(crate) use engines::engines;
pub(crate) use fixtures::fixtures;
pub(crate) use gallery::gallery;
pub(crate) use history::history;
pub(crate) use list::list;
pub(crate) use meta::{completions, man};
pub(crate) use new::new;
pub(crate) use plot::plot;
pub(crate) use report::report;
pub(crate) use shell::shell;
pub(crate) use torture::{torture, write_until_killed};
pub(crate) use verify::verify;
pub(crate) use workload::workload;
