//! Running experiments: the sweep in the parent process, each trial in a fresh child process.

mod child;
mod component;
mod cost;
mod doctor;
mod drive;
mod environment;
mod experiments;
mod home;
mod manifest;
mod message;
mod peer;
mod probe;
mod profile;
mod progress;
mod replay;
mod report;
mod target;
mod timeline;
mod trial;
mod truth;
mod verdict;

pub(crate) use child::TRIAL_COMMAND;
pub(crate) use doctor::examine;
pub(crate) use environment::machine_info;
pub(crate) use experiments::{Ending, RunOptions, run_all};
pub(crate) use home::{check_name, create_folder, refuse_link};
pub(crate) use message::{Cells, read_messages};
pub(crate) use peer::{engine_info, introduction};
pub(crate) use probe::{available_memory_bytes, free_bytes, rss_peak_bytes};
pub(crate) use replay::Replay;
pub(crate) use report::ALL;
pub(crate) use trial::run_trial_process;
pub(crate) use verdict::{noisy_baselines, wrong_cells};
