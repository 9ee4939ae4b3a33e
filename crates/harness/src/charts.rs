//! Creates the renderer that draws charts. The renderer sorts the series of a chart by the order of their variants in
//! the catalogs, and prints notes about omitted data to standard error.

use experiment::catalog_order;
use plot::FigureStyle;
use verdict::Charts;

use crate::output::line;

/// Returns the renderer that draws charts in the default style.
pub(crate) fn charts() -> Charts {
    styled(FigureStyle::default())
}

/// Returns the renderer that draws charts in the style `style`. This style overrides the table `[style]` of an
/// experiment.
pub(crate) fn styled(style: FigureStyle) -> Charts {
    Charts { order: catalog_order(), style, tell: line }
}
