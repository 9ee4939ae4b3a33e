//! Runs experiments. The parent process controls the trials, and each trial runs in a new child process.
//!
//! [`run_all`] checks all experiments, interleaves the trials of each experiment in rounds, starts a process for each
//! trial, and writes the rows of the trial. At the end, [`run_all`] draws the charts and prints the verdicts. An
//! interrupted run can be resumed. [`RunOptions`] are the options of `lsmbench run`, and [`Console`] prints the output.
//! This crate is between the command line and [`trial`], and leaves all measurements to the child processes.
//!
//! An experiment can run on several machines. Each machine runs one [`Part`], and [`merge()`] joins the results:
//!
//! ```
//! use lsmbench_run::{Part, missing};
//!
//! let part: Part = "2/4".parse()?;
//! assert_eq!((part.number(), part.count()), (2, 4));
//! assert!("5/4".parse::<Part>().is_err());
//! // No machine has run a part of the experiment "filters".
//! assert_eq!(missing("no-such-folder".as_ref(), "filters", part.count()), [1, 2, 3, 4]);
//! # Ok::<(), String>(())
//! ```

mod child;
mod closed_rounds;
mod conclusion;
mod console;
mod cut;
mod doctor;
mod ending;
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
mod merge;
mod part;
mod part_state;
mod parts;
mod perf;
mod process;
mod progress;
mod record;
mod rehearsal;
mod scratch;
mod side;
mod summary;
mod trial_process;
mod trial_spec;
mod valgrind;

pub use console::Console;
pub use doctor::examine;
pub use ending::Ending;
pub use engine_info::{engine_info, introduction};
pub use environment::{container_image, machine_info};
pub use experiments::{RunOptions, run_all};
pub use fixture::{lock_all as lock_all_fixtures, program_identity};
pub use kept::{Kept, kept};
pub use manifest::{QUICK, known_components};
pub use merge::{PartsMergeOptions, merge};
pub use part::Part;
pub use part_state::{PartState, check_count, missing, part_states};
pub use process::Programs;
pub use record::record;
pub use scratch::{Scratch, scratch};
pub use summary::append;
pub use trial_process::TRIAL_COMMAND;
