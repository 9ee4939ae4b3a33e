//! The command line of `lsmbench simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OverrideArguments;

#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// Experiment file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Simulate trees with these numbers of loaded keys, such as 1e6,1e9
    ///
    /// All phases grow in proportion. By default, the tree has the size of the experiment file.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = keys)]
    pub(crate) entries: Vec<f64>,
    /// Device model for times: hdd, sata-ssd, nvme or object-store
    #[arg(long, value_name = "DEVICE", default_value = "nvme")]
    pub(crate) device: String,
    /// Level of detail of the simulation
    #[arg(long, value_name = "PICTURE", default_value = "auto")]
    pub(crate) picture: PictureArgument,
    /// Print the predictions of formulas and their residuals
    ///
    /// A residual is predicted value / simulated value - 1, at the end of a phase. `lsmbench tune` uses the same
    /// formulas for its first ranking of designs.
    #[arg(long)]
    pub(crate) residuals: bool,
    /// Folder of results; adds <NAME>-simulated/runs.csv
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Folder for charts; charts by number of keys need two --entries values
    #[arg(long, value_name = "DIR", default_value = "plots")]
    pub(crate) plots: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

/// The level of detail of a simulation: the values of the option `--picture`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureArgument {
    /// Exact up to 3 million operations, otherwise expected numbers
    Auto,
    /// Simulate all operations; gives the counters of counted mode
    Exact,
    /// Simulate the expected number of entries per key range, for any size
    Expected,
}

/// The largest number of keys that the option `--entries` accepts. With more keys, sums of bytes would overflow their
/// integer type.
const MOST_KEYS: f64 = 1e14;

/// Parses a number of keys, such as `1000000` or `1e6`.
///
/// # Errors
/// The text is not a number from 1 to 1e14.
fn keys(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.replace('_', "").parse().ok();
    number.filter(|number| (1.0..=MOST_KEYS).contains(number)).map(f64::round).ok_or_else(|| {
        format!("\"{text}\" is not a number of keys from 1 to 1e14; write it like 1000000 or 1e6")
    })
}
