//! `lsmbench fixtures`: the stores that trials began from and that are kept, and their removal.

use std::fmt::Write as _;
use std::time::Duration;

use results::Unit;

use crate::cli::FixturesArguments;
use crate::output::{line, print};
use crate::problem::{Outcome, Problem};
use crate::run::{Kept, kept, program_hash, refuse_while_running};

/// Removes fixtures if asked to, and prints those that are there then.
pub(crate) fn fixtures(arguments: &FixturesArguments) -> Outcome<()> {
    let FixturesArguments { results, remove } = arguments;
    let (mut stay, gone) = (kept(results, program_hash()?)?, remove.as_ref());
    if let Some(which) = gone {
        refuse_while_running(results)?;
        let (go, others): (Vec<Kept>, Vec<Kept>) = stay.into_iter().partition(|one| is_meant(which, one));
        if go.is_empty() && !matches!(which.as_str(), ALL | STALE) {
            let names: Vec<&str> = others.iter().map(|one| &*one.hash).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Problem::new(format!(
                "--remove: there is no fixture \"{which}\"; there are {there}; {STALE} means those that no run takes"
            )));
        }
        for one in &go {
            one.remove()?;
            line(&format!("removed {}, {}", one.hash, size(one.bytes)));
        }
        stay = others;
    }
    let mut text = String::new();
    for one in &stay {
        let _ = writeln!(text, "{}  {:>9}  {}", one.hash, size(one.bytes), about(one));
    }
    let all: u64 = stay.iter().map(|one| one.bytes).sum();
    let count = if stay.len() == 1 { "1 fixture".to_owned() } else { format!("{} fixtures", stay.len()) };
    let _ = writeln!(text, "{count} in {}, {} in all", results.display(), size(all));
    print(&text)
}

/// All fixtures.
const ALL: &str = "all";

/// Those that no run of this program takes.
const STALE: &str = "stale";

/// Whether `--remove` means a fixture.
fn is_meant(which: &str, one: &Kept) -> bool {
    match which {
        ALL => true,
        STALE => !one.is_current,
        hash => one.hash == hash,
    }
}

/// How old it is, and who takes it.
fn about(one: &Kept) -> String {
    let Some(built) = &one.built else { return format!("{STALE}: it is not whole") };
    let age = humantime::parse_rfc3339(built).ok().and_then(|built| built.elapsed().ok());
    let age = age.map_or_else(|| format!("built {built}"), |age| format!("{} old", coarse(age)));
    let of = match &one.experiments[..] {
        [] => String::new(),
        names => format!(", of {}", names.join(", ")),
    };
    let stale = if one.is_current { "" } else { ", stale: another build of this program made it" };
    format!("{age}{of}{stale}")
}

/// An age in its largest unit.
fn coarse(age: Duration) -> String {
    let seconds = age.as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let largest = units.into_iter().find(|(unit, _)| seconds >= *unit);
    let (count, name) = largest.map_or((seconds, "second"), |(unit, name)| (seconds / unit, name));
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

fn size(bytes: u64) -> String {
    plot::format_value(bytes as f64, Unit::Bytes)
}
