//! The command line of `lsmbench torture`. The arguments select the test, the designs and the duration.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

#[derive(Debug, Subcommand)]
pub(crate) enum TortureCommand {
    /// Recover from every disk state that a power failure can leave
    Crash {
        #[command(flatten)]
        subjects: SubjectArguments,
        #[command(flatten)]
        again: ReplayArguments,
        /// Recover from this many disk states per design and WAL mode
        #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u64).range(1..))]
        states: u64,
    },
    /// Make every I/O call fail in every way
    Errors {
        #[command(flatten)]
        subjects: SubjectArguments,
        #[command(flatten)]
        again: ReplayArguments,
        /// Inject this many faults per design and WAL mode
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u64).range(1..))]
        faults: u64,
    },
    /// Corrupt every part of every file of a store
    Damage {
        #[command(flatten)]
        subjects: SubjectArguments,
        #[command(flatten)]
        again: ReplayArguments,
        /// Check this many corrupt stores per design and WAL mode
        #[arg(long, value_name = "N", default_value_t = 140, value_parser = value_parser!(u64).range(1..))]
        images: u64,
    },
    /// Check that concurrent operations are linearizable
    Race(RaceArguments),
    /// Run a long race test; check memory, files and threads for leaks
    Soak(SoakArguments),
    /// Kill (-9) processes that write to a store, and check the store
    Kill(KillArguments),
    /// Kill (-9) whole runs, resume them, and check their results
    Sweep(SweepArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RaceArguments {
    /// Design file or name in configs/designs; repeatable.
    ///
    /// The default is all designs, and the default design with each memtable, each cache and each WAL mode.
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) design: Vec<PathBuf>,
    /// Use this WAL mode instead of the WAL mode of the design
    #[arg(long, value_name = "MODE")]
    pub(crate) wal: Option<String>,
    /// Run at least this many operations on each design
    #[arg(long, value_name = "N", default_value_t = 8000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) operations: u64,
    /// Run for this many seconds per design instead of --operations
    #[arg(long, value_name = "N", conflicts_with = "operations", value_parser = value_parser!(u64).range(1..))]
    pub(crate) seconds: Option<u64>,
    /// Use this many threads that write and read
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u64).range(1..=64))]
    pub(crate) threads: u64,
    /// Seed of the operations; thread interleaving is not reproducible
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct SoakArguments {
    /// Design file or name in configs/designs
    #[arg(long, value_name = "FILE|NAME", default_value = "default")]
    pub(crate) design: PathBuf,
    /// Use this WAL mode instead of the WAL mode of the design
    #[arg(long, value_name = "MODE")]
    pub(crate) wal: Option<String>,
    /// Run for this many seconds
    #[arg(long, value_name = "N", default_value_t = 3600, value_parser = value_parser!(u64).range(1..))]
    pub(crate) seconds: u64,
    /// Print a sample of memory, files and threads every this many seconds
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u64).range(1..))]
    pub(crate) every: u64,
    /// Use this many threads that write and read
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u64).range(1..=64))]
    pub(crate) threads: u64,
    /// Seed of the operations
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Keep the store in this new directory [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct KillArguments {
    #[command(flatten)]
    pub(crate) subjects: SubjectArguments,
    /// Engine, or "all" for all installed engines; repeatable.
    ///
    /// lsmbench then kills processes that write to stores of these engines. The table shows the number of acknowledged
    /// commits that each engine lost, next to the durability that the engine declares.
    #[arg(long, value_name = "ENGINE", conflicts_with = "design")]
    pub(crate) engine: Vec<String>,
    /// Kill this many processes per design or engine, and WAL mode
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u64).range(1..))]
    pub(crate) kills: u64,
    /// Folder for the stores [default: the temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// Kill this many runs in each mode
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u64).range(1..))]
    pub(crate) kills: u64,
    /// Seed of the kill times
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for the results [default: the temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SubjectArguments {
    /// Design file or name in configs/designs; repeatable [default: all]
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) design: Vec<PathBuf>,
    /// WAL mode; repeatable [default: all]
    #[arg(long, value_name = "MODE")]
    pub(crate) wal: Vec<String>,
    /// Seed of the first sequence of random operations
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of threads; does not change the results
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..=1024))]
    pub(crate) threads: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Replay only the case at PLACE, as printed in the violation message.
    ///
    /// This option needs exactly one design and one WAL mode.
    #[arg(long, value_name = "PLACE")]
    pub(crate) replay: Option<String>,
}
