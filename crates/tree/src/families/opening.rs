//! Opens a store of several families: reads the shared WAL, opens the trees, and applies the operations that a family
//! has not flushed.

use std::path::Path;
use std::sync::Arc;

use cache::Cache;
use parking_lot::RwLock;
use storage::Storage;
use types::SequenceNumber;

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
use crate::manifest::{Manifest, State};
use crate::open_options::OpenOptions;
use crate::tree::Tree;
use crate::wal::{self, WalMode};

impl Families {
    /// Opens the store in `directory` with the families of the design. Creates a new store if the directory is empty
    /// or does not exist, and creates families that the store does not have yet.
    ///
    /// # Errors
    /// If the design has no families or cannot be built, if the store has a family that the design does not name, or if
    /// the directory is in use, has unrelated files, cannot be written or is corrupt.
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
        let (existing, seals) = (state.families.len(), state.seals.clone());
        let manifest =
            Manifest::create(&*storage, directory, State { next_file: new_log + 1, next_run: 1, ..state })?;
        let retired = Retired::new(manifest, mode.has_log.then_some(new_log), segments);
        let log = SharedLog::create(&storage, directory, mode, (seals.clone(), new_log), (end, retired))?;
        let log = Arc::new(log);
        let trees = open_trees(&mut options, &storage, directory, (&names, existing), &log)?;
        trees.iter().zip(&names).for_each(|(tree, name)| recovery.add(tree.recovery(), name));
        let flushed: Vec<SequenceNumber> =
            trees.iter().map(|tree| tree.inner.manifest.lock().state.flushed_sequence).collect();
        log.begin(names.clone(), flushed.clone())?;
        let (directory, design) = (directory.to_owned(), options.design);
        let commits = RwLock::new(());
        let mut families =
            Self { storage, directory, design, names, trees, log, seals, commits, recovery, _lock: lock };
        for part in parts.iter().filter(|part| part.last() > flushed[part.family]) {
            families.apply_recovered(part)?;
            families.recovery.replayed_operations += part.batch.len() as u64;
        }
        families.keep_limits()?;
        Ok(families)
    }
}

/// Returns the WAL mode of the design. The store syncs a segment before the next segment begins, in every mode with a
/// WAL.
fn wal_mode(design: &Design) -> Result<WalMode> {
    let mode = wal::CATALOG.build(design.choice("wal")).map_err(misuse)?.mode();
    mode.check().map_err(Error::Misuse)?;
    if mode.period.is_some() {
        let wal = design.choice("wal");
        let message = format!(
            "a design with families cannot have wal = \"{wal}\"; use \"buffered\", \"sync\" or \"group\""
        );
        return Err(Error::Misuse(message));
    }
    Ok(WalMode { syncs_at_rotation: mode.has_log, ..mode })
}

/// Returns the names of all families, by number: first the families of the store, then new families of the design.
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
            "{directory} is a store without families; remove design.families, or use an empty directory"
        );
        return Err(Error::Misuse(message));
    }
    let mut names = state.families.clone();
    if let Some(name) = names.iter().find(|name| design.families().all(|of_design| of_design != *name)) {
        let message =
            format!("{directory} has the family \"{name}\"; add families.{name} = {{}} to the design");
        return Err(Error::Misuse(message));
    }
    for name in design.families() {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Opens the trees of all families. The first `existing` families must exist.
fn open_trees(
    options: &mut OpenOptions,
    storage: &Arc<dyn Storage>,
    directory: &Path,
    (names, existing): (&[String], usize),
    log: &Arc<SharedLog>,
) -> Result<Vec<Tree>> {
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
        let membership = Membership { family, log: Arc::clone(log), memory: memory.clone() };
        let options = OpenOptions {
            design: design.family(name)?,
            mode: options.mode,
            storage: Some(Arc::clone(storage)),
            cache: Some(Arc::clone(&cache)),
            clock: options.clock,
            quarantine: options.quarantine,
            create_if_missing: family >= existing,
            error_if_exists: false,
            identity: options.identity.map(|identity| identity.wrapping_add(1 + family as u64)),
            membership: Some(membership),
        };
        options.open(directory.join(name))
    };
    names.iter().enumerate().map(open).collect()
}
