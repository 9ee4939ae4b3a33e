//! A server process that uses the protocol gRPC.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::Client;

/// Maximum time that a test waits for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A temporary folder that contains one store.
pub(crate) struct Place(TempDir);

impl Place {
    /// Creates a folder on a disk. In memory, a sync takes no time, so writers have no reason to share syncs.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// Returns a command that runs the program in this folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lsmbench"));
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program with `input` to its end. Returns its exit code, its output and its errors.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
        let mut child = self.command(arguments).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Checks that the store has no corruption.
    #[track_caller]
    pub(crate) fn verify(&self) {
        let (code, out, err) = self.run(&["verify", "db"], "");
        assert_eq!(code, Some(0), "{out}{err}");
    }

    /// Starts a server of the store in this folder with the given options.
    pub(crate) fn serve(&self, options: &[&str]) -> Served {
        let fixed = ["serve", "db", "--protocol", "grpc", "--listen", "127.0.0.1:0"];
        let mut child = self.command(&[&fixed[..], options].concat()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on ").and_then(|rest| rest.strip_suffix(" (grpc)\n"));
        let Some(address) = address.and_then(|address| address.parse().ok()) else {
            errors.read_to_string(&mut line).unwrap();
            panic!("it does not listen: {line}");
        };
        Served { child, errors, address }
    }
}

/// A server process on a free port. The process is killed when the value is dropped.
pub(crate) struct Served {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
    pub(crate) address: SocketAddr,
}

impl Served {
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Sends a signal to the server.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the server, and returns its exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Returns a function that returns a counter of the server by its name. The server must have the option
    /// `--metrics`.
    pub(crate) fn metrics(&mut self) -> impl Fn(&str) -> u64 + use<> {
        let mut line = String::new();
        self.errors.read_line(&mut line).unwrap();
        let address =
            line.strip_prefix("metrics on http://").and_then(|rest| rest.strip_suffix("/metrics\n"));
        let address: SocketAddr = address.unwrap_or_else(|| panic!("no metrics: {line}")).parse().unwrap();
        move |name: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `is_true` returns true. `what` names the condition in the message about a timeout.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(5));
    }
}
