//! The arguments of `lsmbench merge` and `lsmbench submit`.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::OverrideArguments;

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Folder of the parts: the --out of `lsmbench run --part`
    #[arg(value_name = "PARTS", default_value = "parts")]
    pub(crate) parts: PathBuf,
    /// New results folder of the experiment
    #[arg(long, value_name = "DIR")]
    pub(crate) into: PathBuf,
    /// Folder for charts [default: plots, or charts/ next to --into]
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Write no page.html next to the charts
    #[arg(long)]
    pub(crate) no_page: bool,
    /// Append the verdict as Markdown to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("scheduler").required(true).args(["slurm", "kubernetes", "ssh", "watch"]))]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub(crate) struct SubmitArguments {
    /// Experiment file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Print a script that submits a Slurm array and its merge
    #[arg(long)]
    pub(crate) slurm: bool,
    /// Print an indexed Job of Kubernetes and its merge
    #[arg(long)]
    pub(crate) kubernetes: bool,
    /// Print a GNU parallel script that runs the parts on these machines
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(crate) ssh: Vec<String>,
    /// Number of parts [default: one per round, or configuration if counted]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=10_000))]
    pub(crate) parts: Option<u64>,
    /// Folder for the parts
    #[arg(long, value_name = "DIR", default_value = "parts")]
    pub(crate) out: PathBuf,
    /// Folder for the merged results [default: results/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Run at most this many parts at a time
    #[arg(long, value_name = "M", value_parser = value_parser!(u64).range(1..))]
    pub(crate) throttle: Option<u64>,
    /// Time limit of a part, in the format of Slurm
    #[arg(long, value_name = "TIME", requires = "slurm")]
    pub(crate) time: Option<String>,
    /// Memory of a part, in the format of the scheduler
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// Container image with lsmbench, for --kubernetes
    #[arg(long, value_name = "IMAGE", default_value = "lsmbench")]
    pub(crate) image: String,
    /// Persistent volume claim with the experiment, for --kubernetes
    #[arg(long, value_name = "CLAIM", default_value = "lsmbench")]
    pub(crate) volume: String,
    /// Path of the program on the nodes [default: this program]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<PathBuf>,
    /// Run a part only on machines where `lsmbench doctor` finds no issue
    ///
    /// With Slurm, the file `excluded` in the folder of the parts lists the machines with an issue. Repeat the
    /// command to submit the missing parts to other machines.
    #[arg(long)]
    pub(crate) require: bool,
    /// Print the state of the parts until all are done
    #[arg(long, conflicts_with = "submit")]
    pub(crate) watch: bool,
    /// Submit the script with sbatch instead of printing it
    #[arg(long, requires = "slurm")]
    pub(crate) submit: bool,
    /// Run timed experiments in a debug build
    #[arg(long, hide = true)]
    pub(crate) allow_debug: bool,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}
