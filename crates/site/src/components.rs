//! The page "Components": the variants of each axis, with the verdicts on the comparisons in which each variant was the
//! candidate.

use std::fmt::Write as _;

use catalog::{Axis, VariantInfo};
use page::escape;
use results::ConfigPath;

use crate::evidence::Evidence;
use crate::file::SiteFile;
use crate::frame::framed;
use crate::kept::Kept;
use crate::sources::SiteSources;

/// The address of the page of components.
const PATH: &str = "components.html";

/// The maximum number of verdicts that the page lists for a variant.
const MOST_EVIDENCE: usize = 4;

/// Returns the page of components: the variants of each axis and the verdicts on them.
pub(crate) fn page(sources: &SiteSources<'_>, kept: &Kept) -> SiteFile {
    let mut body = "<header>\n<h1>Components</h1>\n<p class=\"facts\">An axis is one part of an LSM-tree, \
                    such as the cache, that has several variants. The table of each axis lists the \
                    verdicts on its variants in all results of the repository. <a \
                    href=\"docs/results/components.html\">Measurements of all variants outside of a \
                    tree</a></p>\n</header>\n<nav class=\"axes-list\" aria-label=\"Axes\">"
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
        kept.evidence.iter().filter(|evidence| has_variant(evidence, axis, variant.kind)).collect();
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

/// Returns whether a comparison is about a variant: the experiment sweeps the axis `axis`, and the candidate has the
/// variant `kind` on this axis.
fn has_variant(evidence: &Evidence, axis: &str, kind: &str) -> bool {
    is_of((&evidence.compared.swept, &evidence.compared.candidate), axis, kind)
}

/// Returns whether a candidate has the variant `kind` on the axis `axis`. `swept` contains the swept parameters and
/// their values in the candidate, and `label` is the label of the candidate.
fn is_of((swept, label): (&[(String, String)], &str), axis: &str, kind: &str) -> bool {
    // A swept value or a part of a label, such as `blocked(bits_per_key=12)`.
    let is_kind = |text: &str| text.split('(').next() == Some(kind);
    if let Some((_, value)) = swept.iter().find(|(path, _)| swept_axis(path) == Some((axis, true))) {
        return is_kind(value);
    }
    // If only parameters of the axis are swept, the name of the variant is a part of the label. The part may also be a
    // variant of another axis.
    let is_of_other_axis = swept
        .iter()
        .any(|(path, value)| swept_axis(path).is_some_and(|(_, is_whole)| is_whole) && is_kind(value));
    let is_swept = swept.iter().any(|(path, _)| swept_axis(path).is_some_and(|(of, _)| of == axis));
    is_swept && !is_of_other_axis && label.split(" + ").any(is_kind)
}

/// Returns the axis of a swept parameter, such as `bloom`. The flag is true if the variants of this axis are swept, and
/// false for a parameter such as `design.bloom.bits_per_key`. Returns `None` if the path is not a part of a design.
fn swept_axis(path: &str) -> Option<(&str, bool)> {
    let path = ConfigPath::new(path);
    Some((path.axis()?, matches!(path.below(), [_] | [_, "kind"])))
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
    fn a_candidate_has_a_variant_only_on_its_axis() {
        let has = |swept: &[(&str, &str)], label, axis, kind| {
            let swept: Vec<(String, String)> =
                swept.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
            is_of((&swept, label), axis, kind)
        };
        // Both the cache and the filter can be "none".
        let both =
            [("design.cache", "lru(capacity=32MiB)"), ("design.bloom", "none"), ("phase.read.threads", "1")];
        let label = "lru(capacity=32MiB) + none + threads=1";
        assert!(has(&both, label, "cache", "lru") && has(&both, label, "bloom", "none"));
        assert!(!has(&both, label, "cache", "none") && !has(&both, label, "fence", "none"));
        // If only a parameter is swept, the label has the variant.
        let bits = [("design.allocation", "uniform"), ("design.bloom.bits_per_key", "5")];
        let label = "uniform + double-probe(bits_per_key=5)";
        assert!(has(&bits, label, "bloom", "double-probe") && has(&bits, label, "allocation", "uniform"));
        assert!(!has(&bits, label, "bloom", "uniform") && !has(&bits, label, "bloom", "probe"));
        // A setting that the candidate lacks has no variant.
        assert!(!has(&[("design.cache", "")], "rocksdb", "cache", "none"));
    }
}
