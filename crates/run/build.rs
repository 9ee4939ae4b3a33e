//! Embeds a digest of some source files into the program: the files that determine the bytes of a store. The name of a
//! fixture depends on this digest.
//!
//! Only a build in the target folder of this workspace has a digest. In any other build (a published crate, or a
//! workspace of other crates), the digest is empty, because the compiled sources may be different from the sources
//! next to this crate.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates whose sources determine the bytes of a store. These crates generate operations, execute operations, or
/// write the files of stores.
const CRATES: [&str; 14] = [
    "types",
    "catalog",
    "memtable",
    "bloom",
    "fence",
    "compaction",
    "cache",
    "compression",
    "storage",
    "tree",
    "engines",
    "workload",
    "study",
    "trial",
];

/// The files of the workspace that determine the versions of the compiled dependencies.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "Cargo.lock"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let digest = match workspace() {
        Some(root) => format!("{:016x}", digest(&root)?),
        None => String::new(),
    };
    println!("cargo::rustc-env=LSMBENCH_STORE_SOURCES={digest}");
    println!(
        "cargo::rustc-env=LSMBENCH_STORE_CRATES={}",
        CRATES.map(|name| format!("lsmbench-{name}")).join(" ")
    );
    Ok(())
}

/// Returns the root folder of the workspace of lsmbench, if this build belongs to the workspace.
fn workspace() -> Option<PathBuf> {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../..").canonicalize().ok()?;
    let target = Path::new(&env::var_os("OUT_DIR")?).canonicalize().ok()?;
    let is_here = target.starts_with(root.join("target"))
        && CRATES.iter().all(|name| root.join("crates").join(name).join("src").is_dir())
        && MANIFESTS.iter().all(|name| root.join(name).is_file());
    is_here.then_some(root)
}

/// Returns a hash of the names and contents of all source files that determine the bytes of a store.
fn digest(root: &Path) -> io::Result<u64> {
    let mut files: Vec<PathBuf> = MANIFESTS.iter().map(|name| root.join(name)).collect();
    for name in CRATES {
        let folder = root.join("crates").join(name);
        files.push(folder.join("Cargo.toml"));
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        add_files(&folder.join("src"), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(root).unwrap_or(&file).as_os_str().as_encoded_bytes();
        let content = fs::read(&file)?;
        for bytes in [name, &content] {
            hasher.write_usize(bytes.len());
            hasher.write(bytes);
        }
    }
    Ok(hasher.finish())
}

/// Adds the paths of all files in a folder and in its subfolders to `files`.
fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => add_files(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
