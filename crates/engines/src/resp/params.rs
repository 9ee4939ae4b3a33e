//! The parameters of a server.

use serde::{Deserialize, Serialize};

/// Placeholder in a command for the file with the design.
pub(super) const DESIGN: &str = "{design}";

/// Placeholder in a command for the folder of the store.
pub(super) const FOLDER: &str = "{dir}";

/// Placeholder in a command for the port of the server.
pub(super) const PORT: &str = "{port}";

/// Placeholder in a command for the path of the running program.
pub(super) const THIS_PROGRAM: &str = "{lsmbench}";

/// Default command, which starts Redis. The options of the WAL mode follow.
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
    /// Whether the command starts `lsmbench serve`, which flushes and compacts its tree on request.
    pub(super) fn starts_a_tree(&self) -> bool {
        self.command.first().is_some_and(|program| program == THIS_PROGRAM)
    }

    /// Rejects parameters that contradict each other.
    ///
    /// # Errors
    /// The parameter to change.
    pub(super) fn check(&self) -> Result<(), String> {
        let has_port = self.command.iter().any(|word| word.contains(PORT));
        if !self.address.is_empty() && !self.command.is_empty() {
            return Err(
                "address and command are both set; set address for a running server, or command to start a server".to_owned()
            );
        }
        if !self.command.is_empty() && !has_port {
            return Err(
                "command has no {port}; add it, because the server must listen on this port of 127.0.0.1"
                    .to_owned(),
            );
        }
        if self.address.is_empty() && self.empty {
            return Err(
                "empty has no effect without address, because a started server is empty; remove empty"
                    .to_owned(),
            );
        }
        let is_address = self
            .address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
        match self.address.is_empty() || is_address {
            true => Ok(()),
            false => {
                Err(format!("address \"{}\" is not HOST:PORT; write it like 127.0.0.1:6379", self.address))
            }
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
            ("address = \"a:1\"\ncommand = [\"x\", \"{port}\"]", "address and command are both set"),
            ("command = [\"redis-server\"]", "command has no {port}"),
            ("empty = true", "remove empty"),
            ("address = \"localhost\"", "is not HOST:PORT"),
            ("address = \"localhost:x\"", "is not HOST:PORT"),
        ] {
            assert!(of(bad).unwrap_err().contains(error), "{bad}");
        }
    }
}
