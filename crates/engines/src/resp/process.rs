//! Starts a server for one store, and ends the server when the store is closed.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use workload::TargetError;

use super::params::{DESIGN, FOLDER, PORT, Params, THIS_PROGRAM, WITHOUT_COMMAND};
use super::program::find;
use crate::opening::Opening;
use crate::options::Log;

/// A shell script that runs the server in the background. The script ends the server when standard input is closed.
/// This happens when the parent process ends, for whatever reason.
const SCRIPT: &str = "exec 3<&0; \"$@\" </dev/null 3<&- & server=$!; \
                      { read -r gone <&3; kill \"$server\" 2>/dev/null; } & watcher=$!; exec 3<&-; \
                      wait \"$server\"; code=$?; kill \"$watcher\" 2>/dev/null; exit $code";

/// The maximum time from the start of a server until it accepts a connection. The server may have to replay its WAL
/// first.
const START_PATIENCE: Duration = Duration::from_mins(1);

/// The maximum time that a server may run after it has received the command to end.
const END_PATIENCE: Duration = Duration::from_mins(1);

/// The time between two checks whether a server accepts connections or has ended.
const LOOK_PERIOD: Duration = Duration::from_millis(5);

/// A server in a separate process.
pub(super) struct ServerProcess {
    shell: Child,
    port: u16,
    /// The file with the standard output and standard error of the server.
    output: PathBuf,
}

impl ServerProcess {
    /// Starts the server of a store on a free port. The command comes from `params`, or is the default command for
    /// Redis.
    pub(super) fn start(params: &Params, opening: &Opening) -> Result<Self, TargetError> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder = &opening.directory;
        let words = words(params, opening)?;
        let design = folder.join("design.toml");
        if words.iter().any(|word| word.contains(DESIGN)) {
            let table = toml::Table::from_iter([("design".to_owned(), opening.design.to_toml().into())]);
            fs::write(&design, toml::to_string(&table)?)?;
        }
        let filled = |word: &String| {
            word.replace(PORT, &port.to_string())
                .replace(FOLDER, &folder.to_string_lossy())
                .replace(DESIGN, &design.to_string_lossy())
        };
        let output = folder.join("server.log");
        let log = File::create(&output)?;
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .args(words.iter().map(filled))
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Self { shell, port, output })
    }

    /// The port that the server listens on.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Calls `connect` repeatedly until it succeeds.
    ///
    /// # Errors
    /// If the server ends before `connect` succeeds, returns the last lines of the server's output. If `connect` still
    /// fails after [`START_PATIENCE`], returns the last error of `connect`.
    pub(super) fn wait_for<T>(
        &mut self,
        mut connect: impl FnMut() -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.shell.try_wait()? {
                return Err(format!(
                    "the server ended before it accepted a connection ({status}); its last output: {}",
                    self.last_lines()
                )
                .into());
            }
            match connect() {
                Err(error) if start.elapsed() > START_PATIENCE => return Err(error),
                Err(_) => std::thread::sleep(LOOK_PERIOD),
                connected => return connected,
            }
        }
    }

    /// Waits until the process of the server ends. The caller has sent the command to end it.
    ///
    /// # Errors
    /// The process still runs after [`END_PATIENCE`].
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let start = Instant::now();
        while self.shell.try_wait()?.is_none() {
            if start.elapsed() > END_PATIENCE {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the server still runs one minute after the command to end it",
                ));
            }
            std::thread::sleep(LOOK_PERIOD);
        }
        Ok(())
    }

    /// Returns the last three lines of the server's output, joined into one line.
    fn last_lines(&self) -> String {
        let text = fs::read(&self.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines[lines.len().saturating_sub(3)..].join("; ") {
            lines if lines.is_empty() => "the server printed nothing".to_owned(),
            lines => lines,
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The end of standard input ends the server.
        drop(self.shell.stdin.take());
        let _ = self.wait();
    }
}

/// Returns the words of the command that starts the server. The first word is the path of the program.
fn words(params: &Params, opening: &Opening) -> Result<Vec<String>, TargetError> {
    let mut words = match params.command.is_empty() {
        true => redis(opening),
        false => params.command.clone(),
    };
    let path = |program: &str| -> Result<String, TargetError> {
        let path: PathBuf = find(program)?;
        Ok(Path::new(&path).to_string_lossy().into_owned())
    };
    words[0] = path(&words[0])?;
    for word in words.iter_mut().filter(|word| *word == THIS_PROGRAM) {
        *word = path(THIS_PROGRAM)?;
    }
    Ok(words)
}

/// Returns the command that starts Redis with the WAL mode of the design.
fn redis(opening: &Opening) -> Vec<String> {
    let log: &[&str] = match opening.options.log {
        Log::None => &["--appendonly", "no"],
        Log::Buffered => &["--appendonly", "yes", "--appendfsync", "no"],
        Log::Sync => &["--appendonly", "yes", "--appendfsync", "always"],
        Log::Interval { .. } => &["--appendonly", "yes", "--appendfsync", "everysec"],
    };
    WITHOUT_COMMAND.iter().chain(log).map(|word| (*word).to_owned()).collect()
}
