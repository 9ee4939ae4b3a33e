//! The report page that lists all contradictions of documents, each with its stated and its computed numbers.

use std::fmt::Write as _;

use super::html::{cell, escape, navigation, page};
use super::markdown::plain;
use crate::bound::bounding;
use crate::text::{number, stated};
use crate::{Checked, Report, Ruling, Settled};

/// A sentence about each ruling on contradictions, in the order of [`Ruling::ALL`].
const MEANINGS: [&str; 4] = [
    "no side agrees with its computation",
    "some sides agree with their computations, and the others do not",
    "every side agrees with its computation",
    "no computation decides the contradiction; the reason is stated",
];

/// Formats a computed number with its unit, such as `9.585 bits/key` or `at least 9.585 bits/key`.
fn computed(checked: &Checked) -> String {
    format!("{}{} {}", bounding(checked.bound), number(checked.computed), checked.claim.unit)
        .trim_end()
        .to_owned()
}

/// Returns in words whether a stated number agrees with its computed number.
fn outcome(checked: &Checked) -> &'static str {
    if checked.holds { "holds" } else { "does not hold" }
}

fn count(settled: &[Settled], ruling: Ruling) -> usize {
    settled.iter().filter(|one| one.ruling == ruling).count()
}

/// Returns the heading of the page about contradictions: the number of all contradictions, and the number of
/// contradictions that computations decide.
fn heading(settled: &[Settled]) -> String {
    let open = count(settled, Ruling::Open);
    format!("{} contradictions, {} decided by computation", settled.len(), settled.len() - open)
}

/// Returns the page about contradictions as HTML.
pub(super) fn html(report: &Report) -> String {
    let settled = &report.contradictions;
    let mut body = navigation(report, "contradictions");
    let _ = writeln!(
        body,
        "<h1>{}</h1>\n<p>These statements contradict other statements of the same document, or arithmetic, \
         probability or the shape of a tree. Each side of a contradiction is compared with a number that is computed \
         from first principles. A side holds if it agrees with this number.</p>\n<ul class=\"legend small\">",
        heading(settled),
    );
    for (ruling, meaning) in Ruling::ALL.into_iter().zip(MEANINGS) {
        let _ = writeln!(
            body,
            "<li>{} <span class=\"soft\">{} · {meaning}</span></li>",
            badge(ruling),
            count(settled, ruling)
        );
    }
    body.push_str("</ul>\n");
    for system in &report.systems {
        let own = || settled.iter().filter(|one| one.document == system.document);
        let _ = writeln!(body, "<h2 id=\"{0}\">{0}</h2>", escape(&system.document));
        own().filter(|one| one.ruling != Ruling::Open).for_each(|one| body.push_str(&section(one)));
        body.push_str(&open(&own().filter(|one| one.ruling == Ruling::Open).collect::<Vec<_>>()));
    }
    page("Contradictions", &[], &body)
}

fn section(settled: &Settled) -> String {
    let of = &settled.contradiction;
    let mut text = format!(
        "<section class=\"figure\" id=\"{0}\">\n<h3>{0} {1} {2}</h3>\n<p>{3}</p>\n<table class=\"claims\">\n\
         <thead><tr><th>side</th><th>claimed</th><th>computed</th><th>result</th></tr></thead>\n<tbody>\n",
        escape(&of.id),
        badge(settled.ruling),
        escape(&of.says),
        escape(&of.why),
    );
    for checked in &settled.checked {
        let class = if checked.holds { "reproduced" } else { "impossible" };
        let claimed = match checked.claim.id.as_str() {
            "" => cell("claimed", "number", &stated(&checked.claim)),
            id => format!(
                "<td data-name=\"claimed\" class=\"number\"><span>{} <a class=\"small\" href=\"{}.html#{id}\">{id}</a></span></td>",
                escape(&stated(&checked.claim)),
                escape(&settled.document),
            ),
        };
        let _ = writeln!(
            text,
            "<tr>{}{claimed}{}<td data-name=\"result\"><span class=\"badge {class}\">{}</span></td></tr>",
            cell("side", "", &checked.side),
            cell("computed", "number", &computed(checked)),
            outcome(checked),
        );
    }
    text + "</tbody>\n</table>\n</section>\n"
}

/// Returns a table of the contradictions that no computation decides.
fn open(settled: &[&Settled]) -> String {
    if settled.is_empty() {
        return String::new();
    }
    let mut text = "<details open><summary>Not decided by computation</summary>\n<table class=\"claims\">\n<thead><tr><th></th>\
                    <th>kind</th><th>statement of the document</th><th>reason why it is open</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for one in settled {
        let of = &one.contradiction;
        let _ = writeln!(
            text,
            "<tr id=\"{0}\">{1}{2}{3}{4}</tr>",
            escape(&of.id),
            cell("id", "soft small id", &of.id),
            cell("kind", "small", of.kind.name()),
            cell("says", "", &of.says),
            cell("open", "", of.open.as_deref().unwrap_or_default()),
        );
    }
    text + "</tbody>\n</table></details>\n"
}

fn badge(ruling: Ruling) -> String {
    let (class, sign) = match ruling {
        Ruling::Refuted => ("impossible", '⊘'),
        Ruling::Decided => ("direction", '½'),
        Ruling::Stands => ("reproduced", '✓'),
        Ruling::Open => ("untested", '–'),
    };
    format!("<span class=\"badge {class}\">{sign} {}</span>", ruling.name())
}

/// Returns the page about contradictions as Markdown.
pub(super) fn markdown(report: &Report) -> String {
    let settled = &report.contradictions;
    let names = Ruling::ALL.map(Ruling::name).join(" | ");
    let mut text = format!("# {}\n\n| system | all | {names} |\n|---|--:|", heading(settled));
    let _ = writeln!(text, "{}", "--:|".repeat(Ruling::ALL.len()));
    for system in &report.systems {
        let own: Vec<Settled> =
            settled.iter().filter(|one| one.document == system.document).cloned().collect();
        let counts = Ruling::ALL.map(|ruling| count(&own, ruling).to_string()).join(" | ");
        let _ = writeln!(text, "| {} | {} | {counts} |", system.document, own.len());
    }
    for system in &report.systems {
        let _ = writeln!(text, "\n## {}", system.document);
        for one in settled.iter().filter(|one| one.document == system.document) {
            text.push_str(&paragraph(one));
        }
    }
    text
}

fn paragraph(settled: &Settled) -> String {
    let of = &settled.contradiction;
    let mut text = format!(
        "\n**{}** ({}, {}) {} {}\n",
        of.id,
        of.kind.name(),
        settled.ruling.name(),
        plain(&of.says),
        plain(of.open.as_deref().unwrap_or(&of.why)),
    );
    if !settled.checked.is_empty() {
        text.push_str("\n| side | claimed | computed | result |\n|---|---|---|---|\n");
    }
    for checked in &settled.checked {
        let cells = [&checked.side, &stated(&checked.claim), &computed(checked)].map(|cell| plain(cell));
        let _ = writeln!(text, "| {} | {} |", cells.join(" | "), outcome(checked));
    }
    text
}
