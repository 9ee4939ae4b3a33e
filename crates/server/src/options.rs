//! Defines the options of a server.

use std::fmt;
use std::net::SocketAddr;

use crate::limits::ServerLimits;

/// The protocol between a server and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The Redis protocol, RESP2 and RESP3.
    Resp,
    /// The text language of `lsmbench shell`, one command per line.
    Dsl,
    /// gRPC, with the service of `proto/lsmbench.proto`.
    #[cfg(feature = "grpc")]
    Grpc,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resp => "resp",
            Self::Dsl => "dsl",
            #[cfg(feature = "grpc")]
            Self::Grpc => "grpc",
        })
    }
}

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address to listen on. With port 0, the server selects a free port.
    pub listen: SocketAddr,
    /// The protocol that the clients use.
    pub protocol: Protocol,
    /// The password that a client must send before other requests. `None` means that clients need no password.
    pub password: Option<String>,
    /// The address on which the server serves metrics as Prometheus text. `None` means no metrics.
    pub metrics: Option<SocketAddr>,
    /// The limits that apply to each client and to all clients together.
    pub limits: ServerLimits,
}

impl ServerOptions {
    /// Returns options without a password and without metrics, with the default limits.
    pub fn new(listen: SocketAddr, protocol: Protocol) -> Self {
        Self { listen, protocol, password: None, metrics: None, limits: ServerLimits::default() }
    }

    /// Checks the password option. A server needs a password if clients of other machines can connect.
    ///
    /// # Errors
    /// The password is missing or empty, or the protocol supports no password. The message names the option to change.
    pub(crate) fn check(&self) -> Result<(), String> {
        let listen = self.listen;
        match (listen.ip().is_loopback(), self.protocol, &self.password) {
            (_, Protocol::Dsl, Some(_)) => {
                Err("--password: the protocol \"dsl\" has no password; use \"resp\", or leave --password out"
                    .to_owned())
            }
            (false, Protocol::Dsl, None) => Err(format!(
                "--listen {listen}: the protocol \"dsl\" has no password, so only this machine may connect; \
                 use 127.0.0.1:{}",
                listen.port()
            )),
            (false, _, None) => Err(format!(
                "--listen {listen}: other machines could connect without a password; add --password, or use 127.0.0.1:{}",
                listen.port()
            )),
            (_, _, Some(password)) if password.is_empty() => {
                Err("--password: the password is empty; give at least one character".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_a_password() {
        let options = |listen: &str, protocol, password: Option<&str>| ServerOptions {
            password: password.map(str::to_owned),
            ..ServerOptions::new(listen.parse().unwrap(), protocol)
        };
        for (listen, protocol, password, error) in [
            ("127.0.0.1:1", Protocol::Resp, None, None),
            ("[::1]:1", Protocol::Dsl, None, None),
            ("0.0.0.0:1", Protocol::Resp, Some("secret"), None),
            ("0.0.0.0:1", Protocol::Resp, None, Some("add --password")),
            ("[::]:1", Protocol::Dsl, None, Some("has no password")),
            ("127.0.0.1:1", Protocol::Dsl, Some("secret"), Some("has no password")),
            ("127.0.0.1:1", Protocol::Resp, Some(""), Some("is empty")),
        ] {
            let checked = options(listen, protocol, password).check();
            match error {
                None => assert_eq!(checked, Ok(())),
                Some(error) => assert!(checked.unwrap_err().contains(error), "{listen} {protocol}"),
            }
        }
    }
}
