//! `lsmbench merge` combines the parts of an experiment in one results folder. Each part was run separately, often on
//! its own machine.

use run::{Ending, PartsMergeOptions};
use types::Outcome;

use crate::build_info::build_info;
use crate::cli::MergeArguments;
use crate::output::CONSOLE;

/// Merges the results of the parts of an experiment in a new results folder, draws its charts, and prints the verdicts.
pub(crate) fn merge(arguments: &MergeArguments) -> Outcome<Ending> {
    let MergeArguments { parts, into, plots, no_page, markdown } = arguments;
    let folder = into.parent().unwrap_or(into);
    let plots = plots.clone().unwrap_or_else(|| match folder == std::path::Path::new("results") {
        true => "plots".into(),
        false => folder.join("charts"),
    });
    let (markdown, build) = (markdown.clone(), build_info());
    let options = PartsMergeOptions { plots, has_page: !no_page, markdown, console: CONSOLE, build };
    run::merge(parts, into, &options)
}
