//! The pages of a report on all documents: they lead nowhere else, and every link on them leads somewhere.

mod common;

use std::collections::BTreeMap;

use common::{DOCUMENTS, claims, sheets};
use lsmbench_report::{Answer, Evidence, Facts, Judged, Page, Picture, assemble, judge, pages};

struct Nothing;

impl Facts for Nothing {
    fn setting(&self, _path: &str) -> Option<f64> {
        None
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

/// The report of an evening on which nothing ran.
fn report() -> Vec<Page> {
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
                    charts: vec![Picture { title: "A \"chart\"".to_owned(), svg: "<svg></svg>".to_owned() }],
                    judged: judged.collect(),
                });
            }
        }
    }
    pages(&assemble(answers))
}

/// What stands between two texts, everywhere.
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
    assert_eq!(pages.len(), DOCUMENTS.len() + 1);
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
