//! Opens a tree: reads its directory, creates new files, and replays the WALs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use compaction::{Levels, OperationWindow, RangeWork};
use crossbeam_utils::CachePadded;
use parking_lot::Mutex;
use storage::Storage;
use types::{MergeOperator, SequenceNumber};

use crate::arbitration::Arbitration;
use crate::assemble::{misuse, table_context, tree_cache};
use crate::claim::Claim;
use crate::delay::pacer;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::inner::{Inner, Log, Mode, Signals, WriteQueue};
use crate::log_shelf::LogShelf;
use crate::lookup_pool::LookupPool;
use crate::maintain::{run_states, scheduler};
use crate::manifest::{Manifest, State};
use crate::memory::Slot;
use crate::open_options::OpenOptions;
use crate::recovered::Recovery;
use crate::recovery::{Files, Replay, open_tables};
use crate::sorted_view;
use crate::stats::AllCounters;
use crate::table::TableContext;
use crate::values;
use crate::version::{ReadAccess, TableRef, Version, View, blob_files};
use crate::visible::Visible;
use crate::wal::{self, LogFile, WalMode, log_path};

/// A tree that is being opened: the directory is locked and read, the SSTables are open, and no file has changed yet.
pub(crate) struct Opening {
    options: OpenOptions,
    directory: PathBuf,
    storage: Arc<dyn Storage>,
    lock: Box<dyn Send + Sync>,
    wal_mode: WalMode,
    files: Files,
    /// The state of the store from its manifest. If the manifest contains no identity of the store, the state contains
    /// a new identity.
    state: State,
    /// The file number of the WAL that the opening of the tree creates.
    new_log: u64,
    context: Arc<TableContext>,
    arbitration: Option<Arbitration>,
    levels: Levels<TableRef>,
    recovery: Recovery,
}

impl Opening {
    /// Locks the directory and reads its files. Creates the directory if it is missing and the options allow it.
    pub(crate) fn begin(mut options: OpenOptions, directory: &Path) -> Result<Self> {
        if options.design.has_family_trees() {
            let message = "the design has families, which are several trees, but this call opens one tree; open the \
                           store as a store of families, or set families.layout = \"prefixed\"";
            return Err(Error::Misuse(message.to_owned()));
        }
        let Claim { storage, lock, files, mut state, new_log, mut recovery } =
            Claim::new(&mut options, directory)?;
        if !state.families.is_empty() {
            let (directory, families) = (directory.display(), state.families.join("\", \""));
            let message = format!(
                "{directory} has the families \"{families}\", but this call opens one tree; open the store as a store \
                 of families"
            );
            return Err(Error::Misuse(message));
        }
        let wal_mode = wal::CATALOG.build(options.design.choice("wal")).map_err(misuse)?.mode();
        wal_mode.check().map_err(Error::Misuse)?;
        let operator = options.design.options.merge_operator;
        if files.has_manifest() {
            check_operator(state.merge_operator, operator, directory)?;
        }
        state.merge_operator = operator;
        let (mut cache, seals) = (tree_cache(&options.design, options.cache.take())?, state.seals.clone());
        let arbitration = Arbitration::new(&options.design, &cache.cache)?;
        if let Some(arbitration) = &arbitration {
            cache.cache = arbitration.cache();
        }
        let context = table_context(&options.design, Arc::clone(&storage), cache, directory, seals)?;
        files.record_names(&context.names);
        let context = Arc::new(context);
        let levels = open_tables(&context, &state, options.quarantine, &mut recovery)?;
        let directory = directory.to_owned();
        Ok(Self {
            options,
            directory,
            storage,
            lock,
            wal_mode,
            files,
            state,
            new_log,
            context,
            arbitration,
            levels,
            recovery,
        })
    }

    /// Finishes the opening: removes orphaned files, creates a manifest and a WAL, and replays the old WALs.
    pub(crate) fn finish(mut self) -> Result<Inner> {
        self.remove_orphans()?;
        let logs = self.files.logs_from(self.state.log);
        let (quarantine, recovery) = (self.options.quarantine, std::mem::take(&mut self.recovery));
        self.into_inner()?.recover(&logs, quarantine, recovery)
    }

    fn remove_orphans(&mut self) -> Result<()> {
        let orphans = self.files.orphans(&self.state);
        if self.state.is_scanned && !orphans.is_empty() {
            // If an SSTable replaces an orphan, the name of the SSTable must be durable before the orphan is removed.
            self.storage.sync_directory(&self.directory)?;
        }
        for name in &orphans {
            self.storage.remove(&self.directory.join(name))?;
        }
        self.recovery.removed_files = orphans;
        Ok(())
    }

    /// Builds a tree from the SSTables and a new WAL, without the writes in the old WALs.
    fn into_inner(self) -> Result<Inner> {
        let design = &self.options.design;
        let log_seal = self.state.seals.of(self.new_log);
        let last_sequence = self.state.flushed_sequence;
        let (levels, blobs) = (run_states(&self.levels), blob_files(&self.levels)?);
        let state = State { next_file: self.new_log + 1, levels, blobs, ..self.state };
        // The manifest is created before the first WAL. If a directory has a WAL and no manifest, a file is therefore
        // missing.
        let (next_file, next_run) = (AtomicU64::new(state.next_file), AtomicU64::new(state.next_run));
        let manifest = Manifest::create(&*self.storage, &self.directory, state)?;
        let memtables = design.memtables().map_err(misuse)?;
        let memtable = memtables.create(design.memtable_capacity.0 as usize);
        let active = Arc::new(Slot::new(memtable, self.new_log));
        let sorted_view = sorted_view::CATALOG.build(design.choice("sorted_view")).map_err(misuse)?;
        let access = ReadAccess {
            culling: Arc::from(fence::culling::CATALOG.build(design.choice("culling")).map_err(misuse)?),
            segment_entries: sorted_view.segment_entries(),
            level_locks: design.options.threads.level_locks.then(Arc::default),
        };
        let counters = AllCounters::default();
        let policy = compaction::CATALOG.build(design.choice("compaction")).map_err(misuse)?;
        let observed = OperationWindow::new(policy.observed_flushes());
        let values = values::CATALOG.build(design.choice("values")).map_err(misuse)?;
        let lookup_pool = lookup_pool(design, self.options.mode)?;
        let file = LogFile::create(&*self.storage, &self.directory, self.new_log, log_seal, self.wal_mode)?;
        let synced_offset = wal::synced_when_new(self.wal_mode);
        Ok(Inner {
            directory: self.directory,
            mode: self.options.mode,
            clock: self.options.clock,
            memtables,
            policy,
            observes_operations: observed.is_observed(),
            observes_reads: observed.is_observed() || self.arbitration.is_some(),
            arbitration: self.arbitration,
            observed: Mutex::new(observed),
            values,
            collected_blobs: Mutex::default(),
            hasher: Arc::clone(&self.context.hash.component),
            wal_mode: self.wal_mode,
            view: ArcSwap::from_pointee(first_view(&active, self.levels, access, &counters)),
            lookup_pool,
            visible: CachePadded::new(Visible::new(last_sequence)),
            flushing: Mutex::new(()),
            compacting: Mutex::new(()),
            obsolete: Mutex::default(),
            stale_tables: Mutex::default(),
            log: CachePadded::new(Mutex::new(Log::new(file))),
            creating_log: Mutex::new(()),
            shelf: Mutex::new(LogShelf::default()),
            logged: CachePadded::new(AtomicU64::new(last_sequence)),
            pending: CachePadded::new(Mutex::new(WriteQueue::new(
                &self.options.design,
                last_sequence,
                active,
                log_seal,
                synced_offset,
            ))),
            next_file,
            next_run,
            manifest: Mutex::new(manifest),
            view_lock: Mutex::new(()),
            merges_for_ranges: Mutex::new(true),
            failure: Failure::default(),
            signals: Signals::default(),
            pacer: pacer(&self.options.design, self.options.mode),
            scheduler: scheduler(&self.options.design, self.options.mode),
            membership: self.options.membership,
            counters,
            recovery: Recovery::default(),
            context: self.context,
            storage: self.storage,
            design: self.options.design,
            _lock: self.lock,
        })
    }
}

impl Inner {
    /// Replays the writes of the old WALs. Afterwards, the manifest names only the new WAL.
    fn recover(mut self, logs: &[u64], quarantine: bool, mut recovery: Recovery) -> Result<Self> {
        let found = self.manifest.lock().state.clone();
        let replayed = Replay::run(&self, logs, &found, quarantine, &mut recovery);
        // If the replay fails, the new WAL is removed. Otherwise, each failed opening would leave another WAL.
        let new = self.pending.lock().active.log;
        let last = replayed.inspect_err(|_| self.remove_new_log(new))?;
        // A WAL that the manifest names must survive a power loss. A later WAL becomes durable with the SSTables of
        // the previous memtable. These SSTables are synced before a manifest names the later WAL.
        self.storage.sync_directory(&self.directory)?;
        self.name_new_log(last)?;
        self.remove_logs(logs)?;
        if found.is_scanned && !logs.is_empty() {
            // The removals must be durable before new writes. Otherwise, a later recovery could replay the unreplayed
            // end of an old WAL before the new writes.
            self.storage.sync_directory(&self.directory)?;
        }
        let counters = self.counters.local();
        counters.wal_bytes.add(self.log.lock().file.len());
        counters.wal_syncs.add(u64::from(self.wal_mode.syncs_at_rotation));
        self.visible.reset(last);
        self.logged.store(last, Ordering::Release);
        let mut pending = self.pending.lock();
        pending.next_sequence = last + 1;
        pending.full_from = self.design.full_from(last + 1);
        drop(pending);
        self.recovery = recovery;
        Ok(self)
    }

    /// Records the new WAL in the manifest as the oldest WAL that is still needed, because the SSTables contain all
    /// writes in older WALs. `last` is the sequence number of the last of these writes.
    fn name_new_log(&self, last: SequenceNumber) -> Result<()> {
        let mut manifest = self.manifest.lock();
        let log = self.wal_mode.has_log.then(|| self.pending.lock().active.log);
        let state = State {
            log,
            log_is_synced: self.wal_mode.syncs_at_rotation,
            flushed_sequence: last,
            closed_log: None,
            next_file: self.next_file.load(Ordering::Relaxed),
            next_run: self.next_run.load(Ordering::Relaxed),
            ..manifest.state.clone()
        };
        manifest.record(&*self.storage, state)
    }

    /// Removes the files of the given WALs. A missing file is not an error.
    fn remove_logs(&self, logs: &[u64]) -> Result<()> {
        for number in logs {
            match self.storage.remove(&log_path(&self.directory, *number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns an error if the store in `directory` was created with another merge operator than the design has.
fn check_operator(
    of_store: Option<MergeOperator>,
    of_design: Option<MergeOperator>,
    directory: &Path,
) -> Result<()> {
    if of_store == of_design {
        return Ok(());
    }
    let quoted = |operator: Option<MergeOperator>| match operator {
        Some(operator) => format!("the merge operator \"{}\"", operator.name()),
        None => "no merge operator".to_owned(),
    };
    let remedy = match of_store {
        Some(operator) => format!("set merge_operator = \"{}\"", operator.name()),
        None => "remove merge_operator".to_owned(),
    };
    let (of_store, of_design, directory) = (quoted(of_store), quoted(of_design), directory.display());
    Err(Error::Misuse(format!(
        "{directory} was created with {of_store}, but the design has {of_design}; {remedy}"
    )))
}

/// Starts the threads that search sorted runs for gets. Returns `None` if only the caller of a get searches the runs.
/// This is always the case in `counted` mode.
fn lookup_pool(design: &Design, mode: Mode) -> Result<Option<LookupPool>> {
    match design.options.threads.per_lookup - 1 {
        helpers @ 1.. if mode == Mode::Timed => LookupPool::start(helpers).map(Some),
        _ => Ok(None),
    }
}

/// Returns the first view of a tree that is being opened: an empty memtable and the SSTables.
fn first_view(
    active: &Arc<Slot>,
    levels: Levels<TableRef>,
    access: ReadAccess,
    counters: &AllCounters,
) -> View {
    View {
        active: Arc::clone(active),
        frozen: Vec::new(),
        version: Arc::new(Version::new(levels, access, RangeWork::default(), counters)),
    }
}
