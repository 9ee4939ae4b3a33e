//! The report as HTML: one file per system, and an overview. Each file is self-contained: it needs no network and no
//! scripts.

use std::fmt::Write as _;

use crate::sentence::sentence;
use crate::text::{about_measured, claimed, measured, run_of, theory};
use crate::{Answer, Figure, Finding, FindingCounts, Judged, Judgement, Report, SvgChart, System};

use super::runs;

const STYLE: &str = include_str!("style.css");

/// A sentence about the meaning of each finding, in the order of [`Finding::ALL`]. The legend of the overview page
/// prints them.
const MEANINGS: [&str; 5] = [
    "the measured or computed number is within the tolerance of the claim",
    "the measured difference has the claimed direction, but not the claimed size",
    "the measured or computed number contradicts the claim",
    "the claim exceeds a theoretical bound, which the table shows, or contradicts other numbers of its document",
    "the claim was not tested; the table states the reason",
];

/// Returns the overview page as HTML. It contains the counts of findings, the disputed questions, and one colored field
/// per figure. `highlights` is the HTML of the disputed questions.
pub(super) fn overview(report: &Report, highlights: &str) -> String {
    let systems = &report.systems;
    let all = FindingCounts::of(systems.iter().flat_map(System::judged).map(|(_, judged)| judged));
    let figures: usize = systems.iter().map(|system| system.figures.len()).sum();
    let mut body = navigation(report, "index");
    let _ = writeln!(
        body,
        "<h1>{} claims of {} systems, measured</h1>\n<p>This report has {figures} figures and tables of five documents. Each figure \
         has the claims about it, the measured or computed numbers, and the verdicts that follow from fixed rules.</p>",
        all.total(),
        systems.len(),
    );
    body.push_str(&legend());
    body.push_str(&counts(systems, &all));
    if let Some(trials) = runs::trials(report) {
        let _ = writeln!(body, "<p class=\"soft small\">{}</p>", escape(&trials));
    }
    body.push_str(highlights);
    body.push_str(
        "<h2 id=\"figures\">Every figure</h2>\n<p>Each field is a figure or table of a document. Its color shows the most \
         frequent verdict on its tested claims. Its strip shows the verdicts on all of its claims. The two numbers are the \
         number of reproduced claims (by measurement + by arithmetic) and the number of tested claims.</p>\n",
    );
    for system in systems {
        let name = escape(&system.document);
        let _ = writeln!(body, "<h3><a href=\"{name}.html\">{name}</a></h3>\n{}", matrix(system, true));
    }
    page("Claims, measured", &[], &body)
}

/// Returns the HTML page of one system.
pub(super) fn system(system: &System, report: &Report) -> String {
    let tally = system.tally();
    let mut body = navigation(report, &system.document);
    let name = escape(&system.document);
    let _ = writeln!(
        body,
        "<h1>{name}: {} claims, {} tested here</h1>\n{}{}{}",
        tally.total(),
        tally.tested(),
        strip(&tally),
        legend(),
        matrix(system, false),
    );
    system.figures.iter().for_each(|figure| body.push_str(&section(figure)));
    let answers = system.figures.iter().flat_map(|figure| &figure.answers);
    let charts: Vec<&SvgChart> = answers.flat_map(|answer| &answer.charts).collect();
    page(&format!("{name}, measured"), &charts, &body)
}

/// Returns an HTML page with this title and body. The style sheet also gives the charts dark colors in dark mode.
pub(super) fn page(title: &str, charts: &[&SvgChart], body: &str) -> String {
    let night = match plot::night(charts.iter().flat_map(|chart| [&*chart.svg, &*chart.phone]), ".charts") {
        rules if rules.is_empty() => rules,
        rules => format!("@media (prefers-color-scheme: dark) {{\n{rules}}}\n"),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{night}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Returns the navigation bar with links to all pages. `here` is the current page.
pub(super) fn navigation(report: &Report, here: &str) -> String {
    let link = |file: &str, name: &str| {
        let current = if file == here { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{}.html\"{current}>{}</a>", escape(file), escape(name))
    };
    let systems = report.systems.iter().map(|system| link(&system.document, &system.document));
    let further = ["contradictions", "features"].map(|name| link(name, name));
    let links: Vec<String> = systems.chain(further).collect();
    format!("<nav>{} {}</nav>\n", link("index", "overview"), links.join(" "))
}

fn legend() -> String {
    let mut text = "<ul class=\"legend small\">\n".to_owned();
    for (finding, meaning) in Finding::ALL.into_iter().zip(MEANINGS) {
        let _ = writeln!(text, "<li>{} <span class=\"soft\">{meaning}</span></li>", badge(finding));
    }
    text + "</ul>\n"
}

fn counts(systems: &[System], all: &FindingCounts) -> String {
    let mut text = "<table class=\"counts\">\n<thead><tr><th>system</th><th>claims</th>".to_owned();
    for finding in Finding::ALL {
        let (class, sign, name) = (class(finding), sign(finding), finding.name());
        let _ = write!(
            text,
            "<th class=\"{class}\"><span class=\"long\">{name}</span><span class=\"short\" aria-label=\"{name}\">{sign}</span></th>"
        );
    }
    text.push_str(
        "<th><span class=\"long\">by arithmetic</span><span class=\"short\" aria-label=\"by arithmetic\">∑</span></th>\
         </tr></thead>\n<tbody>\n",
    );
    let row = |name: &str, tally: &FindingCounts| {
        let cells = Finding::ALL.map(|finding| format!("<td class=\"number\">{}</td>", tally.count(finding)));
        format!(
            "<tr><td>{name}</td><td class=\"number\">{}</td>{}<td class=\"number\">{}</td></tr>\n",
            tally.total(),
            cells.concat(),
            tally.by_arithmetic()
        )
    };
    for system in systems {
        let name = escape(&system.document);
        text.push_str(&row(&format!("<a href=\"{name}.html\">{name}</a>"), &system.tally()));
    }
    text.push_str(&row("<b>all</b>", all));
    text + "</tbody>\n</table>\n<p class=\"soft small\">By arithmetic<span class=\"short\"> (∑)</span>: claims that are reproduced \
            without a measurement, because other numbers of the document or a formula give the claimed value.</p>\n"
}

/// Returns the figures of a system as colored fields. Each field links to its figure, on this page or on the page of
/// the system.
fn matrix(system: &System, from_overview: bool) -> String {
    let file = if from_overview { format!("{}.html", escape(&system.document)) } else { String::new() };
    let mut text = "<ul class=\"matrix\">\n".to_owned();
    for figure in &system.figures {
        let tally = figure.tally();
        let share = match tally.tested() {
            0 => "–".to_owned(),
            tested => {
                let measured = tally.count(Finding::Reproduced) - tally.by_arithmetic();
                let by_arithmetic =
                    Some(tally.by_arithmetic()).filter(|some| *some > 0).map(|some| format!("+{some}"));
                format!("{measured}{}/{tested}", by_arithmetic.unwrap_or_default())
            }
        };
        let _ = writeln!(
            text,
            "<li><a class=\"{}\" href=\"{file}#{}\"><b>{} <span>{share}</span></b><small>{}</small>{}</a></li>",
            class(tally.prevailing()),
            anchor(&figure.name),
            escape(&figure.name),
            escape(figure.title()),
            strip(&tally),
        );
    }
    text + "</ul>\n"
}

/// Returns a strip of colored parts that shows how many claims have each finding. The width of a part is proportional
/// to its number of claims.
fn strip(tally: &FindingCounts) -> String {
    let found = Finding::ALL.into_iter().filter(|finding| tally.count(*finding) > 0);
    let parts = found.clone().map(|finding| {
        format!("<i class=\"{}\" style=\"flex:{}\"></i>", class(finding), tally.count(finding))
    });
    let mut said: Vec<String> =
        found.map(|finding| format!("{} {}", tally.count(finding), finding.name())).collect();
    if tally.by_arithmetic() > 0 {
        said[0] = format!("{} ({} by arithmetic)", said[0], tally.by_arithmetic());
    }
    let said = said.join(", ");
    format!(
        "<span class=\"strip\" role=\"img\" aria-label=\"{said}\" title=\"{said}\">{}</span>",
        parts.collect::<String>()
    )
}

fn section(figure: &Figure) -> String {
    let mut text = format!(
        "<section class=\"figure\" id=\"{}\">\n<h2>{} {}</h2>\n<p class=\"finding\">{}</p>\n",
        anchor(&figure.name),
        escape(&figure.name),
        escape(figure.title()),
        escape(&sentence(figure)),
    );
    figure.answers.iter().for_each(|answer| text.push_str(&answered(answer)));
    text + "</section>\n"
}

fn answered(answer: &Answer) -> String {
    let mut text = String::new();
    let asked = answer.question.as_deref().unwrap_or("Computed, without a run.");
    let _ = writeln!(text, "<h3>{}</h3>\n<p class=\"soft small\">{}</p>", escape(asked), origin(answer));
    if !answer.charts.is_empty() {
        text.push_str("<div class=\"charts\">\n");
        for chart in &answer.charts {
            let _ = writeln!(
                text,
                "<figure aria-label=\"{}\"><div class=\"wide\">{}</div><div class=\"narrow\">{}</div></figure>",
                escape(&chart.title),
                chart.svg,
                chart.phone
            );
        }
        text.push_str("</div>\n");
    }
    let lines: Vec<String> = answer.run.iter().flat_map(runs::lines).collect();
    if !lines.is_empty() {
        text.push_str("<ul class=\"open small\">\n");
        for line in lines {
            let _ = writeln!(text, "<li>{}</li>", escape(&line));
        }
        text.push_str("</ul>\n");
    }
    if !answer.judged.is_empty() {
        text.push_str(&claims(&answer.judged));
    }
    if !answer.source.unspecified.is_empty() {
        text.push_str(
            "<details><summary>Parameters that the document leaves open</summary>\n<ul class=\"open\">\n",
        );
        for open in &answer.source.unspecified {
            let _ = writeln!(text, "<li>{}</li>", escape(open));
        }
        text.push_str("</ul></details>\n");
    }
    text
}

/// Returns a line below a figure that names the experiment file, the sections of the document, and the run.
fn origin(answer: &Answer) -> String {
    let sections = answer.source.sections.join(", ");
    let mut text = format!("<code>{}</code>; in the document: {}", escape(&answer.file), escape(&sections));
    if let Some(run) = &answer.run {
        let _ = write!(text, "; {}", escape(&run_of(run)));
    }
    text + "."
}

fn claims(judged: &[Judged]) -> String {
    let mut text =
        "<table class=\"claims\">\n<thead><tr><th>claim</th><th>about</th><th>claimed</th><th>measured</th>\
                    <th>theory</th><th>verdict</th></tr></thead>\n<tbody>\n"
            .to_owned();
    for judged in judged {
        let id = cell("claim", "soft small id", &judged.claim.id);
        let _ = writeln!(text, "<tr id=\"{}\">{id}{}</tr>", anchor(&judged.claim.id), claim_cells(judged));
    }
    text + "</tbody>\n</table>\n"
}

/// Returns the table cells of a claim: subject, claimed number, measurement, theory and finding.
pub(super) fn claim_cells(judged: &Judged) -> String {
    let (claim, judgement) = (&judged.claim, &judged.judgement);
    let cells = [
        cell(
            "about",
            "small",
            &format!("{}: {}", claim.metric.replace('_', " "), about_measured(claim, judgement)),
        ),
        cell("claimed", "number", &claimed(claim, judgement)),
        cell("measured", "number", &measured(claim, judgement).unwrap_or_default()),
        cell("theory", "number", &theory(claim, judgement).unwrap_or_default()),
    ];
    format!(
        "{}<td data-name=\"verdict\"><span>{} <span class=\"soft small\">{}</span></span></td>",
        cells.concat(),
        said(judgement),
        escape(&judgement.reason),
    )
}

/// Returns a table cell as HTML. On narrow screens, the style sheet shows `name`, the name of the column.
pub(super) fn cell(name: &str, class: &str, text: &str) -> String {
    format!("<td data-name=\"{name}\" class=\"{class}\">{}</td>", escape(text))
}

/// Returns the colored label of a finding, with a note if only arithmetic reproduces the claim.
fn said(judgement: &Judgement) -> String {
    let how =
        if judgement.is_by_arithmetic() { " <span class=\"soft small\">by arithmetic:</span>" } else { "" };
    format!("{}{how}", badge(judgement.finding))
}

pub(super) fn badge(finding: Finding) -> String {
    format!("<span class=\"badge {}\">{} {}</span>", class(finding), sign(finding), finding.name())
}

/// Returns the symbol of a finding, for readers who cannot distinguish colors.
fn sign(finding: Finding) -> char {
    match finding {
        Finding::Reproduced => '✓',
        Finding::DirectionOnly => '↗',
        Finding::NotReproduced => '✗',
        Finding::Impossible => '⊘',
        Finding::NotTestable => '–',
    }
}

/// Returns the CSS class that defines the color of a finding.
fn class(finding: Finding) -> &'static str {
    match finding {
        Finding::Reproduced => "reproduced",
        Finding::DirectionOnly => "direction",
        Finding::NotReproduced => "otherwise",
        Finding::Impossible => "impossible",
        Finding::NotTestable => "untested",
    }
}

/// Converts the name of a figure or claim to an HTML anchor.
pub(super) fn anchor(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect()
}

/// Returns the text with the special characters of HTML escaped.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
