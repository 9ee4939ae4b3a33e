//! Checkpoints: copies of a tree that share its SSTables and blob files.

use std::io::ErrorKind;
use std::path::Path;

use crate::blob::blob_path;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::maintain::run_states;
use crate::manifest::{FamilyIdentity, Manifest, State};
use crate::recovery::LOCK;
use crate::scanned::{mark_complete, mark_incomplete};

impl Inner {
    /// Creates an independent tree in `target` with hard links to the SSTables and blob files of this tree. The
    /// directory `target` must be new or empty. `family` is the identity of the new tree if it is a column family of a
    /// store.
    pub(crate) fn checkpoint(&self, target: &Path, family: Option<FamilyIdentity>) -> Result<()> {
        self.storage.create_directory(target)?;
        if !self.storage.list(target)?.is_empty() {
            return Err(Error::Misuse(format!(
                "{} is not empty; give the checkpoint an empty or a new directory",
                target.display()
            )));
        }
        self.flush()?;
        if self.is_scanned() {
            mark_incomplete(&*self.storage, target)?;
            // If the store has no SSTables, only the lock file marks its copy as a store.
            drop(self.storage.lock(&target.join(LOCK))?);
        }
        // The view holds references to the SSTables, so their files exist until all files are linked.
        let view = self.view.load_full();
        for table in view.version.tables() {
            for path in table.paths() {
                let name = path.file_name().expect("the path of an SSTable must have a file name");
                match self.storage.hard_link(&path, &target.join(name)) {
                    // The store never reads a metadata file, so the user may have removed it.
                    Err(error) if error.kind() == ErrorKind::NotFound && is_metadata(&path) => {}
                    linked => linked?,
                }
            }
        }
        let blobs = view.version.blob_files()?;
        for blob in &blobs {
            self.storage.hard_link(&blob_path(&self.directory, blob.id), &blob_path(target, blob.id))?;
        }
        if self.is_scanned() {
            return mark_complete(&*self.storage, target);
        }
        self.storage.sync_directory(target)?;
        let recorded = self.manifest.lock().state.clone();
        let seals = recorded.seals.of_copy(recorded.next_file, target);
        let levels = run_states(&view.version.levels);
        let state = State { levels, blobs, log: None, seals, family, ..recorded };
        Manifest::create(&*self.storage, target, state)?;
        Ok(())
    }
}

/// Returns whether the file `path` of an SSTable is its metadata file, and not its data file or filter file.
fn is_metadata(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "meta")
}
