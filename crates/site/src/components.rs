//! The page of components: the variants of each axis, with the comparisons in which they took part.

use std::fmt::Write as _;

use catalog::{Axis, VariantInfo};
use page::escape;

use crate::evidence::Evidence;
use crate::file::SiteFile;
use crate::frame::framed;
use crate::kept::Kept;
use crate::sources::SiteSources;

/// The address of the page.
const PATH: &str = "components.html";

/// The maximum number of comparisons that the page lists for a variant.
const MOST_EVIDENCE: usize = 4;

/// Returns the page of components.
pub(crate) fn page(sources: &SiteSources<'_>, kept: &Kept) -> SiteFile {
    let mut body = "<header>\n<h1>Components</h1>\n<p class=\"facts\">An axis is one part of an LSM-tree with interchangeable \
                    variants. Each variant has the verdicts on the kept results in which it was compared. \
                    <a href=\"docs/results/components.html\">Tables of all variants without a tree</a></p>\n</header>\n\
                    <nav class=\"axes-list\" aria-label=\"Axes\">"
        .to_owned();
    for axis in &sources.axes {
        let _ = write!(body, "<a href=\"#{0}\">{0}</a> ", escape(axis.name()));
    }
    body += "</nav>\n";
    for axis in &sources.axes {
        body += &section(*axis, kept);
    }
    framed(PATH, PATH, "Components", &body)
}

fn section(axis: &dyn Axis, kept: &Kept) -> String {
    let mut text = format!(
        "<section id=\"{0}\">\n<h2><a href=\"docs/reference/variants.html#{0}\">{0}</a></h2>\n<p>{1}</p>\n\
         <div class=\"scroll\"><table class=\"variants\">\n<thead><tr><th scope=\"col\">variant</th><th scope=\"col\">verdicts</th></tr></thead>\n<tbody>\n",
        escape(axis.name()),
        escape(axis.summary()),
    );
    for variant in axis.variants() {
        text += &line(axis.name(), &variant, kept);
    }
    text + "</tbody>\n</table></div>\n</section>\n"
}

fn line(axis: &str, variant: &VariantInfo, kept: &Kept) -> String {
    let own: Vec<&Evidence> =
        kept.evidence.iter().filter(|evidence| is_of(evidence, axis, variant.kind)).collect();
    let items: String = own.iter().take(MOST_EVIDENCE).map(|evidence| item(evidence)).collect();
    let more = match own.len().saturating_sub(MOST_EVIDENCE) {
        0 => String::new(),
        more => {
            format!("<li><a href=\"verdicts.html#words={}\">{more} more</a></li>\n", escape(variant.kind))
        }
    };
    let items = if items.is_empty() { items } else { format!("<ul>\n{items}{more}</ul>") };
    let kind = if variant.kind == "none" { "\"none\"" } else { variant.kind };
    let ideal = if variant.oracle { " <span class=\"badge\">ideal bound</span>" } else { "" };
    format!(
        "<tr><th scope=\"row\"><code>{}</code>{ideal}<small>{}</small></th><td>{items}</td></tr>\n",
        escape(kind),
        escape(variant.summary)
    )
}

/// Returns whether the experiment of a comparison sweeps the axis, and the candidate of the comparison uses the variant
/// `kind`.
fn is_of(evidence: &Evidence, axis: &str, kind: &str) -> bool {
    let is_swept = |path: &String| {
        let mut parts = path.split('.');
        matches!(parts.next(), Some("design" | "component")) && parts.next() == Some(axis)
    };
    evidence.swept.iter().any(is_swept) && names(&evidence.compared.candidate, kind)
}

/// Returns whether a label, such as `blocked(bits_per_key=12) + lru`, contains the variant `kind`.
fn names(label: &str, kind: &str) -> bool {
    label.split(" + ").flat_map(|part| part.split(", ")).any(|part| part.split('(').next() == Some(kind))
}

fn item(evidence: &Evidence) -> String {
    let compared = &evidence.compared;
    format!(
        "<li class=\"{}\"><b>{}</b> {} against {}: {}, phase {} <small>{}{}</small></li>\n",
        escape(&compared.verdict),
        escape(&evidence.change()),
        evidence.verdict(),
        escape(&evidence.baseline()),
        escape(compared.metric),
        escape(&compared.phase),
        evidence.link(""),
        if evidence.is_quick { ", reduced size" } else { "" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_its_variants() {
        assert!(names("blocked(bits_per_key=12) + lru", "blocked"));
        assert!(names("lru, blocked", "lru"));
        assert!(!names("split-block", "block") && !names("blocked", "lru"));
    }
}
