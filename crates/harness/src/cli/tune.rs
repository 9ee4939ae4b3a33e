//! The command line of `lsmbench tune`.

use std::path::PathBuf;

use clap::Args;

use super::OverrideArguments;

#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// Experiment file with a table [tune]; its sweep is the space
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Device whose times stand for measured ones before runs
    #[arg(long, value_name = "DEVICE", default_value = "nvme")]
    pub(crate) device: String,
    /// Folder of results; those of the search go to <NAME>-tune in it
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Continue an interrupted search; finished trials are kept
    #[arg(long)]
    pub(crate) resume: bool,
    /// Measure times with a debug build, whose times are not valid
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}
