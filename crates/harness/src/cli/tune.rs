//! The command line of `lsmbench tune`.

use std::path::PathBuf;

use clap::Args;

use super::OverrideArguments;

#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// Experiment file with a table [tune] and a sweep of designs
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Device model for estimated times, before designs are measured
    #[arg(long, value_name = "DEVICE", default_value = "nvme")]
    pub(crate) device: String,
    /// Folder of results; the search writes to <NAME>-tune in this folder
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Continue an interrupted search; finished trials are kept
    #[arg(long)]
    pub(crate) resume: bool,
    /// Run timed experiments in a debug build
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}
