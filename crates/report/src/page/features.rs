//! The report page that lists the features of the documented systems, with the settings or files of this repository
//! that implement them.

use std::fmt::Write as _;

use super::html::{cell, escape, navigation, page};
use super::markdown::plain;
use crate::{Feature, Reach, Report};

fn own<'a>(report: &'a Report, system: &str) -> Vec<&'a Feature> {
    report.features.iter().filter(|feature| feature.system == system).collect()
}

/// Counts features in words, such as `3 yes, 1 partly, 2 no`.
fn counted(features: &[&Feature]) -> String {
    let counts = Reach::ALL.map(|reach| {
        format!("{} {}", features.iter().filter(|feature| feature.reachable == reach).count(), reach.name())
    });
    counts.join(", ")
}

/// Returns the title of the page about features, and the sentence below the title.
fn head(report: &Report) -> [String; 2] {
    let counts = counted(&report.features.iter().collect::<Vec<_>>());
    [
        format!("{} features of {} systems", report.features.len(), report.systems.len()),
        format!(
            "Number of features that an experiment can use: {counts}. The tables name the settings or files that implement each feature."
        ),
    ]
}

/// Returns the page about features as HTML.
pub(super) fn html(report: &Report) -> String {
    let mut body = navigation(report, "features");
    let [title, sentence] = head(report);
    let _ = writeln!(body, "<h1>{title}</h1>\n<p>{sentence}</p>");
    for system in &report.systems {
        let own = own(report, &system.document);
        let _ = writeln!(
            body,
            "<section class=\"figure\" id=\"{0}\">\n<h2>{0}</h2>\n<p class=\"finding\">{1}</p>\n<table class=\"claims\">\n\
             <thead><tr><th>feature</th><th>section</th><th>available</th><th>implemented by</th><th>note</th></tr></thead>\n<tbody>",
            escape(&system.document),
            counted(&own),
        );
        own.into_iter().for_each(|feature| body.push_str(&row(feature)));
        body.push_str("</tbody>\n</table>\n</section>\n");
    }
    page("Features", &[], &body)
}

fn row(feature: &Feature) -> String {
    let class = match feature.reachable {
        Reach::Yes => "reproduced",
        Reach::Partly => "direction",
        Reach::No => "untested",
    };
    let places: Vec<String> =
        feature.places().map(|place| format!("<code>{}</code>", escape(place))).collect();
    let places = if places.is_empty() { String::new() } else { format!("<span>{}</span>", places.join(" ")) };
    format!(
        "<tr>{}{}<td data-name=\"available\"><span class=\"badge {class}\">{}</span></td><td data-name=\"implemented by\">{places}</td>{}</tr>\n",
        cell("feature", "", &feature.feature),
        cell("section", "soft small", &feature.section),
        feature.reachable.name(),
        cell("note", "small", &feature.note),
    )
}

/// Returns the page about features as Markdown.
pub(super) fn markdown(report: &Report) -> String {
    let [title, sentence] = head(report);
    let mut text = format!("# {title}\n\n{sentence}\n");
    for system in &report.systems {
        let own = own(report, &system.document);
        let _ = writeln!(
            text,
            "\n## {}\n\n{}\n\n| feature | section | available | implemented by | note |\n|---|---|---|---|---|",
            system.document,
            counted(&own),
        );
        for feature in own {
            let places: Vec<String> =
                feature.places().map(|place| format!("`{}`", place.replace('|', "\\|"))).collect();
            let cells =
                [plain(&feature.feature), plain(&feature.section), feature.reachable.name().to_owned()];
            let _ =
                writeln!(text, "| {} | {} | {} |", cells.join(" | "), places.join(" "), plain(&feature.note));
        }
    }
    text
}
