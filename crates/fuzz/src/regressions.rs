//! Inputs that have violated an invariant in the past. Each input is one file, and the file name describes the bug.

use std::fs;
use std::path::Path;

/// Returns the earlier failing inputs of a target with their names, sorted by name.
///
/// # Panics
/// Panics if the folder with the inputs cannot be read.
pub fn regressions(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target);
    let Ok(files) = fs::read_dir(&folder) else { return Vec::new() };
    let mut inputs: Vec<(String, Vec<u8>)> = files
        .map(|file| {
            let path = file.expect("the fuzz target must be able to list its earlier failures").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read(&path).expect("the fuzz target must be able to read an earlier failure"))
        })
        .collect();
    inputs.sort();
    inputs
}
