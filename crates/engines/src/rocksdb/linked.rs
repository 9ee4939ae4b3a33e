//! Identifies the library that was linked into this program when it was built, if any.

#[cfg(feature = "rocksdb")]
use librocksdb_sys as _;
#[cfg(feature = "speedb")]
use libspeedb_sys as _;

use crate::engine::Identity;

#[cfg(all(feature = "rocksdb", feature = "speedb"))]
compile_error!(
    "the features rocksdb and speedb exclude each other, because both libraries define the same functions; \
     build with one feature, and load the other library by its path"
);

/// The name of the engine whose library is linked into this program. `None` if there is no such library.
pub(super) const KIND: Option<&str> = match (cfg!(feature = "rocksdb"), cfg!(feature = "speedb")) {
    (true, _) => Some("rocksdb"),
    (false, true) => Some("speedb"),
    (false, false) => None,
};

/// The identity of the linked library.
pub(super) fn identity() -> Identity {
    let version = if cfg!(feature = "speedb") { env!("PEERS_SPEEDB") } else { env!("PEERS_ROCKSDB") };
    // The crate builds the library for the same CPU features as this program.
    let is_slow = cfg!(all(target_arch = "x86_64", not(target_feature = "sse4.2")));
    let doubt = || {
        "the library in this program computes checksums without the CRC instruction of the CPU; build with \
         RUSTFLAGS=\"-C target-cpu=native\""
            .to_owned()
    };
    Identity {
        // The version of the crate and, after a plus sign, the version of the bundled sources.
        version: version.split_once('+').map(|(_, sources)| sources.to_owned()),
        library: None,
        doubts: is_slow.then(doubt).into_iter().collect(),
    }
}
