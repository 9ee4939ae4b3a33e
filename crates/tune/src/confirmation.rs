//! Executes the confirmation: a run that compares the best design of a search with the designs that it must beat.

use std::path::Path;

use catalog::Choice;
use experiment::{Experiment, Overrides, read_engine};
use results::{Folder, Manifest, Table as Rows, columns as c};
use run::{Ending, RunOptions, run_all};
use toml::{Table, Value};
use tree::Design;
use types::{Outcome, Problem};
use workload::Workload;

use crate::candidate::{Candidate, DesignScore, EngineDesign};
use crate::derived::Derived;
use crate::evaluate::score_of_rows;
use crate::goal::{GoalMetric, Objectives};
use crate::settings::Settings;

/// The results of the confirmation: a run that compares the best design with the designs that it must beat.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// The verdicts of the confirmation run as sentences.
    pub verdicts: Vec<String>,
    /// The label and the score of each design that the confirmation run measured.
    pub designs: Vec<(String, DesignScore)>,
}

/// The inputs of a confirmation run, which compares the best design of a search with other designs. `designs` contains
/// these other designs with their labels, and the first design is the baseline.
pub(crate) struct Rivals<'a> {
    pub(crate) settings: &'a Settings<'a>,
    pub(crate) workload: &'a Workload,
    pub(crate) objectives: &'a Objectives,
    pub(crate) designs: Vec<(String, EngineDesign)>,
}

/// Returns the designs that the best design for the engine `lsmbench` must beat: the default design, and the design
/// that textbook formulas recommend.
pub(crate) fn designs_to_beat(
    experiment: &Experiment,
    engine: &Choice,
    textbook: Option<&(String, Design)>,
) -> Vec<(String, EngineDesign)> {
    let default = ("default".to_owned(), experiment.base_design().clone());
    let all = [default].into_iter().chain(textbook.cloned());
    all.map(|(label, design)| (label, EngineDesign { engine: engine.clone(), design })).collect()
}

/// Returns the configurations that the best configuration of another engine must beat: the first configuration of the
/// sweep, and the engine with the base design and without options of its own.
///
/// # Errors
/// The engine cannot be built without its own options.
pub(crate) fn engines_to_beat(
    experiment: &Experiment,
    engine: &Choice,
    first: &Candidate,
) -> Outcome<Vec<(String, EngineDesign)>> {
    let mut equal = Table::from_iter([("kind".to_owned(), Value::from(engine.kind()))]);
    equal.extend(engine.params().get("library").map(|library| ("library".to_owned(), library.clone())));
    let engine = read_engine(&Value::Table(equal)).map_err(|error| Problem::new(error.to_string()))?;
    let label = format!("{}, equal terms", engine.kind());
    let equal = EngineDesign { engine, design: experiment.base_design().clone() };
    Ok(vec![(first.label.clone(), first.setup.clone()), (label, equal)])
}

impl Rivals<'_> {
    /// Runs the best design `winner` and the designs that it must beat as one experiment. Returns `None` if all of them
    /// are equal, or if the user interrupted the run.
    ///
    /// # Errors
    /// The run fails.
    pub(crate) fn confirm(&self, winner: &Candidate, folder: &Path) -> Outcome<Option<Confirmation>> {
        let (mut labels, mut setups) = (Vec::new(), Vec::new());
        let own = (winner.label.clone(), winner.setup.clone());
        for (label, setup) in self.designs.iter().cloned().chain([own]) {
            if !setups.contains(&setup) {
                labels.push(label);
                setups.push(setup);
            }
        }
        if setups.len() < 2 {
            return Ok(None);
        }
        (self.settings.run.console.line)(&format!("confirmation: {} designs", setups.len()));
        let (experiment, is_timed) = (self.settings.experiment, self.objectives.goal.metric.is_timed());
        let derived = Derived {
            name: "confirmation",
            question: format!("Is the advised design for {} better than the default?", experiment.name),
            setups: &setups,
            trials: Table::from_iter(is_timed.then(|| ("mode".to_owned(), Value::from("timed")))),
            verdict: self.verdict(),
        };
        let file = derived.write(experiment, folder)?;
        let options = RunOptions {
            out: folder.to_owned(),
            plots: folder.join("charts"),
            overrides: Overrides::default(),
            ..self.settings.run.clone()
        };
        if run_all(&[file], &options)? == Ending::Interrupted {
            return Ok(None);
        }
        let results = Folder::new(folder.join("confirmation"));
        let rows = Rows::read(&results.runs())?;
        let scores = setups.iter().enumerate().map(|(cell, setup)| {
            score_of_rows(self.objectives, &setup.design, self.workload, rows.rows(), cell as u64)
        });
        let designs = labels.into_iter().zip(scores).filter_map(|(label, score)| Some((label, score?)));
        let verdicts = Manifest::read(&results.manifest())?.conclusions;
        Ok(Some(Confirmation { verdicts, designs: designs.collect() }))
    }

    /// Returns the table `[verdict]` of the confirmation run. If the objective is not a column of `runs.csv`, the
    /// verdict uses `write_amp` for a phase with writes, and `blocks_per_get` for any other phase.
    fn verdict(&self) -> Table {
        let goal = &self.objectives.goal;
        let phase = self.workload.phases.iter().find(|phase| phase.name == goal.phase);
        let writes = phase.is_some_and(|phase| simulation::rates(phase).writes > 0.0);
        let metric = match goal.metric {
            GoalMetric::Column(metric) => metric.name,
            GoalMetric::Memory | GoalMetric::IoPerOp if writes => c::WRITE_AMP.name,
            GoalMetric::Memory | GoalMetric::IoPerOp => c::BLOCKS_PER_GET.name,
        };
        let mut verdict = Table::new();
        verdict.insert("metric".to_owned(), Value::from(metric));
        verdict.insert("phase".to_owned(), Value::from(goal.phase.clone()));
        if goal.operation != c::ALL {
            verdict.insert("operation".to_owned(), Value::from(goal.operation.clone()));
        }
        verdict
    }
}
