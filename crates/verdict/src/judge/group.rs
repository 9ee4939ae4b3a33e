//! Groups the configurations that are compared with each other, and finds the baseline of each group.

use std::collections::BTreeSet;

use results::Column;

use crate::facts::{CellFacts, ExperimentFacts};

/// A group of configurations that are compared with each other.
pub(super) struct Group<'a> {
    /// The swept settings that are equal in all configurations of the group: the title of each setting and its value.
    pub(super) common: Vec<(String, String)>,
    pub(super) cells: Vec<&'a CellFacts>,
}

impl<'a> Group<'a> {
    /// Returns the baseline of the group: the configuration that the experiment names. If the experiment names no
    /// baseline, returns the first configuration.
    pub(super) fn baseline(&self, experiment: &ExperimentFacts<'_>) -> Option<&'a CellFacts> {
        let named = experiment.baseline.as_ref();
        let is_named = |cell: &&&CellFacts| named.is_some_and(|name| cell.names.contains(name));
        self.cells.iter().find(is_named).or(self.cells.first()).copied()
    }

    /// Returns the common settings of the group, such as `entries = 1000, threads = 2`, followed by the text `end`.
    /// Returns an empty text if there is only one group.
    pub(super) fn heading(&self, end: &str) -> String {
        let parts: Vec<String> =
            self.common.iter().map(|(path, value)| format!("{path} = {value}")).collect();
        if parts.is_empty() { String::new() } else { parts.join(", ") + end }
    }
}

/// Returns the indexes of the configurations that run twice in every round to measure the noise. Returns no indexes if
/// the experiment does not measure the noise.
pub fn noisy_baselines(experiment: &ExperimentFacts<'_>) -> Vec<usize> {
    if experiment.measures_noise { baselines(experiment) } else { Vec::new() }
}

/// Returns the indexes of the baselines: the configurations with which other configurations are compared.
pub fn baselines(experiment: &ExperimentFacts<'_>) -> Vec<usize> {
    let compared = groups(experiment).into_iter().filter(|group| group.cells.len() > 1);
    let numbers: BTreeSet<u64> =
        compared.filter_map(|group| group.baseline(experiment)).map(|cell| cell.number).collect();
    let places = experiment.cells.iter().enumerate().filter(|(_, cell)| numbers.contains(&cell.number));
    places.map(|(place, _)| place).collect()
}

/// Splits the configurations into groups that are compared. For example, in a sweep of filters and sizes that compares
/// the filters, each size is a group. The field `within` of the experiment names the settings that are equal in a
/// group.
///
/// A setting may not apply to a configuration: the filter `xor` has no bits per key. Such a configuration belongs to
/// every group whose other values are equal.
pub(super) fn groups<'a>(experiment: &'a ExperimentFacts<'_>) -> Vec<Group<'a>> {
    let cells = || experiment.cells.iter();
    let (paths, within) = (&experiment.swept, &experiment.within);
    let key = |cell: &CellFacts| within.iter().map(|at| cell.swept[*at].clone()).collect::<Vec<String>>();
    let mut keys: Vec<Vec<String>> = Vec::new();
    let is_whole = |key: &Vec<String>| key.iter().all(|value| !value.is_empty());
    for key in cells().map(key).filter(is_whole) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    if keys.is_empty() {
        return vec![Group { common: Vec::new(), cells: cells().collect() }];
    }
    let agrees = |cell: &CellFacts, values: &[String]| {
        within.iter().zip(values).all(|(at, value)| cell.swept[*at].is_empty() || cell.swept[*at] == *value)
    };
    let title = |at: &usize| Column::Swept(paths[*at].clone()).title().to_owned();
    keys.into_iter()
        .map(|values| Group {
            cells: cells().filter(|cell| agrees(cell, &values)).collect(),
            common: within.iter().map(title).zip(values).collect(),
        })
        .collect()
}
