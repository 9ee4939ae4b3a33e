//! The search over all pages of the site. The search consists of the search page and a search index. The search page
//! lists all pages, and its script reads the index.
//!
//! The index is a script, because browsers do not let a script read files next to a page without a server.

use std::fmt::Write as _;
use std::path::Path;

use page::escape;

use crate::file::SiteFile;
use crate::frame::{SEARCH, framed};
use crate::sections::{Section, sections};

/// The script file with the search index.
const INDEX: &str = "search-index.js";

/// Returns the search page and the search index. `files` are all other files of the site.
pub(crate) fn pages(files: &[SiteFile]) -> Vec<SiteFile> {
    let pages: Vec<(&str, Vec<Section>)> = files
        .iter()
        .filter(|file| Path::new(&file.path).extension().is_some_and(|end| end == "html"))
        .map(|file| (file.path.as_str(), sections(&file.content)))
        .collect();
    vec![page(&pages), SiteFile::new(INDEX, index(&pages))]
}

/// Returns the search page. Without a script, it is a list of all pages.
fn page(pages: &[(&str, Vec<Section>)]) -> SiteFile {
    let mut body = format!(
        "<header>\n<h1>Search</h1>\n</header>\n<div class=\"finder\" id=\"finder\"></div>\n\
         <p class=\"status\" role=\"status\" id=\"found\"></p>\n<ol class=\"results\" id=\"results\"></ol>\n\
         <section id=\"pages\">\n<h2>All pages</h2>\n<p class=\"facts\">{} pages</p>\n<ul class=\"all-pages\">\n",
        pages.len()
    );
    for (path, sections) in pages {
        let title = sections.first().map_or(*path, |first| first.title.as_str());
        let _ = writeln!(
            body,
            "<li><a href=\"{}\">{}</a> <small>{}</small></li>",
            escape(path),
            escape(title),
            escape(folder_of(path))
        );
    }
    let _ = write!(
        body,
        "</ul>\n</section>\n<script src=\"{INDEX}\"></script>\n<script src=\"search.js\"></script>\n"
    );
    framed(SEARCH, SEARCH, "Search", &body)
}

/// Returns the folder of a page, such as `docs/how-to`. The folder of a page at the root is empty.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the search index: one array per section with its address, its title, the title of its page, and its text.
fn index(pages: &[(&str, Vec<Section>)]) -> String {
    let mut text = "const searchIndex = [\n".to_owned();
    for (path, sections) in pages {
        let page = sections.first().map_or("", |first| first.title.as_str());
        for section in sections {
            let address = match section.anchor.as_str() {
                "" => (*path).to_owned(),
                anchor => format!("{path}#{anchor}"),
            };
            let parts = [address.as_str(), &section.title, page, &section.text].map(quoted);
            let _ = writeln!(text, "[{}],", parts.join(","));
        }
    }
    text + "];\n"
}

/// Formats a text as a string literal of JavaScript.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') => quoted.push(' '),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_has_every_section_with_its_address() {
        let page =
            "<head><title>A · lsmbench</title></head><h1 id=\"a\">A</h1>one<h2 id=\"b\">B \"b\"</h2>two";
        let files = [SiteFile::new("docs/a.html", page), SiteFile::new("find.js", "")];
        let [page, index] = &pages(&files)[..] else { panic!("two files") };
        assert!(page.content.contains("<a href=\"docs/a.html\">A</a> <small>docs</small>"));
        let expected = "const searchIndex = [\n[\"docs/a.html#a\",\"A\",\"A\",\"one\"],\n\
                        [\"docs/a.html#b\",\"B \\\"b\\\"\",\"A\",\"two\"],\n];\n";
        assert_eq!(index.content, expected);
    }
}
