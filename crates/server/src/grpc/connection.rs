//! Serves the HTTP/2 connection of one gRPC client.

use std::convert::Infallible;
use std::error::Error as _;
use std::future::ready;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::counted::CountedSocket;
use super::service::{answer, refuse};
use crate::connection::{FAREWELL, until_end};
use crate::shared::Shared;

/// The maximum number of concurrent calls of one connection. The client must delay further calls.
const MAX_CALLS: u32 = 100;

/// The HTTP/2 window: the maximum number of request bytes that a client may send before the server has read them. The
/// limit applies to each call and to each connection.
const WINDOW_BYTES: u32 = 256 << 10;

/// The maximum number of bytes of one response that HTTP/2 buffers.
const SEND_BYTES: usize = 64 << 10;

/// The maximum size of the headers of one call, in bytes.
const HEADER_BYTES: u32 = 16 << 10;

/// Serves a client until the client disconnects or violates the protocol, or the server ends.
///
/// # Errors
/// The socket fails.
pub(crate) async fn serve(stream: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = TokioIo::new(CountedSocket { stream, shared: Arc::clone(shared) });
    let mut ending = shared.watch_end();
    let served = Arc::clone(shared);
    let service = service_fn(move |request| answer(Arc::clone(&served), request));
    let mut connection = pin!(builder().serve_connection(socket, service));
    let ended = if let Some(ended) = until_end(&mut ending, connection.as_mut()).await {
        ended
    } else {
        // The client can start no further calls, but still receives the responses to its running calls.
        connection.as_mut().graceful_shutdown();
        timeout(FAREWELL, connection).await.unwrap_or(Ok(()))
    };
    if ended.is_err_and(|error| is_of_client(&error)) {
        shared.counters.disconnected.add(1);
    }
    Ok(())
}

/// Rejects a client because the limit of connections is reached: answers each of its calls with an error, for at most
/// the time `patience`.
pub(crate) async fn turn_away(stream: TcpStream, patience: Duration) {
    let service = service_fn(|_| ready(Ok::<_, Infallible>(refuse())));
    let _ = timeout(patience, builder().serve_connection(TokioIo::new(stream), service)).await;
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(MAX_CALLS)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_send_buf_size(SEND_BYTES)
        .max_header_list_size(HEADER_BYTES);
    builder
}

/// Returns whether an HTTP/2 connection ended because the client violated the protocol, and not because the socket
/// failed.
fn is_of_client(error: &hyper::Error) -> bool {
    error.source().is_some_and(|source| !source.is::<io::Error>())
}
