//! External files that implement components of a design. Such a file is a shared library, or a program that runs in
//! its own process.

use std::fmt::Write as _;
use std::fs;

use tree::Design;
use xxhash_rust::xxh3::xxh3_64;

/// The parameters by which a variant names an external file: a shared library, or a program with its arguments.
const NAMING: [&str; 2] = ["library", "command"];

/// Returns one line for each external file that implements a component of the design. The line contains a hash of the
/// file, so that a changed file counts as another component. Returns an empty text if no component is in an external
/// file.
pub fn files_outside(design: &Design) -> String {
    let mut text = String::new();
    for (axis, choice) in design.choices() {
        let values = NAMING.iter().filter_map(|name| choice.params().get(*name));
        let words = values.flat_map(|value| match value {
            toml::Value::Array(words) => words.iter().filter_map(toml::Value::as_str).collect(),
            word => Vec::from_iter(word.as_str()),
        });
        for word in words.filter(|word| !word.is_empty()) {
            if let Ok(content) = fs::read(word) {
                let _ = writeln!(text, "outside {axis} {word} {:016x}", xxh3_64(&content));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_makes_another_component() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("policy.sh");
        fs::write(&script, "one").unwrap();
        let toml = format!(
            "compaction = {{ kind = \"external\", command = [\"sh\", {:?}] }}",
            script.to_str().unwrap()
        );
        let design = Design::default().with(&toml.parse().unwrap()).unwrap();
        let one = files_outside(&design);
        assert!(one.starts_with("outside compaction ") && one.lines().count() == 1, "{one}");
        fs::write(&script, "two").unwrap();
        assert_ne!(files_outside(&design), one);
        assert_eq!(files_outside(&Design::default()), "");
    }
}
