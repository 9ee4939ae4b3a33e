//! Adapts stores of any engine to `lsmbench torture kill`. This module also contains the work of the child processes,
//! which write to such a store or check it.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use engines::{Engine, Opening, Store, Survival};
use serde::{Deserialize, Serialize};
use storage::{Memory, Storage};
use toml::{Table, Value};
use torture::kill::{Commits, Event, KeptCommits, Life};
use torture::{CommitLimits, Content, Maker, Script, ScriptWrite, StoreKind, StoreUnderTest};
use tree::wal::WalMode;
use tree::{Design, Error, Result};
use types::Direction;
use workload::{Scan, TargetError, Write};

use super::orders::EngineOrders;
use super::process::{read_reports, tell};

/// The result of a check of a store after kills.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Checked {
    /// The store contains the first commits of each writer, and no other commits. The fields are the smallest and the
    /// largest possible number of these commits, for each writer. They differ only if the last commits of a writer
    /// change nothing.
    Kept(Commits, Commits),
    /// The content of the store contradicts an invariant or the durability that the engine declares. Contains the
    /// name of the invariant and the evidence.
    Broken(String),
}

/// Builds the engine that `orders` names, and returns the engine with the parameters for opening its store.
///
/// # Errors
/// `orders` names an unknown engine or an invalid design.
fn opening(orders: &EngineOrders) -> std::result::Result<(Box<dyn Engine>, Opening), String> {
    let table: Table = orders.design.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let design = Design::default().with(&table).map_err(|error| error.message)?;
    let choice = engines::CATALOG.choose(&Value::String(orders.engine.clone()));
    let engine = choice.and_then(|choice| engines::CATALOG.build(&choice)).map_err(|error| error.message)?;
    Ok((engine, Opening::new(&orders.directory, &design)))
}

/// Returns the limits of commits to a store of the engine: whether batches are atomic, and the maximum size of values.
fn commit_limits(engine: &dyn Engine, opening: &Opening) -> CommitLimits {
    CommitLimits {
        has_batches: engine.writes_batches_atomically(),
        value_bytes: *engine.entry_limits(&opening.options).value_bytes.end(),
    }
}

/// Opens the store, and writes to it until the process is killed or all writes are done.
///
/// # Errors
/// The orders are invalid, or the engine returns an error.
pub(super) fn write(orders: &EngineOrders) -> std::result::Result<(), String> {
    let (engine, opening) = opening(orders)?;
    let limits = commit_limits(&*engine, &opening);
    let store = open(&*engine, &opening).map_err(|error| error.to_string())?;
    Life::within(orders.seed, limits).play(&store, orders.from, &|event: Event| tell(&event.to_string()))
}

/// Checks the store of killed writers against their reports in `printed`. Returns the result, a [`Checked`], as one
/// line of JSON.
///
/// # Errors
/// The orders or the reports are invalid, or the engine keeps its stores in another process.
pub(super) fn check(orders: &EngineOrders, printed: &str) -> std::result::Result<String, String> {
    let (engine, opening) = opening(orders)?;
    let (ledger, _) = read_reports(orders.from, printed)?;
    let life = Life::within(orders.seed, commit_limits(&*engine, &opening));
    let survival = engine
        .survival(opening.options.log)
        .ok_or("the engine keeps its stores in another process, which was not killed")?;
    let directory = opening.directory.clone();
    let subject = StoreKind {
        name: orders.engine.clone(),
        // The check expects all acknowledged commits with the mode `BUFFERED`, and only the flushed commits with the
        // mode `NONE`.
        wal: if survival == Survival::Acknowledged { WalMode::BUFFERED } else { WalMode::NONE },
        maker: Box::new(EngineMaker { engine, opening }),
    };
    // The engine opens its own files, so no file is in this storage.
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let checked = match life.check(&subject, &storage, &directory, &ledger) {
        Ok(KeptCommits { fewest, most }) => Checked::Kept(fewest, most),
        Err(violation) => Checked::Broken(violation.to_string()),
    };
    serde_json::to_string(&checked).map_err(|error| error.to_string())
}

/// Opens stores of one engine with one design, for a kill test.
struct EngineMaker {
    engine: Box<dyn Engine>,
    opening: Opening,
}

impl Maker for EngineMaker {
    fn open(&self, _: &Arc<dyn Storage>, _: &Path) -> Result<Box<dyn StoreUnderTest>> {
        Ok(Box::new(open(&*self.engine, &self.opening)?))
    }

    /// Checks nothing and returns an empty list, because engines have no common function that checks their files.
    fn verify(&self, _: &Arc<dyn Storage>, _: &Path) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// An adapter with which the kill test reads and writes the store of any engine.
struct EngineStore(Box<dyn Store>);

fn open(engine: &dyn Engine, opening: &Opening) -> Result<EngineStore> {
    std::fs::create_dir_all(&opening.directory).map_err(|error| Error::Misuse(error.to_string()))?;
    engine.open(opening).map(EngineStore).map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn failed(error: TargetError) -> Error {
    Error::Misuse(error.to_string())
}

impl EngineStore {
    fn entries(&self, low: &[u8], high: Option<&[u8]>) -> Result<Content> {
        let scan = Scan { low, high, direction: Direction::Forward, limit: usize::MAX };
        let mut content = Content::new();
        let mut visit = |key: &[u8], value: &[u8]| drop(content.insert(key.to_vec(), value.to_vec()));
        self.0.range(&scan, &mut visit).map_err(failed)?;
        Ok(content)
    }
}

/// Converts a commit to writes of an engine. A range delete becomes one delete for each key of the writer in the
/// range. `all_keys` are all keys that the writer can write.
fn writes_of<'a>(commit: &'a [ScriptWrite], all_keys: &'a [Vec<u8>]) -> Vec<Write<'a>> {
    let mut writes = Vec::new();
    for ScriptWrite { key, value, end } in commit {
        match (value, end) {
            (Some(value), _) => writes.push(Write::Put { key, value }),
            (None, None) => writes.push(Write::Delete { key }),
            (None, Some(end)) => {
                let inside = all_keys.iter().filter(|other| (key..end).contains(other));
                writes.extend(inside.map(|key| Write::Delete { key }));
            }
        }
    }
    writes
}

/// Returns all keys that the writer of a commit can write. The first byte of each key identifies the writer.
fn keys_of_writer(commit: &[ScriptWrite]) -> Vec<Vec<u8>> {
    let writer = commit.first().and_then(|write| write.key.first());
    Script::keys().map(|key| writer.copied().into_iter().chain(key).collect()).collect()
}

impl StoreUnderTest for EngineStore {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        let all_keys = keys_of_writer(commit);
        let done = match (commit, &writes_of(commit, &all_keys)[..]) {
            (_, [Write::Put { key, value }]) => self.0.put(key, value),
            ([ScriptWrite { value: None, end: None, .. }], [Write::Delete { key }]) => self.0.delete(key),
            ([ScriptWrite { key, value: None, end: Some(end) }], deletes) => {
                self.0.delete_range(key, end).unwrap_or_else(|| self.0.write(deletes))
            }
            (_, writes) => self.0.write(writes),
        };
        done.map_err(failed)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        let is_found = self.0.get(key, &mut value).map_err(failed)?;
        Ok(is_found.then_some(value))
    }

    /// Returns the entries from `low` (inclusive) to `high` (exclusive), or all entries if both bounds are unbounded.
    /// Other bounds are an error.
    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        match (low, high) {
            (Bound::Included(low), Bound::Excluded(high)) => self.entries(low, Some(high)),
            (Bound::Unbounded, Bound::Unbounded) => self.entries(b"", None),
            other => Err(Error::Misuse(format!(
                "the adapter of the engine supports no scan with the bounds {other:?}"
            ))),
        }
    }

    fn flush(&self) -> Result<()> {
        self.0.flush().map_err(failed)
    }

    fn compact(&self) -> Result<()> {
        self.0.compact().unwrap_or(Ok(())).map_err(failed)
    }

    /// Flushes the store. Engines have no common function that only syncs.
    fn sync(&self) -> Result<()> {
        self.flush()
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.0.checkpoint(directory).unwrap_or(Ok(())).map_err(failed)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.0.end().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_delete_is_one_delete_per_key() {
        let write = |key: &str, value: Option<&str>, end: Option<&str>| ScriptWrite {
            key: key.into(),
            value: value.map(Into::into),
            end: end.map(Into::into),
        };
        let commit = [write("A1", Some("x"), None), write("A2", None, Some("A4")), write("A5", None, None)];
        let keys = keys_of_writer(&commit);
        assert!(keys.contains(&b"A".to_vec()) && keys.contains(&b"A9".to_vec()));
        let expected = [
            Write::Put { key: b"A1", value: b"x" },
            Write::Delete { key: b"A2" },
            Write::Delete { key: b"A3" },
            Write::Delete { key: b"A5" },
        ];
        assert_eq!(writes_of(&commit, &keys), expected);
    }
}
