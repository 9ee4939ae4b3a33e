//! Serves the connection of one client: reads requests, executes them, and sends the replies.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::budget::TOO_MUCH_MEMORY;
use crate::shared::Shared;

/// The minimum number of bytes that one read from a socket requests.
const READ_BYTES: usize = 16 << 10;

/// The maximum size of a client's buffer that the server keeps allocated between two requests, in bytes.
const KEPT_BYTES: usize = 64 << 10;

/// The time limit for sending the last replies to a client before the server disconnects the client.
pub(crate) const FAREWELL: Duration = Duration::from_secs(5);

/// Parses and executes the requests of a client in one protocol.
pub(crate) trait Session: Send {
    /// Parses the complete requests at the start of `input`: the bytes that the session has not consumed yet, followed
    /// by newly received bytes.
    fn receive(&mut self, input: &[u8]) -> Received;

    /// Executes the requests that [`receive`](Self::receive) has parsed from the same `input`, and appends their
    /// replies to `output`. May stop before the last request, so that the connection can send replies.
    fn execute(&mut self, input: &[u8], output: &mut Vec<u8>) -> Progress;

    /// Appends an error reply with the text `reason` to `output`. The connection then disconnects the client.
    fn refuse(&self, reason: &str, output: &mut Vec<u8>);

    /// Returns the memory that the session uses, without the buffers of the connection, in bytes.
    fn memory_bytes(&self) -> usize;

    /// Frees the memory that the session needs only while it executes requests, because the client is idle.
    fn rest(&mut self);
}

/// Whether the requests in received bytes are complete, and whether their execution may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The received bytes contain no complete request.
    Incomplete,
    /// The bytes contain requests that wait for nothing, or a protocol error.
    Quick,
    /// The received bytes contain a request that may wait for storage or for other clients.
    MayWait,
}

/// The result of one call of [`Session::execute`]: the consumed bytes, and the next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The number of bytes at the start of the input that the session has consumed.
    pub(crate) consumed: usize,
    pub(crate) next: Next,
}

/// The next action of a connection, after it has sent the replies of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The connection reads further requests of the client.
    Read,
    /// The session executes further requests that the connection has already read.
    Continue,
    /// The connection sends the remaining replies, and then disconnects the client.
    Close,
}

/// The socket of a client, with the buffers for its requests and replies.
struct Connection<'s> {
    stream: TcpStream,
    shared: &'s Shared,
    ending: watch::Receiver<bool>,
    input: BytesMut,
    output: Vec<u8>,
}

/// Serves a client until the client disconnects, the server disconnects the client, or the server ends.
///
/// # Errors
/// The socket fails.
pub(crate) async fn converse(
    stream: TcpStream,
    shared: &Shared,
    session: &mut dyn Session,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let ending = shared.watch_end();
    let mut connection = Connection { stream, shared, ending, input: BytesMut::new(), output: Vec::new() };
    let mut memory = shared.memory.share();
    while connection.read().await? {
        loop {
            let bytes = connection.memory_bytes() + session.memory_bytes();
            // A client with small buffers stays connected, because it does not cause the excess.
            if !memory.set(bytes) && bytes > KEPT_BYTES {
                shared.counters.disconnected.add(1);
                connection.input = BytesMut::new();
                connection.output = Vec::new();
                memory.set(0);
                session.refuse(TOO_MUCH_MEMORY, &mut connection.output);
                return connection.say_farewell().await;
            }
            let progress = match session.receive(&connection.input) {
                Received::Incomplete => break,
                Received::Quick => session.execute(&connection.input, &mut connection.output),
                Received::MayWait => {
                    tokio::task::block_in_place(|| session.execute(&connection.input, &mut connection.output))
                }
            };
            connection.input.advance(progress.consumed);
            memory.set(connection.memory_bytes() + session.memory_bytes());
            let is_sent = connection.send().await?;
            if !is_sent || progress.next == Next::Close {
                return connection.say_farewell().await;
            }
        }
        connection.rest();
        if connection.input.is_empty() {
            session.rest();
        }
        memory.set(connection.memory_bytes() + session.memory_bytes());
    }
    Ok(())
}

impl Connection<'_> {
    /// Reads the next bytes from the client, and allocates memory only when bytes have arrived. Returns `false` if the
    /// client has disconnected or the server ends.
    async fn read(&mut self) -> io::Result<bool> {
        loop {
            match until_end(&mut self.ending, self.stream.readable()).await {
                None => return Ok(false),
                Some(ready) => ready?,
            }
            self.input.reserve(READ_BYTES);
            match self.stream.try_read_buf(&mut self.input) {
                Ok(0) => return Ok(false),
                Ok(bytes) => {
                    self.shared.counters.input_bytes.add(bytes as u64);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends all replies. The connection reads no requests meanwhile, so a client that does not receive its replies
    /// causes no further replies. Returns `false` if the server ends before all replies are sent.
    async fn send(&mut self) -> io::Result<bool> {
        let mut sent = 0;
        while sent < self.output.len() {
            let Some(written) = until_end(&mut self.ending, self.stream.write(&self.output[sent..])).await
            else {
                self.output.drain(..sent);
                return Ok(false);
            };
            let bytes = written?;
            if bytes == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            sent += bytes;
            self.shared.counters.output_bytes.add(bytes as u64);
        }
        self.output.clear();
        Ok(true)
    }

    /// Sends the last replies to the client within a time limit, and closes the connection.
    async fn say_farewell(self) -> io::Result<()> {
        farewell(self.stream, &self.output, FAREWELL).await
    }

    fn memory_bytes(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }

    /// Frees the memory that an idle connection does not need.
    fn rest(&mut self) {
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
        if self.output.capacity() > KEPT_BYTES || self.input.is_empty() {
            self.output = Vec::new();
        }
    }
}

/// Sends the last bytes to a client, and closes the connection after the client has closed its side, or after
/// `patience`.
pub(crate) async fn farewell(mut stream: TcpStream, last: &[u8], patience: Duration) -> io::Result<()> {
    let closing = async {
        stream.write_all(last).await?;
        stream.shutdown().await?;
        // If a socket is closed with unread input, the bytes that were sent last are lost. The client therefore gets
        // time to receive them.
        let mut scrap = [0; 1024];
        loop {
            stream.readable().await?;
            match stream.try_read(&mut scrap) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    };
    timeout(patience, closing).await.unwrap_or(Ok(()))
}

/// Waits for a future until it completes or the server ends. Returns `None` if the server ends first.
pub(crate) async fn until_end<T>(
    ending: &mut watch::Receiver<bool>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    let mut end = pin!(async { ending.wait_for(|is_ending| *is_ending).await.is_ok() });
    std::future::poll_fn(|context| match end.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(context).map(Some),
    })
    .await
}

/// Counts a client as connected until this value is dropped. The server creates it when it accepts the client.
pub(crate) struct Presence {
    pub(crate) shared: Arc<Shared>,
}

impl Presence {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        shared.connected.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::clone(shared) }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.shared.connected.fetch_sub(1, Ordering::Relaxed);
    }
}
