//! The values of one metric in successive runs, and the change points of this series.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use measure::{changes, median};
use results::history as h;
use results::{Better, Metric, Row};

/// The seed of the random permutations in the test for change points.
const SEED: u64 = 42;

/// The values of one metric of one configuration in successive runs.
pub struct Series {
    /// The experiment, the label, the phase and the operation of the values, in this order.
    pub place: [String; 4],
    /// The column of `runs.csv` that contains the values.
    pub metric: &'static Metric,
    /// The machine of the runs; empty for counters, because counters are equal on all machines.
    pub machine: String,
    /// The runs that have a value of the metric, oldest first.
    pub runs: Vec<HistoryRun>,
    /// Indexes in `runs` of the first run after each change of the metric's level.
    pub change_points: Vec<usize>,
}

/// The value of the metric in one run.
pub struct HistoryRun {
    /// The time at which the run started.
    pub started: String,
    /// The commit of the program; empty if unknown.
    pub commit: String,
    /// The median over the trials of the run.
    pub value: f64,
}

/// A change of a metric from one level to the next. A level is the median of the runs between two changes.
pub struct Change<'a> {
    /// The first run after the change.
    pub run: &'a HistoryRun,
    /// The median of the runs between the previous change and this change.
    pub before: f64,
    /// The median of the runs after this change, until the next change.
    pub after: f64,
}

/// Splits the entries of a history into series. Each configuration has a separate series, and times of each machine
/// have separate series. Omits columns that this version does not know.
pub fn series(entries: &[Row]) -> Vec<Series> {
    let mut groups: BTreeMap<Vec<String>, Vec<&Row>> = BTreeMap::new();
    let key = [&h::EXPERIMENT, &h::LABEL, &h::PHASE, &h::OPERATION, &h::METRIC, &h::CONFIG_HASH, &h::MACHINE];
    for entry in entries {
        groups
            .entry(key.iter().map(|column| entry.get(column).to_string()).collect())
            .or_default()
            .push(entry);
    }
    groups.into_iter().filter_map(|(key, entries)| Series::of(&key, &entries)).collect()
}

impl Series {
    fn of(key: &[String], entries: &[&Row]) -> Option<Self> {
        let [experiment, label, phase, operation, metric, _, machine] = key else { return None };
        let run = |entry: &&Row| {
            Some(HistoryRun {
                started: entry.get(&h::STARTED).to_string(),
                commit: entry.get(&h::GIT_COMMIT).to_string(),
                value: entry.get(&h::MEDIAN).number()?,
            })
        };
        let runs: Vec<HistoryRun> = entries.iter().filter_map(run).collect();
        let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
        Some(Self {
            place: [experiment, label, phase, operation].map(Clone::clone),
            metric: results::reference::metric(metric)?,
            machine: machine.clone(),
            change_points: changes(&values, SEED),
            runs,
        })
    }

    /// Returns the name of the series, such as `ycsb: leveled, phase a, get`.
    pub fn name(&self) -> String {
        let [experiment, label, phase, operation] = &self.place;
        let mut name = format!("{experiment}: {label}, phase {phase}");
        if operation != results::columns::ALL {
            let _ = write!(name, ", {operation}");
        }
        if !self.machine.is_empty() {
            let _ = write!(name, " on {}", self.machine);
        }
        name
    }

    /// Splits the runs at the changes of the metric's level. Returns the index range of the runs at each level and the
    /// median of their values, oldest level first.
    pub fn levels(&self) -> Vec<(std::ops::Range<usize>, f64)> {
        let starts = [0].into_iter().chain(self.change_points.iter().copied());
        let ends = self.change_points.iter().copied().chain([self.runs.len()]);
        let level = |(start, end): (usize, usize)| {
            let values = self.runs[start..end].iter().map(|run| run.value);
            Some((start..end, median(values)?))
        };
        starts.zip(ends).filter_map(level).collect()
    }

    /// Returns the changes of the series, oldest change first.
    pub fn changes(&self) -> Vec<Change<'_>> {
        let levels = self.levels();
        let change = |pair: &[(std::ops::Range<usize>, f64)]| Change {
            run: &self.runs[pair[1].0.start],
            before: pair[0].1,
            after: pair[1].1,
        };
        levels.windows(2).map(change).collect()
    }
}

impl Change<'_> {
    /// Returns the verdict on this change: `improved` or `regressed`. Returns `changed` if neither higher nor lower
    /// is better.
    pub fn verdict(&self, better: Better) -> &'static str {
        let is_worse = match better {
            Better::Higher => self.after < self.before,
            Better::Lower => self.after > self.before,
            Better::Neither => return "changed",
        };
        if is_worse { "regressed" } else { "improved" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(run: u64, machine: &str, metric: &str, value: f64) -> Row {
        let mut row = h::row();
        row.set(&h::STARTED, format!("2026-01-01T00:00:{run:02}Z")).set(&h::MACHINE, machine);
        row.set(&h::EXPERIMENT, "x").set(&h::LABEL, "a").set(&h::METRIC, metric).set(&h::MEDIAN, value);
        row
    }

    #[test]
    fn machines_and_metrics_are_series_of_their_own_and_changes_are_told() {
        let mut entries = Vec::new();
        for run in 0..20 {
            let rate = if run < 12 { 100.0 } else { 80.0 } + (run % 3) as f64;
            entries.push(entry(run, "one", "ops_per_second", rate));
            entries.push(entry(run, "two", "ops_per_second", 50.0 + (run % 3) as f64));
            entries.push(entry(run, "one", "of_another_version", 1.0));
        }
        let series = series(&entries);
        assert_eq!(series.len(), 2);
        assert_eq!(series[0].change_points, [12]);
        assert!(series[1].change_points.is_empty() && series[1].runs.len() == 20);
        let found = series[0].changes();
        assert_eq!((found[0].before, found[0].after), (101.0, 81.0));
        assert_eq!(found[0].run.started, "2026-01-01T00:00:12Z");
        assert_eq!(found[0].verdict(series[0].metric.better), "regressed");
    }
}
