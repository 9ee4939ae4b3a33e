//! The files of a report: HTML pages, Markdown pages, CSV files and charts. Equal reports have equal files.

mod contradictions;
mod csv_file;
mod features;
mod highlights;
mod html;
mod markdown;
mod runs;

use std::collections::BTreeMap;
use std::path::Path;

use crate::Report;

/// A file of the generated report: its path and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportPage {
    /// The path of the file, relative to the folder of the report.
    pub name: String,
    /// The content of the file.
    pub content: String,
}

impl ReportPage {
    /// Returns whether the file is an HTML page.
    pub fn is_html(&self) -> bool {
        Path::new(&self.name).extension().is_some_and(|ending| ending == "html")
    }
}

/// Returns all files of a report.
pub fn pages(report: &Report) -> Vec<ReportPage> {
    let page = |name: String, content: String| ReportPage { name, content };
    let mut pages = vec![
        page("index.html".to_owned(), html::overview(report, &highlights::html(&report.highlights))),
        page("index.md".to_owned(), markdown::overview(report, &highlights::markdown(&report.highlights))),
        page("claims.csv".to_owned(), csv_file::claims(&report.systems)),
        page("contradictions.html".to_owned(), contradictions::html(report)),
        page("contradictions.md".to_owned(), contradictions::markdown(report)),
        page("contradictions.csv".to_owned(), csv_file::contradictions(&report.contradictions)),
        page("features.html".to_owned(), features::html(report)),
        page("features.md".to_owned(), features::markdown(report)),
    ];
    for system in &report.systems {
        let own = std::slice::from_ref(system);
        pages.push(page(format!("{}.html", system.document), html::system(system, report)));
        pages.push(page(format!("{}.md", system.document), markdown::system(system)));
        pages.push(page(format!("{}.csv", system.document), csv_file::claims(own)));
    }
    let answers = report.systems.iter().flat_map(|system| &system.figures).flat_map(|figure| &figure.answers);
    // If one experiment file reproduces several figures, each of these figures shows the charts of the file.
    let charts: BTreeMap<&str, &str> = answers
        .flat_map(|answer| &answer.charts)
        .map(|chart| (chart.name.as_str(), chart.svg.as_str()))
        .collect();
    pages.extend(charts.into_iter().map(|(name, svg)| page(markdown::figure_file(name), svg.to_owned())));
    pages
}
