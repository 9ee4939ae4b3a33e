//! `lsmbench doctor`: what makes times of this machine doubtful, and what to do about it.

use std::fmt::Write as _;
use std::path::Path;

use crate::output::print;
use run::{examine, machine_info};
use types::{Outcome, Problem};

/// Prints what was looked at, for runs whose data lies in `folder`: what is a concern comes with advice.
pub(crate) fn doctor(folder: &Path, as_json: bool) -> Outcome<()> {
    let mut machine = machine_info(folder);
    machine.findings = examine(&machine, folder);
    if as_json {
        let text = serde_json::to_string_pretty(&machine);
        return print(&(text.map_err(|error| Problem::new(error.to_string()))? + "\n"));
    }
    let width = machine.findings.iter().map(|finding| finding.check.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for finding in &machine.findings {
        let mark = match (&finding.value, &finding.advice) {
            (_, Some(_)) => "!",
            (None, None) => "?",
            (Some(_), None) => " ",
        };
        let value = finding.value.as_deref().unwrap_or("the system does not tell");
        let _ = writeln!(text, "{mark} {:<width$}  {value}", finding.check);
        if let Some(advice) = &finding.advice {
            let _ = writeln!(text, "  {:<width$}  {advice}", "");
        }
    }
    let concerns = machine.findings.iter().filter(|finding| finding.advice.is_some()).count();
    let _ = writeln!(
        text,
        "{}",
        match concerns {
            0 => "nothing here disturbs times, as far as can be seen".to_owned(),
            1 => "1 thing disturbs times; counters (trials.mode = \"counted\") are above it".to_owned(),
            count =>
                format!("{count} things disturb times; counters (trials.mode = \"counted\") are above them"),
        }
    );
    print(&text)
}
