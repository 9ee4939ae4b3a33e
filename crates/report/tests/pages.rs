//! Tests of the pages of a report on all documents. The pages have no external links, and every link has a target.

mod common;
mod settled;

use std::collections::BTreeMap;
use std::path::Path;

use common::{DOCUMENTS, claims, sheets};
use lsmbench_report::{
    Answer, Evidence, Facts, Feature, Highlight, Ids, Judged, Report, ReportPage, SvgChart, assemble, judge,
    pages,
};
use settled::contradictions;

struct Nothing;

impl Facts for Nothing {
    fn setting(&self, _path: &str) -> Option<f64> {
        None
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

/// Returns the pages of a report without any run.
fn report() -> Vec<ReportPage> {
    let mut answers = Vec::new();
    for (document, _) in DOCUMENTS {
        let claims = claims(document);
        for (path, sheet) in sheets(document) {
            for source in &sheet.sources {
                let own = sheet.rules.iter().filter(|rule| sheet.source_of(rule) == Some(source));
                let evidence =
                    Evidence { runs: Err("no <results> & \"none\""), cores: None, facts: &Nothing };
                let judged = own.flat_map(|rule| {
                    let ids = rule.ids.all().iter().enumerate();
                    ids.map(|(place, id)| Judged {
                        claim: claims.get(id).unwrap().clone(),
                        judgement: judge(rule, place, &claims, &evidence),
                    })
                });
                answers.push(Answer {
                    source: source.clone(),
                    file: path.file_name().unwrap().to_string_lossy().into_owned(),
                    question: Some("How <fast>?".to_owned()),
                    run: None,
                    outcome: Some("Measured: a < b.".to_owned()),
                    charts: vec![SvgChart {
                        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                        title: "A \"chart\"".to_owned(),
                        svg: "<svg><rect fill=\"#FFFFFF\"/></svg>".to_owned(),
                        phone: "<svg id=\"phone\"></svg>".to_owned(),
                    }],
                    judged: judged.collect(),
                });
            }
        }
    }
    let systems = assemble(answers);
    let asked = Highlight {
        question: "How <many>?".to_owned(),
        ids: Ids::try_from("cs265-169, byron-111".to_owned()).unwrap(),
        beside: vec![
            toml::from_str(
                "computed = \"power\"\nwith = { base = 2, exponent = 5 }\nunit = \"runs\"\nsays = \"2 < 5\"",
            )
            .unwrap(),
        ],
    };
    let highlights = vec![asked.look_up(&systems).unwrap()];
    let contradictions = DOCUMENTS.iter().flat_map(|(document, _)| contradictions(document)).collect();
    let features =
        Feature::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/features.csv"));
    pages(&Report { systems, highlights, contradictions, features: features.unwrap() })
}

/// Tests that charts are dark on a dark page, and that charts in separate files keep their colors.
#[test]
fn charts_have_the_colours_of_their_page() {
    for page in report() {
        let is_dark = page.content.contains(".charts [fill=\"#FFFFFF\"] { fill: #1E2125; }");
        let has_charts = page.content.contains("<div class=\"charts\">");
        assert_eq!(is_dark, has_charts, "{}", page.name);
        if has_charts {
            assert!(page.content.contains("--card: #1e2125;"), "white becomes what charts stand on");
        }
    }
}

/// Returns all texts between the strings `before` and `after`.
fn between<'a>(text: &'a str, before: &'a str, after: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split(after).next())
}

#[test]
fn every_link_leads_somewhere_and_none_leads_out() {
    let pages: BTreeMap<String, String> = report()
        .into_iter()
        .map(|page| (page.name, page.content))
        .filter(|(_, content)| content.starts_with("<!DOCTYPE html>"))
        .collect();
    assert_eq!(pages.len(), DOCUMENTS.len() + 3);
    let mut links = 0;
    for (name, text) in &pages {
        for outside in ["<script", "src=", "@import", "http", "url("] {
            assert!(!text.contains(outside), "{name} has {outside}");
        }
        assert!(text.contains("width=device-width") && text.contains("prefers-color-scheme: dark"));
        for link in between(text, "<a ", ">").flat_map(|tag| between(tag, "href=\"", "\"")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { text } else { &pages[file] };
            assert!(anchor.is_empty() || target.contains(&format!("id=\"{anchor}\"")), "{name}: {link}");
            links += 1;
        }
    }
    assert!(links > 150, "{links} links");
}

#[test]
fn every_claim_stands_once_in_each_form() {
    let pages = report();
    for (document, count) in DOCUMENTS {
        let page = |ending: &str| {
            let name = format!("{document}.{ending}");
            &pages.iter().find(|page| page.name == name).unwrap().content
        };
        for claim in claims(document).all() {
            assert_eq!(page("html").matches(&format!("<tr id=\"{}\">", claim.id)).count(), 1, "{}", claim.id);
            assert_eq!(page("md").matches(&format!("| {} |", claim.id)).count(), 1, "{}", claim.id);
        }
        assert_eq!(page("csv").lines().count(), count + 1);
        assert!(!page("html").contains("<results>"), "text is escaped");
    }
}

#[test]
fn what_stands_beside_a_question_is_on_the_first_page() {
    let pages = report();
    let content = |name: &str| &pages.iter().find(|page| page.name == name).unwrap().content;
    assert!(content("index.html").contains("<li>32 runs: 2 &lt; 5</li>"));
    assert!(content("index.md").contains("\n* 32 runs: 2 \\< 5\n"));
}

#[test]
fn links_and_figures_of_markdown_are_files_of_the_report() {
    let pages = report();
    let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    let mut links = 0;
    for page in pages.iter().filter(|page| page.content.starts_with("# ")) {
        for link in between(&page.content, "](", ")") {
            assert!(names.contains(&link), "{}: {link}", page.name);
            links += 1;
        }
    }
    assert!(links > 60, "{links} links");
}

#[test]
fn a_question_about_no_claim_is_refused() {
    let asked = Highlight {
        question: "?".to_owned(),
        ids: Ids::try_from("x-1".to_owned()).unwrap(),
        beside: Vec::new(),
    };
    assert!(asked.look_up(&[]).unwrap_err().contains("no experiment file tests the claim x-1"));
}
