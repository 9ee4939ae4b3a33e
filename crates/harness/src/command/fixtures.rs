//! `lsmbench fixtures` lists and removes fixtures, which are preloaded stores from which trials start.

use std::fmt::Write as _;
use std::time::Duration;

use results::Unit;
use run::{Kept, kept, lock_all_fixtures, program_identity};

use crate::cli::FixturesArguments;
use crate::output::{line, print};
use types::{Outcome, Problem, valid_names};

/// Removes the fixtures that `--remove` names, and prints the remaining fixtures.
pub(crate) fn fixtures(arguments: &FixturesArguments) -> Outcome<()> {
    let FixturesArguments { results, remove } = arguments;
    // Holds the lock of all fixtures during a removal, because a run could be about to use a fixture.
    let _lock = remove.as_ref().map(|_| lock_all_fixtures(results)).transpose()?;
    let mut stay = kept(results, &program_identity()?)?;
    if let Some(which) = remove {
        let (go, others): (Vec<Kept>, Vec<Kept>) = stay.into_iter().partition(|one| is_meant(which, one));
        if go.is_empty() && !matches!(which.as_str(), ALL | STALE) {
            let hashes = others.iter().map(|one| one.hash.as_str());
            let valid = valid_names([ALL, STALE].into_iter().chain(hashes));
            return Err(Problem::new(format!("--remove: no fixture \"{which}\". {valid}")));
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
    let _ = writeln!(
        text,
        "{count} in {folder}, {bytes} in total",
        folder = results.display(),
        bytes = size(all)
    );
    print(&text)
}

/// The argument of `--remove` that removes all fixtures.
const ALL: &str = "all";

/// The argument of `--remove` that removes stale fixtures. A fixture is stale if this build of lsmbench cannot use it.
const STALE: &str = "stale";

/// Returns whether `which`, the argument of `--remove`, selects the fixture `one`.
fn is_meant(which: &str, one: &Kept) -> bool {
    match which {
        ALL => true,
        STALE => !one.is_current,
        hash => one.hash == hash,
    }
}

/// Returns a description of a fixture: its age, the experiment that built it, and the experiments that use it.
fn about(one: &Kept) -> String {
    let Some(built) = &one.built else {
        let why =
            if one.is_in_work { "not complete; a run is building this fixture" } else { "stale: incomplete" };
        return why.to_owned();
    };
    let age = humantime::parse_rfc3339(built).ok().and_then(|built| built.elapsed().ok());
    let age = age.map_or_else(|| format!("built {built}"), |age| format!("{} old", coarse(age)));
    let made_by = if one.made_by.is_empty() { String::new() } else { format!(", built by {}", one.made_by) };
    let of = match &one.experiments[..] {
        [] => "; no results use this fixture".to_owned(),
        names => format!("; used by {}", names.join(", ")),
    };
    let stale = if one.is_current { "" } else { "; stale, because another build of lsmbench created it" };
    format!("{age}{made_by}{of}{stale}")
}

/// Formats an age in the largest suitable unit.
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
