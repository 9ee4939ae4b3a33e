//! The column families of a configuration: the families that its phases name, and the families of its design.

use catalog::Limit;
use results::RunMode;
use workload::{Phase, Workload};

use super::cell::Cell;
use super::engine::{engine, engine_label};
use super::wording;

/// The WAL mode that families cannot have: no background thread syncs the shared WAL.
const INTERVAL: &str = "interval";

/// The largest number of families in one tree, because the number of a family is one byte of its keys.
const MOST_PREFIXES: usize = 256;

/// Returns the reason why a configuration cannot run with its column families. Returns `None` if the configuration can
/// run.
pub(super) fn problem(mode: RunMode, cell: &Cell) -> Option<String> {
    let workload = cell.task.workload()?;
    if let Some(reason) = unnamed(workload, cell) {
        return Some(reason);
    }
    let design = &cell.design;
    if !design.has_family_trees() {
        let count = design.families().count();
        return (count > MOST_PREFIXES).then(|| {
            format!("families.layout = \"prefixed\" has at most {MOST_PREFIXES} families, not {count}")
        });
    }
    if !engine(&cell.engine).has_families() {
        return Some(format!(
            "engine \"{}\" has no families of its own in lsmbench; use families.layout = \"prefixed\"",
            engine_label(&cell.engine)
        ));
    }
    if design.choice("wal").kind() == INTERVAL {
        let valid = "use \"buffered\", \"sync\", \"group\" or \"none\"";
        return Some(format!("families cannot have wal = \"{INTERVAL}\"; {valid}"));
    }
    let of_families = design.families().find_map(|name| {
        let family = design.family(name).ok()?;
        let limit = family.limits().into_iter().find(|(.., limit)| *limit == Limit::NotDeterministic);
        limit.map(|(axis, choice, limit)| format!("family {name}: {axis} = {choice} {limit}"))
    });
    of_families.filter(|_| mode == RunMode::Counted).map(|reason| format!("counted mode: {reason}"))
}

/// Returns the reason why the families of a phase are not the families of the design.
fn unnamed(workload: &Workload, cell: &Cell) -> Option<String> {
    let known: Vec<&str> = cell.design.families().collect();
    let mut named = workload.phases.iter().filter(|phase| phase.step().is_none()).flat_map(families_of);
    named.find_map(|(place, family)| match family {
        Some(family) if known.contains(&family) => None,
        None if known.is_empty() => None,
        Some(family) if known.is_empty() => Some(format!(
            "{place} has the family \"{family}\", but the design has no families; set design.families.{family} = {{}}"
        )),
        Some(family) => Some(format!("{place}: {}", wording::unknown("family", family, known.iter().copied()))),
        None => {
            let valid = wording::valid(known.iter().copied());
            Some(format!("{place} names no family, but the design has families; set its family. {valid}"))
        }
    })
}

/// Returns the families of a phase or of its roles, each with the place that names it.
fn families_of(phase: &Phase) -> Vec<(String, Option<&str>)> {
    let roles = phase.roles();
    if roles.is_empty() {
        return vec![(format!("phase \"{}\"", phase.name), phase.family.as_deref())];
    }
    let place = |role: &str| format!("role \"{role}\" of phase \"{}\"", phase.name);
    roles.iter().map(|role| (place(&role.name), role.family.as_deref())).collect()
}
