//! The data of a page, in the format that the script of the page reads.

use std::collections::{BTreeMap, BTreeSet};

use measure::{DrawnMedian, FEWEST_BLOCKS, drawn_medians};
use results::{LeftOut, Manifest, Metric, Row, Unit, columns as c, verdicts as v};
use serde::Serialize;
use verdict::{NO_QUICK_VERDICT, VerdictSettings, row_sentences};

use crate::charts_of_cells::{Course, LEVELS, TIMELINE, levels, timelines};
use crate::groups::{Group, groups, named, title, within};
use crate::latencies::{Latencies, QUANTILES, latencies};
use crate::mismatches::{EngineMismatches, mismatches};
use crate::numbers::{AllNumbers, Matrix, Numbers};
use crate::opened::Opened;
use crate::selection::{Selection, judged};

/// The maximum number of configurations that the manifest on a page may contain. If a manifest has more configurations,
/// the page shows the manifest without its configurations.
const MOST_STREAMS: usize = 100;

/// All data that a page shows.
#[derive(Serialize)]
pub(crate) struct PageData {
    pub(crate) criteria: Criteria,
    /// The medians that the bootstrap draws, by number of rounds. With these medians, the script computes the same
    /// confidence intervals as `verdicts.csv`. Each array describes one median: the positions of its two middle values
    /// in the sorted sample, and the number of resamples with this median.
    pub(crate) draws: BTreeMap<usize, Vec<[usize; 3]>>,
    pub(crate) runs: Vec<RunData>,
}

/// The statistical criteria with which the script computes verdicts.
#[derive(Serialize)]
pub(crate) struct Criteria {
    confidence: f64,
    resamples: usize,
    fewest_rounds: usize,
    quantiles: &'static [f64],
}

impl Default for Criteria {
    fn default() -> Self {
        let measure::Criteria { confidence, resamples, .. } = measure::Criteria::default();
        Self { confidence, resamples, fewest_rounds: FEWEST_BLOCKS, quantiles: &QUANTILES }
    }
}

/// The data of one results folder.
#[derive(Serialize)]
pub(crate) struct RunData {
    pub(crate) name: String,
    pub(crate) question: String,
    pub(crate) folder: String,
    pub(crate) is_counted: bool,
    /// The smallest relative difference that counts as a change: 0.02 means 2 %.
    pub(crate) threshold: f64,
    pub(crate) started: String,
    pub(crate) trials: u64,
    /// The verdicts of the run as sentences. A run without verdicts has sentences about the best configuration in each
    /// phase instead.
    pub(crate) conclusions: Vec<String>,
    /// The flame graphs. The page contains them as HTML, so the script does not need them.
    #[serde(skip)]
    pub(crate) flame_graphs: Vec<FlameGraph>,
    pub(crate) warnings: Vec<String>,
    /// The settings of engines that differ from the design, and the reasons to doubt the times of engines. The page
    /// contains them as HTML, so the script does not need them.
    #[serde(skip)]
    pub(crate) mismatches: Vec<EngineMismatches>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) swept: Vec<Swept>,
    /// The indexes of the swept parameters that divide the configurations into groups. Two configurations are compared
    /// only if the values of these parameters are equal.
    pub(crate) within: Vec<usize>,
    pub(crate) phases: Vec<String>,
    pub(crate) operations: Vec<String>,
    pub(crate) metrics: Vec<MetricData>,
    pub(crate) cells: Vec<CellData>,
    pub(crate) groups: Vec<Group>,
    pub(crate) rounds: Vec<u64>,
    /// The machines that measured the run. Empty if only one machine measured the run.
    pub(crate) machines: Vec<MachineData>,
    pub(crate) numbers: Vec<Matrix>,
    pub(crate) noise: Vec<Matrix>,
    pub(crate) verdicts: Vec<VerdictData>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) first: Selection,
    pub(crate) omitted: Vec<&'static str>,
    pub(crate) timeline_columns: Vec<MetricData>,
    pub(crate) timelines: Vec<Course>,
    pub(crate) level_columns: Vec<MetricData>,
    pub(crate) levels: Vec<Course>,
    pub(crate) latencies: Vec<Latencies>,
    pub(crate) manifest: Manifest,
}

/// A flame graph that compares the CPU profiles of two configurations.
pub(crate) struct FlameGraph {
    pub(crate) title: String,
    /// A text that names the functions which cause most of the difference.
    pub(crate) summary: String,
    pub(crate) svg: String,
}

/// A swept parameter: a setting that differs between configurations.
#[derive(Serialize)]
pub(crate) struct Swept {
    pub(crate) path: String,
    pub(crate) title: String,
}

/// One of several machines that together measured a run.
#[derive(Serialize)]
pub(crate) struct MachineData {
    pub(crate) name: String,
    /// The rounds that ran on the machine, as indexes in the list of rounds.
    pub(crate) rounds: Vec<usize>,
}

/// The definition of a column of results, for the script of the page.
#[derive(Clone, Serialize)]
pub(crate) struct MetricData {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: &'static str,
    /// Whether higher or lower values are better: `higher`, `lower` or `neither`.
    pub(crate) better: String,
    pub(crate) definition: &'static str,
}

/// A configuration of a run, as the script of an HTML page reads it.
#[derive(Serialize)]
pub(crate) struct CellData {
    pub(crate) number: u64,
    pub(crate) label: String,
    pub(crate) swept: Vec<String>,
    pub(crate) has_wrong_answers: bool,
}

/// A row of `verdicts.csv`. It contains indexes instead of names, for example of the phase and the metric.
#[derive(Clone, Serialize)]
pub(crate) struct VerdictData {
    pub(crate) group: usize,
    #[serde(flatten)]
    pub(crate) of: Selection,
    pub(crate) baseline: usize,
    pub(crate) candidate: usize,
    pub(crate) verdict: String,
    pub(crate) doubt: String,
    pub(crate) ratio: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) p: Option<f64>,
    pub(crate) trials: u64,
    pub(crate) delta: Option<f64>,
    pub(crate) noise_floor: Option<f64>,
    pub(crate) differs_in: String,
}

/// A note about the values of a configuration in a phase, such as an implausible value.
#[derive(Serialize)]
pub(crate) struct Mark {
    pub(crate) cell: usize,
    pub(crate) phase: usize,
    pub(crate) text: String,
    /// Whether the note excludes the value from verdicts.
    pub(crate) is_doubt: bool,
}

impl MetricData {
    pub(crate) fn of(metric: &'static Metric) -> Self {
        let unit = match metric.unit {
            Unit::Plain => "plain",
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Nanoseconds => "ns",
            Unit::Seconds => "s",
            Unit::OperationsPerSecond => "ops/s",
            Unit::MegabytesPerSecond => "MB/s",
            Unit::Share => "share",
            Unit::Ratio => "ratio",
        };
        let better = metric.better.to_string();
        Self { name: metric.name, title: metric.title, unit, better, definition: metric.definition() }
    }
}

/// Reads the flame graphs of a results folder. Skips graphs whose file is missing.
fn flame_graphs(opened: &Opened) -> Vec<FlameGraph> {
    let label = |number: u64| {
        let place = opened.places.get(&number);
        place.map_or("", |place| opened.manifest.cells[*place].label.as_str())
    };
    let graphs = opened.manifest.flame_graphs.iter();
    let read = graphs.filter_map(|graph| {
        Some(FlameGraph {
            title: format!("Flame graph of {} against {}", label(graph.cell), label(graph.baseline)),
            summary: graph.summary.clone(),
            svg: std::fs::read_to_string(opened.folder.flame_graph(graph.cell, graph.baseline)).ok()?,
        })
    });
    read.collect()
}

impl RunData {
    /// Collects the data of a results folder for the page.
    pub(crate) fn of(opened: &Opened) -> Self {
        let manifest = &opened.manifest;
        let numbers = AllNumbers::of(opened, &judged(opened));
        let within = within(manifest, &opened.verdicts);
        let groups = groups(manifest, &within, &opened.verdicts);
        let verdicts = verdicts(opened, &numbers, &groups);
        let columns = |columns: &'static [Metric]| columns.iter().map(MetricData::of).collect();
        Self {
            name: manifest.experiment.clone(),
            question: manifest.question.clone(),
            folder: opened.folder.root().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            is_counted: manifest.mode == results::RunMode::Counted.name(),
            threshold: VerdictSettings::of(manifest).threshold(),
            started: manifest.started.clone(),
            trials: manifest.trials,
            conclusions: conclusions(opened),
            flame_graphs: flame_graphs(opened),
            warnings: manifest.warnings.clone(),
            mismatches: mismatches(manifest),
            left_out: manifest.left_out.clone(),
            swept: manifest
                .swept
                .iter()
                .map(|path| Swept { path: path.clone(), title: title(path) })
                .collect(),
            marks: marks(opened, &numbers.phases),
            first: Selection::first(opened, &numbers),
            timeline_columns: columns(&TIMELINE),
            timelines: timelines(opened, &numbers.phases),
            level_columns: columns(&LEVELS),
            levels: levels(opened, &numbers.phases),
            latencies: latencies(opened, &numbers.phases, &numbers.rounds),
            cells: cells(opened),
            manifest: shortened(manifest),
            metrics: numbers.metrics.iter().map(|metric| MetricData::of(metric)).collect(),
            omitted: numbers.left_out,
            within,
            phases: numbers.phases,
            operations: numbers.operations,
            groups,
            machines: machines(manifest, &numbers.rounds),
            rounds: numbers.rounds,
            numbers: numbers.matrices,
            noise: numbers.noise,
            verdicts,
        }
    }

    /// Returns the values of a phase, a kind of operation and a metric. Returns `None` if the page has no such values.
    pub(crate) fn matrix(&self, of: Selection) -> Option<&Matrix> {
        find(&self.numbers, of)
    }

    /// Returns the values of the second trials of the baselines (A/A runs) for a phase, a kind of operation and a
    /// metric.
    pub(crate) fn noise_of(&self, of: Selection) -> Option<&Matrix> {
        find(&self.noise, of)
    }
}

fn find(all: &[Matrix], of: Selection) -> Option<&Matrix> {
    let is_it = |matrix: &&Matrix| {
        (matrix.phase, matrix.operation, matrix.metric) == (of.phase, of.operation, of.metric)
    };
    all.iter().find(is_it)
}

/// Returns the machines of a timed run that several machines measured. Returns no machines for any other run.
fn machines(manifest: &Manifest, rounds: &[u64]) -> Vec<MachineData> {
    let is_timed = manifest.mode == results::RunMode::Timed.name();
    let nodes = manifest.nodes.iter().filter(|_| is_timed && manifest.nodes.len() > 1);
    let place = |round: &u64| rounds.binary_search(round).ok();
    nodes
        .map(|node| MachineData {
            name: node.name.clone(),
            rounds: node.rounds.iter().filter_map(place).collect(),
        })
        .collect()
}

/// Returns the verdicts as sentences. The sentences come from the manifest, or from the rows of `verdicts.csv` if the
/// manifest has no sentences. For a run with `--quick`, returns one sentence that explains why the run has no verdicts.
fn conclusions(opened: &Opened) -> Vec<String> {
    if opened.manifest.quick {
        return vec![format!("No verdict: {NO_QUICK_VERDICT}")];
    }
    match opened.manifest.conclusions.is_empty() {
        true => row_sentences(&opened.verdicts),
        false => opened.manifest.conclusions.clone(),
    }
}

fn cells(opened: &Opened) -> Vec<CellData> {
    let cell = |cell: &results::CellInfo| CellData {
        number: cell.cell,
        label: cell.label.clone(),
        swept: cell.swept.clone(),
        has_wrong_answers: opened.wrong.contains(&cell.cell),
    };
    opened.manifest.cells.iter().map(cell).collect()
}

/// Returns the manifest for the page, without its conclusions. If it has more than 100 configurations, they are left
/// out, too.
fn shortened(manifest: &Manifest) -> Manifest {
    let mut manifest = manifest.clone();
    manifest.conclusions.clear();
    if manifest.cells.len() > MOST_STREAMS {
        manifest.cells.clear();
    }
    manifest
}

/// Converts the rows of `verdicts.csv` for the script. Leaves out rows that name unknown configurations.
fn verdicts(opened: &Opened, numbers: &AllNumbers, groups: &[Group]) -> Vec<VerdictData> {
    let place = |names: &[String], name: &str| names.iter().position(|of| of == name);
    let verdict = |row: &Row| {
        let text = |metric| row.get(metric).to_string();
        let number = |metric| row.get(metric).number();
        let group = groups.iter().position(|group| group.heading == text(&v::WITHIN))?;
        let cell = |name| named(&opened.manifest, &groups[group].cells, &text(name));
        let metric = text(&v::METRIC);
        Some(VerdictData {
            group,
            of: Selection {
                phase: place(&numbers.phases, &text(&v::PHASE))?,
                operation: place(&numbers.operations, &text(&v::OPERATION))?,
                metric: numbers.metrics.iter().position(|of| of.name == metric)?,
            },
            baseline: cell(&v::BASELINE)?,
            candidate: cell(&v::CANDIDATE)?,
            verdict: text(&v::VERDICT),
            doubt: text(&v::DOUBT),
            ratio: number(&v::RATIO),
            low: number(&v::RATIO_LOW),
            high: number(&v::RATIO_HIGH),
            p: number(&v::P_VALUE),
            trials: row.get(&v::TRIALS).integer().unwrap_or_default(),
            delta: number(&v::DELTA),
            noise_floor: number(&v::NOISE_FLOOR),
            differs_in: text(&v::DIFFERS_IN),
        })
    };
    opened.verdicts.iter().filter_map(verdict).collect()
}

/// Returns notes about implausible values, and about trials in which the store was not steady, by configuration and
/// phase.
fn marks(opened: &Opened, phases: &[String]) -> Vec<Mark> {
    let mut marks: BTreeMap<(usize, usize, bool), (String, BTreeSet<u64>)> = BTreeMap::new();
    for row in opened.runs.rows() {
        let phase = phases.iter().position(|phase| *phase == row.get(&c::PHASE).to_string());
        let (Some(cell), Some(phase)) = (opened.place_of(row), phase) else { continue };
        let trial = row.get(&c::TRIAL).integer().unwrap_or_default();
        if let Some(words) = row.get(&c::IMPLAUSIBLE).text() {
            let text = || format!("implausible: {words}");
            marks.entry((cell, phase, true)).or_insert_with(|| (text(), BTreeSet::new())).1.insert(trial);
        }
        if row.get(&c::STEADY).to_string() == "false" {
            let text = || format!("the store was not steady ({})", row.get(&c::UNSTEADY));
            marks.entry((cell, phase, false)).or_insert_with(|| (text(), BTreeSet::new())).1.insert(trial);
        }
    }
    let mark = |((cell, phase, is_doubt), (text, trials)): (_, (String, BTreeSet<u64>))| {
        let count = trials.len();
        let trials = if count == 1 { "1 trial".to_owned() } else { format!("{count} trials") };
        Mark { cell, phase, text: format!("{text}, {trials}"), is_doubt }
    };
    marks.into_iter().map(mark).collect()
}

/// Returns the medians that the bootstrap draws, by number of rounds. The keys are the numbers of rounds that
/// comparisons on the page can have. Only rounds in which both configurations have values count, and fewer rounds than
/// a verdict needs are omitted.
pub(crate) fn draws(runs: &[RunData]) -> BTreeMap<usize, Vec<[usize; 3]>> {
    let criteria = measure::Criteria::default();
    let mut counts = BTreeSet::new();
    for run in runs.iter().filter(|run| !run.is_counted) {
        let all = || run.numbers.iter().chain(&run.noise).flat_map(|matrix| &matrix.cells);
        let gaps: BTreeSet<Vec<bool>> = all().map(|numbers| present(numbers, run.rounds.len())).collect();
        let whole: Vec<usize> = (0..run.rounds.len()).collect();
        let views = run.machines.iter().map(|machine| &machine.rounds).chain([&whole]);
        for (view, one) in views.flat_map(|view| gaps.iter().map(move |one| (view, one))) {
            let shared = |other: &Vec<bool>| view.iter().filter(|at| one[**at] && other[**at]).count();
            counts.extend(gaps.iter().map(shared));
        }
    }
    let table = |count: usize| {
        let drawn = drawn_medians(count, &criteria);
        drawn.iter().map(|DrawnMedian { low, high, times }| [*low, *high, *times]).collect()
    };
    counts.into_iter().filter(|count| *count >= FEWEST_BLOCKS).map(|count| (count, table(count))).collect()
}

/// Returns, for each round, whether the round has a value.
fn present(numbers: &Numbers, rounds: usize) -> Vec<bool> {
    match numbers {
        Numbers::None => vec![false; rounds],
        Numbers::All(_) => vec![true; rounds],
        Numbers::Each(numbers) => numbers.iter().map(Option::is_some).collect(),
    }
}
