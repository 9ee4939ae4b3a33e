//! The layers of the search. A layer is one method of evaluating designs. The first layer (theory) is the cheapest, and
//! the last layer (timed runs) is the most expensive.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use experiment::Overrides;
use results::{Folder, Metric, Row, Table as Rows, columns as c};
use run::{Ending, RunOptions, interrupt, run_all};
use simulation::{Costs, PhaseRow, Picture, Simulation, check, simulate};
use toml::{Table, Value};
use tree::Design;
use types::{Outcome, Problem};
use workload::{Workload, WorkloadPlan};

use crate::advice::Advice;
use crate::candidate::{Candidate, EngineDesign, Layer, ranked, survivors};
use crate::closed_forms;
use crate::confirmation::{Rivals, designs_to_beat, engines_to_beat};
use crate::derived::Derived;
use crate::evaluate::{score, score_of_rows};
use crate::goal::{Objectives, has_models};
use crate::settings::Settings;
use crate::textbook::textbook;

/// The number of trials in the first round of the timed runs. Round n has n times as many trials.
const RACE_TRIALS: u64 = 2;

/// The axes of a design that change neither the size of an SSTable nor the cost of its entries. Designs that differ
/// only in these axes share one measurement of these costs.
const OUTSIDE_OF_TABLES: [&str; 6] = ["compaction", "memtable", "cache", "wal", "storage", "allocation"];

/// The state of a search for the best design.
struct Search<'a> {
    settings: &'a Settings<'a>,
    workload: &'a Workload,
    objectives: Objectives,
    candidates: Vec<Candidate>,
    /// Whether the layers theory and simulation can evaluate all candidates, because all of them use the engine
    /// `lsmbench`.
    has_models: bool,
    /// The costs of reads and writes, such as bytes per entry, measured on sample SSTables. The key is the part of the
    /// design that determines its SSTables, as TOML.
    costs: HashMap<String, Costs>,
    /// The name and the duration of each layer of the search.
    times: Vec<(&'static str, Duration)>,
    folder: PathBuf,
}

/// Searches for the best design among the designs of an experiment. After an interruption, returns the best design so
/// far.
///
/// # Errors
/// The objective is unknown, the experiment has no workload for a tree, or a run fails.
pub fn tune(settings: &Settings<'_>) -> Outcome<Advice> {
    let experiment = settings.experiment;
    let objectives = Objectives::read(experiment, settings.spec)?;
    let workload = experiment.task.workload().ok_or_else(|| {
        Problem::at(&experiment.file, None, "tune needs a workload, but this is a component experiment")
    })?;
    let has_models = has_models(experiment);
    if has_models && experiment.cells.iter().any(|cell| !cell.design.keeps_values_inline()) {
        let message =
            "tune has no model of blob files; set design.values = \"inline\", or use `lsmbench run`";
        return Err(Problem::at(&experiment.file, None, message));
    }
    if experiment.cells.iter().any(|cell| cell.design.moves_memory()) {
        let message = "tune has no model of an arbiter that moves memory; set design.arbiter = \"static\", or use \
                       `lsmbench run`";
        return Err(Problem::at(&experiment.file, None, message));
    }
    for cell in experiment.cells.iter().filter(|_| has_models) {
        check(&cell.design, workload).map_err(|problem| {
            Problem::at(&experiment.file, None, format!("tune simulates each design, but {problem}"))
        })?;
    }
    let candidates = experiment.cells.iter().map(|cell| {
        let setup = EngineDesign { engine: cell.engine.clone(), design: cell.design.clone() };
        Candidate::new(cell.label.clone(), setup)
    });
    let candidates = candidates.collect();
    let folder = settings.run.out.join(format!("{}-tune", experiment.name));
    let (costs, times) = (HashMap::new(), Vec::new());
    let mut search = Search { settings, workload, objectives, candidates, has_models, costs, times, folder };
    let layer = if has_models { search.layers()? } else { search.race_all()? };
    search.conclude(layer)
}

impl Search<'_> {
    /// Runs all layers of the search that the objective needs. Returns the last layer that has finished.
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
        say(&format!("simulation of the best {} designs", chosen.len()));
        self.simulated(&chosen)?;
        self.times.push((Layer::Simulated.name(), begun.elapsed()));
        if interrupt::is_requested() || spec.count == 0 {
            return Ok(Layer::Simulated);
        }
        let begun = Instant::now();
        let chosen = survivors(&self.candidates, Layer::Simulated, spec.count as usize);
        say(&format!("counted runs of the best {} designs", chosen.len()));
        let is_done = self.counted(&chosen)?;
        self.times.push((Layer::Counted.name(), begun.elapsed()));
        if !is_done {
            return Ok(Layer::Simulated);
        }
        if spec.measure == 0 || !self.objectives.goal.metric.is_timed() {
            return Ok(Layer::Counted);
        }
        let begun = Instant::now();
        let is_done = self.race(survivors(&self.candidates, Layer::Counted, spec.measure as usize))?;
        self.times.push((Layer::Measured.name(), begun.elapsed()));
        Ok(if is_done { Layer::Measured } else { Layer::Counted })
    }

    /// Measures all candidates in timed rounds. Engines other than `lsmbench` need this function, because no model can
    /// exclude their candidates in advance.
    fn race_all(&mut self) -> Outcome<Layer> {
        let begun = Instant::now();
        self.race((0..self.candidates.len()).collect())?;
        self.times.push((Layer::Measured.name(), begun.elapsed()));
        match ranked(&self.candidates, Layer::Measured).is_empty() && interrupt::is_requested() {
            true => Err(Problem::new(
                "the search was interrupted before it measured a design; to continue it, use --resume",
            )),
            false => Ok(Layer::Measured),
        }
    }

    fn set(&mut self, at: usize, layer: Layer, objectives: &Objectives, phases: &[PhaseRow]) {
        let value = |phase: &str, operation: &str, metric: &Metric| {
            let row = &phases.iter().find(|row| row.phase == phase)?.row;
            // These rows are about all operations together, not about single kinds of operations.
            row.number(metric).filter(|_| operation == c::ALL)
        };
        let candidate = &mut self.candidates[at];
        candidate.scores[layer as usize] = score(objectives, candidate.design(), self.workload, &value);
    }

    fn theory(&mut self) -> Outcome<()> {
        let objectives = self.objectives.of(Layer::Theory);
        for at in 0..self.candidates.len() {
            if interrupt::is_requested() {
                return Ok(());
            }
            let design = self.candidates[at].design().clone();
            let costs = self.costs_of(&design)?;
            let rows = closed_forms::rows(&design, self.workload, &costs)?;
            self.set(at, Layer::Theory, &objectives, &rows);
        }
        Ok(())
    }

    /// Returns the costs of a design, which are measured on sample SSTables. The costs are measured only once for all
    /// designs with equal SSTables.
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
        let (objectives, experiment) = (self.objectives.of(Layer::Simulated), self.settings.experiment);
        for at in chosen {
            if interrupt::is_requested() {
                return Ok(());
            }
            let design = self.candidates[*at].design().clone();
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

    /// Runs the candidates `chosen` in counted mode. Returns `false` if the user interrupted the run.
    fn counted(&mut self, chosen: &[usize]) -> Outcome<bool> {
        let mut trials = Table::new();
        trials.insert("mode".to_owned(), Value::from("counted"));
        trials.insert("count".to_owned(), Value::from(1));
        let (rows, is_done) = self.run("counted", chosen, trials)?;
        self.set_rows(chosen, Layer::Counted, &rows);
        Ok(is_done)
    }

    /// Measures the candidates `chosen` in timed rounds. After each round, only the better half continues. The last
    /// round has two or three candidates. Returns `false` if the user interrupted the search.
    fn race(&mut self, mut chosen: Vec<usize>) -> Outcome<bool> {
        let mut round = 1;
        while chosen.len() > 1 {
            (self.settings.run.console.line)(&format!("timed runs, round {round}: {} designs", chosen.len()));
            let mut trials = Table::new();
            trials.insert("mode".to_owned(), Value::from("timed"));
            trials.insert("count".to_owned(), Value::from((RACE_TRIALS * round).cast_signed()));
            trials.insert("noise".to_owned(), Value::from(false));
            let (rows, is_done) = self.run(&format!("race-{round}"), &chosen, trials)?;
            if !is_done {
                return Ok(false);
            }
            self.set_rows(&chosen, Layer::Measured, &rows);
            let measured = ranked(&self.candidates, Layer::Measured);
            let best: Vec<usize> = measured.into_iter().filter(|at| chosen.contains(at)).collect();
            let half = (chosen.len() / 2).max(1);
            chosen = best.into_iter().take(half).collect();
            round += 1;
        }
        Ok(true)
    }

    /// Runs the candidates `chosen` as an experiment with the name `name`. Returns the rows of its results, and whether
    /// the run ended without an interruption.
    fn run(&self, name: &str, chosen: &[usize], trials: Table) -> Outcome<(Vec<Row>, bool)> {
        let setups: Vec<EngineDesign> = chosen.iter().map(|at| self.candidates[*at].setup.clone()).collect();
        let derived = Derived {
            name,
            question: format!("Which design is best for {}?", self.settings.experiment.name),
            setups: &setups,
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
                "a design returned wrong answers; see the results in {}/{name}",
                self.folder.display()
            )));
        }
        let rows = Rows::read(&Folder::new(self.folder.join(name)).runs())?;
        Ok((rows.rows().to_vec(), ending != Ending::Interrupted))
    }

    /// Sets the scores of the candidates `chosen` in a layer of the search. The configuration number i in `rows` is the
    /// candidate `chosen[i]`.
    fn set_rows(&mut self, chosen: &[usize], layer: Layer, rows: &[Row]) {
        let objectives = self.objectives.of(layer);
        for (cell, at) in chosen.iter().enumerate() {
            let candidate = &mut self.candidates[*at];
            candidate.scores[layer as usize] =
                score_of_rows(&objectives, candidate.design(), self.workload, rows, cell as u64);
        }
    }

    /// Compares the best design with other designs in a confirmation run, and writes all results.
    fn conclude(mut self, layer: Layer) -> Outcome<Advice> {
        let layer = Layer::ALL
            .into_iter()
            .rev()
            .filter(|of| *of <= layer)
            .find(|of| !ranked(&self.candidates, *of).is_empty())
            .ok_or_else(|| {
                Problem::new(format!(
                    "no layer of the search can compute the objective {}; choose another column for tune.minimise or \
                     tune.maximise",
                    self.objectives.goal.metric.name()
                ))
            })?;
        let winner = ranked(&self.candidates, layer)[0];
        let is_interrupted = interrupt::is_requested();
        let mut confirmed = None;
        let textbook = if self.has_models { self.textbook()? } else { None };
        if self.settings.spec.confirm && !is_interrupted {
            let begun = Instant::now();
            let own = &self.candidates[winner];
            let designs = match self.has_models {
                true => designs_to_beat(self.settings.experiment, &own.setup.engine, textbook.as_ref()),
                false => engines_to_beat(self.settings.experiment, &own.setup.engine, &self.candidates[0])?,
            };
            let (settings, workload, objectives) = (self.settings, self.workload, &self.objectives);
            let rivals = Rivals { settings, workload, objectives, designs };
            confirmed = rivals.confirm(own, &self.folder)?;
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
}
