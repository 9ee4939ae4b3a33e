//! Counts the events of a server.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that many threads can increment.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The counters of a server since its start, or since the last reset.
#[derive(Debug, Default)]
pub(crate) struct ServerCounters {
    /// The number of connections that the server accepted.
    pub(crate) accepted: Count,
    /// The number of connections that the server rejected because the limit of connections was reached.
    pub(crate) rejected: Count,
    /// The number of clients that the server disconnected because they exceeded a limit or violated the protocol.
    pub(crate) disconnected: Count,
    /// The number of requests that the server executed.
    pub(crate) requests: Count,
    /// The number of requests whose reply is an error.
    pub(crate) errors: Count,
    /// The number of write batches that the server passed to the tree.
    pub(crate) batches: Count,
    /// The number of bytes that were read from clients.
    pub(crate) input_bytes: Count,
    /// The number of bytes that were written to clients.
    pub(crate) output_bytes: Count,
}

impl ServerCounters {
    /// Returns the name, the description and the value of every counter.
    pub(crate) fn all(&self) -> [(&'static str, &'static str, u64); 8] {
        [
            ("total_connections_received", "Clients that connected and were accepted", self.accepted.get()),
            ("rejected_connections", "Clients rejected because of the connection limit", self.rejected.get()),
            (
                "clients_disconnected",
                "Clients disconnected by a limit or a protocol error",
                self.disconnected.get(),
            ),
            ("total_commands_processed", "Requests that were executed", self.requests.get()),
            ("total_error_replies", "Requests whose reply is an error", self.errors.get()),
            (
                "total_write_batches",
                "Batches of writes that the server passed to the tree",
                self.batches.get(),
            ),
            ("total_net_input_bytes", "Bytes read from clients", self.input_bytes.get()),
            ("total_net_output_bytes", "Bytes written to clients", self.output_bytes.get()),
        ]
    }

    /// Sets all counters to 0.
    pub(crate) fn reset(&self) {
        let Self { accepted, rejected, disconnected, requests, errors, batches, input_bytes, output_bytes } =
            self;
        for count in [accepted, rejected, disconnected, requests, errors, batches, input_bytes, output_bytes]
        {
            count.reset();
        }
    }
}
