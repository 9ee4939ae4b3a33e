//! Charts in the order of the catalogs, with what they leave out on standard error.

use verdict::Charts;

use crate::experiment::catalog_order;
use crate::output::line;

/// Draws charts in the order of the catalogs.
pub(crate) fn charts() -> Charts {
    Charts { order: catalog_order(), tell: line }
}
