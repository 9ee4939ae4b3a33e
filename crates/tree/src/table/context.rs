//! The directory, components and options that all SSTables of one tree share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloom::{Allocation, FilterPolicy};
use cache::Cache;
use catalog::Catalog;
use compression::Compression;
use fence::FencePolicy;
use storage::Storage;
use toml::Value;

use super::format::BlockFormat;
use super::names::{Names, files_of, unfinished_path};
use crate::blob::BlobFiles;
use crate::design::Options;
use crate::hash::KeyHasher;
use crate::seals::Seals;

/// The directory, components and options that all SSTables of one tree share.
pub(crate) struct TableContext {
    /// The storage that contains the files of the tree.
    pub(crate) storage: Arc<dyn Storage>,
    /// The directory of the tree.
    pub(crate) directory: PathBuf,
    /// The file names of the SSTables of the tree.
    pub(crate) names: Names,
    /// Computes the seal of each file, a number that identifies the file and its store. All checksums of a file cover
    /// its seal, so a file of another store has wrong checksums.
    pub(crate) seals: Seals,
    /// The number of the tree in this process. The block cache distinguishes blocks of different trees by this number.
    pub(crate) tree: u64,
    /// The block cache.
    pub(crate) cache: Arc<dyn Cache>,
    /// The blob files of the tree.
    pub(crate) blobs: BlobFiles,
    /// The filter policy for new SSTables.
    pub(crate) bloom: Component<dyn FilterPolicy>,
    /// The policy that divides the memory of filters among the levels of the tree.
    pub(crate) allocation: Box<dyn Allocation>,
    /// The policy for the fence pointers of new SSTables.
    pub(crate) fence: Component<dyn FencePolicy>,
    /// The hash function of the tree, which filters and hash indexes use.
    pub(crate) hash: Component<dyn KeyHasher>,
    /// The block format of new SSTables.
    pub(crate) format: Box<dyn BlockFormat>,
    /// The label of the compression of new SSTables, as in the design.
    pub(crate) compression_label: String,
    /// The compression of new SSTables.
    pub(crate) compression: Box<dyn Compression>,
    /// The options of the design of the tree.
    pub(crate) options: Options,
}

impl TableContext {
    /// Returns the path of the SSTable `number`.
    pub(crate) fn table_path(&self, number: u64) -> PathBuf {
        self.directory.join(self.names.of(number))
    }

    /// Returns the names of all files that the SSTable `number` can have. Some of these files may not exist.
    pub(crate) fn table_files(&self, number: u64) -> impl Iterator<Item = String> {
        files_of(Path::new(&self.names.of(number)), true).map(|path| path.to_string_lossy().into_owned())
    }

    /// Removes the files of the SSTable `number`. `has_filter_file` is true if the filter has a file of its own.
    pub(crate) fn remove_table(&self, number: u64, has_filter_file: bool) {
        for path in files_of(&self.table_path(number), has_filter_file) {
            // If a removal fails, the file is an orphan, and the next open removes it.
            let _ = self.storage.remove(&path);
        }
        self.names.forget(number);
    }

    /// Removes the files of an SSTable `number` that was not written completely.
    pub(crate) fn remove_unfinished(&self, number: u64, has_filter_file: bool) {
        if self.names.sequences(number).is_some() {
            // If the removal fails, the next open removes the file.
            let _ = self.storage.remove(&unfinished_path(&self.table_path(number)));
        }
        self.remove_table(number, has_filter_file);
    }

    /// Returns whether the data blocks of new SSTables are padded to whole pages.
    pub(super) fn is_aligned(&self) -> bool {
        self.options.block.align || self.format.is_page_aligned()
    }
}

/// A component of the tree, such as the filter policy, with the label that identifies it in SSTables.
pub(crate) struct Component<T: ?Sized> {
    /// The label of the component, which SSTables and results record.
    pub(crate) label: String,
    /// The component that has this label.
    pub(crate) component: Arc<T>,
}

impl<T: ?Sized> Component<T> {
    /// Returns the component with the given label: this component if it has the label, or else the component of
    /// `catalog`.
    ///
    /// An SSTable is always read with the components that wrote it, even if the current design has other components.
    pub(super) fn named(&self, label: &str, catalog: &Catalog<T>) -> Result<Arc<T>, String> {
        if self.label == label {
            return Ok(Arc::clone(&self.component));
        }
        let choice = catalog.choose(&Value::String(label.to_owned()));
        let built = choice.and_then(|choice| catalog.build(&choice)).map_err(|error| error.to_string())?;
        Ok(Arc::from(built))
    }
}
