//! Recomputes the checksums of changed files, as far as the positions of the checksums can be determined.
//!
//! Only fuzz tests use this module. If a test changes a random byte of a file, a checksum of the file becomes wrong.
//! Without this module, fuzz tests would never reach the code after the checksum verification. The code after the
//! verification must be tested, because an attacker can write files with correct checksums.

use std::path::Path;

use storage::Storage;

use crate::error::Result;
use crate::recovery::Files;
use crate::{blob, manifest, table, wal};

/// Returns the seal of the file with the number `number` in the store in `directory`. A seal identifies a file and its
/// store, and every checksum of the file covers it.
///
/// # Errors
/// If the manifest of the store cannot be read.
pub fn seal(storage: &dyn Storage, directory: &Path, number: u64) -> Result<u64> {
    let found = Files::list(storage, directory)?.read_manifest(storage, directory)?;
    Ok(found.state.seals.of(number))
}

/// Recomputes the checksums of an SSTable. Each checksum covers `seal`, a number that identifies the file and its
/// store.
pub fn table(bytes: &mut [u8], seal: u64) {
    table::reseal(bytes, seal);
}

/// Recomputes the checksums of a WAL. Each checksum covers `seal`, a number that identifies the file and its store.
pub fn log(bytes: &mut [u8], seal: u64) {
    wal::reseal(bytes, seal);
}

/// Recomputes the checksums of a blob file. Each checksum covers `seal`, a number that identifies the file and its
/// store.
pub fn blob(bytes: &mut [u8], seal: u64) {
    blob::reseal(bytes, seal);
}

/// Recomputes the checksums of a manifest.
pub fn manifest(bytes: &mut [u8]) {
    manifest::reseal(bytes);
}
