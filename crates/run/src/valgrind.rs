//! Runs callgrind, a tool of valgrind. Callgrind starts a trial process, and counts the instructions of user code. The
//! trial process switches the counting on for the operations of one phase.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use measure::callgrind::IS_SUPPORTED;
use types::{Outcome, Problem};

/// The name of the valgrind program.
const PROGRAM: &str = "valgrind";

/// The command that starts a program without address space layout randomization (ASLR), because the number of
/// instructions of some copies and comparisons depends on the addresses.
const FIXED_ADDRESSES: [&str; 2] = ["setarch", "-R"];

/// The word that precedes the number of instructions in the output of callgrind.
const TOTALS: &str = "totals:";

/// The output file that callgrind writes for one trial.
pub(super) struct Callgrind {
    output: PathBuf,
}

impl Callgrind {
    /// Checks that valgrind is installed.
    ///
    /// # Errors
    /// Returns an error if valgrind is missing or does not start, or if this CPU cannot switch the counting of valgrind
    /// on and off. The message contains a remedy.
    pub(super) fn check() -> Outcome<()> {
        let remedy = "or run without trials.instructions and --instructions";
        if !IS_SUPPORTED {
            return Err(Problem::new(format!(
                "trials.instructions: instructions can be counted only on x86-64 and 64-bit Arm; use one of these \
                 machines, {remedy}"
            )));
        }
        let status = Command::new(PROGRAM)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match status {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Problem::new(format!(
                "trials.instructions needs the program valgrind; install the package valgrind, {remedy}"
            ))),
            Err(error) => Err(Problem::doing("start valgrind", error)),
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Problem::new(format!(
                "trials.instructions: valgrind does not work ({status}); install it again, {remedy}"
            ))),
        }
    }

    /// Returns the output file of callgrind for a trial, inside the folder `folder`.
    pub(super) fn new(folder: &Path) -> Self {
        Self { output: folder.join("callgrind-output") }
    }

    /// Returns the command that starts the trial process under callgrind. If the system allows it, the process runs
    /// without ASLR.
    pub(super) fn launcher(&self) -> Vec<OsString> {
        let fixed: &[&str] = if can_fix_addresses() { &FIXED_ADDRESSES } else { &[] };
        let mut output = OsString::from("--callgrind-out-file=");
        output.push(&self.output);
        let words =
            [PROGRAM, "-q", "--vgdb=no", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no"];
        fixed.iter().chain(&words).map(OsString::from).chain([output]).collect()
    }

    /// Returns the number of counted instructions after the trial has ended.
    ///
    /// # Errors
    /// Returns an error if the output of callgrind is missing, or if it contains no number of instructions.
    pub(super) fn instructions(&self) -> Outcome<u64> {
        let text = std::fs::read_to_string(&self.output)
            .map_err(|error| Problem::doing("read the output file of valgrind", error))?;
        total(&text).ok_or_else(|| Problem::new("the output of valgrind contains no number of instructions"))
    }
}

/// Returns whether the system can start programs without address space layout randomization (ASLR).
fn can_fix_addresses() -> bool {
    let [program, option] = FIXED_ADDRESSES;
    let status = Command::new(program)
        .args([option, "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Finds the total number of instructions in the output of callgrind. Returns `None` if the text contains no total.
fn total(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(TOTALS))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_instructions_is_read() {
        assert_eq!(
            total("version: 1\nevents: Ir\nsummary: 5\n\nfn=(1) x\n0 12\n\ntotals: 1234567\n"),
            Some(1_234_567)
        );
        assert_eq!(total("events: Ir\n"), None);
        let launcher = Callgrind::new(Path::new("/data")).launcher();
        assert_eq!(launcher.last().unwrap(), "--callgrind-out-file=/data/callgrind-output");
    }
}
