//! `lsmbench plot`: charts from results alone.

use crate::charts;
use crate::cli::PlotArguments;
use crate::problem::Outcome;

/// Draws the charts of results folders again.
pub(crate) fn plot(arguments: &PlotArguments) -> Outcome<()> {
    for results in &arguments.results {
        for chart in charts::redraw(results, arguments.out.as_deref())? {
            crate::print(&format!("{}\n", chart.display()));
        }
    }
    Ok(())
}
