//! A server that is started for one store, and that ends when the store is closed.

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

/// Shell script that runs the server in the background. The script ends the server when standard input is closed, which
/// happens when the parent process ends.
const SCRIPT: &str = "exec 3<&0; \"$@\" </dev/null 3<&- & server=$!; \
                      { read -r gone <&3; kill \"$server\" 2>/dev/null; } & watcher=$!; exec 3<&-; \
                      wait \"$server\"; code=$?; kill \"$watcher\" 2>/dev/null; exit $code";

/// Maximum time until a started server answers. The server may have to replay its WAL first.
const START_PATIENCE: Duration = Duration::from_mins(1);

/// The time that a server has to end.
const END_PATIENCE: Duration = Duration::from_mins(1);

/// Time between two checks of a server.
const LOOK_PERIOD: Duration = Duration::from_millis(5);

/// A server in a separate process.
pub(super) struct ServerProcess {
    shell: Child,
    port: u16,
    /// The output of the server.
    output: PathBuf,
}

impl ServerProcess {
    /// Starts the server of a store.
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

    /// Calls `connect` until it succeeds.
    ///
    /// # Errors
    /// If the server ends before `connect` succeeds, returns the last lines of its output. If `connect` still fails
    /// after a minute, returns the error of `connect`.
    pub(super) fn wait_for<T>(
        &mut self,
        mut connect: impl FnMut() -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.shell.try_wait()? {
                return Err(
                    format!("the server ended while it started ({status}): {}", self.last_lines()).into()
                );
            }
            match connect() {
                Err(error) if start.elapsed() > START_PATIENCE => return Err(error),
                Err(_) => std::thread::sleep(LOOK_PERIOD),
                connected => return connected,
            }
        }
    }

    /// Waits for the end of a server after the command to end it.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let start = Instant::now();
        while self.shell.try_wait()?.is_none() {
            if start.elapsed() > END_PATIENCE {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not stop"));
            }
            std::thread::sleep(LOOK_PERIOD);
        }
        Ok(())
    }

    /// The last lines of the server's output, joined into one line.
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

/// Returns the words of the command that starts the server, with the path of its program.
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
