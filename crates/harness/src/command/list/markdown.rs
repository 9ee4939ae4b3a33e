//! Sections of the reference in Markdown. Each section has a table with one row per key.

use std::fmt::Write as _;

use catalog::{KeyEntry, KeyTable};

/// A row of a reference table: a key with its values, its default and its meaning, in Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) values: String,
    /// The default value of the key in TOML. Empty if the key has no default.
    pub(super) default: String,
    pub(super) about: String,
}

/// A section of the reference about one TOML table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The path of the TOML table, such as `phase.rate`.
    pub(super) name: String,
    pub(super) about: String,
    pub(super) entries: Vec<Entry>,
}

impl From<KeyEntry> for Entry {
    fn from(entry: KeyEntry) -> Self {
        let KeyEntry { key, values, default, about } = entry;
        Self {
            key: key.to_owned(),
            values: values.to_owned(),
            default: default.to_owned(),
            about: about.to_owned(),
        }
    }
}

impl From<&KeyTable> for Section {
    fn from(table: &KeyTable) -> Self {
        Self {
            name: table.name.to_owned(),
            about: table.about.to_owned(),
            entries: table.keys.iter().copied().map(Entry::from).collect(),
        }
    }
}

impl Section {
    /// Writes the section to `page`, with a heading of the level `level` and the text `title`.
    pub(super) fn write(&self, page: &mut String, level: usize, title: &str) {
        let _ = writeln!(page, "\n{} {title}\n\n{}\n", "#".repeat(level), self.about);
        table(page, &["Key", "Values", "Default", "Meaning"], self.entries.iter().map(Entry::cells));
    }
}

impl Entry {
    /// Returns the cells of the table row about this key: key, values, default and meaning.
    pub(super) fn cells(&self) -> Vec<String> {
        vec![code(&self.key), self.values.clone(), code(&self.default), self.about.clone()]
    }
}

/// Writes a Markdown table.
pub(super) fn table(page: &mut String, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let _ = writeln!(page, "| {} |\n|{}", heads.join(" | "), "---|".repeat(heads.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

/// Formats text as code. An empty text stays empty.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// Converts a doc comment to one line of plain Markdown. A link to an item of the source code becomes the name of the
/// item.
pub(super) fn plain(doc: &str) -> String {
    let line = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    let mut rest = line.as_str();
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else { break };
        let _ = write!(text, "{before}`{name}`");
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    text + rest
}

/// Returns the text with its first letter in upper case.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doc_comments_lose_their_links() {
        assert_eq!(
            plain("One of [`KINDS`],\n see [`stem`](Self::stem) too."),
            "One of `KINDS`, see `stem` too."
        );
        assert_eq!(plain("bits [0, 1]"), "bits [0, 1]");
    }

    #[test]
    fn cells_keep_the_table_whole() {
        let mut page = String::new();
        table(&mut page, &["a", "b"], std::iter::once(vec![code("x|y"), code("")]));
        assert_eq!(page, "| a | b |\n|---|---|\n| `x\\|y` |  |\n");
    }
}
