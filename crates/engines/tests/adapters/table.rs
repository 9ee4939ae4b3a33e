//! The table in docs/reference/engines.md: the invariants that each engine keeps, and the date of the check.

use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use lsmbench_engines::conformance;

use crate::checks::Report;

/// The lines before and after the table on the page.
const START: &str = "<!-- what the suite found; LSMBENCH_REWRITE=1 writes it again -->\n";
const END: &str = "<!-- end of what the suite found -->\n";

/// Rewrites the table.
pub(crate) fn write(reports: &[Report]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/engines.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(START).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    std::fs::write(&page, format!("{before}{START}{}{END}{after}", table(reports))).unwrap();
    println!("docs/reference/engines.md is written");
}

fn table(reports: &[Report]) -> String {
    let today = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let names: Vec<_> = conformance::names().collect();
    let mut text = format!("On {}, on {}:\n\n", &today[..10], std::env::consts::ARCH);
    let _ = writeln!(text, "| engine | version | comes from | {} | flagged |", names.join(" | "));
    let _ = writeln!(text, "|---|---|---|{}---|", "---|".repeat(names.len()));
    // The page is about other engines. The tree of lsmbench is the baseline of the comparison.
    for report in reports.iter().filter(|report| report.label != "lsmbench") {
        let library = report.identity.library.as_ref().and_then(|path| path.file_name());
        let from = library
            .map_or_else(|| "built in".to_owned(), |library| format!("`{}`", library.to_string_lossy()));
        let _ = write!(text, "| `{}` | {} | {from} |", report.label, report.version);
        for name in &names {
            let is_kept = report.kept.iter().any(|kept| kept == name);
            let _ = write!(text, " {} |", if is_kept { "kept" } else { "–" });
        }
        let lacks = report.without.iter().map(|what| format!("built without {what}"));
        let doubts = report
            .identity
            .doubts
            .iter()
            .map(|doubt| doubt.split_once(':').map_or(doubt.as_str(), |(what, _)| what).to_owned());
        let flagged: Vec<String> = lacks.chain(doubts).collect();
        let _ = writeln!(text, " {} |", if flagged.is_empty() { "–".to_owned() } else { flagged.join("; ") });
    }
    text
}
