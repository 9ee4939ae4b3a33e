//! Opens a store with column families: reads the shared WAL, opens the tree of each family, and applies the operations
//! in the WAL that the family has not flushed.

use std::path::Path;
use std::sync::Arc;

use cache::Cache;
use parking_lot::RwLock;
use storage::Storage;
use types::SequenceNumber;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::membership::Membership;
use super::memory_share::MemoryShare;
use super::recovered::RecoveredLog;
use super::retired::Retired;
use super::shared_log::SharedLog;
use super::store::Families;
use crate::assemble::misuse;
use crate::claim::Claim;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::manifest::{FamilyIdentity, Manifest, State};
use crate::open_options::OpenOptions;
use crate::tree::Tree;
use crate::wal::{self, WalMode, log_path};

impl Families {
    /// Opens the store in `directory` with the column families of the design. Creates a new store if the directory is
    /// empty or does not exist, and creates families that the store does not have yet.
    ///
    /// # Errors
    /// - The design has no column families, or cannot be built.
    /// - The store has a column family that the design does not name.
    /// - The directory is in use, has unrelated files, cannot be written, or is corrupt.
    pub fn open(mut options: OpenOptions, directory: impl AsRef<Path>) -> Result<Self> {
        let directory = directory.as_ref();
        let mode = wal_mode(&options.design)?;
        let Claim { storage, lock, files, state, new_log, mut recovery } =
            Claim::new(&mut options, directory)?;
        let names = names(&options.design, &state, directory)?;
        recovery.removed_files = files.orphans(&state);
        for name in &recovery.removed_files {
            storage.remove(&directory.join(name))?;
        }
        let logs = files.logs_from(state.log);
        let read = (&state, &*logs, names.len());
        let RecoveredLog { segments, parts, end } =
            RecoveredLog::read(&*storage, directory, read, options.quarantine, &mut recovery)?;
        let has_lost_segments = !recovery.quarantined_files.is_empty();
        let state = State { next_file: new_log + 1, next_run: 1, ..state };
        let (before, seals) = (state.clone(), state.seals.clone());
        let manifest = Manifest::create(&*storage, directory, state)?;
        let retired = Retired::new(manifest, mode.has_log.then_some(new_log), segments);
        let log = SharedLog::create(&storage, directory, mode, (seals.clone(), new_log), (end, retired))?;
        let log = Arc::new(log);
        let opened = open_trees(&mut options, &storage, directory, (&names, &before), &log);
        let (trees, flushed) = opened.inspect_err(|_| {
            // The new segment has no records. If this removal fails, the next successful opening removes the segment.
            let _ = storage.remove(&log_path(directory, new_log));
        })?;
        trees.iter().zip(&names).for_each(|(tree, name)| recovery.add(tree.recovery(), name));
        log.begin(names.clone(), flushed.clone())?;
        let (directory, design) = (directory.to_owned(), options.design);
        let commits = RwLock::new(());
        let mut families =
            Self { storage, directory, design, names, trees, log, seals, commits, recovery, _lock: lock };
        for part in parts.iter().filter(|part| part.last() > flushed[part.family]) {
            families.apply_recovered(part)?;
            families.recovery.replayed_operations += part.batch.len() as u64;
        }
        if has_lost_segments {
            // The lost segments are in the quarantine, so the operations that were read from them are only in memory.
            families.flush()?;
        }
        families.keep_limits()?;
        Ok(families)
    }
}

/// Returns the WAL mode of a design with column families. In this mode, the store also syncs each WAL segment before
/// the next segment begins.
///
/// # Errors
/// If the WAL mode of the design syncs at intervals, which a store with column families does not support.
fn wal_mode(design: &Design) -> Result<WalMode> {
    let mode = wal::CATALOG.build(design.choice("wal")).map_err(misuse)?.mode();
    mode.check().map_err(Error::Misuse)?;
    if mode.period.is_some() {
        let wal = design.choice("wal");
        let message = format!(
            "a design with families cannot have wal = \"{wal}\"; use \"buffered\", \"sync\", \"group\" or \"none\""
        );
        return Err(Error::Misuse(message));
    }
    Ok(WalMode { syncs_at_rotation: mode.has_log, ..mode })
}

/// Returns the names of all column families in the order of their numbers: first the families in the store, and then
/// the families that only the design names.
///
/// # Errors
/// If the design has no families, if it lacks a family of the store, or if the store has data without families.
fn names(design: &Design, state: &State, directory: &Path) -> Result<Vec<String>> {
    let directory = directory.display();
    if design.families().next().is_none() {
        let message =
            "the design has no column families; add a table for each family, such as families.index = {}";
        return Err(Error::Misuse(message.to_owned()));
    }
    let is_empty = state.levels.is_empty() && state.log.is_none() && state.flushed_sequence == 0;
    if state.families.is_empty() && !is_empty {
        let message = format!(
            "{directory} is a store without families; remove the table `families` from the design, or use an \
             empty directory"
        );
        return Err(Error::Misuse(message));
    }
    let mut names = state.families.clone();
    if let Some(name) = names.iter().find(|name| design.families().all(|of_design| of_design != *name)) {
        let message = format!(
            "{directory} has the family \"{name}\", but the design does not; add families.{name} = {{}} to \
             the design"
        );
        return Err(Error::Misuse(message));
    }
    for name in design.families() {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Opens the tree of each column family. Returns the trees and the sequence number up to which each tree is flushed.
/// Creates the trees of families that are not in `state`, the state in the manifest of the store.
///
/// # Errors
/// If the tree of a family in `state` is missing.
fn open_trees(
    options: &mut OpenOptions,
    storage: &Arc<dyn Storage>,
    directory: &Path,
    (names, state): (&[String], &State),
    log: &Arc<SharedLog>,
) -> Result<(Vec<Tree>, Vec<SequenceNumber>)> {
    let design = &options.design;
    let cache: Arc<dyn Cache> = match options.cache.take() {
        Some(cache) => cache,
        None => Arc::from(cache::CATALOG.build(design.choice("cache")).map_err(misuse)?),
    };
    let memory = design.options.memory.map(|memory| {
        let limit = memory.0.saturating_sub(2 * design.memtable_capacity.0);
        Arc::new(MemoryShare::new(limit, Arc::clone(&cache)))
    });
    let open = |(family, name): (usize, &String)| {
        let identity = FamilyIdentity { name: name.clone(), store: state.seals.identity() };
        let released = state.released.get(family).copied().unwrap_or(0);
        let membership =
            Membership { family, identity, released, log: Arc::clone(log), memory: memory.clone() };
        let options = OpenOptions {
            design: design.family(name)?,
            mode: options.mode,
            storage: Some(Arc::clone(storage)),
            cache: Some(Arc::clone(&cache)),
            clock: options.clock,
            quarantine: options.quarantine,
            create_if_missing: family >= state.families.len(),
            error_if_exists: false,
            // The identity of a family is a hash. If it were a sum, such as the identity of the store plus a number,
            // files of different families could have equal seals.
            identity: options.identity.map(|identity| xxh3_64_with_seed(name.as_bytes(), identity)),
            membership: Some(membership),
        };
        let tree = options.open(directory.join(name))?;
        let flushed = tree.inner.manifest.lock().state.flushed_sequence;
        Ok((tree, flushed))
    };
    names.iter().enumerate().map(open).collect()
}
