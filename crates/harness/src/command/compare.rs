//! `lsmbench compare`: what got better and worse from one folder of results to another.

use types::Outcome;
use verdict::{Pairing, Report, Samples};

use crate::cli::CompareArguments;
use crate::output::print;

/// Prints what differs; whether nothing got worse.
pub(crate) fn compare(arguments: &CompareArguments) -> Outcome<bool> {
    let base = Samples::read(&arguments.base, &arguments.metric)?;
    let new = Samples::read(&arguments.new, &arguments.metric)?;
    let report = Report::of(&base, &new, Pairing::Unpaired)?;
    print(&report.render(arguments.format))?;
    Ok(report.is_good())
}
