//! Creates the renderer of charts. The order of the series is the order of the catalogs. Notes about omitted data go
//! to standard error.

use experiment::catalog_order;
use plot::FigureStyle;
use verdict::Charts;

use crate::output::line;

/// Returns the renderer of charts with the default style.
pub(crate) fn charts() -> Charts {
    styled(FigureStyle::default())
}

/// Returns the renderer of charts with a style. The given style overrides the style of the experiment.
pub(crate) fn styled(style: FigureStyle) -> Charts {
    Charts { order: catalog_order(), style, tell: line }
}
