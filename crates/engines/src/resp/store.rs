//! Implements a store that is accessed through a server with the Redis protocol.

use std::fs;
use std::path::Path;

use parking_lot::Mutex;
use redis::{Client, Cmd, Connection, FromRedisValue, Pipeline};
use results::columns as c;
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use super::params::Params;
use super::process::ServerProcess;
use crate::opening::Opening;
use crate::options::Log;
use crate::stats::EngineStats;
use crate::store::Store;

/// The key of the sorted set that contains all keys of the store, on a server without the command `RANGE`.
const NAMES: &[u8] = b"\0lsmbench:names";

/// A Lua script that atomically reads the keys of a range from the sorted set, and the values of these keys.
const SCAN: &str = "local names = redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
local found = {}
for place, name in ipairs(names) do
  found[2 * place - 1] = name
  found[2 * place] = redis.call('GET', name)
end
return found";

/// The name of a file in the folder of a store. The file shows that the store is already on the server.
const MARK: &str = "resp-store";

/// How a scan finds the keys of a range in key order on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The server executes scans with the command `RANGE`, which only `lsmbench serve` has.
    Range,
    /// A sorted set on the server, which every write updates, keeps the keys in order.
    SortedSet,
    /// Scans are not possible, because the server has no order of the keys.
    None,
}

/// A store that is accessed through a server with the Redis protocol.
pub(super) struct RespStore {
    client: Client,
    /// The connections to the server that no thread uses now.
    idle: Mutex<Vec<Connection>>,
    order: Order,
    version: String,
    /// Whether the server has the command `TREE`, as `lsmbench serve` has.
    has_tree: bool,
    /// Whether the store can be compacted. The field is true if lsmbench has started `lsmbench serve` for this store.
    compacts: bool,
    /// Whether the server must save its data when it ends. The field is true if lsmbench started Redis without a WAL.
    saves: bool,
    /// The server process, if lsmbench started the server for this store.
    process: Mutex<Option<ServerProcess>>,
}

impl RespStore {
    pub(super) fn open(params: &Params, opening: &Opening) -> Result<Self, TargetError> {
        let (client, connection, process) = match &*params.address {
            "" => {
                let mut process = ServerProcess::start(params, opening)?;
                let client = Client::open(format!("redis://127.0.0.1:{}", process.port()))?;
                let connection = process.wait_for(|| connect(&client))?;
                (client, connection, Some(process))
            }
            address => {
                let client = Client::open(format!("redis://{address}"))?;
                let connection = client
                    .get_connection()
                    .map_err(|error| format!("no server with the Redis protocol at {address}: {error}"))?;
                (client, connection, None)
            }
        };
        let mut connection = connection;
        if process.is_none() {
            take_over(&mut connection, &opening.directory, params)?;
        }
        let info: String = redis::cmd("INFO").arg("server").query(&mut connection)?;
        let line = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let ours = line("lsmbench_version");
        let order = match (ours, params.scans) {
            (Some(_), _) => Order::Range,
            (None, true) => Order::SortedSet,
            (None, false) => Order::None,
        };
        let version = ours.or_else(|| line("valkey_version")).or_else(|| line("redis_version"));
        Ok(Self {
            client,
            idle: Mutex::new(vec![connection]),
            order,
            version: version.unwrap_or_default().to_owned(),
            has_tree: ours.is_some(),
            compacts: ours.is_some() && params.starts_a_tree(),
            saves: params.command.is_empty() && opening.options.log == Log::None,
            process: Mutex::new(process),
        })
    }

    /// Calls `call` with an idle or a new connection, and returns the result. A connection whose call failed is
    /// dropped.
    fn call<T>(
        &self,
        call: impl FnOnce(&mut Connection) -> Result<T, redis::RedisError>,
    ) -> Result<T, TargetError> {
        let idle = self.idle.lock().pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.client.get_connection()?,
        };
        let answer = call(&mut connection)?;
        self.idle.lock().push(connection);
        Ok(answer)
    }

    fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, TargetError> {
        self.call(|connection| command.query(connection))
    }

    /// Executes writes on the server in one transaction (`MULTI` and `EXEC`).
    fn apply<'a>(&self, writes: impl Iterator<Item = Write<'a>>) -> Result<(), TargetError> {
        let mut pipeline = redis::pipe();
        pipeline.atomic();
        for write in writes {
            self.add(&mut pipeline, write);
        }
        self.call(|connection| pipeline.query(connection))
    }

    fn add(&self, pipeline: &mut Pipeline, write: Write<'_>) {
        let is_indexed = self.order == Order::SortedSet;
        match write {
            Write::Put { key, value } => {
                pipeline.cmd("SET").arg(key).arg(value).ignore();
                if is_indexed {
                    pipeline.cmd("ZADD").arg(NAMES).arg(0).arg(key).ignore();
                }
            }
            Write::Delete { key } => {
                pipeline.cmd("DEL").arg(key).ignore();
                if is_indexed {
                    pipeline.cmd("ZREM").arg(NAMES).arg(key).ignore();
                }
            }
            _ => {} // rejected before the batch begins
        }
    }

    /// Sends the command `TREE` with the argument `step` to `lsmbench serve`. On any other server, this function does
    /// nothing.
    fn tree(&self, step: &str) -> Result<(), TargetError> {
        match self.has_tree {
            true => self.query(redis::cmd("TREE").arg(step)),
            false => Ok(()),
        }
    }
}

/// Connects to a server that is starting.
///
/// # Errors
/// The server does not accept connections yet, or still loads its data.
fn connect(client: &Client) -> Result<Connection, TargetError> {
    let mut connection = client.get_connection()?;
    // Redis replies with an error while it loads its data.
    redis::cmd("PING").query::<()>(&mut connection)?;
    Ok(connection)
}

/// Reserves a running server for the store in `folder`. If `params.empty` is set and the store is new, deletes all data
/// of the server.
///
/// # Errors
/// The store is new, but the server contains keys; or the error of the connection.
fn take_over(connection: &mut Connection, folder: &Path, params: &Params) -> Result<(), TargetError> {
    let mark = folder.join(MARK);
    if mark.exists() {
        return Ok(());
    }
    if params.empty {
        redis::cmd("FLUSHALL").query::<()>(connection)?;
    }
    let names: u64 = redis::cmd("DBSIZE").query(connection)?;
    if names > 0 {
        return Err(format!(
            "the server at {} already has {names} keys; use an empty server, or set engine.empty = true to \
             delete them",
            params.address
        )
        .into());
    }
    Ok(fs::write(mark, &params.address)?)
}

impl Target for RespStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        match self.order {
            Order::SortedSet => self.apply([Write::Put { key, value }].into_iter()),
            _ => self.query(redis::cmd("SET").arg(key).arg(value)),
        }
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let found: Option<Vec<u8>> = self.query(redis::cmd("GET").arg(key))?;
        found.as_ref().inspect(|found| value.extend_from_slice(found));
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        match self.order {
            Order::SortedSet => self.apply([Write::Delete { key }].into_iter()),
            _ => self.query(redis::cmd("DEL").arg(key)),
        }
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let is_empty = scan.limit == 0 || scan.high.is_some_and(|high| high <= scan.low);
        if is_empty {
            return Ok(0);
        }
        let limit = i64::try_from(scan.limit).unwrap_or(i64::MAX);
        let command = match self.order {
            Order::Range => {
                let mut command = redis::cmd("RANGE");
                command.arg(scan.low).arg(scan.high.unwrap_or_default()).arg("LIMIT").arg(limit);
                if scan.direction == Direction::Backward {
                    command.arg("REV");
                }
                command
            }
            Order::SortedSet => by_sorted_set(scan, limit),
            Order::None => {
                return Err(
                    "the server does not have the command RANGE; set engine.scans = true to run scans on \
                     this server"
                        .into(),
                );
            }
        };
        let found: Vec<Vec<u8>> = self.query(&command)?;
        let pairs = found.chunks_exact(2);
        pairs.clone().for_each(|pair| visit(&pair[0], &pair[1]));
        Ok(pairs.len())
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Write::only_puts_and_deletes(writes)?;
        match writes.is_empty() {
            true => Ok(()),
            false => self.apply(writes.iter().copied()),
        }
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        if keys.is_empty() {
            return Ok(());
        }
        let found: Vec<Option<Vec<u8>>> = self.query(redis::cmd("MGET").arg(keys))?;
        found.iter().enumerate().for_each(|(place, value)| visit(place, value.as_deref()));
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.tree("FLUSH")
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.tree("SETTLE")
    }

    /// Ends the server if lsmbench started it for this store. Otherwise, the server keeps running.
    fn close(&self) -> Result<(), TargetError> {
        let Some(mut process) = self.process.lock().take() else { return Ok(()) };
        let mut shutdown = redis::cmd("SHUTDOWN");
        if self.saves {
            shutdown.arg("SAVE");
        }
        // The connection ends without a reply.
        let _ = self.query::<()>(&shutdown);
        self.idle.lock().clear();
        Ok(process.wait()?)
    }
}

/// Returns the command that executes a scan on the sorted set of keys, with at most `limit` entries.
fn by_sorted_set(scan: &Scan<'_>, limit: i64) -> Cmd {
    let low = [b"[", scan.low].concat();
    let high = scan.high.map_or_else(|| b"+".to_vec(), |high| [b"(", high].concat());
    let (name, first, last) = match scan.direction {
        Direction::Forward => ("ZRANGEBYLEX", low, high),
        Direction::Backward => ("ZREVRANGEBYLEX", high, low),
    };
    let mut command = redis::cmd("EVAL");
    command.arg(SCAN).arg(1).arg(NAMES).arg(name).arg(first).arg(last).arg(limit);
    command
}

impl Store for RespStore {
    fn version(&self) -> Option<String> {
        Some(self.version.clone()).filter(|version| !version.is_empty())
    }

    fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        let info: Result<String, _> = self.query(redis::cmd("INFO").arg("memory"));
        let info = info.unwrap_or_default();
        let bytes = |name: &str| -> Option<u64> {
            info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.parse().ok()
        };
        stats
            .whole
            .gauge(&c::MEMTABLE_BYTES, bytes("memtable_bytes"))
            .gauge(&c::FILTER_BYTES, bytes("filter_bytes"))
            .gauge(&c::FENCE_BYTES, bytes("fence_bytes"))
            .gauge(&c::CACHE_BYTES, bytes("cache_bytes"));
        stats
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        self.compacts.then(|| self.tree("COMPACT"))
    }
}
