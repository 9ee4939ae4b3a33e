//! The command line of `lsmbench torture`: what is done to stores, to which designs, and how often.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

#[derive(Debug, Subcommand)]
pub(crate) enum TortureCommand {
    /// Power failures: every state that a disk may then be in, behind every step
    Crash {
        #[command(flatten)]
        subjects: SubjectArguments,
        #[command(flatten)]
        again: ReplayArguments,
        /// The states to recover from, for each design and log mode
        #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u64).range(1..))]
        states: u64,
    },
    /// I/O errors: every call fails in every way
    Errors {
        #[command(flatten)]
        subjects: SubjectArguments,
        #[command(flatten)]
        again: ReplayArguments,
        /// The faults to put in, for each design and log mode
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u64).range(1..))]
        faults: u64,
    },
    /// Damage: every part of every file that a store leaves
    Damage {
        #[command(flatten)]
        subjects: SubjectArguments,
        #[command(flatten)]
        again: ReplayArguments,
        /// The damaged stores to look at, for each design and log mode
        #[arg(long, value_name = "N", default_value_t = 140, value_parser = value_parser!(u64).range(1..))]
        images: u64,
    },
    /// Threads that do everything at once: whether one order explains all that they saw
    Race(RaceArguments),
    /// A long race on files: whether memory, files and threads stay the same, too
    Soak(SoakArguments),
    /// Kills: processes that write to a store, on files and with real threads, end by kill -9
    Kill(KillArguments),
    /// Kills of whole runs: each is resumed, and must end with the results of one that was left alone
    Sweep(SweepArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RaceArguments {
    /// A design file, or the name of one in configs/designs [default: all that are there, and the default one
    /// with each memtable, each cache and each log mode]
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) design: Vec<PathBuf>,
    /// A log mode in place of the design's
    #[arg(long, value_name = "MODE")]
    pub(crate) wal: Option<String>,
    /// The operations to do on each design, at least
    #[arg(long, value_name = "N", default_value_t = 8000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) operations: u64,
    /// The seconds to race on each design, in place of operations
    #[arg(long, value_name = "N", conflicts_with = "operations", value_parser = value_parser!(u64).range(1..))]
    pub(crate) seconds: Option<u64>,
    /// The threads that write and read; the store has its own beside them
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u64).range(1..=64))]
    pub(crate) threads: u64,
    /// The seed of what they do; the order in which they do it has none
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct SoakArguments {
    /// A design file, or the name of one in configs/designs
    #[arg(long, value_name = "FILE|NAME", default_value = "default")]
    pub(crate) design: PathBuf,
    /// A log mode in place of the design's
    #[arg(long, value_name = "MODE")]
    pub(crate) wal: Option<String>,
    /// How long
    #[arg(long, value_name = "N", default_value_t = 3600, value_parser = value_parser!(u64).range(1..))]
    pub(crate) seconds: u64,
    /// The seconds from one line to the next
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u64).range(1..))]
    pub(crate) every: u64,
    /// The threads that write and read; the store has its own beside them
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u64).range(1..=64))]
    pub(crate) threads: u64,
    /// The seed of what they do
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// A new or empty directory for the store; it is kept [default: one that is removed, with other temporary
    /// files]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct KillArguments {
    #[command(flatten)]
    pub(crate) subjects: SubjectArguments,
    /// The processes to kill, for each design and log mode
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u64).range(1..))]
    pub(crate) kills: u64,
    /// The folder for the stores [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// The runs to kill, in each mode
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u64).range(1..))]
    pub(crate) kills: u64,
    /// The seed of the moments
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The folder for the results [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SubjectArguments {
    /// A design file, or the name of one in configs/designs [default: all that are there]
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) design: Vec<PathBuf>,
    /// A log mode [default: all]
    #[arg(long, value_name = "MODE")]
    pub(crate) wal: Vec<String>,
    /// The seed of the first life
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The threads to use; the numbers are the same with any
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..=1024))]
    pub(crate) threads: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Go to one place once more, as a violation names it; wants one design and one log mode
    #[arg(long, value_name = "PLACE")]
    pub(crate) replay: Option<String>,
}
