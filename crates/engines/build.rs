//! Records the versions of the bundled engine crates, as pinned in the lock file, for use in the crate.

use std::path::Path;
use std::{env, fs};

/// The packages of engines whose versions the build records. Each tuple contains the name of the package, the first
/// part of its version, and the environment variable that receives the version. The first part is empty if the lock
/// file contains only one version.
const ENGINES: [(&str, &str, &str); 9] = [
    ("fjall", "3.", "PEERS_FJALL"),
    ("fjall", "2.", "PEERS_FJALL2"),
    ("redb", "", "PEERS_REDB"),
    ("sled", "", "PEERS_SLED"),
    ("canopydb", "", "PEERS_CANOPYDB"),
    ("bf-tree", "", "PEERS_BF_TREE"),
    ("surrealkv", "", "PEERS_SURREALKV"),
    ("librocksdb-sys", "", "PEERS_ROCKSDB"),
    ("libspeedb-sys", "", "PEERS_SPEEDB"),
];

fn main() {
    #[cfg(feature = "wiredtiger")]
    compile_shim();
    // The folder is read at run time, because several checkouts may share a target folder. A build script in such a
    // folder may come from another checkout.
    let folder =
        env::var_os("CARGO_MANIFEST_DIR").expect("Cargo must set CARGO_MANIFEST_DIR for build scripts");
    let lock = Path::new(&folder).join("../../Cargo.lock");
    // A path relative to the package, so that a workspace that links to it shares the compiled artifacts.
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let text =
        fs::read_to_string(&lock).unwrap_or_else(|error| panic!("cannot read {}: {error}", lock.display()));
    for (package, start, variable) in ENGINES {
        let version = version(&text, package, start);
        let version = version.unwrap_or_else(|| {
            panic!(
                "{} contains no package {package} with a version that begins with \"{start}\"",
                lock.display()
            )
        });
        println!("cargo::rustc-env={variable}={version}");
    }
}

/// Compiles the C functions that access WiredTiger's structures, with the installed header and library.
#[cfg(feature = "wiredtiger")]
fn compile_shim() {
    println!("cargo::rerun-if-changed=src/wiredtiger/shim.c");
    println!("cargo::rustc-link-lib=wiredtiger");
    cc::Build::new().file("src/wiredtiger/shim.c").opt_level(2).compile("wiredtiger_shim");
}

/// Returns the version of a package in the text of a lock file. The version must begin with `start`.
fn version<'a>(lock: &'a str, package: &str, start: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines();
    while let Some(line) = lines.next() {
        if line == name {
            let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
            if version.starts_with(start) {
                return Some(version);
            }
        }
    }
    None
}
