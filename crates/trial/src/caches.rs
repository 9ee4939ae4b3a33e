//! Sets the caches to the state that a phase requests, and measures how much of the store is in the page cache.

use std::io;
use std::path::{Path, PathBuf};

use engines::OpenStore;
use storage::page_cache::{Resident, let_go_of, page_out_mapped, resident};
use tree::Design;
use types::Direction;
use workload::{CacheState, Scan, TargetError};

/// The suffix that the column `cache_state` gets for a store with direct I/O, which bypasses the page cache.
const PAST_PAGE_CACHE: &str = ", direct";

/// Brings the block cache and the page cache of a store into the state that a phase requests. `families` contains the
/// names of the column families. Returns the store, which the function may have reopened.
pub(super) fn set<'f>(
    state: CacheState,
    store: OpenStore,
    families: impl Iterator<Item = Option<&'f str>>,
    directory: &Path,
) -> Result<OpenStore, TargetError> {
    match state {
        CacheState::AsIs => Ok(store),
        CacheState::Warm => {
            let everything = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
            for family in families {
                store.family(family)?.target().range(&everything, &mut |_, _| {})?;
            }
            Ok(store)
        }
        CacheState::Cold => {
            store.reopen(&|| Ok(files(directory)?.iter().try_for_each(|file| let_go_of(file))?))
        }
    }
}

/// Evicts the files of an open store from the page cache. The function first releases mapped pages, because the
/// kernel does not evict pages that are mapped.
pub(super) fn drop_pages(directory: &Path) -> Result<(), TargetError> {
    let files = files(directory)?;
    page_out_mapped(&directory.canonicalize()?)?;
    for file in files {
        match let_go_of(&file) {
            // A file that a compaction removes meanwhile has no pages.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            evicted => evicted?,
        }
    }
    Ok(())
}

/// Returns the value of the column `cache_state` for a phase that requests this state of the caches.
pub(super) fn name(state: CacheState, design: &Design) -> String {
    let storage = design.choice("storage");
    let is_direct = match storage.kind() {
        "direct" => true,
        _ => storage.params().get("direct").and_then(toml::Value::as_bool).unwrap_or(false),
    };
    format!("{}{}", state.name(), if is_direct { PAST_PAGE_CACHE } else { "" })
}

/// Returns the fraction of a store's file pages that are in the page cache. Returns `None` if the store has no files,
/// or if the kernel does not report the page cache.
pub(super) fn page_cache_share(directory: &Path) -> Option<f64> {
    let all = files(directory).ok()?;
    // A file that a compaction removes meanwhile does not count.
    all.iter().filter_map(|file| resident(file).ok()).fold(Resident::default(), Resident::and).share()
}

/// Returns the paths of all files in `directory` and in its subfolders.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.extend(path.is_file().then_some(path)),
            }
        }
    }
    Ok(found)
}
