//! Splits a page into sections for the search. A section is the text below a heading, without tags.

use std::collections::HashSet;

/// The part of a page from one heading to the next.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    /// The anchor of the heading. Empty if the heading has no anchor.
    pub(crate) anchor: String,
    /// The text of the heading. Before the first heading, the title of the page.
    pub(crate) title: String,
    /// The text below the heading. A table contributes no numbers, and each of its words once.
    pub(crate) text: String,
}

/// HTML elements whose text is not searched, because it is not for readers, or is equal on all pages.
const SKIPPED: [&str; 3] = ["head", "nav", "svg"];

/// HTML elements whose content has no tags.
const RAW: [&str; 2] = ["script", "style"];

/// The HTML elements of headings.
const HEADINGS: [&str; 4] = ["h1", "h2", "h3", "h4"];

/// Inline HTML elements. Their tags do not separate words: `a<b>b</b>` is one word.
const INLINE: [&str; 7] = ["a", "b", "code", "em", "i", "span", "strong"];

/// The state of the parser that splits a page into sections.
#[derive(Default)]
struct Reader<'a> {
    sections: Vec<Section>,
    /// The name of the HTML element whose content the parser skips, and the number of open elements with this name.
    /// `None` if the parser skips nothing.
    skipped: Option<(&'a str, usize)>,
    is_in_heading: bool,
    /// The number of table elements that enclose the current position.
    tables: usize,
    /// The words that tables in the current section contain, each once.
    known: HashSet<String>,
    /// The anchor of the last `<section>` element that has no heading yet.
    anchor: String,
}

/// Splits the HTML of a page into sections for the search. If a heading has no anchor, its section has the anchor of
/// the enclosing `<section>` element. A page without headings is one section.
pub(crate) fn sections(html: &str) -> Vec<Section> {
    let title = html.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let title = plain(title.map_or("", |(title, _)| title.split(" · ").next().unwrap_or_default()));
    let mut reader = Reader::default();
    reader.sections.push(Section { title, ..Section::default() });
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        reader.text(text);
        let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
        reader.tag(tag);
        let raw = RAW.iter().find(|raw| tag.split(' ').next() == Some(raw));
        let end = raw.and_then(|raw| after.find(&format!("</{raw}")));
        rest = &after[end.unwrap_or(0)..];
    }
    reader.text(rest);
    let is_used = |section: &Section| !section.text.is_empty() || !section.anchor.is_empty();
    let mut sections: Vec<Section> = reader.sections.into_iter().map(Section::trimmed).collect();
    let is_only = sections.len() == 1;
    sections.retain(|section| is_only || is_used(section));
    sections
}

impl<'a> Reader<'a> {
    fn tag(&mut self, tag: &'a str) {
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        let is_end = tag.starts_with('/');
        if let Some((skipped, open)) = &mut self.skipped {
            if name == *skipped {
                *open = if is_end { *open - 1 } else { *open + 1 };
            }
            self.skipped = self.skipped.filter(|(_, open)| *open > 0);
            return;
        }
        if SKIPPED.contains(&name) && !is_end {
            self.skipped = Some((name, 1));
        } else if HEADINGS.contains(&name) {
            self.is_in_heading = !is_end;
            if !is_end {
                let own = attribute(tag, "id").map(str::to_owned);
                let anchor = own.unwrap_or_else(|| std::mem::take(&mut self.anchor));
                self.anchor.clear();
                self.known.clear();
                self.sections.push(Section { anchor, ..Section::default() });
            }
        } else if name == "section" && !is_end {
            attribute(tag, "id").unwrap_or_default().clone_into(&mut self.anchor);
        } else if name == "table" {
            self.tables = if is_end { self.tables.saturating_sub(1) } else { self.tables + 1 };
        }
        if !INLINE.contains(&name) {
            self.text(" ");
        }
    }

    fn text(&mut self, text: &str) {
        if self.skipped.is_some() {
            return;
        }
        let text = plain(text);
        let Some(section) = self.sections.last_mut() else { return };
        let is_new =
            |word: &&str| word.contains(char::is_alphabetic) && self.known.insert((*word).to_owned());
        match (self.is_in_heading, self.tables) {
            (true, _) => section.title += &text,
            (false, 0) => section.text += &text,
            (false, _) => {
                for word in text.split_whitespace().filter(is_new) {
                    section.text.push(' ');
                    section.text += word;
                }
            }
        }
    }
}

impl Section {
    /// Replaces each sequence of spaces by one space.
    fn trimmed(mut self) -> Self {
        for text in [&mut self.title, &mut self.text] {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        self
    }
}

/// Returns the value of the attribute `name` in an HTML tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

/// Replaces the entities of HTML by their characters.
fn plain(text: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Vec<[String; 3]> {
        sections(html).into_iter().map(|of| [of.anchor, of.title, of.text]).collect()
    }

    #[test]
    fn a_page_is_split_at_its_headings() {
        let html = "<head><title>A page · lsmbench</title><style>x</style></head><nav>links</nav>before\
                    <h1>A <code>page</code></h1><p>Text &amp; <b>bo</b>ld.</p><script>if (a<b) no();</script>\
                    <section id=\"s\"><h2>Of a section</h2><p>more</p></section><h3 id=\"own\">Own</h3>";
        let expected = [
            ["", "A page", "before"],
            ["", "A page", "Text & bold."],
            ["s", "Of a section", "more"],
            ["own", "Own", ""],
        ];
        assert_eq!(found(html), expected.map(|of| of.map(str::to_owned)));
    }

    #[test]
    fn a_table_contributes_each_word_once() {
        let html = "<head><title>T</title></head><table><tr><td>rocksdb</td><td>1.5</td></tr><tr><td>rocksdb</td><td>2x</td></tr></table>";
        assert_eq!(found(html), [["", "T", "rocksdb 2x"].map(str::to_owned)]);
    }
}
