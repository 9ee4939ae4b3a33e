//! Creates the renderer of charts. The series of a chart have the order of the variants in the catalogs. Notes about
//! omitted data go to standard error.

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
