//! Generates a script that runs the parts on other machines through SSH, with GNU parallel.

use std::fmt::Write as _;

use super::jobs::{Jobs, word_of_shell};

/// Returns a script that runs the missing parts of an experiment, one at a time on each machine, and then merges the
/// parts.
pub(super) fn script(jobs: &Jobs<'_>, hosts: &[String]) -> String {
    let Jobs { name, count, merge, .. } = jobs;
    let mut text = format!(
        "#!/bin/bash\n# Runs the missing parts of {name} on machines that share this folder, then merges them.\n\
         set -euo pipefail\n"
    );
    if !jobs.missing.is_empty() {
        let _ = writeln!(
            text,
            "parallel --sshlogin {} --jobs 1 --workdir . --line-buffer --tag {} ::: {}",
            word_of_shell(&hosts.join(",")),
            word_of_shell(&jobs.part(&format!("{{}}/{count}"))),
            jobs.numbers(" "),
        );
    }
    let _ = writeln!(text, "{merge}");
    text
}
