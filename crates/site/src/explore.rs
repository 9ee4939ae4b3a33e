//! The interactive pages of a site: one for each machine, one for each experiment whose results the repository
//! contains, and the history.

use page::{Page, escape};
use types::Outcome;

use crate::file::SiteFile;
use crate::frame::{framed, interactive, to_root};
use crate::kept::Kept;
use crate::machine::Machine;

/// The address of the page with the history.
const HISTORY: &str = "history.html";

/// The content of the history page if the repository contains no history.
const NO_HISTORY: &str = "<header>\n<h1>History</h1>\n</header>\n<p>The repository keeps no history yet. \
    <code>lsmbench history results/history.csv --add RESULTS</code> adds the results of a run to the history. A change point needs about \
    nine runs of an experiment.</p>\n";

/// Returns the interactive pages of all machines and of all experiments in `kept`, and the history page.
pub(crate) fn pages(kept: &Kept) -> Outcome<Vec<SiteFile>> {
    let mut files = Vec::new();
    for machine in &kept.machines {
        let path = machine.explore();
        let frame = interactive(&path, "engines.html", &machines(kept, machine, &path), "page.js");
        files.push(SiteFile::new(path, machine.page.html_on_site(&frame)));
    }
    for explored in &kept.explored {
        let frame = interactive(&explored.address, "verdicts.html", "", "page.js");
        files.push(SiteFile::new(explored.address.clone(), explored.page.html_on_site(&frame)));
    }
    files.push(match &kept.history {
        Some(store) => {
            let frame = interactive(HISTORY, HISTORY, "", "history.js");
            SiteFile::new(HISTORY, Page::of(&[])?.with_history(store)?.html_on_site(&frame))
        }
        None => framed(HISTORY, HISTORY, "History", NO_HISTORY),
    });
    Ok(files)
}

/// Returns links from the interactive page of a machine to the interactive pages of all machines. The script adds the
/// current selection to the links, so that another machine shows the same phase and metric.
fn machines(kept: &Kept, here: &Machine, path: &str) -> String {
    let root = to_root(path);
    let link = |machine: &Machine| {
        let current = if machine.name == here.name { " aria-current=\"page\"" } else { "" };
        format!(
            "<a data-keeps-hash href=\"{root}{}\"{current}>{} ({})</a>",
            escape(&machine.explore()),
            escape(&machine.title()),
            escape(&machine.name)
        )
    };
    let links: Vec<String> = kept.machines.iter().map(link).collect();
    format!("<nav class=\"machines\" aria-label=\"Machines\">machine: {}</nav>\n", links.join(" "))
}
