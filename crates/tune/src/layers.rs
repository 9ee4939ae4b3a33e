//! The layers of the search. A layer is one way to evaluate designs, from the cheapest way (theory) to the most
//! expensive way (timed runs).

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use experiment::{Experiment, Overrides, TuneSpec, engine};
use results::{Folder, Metric, Row, Table as Rows, columns as c};
use run::{Ending, RunOptions, interrupt, run_all};
use simulation::{Costs, PhaseRow, Picture, Simulation, simulate};
use toml::{Table, Value};
use tree::Design;
use types::{Outcome, Problem};
use workload::{Workload, WorkloadPlan};

use crate::advice::Advice;
use crate::candidate::{Candidate, Layer, ranked, survivors};
use crate::closed_forms;
use crate::derived::Derived;
use crate::evaluate::score;
use crate::goal::{GoalMetric, Objectives};
use crate::textbook::textbook;

/// The number of trials in each round of the race. The race measures the best designs. After each round, the better
/// half of the designs continues.
const RACE_TRIALS: u64 = 2;

/// The axes that do not change the bytes or the costs of a single SSTable.
const OUTSIDE_OF_TABLES: [&str; 6] = ["compaction", "memtable", "cache", "wal", "storage", "allocation"];

/// The settings of a search for the best design.
pub struct Settings<'a> {
    /// The experiment. The configurations of its sweep are the candidates of the search.
    pub experiment: &'a Experiment,
    /// The table `[tune]` of the experiment.
    pub spec: &'a TuneSpec,
    /// The device class that the simulation uses.
    pub device: &'a str,
    /// The options of the runs. The results of the runs are stored below `out`.
    pub run: RunOptions,
}

/// The state of a search.
struct Search<'a> {
    settings: &'a Settings<'a>,
    workload: &'a Workload,
    objectives: Objectives,
    candidates: Vec<Candidate>,
    /// The sampled costs of each design. The key is the design without its compaction policy and memtable.
    costs: HashMap<String, Costs>,
    /// The duration of each layer.
    times: Vec<(&'static str, Duration)>,
    folder: PathBuf,
}

/// Searches the designs of an experiment. An interrupt ends the search with the best design so far.
///
/// # Errors
/// An unknown objective; an experiment without a workload of the tree; a run that fails.
pub fn tune(settings: &Settings<'_>) -> Outcome<Advice> {
    let experiment = settings.experiment;
    let objectives = Objectives::read(experiment, settings.spec)?;
    let workload = experiment.task.workload().ok_or_else(|| {
        Problem::at(&experiment.file, None, "tune needs a workload, but this is a component experiment")
    })?;
    if experiment.cells.iter().any(|cell| !engine(&cell.engine).reads_whole_design()) {
        return Err(Problem::at(&experiment.file, None, "tune searches only designs of engine \"lsmbench\""));
    }
    if experiment.cells.iter().any(|cell| !cell.design.keeps_values_inline()) {
        let message =
            "tune has no model of blob files; set design.values = \"inline\", or use `lsmbench run`";
        return Err(Problem::at(&experiment.file, None, message));
    }
    if experiment.cells.iter().any(|cell| cell.design.moves_memory()) {
        let message = "tune has no model of an arbiter that moves memory; set design.arbiter = \"static\", or use \
                       `lsmbench run`";
        return Err(Problem::at(&experiment.file, None, message));
    }
    let candidates =
        experiment.cells.iter().map(|cell| Candidate::new(cell.label.clone(), cell.design.clone())).collect();
    let folder = settings.run.out.join(format!("{}-tune", experiment.name));
    let (costs, times) = (HashMap::new(), Vec::new());
    let mut search = Search { settings, workload, objectives, candidates, costs, times, folder };
    let layer = search.layers()?;
    search.conclude(layer)
}

impl Search<'_> {
    /// Runs all layers that the objective needs, and returns the last layer that finished.
    fn layers(&mut self) -> Outcome<Layer> {
        let say = self.settings.run.console.line;
        let spec = self.settings.spec;
        let begun = Instant::now();
        say(&format!("theory: {} designs", self.candidates.len()));
        self.theory()?;
        self.times.push((Layer::Theory.name(), begun.elapsed()));
        if interrupt::is_requested() {
            return Ok(Layer::Theory);
        }
        let begun = Instant::now();
        let chosen = survivors(&self.candidates, Layer::Theory, spec.simulate as usize);
        say(&format!("simulation: the best {}", chosen.len()));
        self.simulated(&chosen)?;
        self.times.push((Layer::Simulated.name(), begun.elapsed()));
        if interrupt::is_requested() || spec.count == 0 {
            return Ok(Layer::Simulated);
        }
        let begun = Instant::now();
        let chosen = survivors(&self.candidates, Layer::Simulated, spec.count as usize);
        say(&format!("counted runs: the best {}", chosen.len()));
        let is_done = self.counted(&chosen)?;
        self.times.push((Layer::Counted.name(), begun.elapsed()));
        if !is_done {
            return Ok(Layer::Simulated);
        }
        if spec.measure == 0 || !self.objectives.goal.metric.is_timed() {
            return Ok(Layer::Counted);
        }
        let begun = Instant::now();
        let is_done = self.race(spec.measure as usize)?;
        self.times.push((Layer::Measured.name(), begun.elapsed()));
        Ok(if is_done { Layer::Measured } else { Layer::Counted })
    }

    /// Returns the objective for the layers that measure no time. These layers use the device time instead of a
    /// measured time.
    fn untimed(&self) -> Objectives {
        let mut objectives = self.objectives.clone();
        if objectives.goal.metric.is_timed() {
            objectives.goal.metric = GoalMetric::Column(&c::DEVICE_NS_PER_OP);
            c::ALL.clone_into(&mut objectives.goal.operation);
            objectives.is_maximised = false;
        }
        objectives
    }

    fn set(&mut self, at: usize, layer: Layer, objectives: &Objectives, phases: &[PhaseRow]) {
        let value = |phase: &str, operation: &str, metric: &Metric| {
            let row = &phases.iter().find(|row| row.phase == phase)?.row;
            // The simulated rows are those of all operations together.
            row.number(metric).filter(|_| operation == c::ALL)
        };
        let candidate = &mut self.candidates[at];
        candidate.scores[layer as usize] = score(objectives, &candidate.design, self.workload, &value);
    }

    fn theory(&mut self) -> Outcome<()> {
        let objectives = self.untimed();
        for at in 0..self.candidates.len() {
            if interrupt::is_requested() {
                return Ok(());
            }
            let design = self.candidates[at].design.clone();
            let costs = self.costs_of(&design)?;
            let rows = closed_forms::rows(&design, self.workload, &costs)?;
            self.set(at, Layer::Theory, &objectives, &rows);
        }
        Ok(())
    }

    /// Returns the costs of a design. The costs are sampled once for all designs with the same SSTables.
    fn costs_of(&mut self, design: &Design) -> Outcome<Costs> {
        let mut key = design.to_toml();
        OUTSIDE_OF_TABLES.iter().for_each(|axis| drop(key.remove(*axis)));
        let key = key.to_string();
        if let Some(costs) = self.costs.get(&key) {
            return Ok(*costs);
        }
        let experiment = self.settings.experiment;
        let plan = WorkloadPlan::new(self.workload, experiment.trials.seed, &experiment.base);
        let plan = plan.map_err(|error| Problem::new(error.to_string()))?;
        let costs = Costs::sample(design, &plan, self.settings.device)?;
        self.costs.insert(key, costs);
        Ok(costs)
    }

    fn simulated(&mut self, chosen: &[usize]) -> Outcome<()> {
        let (objectives, experiment) = (self.untimed(), self.settings.experiment);
        for at in chosen {
            if interrupt::is_requested() {
                return Ok(());
            }
            let design = self.candidates[*at].design.clone();
            let costs = Some(self.costs_of(&design)?);
            let simulation = Simulation {
                design: &design,
                workload: self.workload,
                seed: experiment.trials.seed,
                base: &experiment.base,
                picture: Picture::Automatic,
                device: self.settings.device,
                costs,
            };
            let (rows, _) = simulate(&simulation)?;
            self.set(*at, Layer::Simulated, &objectives, &rows);
        }
        Ok(())
    }

    /// Runs the chosen designs in counted mode. Returns whether all designs ran.
    fn counted(&mut self, chosen: &[usize]) -> Outcome<bool> {
        let objectives = self.untimed();
        let mut trials = Table::new();
        trials.insert("mode".to_owned(), Value::from("counted"));
        trials.insert("count".to_owned(), Value::from(1));
        let (rows, is_done) = self.run("counted", chosen, trials)?;
        self.set_rows(chosen, Layer::Counted, &objectives, &rows);
        Ok(is_done)
    }

    /// Measures the best designs, then the better half of these designs, and so on, until two designs remain. Returns
    /// `false` if the user interrupted the search.
    fn race(&mut self, most: usize) -> Outcome<bool> {
        let objectives = self.objectives.clone();
        let mut chosen = survivors(&self.candidates, Layer::Counted, most);
        let mut round = 1;
        while chosen.len() > 1 {
            (self.settings.run.console.line)(&format!("race, round {round}: {} designs", chosen.len()));
            let mut trials = Table::new();
            trials.insert("mode".to_owned(), Value::from("timed"));
            trials.insert("count".to_owned(), Value::from((RACE_TRIALS * round).cast_signed()));
            trials.insert("noise".to_owned(), Value::from(false));
            let (rows, is_done) = self.run(&format!("race-{round}"), &chosen, trials)?;
            if !is_done {
                return Ok(false);
            }
            self.set_rows(&chosen, Layer::Measured, &objectives, &rows);
            let measured = ranked(&self.candidates, Layer::Measured);
            let best: Vec<usize> = measured.into_iter().filter(|at| chosen.contains(at)).collect();
            let half = (chosen.len() / 2).max(1);
            chosen = best.into_iter().take(half).collect();
            round += 1;
        }
        Ok(true)
    }

    /// Runs some candidates as a separate experiment.
    fn run(&self, name: &str, chosen: &[usize], trials: Table) -> Outcome<(Vec<Row>, bool)> {
        let designs: Vec<Design> = chosen.iter().map(|at| self.candidates[*at].design.clone()).collect();
        let derived = Derived {
            name,
            question: format!("Which design is best for {}?", self.settings.experiment.name),
            designs: &designs,
            trials,
            verdict: Table::new(),
        };
        let file = derived.write(self.settings.experiment, &self.folder)?;
        let options = RunOptions {
            out: self.folder.clone(),
            plots: self.folder.join("charts"),
            has_page: false,
            markdown: None,
            overrides: Overrides::default(),
            console: run::Console { print: |_| Ok(()), ..self.settings.run.console },
            ..self.settings.run.clone()
        };
        let ending = run_all(&[file], &options)?;
        if ending == Ending::WrongAnswers {
            return Err(Problem::new(format!(
                "a design gave wrong answers; see {}/{name}",
                self.folder.display()
            )));
        }
        let rows = Rows::read(&Folder::new(self.folder.join(name)).runs())?;
        Ok((rows.rows().to_vec(), ending != Ending::Interrupted))
    }

    /// Scores candidates by the medians of their trials.
    fn set_rows(&mut self, chosen: &[usize], layer: Layer, objectives: &Objectives, rows: &[Row]) {
        for (number, at) in chosen.iter().enumerate() {
            let value = |phase: &str, operation: &str, metric: &Metric| {
                let mut values: Vec<f64> = rows
                    .iter()
                    .filter(|row| row.get(&c::CELL).integer() == Some(number as u64))
                    .filter(|row| row.get(&c::PHASE).to_string() == phase)
                    .filter(|row| row.get(&c::OPERATION).to_string() == operation)
                    .filter_map(|row| row.get(metric).number())
                    .collect();
                values.sort_by(f64::total_cmp);
                (!values.is_empty())
                    .then(|| f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]))
            };
            let candidate = &mut self.candidates[*at];
            candidate.scores[layer as usize] = score(objectives, &candidate.design, self.workload, &value);
        }
    }

    /// Compares the winner with other designs in a final run, and writes all results.
    fn conclude(mut self, layer: Layer) -> Outcome<Advice> {
        let layer = Layer::ALL
            .into_iter()
            .rev()
            .filter(|of| *of <= layer)
            .find(|of| !ranked(&self.candidates, *of).is_empty())
            .ok_or_else(|| {
                Problem::new(format!(
                    "no layer can compute the objective {}",
                    self.objectives.goal.metric.name()
                ))
            })?;
        let winner = ranked(&self.candidates, layer)[0];
        let is_interrupted = interrupt::is_requested();
        let mut confirmed = None;
        let textbook = self.textbook()?;
        if self.settings.spec.confirm && !is_interrupted {
            let begun = Instant::now();
            confirmed = self.confirm(winner, textbook.as_ref())?;
            self.times.push(("confirmation", begun.elapsed()));
        }
        let advice = Advice {
            layer,
            winner,
            candidates: self.candidates,
            objectives: self.objectives,
            textbook: textbook.map(|(label, _)| label),
            confirmed,
            times: self.times,
            is_interrupted,
            folder: self.folder,
        };
        advice.write(&self.settings.experiment.name)?;
        Ok(advice)
    }

    fn textbook(&mut self) -> Outcome<Option<(String, Design)>> {
        let costs = self.costs_of(&self.settings.experiment.base_design().clone())?;
        Ok(textbook(self.settings.experiment, self.workload, costs.entry_bytes))
    }

    /// Runs the default design, the design that the textbook formulas advise, and the winner. Returns the verdicts.
    fn confirm(&self, winner: usize, textbook: Option<&(String, Design)>) -> Outcome<Option<Vec<String>>> {
        let experiment = self.settings.experiment;
        let own = &self.candidates[winner].design;
        let mut designs = vec![experiment.base_design().clone()];
        for design in textbook.iter().map(|(_, design)| design).chain([own]) {
            if !designs.contains(design) {
                designs.push(design.clone());
            }
        }
        if designs.len() < 2 {
            return Ok(None);
        }
        (self.settings.run.console.line)(&format!("confirmation: {} designs", designs.len()));
        let mut verdict = Table::new();
        let goal = &self.objectives.goal;
        let phase = self.workload.phases.iter().find(|phase| phase.name == goal.phase);
        let writes = phase.is_some_and(|phase| simulation::rates(phase).writes > 0.0);
        let metric = match goal.metric {
            GoalMetric::Column(metric) => metric.name,
            GoalMetric::Memory | GoalMetric::IoPerOp if writes => c::WRITE_AMP.name,
            GoalMetric::Memory | GoalMetric::IoPerOp => c::BLOCKS_PER_GET.name,
        };
        let mut trials = Table::new();
        if goal.metric.is_timed() {
            trials.insert("mode".to_owned(), Value::from("timed"));
        }
        verdict.insert("metric".to_owned(), Value::from(metric));
        verdict.insert("phase".to_owned(), Value::from(goal.phase.clone()));
        if goal.operation != c::ALL {
            verdict.insert("operation".to_owned(), Value::from(goal.operation.clone()));
        }
        let derived = Derived {
            name: "confirmation",
            question: format!("Is the advised design for {} better than the default?", experiment.name),
            designs: &designs,
            trials,
            verdict,
        };
        let file = derived.write(experiment, &self.folder)?;
        let options = RunOptions {
            out: self.folder.clone(),
            plots: self.folder.join("charts"),
            overrides: Overrides::default(),
            ..self.settings.run.clone()
        };
        if run_all(&[file], &options)? == Ending::Interrupted {
            return Ok(None);
        }
        let manifest = results::Manifest::read(&Folder::new(self.folder.join("confirmation")).manifest())?;
        Ok(Some(manifest.conclusions))
    }
}
