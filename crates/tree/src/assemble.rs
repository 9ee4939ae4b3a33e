//! Builds the components of a tree from its design.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cache::Cache;
use storage::Storage;

use crate::blob::{BlobFiles, BlobSource};
use crate::design::{Design, Mapped};
use crate::error::{Error, Result};
use crate::seals::Seals;
use crate::table::{Component, Names, TableContext};

/// Converts an error of a catalog into [`Error::Misuse`] with the same message. A catalog returns such an error if it
/// cannot build a component.
pub(crate) fn misuse(error: catalog::ChoiceError) -> Error {
    Error::Misuse(error.message)
}

/// The cache of a tree, and the number that identifies the tree in this cache.
pub(crate) struct TreeCache {
    pub(crate) cache: Arc<dyn Cache>,
    tree: u64,
}

/// Returns the cache of the tree: `shared`, if the tree shares a cache with other trees, or else a new cache that the
/// design configures.
pub(crate) fn tree_cache(design: &Design, shared: Option<Arc<dyn Cache>>) -> Result<TreeCache> {
    /// The number that identifies the next tree with a shared cache. The cache uses these numbers to distinguish the
    /// blocks of several trees. A tree that does not share its cache always has the number 0, so its blocks occupy the
    /// same cache slots in every run.
    static SHARING_TREES: AtomicU64 = AtomicU64::new(1);
    Ok(match shared {
        Some(cache) => TreeCache { cache, tree: SHARING_TREES.fetch_add(1, Ordering::Relaxed) },
        None => TreeCache {
            cache: Arc::from(cache::CATALOG.build(design.choice("cache")).map_err(misuse)?),
            tree: 0,
        },
    })
}

/// Builds the components that the design selects. Returns them as the context that all SSTables of the tree share.
pub(crate) fn table_context(
    design: &Design,
    storage: Arc<dyn Storage>,
    TreeCache { cache, tree }: TreeCache,
    directory: &Path,
    seals: Seals,
) -> Result<TableContext> {
    let (bloom, fence, hash) = (design.choice("bloom"), design.choice("fence"), design.choice("hash"));
    let reads_in_place = design.options.block.mapped == Mapped::InPlace;
    let source =
        BlobSource { storage: Arc::clone(&storage), cache: Arc::clone(&cache), tree, reads_in_place };
    Ok(TableContext {
        blobs: BlobFiles::new(source, directory, seals.clone()),
        storage,
        directory: directory.to_owned(),
        names: Names::new(design.options.table.names),
        seals,
        tree,
        cache,
        bloom: Component {
            label: bloom.label(),
            component: Arc::from(bloom::CATALOG.build(bloom).map_err(misuse)?),
        },
        allocation: bloom::ALLOCATIONS.build(design.choice("allocation")).map_err(misuse)?,
        fence: Component {
            label: fence.label(),
            component: Arc::from(fence::CATALOG.build(fence).map_err(misuse)?),
        },
        hash: Component {
            label: hash.label(),
            component: Arc::from(crate::hash::CATALOG.build(hash).map_err(misuse)?),
        },
        format: crate::table::FORMATS.build(design.choice("format")).map_err(misuse)?,
        compression_label: design.choice("compression").label(),
        compression: compression::CATALOG.build(design.choice("compression")).map_err(misuse)?,
        options: design.options.clone(),
    })
}
