//! The arguments of `lsmbench site`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct SiteArguments {
    /// Folder for the site
    #[arg(long, value_name = "DIR", default_value = "target/site")]
    pub(crate) out: PathBuf,
    /// Root of the repository with the results and the documents
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repository: PathBuf,
    /// Only check the results of a machine, in this folder; repeatable.
    ///
    /// The folder has one results folder per experiment of configs/peers, as `lsmbench engines --keep` writes them. The
    /// check covers the schema, the completeness, the plausibility, and the versions of program and components.
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    pub(crate) check: Vec<PathBuf>,
}
