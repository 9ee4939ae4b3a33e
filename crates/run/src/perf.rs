//! Runs the sampling profiler `perf record` of Linux. The profiler starts a trial process, and samples the stacks of
//! all its threads. The trial process switches the profiler on only for one phase.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use results::FoldedStacks;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use trial::ObservingTool;
use types::{Outcome, Problem};

/// The name of the profiler program.
const PROGRAM: &str = "perf";

/// The event that the profiler samples: the CPU time of a thread. The event needs no hardware counters.
const EVENT: &str = "cpu-clock";

/// The value of `perf record --call-graph`, which selects how the profiler finds the callers of a function. Each sample
/// contains a copy of 8,192 bytes of the stack, because the program has no frame pointers.
const CALL_GRAPH: &str = "dwarf,8192";

/// The folder with the files of a profiled trial: two named pipes to the profiler, and the recorded samples.
pub(super) struct Perf {
    folder: PathBuf,
}

/// The samples of a profiled trial: the CPU time of each stack of functions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Samples {
    pub(super) stacks: FoldedStacks,
    pub(super) count: u64,
}

impl Perf {
    /// Checks that the profiler can take samples. `folder` is an existing folder for temporary files.
    ///
    /// # Errors
    /// Returns an error if the program is missing, or if the kernel does not permit sampling. The message contains a
    /// remedy.
    pub(super) fn check(folder: &Path) -> Outcome<()> {
        let data = folder.join("perf-check");
        let program = std::env::current_exe().map_err(|error| Problem::doing("find this program", error))?;
        let output = Command::new(PROGRAM)
            .args(["record", "-q", "-e", EVENT, "-F", "99", "--call-graph", CALL_GRAPH, "-o"])
            .arg(&data)
            .arg("--")
            .arg(program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        // A missing file needs no removal.
        let _ = std::fs::remove_file(&data);
        match output {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Problem::new(
                "--profile needs the program perf; install it (Debian: linux-perf, Ubuntu: linux-tools-generic, \
                 Fedora: perf), or run without --profile",
            )),
            Err(error) => Err(Problem::doing("start perf", error)),
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(Problem::new(format!(
                "--profile: perf cannot record: {}; set sysctl kernel.perf_event_paranoid=2, allow perf_event_open in \
                 the container, or run without --profile",
                reason(&output.stderr)
            ))),
        }
    }

    /// Prepares a profiled trial: creates its named pipes in `folder`.
    pub(super) fn new(folder: &Path) -> Outcome<Self> {
        let perf = Self { folder: folder.to_owned() };
        for pipe in [perf.control(), perf.acknowledgments()] {
            mknodat(CWD, pipe.as_path(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                .map_err(|error| Problem::doing(format!("create the pipe {}", pipe.display()), error))?;
        }
        Ok(perf)
    }

    /// Returns the settings with which the trial process switches the profiler on and off.
    pub(super) fn tool(&self) -> ObservingTool {
        ObservingTool::Profiler { control: self.control(), acknowledgments: self.acknowledgments() }
    }

    /// Returns the command that starts the trial process under the profiler. The profiler takes `samples_per_second`
    /// samples per second of CPU time.
    pub(super) fn launcher(&self, samples_per_second: u64) -> Vec<OsString> {
        let rate = samples_per_second.to_string();
        let words =
            ["record", "-q", "-e", EVENT, "-F", rate.as_str(), "--call-graph", CALL_GRAPH, "-D", "-1"];
        let mut launcher = vec![OsString::from(PROGRAM)];
        launcher.extend(words.map(OsString::from));
        let mut control = OsString::from("--control=fifo:");
        control.push(self.control());
        control.push(",");
        control.push(self.acknowledgments());
        launcher.extend([control, "-o".into(), self.data().into_os_string(), "--".into()]);
        launcher
    }

    /// Reads the samples of the profiler after the trial has ended.
    ///
    /// # Errors
    /// Returns an error if the program `perf script` fails. The message contains the last line of its output.
    pub(super) fn samples(&self) -> Outcome<Samples> {
        let output = Command::new(PROGRAM)
            .args(["script", "--no-inline", "-F", "period,ip,sym,dso", "-i"])
            .arg(self.data())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Problem::doing("start perf", error))?;
        match output.status.success() {
            true => Ok(Samples::parse(&String::from_utf8_lossy(&output.stdout))),
            false => Err(Problem::new(format!(
                "cannot read the samples of the profiler with perf script: {}",
                reason(&output.stderr)
            ))),
        }
    }

    fn control(&self) -> PathBuf {
        self.folder.join("perf-control")
    }

    fn acknowledgments(&self) -> PathBuf {
        self.folder.join("perf-acknowledgments")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("perf-data")
    }
}

/// Returns the reason why a program has failed: the last line that the program wrote to standard error.
fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no message").to_owned()
}

impl Samples {
    /// Parses the output of `perf script`. Each sample is a line with its CPU time in nanoseconds, one line per
    /// function from the innermost function outwards, and an empty line.
    fn parse(text: &str) -> Self {
        let mut samples = Self::default();
        for sample in text.split("\n\n") {
            let mut lines = sample.lines().filter(|line| !line.trim().is_empty());
            let Some(ns) = lines.next().and_then(|line| line.trim().trim_end_matches(':').parse().ok())
            else {
                continue;
            };
            let mut functions: Vec<String> = lines.filter_map(function).collect();
            functions.reverse();
            samples.stacks.add(functions.iter().map(String::as_str), ns);
            samples.count += 1;
        }
        samples
    }

    /// Adds the samples of another profiled trial of the same configuration.
    pub(super) fn merge(&mut self, other: &Self) {
        self.stacks.merge(&other.stacks);
        self.count += other.count;
    }
}

/// Returns the name of the function in a line of `perf script`: an address, a name, and a file in parentheses. If the
/// name is unknown, returns the file in brackets.
fn function(line: &str) -> Option<String> {
    let (_, rest) = line.trim().split_once(' ')?;
    let (name, file) = rest.rsplit_once(" (").unwrap_or((rest, ""));
    let file = file.trim_end_matches(')');
    Some(match name {
        "[unknown]" => format!("[{}]", file.rsplit('/').next().unwrap_or(file).trim_matches(['[', ']'])),
        name => format!("{:#}", rustc_demangle::demangle(name)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "    1001001 \n\t     7f01 memcmp (/usr/lib/libc.so.6)\n\t     55aa _ZN4tree3get17h0123456789abcdefE (/bin/lsmbench)\n\t     55ab main (/bin/lsmbench)\n\n    1001001 \n\t  ffff81 [unknown] ([kernel.kallsyms])\n\t     55ab main (/bin/lsmbench)\n\n";

    #[test]
    fn samples_become_folded_stacks_with_readable_names() {
        let samples = Samples::parse(OUTPUT);
        assert_eq!(samples.count, 2);
        let stacks: Vec<(Vec<&str>, u64)> = samples.stacks.iter().collect();
        assert_eq!(
            stacks,
            [
                (vec!["main", "[kernel.kallsyms]"], 1_001_001),
                (vec!["main", "tree::get", "memcmp"], 1_001_001)
            ]
        );
        assert_eq!(Samples::parse(""), Samples::default());
        let mut twice = Samples::parse(OUTPUT);
        twice.merge(&samples);
        assert_eq!((twice.count, twice.stacks.total_ns()), (4, 4_004_004));
    }

    #[test]
    fn a_failure_is_the_last_line_of_the_program() {
        assert_eq!(reason(b"a\nNo permission \n\n"), "No permission");
        assert_eq!(reason(b""), "no message");
    }
}
