//! Defines the state that all clients of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::watch;

use crate::budget::MemoryBudget;
use crate::counters::ServerCounters;
use crate::databases::Databases;
use crate::options::ServerOptions;

/// The state that all clients of a server share.
pub(crate) struct Shared {
    pub(crate) databases: Databases,
    pub(crate) options: ServerOptions,
    pub(crate) counters: ServerCounters,
    pub(crate) memory: Arc<MemoryBudget>,
    /// The port on which the server listens for clients.
    pub(crate) port: u16,
    /// The number of connected clients.
    pub(crate) connected: AtomicUsize,
    pub(crate) started: Instant,
    next_client: AtomicU64,
    /// A channel to all tasks of the server. Its value becomes `true` when the server starts to shut down.
    ending: watch::Sender<bool>,
}

impl Shared {
    pub(crate) fn new(databases: Databases, options: ServerOptions, port: u16) -> Self {
        Self {
            databases,
            counters: ServerCounters::default(),
            memory: Arc::new(MemoryBudget::new(options.limits.client_memory_bytes)),
            options,
            port,
            connected: AtomicUsize::new(0),
            started: Instant::now(),
            next_client: AtomicU64::new(1),
            ending: watch::Sender::new(false),
        }
    }

    /// Returns a number for a new client. No other client of the server has this number.
    pub(crate) fn number_client(&self) -> u64 {
        self.next_client.fetch_add(1, Ordering::Relaxed)
    }

    /// Starts the shutdown of the server. The server accepts no further clients, and disconnects each client after its
    /// last reply.
    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Returns whether the shutdown of the server has started.
    #[cfg(feature = "grpc")]
    pub(crate) fn is_ending(&self) -> bool {
        *self.ending.borrow()
    }

    /// Returns a receiver whose value becomes `true` when the server starts to shut down.
    pub(crate) fn watch_end(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }

    /// Returns the name, the description and the current value of each gauge of the server.
    pub(crate) fn gauges(&self) -> [(&'static str, &'static str, u64); 4] {
        [
            ("uptime_in_seconds", "Seconds since the server started", self.started.elapsed().as_secs()),
            (
                "connected_clients",
                "Clients that are connected",
                self.connected.load(Ordering::Relaxed) as u64,
            ),
            ("client_memory_bytes", "Bytes in the buffers of all clients", self.memory.taken_bytes() as u64),
            (
                "client_memory_limit_bytes",
                "Limit of the bytes in the buffers of all clients",
                self.memory.limit_bytes() as u64,
            ),
        ]
    }
}
