//! The command line: what there is to say, from which help, completions and the man page come.

mod torture;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};
use clap_complete::Shell;
use verdict::Format;

pub(crate) use torture::{
    KillArguments, RaceArguments, ReplayArguments, SoakArguments, SubjectArguments, SweepArguments,
    TortureCommand,
};

/// The hidden subcommand of a process that is there to be killed.
pub(crate) const WRITER_COMMAND: &str = "writer-process";

/// The wind tunnel for LSM-trees.
///
/// An LSM-tree is assembled from swappable components as a TOML file says, driven by a seeded workload, and
/// measured. Results are tidy CSV; charts and verdicts follow from it.
#[derive(Debug, Parser)]
#[command(name = "lsmbench", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run experiments: CSV, then charts, then the verdict
    Run(RunArguments),
    /// List the variants of designs, workloads, engines and charts
    List(ListArguments),
    /// Show what would run, resolved, with an estimate of time and disk
    Describe(DescribeArguments),
    /// Write a crate with a component of your own, with a test and an experiment
    New(NewArguments),
    /// Draw charts again, from results alone
    Plot(PlotArguments),
    /// Judge the claims of documents by what their experiments measure: pages, Markdown and CSV
    Report(ReportArguments),
    /// Run the experiments of the gallery, draw a chart of each, and say in the README what came out
    Gallery(GalleryArguments),
    /// Print the operations of a workload as text, one a line
    Workload(WorkloadArguments),
    /// Open a durable store and drive it by commands on standard input
    Shell(ShellArguments),
    /// Check every file of a store, and change nothing
    Verify(VerifyArguments),
    /// Say what got better and worse from one folder of results to another
    Compare(CompareArguments),
    /// Lay tables of engines as Markdown: how many times as fast as each our own tree is, and what each took
    League(LeagueArguments),
    /// The gate for CI: counters exactly against goldens, or times against another build
    Check(CheckArguments),
    /// Show the stores that trials began from and that are kept, with their sizes and ages, or remove them
    Fixtures(FixturesArguments),
    /// Show how numbers went from run to run, and with which run their level changed
    History(HistoryArguments),
    /// Tell what verdicts of this machine are worth: equal trees compared, and trees slower by a known share
    Calibrate(CalibrateArguments),
    /// Tell what makes times of this machine doubtful, and what to do about it
    Doctor(DoctorArguments),
    /// Let the power fail, or calls to the disk, or what a store left rot, and check what is there then
    Torture {
        #[command(subcommand)]
        what: TortureCommand,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
    /// The process of one trial: reads its task from standard input
    #[command(name = run::TRIAL_COMMAND, hide = true)]
    TrialProcess,
    /// The process of a compaction policy that has no job: reads shapes from standard input
    #[command(name = trial::POLICY_COMMAND, hide = true)]
    PolicyProcess,
    /// A process that writes to a store until it is killed: reads its orders from standard input
    #[command(name = WRITER_COMMAND, hide = true)]
    WriterProcess,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Results to compare with: of one experiment, or a folder of several
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// Results that are judged
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// A column to judge, again for each [default: all counters in counted mode, else those that decide]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) metric: Vec<String>,
    /// How the report is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct LeagueArguments {
    /// Results of experiments that sweep engines: of one experiment, or a folder of several
    #[arg(required = true, value_name = "RESULTS")]
    pub(crate) results: Vec<PathBuf>,
    /// The row that the others are held against
    #[arg(long, value_name = "LABEL", default_value = "lsmbench")]
    pub(crate) baseline: String,
    /// Also keep what the tables are made of in this folder, one folder per experiment inside, small enough for git and
    /// without paths of this machine, and make the tables of that
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) keep: Option<PathBuf>,
    /// Write the tables into this file, each between `<!-- league NAME -->` and `<!-- /league -->` with the name of its
    /// experiment, in place of printing them
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
    /// Write nothing: say whether the tables in the file of --into follow from the results, byte for byte
    #[arg(long, requires = "into")]
    pub(crate) check: bool,
    /// How many times as fast as every LSM-tree the row is to be where nothing is read; what falls short is listed
    #[arg(long, value_name = "TIMES", default_value_t = 2.0)]
    pub(crate) target_writes: f64,
    /// The same where something is read
    #[arg(long, value_name = "TIMES", default_value_t = 1.5)]
    pub(crate) target_reads: f64,
    /// The same beside B-trees, whatever is done: lmdb, redb, canopydb, sled and wiredtiger by their names
    #[arg(long, value_name = "TIMES", default_value_t = 1.0)]
    pub(crate) target_btrees: f64,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Experiment files [default: those of the goldens]
    #[arg(value_name = "CONFIG")]
    pub(crate) configs: Vec<PathBuf>,
    /// Folder of goldens, one file per experiment
    #[arg(long, value_name = "DIR", default_value = "results/baseline")]
    pub(crate) baseline: PathBuf,
    /// Write the goldens again, and print what changes
    #[arg(long, conflicts_with = "against")]
    pub(crate) update: bool,
    /// Judge times against this build of lsmbench, both run in turn
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) against: Option<PathBuf>,
    /// Blocks per batch, with --against
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u64).range(6..=1000))]
    pub(crate) blocks: u64,
    /// A column to judge with --against, again for each [default: those that decide]
    #[arg(long, value_name = "COLUMN", requires = "against")]
    pub(crate) metric: Vec<String>,
    /// How the report is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Folder for what the runs write [default: that of the system for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Run timed experiments in a debug build, whose times mean nothing
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Debug, Args)]
pub(crate) struct FixturesArguments {
    /// Folder of results that they are kept in
    #[arg(value_name = "RESULTS", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Remove one by its name, all, or those that are stale: no run of this program takes them
    #[arg(long, value_name = "NAME|all|stale")]
    pub(crate) remove: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// The file that the numbers of all runs are kept in
    #[arg(value_name = "STORE", default_value = "results/history.csv")]
    pub(crate) store: PathBuf,
    /// Add the numbers of these results first, each the median over trials in the unit of its column (`lsmbench list
    /// --columns`), again for each: of one experiment, or a folder of several
    #[arg(long, value_name = "RESULTS")]
    pub(crate) add: Vec<PathBuf>,
    /// A column to add and show, again for each [default: all counters in counted mode, else those that decide]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) metric: Vec<String>,
    /// The experiment to show [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) experiment: Option<String>,
    /// Draw charts into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// How many comparisons of equal trees, and for each slowdown; each takes seconds
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..=10_000))]
    pub(crate) comparisons: u64,
    /// By how many percent of a get's time, 0.1 to 300, a tree is slower, with commas between them
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_values_t = [2.0, 5.0, 10.0])]
    pub(crate) slowdowns: Vec<f64>,
    /// Blocks of trials per comparison [default: those of configs/calibration.toml]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(6..=1000))]
    pub(crate) trials: Option<u64>,
    /// Folder for what the runs write [default: that of the system for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Run in a debug build, whose times mean nothing
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    /// Run small, as configs/calibration.toml says
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Folder that data of runs would lie in
    #[arg(value_name = "DIR", default_value = "results")]
    pub(crate) folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Experiment files
    #[arg(required = true, value_name = "CONFIG")]
    pub(crate) configs: Vec<PathBuf>,
    /// Folder for results, one folder per experiment inside
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Folder for charts, one folder per experiment inside [default: plots, or charts/ in --out]
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Finish an interrupted run: trials that are done are kept
    #[arg(long)]
    pub(crate) resume: bool,
    /// Run timed experiments in a debug build, whose times mean nothing
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OverrideArguments {
    /// Change a value of the experiment, as `design.bloom.bits_per_key=12` or phase.load.insert=10k
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// How often every cell runs
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<u64>,
    /// The seed of the operations
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Run small: what the experiment's `quick` table says, or a tenth of everything
    #[arg(long)]
    pub(crate) quick: bool,
    /// Start from this design file in place of what the experiment extends
    #[arg(long, value_name = "FILE")]
    pub(crate) design: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Catalog to list with parameters: bloom, keys, mix, engine, chart …
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown: tables of variants and of their parameters
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Print the columns of results as Markdown instead of the catalogs
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub(crate) columns: bool,
    /// Write all pages of the reference into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["name", "json", "markdown", "columns"])]
    pub(crate) reference: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArguments {
    /// The experiment file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The axis of the component: memtable, bloom, engine …
    #[arg(value_name = "AXIS")]
    pub(crate) axis: String,
    /// The name of the component, its crate and its folder
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Depend on this checkout of lsmbench [default: this version from the registry]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    /// Results folders
    #[arg(required = true, value_name = "RESULTS")]
    pub(crate) results: Vec<PathBuf>,
    /// Folder for charts, one folder per experiment inside [default: plots]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Experiment files with claims, or folders of them
    #[arg(value_name = "CONFIG|DIR", default_value = "experiments")]
    pub(crate) paths: Vec<PathBuf>,
    /// Folder of results, one folder per experiment inside; what is not there runs first [default: results; with --check
    /// results/published]
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    /// Also keep what the report takes of the results in this folder, small enough for git, and make the report of that
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) keep: Option<PathBuf>,
    /// Folder for the report [default: report/ in --keep or --results]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run small, as each experiment's `quick` table says
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run every cell so often, in place of what the experiments say: from 6 on values have intervals, which verdicts use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// Run and write nothing: say whether the files in --out follow from the results, byte for byte
    #[arg(long)]
    pub(crate) check: bool,
    /// Run timed experiments in a debug build, whose times mean nothing
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GalleryArguments {
    /// Experiment files, or folders of them; the first chart of each is shown
    #[arg(value_name = "CONFIG|DIR", default_value = "configs/gallery")]
    pub(crate) paths: Vec<PathBuf>,
    /// Folder of results, one folder per experiment inside; what is not there runs first
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Folder for the charts
    #[arg(long, value_name = "DIR", default_value = "plots/gallery")]
    pub(crate) out: PathBuf,
    /// File with a place for the gallery, from `<!-- gallery -->` to `<!-- end of the gallery -->`
    #[arg(long, value_name = "FILE", default_value = "README.md")]
    pub(crate) page: PathBuf,
    /// Run timed experiments in a debug build, whose times mean nothing
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadArguments {
    /// The experiment file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// The most operations to print
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ShellArguments {
    /// The directory of the store; it is created if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The design file; the default design without one
    #[arg(long, value_name = "FILE")]
    pub(crate) design: Option<PathBuf>,
    /// Change a value of the design, as wal=sync or `bloom.bits_per_key=12`
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Go on without damaged files: they are moved to quarantine/ in the store
    #[arg(long)]
    pub(crate) quarantine: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The directory of the store
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
