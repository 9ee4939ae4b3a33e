//! `lsmbench compare`: the differences between two folders of results.

use types::Outcome;
use verdict::{Pairing, Report, Samples};

use crate::cli::CompareArguments;
use crate::output::print;

/// Prints the differences. Returns whether nothing regressed.
pub(crate) fn compare(arguments: &CompareArguments) -> Outcome<bool> {
    let base = Samples::read(&arguments.base, &arguments.metric)?;
    let new = Samples::read(&arguments.new, &arguments.metric)?;
    let report = Report::of(&base, &new, Pairing::Unpaired)?;
    print(&report.render(arguments.format))?;
    Ok(report.is_good())
}
