//! A TOML file with the line numbers of its keys.

use std::path::{Path, PathBuf};

use toml::Table;
use toml::de::{DeTable, DeValue};
use types::{Outcome, Problem};

use super::wording;

/// A TOML file together with its text, so that error messages can state the line of a key.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// The path of the file.
    pub(crate) path: PathBuf,
    text: String,
    /// The parsed content of the file.
    pub(crate) table: Table,
}

impl SourceFile {
    /// Reads and parses a TOML file.
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Problem::new(format!("there is no file {}", path.display())),
            _ => Problem::doing(format!("read {}", path.display()), error),
        })?;
        let table = text.parse::<Table>().map_err(|error| {
            let line = error.span().map(|span| line_of(&text, span.start));
            Problem::at(path, line, in_plain_words(error.message()))
        })?;
        Ok(Self { path: path.to_owned(), text, table })
    }

    /// Creates an error about the value of a key, with the file and the line of the key. `key` is the path of the key,
    /// in which a `[[phase]]` table appears by its name, and a `[[chart]]` table by its index from 0.
    pub(crate) fn problem(&self, key: &[&str], message: impl Into<String>) -> Problem {
        // Unnamed tables have an index in the path. The message omits it, because the file does not contain this
        // number.
        let parts = key.iter().filter(|part| !part.is_empty() && part.parse::<usize>().is_err());
        let name = parts.copied().collect::<Vec<_>>().join(".");
        Problem::at(&self.path, self.line(key), wording::keyed(&name, &message.into()))
    }

    /// Returns the line number of a key in the file. If the key does not exist, returns the line of the innermost
    /// existing table on its path.
    fn line(&self, key: &[&str]) -> Option<usize> {
        let root = DeTable::parse(&self.text).ok()?;
        let mut offset = None;
        descend(root.get_ref(), key, &mut offset);
        offset.map(|offset| line_of(&self.text, offset))
    }

    /// Returns the canonical path of the file, which is equal for all paths that lead to the same file.
    pub(crate) fn identity(&self) -> PathBuf {
        std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// Returns the folder of the file, to which relative paths in the file are relative.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

fn descend(table: &DeTable<'_>, key: &[&str], offset: &mut Option<usize>) {
    // A key may contain dots itself: `"design.bloom" = …` in a sweep.
    for taken in (1..=key.len()).rev() {
        let name = key[..taken].join(".");
        let Some((found, value)) = table.iter().find(|(found, _)| found.get_ref() == &name) else { continue };
        *offset = Some(found.span().start);
        let rest = &key[taken..];
        match value.get_ref() {
            DeValue::Table(inner) => descend(inner, rest, offset),
            DeValue::Array(items) => {
                let Some((first, rest)) = rest.split_first() else { return };
                let named = items.iter().find(|item| {
                    let name = item.get_ref().as_table().and_then(|table| table.get("name"));
                    name.and_then(|name| name.get_ref().as_str()) == Some(*first)
                });
                let numbered = || first.parse().ok().and_then(|number: usize| items.get(number));
                if let Some(item) = named.or_else(numbered) {
                    *offset = Some(item.span().start);
                    if let Some(inner) = item.get_ref().as_table() {
                        descend(inner, rest, offset);
                    }
                }
            }
            _ => {}
        }
        return;
    }
}

/// Rewrites a message of the TOML parser for users who do not know Rust. For example, the result contains no Rust
/// types.
fn in_plain_words(message: &str) -> String {
    let number = message.strip_prefix("invalid type: integer `").and_then(|rest| rest.split_once('`'));
    let (least, most) = (i64::MIN, i64::MAX);
    match number {
        Some((number, _)) => {
            format!("{number} is out of range; whole numbers in TOML are {least} to {most}")
        }
        None if message == "integer number overflowed" => {
            format!("a number is out of range; whole numbers in TOML are {least} to {most}")
        }
        None => message.to_owned(),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < offset).filter(|(_, c)| *c == '\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        let text = "question = \"?\"\n[design]\nbloom = { kind = \"none\" }\n\n[[phase]]\nname = \"load\"\ninsert = 3\n\
                    [[phase]]\nname = \"look\"\nkeys = { kind = \"zipfian\",\n theta = 2 }\n[sweep]\n\"design.bloom\" = []\n";
        std::fs::write(&path, text).unwrap();
        let file = SourceFile::read(&path).unwrap();
        for (key, line) in [
            (&["question"][..], 1),
            (&["design", "bloom"], 3),
            (&["design", "bloom", "bits"], 3),
            (&["phase", "load", "insert"], 7),
            (&["phase", "look", "keys", "theta"], 11),
            (&["sweep", "design", "bloom"], 13),
            (&["phase", "1", "keys"], 10),
            (&["phase", "7"], 5),
        ] {
            assert_eq!(file.line(key), Some(line), "{key:?}");
        }
        assert_eq!(file.line(&["nothing"]), None);
        std::fs::write(&path, "a = 1\nb = = 2\n").unwrap();
        let message = SourceFile::read(&path).unwrap_err().to_string();
        assert!(message.contains("x.toml:2: "), "{message}");
        assert!(
            SourceFile::read(&folder.path().join("y.toml"))
                .unwrap_err()
                .to_string()
                .contains("there is no file")
        );
    }
}
