//! Divides configurations into groups that are compared with each other, and finds the configurations that verdicts
//! name.

use std::collections::BTreeSet;

use results::columns::ENGINE;
use results::{Column, Manifest, Row, verdicts as v};
use serde::Serialize;

/// Configurations that are compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Group {
    /// The parameter values that all configurations of the group share, such as `entries = 1000`. Empty if there is
    /// only one group.
    pub(crate) heading: String,
    /// The indexes of the configurations in the manifest.
    pub(crate) cells: Vec<usize>,
    /// The names of the configurations on the page. A name consists of the parts of a label in which the configurations
    /// of the group differ. Empty if there is only one group.
    pub(crate) names: Vec<String>,
    /// The index of the configuration that is the baseline of the group.
    pub(crate) baseline: usize,
}

/// Returns the indexes of the swept parameters that divide the configurations into groups. Only configurations with
/// equal values of these parameters are compared.
///
/// The first verdict names the parameters. Without verdicts, a run that compares engines has one group for each
/// combination of the parameters other than the engine. Any other run has only one group.
pub(crate) fn within(manifest: &Manifest, verdicts: &[Row]) -> Vec<usize> {
    let Some(within) = verdicts.first().map(|row| row.get(&v::WITHIN).to_string()) else {
        let others = manifest.swept.iter().enumerate().filter(|(_, path)| path.as_str() != ENGINE);
        let has_engines = manifest.swept.iter().any(|path| path == ENGINE);
        return others.map(|(place, _)| place).filter(|_| has_engines).collect();
    };
    let titles: Vec<&str> = within.split(", ").filter_map(|part| Some(part.split_once(" = ")?.0)).collect();
    let paths = manifest.swept.iter().enumerate();
    paths.filter(|(_, path)| titles.contains(&title(path).as_str())).map(|(place, _)| place).collect()
}

/// Returns the title of a swept parameter, such as `bloom.bits_per_key`.
pub(crate) fn title(path: &str) -> String {
    Column::Swept(path.to_owned()).title().to_owned()
}

/// Returns the groups of configurations that are compared with each other. All configurations of a group have equal
/// values of the swept parameters `within`. A configuration without such a parameter can belong to several groups.
pub(crate) fn groups(manifest: &Manifest, within: &[usize], verdicts: &[Row]) -> Vec<Group> {
    let value = |cell: usize, at: usize| manifest.cells[cell].swept.get(at).map_or("", String::as_str);
    let mut keys: Vec<Vec<&str>> = Vec::new();
    for cell in 0..manifest.cells.len() {
        let key: Vec<&str> = within.iter().map(|at| value(cell, *at)).collect();
        if key.iter().all(|value| !value.is_empty()) && !keys.contains(&key) {
            keys.push(key);
        }
    }
    if within.is_empty() || keys.is_empty() {
        keys = vec![Vec::new()];
    }
    let group = |key: Vec<&str>| {
        let agrees = |cell: &usize| {
            let values = within.iter().zip(&key).map(|(at, of_key)| (value(*cell, *at), *of_key));
            values.into_iter().all(|(own, of_key)| own.is_empty() || own == of_key)
        };
        let cells: Vec<usize> = (0..manifest.cells.len()).filter(agrees).collect();
        let parts = within.iter().zip(&key);
        let parts: Vec<String> =
            parts.map(|(at, of_key)| format!("{} = {of_key}", title(&manifest.swept[*at]))).collect();
        let heading = parts.join(", ");
        let first = verdicts.iter().find(|row| row.get(&v::WITHIN).to_string() == heading);
        let own = first.and_then(|row| named(manifest, &cells, &row.get(&v::BASELINE).to_string()));
        let baseline = own.or(cells.first().copied()).unwrap_or_default();
        let labels = cells.iter().map(|cell| manifest.cells[*cell].label.as_str());
        let names =
            if heading.is_empty() { Vec::new() } else { differing_parts(&labels.collect::<Vec<_>>()) };
        Group { heading, cells, names, baseline }
    };
    keys.into_iter().map(group).filter(|group| !group.cells.is_empty()).collect()
}

/// The separator between two parts of a configuration's label.
const SEPARATOR: &str = " + ";

/// Returns the labels of configurations without the parts that all labels contain. If a shortened label would be empty,
/// or equal to another label, returns the whole labels.
fn differing_parts(labels: &[&str]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = labels.iter().map(|label| label.split(SEPARATOR).collect()).collect();
    let is_shared = |part: &&str| parts.iter().all(|parts| parts.contains(part));
    let own = |parts: &Vec<&str>| {
        let own: Vec<&str> = parts.iter().copied().filter(|part| !is_shared(part)).collect();
        own.join(SEPARATOR)
    };
    let names: Vec<String> = parts.iter().map(own).collect();
    let distinct: BTreeSet<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    match distinct.len() == labels.len() {
        true => names,
        false => labels.iter().map(ToString::to_string).collect(),
    }
}

/// Returns the configuration among `cells` that a verdict calls `name`. This can be its label, one of its swept values,
/// or a part of its label. Returns `None` if no configuration matches.
pub(crate) fn named(manifest: &Manifest, cells: &[usize], name: &str) -> Option<usize> {
    let find = |is_it: &dyn Fn(&usize) -> bool| cells.iter().find(|cell| is_it(cell)).copied();
    let label = |cell: usize| manifest.cells[cell].label.as_str();
    find(&|cell| label(*cell) == name)
        .or_else(|| find(&|cell| manifest.cells[*cell].swept.iter().any(|value| value == name)))
        .or_else(|| find(&|cell| label(*cell).split([',', '+', ' ']).any(|part| part == name)))
}

#[cfg(test)]
mod tests {
    use results::CellInfo;

    use super::*;

    fn manifest(cells: &[(&str, &[&str])]) -> Manifest {
        let cells = cells.iter().map(|(label, swept)| CellInfo {
            label: (*label).to_owned(),
            swept: swept.iter().map(ToString::to_string).collect(),
            ..CellInfo::default()
        });
        Manifest {
            swept: vec!["component.entries".to_owned(), "design.bloom".to_owned()],
            cells: cells.collect(),
            ..Manifest::default()
        }
    }

    fn verdict(within: &str, baseline: &str) -> Row {
        let mut row = v::row();
        row.set(&v::WITHIN, within).set(&v::BASELINE, baseline);
        row
    }

    #[test]
    fn cells_are_compared_where_they_agree() {
        let manifest = manifest(&[
            ("1 + a", &["1", "a"]),
            ("1 + b", &["1", "b"]),
            ("2 + a", &["2", "a"]),
            ("x", &["", "b"]),
        ]);
        let verdicts = [verdict("entries = 1", "b"), verdict("entries = 2", "a")];
        let within = within(&manifest, &verdicts);
        assert_eq!(within, [0]);
        let groups = groups(&manifest, &within, &verdicts);
        let of = |heading: &str, cells: &[usize], names: &[&str], baseline| Group {
            heading: heading.to_owned(),
            cells: cells.to_vec(),
            names: names.iter().map(ToString::to_string).collect(),
            baseline,
        };
        let expected = [
            of("entries = 1", &[0, 1, 3], &["1 + a", "1 + b", "x"], 1),
            of("entries = 2", &[2, 3], &["2 + a", "x"], 2),
        ];
        assert_eq!(groups, expected);
    }

    #[test]
    fn a_name_has_only_the_parts_that_differ() {
        let labels = ["lsmbench + order=random + threads=1", "rocksdb + order=random + threads=1"];
        assert_eq!(differing_parts(&labels), ["lsmbench", "rocksdb"]);
        // A comma separates the parameters of a part.
        let whole = ["leveled(size_ratio=4, runs=8)", "tiered(size_ratio=4, runs=8)"];
        assert_eq!(differing_parts(&whole), whole);
        assert_eq!(differing_parts(&["a + b", "a"]), ["a + b", "a"]);
        assert_eq!(differing_parts(&["a + b"]), ["a + b"]);
    }

    #[test]
    fn without_verdicts_engines_are_compared_at_equal_values_of_the_workload() {
        let mut manifest = manifest(&[
            ("ours, 1", &["1", "ours"]),
            ("theirs, 1", &["1", "theirs"]),
            ("ours, 2", &["2", "ours"]),
        ]);
        manifest.swept = vec!["phase.load.threads".to_owned(), ENGINE.to_owned()];
        let groups = groups(&manifest, &within(&manifest, &[]), &[]);
        let cells: Vec<&[usize]> = groups.iter().map(|group| &*group.cells).collect();
        assert_eq!(cells, [&[0, 1][..], &[2]]);
    }

    #[test]
    fn without_verdicts_all_are_compared_with_the_first() {
        let manifest = manifest(&[("a", &["1", "a"]), ("b", &["2", "b"])]);
        let groups = groups(&manifest, &within(&manifest, &[]), &[]);
        let whole = Group { heading: String::new(), cells: vec![0, 1], names: Vec::new(), baseline: 0 };
        assert_eq!(groups, [whole]);
    }
}
