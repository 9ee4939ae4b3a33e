//! `lsmbench doctor` finds sources of timing noise on this machine, and suggests fixes.

use std::fmt::Write as _;
use std::path::Path;

use crate::output::print;
use run::{examine, machine_info};
use types::{Outcome, Problem};

/// Prints possible sources of timing noise, with advice for each issue. `folder` is the folder for the data of runs.
/// Returns whether no issue was found.
pub(crate) fn doctor(folder: &Path, as_json: bool) -> Outcome<bool> {
    let mut machine = machine_info(folder);
    machine.findings = examine(&machine, folder);
    let concerns = machine.findings.iter().filter(|finding| finding.advice.is_some()).count();
    if as_json {
        let text = serde_json::to_string_pretty(&machine);
        print(&(text.map_err(|error| Problem::new(error.to_string()))? + "\n"))?;
        return Ok(concerns == 0);
    }
    let width = machine.findings.iter().map(|finding| finding.check.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for finding in &machine.findings {
        let mark = match (&finding.value, &finding.advice) {
            (_, Some(_)) => "!",
            (None, None) => "?",
            (Some(_), None) => " ",
        };
        let value = finding.value.as_deref().unwrap_or("unknown");
        let _ = writeln!(text, "{mark} {:<width$}  {value}", finding.check);
        if let Some(advice) = &finding.advice {
            let _ = writeln!(text, "  {:<width$}  {advice}", "");
        }
    }
    let _ = writeln!(
        text,
        "{}",
        match concerns {
            0 => "No source of timing noise found.".to_owned(),
            1 => "1 issue may affect timings (counted mode is not affected).".to_owned(),
            count => format!("{count} issues may affect timings (counted mode is not affected)."),
        }
    );
    print(&text)?;
    Ok(concerns == 0)
}
