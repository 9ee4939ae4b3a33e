//! The processes that `lsmbench torture kill` starts. A process writes to a store until it is killed, or checks a
//! store.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use serde::Serialize;
use torture::kill::{Commits, Ledger, Moment};

use crate::cli::WRITER_COMMAND;

/// The prefix of an output line with which a process reports its own failure.
pub(super) const FAILURE: &str = "! ";

/// The maximum wait for the first output of a process, which must first open the store.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// The maximum time from the first output of a process until it is killed. The wait [`Moment::wait`] is added to this
/// time.
const PATIENCE: Duration = Duration::from_millis(500);

/// The maximum duration of a process that checks a store.
const CHECK_PATIENCE: Duration = Duration::from_mins(1);

/// A lock that keeps this process from starting a child process while it has a store open. The child process would
/// inherit the file lock of the store. Code that opens a store takes the read lock, and code that starts a process the
/// write lock.
pub(super) static OPEN_HERE: RwLock<()> = RwLock::new(());

/// A process that writes to a store or checks a store. Dropping the value kills the process.
pub(super) struct Process {
    child: Child,
    /// Receives the output of the process as it arrives.
    printed: Receiver<Vec<u8>>,
    /// The standard input of the process. The process ends when this pipe is closed, so it does not outlive its
    /// parent.
    _lifeline: ChildStdin,
}

impl Process {
    /// Starts this program as a new process, and sends the orders to its standard input.
    pub(super) fn start(orders: &impl Serialize) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(WRITER_COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // The process gets its own process group, so that Ctrl-C at a terminal interrupts only the parent.
        command.process_group(0);
        let forking = OPEN_HERE.write();
        let mut child = command.spawn()?;
        drop(forking);
        let mut lifeline =
            child.stdin.take().expect("the standard input of a new writer process must be a pipe");
        let mut out =
            child.stdout.take().expect("the standard output of a new writer process must be a pipe");
        let (sender, printed) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = out.read(&mut buffer)
                && sender.send(buffer[..read].to_vec()).is_ok()
            {}
        });
        let sent = writeln!(
            lifeline,
            "{}",
            serde_json::to_string(orders).expect("the orders to a writer process must serialize to JSON")
        );
        let process = Self { child, printed, _lifeline: lifeline };
        sent.map(|()| process)
    }

    /// Kills the process after it has printed `moment.events` lines and `moment.wait` has passed, or after a time
    /// limit. Returns the complete output lines. If the process ended before the kill, also returns a message with its
    /// exit status.
    pub(super) fn die(mut self, moment: Moment) -> io::Result<(String, Option<String>)> {
        let (mut printed, mut events, mut deadline) = (Vec::new(), 0, Instant::now() + FIRST_PATIENCE);
        while events < moment.events {
            let Ok(part) = self.printed.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            else {
                break;
            };
            if events == 0 {
                deadline = Instant::now() + PATIENCE;
            }
            events += part.split(|byte| *byte == b'\n').count() - 1;
            printed.extend(part);
        }
        std::thread::sleep(moment.wait);
        let ended = self.child.try_wait()?;
        self.child.kill()?;
        self.child.wait()?;
        self.printed.iter().for_each(|part| printed.extend(part));
        // Lines are written whole, so text after the last line break is ignored.
        printed.truncate(printed.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        let failure =
            ended.map(|status| format!("the writer process ended before the test killed it ({status})"));
        Ok((String::from_utf8_lossy(&printed).into_owned(), failure))
    }

    /// Waits until a process ends without a kill, and returns its output. The inner error is the exit status of a
    /// process that printed no complete result, or a message about the time limit.
    pub(super) fn output(mut self) -> io::Result<Result<String, String>> {
        let (mut printed, deadline) = (Vec::new(), Instant::now() + CHECK_PATIENCE);
        loop {
            match self.printed.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(part) => printed.extend(part),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    return Ok(Err(format!(
                        "the process printed no result within {seconds} s",
                        seconds = CHECK_PATIENCE.as_secs()
                    )));
                }
            }
        }
        let status = self.child.wait()?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        Ok(if printed.ends_with('\n') { Ok(printed) } else { Err(status.to_string()) })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended before the kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Prints one line to standard output with one write, so that a kill cannot interleave lines. Errors are ignored,
/// because they mean that the parent process has ended.
pub(super) fn tell(text: &str) {
    let mut out = std::io::stdout().lock();
    // An error means that the parent is gone.
    let _ = out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush());
}

/// Parses the reports that a writer process printed. Returns its commits, and the failure that the process reported, if
/// any. `from` is the number of commits of each writer in the store at the start of the process.
///
/// # Errors
/// A line is not a valid report.
pub(super) fn read_reports(from: Commits, printed: &str) -> Result<(Ledger, Option<String>), String> {
    let (mut ledger, mut failure) = (Ledger::new(from), None);
    for line in printed.lines() {
        match line.strip_prefix(FAILURE) {
            Some(message) => failure = Some(message.to_owned()),
            None => line.parse().and_then(|event| ledger.note(event))?,
        }
    }
    Ok((ledger, failure))
}
