//! Compares the configurations of a group by one metric, and stores their values and comparisons.

use std::collections::{BTreeMap, BTreeSet};

use measure::{Comparison, Criteria, Noise, Ranked, Sample, compare_counts, compare_exact, rank};
use results::columns::ALL;
use results::{Better, Column, Look, Row, RunMode, Table, Unit, columns as c};
use types::Outcome;

use super::causes::Causes;
use super::chance::{events, is_drawn};
use super::counter::counter;
use super::group::Group;
use super::price::Prices;
use super::resolution::resolution;
use super::steadiness::Steadiness;
use crate::facts::{CellFacts, Contrast, ExperimentFacts};
use crate::trial_rows::TrialRows;

/// Returns the configurations with an implausible row: a row with a value beyond a physical or theoretical bound. The
/// result maps the number of the configuration to a description of the first exceeded bound.
fn implausible_cells(rows: &[&TrialRows<'_>]) -> BTreeMap<u64, String> {
    let mut cells = BTreeMap::new();
    for (row, words) in rows.iter().flat_map(|rows| rows.implausible()) {
        if let Some(cell) = row.get(&c::CELL).integer() {
            cells.entry(cell).or_insert(words);
        }
    }
    cells
}

/// The samples of all configurations of a group for one metric, and their comparisons.
pub(super) struct Judged<'a> {
    pub(super) experiment: &'a ExperimentFacts<'a>,
    pub(super) column: Column,
    pub(super) prices: Prices,
    pub(super) phase: String,
    pub(super) operation: String,
    /// The swept values that all configurations of the group share, as text. Empty if there is only one group.
    pub(super) within: String,
    /// The compared configurations with their samples. The first entry is the baseline.
    pub(super) entries: Vec<Entry<'a>>,
    /// All configurations except the baseline, compared with the baseline, best first.
    pub(super) ranked: Vec<Ranked>,
    /// The noise of the metric, measured as the difference between two trials of the baseline in the same round. `None`
    /// if the baseline did not run twice.
    pub(super) noise: Option<Noise>,
    /// The number of different seeds of the operations.
    pub(super) seeds: usize,
    /// Whether the values are exact counters, so that the comparisons have no confidence intervals. Counters are exact
    /// in `counted` mode if they come from one seed or are equal with every seed.
    pub(super) is_exact: bool,
    /// The relative precision of the rate search that found the values; 0 for values that no rate search found.
    pub(super) resolution: f64,
    /// The number of comparisons for which the p-values are corrected together.
    pub(super) family: usize,
    /// The labels of configurations without a value, although all their answers were right.
    pub(super) unmeasured: Vec<&'a str>,
    /// The labels of configurations with wrong answers, and the numbers of wrong answers. These configurations have no
    /// values.
    pub(super) wrong: Vec<(&'a str, u64)>,
    /// The labels of configurations that dropped data that a later operation requested.
    pub(super) dropping: Vec<&'a str>,
    /// The configurations with implausible values, by number, with a description of the exceeded bound.
    implausible: BTreeMap<u64, String>,
    /// The evaluations of the verdicts during a run with a time budget, oldest first.
    pub(super) looks: Vec<Look>,
}

/// A configuration of a group, with its values and its comparison with the baseline.
pub(super) struct Entry<'a> {
    pub(super) cell: &'a CellFacts,
    /// The settings in which the configuration differs from the baseline. Empty for the baseline.
    pub(super) contrast: Contrast,
    pub(super) sample: Sample,
    /// The costs of the configuration, such as its memory, as medians over trials.
    pub(super) prices: Vec<Option<f64>>,
    /// How many trials of the configuration were steady.
    pub(super) steadiness: Steadiness,
    /// The count from which the value is computed, such as the number of false positives for a false-positive rate. For
    /// a counter, this is the value itself. `None` for all other metrics.
    pub(super) count: Option<f64>,
    /// The counters and waits that may explain a difference of times.
    pub(super) causes: Causes,
    /// The number of independent random events that the value of the configuration counts. `None` if the value does not
    /// depend on random draws, or if the number is unknown.
    events: Option<f64>,
}

/// The rows from which a verdict is computed.
struct Rows<'a> {
    /// Rows of the phase and the kind of operation that the verdict is about.
    judged: TrialRows<'a>,
    /// Rows of the phase of the verdict that cover all operations together.
    whole: TrialRows<'a>,
    /// Rows of the second trials of baselines, for the same phase and kind of operation. A baseline runs twice in a
    /// round to measure the noise.
    again: TrialRows<'a>,
}

impl<'a> Rows<'a> {
    fn of((runs, noise): (&TrialRows<'a>, &TrialRows<'a>), phase: &str, operation: &str) -> Self {
        let of_phase = runs.of_phase(phase);
        let judged = of_phase.of_operation(operation);
        let again = noise.of_phase(phase).of_operation(operation);
        Self { judged, whole: of_phase.of_all_operations(), again }
    }
}

impl<'a> Entry<'a> {
    /// Creates the entry of a configuration. `value` returns the metric of a row. Returns `None` if no trial has a
    /// value.
    fn of(
        cell: &'a CellFacts,
        rows: &Rows<'_>,
        prices: &Prices,
        (column, value): (&Column, impl Fn(&Row) -> Option<f64>),
    ) -> Option<Self> {
        let name = cell.name.as_str();
        let [judged, whole] =
            [&rows.judged, &rows.whole].map(|rows| rows.of_cells(|number| number == cell.number));
        let sample = judged.sample(name, value);
        if sample.blocks.is_empty() {
            return None;
        }
        let price = |at| whole.sample(name, |row| prices.value(at, row)).median();
        let prices = (0..prices.names().len()).map(price).collect();
        let count = counter(column).and_then(|counter| judged.measured(name, counter).median());
        let events =
            sample.median().filter(|_| is_drawn(column)).and_then(|value| events(column, value, &whole));
        let (contrast, steadiness, causes) =
            (Contrast::default(), Steadiness::of(&whole), Causes::of(&whole));
        Some(Self { cell, contrast, sample, prices, steadiness, count, causes, events })
    }
}

impl Entry<'_> {
    /// Returns whether all trials of the configuration have the same value.
    fn is_constant(&self) -> bool {
        let values = &self.sample.blocks;
        values.iter().all(|(_, value)| value.total_cmp(&values[0].1).is_eq())
    }
}

impl<'a> Judged<'a> {
    /// Compares the configurations of a group by one metric. `noise` contains the rows of the second trials of
    /// baselines. A baseline runs twice in a round to measure the noise.
    pub(super) fn new(
        experiment: &'a ExperimentFacts<'a>,
        (runs, noise, looks): (&Table, &Table, &[Look]),
        group: &Group<'a>,
        metric: &str,
        comparisons: usize,
    ) -> Outcome<Self> {
        let prices = Prices::of(experiment, metric);
        let operation = experiment.operation.clone().unwrap_or_else(|| ALL.to_owned());
        let phase = judged_phase(experiment);
        let column = runs.column(metric)?.clone();
        let (all, twice) = (TrialRows::of(runs), TrialRows::of(noise));
        let is_counted = experiment.mode == RunMode::Counted;
        let seeds = all.seeds();
        // Trials with the same seed have equal counts, so only the first of them is used.
        let all = if is_counted { all.filter(|row| is_first_of_seed(row, &seeds)) } else { all };
        let rows = Rows::of((&all, &twice), &phase, &operation);
        let position = runs.schema().find(metric)?;
        let value = move |row: &Row| row.cells()[position].number();
        let wrong: BTreeSet<u64> = &all.wrong_cells() | &twice.wrong_cells();
        let entry = |cell: &'a CellFacts| Entry::of(cell, &rows, &prices, (&column, value));
        let is_right = |cell: &&&CellFacts| !wrong.contains(&cell.number);
        let entries =
            baseline_first(experiment, group, group.cells.iter().filter(is_right).copied().filter_map(entry));
        let is_measured = |cell: &CellFacts| entries.iter().any(|entry| entry.cell.number == cell.number);
        let unmeasured = group.cells.iter().filter(is_right).filter(|cell| !is_measured(cell));
        let unmeasured = unmeasured.map(|cell| cell.label.as_str()).collect();
        let delta = experiment.threshold.unwrap_or(Criteria::default().delta);
        let least = Criteria { delta, ..Criteria::default() };
        let noise = entries.first().and_then(|first| {
            let again = rows.again.of_cells(|number| number == first.cell.number).sample("", value);
            Noise::of(&first.sample, &again, &least, comparisons)
        });
        let resolution = resolution(&column, &phase, &group.cells);
        let delta = least.delta.max(noise.map_or(0.0, |noise| noise.floor)).max(resolution);
        let criteria = Criteria { delta, ..Criteria::default() };
        let is_constant = entries.iter().all(Entry::is_constant);
        let is_exact = is_counted && (seeds.len() < 2 || is_constant);
        let ranked = match is_counted {
            false => rank_timed(&entries, &column, &criteria, looks),
            true if is_exact => rank_exact(&entries, &column, seeds.len(), criteria.delta),
            true => rank_timed(&entries, &column, &Criteria { exact: true, ..criteria }, &[]),
        };
        let of_numbers = |numbers: BTreeSet<u64>| {
            let cells = group.cells.iter().filter(move |cell| numbers.contains(&cell.number));
            cells.map(|cell| (cell.number, cell.label.as_str()))
        };
        let dropping = of_numbers(all.cells_with(&c::DROPPED_ANSWERS)).map(|(_, label)| label).collect();
        let answers =
            |cell| [&all, &twice].map(|rows| rows.of_cells(|number| number == cell).wrong_answers());
        let wrong = of_numbers(wrong).map(|(cell, label)| (label, answers(cell).iter().sum())).collect();
        let within = group.heading("");
        Ok(Self {
            experiment,
            column,
            prices,
            phase,
            operation,
            within,
            entries,
            ranked,
            noise,
            seeds: seeds.len(),
            is_exact,
            resolution,
            family: 0,
            unmeasured,
            wrong,
            dropping,
            implausible: implausible_cells(&[&rows.judged, &rows.whole]),
            looks: looks.to_vec(),
        })
    }

    /// Returns the comparisons of all candidates with the baseline.
    pub(super) fn comparisons(&mut self) -> impl Iterator<Item = &mut Comparison> {
        self.ranked.iter_mut().map(|ranked| &mut ranked.comparison)
    }

    /// Returns the entry of the baseline and the entry of the configuration `name`.
    pub(super) fn both(&self, name: &str) -> Option<(&Entry<'a>, &Entry<'a>)> {
        self.entries.first().zip(self.entries.iter().find(|entry| entry.sample.name == name))
    }

    /// Returns the reason why values of a configuration or of the baseline are implausible. Returns `None` if all
    /// values are plausible. Implausible values have no verdict.
    pub(super) fn implausible(&self, name: &str) -> Option<&str> {
        let (baseline, entry) = self.both(name)?;
        let of = |entry: &Entry<'_>| self.implausible.get(&entry.cell.number).map(String::as_str);
        of(entry).or_else(|| of(baseline))
    }

    /// Returns whether a configuration is comparable with the baseline. For example, a filter with other bits per key
    /// and another false-positive rate than the baseline is not comparable.
    pub(super) fn is_comparable(&self, name: &str) -> bool {
        let both = self.both(name);
        both.is_some_and(|(baseline, entry)| self.prices.are_comparable(&entry.prices, &baseline.prices))
    }

    /// Returns whether the comparison of a candidate gets a verdict. The candidate must be comparable with the
    /// baseline, have plausible values, and not be an ideal bound.
    pub(super) fn has_verdict(&self, name: &str) -> bool {
        !self.is_bound(name) && self.is_comparable(name) && self.implausible(name).is_none()
    }

    /// Returns whether the values are exact only for one seed. Such values depend on the random draws of this seed.
    pub(super) fn is_of_one_seed(&self) -> bool {
        self.is_exact && self.seeds < 2 && is_drawn(&self.column)
    }

    /// Returns whether a configuration is only a bound for the other configurations. Such a configuration has an ideal
    /// variant of a component for which the baseline has an ordinary variant.
    pub(super) fn is_bound(&self, label: &str) -> bool {
        self.both(label).is_some_and(|(_, entry)| entry.contrast.is_oracle)
    }
}

/// Moves the baseline of a group to the front of its entries. Stores in each other entry the settings in which it
/// differs from the baseline.
fn baseline_first<'a>(
    experiment: &ExperimentFacts<'a>,
    group: &Group<'a>,
    entries: impl Iterator<Item = Entry<'a>>,
) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = entries.collect();
    let baseline = group.baseline(experiment).map(|cell| cell.number);
    if let Some(at) = entries.iter().position(|entry| Some(entry.cell.number) == baseline) {
        entries[..=at].rotate_right(1);
    }
    if let Some((baseline, others)) = entries.split_first_mut() {
        for other in others {
            other.contrast = (experiment.contrast)(baseline.cell.number, other.cell.number);
        }
    }
    entries
}

/// Returns whether a row belongs to the first trial with its seed. `seeds` maps a seed to its first trial. Returns true
/// if the seed is unknown.
fn is_first_of_seed(row: &Row, seeds: &BTreeMap<u64, u64>) -> bool {
    let first = row.get(&c::SEED).integer().and_then(|seed| seeds.get(&seed).copied());
    first.is_none() || row.get(&c::TRIAL).integer() == first
}

/// Ranks the candidates by values with noise, which have confidence intervals over trials or over seeds. If the run has
/// a time budget, each candidate is judged at the significance level of its last evaluation during the run.
fn rank_timed(entries: &[Entry<'_>], column: &Column, criteria: &Criteria, looks: &[Look]) -> Vec<Ranked> {
    let Some((baseline, others)) = entries.split_first() else { return Vec::new() };
    let candidates: Vec<Sample> = others.iter().map(|other| other.sample.clone()).collect();
    let level_of = |candidate: &Sample| {
        let rounds = candidate.blocks.len() as u64;
        looks.iter().rev().find(|look| look.rounds <= rounds).map(|look| look.level)
    };
    rank(&baseline.sample, &candidates, column.better(), |candidate| {
        let confidence = level_of(candidate).map_or(criteria.confidence, |level| 1.0 - level);
        Criteria { confidence, ..*criteria }
    })
}

/// Ranks the candidates by exact counters, which are equal in every trial with the same seed. If all trials have one
/// seed and the counter depends on random keys, a difference counts only if chance alone rarely causes it.
fn rank_exact(entries: &[Entry<'_>], column: &Column, seeds: usize, delta: f64) -> Vec<Ranked> {
    let Some((baseline, others)) = entries.split_first() else { return Vec::new() };
    let (better, is_of_one_seed) = (column.better(), seeds < 2 && is_drawn(column));
    let ranked = others.iter().filter_map(|other| {
        let (base, value) = (baseline.sample.median()?, other.sample.median()?);
        let counts = baseline.events.zip(other.events).map(|(base, own)| [base, own]);
        let comparison = match is_of_one_seed {
            true => compare_counts([base, value], counts, column.unit() == Unit::Share, better, delta),
            false => compare_exact(base, value, better, delta),
        };
        Some(Ranked { name: other.sample.name.clone(), comparison })
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    let sign = if better == Better::Higher { -1.0 } else { 1.0 };
    let badness = |ranked: &Ranked| sign * ranked.comparison.ratio.unwrap_or(1.0);
    ranked.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
    ranked
}

/// Names the settings that differ from the baseline: `bloom`, or `2 settings`. For an engine, the text also contains
/// the number of settings that it cannot match: `engine and 3 mismatches`.
pub(super) fn factors(contrast: &Contrast) -> String {
    let differences = &contrast.settings;
    let unequal = match contrast.unequal_terms {
        0 => String::new(),
        1 => " and 1 mismatch".to_owned(),
        terms => format!(" and {terms} mismatches"),
    };
    match differences.len() {
        0 => "nothing".to_owned(),
        1 => format!("{}{unequal}", differences[0]),
        count => format!("{count} settings{unequal}"),
    }
}

/// Returns whether a configuration differs from the baseline in more than one setting. A setting that an engine cannot
/// match counts as a difference.
pub(super) fn is_confounded(contrast: &Contrast) -> bool {
    contrast.settings.len() + contrast.unequal_terms > 1
}

/// Returns the phase that the verdict is about: the phase that the experiment names, else the phase of the first chart,
/// else the default phase.
pub fn judged_phase(experiment: &ExperimentFacts<'_>) -> String {
    let named = experiment.phase.clone();
    named.or_else(|| chart_phase(experiment)).unwrap_or_else(|| default_phase(experiment))
}

/// Returns the names of the metrics that get a verdict, each once. The metric that decides the verdict comes first.
pub(super) fn metrics(experiment: &ExperimentFacts<'_>, runs: &Table) -> Vec<String> {
    let first = experiment.metric.clone().unwrap_or_else(|| default_metric(experiment, runs));
    let mut metrics = vec![first];
    for also in &experiment.also {
        if !metrics.contains(also) {
            metrics.push(also.clone());
        }
    }
    metrics
}

/// Returns the default phase of the verdict: the last phase for a whole store, and a fixed phase for each kind of
/// component.
fn default_phase(experiment: &ExperimentFacts<'_>) -> String {
    experiment.component.map_or_else(|| experiment.last_phase.clone(), |component| component.phase.to_owned())
}

/// Returns the phase that the filter of the first chart selects. Returns `None` if the filter does not select exactly
/// one phase.
fn chart_phase(experiment: &ExperimentFacts<'_>) -> Option<String> {
    let filter = experiment.charts.first()?.filter.get(c::PHASE.name)?;
    match &filter.texts()[..] {
        [phase] => Some(phase.clone()),
        _ => None,
    }
}

/// Returns the default metric of the verdict: the first of these metrics with a value in the phase of the verdict.
///
/// 1. The first `y` column of a chart of which higher or lower values are better.
/// 2. The default metric of the component, the throughput of a timed workload, or the write amplification of a counted
///    workload.
/// 3. The metrics of a fallback list.
fn default_metric(experiment: &ExperimentFacts<'_>, runs: &Table) -> String {
    let schema = runs.schema();
    let is_directed = |y: &&String| {
        let column = schema.find(y).ok().and_then(|position| schema.columns().get(position));
        column.is_some_and(|column| column.better() != Better::Neither)
    };
    let of_chart = experiment.charts.iter().filter_map(|chart| chart.y.as_ref()).find(is_directed);
    let fallback = match (experiment.component, experiment.mode) {
        (Some(component), _) => component.metric.name,
        (None, RunMode::Timed) => c::OPS_PER_SECOND.name,
        (None, RunMode::Counted) => c::WRITE_AMP.name,
    };
    let first = of_chart.map_or(fallback, String::as_str);
    let operation = experiment.operation.as_deref().unwrap_or(ALL);
    let rows = TrialRows::of(runs).of_phase(&judged_phase(experiment)).of_operation(operation);
    let is_measured = |name: &&str| {
        let position = schema.find(name).ok();
        position.is_some_and(|position| rows.iter().any(|row| row.cells()[position].number().is_some()))
    };
    let others = [
        fallback,
        c::OPS_PER_SECOND.name,
        c::WRITE_AMP.name,
        c::BLOCKS_PER_GET.name,
        c::FPR.name,
        c::SPACE_AMP.name,
    ];
    [first].into_iter().chain(others).find(is_measured).unwrap_or(first).to_owned()
}
