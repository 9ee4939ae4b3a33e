//! The arguments of `lsmbench serve`, and the options of all commands that open a store.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use types::quantity::parse_bytes;

#[derive(Debug, Args)]
pub(crate) struct StoreArguments {
    /// Directory of the store; created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Design file [default: the default design]
    #[arg(long, value_name = "FILE")]
    pub(crate) design: Option<PathBuf>,
    /// Set a design value, such as `bloom.bits_per_key=12`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Move corrupt files to quarantine/ in the store and continue
    #[arg(long)]
    pub(crate) quarantine: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShellArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Column family that the commands use
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Listen on this address; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6379")]
    pub(crate) listen: SocketAddr,
    /// Protocol of the clients
    #[arg(long, value_name = "PROTOCOL", default_value = "resp")]
    pub(crate) protocol: ServedProtocol,
    /// Require this password; needed if other machines can connect.
    ///
    /// The environment variable `LSMBENCH_PASSWORD` also sets the password. The list of processes does not show this
    /// variable.
    #[arg(long, value_name = "PASSWORD")]
    pub(crate) password: Option<String>,
    /// Serve metrics as Prometheus text on this address, at /metrics
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Maximum number of connections
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_clients: u32,
    /// Maximum size of one request in bytes
    #[arg(long, value_name = "BYTES", default_value = "128MiB", value_parser = size)]
    pub(crate) max_request: usize,
    /// Maximum size of one reply in bytes
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = size)]
    pub(crate) max_reply: usize,
    /// Maximum size of the buffers of all clients together in bytes
    #[arg(long, value_name = "BYTES", default_value = "1GiB", value_parser = size)]
    pub(crate) max_client_memory: usize,
}

/// The protocol between the server and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServedProtocol {
    /// The Redis protocol, RESP2 and RESP3
    Resp,
    /// The text language of `lsmbench shell`, one command per line
    Dsl,
    /// gRPC with the service of lsmbench.proto, in builds with `--features grpc`
    Grpc,
}

/// The smallest size limit that `lsmbench serve` accepts, in bytes. An error message and a short request fit into
/// this size.
const LEAST_BYTES: u64 = 4 << 10;

/// The largest size limit that `lsmbench serve` accepts, in bytes.
const MOST_BYTES: u64 = 1 << 40;

/// Parses a size limit, such as `64MiB`.
///
/// # Errors
/// The text is not a size, or the size is not from [`LEAST_BYTES`] to [`MOST_BYTES`].
fn size(text: &str) -> Result<usize, String> {
    match parse_bytes(text)? {
        bytes @ LEAST_BYTES..=MOST_BYTES => Ok(bytes as usize),
        _ => Err(format!("\"{text}\" is out of range; the size limit must be from 4KiB to 1TiB")),
    }
}
