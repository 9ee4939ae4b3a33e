//! Adapter for servers with the Redis protocol: Redis, Valkey, `KeyDB`, Kvrocks, or `lsmbench serve`, which serves a
//! tree of lsmbench.

mod params;
mod process;
mod program;
mod store;

use catalog::{Build, Limit, Variant};
use workload::TargetError;

use crate::bundled::{log, mismatch};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log};
use crate::store::Store;
use crate::survival::Survival;
use params::{DESIGN, Params, WITHOUT_COMMAND};
use program::find;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<Resp>(
    "resp",
    "a server with the Redis protocol: Redis, Valkey, or a design in `lsmbench serve`",
    "# Address of a running server without data. If the address is empty, lsmbench starts a server for each store.\n\
     address = \"\"\n\
     # Command that starts a server, with the placeholders {port}, {dir}, {design} and {lsmbench}. An \
     empty\n# list starts redis-server with the WAL mode of the design.\n\
     command = []\n\
     # Whether lsmbench deletes all data of the server at `address` before it creates a store.\n\
     empty = false\n\
     # Whether lsmbench also keeps all keys in a sorted set on the server. A server without the \
     command\n# RANGE needs this set for scans.\n\
     scans = true\n\
     # Name of the engine in results. Set a name if \"resp\" does not distinguish two servers.\n\
     label = \"\"\n",
)
.limited(&[Limit::NotDeterministic]);

struct Resp(Params);

impl Build<dyn Engine> for Resp {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Engine>, String> {
        params.check()?;
        Ok(Box::new(Self(params)))
    }
}

impl Resp {
    /// Returns the program that starts a server. `None` if the parameters name the address of a running server.
    fn program(&self) -> Option<String> {
        self.0
            .address
            .is_empty()
            .then(|| self.0.command.first().map_or("redis-server", String::as_str).to_owned())
    }
}

impl Engine for Resp {
    fn identify(&self) -> Result<Identity, Missing> {
        let library = self.program().map(|program| find(&program)).transpose()?;
        Ok(Identity { library, ..Identity::default() })
    }

    /// Returns `None`, because the store is in the process of the server, which does not end with the process of
    /// lsmbench.
    fn survival(&self, _: Log) -> Option<Survival> {
        None
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![match (&*self.0.address, &self.0.command[..]) {
            ("", []) => format!("server: {}", WITHOUT_COMMAND.join(" ")),
            ("", command) => format!("server: {}", command.join(" ")),
            (address, _) => format!("server: the running server at {address}"),
        }];
        if self.reads_whole_design() {
            lines.push("design: the server reads the complete design from a file".to_owned());
        } else {
            lines.push(match (settings.log, self.0.command.is_empty() && self.0.address.is_empty()) {
                (Log::Sync, true) => log(settings, "appendfsync always"),
                (Log::Buffered, true) => log(settings, "appendfsync no"),
                (Log::None, true) => log(settings, "appendonly no, and a snapshot when the server stops"),
                (Log::Interval { .. }, true) => {
                    mismatch(format_args!("WAL mode \"{}\": appendfsync everysec", settings.log))
                }
                (_, false) => mismatch(format_args!(
                    "WAL mode \"{}\": the running server keeps its own setting",
                    settings.log
                )),
            });
            lines.push(mismatch(
                "memtable, cache, filters, blocks, compression: the server keeps its own settings",
            ));
        }
        if self.0.scans {
            lines.push(mismatch(
                "scans: on a server without the command RANGE, lsmbench also keeps all keys in a sorted set, which \
                 every write updates",
            ));
        }
        lines.push(mismatch(
            "memory and CPU time: these columns measure only the client, because the server is a \
            separate process",
        ));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        Ok(Box::new(store::RespStore::open(&self.0, opening)?))
    }

    fn compacts_on_request(&self) -> bool {
        self.0.starts_a_tree()
    }

    fn reads_whole_design(&self) -> bool {
        self.0.command.iter().any(|word| word.contains(DESIGN))
    }
}
