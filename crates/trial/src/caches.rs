//! The state of caches when the clock of a phase starts: set as the phase asks for, and measured.

use std::io;
use std::path::Path;

use engines::OpenStore;
use storage::page_cache::{Resident, let_go_of, resident};
use tree::Design;
use types::Direction;
use workload::{CacheState, Scan, TargetError};

/// The suffix of the state where the storage bypasses the page cache.
const PAST_PAGE_CACHE: &str = ", direct";

/// Puts the caches of a store into a state. Nothing of it is measured.
pub(super) fn set(state: CacheState, store: OpenStore, directory: &Path) -> Result<OpenStore, TargetError> {
    match state {
        CacheState::AsIs => Ok(store),
        CacheState::Warm => {
            let everything = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
            store.target().range(&everything, &mut |_, _| {})?;
            Ok(store)
        }
        CacheState::Cold => {
            store.reopen(&|| Ok(files(directory)?.iter().try_for_each(|file| let_go_of(file))?))
        }
    }
}

/// The state that a phase asks for, as its rows name it.
pub(super) fn name(state: CacheState, design: &Design) -> String {
    let storage = design.choice("storage");
    let is_direct = match storage.kind() {
        "direct" => true,
        _ => storage.params().get("direct").and_then(toml::Value::as_bool).unwrap_or(false),
    };
    format!("{}{}", state.name(), if is_direct { PAST_PAGE_CACHE } else { "" })
}

/// The share of the files of a store that the page cache holds. `None` without files, or if the system does not
/// report it.
pub(super) fn page_cache_share(directory: &Path) -> Option<f64> {
    let all = files(directory).ok()?;
    // A file that is merged away meanwhile has no share in it.
    all.iter().filter_map(|file| resident(file).ok()).fold(Resident::default(), Resident::and).share()
}

fn files(directory: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let entries =
        std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    Ok(entries.into_iter().filter(|path| path.is_file()).collect())
}
