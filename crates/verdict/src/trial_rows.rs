//! Selects rows of `runs.csv`, and returns the values of their trials as samples.
//!
//! All code that judges results reads the values through this module: verdicts, comparisons, the gate and the tables of
//! engines.

use std::collections::{BTreeMap, BTreeSet};

use measure::Sample;
use results::columns::ALL;
use results::{Metric, Row, Table, columns as c};

/// A selection of rows of `runs.csv`, in the order of the table.
#[derive(Clone, Debug)]
pub struct TrialRows<'a>(Vec<&'a Row>);

/// The identity of a measurement without its trial: the configuration, the phase and the operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowKey {
    /// The number of the configuration.
    pub(crate) cell: u64,
    /// The label of the configuration.
    pub(crate) label: String,
    pub(crate) phase: String,
    pub(crate) operation: String,
}

impl<'a> TrialRows<'a> {
    /// Selects all rows of a table.
    pub fn of(table: &'a Table) -> Self {
        Self(table.rows().iter().collect())
    }

    /// Selects the rows for which `keep` returns true.
    pub(crate) fn filter(&self, keep: impl Fn(&Row) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|row| keep(row)).collect())
    }

    /// Selects the rows of all configurations for whose number `keep` returns true.
    pub(crate) fn of_cells(&self, keep: impl Fn(u64) -> bool) -> Self {
        self.filter(|row| row.get(&c::CELL).integer().is_some_and(&keep))
    }

    /// Selects the rows of a phase.
    pub(crate) fn of_phase(&self, phase: &str) -> Self {
        self.filter(|row| row.get(&c::PHASE).text() == Some(phase))
    }

    /// Selects the rows of one kind of operation, such as `get`.
    pub(crate) fn of_operation(&self, operation: &str) -> Self {
        self.filter(|row| row.get(&c::OPERATION).text() == Some(operation))
    }

    /// Selects the rows that cover all operations together.
    pub(crate) fn of_all_operations(&self) -> Self {
        self.of_operation(ALL)
    }

    /// Selects the plausible rows: rows without a value beyond a physical or theoretical bound.
    pub(crate) fn plausible(&self) -> Self {
        self.filter(|row| row.get(&c::IMPLAUSIBLE).is_empty())
    }

    /// Returns the selected rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a Row> {
        self.0.iter().copied()
    }

    /// Groups the rows by configuration, phase and operation.
    pub(crate) fn by_key(&self) -> BTreeMap<RowKey, Self> {
        let mut groups: BTreeMap<RowKey, Self> = BTreeMap::new();
        for row in self.iter() {
            let Some(cell) = row.get(&c::CELL).integer() else { continue };
            let [label, phase, operation] =
                [&c::LABEL, &c::PHASE, &c::OPERATION].map(|column| row.get(column).to_string());
            let key = RowKey { cell, label, phase, operation };
            groups.entry(key).or_insert_with(|| Self(Vec::new())).0.push(row);
        }
        groups
    }

    /// Maps each seed of the operations to the number of the first trial with this seed.
    pub(crate) fn seeds(&self) -> BTreeMap<u64, u64> {
        let mut seeds = BTreeMap::new();
        for row in self.iter() {
            let both = row.get(&c::SEED).integer().zip(row.get(&c::TRIAL).integer());
            if let Some((seed, trial)) = both {
                let first = seeds.entry(seed).or_insert(trial);
                *first = trial.min(*first);
            }
        }
        seeds
    }

    /// Computes one value per trial, and returns the values as a sample with the name `name`. `value` returns the value
    /// of a row. Trials without a value are left out.
    pub(crate) fn sample(&self, name: &str, value: impl Fn(&Row) -> Option<f64>) -> Sample {
        let trial = |row: &Row| Some((row.get(&c::TRIAL).integer()?, value(row)?));
        Sample::new(name, self.iter().filter_map(trial))
    }

    /// Returns the values of a column by trial, as a sample with the name `name`.
    pub(crate) fn measured(&self, name: &str, metric: &Metric) -> Sample {
        self.sample(name, |row| row.get(metric).number())
    }

    /// Returns the numbers of the configurations that have a value above 0 in the column `counted`, in any row.
    pub(crate) fn cells_with(&self, counted: &Metric) -> BTreeSet<u64> {
        let has_some = |row: &&Row| row.get(counted).integer().is_some_and(|count| count > 0);
        self.iter().filter(has_some).filter_map(|row| row.get(&c::CELL).integer()).collect()
    }

    /// Returns the numbers of the configurations that gave a wrong answer in some trial.
    pub fn wrong_cells(&self) -> BTreeSet<u64> {
        self.cells_with(&c::WRONG_ANSWERS)
    }

    /// Returns the total number of wrong answers in the selected rows.
    pub(crate) fn wrong_answers(&self) -> u64 {
        let counts =
            |rows: &Self| rows.iter().filter_map(|row| row.get(&c::WRONG_ANSWERS).integer()).sum::<u64>();
        counts(&self.of_all_operations()).max(counts(self).min(1))
    }

    /// Returns the rows with an implausible value, each with a description of the exceeded physical or theoretical
    /// bound.
    pub(crate) fn implausible(&self) -> impl Iterator<Item = (&'a Row, String)> {
        let marked = |row: &'a Row| row.get(&c::IMPLAUSIBLE).text().map(|words| (row, words.to_owned()));
        self.iter().filter_map(marked)
    }
}

#[cfg(test)]
mod tests {
    use results::Schema;

    use super::*;

    #[test]
    fn a_sample_has_a_value_of_every_trial_that_measured_one() {
        let schema = Schema::runs::<&str>(&[]).unwrap();
        let row = |cell: u64, trial: u64, operation: &str, ops: Option<u64>| {
            let mut row = Row::new(&schema);
            row.set(&c::CELL, cell).set(&c::LABEL, "x").set(&c::TRIAL, trial).set(&c::PHASE, "load");
            row.set(&c::OPERATION, operation).set(&c::OPS, ops);
            row
        };
        let mut rows = vec![
            row(0, 0, "all", Some(5)),
            row(0, 1, "all", None),
            row(0, 2, "all", Some(7)),
            row(0, 0, "put", Some(5)),
            row(1, 0, "all", Some(9)),
        ];
        rows[4].set(&c::IMPLAUSIBLE, "too much").set(&c::WRONG_ANSWERS, 1_u64);
        let table = Table::new(schema, rows);
        let all = TrialRows::of(&table);
        let own = all.of_cells(|cell| cell == 0).of_phase("load").of_all_operations();
        assert_eq!(own.measured("a", &c::OPS), Sample::new("a", [(0, 5.0), (2, 7.0)]));
        assert!(all.of_phase("look").measured("a", &c::OPS).blocks.is_empty());
        assert_eq!(all.wrong_cells(), BTreeSet::from([1]));
        assert_eq!(all.plausible().of_all_operations().iter().count(), 3);
        assert_eq!(all.implausible().map(|(_, words)| words).collect::<Vec<_>>(), ["too much"]);
        let keys: Vec<_> =
            all.by_key().into_iter().map(|(key, rows)| (key.cell, key.operation, rows.0.len())).collect();
        assert_eq!(keys, [(0, "all".to_owned(), 3), (0, "put".to_owned(), 1), (1, "all".to_owned(), 1)]);
    }
}
