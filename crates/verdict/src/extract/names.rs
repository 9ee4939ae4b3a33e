//! Replaces file paths in texts by file names, so that results in git do not contain folders of the machine.

use results::Manifest;

/// Prefixes of paths that mean the same file on every machine. Paths with these prefixes are not replaced.
const EVERYWHERE: [&str; 3] = ["/proc/", "/sys/", "/dev/"];

/// Replaces file paths in texts by file names. The value stores the library paths of a run, because such a path may
/// contain spaces, and a text does not show where a path with spaces ends.
pub struct Names {
    libraries: Vec<String>,
}

impl Names {
    /// Collects the library paths that the texts of a manifest contain.
    pub fn of(manifest: &Manifest) -> Self {
        let engines = manifest.cells.iter().filter_map(|cell| cell.engine.as_ref());
        let mut libraries: Vec<String> = engines.filter_map(|engine| engine.library.clone()).collect();
        libraries.sort();
        libraries.dedup();
        Self { libraries }
    }

    /// Replaces the file paths in a text by file names: `/opt/lib/librocksdb.so` becomes `librocksdb.so`.
    pub fn spelt(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for library in self.libraries.iter().filter(|library| library.contains('/')) {
            text = text.replace(library.as_str(), file_name(library));
        }
        let (mut shorter, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(at) = rest.find('/') {
            let (before, path) = rest.split_at(at);
            let length = path.find(|c: char| !is_of_path(c)).unwrap_or(path.len());
            let (path, after) = path.split_at(length);
            shorter.push_str(before);
            // A slash after a word is a division, as in ops/s. Two slashes follow a URL scheme, as in https://.
            let begins = before.chars().next_back().or(shorter.chars().next_back());
            let is_path = path.len() > 1
                && !path.starts_with("//")
                && !begins.is_some_and(|c| is_of_path(c) || c == ':')
                && !EVERYWHERE.iter().any(|folder| path.starts_with(folder));
            shorter.push_str(match is_path {
                true => file_name(path.trim_end_matches('/')),
                false => path,
            });
            rest = after;
        }
        shorter + rest
    }

    /// Replaces the file paths in several texts by file names, with [`spelt`](Self::spelt).
    pub fn all(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.spelt(text)).collect()
    }
}

/// Returns the last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns whether a character can be part of a file path without quotation marks.
fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '~' | '@' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_become_names() {
        let names = Names { libraries: vec!["/my libs/librocksdb.so".to_owned()] };
        for (text, expected) in [
            ("rocksdb(library=\"/opt/lib/librocksdb.so.11\")", "rocksdb(library=\"librocksdb.so.11\")"),
            (
                "cannot find librocksdb.so in /nowhere/at/all; build it",
                "cannot find librocksdb.so in all; build it",
            ),
            ("/my libs/librocksdb.so: built with assertions", "librocksdb.so: built with assertions"),
            ("-C link-arg=-L/usr/lib/x", "-C link-arg=-L/usr/lib/x"),
            ("280 k/s and gets/puts, 1 / 2, a/b/c", "280 k/s and gets/puts, 1 / 2, a/b/c"),
            ("see https://example.org/a/b", "see https://example.org/a/b"),
            ("write 1 to /sys/devices/x", "write 1 to /sys/devices/x"),
            ("/", "/"),
            ("/data/results/", "results"),
        ] {
            assert_eq!(names.spelt(text), expected);
        }
    }
}
