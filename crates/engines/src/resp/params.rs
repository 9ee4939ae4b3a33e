//! Defines and checks the parameters of an engine that is a Redis server.

use serde::{Deserialize, Serialize};

/// The placeholder for the path of the file with the design, in a server command.
pub(super) const DESIGN: &str = "{design}";

/// The placeholder for the path of the store's folder, in a server command.
pub(super) const FOLDER: &str = "{dir}";

/// The placeholder for the port on which the server must listen, in a server command.
pub(super) const PORT: &str = "{port}";

/// The placeholder for the path of the running lsmbench program, in a server command.
pub(super) const THIS_PROGRAM: &str = "{lsmbench}";

/// The command that starts a server if the parameters have no command. It starts Redis, and the options for the WAL
/// mode of the design are appended.
pub(super) const WITHOUT_COMMAND: [&str; 9] =
    ["redis-server", "--port", PORT, "--bind", "127.0.0.1", "--dir", "{dir}", "--save", ""];

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    pub(super) address: String,
    pub(super) command: Vec<String>,
    pub(super) empty: bool,
    pub(super) scans: bool,
    pub(super) label: String,
}

impl Default for Params {
    fn default() -> Self {
        Self { address: String::new(), command: Vec::new(), empty: false, scans: true, label: String::new() }
    }
}

impl Params {
    /// Whether the command starts `lsmbench serve`, which flushes and compacts its tree at the request of a client.
    pub(super) fn starts_a_tree(&self) -> bool {
        self.command.first().is_some_and(|program| program == THIS_PROGRAM)
    }

    /// Checks that the parameters do not contradict each other.
    ///
    /// # Errors
    /// Two parameters contradict each other, or a value is invalid. The error names the parameter and the remedy.
    pub(super) fn check(&self) -> Result<(), String> {
        let has_port = self.command.iter().any(|word| word.contains(PORT));
        if !self.address.is_empty() && !self.command.is_empty() {
            return Err(
                "`address` and `command` are both set; set only `address` for a running server, or only \
                 `command` to start a server"
                    .to_owned(),
            );
        }
        if !self.command.is_empty() && !has_port {
            return Err(
                "`command` has no placeholder {port}; add it, because the server must listen on this port \
                 of 127.0.0.1"
                    .to_owned(),
            );
        }
        if self.address.is_empty() && self.empty {
            return Err(
                "`empty` has no effect without `address`, because a server that lsmbench starts is empty; \
                 remove `empty`"
                    .to_owned(),
            );
        }
        let is_address = self
            .address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
        match self.address.is_empty() || is_address {
            true => Ok(()),
            false => Err(format!(
                "`address` is \"{}\", which is not HOST:PORT; write it like 127.0.0.1:6379",
                self.address
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        let of = |text: &str| toml::from_str::<Params>(text).unwrap().check();
        for good in [
            "",
            "address = \"127.0.0.1:6379\"\nempty = true",
            "address = \"[::1]:6379\"",
            "command = [\"valkey-server\", \"--port\", \"{port}\"]",
        ] {
            assert_eq!(of(good), Ok(()), "{good}");
        }
        for (bad, error) in [
            ("address = \"a:1\"\ncommand = [\"x\", \"{port}\"]", "`address` and `command` are both set"),
            ("command = [\"redis-server\"]", "`command` has no placeholder {port}"),
            ("empty = true", "remove `empty`"),
            ("address = \"localhost\"", "is not HOST:PORT"),
            ("address = \"localhost:x\"", "is not HOST:PORT"),
        ] {
            assert!(of(bad).unwrap_err().contains(error), "{bad}");
        }
    }
}
