//! The options of `lsmbench calibrate`.

use std::path::PathBuf;

use clap::{Args, value_parser};

#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// Number of comparisons per slowdown
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..=10_000))]
    pub(crate) comparisons: u64,
    /// Number of comparisons of equal trees [default: --comparisons]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=10_000))]
    pub(crate) equal: Option<u64>,
    /// Slow down the gets of a tree by these percentages (0.1 to 300)
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_values_t = [2.0, 5.0, 10.0])]
    pub(crate) slowdowns: Vec<f64>,
    /// Compare these plans, which set how trials share the machine
    #[arg(
        long,
        value_name = "PLANS",
        value_delimiter = ',',
        default_value = "rounds",
        value_parser = ["rounds", "slices", "duet"]
    )]
    pub(crate) plan: Vec<String>,
    /// Judge each run by these metrics, one after the other
    #[arg(
        long,
        value_name = "METRICS",
        value_delimiter = ',',
        default_value = "mean_ns",
        value_parser = ["mean_ns", "busy_ns", "cpu_seconds", "p50_ns"]
    )]
    pub(crate) metric: Vec<String>,
    /// Ignore measured differences below this percentage (0.1 to 50)
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub(crate) threshold: f64,
    /// Judge each run after these numbers of trials
    ///
    /// Each run has the largest number of trials. Smaller numbers show the verdicts of a shorter run.
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        default_values_t = [6_u64],
        value_parser = value_parser!(u64).range(6..=1000)
    )]
    pub(crate) trials: Vec<u64>,
    /// Write the verdict table as CSV to this file, also after each pass
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the verdict table as Markdown to this file, also after each pass
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Folder for the runs [default: the temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Run in a debug build
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    /// Run with reduced sizes
    #[arg(long)]
    pub(crate) quick: bool,
}
