//! Checks that storage back ends keep the invariants of storage. The tests of any crate can use this check.
//!
//! ```
//! let memory = lsmbench_storage::CATALOG.variant("memory")?;
//! lsmbench_storage::conformance::check(memory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod invariants;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use catalog::{Variant, laws};

use crate::{CATALOG, Purpose, Storage, StorageError};

/// Checks that a storage back end with its default parameters keeps every invariant. For example: reads return the
/// appended bytes, an open file keeps its content after its name is removed, and only one process can hold a lock.
///
/// The check creates its files in a new folder below [`std::env::temp_dir`], and removes the folder at the end. Some
/// kernels reject `io_uring`, and some file systems reject `O_DIRECT`. If the system rejects the back end with
/// [`ErrorKind::Unsupported`], the function checks only the rules for variants of a catalog, which need no file.
///
/// # Errors
/// Returns one line per violated invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn Storage>) -> Result<(), String> {
    let home = Home::new();
    let mut broken: Vec<String> = laws::check_variant(CATALOG.axis, variant).err().into_iter().collect();
    // If the default parameters do not build, `check_variant` has already reported the error.
    if let Ok(storage) = variant.build_of(CATALOG.axis, &variant.default_choice()) {
        let storage: Arc<dyn Storage> = Arc::from(storage);
        match runs_in(&*storage, &home.0) {
            Ok(true) => broken.extend(invariants::check(variant.kind, &storage, &home.0).err()),
            Ok(false) => {}
            Err(error) => {
                broken
                    .push(format!("{kind}: \"creating a file must succeed\": {error}", kind = variant.kind));
            }
        }
    }
    laws::all_kept(&broken)
}

/// A temporary folder for the files of one conformance check. Dropping this value removes the folder.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lsmbench-conformance-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A back end in memory creates no folder, so the removal may fail.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Creates a file in the folder `home` to find out whether the system supports the back end `storage`. Creates the
/// folder if it is missing.
fn runs_in(storage: &dyn Storage, home: &Path) -> Result<bool, StorageError> {
    storage.create_directory(home)?;
    match storage.create(&home.join("probe"), Purpose::Table) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(false),
        created => created.map(|_| true),
    }
}
