//! `lsmbench page` writes one HTML page from results.

use types::Outcome;

use super::plot::found;
use crate::cli::PageArguments;
use crate::live::Live;
use crate::output::print;

/// Writes the page of the results folders and prints the path of the page. With `--live`, serves the page.
pub(crate) fn page(arguments: &PageArguments) -> Outcome<()> {
    let PageArguments { results, out, live } = arguments;
    if let Some(port) = live {
        Live::bind(found(results)?, *port)?.serve();
        return Ok(());
    }
    page::Page::of(&found(results)?)?.write(out)?;
    print(&format!("{}\n", out.display()))
}
