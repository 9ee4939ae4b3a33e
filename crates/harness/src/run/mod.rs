//! Running experiments: the sweep in the parent process, each trial in a fresh child process.

mod child;
mod doctor;
mod engine_info;
mod environment;
mod experiments;
mod fixture;
mod home;
mod kept;
mod manifest;
mod memory_limit;
mod progress;
mod rehearsal;

pub(crate) use child::TRIAL_COMMAND;
pub(crate) use doctor::examine;
pub(crate) use engine_info::{engine_info, introduction};
pub(crate) use environment::machine_info;
pub(crate) use experiments::{Ending, RunOptions, run_all};
pub(crate) use fixture::{lock_all as lock_all_fixtures, program_hash};
pub(crate) use kept::{Kept, kept};
pub(crate) use manifest::QUICK;
