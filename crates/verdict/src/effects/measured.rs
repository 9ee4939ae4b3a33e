//! The measured values of a sweep, and the effects, rankings and Pareto front that are computed from these values.

use measure::{Criteria, Effect, RankedVariant, Sample, dominated, effects, standings};
use results::columns::ALL;
use results::{Better, Column, Folder, Manifest, Metric, RunMode, Table};
use types::{Outcome, Problem};

use crate::trial_rows::TrialRows;
use crate::verdict_settings::VerdictSettings;

/// The metrics, the phase and the operation that `lsmbench effects` analyzes.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The analyzed metrics. If the list is empty, lsmbench analyzes the metrics of the experiment's verdict.
    pub metrics: Vec<String>,
    /// The analyzed phase. `None` means the phase of the experiment's verdict, or the last phase if the verdict names
    /// no phase.
    pub phase: Option<String>,
    /// The analyzed kind of operation. `None` means the kind of the experiment's verdict, or all kinds together if the
    /// verdict names no kind.
    pub operation: Option<String>,
}

/// The effects, the rankings and the Pareto front of a sweep.
pub struct Effects {
    pub(super) experiment: String,
    pub(super) phase: String,
    pub(super) operation: String,
    pub(super) is_counted: bool,
    /// The smallest relative difference of a metric that counts as a change: 0.02 means 2 %.
    pub(super) threshold: f64,
    /// The labels of the configurations, in the order of the sweep.
    pub(super) labels: Vec<String>,
    pub(super) factors: Vec<Factor>,
    /// The reason why the effects of factors cannot be computed; `None` if the effects can be computed.
    pub(super) hindrance: Option<String>,
    pub(super) metrics: Vec<RankedMetric>,
    /// For each configuration, the index of a configuration that dominates it. `None` for a configuration on the Pareto
    /// front.
    pub(super) dominated: Vec<Option<usize>>,
}

/// A factor: a swept path with at least two values, which are the levels of the factor.
pub(super) struct Factor {
    pub(super) path: String,
    pub(super) levels: Vec<String>,
}

/// A metric with its values, and the effects and the ranking that are computed from these values.
pub(super) struct RankedMetric {
    pub(super) metric: &'static Metric,
    /// The values of the metric in each configuration, by trial.
    pub(super) samples: Vec<Sample>,
    /// The ranking of the configurations, best configuration first.
    pub(super) standings: Vec<RankedVariant>,
    /// The effects of factors and interactions on the metric. Empty if effects cannot be computed, or if no round is
    /// complete. A round is complete if every combination of factor values has a value of the metric above 0.
    pub(super) effects: Vec<Effect>,
    /// The number of complete rounds, in which every combination of factor values has a value above 0.
    pub(super) rounds: usize,
}

impl RankedMetric {
    /// Returns the title of the metric, such as `throughput`.
    pub(super) fn title(&self) -> &'static str {
        self.metric.title
    }
}

impl Effects {
    /// Computes the effects of the results in a folder.
    ///
    /// # Errors
    /// Results that cannot be read, or that were changed after the run; a metric, phase or operation that the results
    /// do not contain; a metric of which neither higher nor lower is better; no metric in `selection`, if the verdict
    /// of the experiment has no metric either; results of a single configuration.
    pub fn of(folder: &Folder, selection: &Selection) -> Outcome<Self> {
        let manifest = Manifest::read(&folder.manifest())?;
        manifest.check_rows(folder)?;
        let table = Table::read(&folder.runs())?;
        let settings = VerdictSettings::of(&manifest);
        let threshold = settings.threshold();
        let last = manifest.phases.last().cloned().unwrap_or_default();
        let phase = selection.phase.clone().or(settings.phase).unwrap_or(last);
        let operation = selection.operation.clone().or(settings.operation).unwrap_or_else(|| ALL.to_owned());
        let metrics = match selection.metrics.is_empty() {
            true => settings.metric.into_iter().chain(settings.also).collect(),
            false => selection.metrics.clone(),
        };
        if metrics.is_empty() {
            return Err(Problem::new(
                "the experiment has no metric for the verdict; name a metric, such as --metric ops_per_second",
            ));
        }
        if manifest.cells.len() < 2 {
            return Err(Problem::at(
                folder.root(),
                None,
                "the effects of factors need a sweep with at least two configurations",
            ));
        }
        let all = TrialRows::of(&table);
        let wrong = all.wrong_cells();
        let rows =
            all.of_cells(|cell| !wrong.contains(&cell)).plausible().of_phase(&phase).of_operation(&operation);
        if rows.iter().next().is_none() {
            let message = format!("no row has phase \"{phase}\" and operation \"{operation}\"");
            return Err(Problem::at(folder.root(), None, message));
        }
        let (factors, places) = factors(&manifest);
        let mut found = Self {
            experiment: manifest.experiment.clone(),
            is_counted: manifest.mode == RunMode::Counted.name(),
            threshold,
            labels: manifest.cells.iter().map(|cell| cell.label.clone()).collect(),
            hindrance: hindrance(&factors, &places),
            factors,
            phase,
            operation,
            metrics: Vec::new(),
            dominated: Vec::new(),
        };
        for name in &metrics {
            let metric = directed(&table, name)?;
            let cells = manifest.cells.iter().map(|cell| {
                let own = rows.of_cells(|number| number == cell.cell);
                own.measured(&cell.label, metric)
            });
            found.add(metric, cells.collect(), &places)?;
        }
        found.dominated = found.dominated_by();
        Ok(found)
    }

    /// Adds a metric with its values, and computes the ranking and the effects. `places` lists the configurations of
    /// all combinations of factor values. Returns an error if no configuration has a value.
    fn add(&mut self, metric: &'static Metric, samples: Vec<Sample>, places: &[usize]) -> Outcome<()> {
        if samples.iter().all(|sample| sample.blocks.is_empty()) {
            let message = format!(
                "no configuration has a value of {metric} in phase \"{phase}\"",
                metric = metric.name,
                phase = self.phase
            );
            return Err(Problem::new(message));
        }
        let criteria = Criteria { delta: self.threshold, exact: self.is_counted, ..Criteria::default() };
        let compared: Vec<Sample> = samples
            .iter()
            .map(|sample| if self.is_counted { twice(sample) } else { sample.clone() })
            .collect();
        let standings = standings(&compared, metric.better, &criteria);
        let rounds = if self.hindrance.is_none() { rounds(&samples, places) } else { Vec::new() };
        let counts: Vec<usize> = self.factors.iter().map(|factor| factor.levels.len()).collect();
        let effects =
            if rounds.is_empty() { Vec::new() } else { effects(&counts, &rounds, criteria.confidence) };
        self.metrics.push(RankedMetric { metric, samples, standings, effects, rounds: rounds.len() });
        Ok(())
    }

    fn dominated_by(&self) -> Vec<Option<usize>> {
        let median = |sample: &Sample| sample.median().unwrap_or(f64::NAN);
        let medians: Vec<(Better, Vec<f64>)> = self
            .metrics
            .iter()
            .map(|of| (of.metric.better, of.samples.iter().map(median).collect()))
            .collect();
        let standings: Vec<Vec<RankedVariant>> = self.metrics.iter().map(|of| of.standings.clone()).collect();
        dominated(&medians, &standings)
    }
}

/// Turns a sample of a single trial into a sample of two equal trials, because the ranking needs at least two trials.
/// This is correct for an exact counter: every trial would give the same value.
fn twice(sample: &Sample) -> Sample {
    match sample.blocks[..] {
        [(_, value)] => Sample::new(&*sample.name, [(0, value), (1, value)]),
        _ => sample.clone(),
    }
}

/// Finds a measured column by its name. Returns an error if neither higher nor lower values of this column are better.
fn directed(table: &Table, name: &str) -> Outcome<&'static Metric> {
    let known = match table.column(name)? {
        Column::Fixed(metric) => results::reference::metric(metric.name),
        Column::Swept(_) => None,
    };
    known.filter(|metric| metric.better != Better::Neither).ok_or_else(|| {
        Problem::new(format!(
            "neither higher nor lower values of {name} are better, so {name} cannot rank configurations"
        ))
    })
}

/// Returns the factors of the sweep, which are the swept paths with at least two values. Also returns the index of the
/// configuration for each combination of values. This list is empty if the sweep lacks or repeats a combination.
fn factors(manifest: &Manifest) -> (Vec<Factor>, Vec<usize>) {
    let values = |at: usize| {
        let mut levels: Vec<String> = Vec::new();
        for cell in &manifest.cells {
            if !levels.contains(&cell.swept[at]) {
                levels.push(cell.swept[at].clone());
            }
        }
        levels
    };
    let all = manifest
        .swept
        .iter()
        .enumerate()
        .map(|(at, path)| (at, Factor { path: path.clone(), levels: values(at) }));
    let (columns, factors): (Vec<usize>, Vec<Factor>) =
        all.filter(|(_, factor)| factor.levels.len() > 1).unzip();
    let place = |swept: &[String]| {
        columns.iter().zip(&factors).fold(0, |place, (at, factor)| {
            let level = factor.levels.iter().position(|level| *level == swept[*at]).unwrap_or(0);
            place * factor.levels.len() + level
        })
    };
    let mut places: Vec<(usize, usize)> =
        manifest.cells.iter().enumerate().map(|(number, cell)| (place(&cell.swept), number)).collect();
    places.sort_unstable();
    let is_whole = places.iter().enumerate().all(|(at, (place, _))| at == *place)
        && places.len() == factors.iter().map(|factor| factor.levels.len()).product::<usize>();
    (factors, if is_whole { places.into_iter().map(|(_, number)| number).collect() } else { Vec::new() })
}

/// Returns the reason why the effects of the factors cannot be computed. Returns `None` if they can be computed.
fn hindrance(factors: &[Factor], places: &[usize]) -> Option<String> {
    let is_apart = |factor: &Factor| factor.levels.iter().any(String::is_empty);
    match factors.iter().find(|factor| is_apart(factor)) {
        Some(factor) => Some(format!("some configurations have no value of {paths}", paths = factor.path)),
        None if places.is_empty() => {
            Some("the sweep does not contain every combination of its values".to_owned())
        }
        None => None,
    }
}

/// Returns the logarithms of the values of all combinations, as one list per complete round. A round is complete if
/// every combination has a value above 0.
fn rounds(samples: &[Sample], places: &[usize]) -> Vec<Vec<f64>> {
    let log = |number: usize, trial: u64| {
        let found = samples[number].blocks.iter().find(|(of, _)| *of == trial);
        found.map(|(_, value)| value.ln()).filter(|log| log.is_finite())
    };
    let Some(first) = places.first() else { return Vec::new() };
    let trials = samples[*first].blocks.iter().map(|(trial, _)| *trial);
    trials.filter_map(|trial| places.iter().map(|number| log(*number, trial)).collect()).collect()
}
