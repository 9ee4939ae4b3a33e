//! The part of a report page that answers questions about which documents disagree, each with its claims.

use std::fmt::Write as _;

use super::html::{anchor, claim_cells, escape};
use super::markdown::{claim_row, plain};
use crate::sentence::sentence_on;
use crate::text::number;
use crate::{Expected, Highlighted, Judged};

/// The heading above the disputed questions, on all pages.
const HEADING: &str = "Disputed questions";

fn finding(highlight: &Highlighted) -> String {
    let judged: Vec<&Judged> = highlight.judged.iter().map(|(_, _, judged)| judged).collect();
    sentence_on(&judged)
}

/// Formats a theoretical value of another design, with its derivation, as a line.
fn beside(expected: &Expected) -> String {
    expected.said(|value, unit| format!("{} {}", number(value), unit.unwrap_or_default()))
}

/// Returns the disputed questions and their answers as a part of an HTML page.
pub(super) fn html(highlights: &[Highlighted]) -> String {
    if highlights.is_empty() {
        return String::new();
    }
    let mut text = format!("<h2 id=\"questions\">{HEADING}</h2>\n");
    for highlight in highlights {
        let _ = writeln!(
            text,
            "<section class=\"figure\">\n<h3>{}</h3>\n<p class=\"finding\">{}</p>\n<table class=\"claims\">\n<thead><tr>\
             <th>claim</th><th>about</th><th>claimed</th><th>measured</th><th>theory</th><th>verdict</th></tr></thead>\n<tbody>",
            escape(&highlight.question),
            escape(&finding(highlight)),
        );
        for (document, figure, judged) in &highlight.judged {
            let (page, id) = (escape(document), &judged.claim.id);
            let link = format!(
                "<td data-name=\"claim\" class=\"small id\"><a href=\"{page}.html#{}\">{}</a></td>",
                anchor(id),
                escape(&format!("{document} {figure}")),
            );
            let _ = writeln!(text, "<tr>{link}{}</tr>", claim_cells(judged));
        }
        text.push_str("</tbody>\n</table>\n");
        if !highlight.beside.is_empty() {
            text.push_str("<ul class=\"open\">\n");
            for expected in &highlight.beside {
                let _ = writeln!(text, "<li>{}</li>", escape(&beside(expected)));
            }
            text.push_str("</ul>\n");
        }
        text.push_str("</section>\n");
    }
    text
}

/// Returns the disputed questions and their answers as a part of a Markdown page.
pub(super) fn markdown(highlights: &[Highlighted]) -> String {
    if highlights.is_empty() {
        return String::new();
    }
    let mut text = format!("\n## {HEADING}\n");
    for highlight in highlights {
        let _ = writeln!(
            text,
            "\n**{}** {}\n\n| claim | about | claimed | measured | theory | verdict | why |\n|---|---|---|---|---|---|---|",
            plain(&highlight.question),
            plain(&finding(highlight)),
        );
        for (document, figure, judged) in &highlight.judged {
            let name = format!("[{} {}]({document}.md)", plain(document), plain(figure));
            text.push_str(&claim_row(&name, judged));
        }
        for (at, expected) in highlight.beside.iter().enumerate() {
            let gap = if at == 0 { "\n" } else { "" };
            let _ = writeln!(text, "{gap}* {}", plain(&beside(expected)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_without_questions_has_no_heading() {
        assert_eq!(html(&[]), "");
        assert_eq!(markdown(&[]), "");
    }
}
