//! A server with the Redis protocol: Redis, Valkey, `KeyDB`, Kvrocks, or our own tree behind `lsmbench serve`.

mod params;
mod process;
mod store;

use std::path::PathBuf;

use catalog::{Build, Limit, Variant};
use workload::TargetError;

use crate::bundled::{log, unequal};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log};
use crate::store::Store;
use params::{DESIGN, Params, WITHOUT_COMMAND};

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<Resp>(
    "resp",
    "a server with the Redis protocol: Redis, Valkey, or a design behind lsmbench serve",
    "# Address of a running server without data; empty starts one for each store.\n\
     address = \"\"\n\
     # The command that starts a server, with {port}, {dir}, {design} and {lsmbench}; empty is redis-server with the \
     WAL mode of the design.\n\
     command = []\n\
     # Whether everything is deleted from the server at address before a new store.\n\
     empty = false\n\
     # Whether the names are also kept in a sorted set, for scans, if the server has no command RANGE.\n\
     scans = true\n\
     # Name of the engine in results, if resp is not enough.\n\
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
    /// The program that is started; `None` where a server is named by its address.
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

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![match (&*self.0.address, &self.0.command[..]) {
            ("", []) => format!("server: {}", WITHOUT_COMMAND.join(" ")),
            ("", command) => format!("server: {}", command.join(" ")),
            (address, _) => format!("server: at {address}"),
        }];
        if self.reads_whole_design() {
            lines.push("design: all of it, in a file that the server reads".to_owned());
        } else {
            lines.push(match (settings.log, self.0.command.is_empty() && self.0.address.is_empty()) {
                (Log::Sync, true) => log(settings, "appendfsync always"),
                (Log::Buffered, true) => log(settings, "appendfsync no"),
                (Log::None, true) => log(settings, "appendonly no, and a snapshot at the end"),
                (Log::Interval { .. }, true) => {
                    unequal(format_args!("log {}: appendfsync everysec", settings.log))
                }
                (_, false) => unequal(format_args!("log {}: as the server was started", settings.log)),
            });
            lines.push(unequal("memtable, cache, filters, blocks, compression: as the server was started"));
        }
        if self.0.scans {
            lines.push(unequal(
                "scans, where the server has no RANGE: a sorted set of all names, which every write updates",
            ));
        }
        lines.push(unequal("memory and CPU time: those of the client; the server is a process of its own"));
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

/// Finds a program: a path, a name in the folders of `PATH`, or this program.
fn find(program: &str) -> Result<PathBuf, Missing> {
    if program == params::THIS_PROGRAM {
        return std::env::current_exe().map_err(|error| missing(program, &error.to_string()));
    }
    let searched = std::env::var("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = match program.contains('/') {
        true => vec![PathBuf::from(program)],
        false => std::env::split_paths(&searched).map(|folder| folder.join(program)).collect(),
    };
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| missing(program, &searched))
}

fn missing(program: &str, searched: &str) -> Missing {
    Missing::NoLibrary {
        names: program.to_owned(),
        searched: searched.to_owned(),
        advice:
            "install it (Debian's package redis-server), or name a server in engine.command or engine.address"
                .to_owned(),
    }
}
