//! `lsmbench page`: writes one HTML page from results.

use types::Outcome;

use super::plot::found;
use crate::cli::PageArguments;
use crate::output::print;

/// Writes the page of results folders, and prints its path.
pub(crate) fn page(arguments: &PageArguments) -> Outcome<()> {
    let PageArguments { results, out } = arguments;
    page::Page::of(&found(results)?)?.write(out)?;
    print(&format!("{}\n", out.display()))
}
