//! Charts in the order of the catalogs, with what they leave out on standard error.

use experiment::catalog_order;
use verdict::Charts;

use crate::output::line;

/// Draws charts in the order of the catalogs.
pub(crate) fn charts() -> Charts {
    Charts { order: catalog_order(), tell: line }
}
