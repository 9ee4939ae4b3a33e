//! Making the checksums of changed files right again, each as far as its places can be told. Nothing but fuzzing
//! needs it: a checksum keeps random bytes away from what stands behind it, and a hostile file has right ones.

use std::path::Path;

use storage::Storage;

use crate::error::Result;
use crate::recovery::Files;
use crate::{manifest, table, wal};

/// The seal of table or log `number` of the store in `directory`, which its checksums begin with.
///
/// # Errors
/// If the manifest of the store cannot be read.
pub fn seal(storage: &dyn Storage, directory: &Path, number: u64) -> Result<u64> {
    let found = Files::list(storage, directory)?.read_manifest(storage, directory)?;
    Ok(found.state.seals.of(number))
}

/// The file of a table under `seal`.
pub fn table(bytes: &mut [u8], seal: u64) {
    table::reseal(bytes, seal);
}

/// A log under `seal`.
pub fn log(bytes: &mut [u8], seal: u64) {
    wal::reseal(bytes, seal);
}

/// A manifest.
pub fn manifest(bytes: &mut [u8]) {
    manifest::reseal(bytes);
}
