//! Runs of experiments: the sweep in the parent process, each trial in a new child process.
//!
//! [`run_all`] checks all experiments, interleaves their trials in mirrored rounds, starts the process of each trial,
//! writes its rows, and ends with charts and the verdict. A run that was interrupted can be resumed.

mod child;
mod closed_rounds;
mod console;
mod doctor;
mod engine_info;
mod environment;
mod experiments;
mod fixture;
mod group;
mod home;
pub mod interrupt;
mod kept;
mod manifest;
mod memory_limit;
mod process;
mod progress;
mod rehearsal;
mod scratch;
mod side;
mod summary;
mod trial_process;

pub use console::Console;
pub use doctor::examine;
pub use engine_info::{engine_info, introduction};
pub use environment::machine_info;
pub use experiments::{Ending, RunOptions, run_all};
pub use fixture::{lock_all as lock_all_fixtures, program_identity};
pub use kept::{Kept, kept};
pub use manifest::QUICK;
pub use process::Programs;
pub use scratch::{Scratch, scratch};
pub use summary::append;
pub use trial_process::TRIAL_COMMAND;
