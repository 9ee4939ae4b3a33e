//! The report as files: HTML that needs nothing but itself, Markdown, CSV. A pure function of what was found.

mod csv_file;
mod html;
mod markdown;

use crate::System;

/// A file of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in the folder of the report.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// All files of a report.
pub fn pages(systems: &[System]) -> Vec<Page> {
    let page = |name: String, content: String| Page { name, content };
    let mut pages = vec![
        page("index.html".to_owned(), html::overview(systems)),
        page("index.md".to_owned(), markdown::overview(systems)),
        page("claims.csv".to_owned(), csv_file::claims(systems)),
    ];
    for system in systems {
        let own = std::slice::from_ref(system);
        pages.push(page(format!("{}.html", system.document), html::system(system, systems)));
        pages.push(page(format!("{}.md", system.document), markdown::system(system)));
        pages.push(page(format!("{}.csv", system.document), csv_file::claims(own)));
    }
    pages
}
