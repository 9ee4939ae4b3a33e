//! `lsmbench plot`: charts from results alone.

use types::Outcome;

use crate::charts::charts;
use crate::cli::PlotArguments;
use crate::output::{line, print};

/// Draws the charts of results folders again.
pub(crate) fn plot(arguments: &PlotArguments) -> Outcome<()> {
    for results in &arguments.results {
        let drawn = charts().redraw(results, arguments.out.as_deref())?;
        if drawn.is_empty() {
            line(&format!(
                "{}: nothing to draw; charts are asked for by [[chart]] in the experiment",
                results.display()
            ));
        }
        for chart in drawn {
            print(&format!("{}\n", chart.display()))?;
        }
    }
    Ok(())
}
