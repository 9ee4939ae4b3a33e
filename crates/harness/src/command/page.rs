//! `lsmbench page` writes one HTML page from results and a history.

use page::Page;
use types::Outcome;

use super::plot::found;
use crate::cli::PageArguments;
use crate::live::Live;
use crate::output::print;

/// Writes the page of the results folders and of the history, and prints the path of the page. With `--live`, serves
/// the page.
pub(crate) fn page(arguments: &PageArguments) -> Outcome<()> {
    let PageArguments { results, history, out, live } = arguments;
    if let Some(port) = live {
        Live::bind(found(results)?, *port)?.serve();
        return Ok(());
    }
    let page = Page::of(&found(results)?)?;
    let page = match history {
        Some(store) => page.with_history(store)?,
        None => page,
    };
    page.write(out)?;
    print(&format!("{}\n", out.display()))
}
