//! Implements the server: listens on a socket, starts a task for every client, and ends without losing acknowledged
//! writes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::connection::{Presence, converse, farewell, until_end};
use crate::databases::{Databases, ServedStore};
use crate::exposition;
#[cfg(feature = "grpc")]
use crate::grpc;
use crate::options::{Protocol, ServerOptions};
use crate::resp::RespSession;
use crate::shared::Shared;
use crate::text::TextSession;

/// The interval at which a server checks whether it must end.
const STOP_PERIOD: Duration = Duration::from_millis(50);

/// The time that a server waits before it accepts a client again, if the process has no free file descriptor.
const RETRY_PERIOD: Duration = Duration::from_millis(50);

/// The time limit for sending the error to a rejected client.
const TURN_AWAY_PATIENCE: Duration = Duration::from_millis(500);

/// The number of file descriptors that a server needs in addition to its connections.
const OTHER_FILES: u64 = 1000;

/// The time limit for sending the last replies to all clients when the server ends.
const LAST_REPLIES: Duration = Duration::from_secs(20);

/// The reason why a server did not start, or did not end as intended.
#[derive(Debug, Error)]
pub enum ServeError {
    /// An option is out of range, or two options contradict each other.
    #[error("{0}")]
    Options(String),
    /// The server cannot listen on its address.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address on which the server tried to listen.
        address: SocketAddr,
        /// The error that the kernel returned.
        error: io::Error,
    },
    /// The operating system cannot start the threads of the server.
    #[error("cannot start the threads of the server: {0}")]
    Threads(io::Error),
    /// The tree that the server serves cannot be read or closed.
    #[error(transparent)]
    Tree(#[from] tree::Error),
}

/// A server that listens on its address, but does not accept clients yet. The kernel queues their connections.
pub struct Server {
    runtime: Runtime,
    options: ServerOptions,
    clients: TcpListener,
    metrics: Option<TcpListener>,
}

impl Server {
    /// Opens the sockets of a server, at the addresses in the options.
    ///
    /// # Errors
    /// An option is invalid, the server cannot listen on an address, or its threads cannot be started.
    pub fn bind(options: ServerOptions) -> Result<Self, ServeError> {
        options.check().map_err(ServeError::Options)?;
        raise_file_limit(options.limits.connections as u64 + OTHER_FILES);
        let runtime = Builder::new_multi_thread().enable_io().enable_time().thread_name("server").build();
        let runtime = runtime.map_err(ServeError::Threads)?;
        let clients = runtime.block_on(listen(options.listen))?;
        let metrics = options.metrics.map(|address| runtime.block_on(listen(address))).transpose()?;
        Ok(Self { runtime, options, clients, metrics })
    }

    /// Returns the address on which the server listens for clients. If the options have port 0, the address contains
    /// the port that the kernel chose.
    pub fn address(&self) -> SocketAddr {
        self.clients.local_addr().unwrap_or(self.options.listen)
    }

    /// Returns the address on which the server answers requests for metrics. Returns `None` if the server has no such
    /// address.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves a store until `must_stop` returns `true`, or a client shuts the server down. Then sends all replies and
    /// closes the store, so that all writes are durable.
    ///
    /// # Errors
    /// The store cannot be read or closed.
    ///
    /// # Panics
    /// A task of the server is still running after its runtime has ended, which is a bug.
    pub fn run(self, store: impl Into<ServedStore>, must_stop: impl Fn() -> bool) -> Result<(), ServeError> {
        let port = self.address().port();
        let Self { runtime, options, clients, metrics } = self;
        let connections = options.limits.connections;
        let shared = Arc::new(Shared::new(Databases::new(store.into())?, options, port));
        let places = Arc::new(Semaphore::new(connections));
        runtime.block_on(async {
            if let Some(metrics) = metrics {
                tokio::spawn(exposition::expose(metrics, Arc::clone(&shared)));
            }
            tokio::spawn(accept(clients, Arc::clone(&shared), Arc::clone(&places)));
            let mut ending = shared.watch_end();
            while until_end(&mut ending, sleep(STOP_PERIOD)).await.is_some() {
                if must_stop() {
                    shared.end();
                }
            }
            // Waits until all clients have ended, because each client holds one of the places until then.
            let _ = timeout(LAST_REPLIES, places.acquire_many(connections as u32)).await;
        });
        // Dropping the runtime ends the tasks that wait, and waits for the calls to the tree that are under way.
        drop(runtime);
        let shared = Arc::into_inner(shared).expect("every task of the server must end before its runtime");
        Ok(shared.databases.close()?)
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|error| ServeError::Listen { address, error })
}

/// Accepts clients until the server ends, and starts a task for each client.
async fn accept(listener: TcpListener, shared: Arc<Shared>, places: Arc<Semaphore>) {
    let mut ending = shared.watch_end();
    while let Some(accepted) = until_end(&mut ending, listener.accept()).await {
        match (accepted, Arc::clone(&places).try_acquire_owned()) {
            (Ok((stream, _)), Ok(place)) => {
                shared.counters.accepted.add(1);
                tokio::spawn(serve_client(stream, Presence::new(&shared), place));
            }
            (Ok((stream, _)), Err(_)) => {
                shared.counters.rejected.add(1);
                tokio::spawn(turn_away(stream, shared.options.protocol));
            }
            (Err(_), _) => sleep(RETRY_PERIOD).await,
        }
    }
}

/// Serves one client until the client disconnects or the connection breaks.
async fn serve_client(stream: TcpStream, presence: Presence, place: OwnedSemaphorePermit) {
    let shared = &presence.shared;
    let _ = match shared.options.protocol {
        Protocol::Resp => converse(stream, shared, &mut RespSession::new(shared)).await,
        Protocol::Dsl => converse(stream, shared, &mut TextSession::new(shared)).await,
        #[cfg(feature = "grpc")]
        Protocol::Grpc => Box::pin(grpc::serve(stream, shared)).await,
    };
    drop(presence);
    drop(place);
}

/// Sends an error to a client, because the limit of connections is reached.
async fn turn_away(stream: TcpStream, protocol: Protocol) {
    let message = match protocol {
        Protocol::Resp => "-ERR max number of clients reached\r\n",
        Protocol::Dsl => "error: max number of clients reached\n",
        #[cfg(feature = "grpc")]
        Protocol::Grpc => return grpc::turn_away(stream, TURN_AWAY_PATIENCE).await,
    };
    let _ = farewell(stream, message.as_bytes(), TURN_AWAY_PATIENCE).await;
}

/// Raises the limit of open files of the process to `files`, as far as the operating system permits.
fn raise_file_limit(files: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(files, |maximum| files.min(maximum));
    if current.is_some_and(|current| current < wanted) {
        // If raising the limit fails, clients above the old limit wait until other clients disconnect.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}
