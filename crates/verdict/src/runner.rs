//! The interface through which checks and calibration run experiments. The caller of the gate implements this trait.

use std::path::Path;

use results::Folder;
use types::Outcome;

/// Runs experiments for a check or a calibration, and prints the progress.
pub trait Runner {
    /// Runs one experiment into the empty folder `out`. Returns the folder with the results of the run. `program` is
    /// another build of lsmbench. `None` means that this build runs. `arguments` are the experiment file and its
    /// options.
    ///
    /// # Errors
    /// A program that cannot be started, rejects the experiment, or is interrupted.
    fn run(&self, program: Option<&Path>, arguments: &[String], out: &Path) -> Outcome<Folder>;

    /// Prints a line about the progress.
    fn tell(&self, text: &str);
}
