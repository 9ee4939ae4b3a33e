//! `lsmbench compare` compares two folders of results.

use run::append;
use types::Outcome;
use verdict::{ComparisonReport, GateRule, Pairing, ReportFormat, Samples};

use crate::cli::{CompareArguments, GateArguments};
use crate::output::print;

/// Prints the differences between the base results and the new results. Returns `true` if no metric fails the gate,
/// which `--tolerance` and `--fail-on` define.
pub(crate) fn compare(arguments: &CompareArguments) -> Outcome<bool> {
    let base = Samples::read(&arguments.base, &arguments.metric)?;
    let new = Samples::read(&arguments.new, &arguments.metric)?;
    let GateArguments { tolerance, fail_on, markdown } = &arguments.gate;
    let rule = GateRule { tolerance: *tolerance, fail_on: *fail_on };
    let report = ComparisonReport::of(&base, &new, Pairing::Unpaired)?.gated(rule);
    if let Some(file) = markdown {
        append(file, &report.render(ReportFormat::Markdown))?;
    }
    print(&report.render(arguments.format))?;
    Ok(report.is_good())
}
