//! Runs an experiment in a separate process, with this or another build of lsmbench.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use results::Folder;
use rustix::process::{Pid, Signal, kill_process};
use types::{Outcome, Problem};
use verdict::Runner;

use crate::interrupt;

/// The interval at which lsmbench checks whether the user has interrupted it.
const LOOK_UP_PERIOD: Duration = Duration::from_millis(20);

/// Runs experiments in separate processes, with this or other builds of lsmbench.
pub struct Programs {
    /// A function that prints a progress line.
    pub line: fn(&str),
}

impl Runner for Programs {
    fn run(&self, program: Option<&Path>, arguments: &[String], out: &Path) -> Outcome<Folder> {
        match program {
            Some(program) => run(program, arguments, out),
            None => run(&this_program()?, arguments, out),
        }
    }

    fn tell(&self, text: &str) {
        (self.line)(text);
    }
}

/// Runs one experiment with the program `program` and an empty output folder. Returns the results folder of the
/// experiment.
///
/// # Errors
/// Returns an error if the program cannot be started, or if it fails. The message contains the last line of the output
/// of the program.
fn run(program: &Path, arguments: &[String], out: &Path) -> Outcome<Folder> {
    std::fs::create_dir_all(out)
        .map_err(|error| Problem::doing(format!("create {}", out.display()), error))?;
    let told = out.join("stderr");
    let file =
        File::create(&told).map_err(|error| Problem::doing(format!("create {}", told.display()), error))?;
    let mut process = Command::new(program)
        .arg("run")
        .args(arguments)
        .arg("--out")
        .arg(out)
        .arg("--plots")
        .arg(out.join("charts"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(|error| Problem::doing(format!("start {}", program.display()), error))?;
    let status = wait(&mut process)?;
    let found = out.read_dir().map_err(|error| Problem::doing(format!("read {}", out.display()), error))?;
    let mut folders = found.filter_map(|entry| Some(Folder::new(entry.ok()?.path())));
    let folder = folders.find(|folder| folder.manifest().is_file());
    // The exit code 1 means a wrong answer. This is a valid result, which the rows contain.
    folder.filter(|_| matches!(status.code(), Some(0 | 1))).ok_or_else(|| {
        let said = std::fs::read_to_string(&told).unwrap_or_default();
        let last = said.lines().last().unwrap_or("no message").trim_start_matches("error: ");
        Problem::new(format!("{} run {}: {last} ({status})", program.display(), arguments.join(" ")))
    })
}

/// Waits for the end of a process that runs an experiment. If the user interrupts this program, passes the signal on,
/// so that the process can end properly.
///
/// # Errors
/// Returns an error if the user has interrupted the run.
fn wait(process: &mut Child) -> Outcome<ExitStatus> {
    let mut is_told = false;
    loop {
        let ended = process.try_wait().map_err(|error| Problem::doing("wait for a run", error))?;
        match ended {
            Some(_) if is_told => {
                return Err(Problem::new("interrupted, so lsmbench cannot compare the results"));
            }
            Some(status) => return Ok(status),
            None if interrupt::is_requested() && !is_told => {
                // A process that has just ended needs no signal.
                let _ = kill_process(Pid::from_child(process), Signal::TERM);
                is_told = true;
            }
            None => std::thread::sleep(LOOK_UP_PERIOD),
        }
    }
}

/// Returns the path of this program.
fn this_program() -> Outcome<PathBuf> {
    std::env::current_exe().map_err(|error| Problem::doing("find this program", error))
}
