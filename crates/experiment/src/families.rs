//! The column families of a configuration: the families in its phases, and the families in its design.

use catalog::Limit;
use results::RunMode;
use toml::{Table, Value};
use tree::{Design, MergeOperator, family_of_path};
use types::valid_names;
use workload::{Kind, Phase, Work, Workload};

use super::cell::Cell;
use super::engine::{engine, engine_label};
use super::wording;

/// The WAL mode that a design with column families cannot have. In this mode, a background thread syncs the WAL, but no
/// such thread exists for the WAL that the families share.
const INTERVAL: &str = "interval";

/// The key of a design that contains the table of column families.
const FAMILIES: &str = "families";

/// The largest number of column families with `families.layout = "prefixed"`. In this layout, all families share one
/// tree, and the first byte of a key is the number of its family.
const MOST_PREFIXES: usize = 256;

/// The names of the column families whose values a sweep or an override may change.
pub(super) struct Families<'a>(Vec<&'a str>);

impl<'a> Families<'a> {
    /// Collects the column families that exist in the design and the overrides. If no family exists, overrides may
    /// define families by whole tables, as `design.families.index = {}` does. `sets` has the path and the value of each
    /// override below `design`.
    pub(super) fn of(
        existing: impl Iterator<Item = &'a str>,
        sets: impl Iterator<Item = (&'a [&'a str], &'a Value)>,
    ) -> Self {
        let mut names: Vec<&str> = existing.collect();
        if names.is_empty() {
            for (path, value) in sets {
                match path {
                    [FAMILIES] => names.extend(names_in(value)),
                    [FAMILIES, name] if value.is_table() => names.extend(family_of_path(&[FAMILIES, name])),
                    _ => {}
                }
            }
        }
        Self(names)
    }

    /// Checks that a path below `design`, or a table at this path, names only column families that exist.
    pub(super) fn check(&self, path: &[&str], value: &Value) -> Result<(), String> {
        let in_table = if path == [FAMILIES] { names_in(value).collect() } else { Vec::new() };
        let mut named = family_of_path(path).into_iter().chain(in_table);
        match named.find(|name| !self.0.contains(name)) {
            None => Ok(()),
            Some(name) if self.0.is_empty() => Err(format!(
                "the design has no families; define the family first, as in design.families.{name} = {{}}"
            )),
            Some(name) => Err(wording::unknown("family", name, self.0.iter().copied())),
        }
    }
}

/// Returns the names of the column families in the value of the key `families`.
fn names_in(families: &Value) -> impl Iterator<Item = &str> {
    let keys = families.as_table().into_iter().flat_map(Table::keys).map(String::as_str);
    keys.filter(|key| family_of_path(&[FAMILIES, key]).is_some())
}

/// Returns the reason why a configuration cannot run with its column families: a setting is impossible, or the families
/// of the design and of the workload do not match. Returns `None` if the configuration can run.
pub(super) fn problem(mode: RunMode, cell: &Cell) -> Option<String> {
    let workload = cell.task.workload()?;
    if let Some(reason) = unnamed(workload, cell) {
        return Some(reason);
    }
    let design = &cell.design;
    if !design.has_family_trees() {
        let count = design.families().count();
        return (count > MOST_PREFIXES).then(|| {
            format!(
                "families.layout = \"prefixed\" supports at most {MOST_PREFIXES} families, but the design \
                 has {count}"
            )
        });
    }
    if !engine(&cell.engine).has_families() {
        return Some(format!(
            "lsmbench does not support families of engine \"{}\"; use families.layout = \"prefixed\"",
            engine_label(&cell.engine)
        ));
    }
    if design.choice("wal").kind() == INTERVAL {
        let valid = "use \"buffered\", \"sync\", \"group\" or \"none\"";
        return Some(format!("a design with families cannot have wal = \"{INTERVAL}\"; {valid}"));
    }
    let of_families = design.families().find_map(|name| {
        let family = design.family(name).ok()?;
        let limit = family.limits().into_iter().find(|(.., limit)| *limit == Limit::NotDeterministic);
        limit.map(|(axis, choice, limit)| format!("family {name}: {axis} = {choice} {limit}"))
    });
    of_families.filter(|_| mode == RunMode::Counted).map(|reason| format!("counted mode: {reason}"))
}

/// Returns the reason why the tree cannot execute the merges of a phase. The column family of the phase has no merge
/// operator, or it shares a tree with another operator because of `families.layout = "prefixed"`. Returns `None` if all
/// merges are possible.
pub(super) fn lacking_operator(phases: &[Phase], design: &Design) -> Option<String> {
    let has_merges = |phase: &&Phase| match &phase.work {
        Work::Mixed(mixed) => mixed.has(Kind::Merge),
        Work::Roles(_) => true,
        _ => false,
    };
    let of_roles =
        |phase: &Phase, place: usize| phase.roles().get(place).is_none_or(|role| role.mixed.has(Kind::Merge));
    let merging = phases.iter().filter(has_merges).flat_map(|phase| {
        families_of(phase).into_iter().enumerate().filter(move |(place, _)| of_roles(phase, *place))
    });
    let valid = valid_names(MergeOperator::ALL.map(MergeOperator::name));
    let of_store = design.options.merge_operator;
    merging.into_iter().find_map(|(_, (place, family))| {
        let own = family.and_then(|name| Some((name, design.family(name).ok()?.options.merge_operator)));
        match own {
            Some((name, own)) if own != of_store && !design.has_family_trees() => Some(format!(
                "{place} has merges, but with families.layout = \"prefixed\", all families have the merge operator of \
                 the store; remove design.families.{name}.merge_operator, and set design.merge_operator"
            )),
            Some((name, None)) => Some(format!(
                "{place} has merges, but the family \"{name}\" has no merge operator; set \
                 design.families.{name}.merge_operator. {valid}"
            )),
            None if of_store.is_none() => Some(format!(
                "{place} has merges, but the design has no merge operator; set design.merge_operator. {valid}"
            )),
            _ => None,
        }
    })
}

/// Returns the reason why the column families in the phases and in the design do not match. Returns `None` if they
/// match.
fn unnamed(workload: &Workload, cell: &Cell) -> Option<String> {
    let known: Vec<&str> = cell.design.families().collect();
    let named: Vec<_> =
        workload.phases.iter().filter(|phase| phase.step().is_none()).flat_map(families_of).collect();
    let unused = || {
        let name = known.iter().find(|name| named.iter().all(|(_, family)| *family != Some(**name)))?;
        Some(format!(
            "no phase uses the family \"{name}\" of the design; set family = \"{name}\" in a phase, or \
             remove design.families.{name}"
        ))
    };
    let wrong = named.iter().find_map(|(place, family)| match *family {
        Some(family) if known.contains(&family) => None,
        None if known.is_empty() => None,
        Some(family) if known.is_empty() => Some(format!(
            "{place} uses the family \"{family}\", but the design has no families; set design.families.{family} = {{}}"
        )),
        Some(family) => Some(format!("{place}: {}", wording::unknown("family", family, known.iter().copied()))),
        None => {
            let valid = wording::valid(known.iter().copied());
            Some(format!("{place} sets no family, but the design has families; set its key \"family\". {valid}"))
        }
    });
    wrong.or_else(unused)
}

/// Returns the column families that a phase and its roles use. Each family comes with a description of its phase or
/// role for error messages. The family is `None` if the key `family` is missing.
fn families_of(phase: &Phase) -> Vec<(String, Option<&str>)> {
    let roles = phase.roles();
    if roles.is_empty() {
        return vec![(format!("phase \"{}\"", phase.name), phase.family.as_deref())];
    }
    let place = |role: &str| format!("role \"{role}\" of phase \"{}\"", phase.name);
    roles.iter().map(|role| (place(&role.name), role.family.as_deref())).collect()
}
