//! Charts in the order of the catalogs, with notes about omitted data on standard error.

use experiment::catalog_order;
use plot::FigureStyle;
use verdict::Charts;

use crate::output::line;

/// Draws charts in the order of the catalogs, in the usual look.
pub(crate) fn charts() -> Charts {
    styled(FigureStyle::default())
}

/// Draws charts in the order of the catalogs, with a style that overrides the experiment's.
pub(crate) fn styled(style: FigureStyle) -> Charts {
    Charts { order: catalog_order(), style, tell: line }
}
