//! A server for one test, and its clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lsmbench_server::{Protocol, ServeError, ServedStore, Server, ServerOptions};
use tempfile::TempDir;
use tree::{Design, Families, OpenOptions};

/// The time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server on a thread of this process. The server ends when this value is dropped.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) metrics: Option<SocketAddr>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
    _folder: Option<TempDir>,
}

impl Served {
    /// Starts a server with the Redis protocol over a new store.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Starts a server over a new store, with options that `change` modifies.
    pub(crate) fn with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        Self::start(&path, Some(folder), "memtable.capacity = \"256KiB\"", change)
    }

    /// Starts a server over the store in a folder.
    pub(crate) fn of(folder: &Path, design: &str) -> Self {
        Self::new_in(folder, design, |_| {})
    }

    /// Serves the store in a folder, with changed options.
    pub(crate) fn new_in(folder: &Path, design: &str, change: impl FnOnce(&mut ServerOptions)) -> Self {
        Self::start(folder, None, design, change)
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
        let store: ServedStore = match design.has_family_trees() {
            true => Families::open(OpenOptions::new(design), path).unwrap().into(),
            false => OpenOptions::new(design).open(path).unwrap().into(),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(store, || is_stopped.load(Ordering::Relaxed)));
        Self { address, metrics, stop, thread: Some(thread), _folder: folder }
    }

    /// Connects a client that uses the Redis protocol.
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Connects a client that sends and receives raw bytes.
    pub(crate) fn socket(&self) -> Socket {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Socket { reader: BufReader::new(stream) }
    }

    /// Requests the end of the server, without waiting for the end.
    pub(crate) fn tell_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Stops the server, and checks that it ends cleanly.
    pub(crate) fn stop(mut self) {
        self.tell_to_stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }

    /// Waits until the server has ended, for example because of `SHUTDOWN`.
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

/// A client that speaks RESP2.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

/// A reply in the Redis protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Text(Vec<u8>),
    Integer(i64),
    Array(Vec<Value>),
    Error(String),
}

impl Client {
    pub(crate) fn connect(address: impl ToSocketAddrs) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    /// Sends several requests together, and returns their replies.
    pub(crate) fn pipeline(&mut self, requests: &[Vec<Vec<u8>>]) -> Vec<Value> {
        let bytes: Vec<u8> = requests.iter().flat_map(|words| encoded(words)).collect();
        self.reader.get_mut().write_all(&bytes).unwrap();
        requests.iter().map(|_| self.reply()).collect()
    }

    /// Sends one request, and returns its reply.
    pub(crate) fn call(&mut self, words: &[&[u8]]) -> Value {
        self.pipeline(&[words.iter().map(|word| word.to_vec()).collect()]).remove(0)
    }

    /// Reads the next reply.
    fn reply(&mut self) -> Value {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        let text = line.get(1..).unwrap_or_default().trim_end_matches("\r\n");
        match line.as_bytes().first() {
            Some(b'+') => Value::Text(text.as_bytes().to_vec()),
            Some(b'-') => Value::Error(text.to_owned()),
            Some(b':') => Value::Integer(text.parse().unwrap()),
            Some(b'$' | b'*') if text == "-1" => Value::Null,
            Some(b'$') => {
                let mut bytes = vec![0; text.parse::<usize>().unwrap() + 2];
                self.reader.read_exact(&mut bytes).unwrap();
                bytes.truncate(bytes.len() - 2);
                Value::Text(bytes)
            }
            Some(b'*') => Value::Array((0..text.parse::<usize>().unwrap()).map(|_| self.reply()).collect()),
            _ => panic!("no reply: {line:?}"),
        }
    }
}

impl Value {
    /// Returns the texts of the elements of an array.
    #[track_caller]
    pub(crate) fn texts(&self) -> Vec<String> {
        let Self::Array(values) = self else { panic!("no array: {self:?}") };
        values.iter().map(shown).collect()
    }
}

/// Encodes a request as an array of bulk strings.
fn encoded(words: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n", word.len()).bytes());
        bytes.extend(word);
        bytes.extend(b"\r\n");
    }
    bytes
}

/// Converts words to the arguments of a request.
pub(crate) fn request(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Sends a command, and returns its reply as text.
pub(crate) fn ask(client: &mut Client, words: &[&str]) -> String {
    shown(&client.pipeline(&[request(words)])[0])
}

/// Sends a command whose arguments are bytes, and returns its reply as text.
pub(crate) fn ask_bytes(client: &mut Client, words: &[&[u8]]) -> String {
    shown(&client.call(words))
}

/// Formats a reply as text, with escaped bytes, arrays in brackets, and errors after an exclamation mark.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        Value::Text(bytes) => bytes.escape_ascii().to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Array(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Error(text) => format!("!{text}"),
    }
}

/// A client that sends and receives raw bytes.
pub(crate) struct Socket {
    reader: BufReader<TcpStream>,
}

impl Socket {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }

    /// Sends bytes. Returns an error if the server has closed the connection.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Returns the next line without its line end; empty if the server has closed the connection.
    pub(crate) fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).unwrap();
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }

    /// Returns all remaining bytes until the server closes the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).unwrap();
        String::from_utf8_lossy(&rest).into_owned()
    }

    /// Closes the sending side of the connection.
    pub(crate) fn finish(&mut self) {
        self.reader.get_mut().shutdown(Shutdown::Write).unwrap();
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }
}

/// Returns the number in the line `name` of the reply to `INFO`.
pub(crate) fn info(client: &mut Client, name: &str) -> u64 {
    let Value::Text(text) = client.call(&[b"INFO"]) else { panic!("INFO is no text") };
    let text = String::from_utf8(text).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

/// Waits until `is_true` returns true.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(5));
    }
}
