//! What all tables of one tree share: where they are, and what they are made of.

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
use crate::design::Options;
use crate::hash::KeyHasher;
use crate::seals::Seals;

/// What all tables of one tree share.
pub(crate) struct TableContext {
    /// Where the files are.
    pub(crate) storage: Arc<dyn Storage>,
    /// The tree's directory.
    pub(crate) directory: PathBuf,
    /// What the files are sealed with.
    pub(crate) seals: Seals,
    /// The tree's number in this process: its part of block names in the cache.
    pub(crate) tree: u64,
    /// Where blocks stay.
    pub(crate) cache: Arc<dyn Cache>,
    /// The filter that new tables get.
    pub(crate) bloom: Component<dyn FilterPolicy>,
    /// How the filters' memory is shared out over the levels.
    pub(crate) allocation: Box<dyn Allocation>,
    /// The fence that new tables get.
    pub(crate) fence: Component<dyn FencePolicy>,
    /// The hash function of the tree.
    pub(crate) hash: Component<dyn KeyHasher>,
    /// How the entries of new blocks are laid out.
    pub(crate) format: Box<dyn BlockFormat>,
    /// How new blocks are compressed.
    pub(crate) compression: Box<dyn Compression>,
    /// The plain options of the design.
    pub(crate) options: Options,
}

impl TableContext {
    /// Whether new blocks take whole pages.
    pub(super) fn is_aligned(&self) -> bool {
        self.options.block.align || self.format.is_page_aligned()
    }
}

/// A component with the label under which a file names it.
pub(crate) struct Component<T: ?Sized> {
    /// The label, as in results.
    pub(crate) label: String,
    /// The component.
    pub(crate) component: Arc<T>,
}

impl<T: ?Sized> Component<T> {
    /// This component if it has that label, else the one the label names in `catalog`: a table is read with
    /// what it was written with, whatever the design is today.
    pub(super) fn named(&self, label: &str, catalog: &Catalog<T>) -> Result<Arc<T>, String> {
        if self.label == label {
            return Ok(Arc::clone(&self.component));
        }
        let choice = catalog.choose(&Value::String(label.to_owned()));
        let built = choice.and_then(|choice| catalog.build(&choice)).map_err(|error| error.to_string())?;
        Ok(Arc::from(built))
    }
}

/// The file of a table.
pub(crate) fn table_path(directory: &Path, id: u64) -> PathBuf {
    directory.join(format!("{id:08}.table"))
}
