//! Converts the documents of the repository to pages. The documents are the folder `docs`, and all Markdown files to
//! which these documents link.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use page::escape;
use types::{Outcome, Problem};

use crate::file::SiteFile;
use crate::frame::{framed, to_root};
use crate::markdown::{Markdown, Target};
use crate::sources::SiteSources;

/// The folder of the documents in the repository and on the site.
const DOCS: &str = "docs";

/// The table of contents of the documents, which each document page shows.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The document that the site shows first.
const FIRST: &str = "docs/README.md";

/// The folder with the report about published systems, whose HTML pages are part of the site.
const REPORT: &str = "results/published/report";

/// Returns the site's pages of all documents.
///
/// # Errors
/// A document cannot be read.
pub(crate) fn pages(sources: &SiteSources<'_>) -> Outcome<Vec<SiteFile>> {
    let mut wanted = vec![PathBuf::from(FIRST)];
    let mut done: BTreeMap<PathBuf, SiteFile> = BTreeMap::new();
    let summary = read(sources.root, Path::new(SUMMARY))?;
    wanted.extend(linked(&summary, Path::new(SUMMARY)));
    while let Some(document) = wanted.pop() {
        if done.contains_key(&document) || document == Path::new(SUMMARY) {
            continue;
        }
        let text = read(sources.root, &document)?;
        let exists = |path: &PathBuf| address(path).is_some() && !path.starts_with(REPORT);
        let links = linked(&text, &document).into_iter().filter(exists);
        wanted.extend(links.filter(|path| sources.root.join(path).is_file()));
        let file = page(sources, &document, &text, &summary);
        done.insert(document, file);
    }
    Ok(done.into_values().collect())
}

/// Renders a document as a page. The table of contents is next to the text.
fn page(sources: &SiteSources<'_>, document: &Path, text: &str, summary: &str) -> SiteFile {
    let path = address(document).unwrap_or_default();
    let rendered = Markdown::of(text, &|link| target(sources.root, document, link));
    let summary_links = |link: &str| {
        let (file, _) = split(link);
        Some(Target::Page(format!("{}{}", to_root(&path), address(&resolved(Path::new(SUMMARY), file)?)?)))
    };
    let contents = Markdown::of(summary, &summary_links).html;
    let own = format!("<a href=\"{}{path}\">", to_root(&path));
    let contents = contents.replace(&own, &own.replace("<a ", "<a aria-current=\"page\" "));
    let contents =
        contents.replacen("<h1 id=\"summary\">Summary</h1>", "", 1).replace("<h1 id=", "<h2 data-id=");
    let contents = contents.replace("</h1>", "</h2>");
    let body = format!(
        "<nav class=\"to-contents\" aria-label=\"Contents\"><a href=\"#contents\">All documents</a></nav>\n<div class=\"with-contents\">\n\
         <nav class=\"contents\" id=\"contents\" aria-label=\"Documents\">\n{contents}</nav>\n\
         <article class=\"document\">\n{}{}</article>\n</div>\n",
        night(&rendered.charts),
        rendered.html
    );
    framed(&path, "docs/index.html", &rendered.title, &body)
}

/// Returns a style element that gives charts dark colors in browsers in dark mode.
pub(crate) fn night(charts: &[String]) -> String {
    match plot::night(charts.iter().map(String::as_str), ".charts") {
        rules if rules.is_empty() => rules,
        rules => format!("<style>\n@media (prefers-color-scheme: dark) {{\n{rules}}}\n</style>\n"),
    }
}

/// Returns the path of the page for a document of the repository, relative to the root of the site. Returns `None` if
/// the file is not a document.
fn address(document: &Path) -> Option<String> {
    let text = document.to_str()?;
    if let Some(of_report) = text.strip_prefix(REPORT) {
        return Some(format!("systems{}.html", of_report.strip_suffix(".md")?));
    }
    if text == FIRST {
        return Some(format!("{DOCS}/index.html"));
    }
    let stem = text.strip_suffix(".md")?;
    Some(match stem.strip_prefix("docs/") {
        Some(inside) => format!("{DOCS}/{inside}.html"),
        None => format!("{DOCS}/repository/{stem}.html"),
    })
}

/// Returns the page or chart to which a link in a document leads.
pub(crate) fn target(root: &Path, document: &Path, link: &str) -> Option<Target> {
    let (file, anchor) = split(link);
    if file.is_empty() {
        return Some(Target::Page(format!("#{anchor}")));
    }
    let path = resolved(document, file)?;
    if path.extension().is_some_and(|ending| ending == "svg") {
        return std::fs::read_to_string(root.join(path)).ok().map(Target::Chart);
    }
    let (own, other) = (address(document)?, address(&path).filter(|_| root.join(&path).is_file())?);
    // The HTML pages about published systems have other anchors than their Markdown files, so the link loses its
    // anchor.
    let anchor =
        if anchor.is_empty() || path.starts_with(REPORT) { String::new() } else { format!("#{anchor}") };
    Some(Target::Page(format!("{}{other}{anchor}", to_root(&own))))
}

/// Splits a link into the path of the file and the anchor.
fn split(link: &str) -> (&str, &str) {
    link.split_once('#').unwrap_or((link, ""))
}

/// Returns the path of the file to which `link` in `document` leads, relative to the root of the repository. Returns
/// `None` for a file outside of the repository.
fn resolved(document: &Path, link: &str) -> Option<PathBuf> {
    let mut path = document.parent()?.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir if path.as_os_str().is_empty() => return None,
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    Some(path)
}

/// Returns the Markdown files to which a document links.
fn linked(text: &str, document: &Path) -> Vec<PathBuf> {
    let found = std::cell::RefCell::new(Vec::new());
    let note = |link: &str| {
        let path = resolved(document, split(link).0)
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        found.borrow_mut().extend(path);
        None
    };
    Markdown::of(text, &note);
    found.into_inner()
}

fn read(root: &Path, document: &Path) -> Outcome<String> {
    let path = root.join(document);
    std::fs::read_to_string(&path).map_err(|error| Problem::doing(format!("read {}", path.display()), error))
}

/// Returns the first table of a document as HTML, with links that are valid on a page at the root of the site. Empty if
/// the document has no table.
pub(crate) fn first_table(root: &Path, document: &str) -> Outcome<String> {
    let text = read(root, Path::new(document))?;
    let from_root = |link: &str| match target(root, Path::new(document), link)? {
        Target::Page(address) => Some(Target::Page(from_front(document, &address))),
        chart @ Target::Chart(_) => Some(chart),
    };
    let html = Markdown::of(&text, &from_root).html;
    let table =
        html.split_once("<div class=\"scroll\"><table>").and_then(|(_, rest)| rest.split_once("</div>"));
    let rows = table.map_or("", |(rows, _)| rows);
    Ok(if rows.is_empty() { String::new() } else { format!("<div class=\"scroll\"><table>{rows}</div>\n") })
}

/// Converts a link in a document so that it is valid on a page at the root of the site.
fn from_front(document: &str, link: &str) -> String {
    let own = address(Path::new(document)).unwrap_or_default();
    match link.strip_prefix('#') {
        Some(anchor) => format!("{own}#{}", escape(anchor)),
        None => link.trim_start_matches("../").to_owned(),
    }
}

/// Returns the text of a document, for other pages that show parts of the document.
pub(crate) fn text_of(sources: &SiteSources<'_>, document: &str) -> Outcome<String> {
    read(sources.root, Path::new(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_addresses() {
        for (document, expected) in [
            ("docs/README.md", Some("docs/index.html")),
            ("docs/how-to/tune.md", Some("docs/how-to/tune.html")),
            ("CHANGELOG.md", Some("docs/repository/CHANGELOG.html")),
            ("results/published/report/cs265.md", Some("systems/cs265.html")),
            ("configs/bloom.toml", None),
        ] {
            assert_eq!(address(Path::new(document)).as_deref(), expected, "{document}");
        }
    }

    #[test]
    fn links_stay_in_the_repository() {
        let of = |link| resolved(Path::new("docs/how-to/a.md"), link);
        assert_eq!(of("../faq.md"), Some("docs/faq.md".into()));
        assert_eq!(of("../../../x.md"), None);
    }
}
