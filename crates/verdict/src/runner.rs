//! The interface through which checks and calibration run experiments. The crate that calls a check or a calibration
//! implements this interface.

use std::path::Path;

use results::Folder;
use types::Outcome;

/// Runs experiments for a check or a calibration, and prints the progress.
pub trait Runner {
    /// Runs one experiment, writes its results into the empty folder `out`, and returns the results folder. `program`
    /// is another build of lsmbench, or `None` for this build. `arguments` contains the experiment file and its
    /// options.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started, rejects the experiment, or is interrupted.
    fn run(&self, program: Option<&Path>, arguments: &[String], out: &Path) -> Outcome<Folder>;

    /// Prints a line about the progress.
    fn tell(&self, text: &str);
}
