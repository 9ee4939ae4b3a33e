//! The first steps of opening a store: the lock of its directory, and the list of its files.

use std::path::Path;
use std::sync::Arc;

use storage::Storage;

use crate::assemble::misuse;
use crate::design::ManifestPlace;
use crate::error::{Error, Result};
use crate::families::Membership;
use crate::family_folder::{check_family, check_not_family, check_progress};
use crate::inner::Mode;
use crate::manifest::State;
use crate::open_options::OpenOptions;
use crate::recovered::Recovery;
use crate::recovery::{Files, lock};
use crate::seals::new_identity;

/// A locked store directory with the list of its files. Opening has not changed any of these files yet.
pub(crate) struct Claim {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) lock: Box<dyn Send + Sync>,
    pub(crate) files: Files,
    /// The state of the store from its manifest. If the manifest contains no identity of the store, the state contains
    /// a new identity.
    pub(crate) state: State,
    /// The file number of the WAL that the opening of the store will create.
    pub(crate) new_log: u64,
    pub(crate) recovery: Recovery,
}

impl Claim {
    /// Locks the directory and reads its manifest. Creates the directory if it is missing and the options allow it.
    ///
    /// # Errors
    /// If the directory is in use, has unrelated files, is one family of a store, or is corrupt. Also if the options
    /// forbid the creation of a missing store or the opening of an existing store.
    pub(crate) fn new(options: &mut OpenOptions, directory: &Path) -> Result<Self> {
        let storage = open_storage(options)?;
        if options.membership.is_none() {
            check_not_family(&*storage, directory)?;
        }
        if !options.create_if_missing && !Files::of_existing(&*storage, directory)?.has_state() {
            return Err(Error::NotAStore(directory.to_owned()));
        }
        storage.create_directory(directory)?;
        let lock = lock(&*storage, directory)?;
        let files = Files::list(&*storage, directory)?;
        if options.error_if_exists && files.has_state() {
            return Err(Error::Exists(directory.to_owned()));
        }
        let mut found = files.read_manifest(&*storage, directory)?;
        let is_scanned = options.design.options.table.manifest == ManifestPlace::None;
        match files.has_state() {
            true => check_manifest(found.state.is_scanned, is_scanned, directory)?,
            false if is_scanned => found.state = files.scanned_state(directory)?,
            false => {}
        }
        if let Some(Membership { identity, released, .. }) = &options.membership {
            check_family(&found.state, directory, identity)?;
            check_progress(directory, *released, found.state.flushed_sequence)?;
        }
        let mut recovery = Recovery { dropped_manifest_bytes: found.torn_bytes, ..Recovery::default() };
        match files.check_logs(&*storage, directory, &found.state) {
            Err(error @ Error::MissingLog(_)) if options.quarantine => {
                recovery.quarantined_files.push(error.to_string());
            }
            checked => checked?,
        }
        let mut state = found.state;
        state.family = options.membership.as_ref().map(|membership| membership.identity.clone());
        let new_log = state.next_file.max(files.next_number());
        state.seals.begin(new_log, options.identity.unwrap_or_else(new_identity));
        Ok(Self { storage, lock, files, state, new_log, recovery })
    }
}

/// Returns an error if the store has a manifest and the design has none, or if the design has one and the store has
/// none.
fn check_manifest(is_store_scanned: bool, is_design_scanned: bool, directory: &Path) -> Result<()> {
    let (with_or_without, one_or_none, setting) = match (is_store_scanned, is_design_scanned) {
        (true, false) => ("without", "one", "table.manifest = \"none\""),
        (false, true) => ("with", "none", "table.manifest = \"file\""),
        _ => return Ok(()),
    };
    let directory = directory.display();
    Err(Error::Misuse(format!(
        "{directory} is a store {with_or_without} a manifest, but the design has {one_or_none}; set {setting}"
    )))
}

/// Opens the storage of the tree. In `timed` mode, each call of a storage with a device model waits as long as the
/// modeled device would take.
fn open_storage(options: &mut OpenOptions) -> Result<Arc<dyn Storage>> {
    let storage: Arc<dyn Storage> = match options.storage.take() {
        Some(storage) => storage,
        None => Arc::from(storage::CATALOG.build(options.design.choice("storage")).map_err(misuse)?),
    };
    storage.set_waiting(options.mode == Mode::Timed);
    Ok(storage)
}
