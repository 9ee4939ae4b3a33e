//! The home page: questions about LSM-trees that engineers debate, with the verdicts that answer them.

use std::fmt::Write as _;
use std::path::Path;

use page::escape;
use types::Outcome;

use crate::documents::{first_table, night, target, text_of};
use crate::engines::summary;
use crate::evidence::Evidence;
use crate::file::SiteFile;
use crate::frame::framed;
use crate::kept::{Explored, Kept};
use crate::markdown::{Markdown, Target};
use crate::sources::SiteSources;

/// The address of the home page.
const PATH: &str = "index.html";

/// The document that contains the questions of the home page with their verdicts and charts.
const GALLERY: &str = "docs/gallery.md";

/// The document with the answers of the shipped experiments. Its first table lists the questions.
const ANSWERS: &str = "docs/results/experiments.md";

/// The comments that enclose the questions in the gallery.
const BEGIN: &str = "<!-- gallery -->";
const END: &str = "<!-- end of the gallery -->";

/// The maximum number of verdicts in the short answer of an experiment.
const MOST_ANSWERS: usize = 3;

/// A question that the gallery of experiments answers, with the answer and its chart, as Markdown.
struct Question<'a> {
    text: &'a str,
    answer: &'a str,
    chart: &'a str,
}

/// Returns the home page.
///
/// # Errors
/// A document cannot be read.
pub(crate) fn page(sources: &SiteSources<'_>, kept: &Kept) -> Outcome<SiteFile> {
    let mut body = format!(
        "<header>\n<h1>Which LSM-tree design is faster, by how much, and why?</h1>\n<p class=\"question\">lsmbench \
         assembles LSM-trees from interchangeable components and compares them with statistics. This site shows all {} \
         comparisons that its repository keeps. Each ratio of a timed run has a 95 % confidence \
         interval.</p>\n</header>\n",
        kept.evidence.len()
    );
    body += &doors(sources);
    let gallery = text_of(sources, GALLERY)?;
    body += "<h2 id=\"questions\">Questions</h2>\n<p class=\"facts\">The small experiments of the gallery answer these questions. \
             <code>just gallery</code> repeats them on your machine.</p>\n<div class=\"cards\">\n";
    let mut charts = Vec::new();
    for question in questions(&gallery) {
        body += &card(sources, &question, &mut charts);
    }
    body += "</div>\n";
    body += &night(&charts);
    if !kept.machines.is_empty() {
        body += "<h2 id=\"engines\">Is lsmbench faster than RocksDB?</h2>\n";
    }
    for machine in &kept.machines {
        let _ = write!(
            body,
            "<h3>{}</h3>\n<p class=\"facts\">{}. <a href=\"engines.html#{}\">All engines</a></p>\n{}",
            escape(&machine.title()),
            escape(&machine.facts()),
            escape(&machine.name),
            summary(sources.baseline, kept, machine)
        );
    }
    let _ = write!(
        body,
        "<h2>Answers of the shipped experiments</h2>\n<p class=\"facts\">Each question is a link to its \
         answer. The last column of the table contains the mode of the \
         experiment.</p>\n<details>\n<summary>All questions</summary>\n{}</details>\n",
        first_table(sources.root, ANSWERS)?
    );
    body += &explored(kept);
    Ok(framed(PATH, PATH, "LSM-trees, measured", &body))
}

/// Returns the links to the pages that compare engines and designs, and one link per axis of components.
fn doors(sources: &SiteSources<'_>) -> String {
    let axes = sources
        .axes
        .iter()
        .map(|axis| format!("<a href=\"components.html#{0}\">{0}</a>", escape(axis.name())));
    format!(
        "<nav class=\"doors\" aria-label=\"Start\"><a href=\"verdicts.html\">Find verdicts by machine, \
         workload, memory size, engine or design</a> <a href=\"engines.html\">Compare engines</a> <a \
         href=\"systems/index.html\">Claims of published systems</a></nav>\n<nav class=\"axes-list\" \
         aria-label=\"Components\">{}</nav>\n",
        axes.collect::<Vec<_>>().join(" ")
    )
}

/// Returns the questions in the text of the gallery. A question is a paragraph that begins with bold text. The next
/// paragraph can be its chart.
fn questions(gallery: &str) -> Vec<Question<'_>> {
    let inside = gallery.split_once(BEGIN).map_or("", |(_, rest)| rest);
    let inside = inside.split_once(END).map_or(inside, |(inside, _)| inside);
    let paragraphs: Vec<&str> = inside.split("\n\n").map(str::trim).collect();
    let question = |at: usize| {
        let (text, answer) = gallery_question(paragraphs[at])?;
        let chart = paragraphs.get(at + 1).copied().filter(|next| next.starts_with("![")).unwrap_or_default();
        Some(Question { text, answer, chart })
    };
    (0..paragraphs.len()).filter_map(question).collect()
}

/// Splits a paragraph of the gallery into the bold question at its start and the rest.
fn gallery_question(paragraph: &str) -> Option<(&str, &str)> {
    let (question, answer) = paragraph.strip_prefix("**")?.split_once("**")?;
    Some((question, answer.trim()))
}

fn card(sources: &SiteSources<'_>, question: &Question<'_>, charts: &mut Vec<String>) -> String {
    let chart = |link: &str| match target(sources.root, Path::new(GALLERY), link)? {
        chart @ Target::Chart(_) => Some(chart),
        Target::Page(_) => None,
    };
    let answer = Markdown::of(question.answer, &|_| None).html;
    let mut drawn = Markdown::of(question.chart, &chart);
    let figure = match drawn.charts.is_empty() {
        true => String::new(),
        false => format!(
            "<figure>{}</figure>\n",
            drawn.html.trim().trim_start_matches("<p>").trim_end_matches("</p>")
        ),
    };
    charts.append(&mut drawn.charts);
    format!("<section class=\"card\">\n<h3>{}</h3>\n{answer}{figure}</section>\n", escape(question.text))
}

/// Renders a table of the experiments on published systems, which ran with reduced sizes. Each row has the question of
/// an experiment, and its verdicts with the largest differences.
fn explored(kept: &Kept) -> String {
    let mut text = "<h2>Questions of published systems</h2>\n<p class=\"facts\">These experiments repeat the figures of five published \
                    systems at reduced size, so their verdicts hold only for small data. \
                    <a href=\"systems/index.html\">All claims of the systems</a></p>\n<div class=\"scroll\"><table class=\"asked\">\n\
                    <thead><tr><th scope=\"col\">question</th><th scope=\"col\">verdicts</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for explored in kept.explored.iter().filter(|explored| explored.manifest.quick) {
        text += &asked(explored, kept);
    }
    text + "</tbody>\n</table></div>\n"
}

fn asked(explored: &Explored, kept: &Kept) -> String {
    let mut own: Vec<&Evidence> =
        kept.evidence.iter().filter(|evidence| evidence.page == explored.address).collect();
    let is_clear = |evidence: &Evidence| matches!(&*evidence.compared.verdict, "improved" | "regressed");
    let size = |evidence: &Evidence| evidence.compared.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    own.sort_by(|a, b| is_clear(b).cmp(&is_clear(a)).then(size(b).total_cmp(&size(a))));
    let items: String = own.iter().take(MOST_ANSWERS).map(|evidence| answer(evidence)).collect();
    let items = if items.is_empty() { "no comparison".to_owned() } else { format!("<ul>{items}</ul>") };
    format!(
        "<tr><th scope=\"row\"><a href=\"{}\">{}</a></th><td>{items}</td></tr>\n",
        escape(&explored.address),
        escape(&explored.manifest.question)
    )
}

fn answer(evidence: &Evidence) -> String {
    let compared = &evidence.compared;
    let within = match compared.within.as_str() {
        "" => String::new(),
        within => format!(", {within}"),
    };
    format!(
        "<li class=\"{}\">{} against {}: <b>{}</b> {}, {}{}</li>\n",
        escape(&compared.verdict),
        escape(&evidence.candidate()),
        escape(&evidence.baseline()),
        escape(&evidence.change()),
        evidence.verdict(),
        escape(compared.metric),
        escape(&within)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gallery_has_questions_with_charts() {
        let gallery = "x\n<!-- gallery -->\n**Is it?** Yes.\n\n![chart](a.svg)\n\n**Why?** So.\n\n<!-- end of the gallery -->\n**No**\n";
        let found = questions(gallery);
        let of =
            |question: &Question<'_>| format!("{}|{}|{}", question.text, question.answer, question.chart);
        assert_eq!(found.iter().map(of).collect::<Vec<_>>(), ["Is it?|Yes.|![chart](a.svg)", "Why?|So.|"]);
    }
}
