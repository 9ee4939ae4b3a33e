//! Controls the process of an external policy: starts the process, sends requests line by line, and ends the process.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;

/// The version of the protocol between lsmbench and the process of a policy. The first answer of the process must
/// contain this version.
const PROTOCOL: u64 = 1;

/// The first line (greeting) that lsmbench sends to the process of a policy. It states the version of the protocol.
const GREETING: &str = r#"{"axis": "compaction", "protocol": 1}"#;

/// The maximum length in bytes of a line with which the process answers, including the newline.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// The maximum number of bytes that an error message quotes from an answer of the process or from its standard error.
const SHOWN_BYTES: usize = 400;

/// The maximum time that the process may take to end after its input is closed, as a number of [`END_STEP`]s.
const END_STEPS: u32 = 200;

/// The time between two checks whether the process has ended.
const END_STEP: Duration = Duration::from_millis(1);

/// The first answer of a policy process, which contains the version of the protocol.
#[derive(Deserialize)]
struct Greeted {
    protocol: u64,
}

/// The reason why the process of a policy failed, and the answer that caused the failure.
pub(super) struct Failure {
    /// The line that the process printed as its answer. `None` if the process printed no line.
    answer: Option<String>,
    what: String,
}

impl Failure {
    /// Creates the failure of a policy process that printed the line `answer`. `what` is the reason of the failure.
    pub(super) fn answer(answer: &str, what: String) -> Self {
        Self { answer: Some(answer.to_owned()), what }
    }

    fn silent(what: impl Into<String>) -> Self {
        Self { answer: None, what: what.into() }
    }
}

/// The process of an external policy. Its command is started at the first request.
pub(super) struct PolicyProcess {
    command: Vec<String>,
    timeout: Duration,
    running: Option<Running>,
}

/// A running process of an external policy.
struct Running {
    child: Child,
    /// Passes request lines to the thread that communicates with the process. `None` after the input of the process is
    /// closed.
    questions: Option<SyncSender<String>>,
    /// Receives the lines with which the process answers.
    answers: Receiver<Result<String, Failure>>,
    /// The last bytes that the process wrote to standard error.
    errors: Arc<Mutex<Vec<u8>>>,
    /// A channel that is disconnected when the standard error of the process has ended.
    errors_end: Receiver<()>,
    /// Whether the exit status of the process was collected. If so, the process must not be killed, because the kernel
    /// may already use its process ID for another process.
    has_ended: bool,
}

impl PolicyProcess {
    /// Prepares a process that the first request starts.
    ///
    /// # Errors
    /// The program does not exist.
    pub(super) fn new(command: Vec<String>, timeout: Duration) -> Result<Self, String> {
        let program = command.first().map_or("", String::as_str);
        if !is_there(program) {
            return Err(format!(
                "command is {command:?}, but no program \"{program}\" exists; a name is looked up in PATH, and a \
                 relative path starts at the current directory"
            ));
        }
        Ok(Self { command, timeout, running: None })
    }

    /// Sends one line to the process and returns the answer of the process. The first call starts the process.
    ///
    /// # Errors
    /// The process cannot be started, ends, exceeds the timeout, or prints no line of UTF-8 text.
    pub(super) fn ask(&mut self, line: &str) -> Result<String, Failure> {
        if self.running.is_none() {
            let running = Running::start(&self.command)
                .map_err(|error| Failure::silent(format!("the policy process cannot be started: {error}")))?;
            let greeted = self.running.insert(running).ask(GREETING, self.timeout)?;
            let protocol = serde_json::from_str::<Greeted>(&greeted).map(|greeted| greeted.protocol);
            if protocol.ok() != Some(PROTOCOL) {
                let what = format!(
                    "the answer of the policy process to {GREETING} must be {{\"protocol\": {PROTOCOL}}}"
                );
                return Err(Failure::answer(&greeted, what));
            }
        }
        match &self.running {
            Some(running) => running.ask(line, self.timeout),
            None => Err(Failure::silent("the policy process is not running")),
        }
    }

    /// Ends the process, and returns the error message: the failure, the answer of the process, its exit status and
    /// its standard error.
    pub(super) fn fail(&mut self, failure: &Failure) -> String {
        let mut message = format!("the policy process {:?} failed: {}", self.command, failure.what);
        if let Some(answer) = &failure.answer {
            let _ = write!(message, "; it printed: {}", shown(answer));
        }
        if let Some(mut running) = self.running.take() {
            let status = running.end();
            if failure.answer.is_none()
                && let Some(status) = status
            {
                let _ = write!(message, " ({status})");
            }
            // The thread that reads standard error may need more time. The wait is limited, because a process that
            // left the process group can keep the pipe open.
            let _ = running.errors_end.recv_timeout(END_STEP * END_STEPS);
            let errors = String::from_utf8_lossy(&running.errors.lock()).trim().to_owned();
            if !errors.is_empty() {
                let _ = write!(message, "; on standard error: {}", shown(&errors));
            }
        }
        message + "; correct the policy and run it again; the store is intact"
    }
}

/// Runs as the process of a policy that has no jobs: answers each line from lsmbench until `shapes` ends. The process
/// does nothing else, so a call of this policy measures only the cost of the communication.
///
/// # Errors
/// A line cannot be read or written.
pub fn answer_without_jobs(shapes: impl BufRead, mut answers: impl Write) -> std::io::Result<()> {
    let mut answer = format!("{{\"protocol\": {PROTOCOL}}}\n");
    for line in shapes.lines() {
        line?;
        answers.write_all(answer.as_bytes())?;
        answers.flush()?;
        "null\n".clone_into(&mut answer);
    }
    Ok(())
}

/// Returns whether the program of a policy exists. A name without a slash is searched in the folders of PATH.
fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    !program.is_empty() && std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// Returns the last bytes of an output of the process as one quoted line. The end of an output usually explains a
/// failure.
fn shown(text: &str) -> String {
    let mut start = text.len().saturating_sub(SHOWN_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    format!("{}{:?}", if start > 0 { "…" } else { "" }, &text[start..])
}

impl Running {
    fn start(command: &[String]) -> std::io::Result<Self> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The process gets its own process group, so that the child processes of the command can be killed
            // together with the process.
            .process_group(0)
            .spawn()?;
        let (questions, to_ask) = sync_channel::<String>(1);
        let (to_answer, answers) = sync_channel(1);
        let errors = Arc::new(Mutex::new(Vec::new()));
        let (errors_open, errors_end) = sync_channel(0);
        if let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) {
            thread::Builder::new()
                .name("lsm-policy".to_owned())
                .spawn(move || talk(&to_ask, stdin, BufReader::new(stdout), &to_answer))?;
        }
        if let Some(stderr) = child.stderr.take() {
            let kept = Arc::clone(&errors);
            thread::Builder::new().name("lsm-policy-err".to_owned()).spawn(move || {
                let _open = errors_open;
                keep_end(stderr, &kept);
            })?;
        }
        Ok(Self { child, questions: Some(questions), answers, errors, errors_end, has_ended: false })
    }

    fn ask(&self, line: &str, timeout: Duration) -> Result<String, Failure> {
        let ended = || Failure::silent("the policy process ended before it answered");
        let questions = self.questions.as_ref().ok_or_else(ended)?;
        questions.send(format!("{line}\n")).map_err(|_| ended())?;
        match self.answers.recv_timeout(timeout) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
            Err(RecvTimeoutError::Timeout) => Err(Failure::silent(format!(
                "the policy process did not answer within {timeout:?}; it must print and flush one line for each \
                 line that it reads; if it needs more time, set a larger timeout"
            ))),
        }
    }

    /// Closes the input of the process, so that it ends. If the process does not end, kills it and all its child
    /// processes. Returns the exit status if the process ended before the kill. Returns `None` after a kill, and for
    /// all further calls.
    fn end(&mut self) -> Option<std::process::ExitStatus> {
        self.questions = None;
        if std::mem::replace(&mut self.has_ended, true) {
            return None;
        }
        for _ in 0..END_STEPS {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.kill_group();
                    return Some(status);
                }
                Ok(None) => thread::sleep(END_STEP),
                Err(_) => break,
            }
        }
        self.kill_group();
        // If the kill fails, the process has already ended. If the wait fails, the process was never a child of this
        // process.
        let _ = self.child.kill();
        let _ = self.child.wait();
        None
    }

    /// Kills the remaining processes of the policy's process group.
    fn kill_group(&self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // The kill fails if no process of the group is left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends each request to the process, and passes the answer of the process to `answers`. The function returns when
/// `questions` is closed, or after the first answer that cannot be read.
fn talk(
    questions: &Receiver<String>,
    mut stdin: ChildStdin,
    mut stdout: impl BufRead,
    answers: &SyncSender<Result<String, Failure>>,
) {
    while let Ok(question) = questions.recv() {
        // A process that no longer reads its input may have printed the reason.
        let _ = stdin.write_all(question.as_bytes());
        let answer = read_line(&mut stdout);
        let failed = answer.is_err();
        if answers.send(answer).is_err() || failed {
            return;
        }
    }
}

fn read_line(stdout: &mut impl BufRead) -> Result<String, Failure> {
    let mut line = Vec::new();
    let read = stdout.by_ref().take(MAX_ANSWER_BYTES).read_until(b'\n', &mut line);
    let text = String::from_utf8_lossy(&line);
    match read {
        Ok(_) if line.ends_with(b"\n") => match String::from_utf8(line.clone()) {
            Ok(line) => Ok(line.trim_end().to_owned()),
            Err(_) => {
                Err(Failure::answer(&text, "an answer of the policy process must be UTF-8 text".to_owned()))
            }
        },
        Ok(0) => Err(Failure::silent("the policy process ended before it answered")),
        Ok(_) if line.len() as u64 == MAX_ANSWER_BYTES => Err(Failure::answer(
            &text,
            format!("an answer of the policy process must have at most {MAX_ANSWER_BYTES} bytes"),
        )),
        Ok(_) => Err(Failure::answer(&text, "the policy process ended in the middle of a line".to_owned())),
        Err(error) => {
            Err(Failure::silent(format!("the answer of the policy process cannot be read: {error}")))
        }
    }
}

/// Reads the standard error of the process to its end, and keeps the last 4 × [`SHOWN_BYTES`] bytes in `kept`.
fn keep_end(mut stderr: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        let mut kept = kept.lock();
        kept.extend_from_slice(&buffer[..read]);
        let surplus = kept.len().saturating_sub(4 * SHOWN_BYTES);
        kept.drain(..surplus);
    }
}
