//! The page with all comparisons. A reader filters the comparisons by machine, workload, memory, and engine or design.

use std::fmt::Write as _;

use page::escape;

use crate::evidence::Evidence;
use crate::file::SiteFile;
use crate::frame::framed;
use crate::kept::Kept;

/// The address of the page with all comparisons.
const PATH: &str = "verdicts.html";

/// The classes of memory sizes, by which a reader can filter: the upper bound of each class in bytes, and its name.
const MEMORY: [(f64, &str); 4] = [
    (1_048_576.0, "up to 1 MiB"),
    (16.0 * 1_048_576.0, "1 MiB to 16 MiB"),
    (256.0 * 1_048_576.0, "16 MiB to 256 MiB"),
    (f64::INFINITY, "above 256 MiB"),
];

/// The headings of the columns in the table of comparisons.
const HEADS: [&str; 8] = [
    "engine or design",
    "compared with",
    "ratio",
    "95 % CI",
    "verdict",
    "metric and phase",
    "reason",
    "experiment and machine",
];

/// Returns the page of all comparisons.
pub(crate) fn page(kept: &Kept) -> SiteFile {
    let mut body = format!(
        "<header>\n<h1>All verdicts</h1>\n<p class=\"facts\">{} comparisons. The ratio is the value of the \
         candidate divided by the value of the baseline: the median over the rounds, with its 95 % \
         confidence interval. The reason names the counters that differ most, or the cause of doubt about \
         the verdict. The memory is the sum of memtables, filters, fence pointers and cache of the \
         candidate.</p>\n</header>\n<div class=\"controls\" id=\"find\"></div>\n<p class=\"status\" \
         role=\"status\" id=\"found\"></p>\n<div class=\"scroll\">\n<table class=\"evidence\" \
         id=\"evidence\">\n<thead><tr>",
        kept.evidence.len(),
    );
    for head in HEADS {
        let _ = write!(body, "<th scope=\"col\">{head}</th>");
    }
    body += "</tr></thead>\n<tbody>\n";
    kept.evidence.iter().for_each(|evidence| body += &line(evidence));
    body += "</tbody>\n</table>\n</div>\n<script src=\"find.js\"></script>\n";
    framed(PATH, PATH, "All verdicts", &body)
}

/// Renders a comparison as a table row. The script of the page filters rows by their attributes.
fn line(evidence: &Evidence) -> String {
    let compared = &evidence.compared;
    let within = match compared.within.as_str() {
        "" => String::new(),
        within => format!("<small>{}</small>", escape(within)),
    };
    let interval = if compared.interval.is_empty() && compared.ratio.is_some() {
        "exact".to_owned()
    } else {
        compared.interval.clone()
    };
    let memory = evidence.memory();
    let memory =
        if memory.is_empty() { memory } else { format!("<small>memory {}</small>", escape(&memory)) };
    format!(
        "<tr class=\"{}\" data-machine=\"{}\" data-experiment=\"{}\" data-phase=\"{}\" data-memory=\"{}\" data-metric=\"{}\">\
         <th scope=\"row\">{}{memory}</th><td class=\"baseline\">{}</td><td class=\"number change\">{}</td>\
         <td class=\"number interval\">{}</td><td class=\"verdict\">{}</td><td>{}<small>{}</small>{within}</td>\
         <td class=\"reason\">{}</td><td>{}<small>{}</small></td></tr>\n",
        escape(&compared.verdict),
        escape(&evidence.machine),
        escape(&evidence.experiment),
        escape(&compared.phase),
        class_of(compared.memory_bytes),
        escape(compared.metric),
        escape(&evidence.candidate()),
        escape(&evidence.baseline()),
        escape(&compared.change),
        escape(&interval),
        evidence.verdict(),
        escape(compared.metric),
        escape(&compared.phase),
        escape(&evidence.reason()),
        evidence.link(""),
        escape(&evidence.machine),
    )
}

/// Returns the name of the memory class for a number of bytes.
fn class_of(memory_bytes: Option<f64>) -> &'static str {
    let Some(bytes) = memory_bytes else { return "not reported" };
    MEMORY.iter().find(|(most, _)| bytes <= *most).map_or("not reported", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_belongs_to_one_class() {
        let classes = [0.0, 1_048_576.0, 2e6, 1e9].map(|bytes| class_of(Some(bytes)));
        assert_eq!(classes, ["up to 1 MiB", "up to 1 MiB", "1 MiB to 16 MiB", "above 256 MiB"]);
        assert_eq!(class_of(None), "not reported");
    }
}
