//! A server for one test, and its clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lsmbench_server::{Protocol, ServeError, Server, ServerOptions};
use redis::{Cmd, Connection, Value};
use tempfile::TempDir;
use tree::{Design, OpenOptions};

/// How long a test waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server on a thread of this process. It ends with this value.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) metrics: Option<SocketAddr>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
    _folder: Option<TempDir>,
}

impl Served {
    /// Serves a new store with the Redis protocol.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Serves a new store, with changed options.
    pub(crate) fn with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        Self::start(&path, Some(folder), "memtable.capacity = \"256KiB\"", change)
    }

    /// Serves the store in a folder.
    pub(crate) fn of(folder: &Path, design: &str) -> Self {
        Self::start(folder, None, design, |_| {})
    }

    fn start(
        path: &Path,
        folder: Option<TempDir>,
        design: &str,
        change: impl FnOnce(&mut ServerOptions),
    ) -> Self {
        let mut options = ServerOptions::new("127.0.0.1:0".parse().unwrap(), Protocol::Resp);
        change(&mut options);
        let design = Design::default().with(&design.parse().unwrap()).unwrap();
        let server = Server::bind(options).unwrap();
        let (address, metrics) = (server.address(), server.metrics_address());
        let tree = OpenOptions::new(design).open(path).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(tree, || is_stopped.load(Ordering::Relaxed)));
        Self { address, metrics, stop, thread: Some(thread), _folder: folder }
    }

    /// A client with the Redis protocol.
    pub(crate) fn client(&self) -> Connection {
        let client = redis::Client::open(format!("redis://{}", self.address)).unwrap();
        let connection = client.get_connection().unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection
    }

    /// A bare socket.
    pub(crate) fn socket(&self) -> Socket {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Socket { reader: BufReader::new(stream) }
    }

    /// Tells the server to end, without waiting for it.
    pub(crate) fn tell_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the server, and holds it to a clean end.
    pub(crate) fn stop(mut self) {
        self.tell_to_stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }

    /// Waits until the server has ended by itself.
    pub(crate) fn join(mut self) {
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.tell_to_stop();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(
                std::thread::panicking() || matches!(ended, Ok(Ok(()))),
                "the server ended with an error"
            );
        }
    }
}

/// The reply to a command, as text.
pub(crate) fn ask(connection: &mut Connection, words: &[&str]) -> String {
    ask_bytes(connection, &words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>())
}

/// The reply to a command whose arguments are bytes, as text.
pub(crate) fn ask_bytes(connection: &mut Connection, words: &[&[u8]]) -> String {
    match command(words).query::<Value>(connection) {
        Ok(value) => shown(&value),
        Err(error) => failed(&error),
    }
}

/// A command of bytes.
pub(crate) fn command(words: &[&[u8]]) -> Cmd {
    let mut command = Cmd::new();
    words.iter().for_each(|word| _ = command.arg(*word));
    command
}

/// An error, as the server spelt it.
fn failed(error: &redis::RedisError) -> String {
    format!("!{} {}", error.code().unwrap_or("ERR"), error.detail().unwrap_or_default())
}

/// A reply as text: bytes escaped, arrays in brackets.
pub(crate) fn shown(value: &Value) -> String {
    let list = |values: &[Value]| format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(" "));
    match value {
        Value::Nil => "nil".to_owned(),
        Value::Okay => "OK".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::BulkString(bytes) => bytes.escape_ascii().to_string(),
        Value::SimpleString(text) => text.clone(),
        Value::Array(values) => list(values),
        Value::Map(pairs) => {
            format!(
                "{{{}}}",
                pairs
                    .iter()
                    .map(|(key, value)| format!("{}:{}", shown(key), shown(value)))
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        }
        Value::ServerError(error) => format!("!{} {}", error.code(), error.details().unwrap_or_default()),
        other => format!("{other:?}"),
    }
}

/// A client that sends bytes.
pub(crate) struct Socket {
    reader: BufReader<TcpStream>,
}

impl Socket {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }

    /// Sends bytes to a server that may have closed the connection.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// The next line, without its end; empty if the server has closed the connection.
    pub(crate) fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).unwrap();
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }

    /// Everything up to the end of the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).unwrap();
        String::from_utf8_lossy(&rest).into_owned()
    }

    /// Says that nothing more is sent.
    pub(crate) fn finish(&mut self) {
        self.reader.get_mut().shutdown(Shutdown::Write).unwrap();
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }
}

/// The number of a line of `INFO`.
pub(crate) fn info(connection: &mut Connection, name: &str) -> u64 {
    let text: String = redis::cmd("INFO").query(connection).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

/// Waits until something is true.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(5));
    }
}
