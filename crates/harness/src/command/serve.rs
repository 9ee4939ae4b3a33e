//! `lsmbench serve` opens a durable store for many clients over a socket.

use run::interrupt;
use server::{Protocol, ServeError, ServedStore, Server, ServerLimits, ServerOptions};
use types::{Outcome, Problem};

use super::store::{design_of, family_names_of, open_families, open_tree};
use crate::cli::{ServeArguments, ServedProtocol};
use crate::output::line;

/// The environment variable that sets the password.
const PASSWORD: &str = "LSMBENCH_PASSWORD";

/// Opens the store, and serves clients until the user interrupts the program or a client stops the server. Then
/// closes the store, which makes all writes durable in every WAL mode.
pub(crate) fn serve(arguments: &ServeArguments) -> Outcome<()> {
    let protocol = protocol(arguments.protocol)?;
    let design = design_of(&arguments.store, "a server")?;
    interrupt::install();
    let server = Server::bind(options(arguments, protocol)).map_err(problem)?;
    let families = family_names_of(&arguments.store, &design)?;
    let store: ServedStore = match families.is_empty() {
        true => open_tree(&arguments.store, design)?.into(),
        false => open_families(&arguments.store, &design, families)?.into(),
    };
    line(&format!("listening on {} ({protocol})", server.address()));
    if let Some(metrics) = server.metrics_address() {
        line(&format!("metrics on http://{metrics}/metrics"));
    }
    server.run(store, interrupt::is_requested).map_err(problem)
}

/// Returns the protocol that the user selects.
///
/// # Errors
/// This program was built without the protocol.
#[cfg_attr(feature = "grpc", allow(clippy::unnecessary_wraps))] // other builds do not have all protocols
fn protocol(served: ServedProtocol) -> Outcome<Protocol> {
    match served {
        ServedProtocol::Resp => Ok(Protocol::Resp),
        ServedProtocol::Dsl => Ok(Protocol::Dsl),
        #[cfg(feature = "grpc")]
        ServedProtocol::Grpc => Ok(Protocol::Grpc),
        #[cfg(not(feature = "grpc"))]
        ServedProtocol::Grpc => Err(Problem::new(
            "--protocol grpc: this build of lsmbench does not contain gRPC; build with: cargo build --release \
             --features grpc",
        )),
    }
}

fn options(arguments: &ServeArguments, protocol: Protocol) -> ServerOptions {
    ServerOptions {
        password: arguments.password.clone().or_else(|| std::env::var(PASSWORD).ok()),
        metrics: arguments.metrics,
        limits: ServerLimits {
            connections: arguments.max_clients as usize,
            request_bytes: arguments.max_request,
            reply_bytes: arguments.max_reply,
            client_memory_bytes: arguments.max_client_memory,
        },
        ..ServerOptions::new(arguments.listen, protocol)
    }
}

fn problem(error: ServeError) -> Problem {
    match error {
        ServeError::Listen { address, error } if error.kind() == std::io::ErrorKind::AddrInUse => {
            Problem::new(format!("cannot listen on {address}: {error}; choose another port with --listen"))
        }
        error => Problem::new(error.to_string()),
    }
}
