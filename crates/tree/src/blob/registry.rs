//! The blob files of a tree by their numbers. All SSTables that refer to a file share one handle of the file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::blob_path;
use super::file::{BlobFile, BlobSource};
use crate::seals::Seals;

/// The smallest number of handles in the registry at which it drops the handles of removed blob files.
const FEW_HANDLES: usize = 64;

/// The handles of the blob files of a tree, by file number. The handles are weak references, so they keep no file open.
#[derive(Default)]
struct Handles {
    files: HashMap<u64, Weak<BlobFile>>,
    /// The number of handles that remained when the registry last dropped the handles of removed blob files.
    kept: usize,
}

/// The blob files of a tree. All SSTables that refer to a blob file share one handle of this file.
pub(crate) struct BlobFiles {
    source: Arc<BlobSource>,
    directory: PathBuf,
    seals: Seals,
    handles: Mutex<Handles>,
}

impl BlobFiles {
    /// Creates the registry of blob files for the tree in `directory`. The registry is empty.
    pub(crate) fn new(source: BlobSource, directory: &Path, seals: Seals) -> Self {
        let (source, handles) = (Arc::new(source), Mutex::default());
        Self { source, directory: directory.to_owned(), seals, handles }
    }

    /// Returns the handle of the blob file `number`. The file may be missing or incomplete.
    pub(crate) fn file(&self, number: u64) -> Arc<BlobFile> {
        let mut handles = self.handles.lock();
        if let Some(file) = handles.files.get(&number).and_then(Weak::upgrade) {
            return file;
        }
        if handles.files.len() >= FEW_HANDLES + 2 * handles.kept {
            handles.files.retain(|_, file| file.strong_count() > 0);
            handles.kept = handles.files.len();
        }
        let (path, seal) = (blob_path(&self.directory, number), self.seals.of(number));
        let file = Arc::new(BlobFile::new(number, seal, path, Arc::clone(&self.source)));
        handles.files.insert(number, Arc::downgrade(&file));
        file
    }
}
