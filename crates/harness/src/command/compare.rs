//! `lsmbench compare`: what got better and worse from one folder of results to another.

use crate::cli::CompareArguments;
use crate::compare::{Pairing, Report, Samples};
use crate::output::print;
use types::Outcome;

/// Prints what differs; whether nothing got worse.
pub(crate) fn compare(arguments: &CompareArguments) -> Outcome<bool> {
    let base = Samples::read(&arguments.base, &arguments.metric)?;
    let new = Samples::read(&arguments.new, &arguments.metric)?;
    let report = Report::of(&base, &new, Pairing::Unpaired)?;
    print(&report.render(arguments.format))?;
    Ok(report.is_good())
}
