//! The definition of the command line. The help, the completions and the manual page are generated from this
//! definition.

mod calibrate;
mod parts;
mod serve;
mod simulate;
mod site;
mod torture;
mod trace;
mod tune;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};
use clap_complete::Shell;
use verdict::{FailOn, ReportFormat, Targets, Tolerance};

pub(crate) use calibrate::CalibrateArguments;
pub(crate) use parts::{MergeArguments, SubmitArguments};
pub(crate) use serve::{ServeArguments, ServedProtocol, ShellArguments, StoreArguments};
pub(crate) use simulate::{PictureArgument, SimulateArguments};
pub(crate) use site::SiteArguments;
pub(crate) use torture::{
    KillArguments, RaceArguments, ReplayArguments, SoakArguments, SubjectArguments, SweepArguments,
    TortureCommand,
};
pub(crate) use trace::{
    TraceCommand, TraceConvertArguments, TraceFitArguments, TraceInputArguments, TraceRecordArguments,
    TraceSampleArguments, TraceStatArguments,
};
pub(crate) use tune::TuneArguments;

/// The default folder of golden files. A golden file contains the counter values with which `lsmbench check` compares a
/// run.
pub(crate) const DEFAULT_BASELINE: &str = "results/baseline";

/// The name of the hidden subcommand that runs a writer process. `torture kill` starts and kills such processes.
pub(crate) const WRITER_COMMAND: &str = "writer-process";

/// Build LSM-trees from interchangeable components and benchmark them.
///
/// A TOML file selects the components of an LSM-tree and a seeded workload. Each run writes results as CSV, draws
/// charts and prints a verdict.
#[derive(Debug, Parser)]
#[command(
    name = "lsmbench",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    override_help = OVERVIEW
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The help of `lsmbench` without a subcommand. It lists all subcommands in groups, each with the first line of its
/// help.
const OVERVIEW: &str = "\
lsmbench - build LSM-trees from interchangeable components and benchmark them

Usage: lsmbench <COMMAND> [OPTIONS]

Run experiments
  run          Run experiments; write results, charts and a verdict
  describe     Print all settings, and the estimated time and disk space
  simulate     Simulate the counters of an experiment, for trees of any size
  tune         Search for the best design and confirm it by a run
  list         List variants of components, workloads and charts
  workload     Print the operations of a workload, one per line
  trace        Summarize, convert, sample and fit recorded operations
  submit       Print or submit jobs that run an experiment on many machines
  merge        Merge the parts of an experiment and print the verdict

Analyze results
  plot         Redraw charts from results
  page         Write one HTML page to explore results
  compare      Compare two folders of results
  effects      Rank configurations; find effects, ties and the Pareto front
  history      Track metrics across runs and detect change points
  engines      Render Markdown tables that compare storage engines

Gate changes in CI
  check        Compare counters with golden files, or times with another build

Check the machine
  doctor       Find sources of timing noise
  calibrate    Measure the false-positive rate and power of verdicts

Work with a store
  shell        Open a store and execute commands from standard input
  serve        Serve a store to many clients over a socket
  verify       Check all files of a store; change nothing
  torture      Test crashes, I/O errors, corruption, threads and kills

Extend and maintain
  new          Create a crate with a component of your own
  fixtures     List or remove the preloaded stores of trials
  gallery      Run the gallery and update the README with its charts
  report       Evaluate the claims of published systems
  site         Write a static site of all results, or check a contribution
  completions  Print a completion script for a shell
  man          Print the manual page

Options:
  -h, --help     Print this help; `lsmbench <COMMAND> --help` prints more
  -V, --version  Print the version

Examples:
  lsmbench run configs/quickstart.toml
  lsmbench run configs/bloom.toml --set 'sweep.\"design.bloom\"=[\"standard\",\"blocked\"]'
  lsmbench check --format markdown

Exit status: 0 success, 1 regression, wrong answers or corruption,
             2 invalid request, 130 interrupted
";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run experiments; write results, charts and a verdict
    Run(RunArguments),
    /// Print all settings, and the estimated time and disk space
    Describe(DescribeArguments),
    /// Simulate the counters of an experiment, for trees of any size
    Simulate(SimulateArguments),
    /// Search for the best design and confirm it by a run
    Tune(TuneArguments),
    /// List variants of components, workloads and charts
    List(ListArguments),
    /// Print the operations of a workload, one per line
    Workload(WorkloadArguments),
    /// Summarize, convert, sample and fit recorded operations
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Print or submit jobs that run an experiment on many machines
    Submit(SubmitArguments),
    /// Merge the parts of an experiment and print the verdict
    Merge(MergeArguments),
    /// Redraw charts from results
    Plot(PlotArguments),
    /// Write one HTML page to explore results
    Page(PageArguments),
    /// Compare two folders of results
    Compare(CompareArguments),
    /// Rank configurations; find effects, ties and the Pareto front
    Effects(EffectsArguments),
    /// Track metrics across runs and detect change points
    History(HistoryArguments),
    /// Render Markdown tables that compare storage engines
    #[command(alias = "league")]
    Engines(EnginesArguments),
    /// Compare counters with golden files, or times with another build
    Check(CheckArguments),
    /// Find sources of timing noise
    Doctor(DoctorArguments),
    /// Measure the false-positive rate and power of verdicts
    Calibrate(CalibrateArguments),
    /// Open a store and execute commands from standard input
    Shell(ShellArguments),
    /// Serve a store to many clients over a socket
    Serve(ServeArguments),
    /// Check all files of a store; change nothing
    Verify(VerifyArguments),
    /// Test crashes, I/O errors, corruption, threads and kills
    Torture {
        #[command(subcommand)]
        test: TortureCommand,
    },
    /// Create a crate with a component of your own
    New(NewArguments),
    /// List or remove the preloaded stores of trials
    Fixtures(FixturesArguments),
    /// Run the gallery and update the README with its charts
    Gallery(GalleryArguments),
    /// Evaluate the claims of published systems
    Report(ReportArguments),
    /// Write a static site of all results, or check a contribution
    Site(SiteArguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell for which to print the script
        shell: Shell,
    },
    /// Print the manual page
    Man,
    /// Run one trial: read its task from standard input
    #[command(name = run::TRIAL_COMMAND, hide = true)]
    TrialProcess,
    /// Run a compaction policy: read states of trees from standard input
    #[command(name = trial::POLICY_COMMAND, hide = true)]
    PolicyProcess,
    /// Write to a store until killed: read orders from standard input
    #[command(name = WRITER_COMMAND, hide = true)]
    WriterProcess,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Baseline results of one experiment, or a folder of experiments.
    ///
    /// If the folder contains several results of one experiment, each of them is a session. lsmbench then compares
    /// times by the medians of the sessions.
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// New results of one experiment, or a folder of experiments
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// Compare this metric; repeatable.
    ///
    /// The default is all counters in counted mode, and the main metrics in timed mode.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) metric: Vec<String>,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) gate: GateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct EffectsArguments {
    /// Results of a sweep
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,
    /// Rank by this metric; repeatable [default: metrics of the verdict].
    ///
    /// The Pareto front covers all named metrics together.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) metric: Vec<String>,
    /// Phase to rank [default: the phase of the verdict, or the last]
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: Option<String>,
    /// Kind of operation to rank [default: the kind of the verdict, or all]
    #[arg(long, value_name = "NAME")]
    pub(crate) operation: Option<String>,
    /// Write effects.csv and ranking.csv into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw the Pareto front of the first two metrics into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct GateArguments {
    /// Pass a metric only if its CI excludes a regression of this size.
    ///
    /// Write the tolerance as 5% or 0.05. The report contains the numbers of passed, failed and undecided metrics.
    #[arg(long, value_name = "SHARE")]
    pub(crate) tolerance: Option<Tolerance>,
    /// Fail if a metric has this outcome [default: regressed]
    ///
    /// With --tolerance, the default is inconclusive. The value inconclusive also fails on regressions.
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) fail_on: Option<FailOn>,
    /// Append the report as Markdown to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EnginesArguments {
    /// Results of experiments that sweep engines, or folders of such results
    #[arg(required = true, value_name = "RESULTS")]
    pub(crate) results: Vec<PathBuf>,
    /// Compare all other engines with this row, or this engine's first row
    #[arg(long, value_name = "LABEL", default_value = "lsmbench")]
    pub(crate) baseline: String,
    /// Copy the needed results into this folder and render from the copy.
    ///
    /// The copy contains one folder per experiment. The copy is small enough for git and contains no paths of this
    /// machine.
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) keep: Option<PathBuf>,
    /// Write the tables into this Markdown file instead of printing them.
    ///
    /// Each table goes between `<!-- engines NAME -->` and `<!-- /engines -->`, where NAME is the name of its
    /// experiment.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
    /// Write nothing; check that the file of --into is up to date
    #[arg(long, requires = "into")]
    pub(crate) check: bool,
    /// Set the target speedup over LSM-trees in phases without reads.
    ///
    /// The page lists missed targets.
    #[arg(long, value_name = "TIMES", default_value_t = Targets::default().writes)]
    pub(crate) target_writes: f64,
    /// Set the target speedup over LSM-trees in phases with reads
    #[arg(long, value_name = "TIMES", default_value_t = Targets::default().reads)]
    pub(crate) target_reads: f64,
    /// Set the target speedup over B-trees.
    ///
    /// B-trees are lmdb, redb, canopydb, sled, wiredtiger, sqlite and bf-tree.
    #[arg(long, value_name = "TIMES", default_value_t = Targets::default().btrees)]
    pub(crate) target_btrees: f64,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Experiment files [default: all experiments with a golden file]
    #[arg(value_name = "CONFIG")]
    pub(crate) configs: Vec<PathBuf>,
    /// Folder of golden files, one per experiment
    #[arg(long, value_name = "DIR", default_value = DEFAULT_BASELINE)]
    pub(crate) baseline: PathBuf,
    /// Accept the new values; rewrite golden files and print changes
    #[arg(long, conflicts_with = "against")]
    pub(crate) update: bool,
    /// Compare times with this build of lsmbench, in alternating runs
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) against: Option<PathBuf>,
    /// Number of rounds of trials per batch, with --against
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u64).range(6..=1000))]
    pub(crate) blocks: u64,
    /// Compare this metric with --against; repeatable.
    ///
    /// The default is the main metrics of timed mode.
    #[arg(long, value_name = "COLUMN", requires = "against")]
    pub(crate) metric: Vec<String>,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) gate: GateArguments,
    /// Folder for the runs [default: the temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Run timed experiments in a debug build
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Debug, Args)]
pub(crate) struct FixturesArguments {
    /// Folder of results whose fixtures are listed or removed
    #[arg(value_name = "RESULTS", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Remove one fixture by its name, all fixtures, or stale fixtures
    #[arg(long, value_name = "NAME|all|stale")]
    pub(crate) remove: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// File with the metrics of all runs
    #[arg(value_name = "STORE", default_value = "results/history.csv")]
    pub(crate) store: PathBuf,
    /// First add the metrics of these results; repeatable.
    ///
    /// The results belong to one experiment, or are a folder of experiments. Each metric is the median over trials, in
    /// the unit of its column (`lsmbench list --columns`).
    #[arg(long, value_name = "RESULTS")]
    pub(crate) add: Vec<PathBuf>,
    /// Add and show this metric; repeatable.
    ///
    /// The default is all counters in counted mode, and the main metrics in timed mode.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) metric: Vec<String>,
    /// Show this experiment only
    #[arg(long, value_name = "NAME")]
    pub(crate) experiment: Option<String>,
    /// Draw charts into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Folder for the data of runs; its file system is examined
    #[arg(value_name = "DIR", default_value = "results")]
    pub(crate) folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 1 if an issue may affect timings
    #[arg(long)]
    pub(crate) require: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub(crate) struct RunArguments {
    /// Experiment files
    #[arg(required = true, value_name = "CONFIG")]
    pub(crate) configs: Vec<PathBuf>,
    /// Folder for results; contains one folder per experiment
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Folder for charts [default: plots, or charts/ in --out]
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Finish an interrupted run; keep its completed trials
    #[arg(long)]
    pub(crate) resume: bool,
    /// Run only one part (K/N, auto or auto/N), in the subfolder K of --out
    ///
    /// A part of a timed experiment contains every N-th round. A part of a counted experiment contains every N-th
    /// configuration. If N is a multiple of the number of rounds, a part contains one round of all baselines and of
    /// some other configurations. Repeat the command to continue an interrupted part. A finished part does not run
    /// again. `auto` reads K from the environment variable of a scheduler: Slurm, `HyperQueue`, Kubernetes, GNU
    /// parallel or Grid Engine. `lsmbench merge` merges all parts.
    #[arg(long, value_name = "K/N", conflicts_with = "plots")]
    pub(crate) part: Option<run::Part>,
    /// Serve the results page while trials run [default port: any]
    ///
    /// The program prints the address of the page. The page shows new results while the trials run. The server ends
    /// with the run.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub(crate) live: Option<u16>,
    /// Write no page.html next to the charts
    #[arg(long)]
    pub(crate) no_page: bool,
    /// Run timed experiments in a debug build
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    /// Sample a CPU profile of each configuration with perf
    ///
    /// Each configuration runs additional trials with the profiler. For each decided verdict on a time, the run names
    /// the functions whose CPU time differs most, and draws a differential flame graph.
    #[arg(long, conflicts_with = "part")]
    pub(crate) profile: bool,
    /// Count the instructions of this many operations, such as 20000
    ///
    /// Valgrind counts at most this many operations per configuration. The option sets trials.instructions.
    #[arg(long, value_name = "OPERATIONS", value_parser = value_parser!(u64).range(1..))]
    pub(crate) instructions: Option<u64>,
    /// Print a line after each trial, not only after each round
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Append the verdicts as Markdown to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OverrideArguments {
    /// Set a value, such as `design.bloom.bits_per_key=12`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run this many trials of every configuration
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<u64>,
    /// Seed of the operations
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Use the small sizes of the table [quick], or a tenth of all sizes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Start from this design file instead of the file in `extends`
    #[arg(long, value_name = "FILE")]
    pub(crate) design: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Catalog to list, such as bloom, keys, mix, engine or chart
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown tables of variants and of their parameters
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
    /// Experiment file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// Axis of the component, such as memtable, bloom or engine
    #[arg(value_name = "AXIS")]
    pub(crate) axis: String,
    /// Name of the component, its crate and its folder
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Depend on this checkout of lsmbench [default: this release]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    /// Results folders, or folders that contain results folders
    #[arg(required = true, value_name = "RESULTS")]
    pub(crate) results: Vec<PathBuf>,
    /// Folder for charts; one subfolder per experiment [default: plots]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Experiment file with the charts [default: the file of the run]
    #[arg(long, value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Set a value of the charts or the style; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// File formats: svg, png, pdf, pgf, gnuplot [default: svg,png]
    #[arg(long, value_name = "LIST")]
    pub(crate) format: Option<plot::Formats>,
    /// Printed width, such as 3.3in, 84mm, 240pt, column or page
    #[arg(long, value_name = "LENGTH")]
    pub(crate) width: Option<plot::Length>,
    /// Installed font family, or a font file
    #[arg(long, value_name = "FONT")]
    pub(crate) font: Option<String>,
    /// Title of every chart; an empty text leaves the title out
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Text below the chart: all, facts, verdict or none
    #[arg(long, value_name = "PARTS")]
    pub(crate) caption: Option<plot::Caption>,
    /// Interval of the whiskers: ci (95 %), range or iqr
    #[arg(long, value_name = "INTERVAL")]
    pub(crate) whiskers: Option<plot::Whiskers>,
}

#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// Results folders, or folders that contain results folders
    #[arg(required_unless_present = "history", value_name = "RESULTS")]
    pub(crate) results: Vec<PathBuf>,
    /// Also show the change points in this file of `lsmbench history`
    #[arg(long, value_name = "STORE", conflicts_with = "live")]
    pub(crate) history: Option<PathBuf>,
    /// File of the page
    #[arg(long, value_name = "FILE", default_value = page::FILE_NAME)]
    pub(crate) out: PathBuf,
    /// Serve the page until interrupted; reload the page on new results
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0", conflicts_with = "out")]
    pub(crate) live: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Experiment files with claims, or folders with such files
    #[arg(value_name = "CONFIG|DIR", default_value = "experiments")]
    pub(crate) paths: Vec<PathBuf>,
    /// Folder of results; missing experiments run first.
    ///
    /// The default is results, or results/published with --check.
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    /// Copy the needed results into this folder and report from the copy
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) keep: Option<PathBuf>,
    /// Folder for the report [default: report/ in --keep or --results]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Use the small sizes of the table [quick] of each experiment
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run this many trials; confidence intervals need at least six
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// Run and write nothing; check that the files in --out are up to date
    #[arg(long)]
    pub(crate) check: bool,
    /// Run timed experiments in a debug build
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GalleryArguments {
    /// Experiment files or folders; each experiment shows its first chart
    #[arg(value_name = "CONFIG|DIR", default_value = "configs/gallery")]
    pub(crate) paths: Vec<PathBuf>,
    /// Folder of results; missing experiments run first
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Folder for the charts
    #[arg(long, value_name = "DIR", default_value = "plots/gallery")]
    pub(crate) out: PathBuf,
    /// Markdown file to update.
    ///
    /// The gallery goes between `<!-- gallery -->` and `<!-- end of the gallery -->`.
    #[arg(long, value_name = "FILE", default_value = "docs/gallery.md")]
    pub(crate) page: PathBuf,
    /// Show the output of the run instead of the verdict sentences
    #[arg(long)]
    pub(crate) tables: bool,
    /// Copy the result rows into this folder, without empty columns
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Run timed experiments in a debug build
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadArguments {
    /// Experiment file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Print at most this many operations
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Directory of the store
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_overview_has_every_subcommand_with_its_help() {
        let command = Cli::command();
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            let line = format!("\n  {:<13}{}\n", subcommand.get_name(), subcommand.get_about().unwrap());
            assert!(OVERVIEW.contains(&line), "not in the overview:{line}");
        }
        assert!(OVERVIEW.lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn the_help_of_every_option_fits_on_a_line() {
        fn check(command: &clap::Command) {
            let of_arguments = command.get_arguments().filter_map(|argument| argument.get_help());
            for help in of_arguments.chain(command.get_about()).map(ToString::to_string) {
                assert!(help.chars().count() <= 70, "{}: {help}", command.get_name());
                assert!(!help.ends_with('.'), "{}: {help}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
