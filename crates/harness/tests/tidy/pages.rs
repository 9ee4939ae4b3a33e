//! Checks of the pages of the documentation: links, anchors of links, and the table of contents of the book.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{none, read, repository, with_ending};

/// A link of a page.
struct Link {
    /// The number of the line, from 1.
    line: usize,
    /// The target of the link, as the page contains it.
    target: String,
}

/// Returns the lines of a page outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the links of a page, except links to other sites.
fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        let text: String = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let local = targets.filter(|target| !target.contains("://"));
        links.extend(local.map(|target| Link { line, target: target.to_owned() }));
    }
    links
}

/// Returns the anchors of a page. An anchor is a heading in lower case, without punctuation, and with hyphens in place
/// of spaces. GitHub and similar sites generate the same anchors. A repeated heading gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let is_kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        let anchor: String = title.trim().to_lowercase().chars().filter(is_kept).collect();
        let anchor = anchor.replace(' ', "-");
        let mut numbered =
            std::iter::once(anchor.clone()).chain((1..).map(|number| format!("{anchor}-{number}")));
        let free = numbered.find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// Returns the path of the file to which a link of a page refers, relative to the root of the repository.
fn target(page: &Path, file: &str) -> PathBuf {
    if file.is_empty() {
        return page.to_owned();
    }
    let mut path = page.parent().unwrap().to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for page in with_ending(&["md"]) {
        for Link { line, target: link } in links(&read(&page)) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = target(&page, file);
            let is_page = path.extension().is_some_and(|ending| ending == "md");
            let is_broken = match repository().join(&path).exists() {
                false => true,
                true if anchor.is_empty() || !is_page => false,
                true => !anchors(&read(&path)).contains(anchor),
            };
            if is_broken {
                broken.push(format!("{}:{line}: {link}", page.display()));
            }
        }
    }
    none("links to nowhere", &broken);
}

#[test]
fn the_book_contains_every_page() {
    let summary = Path::new("docs/SUMMARY.md");
    let listed: Vec<PathBuf> =
        links(&read(summary)).iter().map(|link| target(summary, &link.target)).collect();
    let once: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice in docs/SUMMARY.md");
    let pages = with_ending(&["md"]).into_iter();
    let missing = pages.filter(|page| page.starts_with("docs") && page != summary && !once.contains(page));
    none(
        "pages that docs/SUMMARY.md does not list",
        &missing.map(|page| page.display().to_string()).collect::<Vec<_>>(),
    );
}

#[test]
fn anchors_are_those_of_forges() {
    let text = "# I/O errors\n## What's `new`?\n```\n# code\n```\n## Again\n### Again\n#no\n";
    let expected = ["again", "again-1", "io-errors", "whats-new"].map(str::to_owned);
    assert_eq!(anchors(text), BTreeSet::from(expected));
    let found = links("[a](b.md#c) `[d](e)` [f](https://g)\n```\n[h](i)\n```\n");
    assert_eq!(found.iter().map(|link| (link.line, &*link.target)).collect::<Vec<_>>(), [(1, "b.md#c")]);
}
