//! The report as Markdown. The pages have the contents of the HTML pages, but their charts are separate files.

use std::fmt::Write as _;

use crate::sentence::sentence;
use crate::text::{about_measured, claimed, measured, run_of, theory};
use crate::{Figure, Finding, FindingCounts, Judged, Report, System};

use super::runs;

/// Returns the overview page as Markdown: the findings about each system, and the disputed questions. `highlights` is
/// the Markdown of the disputed questions.
pub(super) fn overview(report: &Report, highlights: &str) -> String {
    let systems = &report.systems;
    let all = systems.iter().flat_map(System::judged).map(|(_, judged)| judged);
    let all = FindingCounts::of(all);
    let figures: usize = systems.iter().map(|system| system.figures.len()).sum();
    let mut text = format!(
        "# {} claims of {} systems, measured\n\nThis report has {figures} figures and tables of five documents. Each \
         figure has the claims about it, the measured or computed numbers, and the verdicts that follow from fixed rules.\n\n",
        all.total(),
        systems.len(),
    );
    let names = Finding::ALL.map(Finding::name).join(" | ");
    let _ = writeln!(
        text,
        "| system | claims | {names} | reproduced by arithmetic only |\n|---|--:|{}",
        "--:|".repeat(Finding::ALL.len() + 1)
    );
    for system in systems {
        let name = &system.document;
        let _ = writeln!(text, "| [{name}]({name}.md) | {} |", counts(&system.tally()));
    }
    let _ = writeln!(text, "| all | {} |", counts(&all));
    if let Some(trials) = runs::trials(report) {
        let _ = writeln!(text, "\n{}", plain(&trials));
    }
    text.push_str("\nAlso: [contradictions](contradictions.md), [features and the settings or files that implement them](features.md).\n");
    text.push_str(highlights);
    for system in systems {
        let _ = writeln!(text, "\n## {}\n", system.document);
        for figure in &system.figures {
            let _ = writeln!(
                text,
                "* **{}** {}: {}",
                figure.name,
                plain(figure.title()),
                plain(&sentence(figure))
            );
        }
    }
    text
}

fn counts(tally: &FindingCounts) -> String {
    let counts = Finding::ALL.map(|finding| tally.count(finding).to_string());
    format!("{} | {} | {}", tally.total(), counts.join(" | "), tally.by_arithmetic())
}

/// Returns the Markdown page of one system, figure by figure.
pub(super) fn system(system: &System) -> String {
    let mut text = format!("# {}\n", system.document);
    for figure in &system.figures {
        text.push_str(&section(figure));
    }
    text
}

fn section(figure: &Figure) -> String {
    let mut text =
        format!("\n## {} {}\n\n{}\n", figure.name, plain(figure.title()), plain(&sentence(figure)));
    for answer in &figure.answers {
        let asked = answer.question.as_deref().unwrap_or("Computed, without a run.");
        let run = answer.run.as_ref().map_or_else(String::new, |run| format!("; {}", plain(&run_of(run))));
        let _ = writeln!(text, "\n**{}** (`{}`{run})\n", plain(asked), answer.file);
        for chart in &answer.charts {
            let _ = writeln!(text, "![{}]({})\n", plain(&chart.title), figure_file(&chart.name));
        }
        for line in answer.run.iter().flat_map(runs::lines) {
            let _ = writeln!(text, "* {}", plain(&line));
        }
        for open in &answer.source.unspecified {
            let _ = writeln!(text, "* not specified: {}", plain(open));
        }
        if !answer.judged.is_empty() {
            text.push_str("\n| claim | about | claimed | measured | theory | verdict | why |\n|---|---|---|---|---|---|---|\n");
            answer.judged.iter().for_each(|judged| text.push_str(&claim_row(&judged.claim.id, judged)));
        }
    }
    text
}

/// Returns the path of the file of a chart, relative to the folder of the report.
pub(super) fn figure_file(name: &str) -> String {
    format!("figures/{name}.svg")
}

/// Returns the Markdown table row of a claim. `name` is the text of the first cell, such as a link.
pub(super) fn claim_row(name: &str, judged: &Judged) -> String {
    let (claim, judgement) = (&judged.claim, &judged.judgement);
    let cells = [
        format!("{}: {}", claim.metric, about_measured(claim, judgement)),
        claimed(claim, judgement),
        measured(claim, judgement).unwrap_or_default(),
        theory(claim, judgement).unwrap_or_default(),
        judgement.said(),
        judgement.reason.clone(),
    ];
    format!("| {name} | {} |\n", cells.map(|cell| plain(&cell)).join(" | "))
}

/// Returns the text with the special characters of Markdown escaped.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '*' | '_' | '`' | '[' | ']' | '<' | '\\') {
            plain.push('\\');
        }
        plain.push(if c.is_control() { ' ' } else { c });
    }
    plain
}
