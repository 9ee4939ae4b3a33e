//! Runs whole experiments: interleaves the trials, resumes interrupted runs, draws the charts, and prints the verdict.

mod announce;
mod books;
mod instructions;
mod profiling;
mod resume;
mod rows;
mod side_by_side;
mod stopping;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use experiment::{Cell, Estimate, Experiment, Overrides, absences, engine};
use measure::{Arrangement, FEWEST_BLOCKS, Outlook, Plan as TrialPlan, probe};
use results::targets::{check_file, check_folder};
use results::{BuildInfo, Group, Interleaving, RunMode, Schema};
use trial::{Step, TrialReport, TrialSpec};
use types::{Outcome, Problem};
use verdict::{Charts, ExperimentFacts, noisy_baselines, wrapped};

use self::books::Books;
use self::stopping::{Next, Stopping};
use super::child::run_trial;
use super::conclusion::Conclusion;
use super::console::Console;
use super::cut::Cut;
use super::ending::Ending;
use super::fixture::{Fixture, Found};
use super::home::{DataFolder, Home};
use super::part::{Part, node_folder};
use super::progress::{Extent, Progress};
use super::rehearsal::rehearse;
use super::trial_spec::trial_spec;
use super::valgrind::Callgrind;
use super::{environment, manifest, memory_limit};

/// The options of the command `lsmbench run`.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is an option of the command line
pub struct RunOptions {
    /// The output folder. The results of each experiment are in a folder with its name.
    pub out: PathBuf,
    /// The folder for charts. The charts of each experiment are in a folder with its name.
    pub plots: PathBuf,
    /// Whether to write a page with the results next to the charts.
    pub has_page: bool,
    /// The part of each experiment that this run executes. `None` for complete experiments. The run of a part draws no
    /// charts and prints no verdict.
    pub part: Option<Part>,
    /// Whether to resume an interrupted run.
    pub resume: bool,
    /// Whether to run timed experiments even if this program is a debug build.
    pub allow_debug: bool,
    /// Whether to sample a CPU profile of every configuration after the trials.
    pub has_profile: bool,
    /// Whether to print a line after every trial instead of after every round.
    pub verbose: bool,
    /// The file to which the verdicts are appended as Markdown. `None` if there is no such file.
    pub markdown: Option<PathBuf>,
    /// Changes to the settings of the experiments, from the command line.
    pub overrides: Overrides,
    /// The functions that print the output.
    pub console: Console,
    /// The description of this program, which the manifest contains.
    pub build: BuildInfo,
}

impl RunOptions {
    /// Returns the folder for the prepared stores (fixtures) of the run: the output folder, or the folder of this
    /// machine if the run executes a part.
    fn fixture_home(&self) -> PathBuf {
        match (self.part, self.out.parent()) {
            (Some(_), Some(parts)) => node_folder(parts),
            _ => self.out.clone(),
        }
    }
}

/// Runs experiments one after the other. All experiments are checked before the first experiment starts.
pub fn run_all(configs: &[PathBuf], options: &RunOptions) -> Outcome<Ending> {
    let experiments: Vec<Experiment> =
        configs.iter().map(|path| Experiment::load(path, &options.overrides)).collect::<Outcome<_>>()?;
    let mut names = BTreeSet::new();
    if let Some(twice) = experiments.iter().find(|experiment| !names.insert(experiment.name.clone())) {
        return Err(Problem::new(format!(
            "two experiments have the name \"{}\", so they would share a results folder; rename one file, or run one \
             experiment at a time",
            twice.name
        )));
    }
    let runs = experiments.iter().map(|experiment| Run::prepare(experiment, options));
    let runs = runs.collect::<Outcome<Vec<_>>>()?;
    experiments.iter().try_for_each(|experiment| rehearse(experiment, &options.out, options.console.line))?;
    let mut ending = Ending::Done;
    for run in runs {
        match run.run()? {
            Ending::WrongAnswers => ending = Ending::WrongAnswers,
            Ending::Regressed if ending == Ending::Done => ending = Ending::Regressed,
            Ending::Done | Ending::Regressed => {}
            Ending::Interrupted => return Ok(Ending::Interrupted),
        }
    }
    Ok(ending)
}

/// An experiment that was checked and is ready to run, with its results folder.
struct Run<'a> {
    experiment: &'a Experiment,
    facts: ExperimentFacts<'a>,
    options: &'a RunOptions,
    home: Home,
    cut: Cut,
    schema: Schema,
    timeline_schema: Schema,
    levels_schema: Schema,
    slices_schema: Schema,
    /// The estimated time and memory of one trial, per configuration.
    estimates: Vec<Estimate>,
}

/// A planned trial: one execution of one configuration in one round.
#[derive(Clone, Copy)]
struct PlannedTrial {
    /// The index of the configuration among the configurations of the experiment.
    cell: usize,
    group: Group,
    /// Whether this is the second trial of a baseline in its round, which measures the noise.
    again: bool,
}

impl<'a> Run<'a> {
    fn prepare(experiment: &'a Experiment, options: &'a RunOptions) -> Outcome<Self> {
        if cfg!(debug_assertions) && experiment.trials.mode == RunMode::Timed && !options.allow_debug {
            return Err(Problem::new(
                "a debug build of lsmbench gives no valid times; build lsmbench with --release, or run with --set \
                 trials.mode=counted",
            ));
        }
        check_gate(experiment)?;
        options.markdown.as_deref().map_or(Ok(()), check_file)?;
        if experiment.trials.instructions.is_some() {
            Callgrind::check()?;
        }
        if options.has_profile {
            Self::check_profile(experiment, &options.out)?;
        }
        if let Some(limit) = experiment.trials.memory_limit {
            memory_limit::check(limit.0)
                .map_err(|problem| Problem::at(&experiment.file, None, problem.to_string()))?;
        }
        let mut estimates = Vec::new();
        for cell in &experiment.cells {
            let estimate = experiment.estimate(cell)?;
            let fits = estimate.check(cell, &options.out);
            fits.map_err(|message| Problem::at(&experiment.file, None, message))?;
            estimates.push(estimate);
        }
        check_folder(&options.out)?;
        let plots = options.plots.join(&experiment.name);
        Charts::check_targets(&experiment.charts, &experiment.style, &plots)?;
        let swept = experiment.swept();
        let facts = experiment.facts();
        let cut = Cut::of(experiment, &facts);
        options.part.map_or(Ok(()), |part| cut.check(part))?;
        let run = Self {
            experiment,
            facts,
            cut,
            options,
            home: Home::inspect(&experiment.name, &options.out)?,
            schema: Schema::runs(&swept)?,
            timeline_schema: Schema::timeline(&swept)?,
            levels_schema: Schema::levels(&swept)?,
            slices_schema: Schema::slices(&swept)?,
            estimates,
        };
        run.check_resume()?;
        Ok(run)
    }

    fn run(mut self) -> Outcome<Ending> {
        let resumed = self.home.earlier().filter(|_| self.options.resume).cloned();
        if let (Some(part), Some(earlier)) = (self.options.part, &resumed)
            && earlier.ended.is_some()
            && earlier.trials == self.experiment.trials.count
        {
            (self.options.console.line)(&format!(
                "part {part} of {} is already complete",
                self.experiment.name
            ));
            return self.ending_of_part();
        }
        self.home.open(self.options.resume, self.options.console.line)?;
        let mut manifest = match resumed {
            Some(manifest) => manifest::resume(manifest, self.experiment, &self.options.build),
            None => manifest::begin(
                self.experiment,
                &self.options.overrides,
                &self.options.build,
                &self.options.out,
            ),
        };
        if let Some(part) = self.options.part {
            self.enter(part, &mut manifest)?;
        }
        // Writes the manifest, so that the run can be resumed if it is killed from now on. The manifest shows to which
        // experiment the folder belongs.
        manifest.write(&self.home.folder().manifest())?;
        let mut books = self.open_books(manifest)?;
        books.seal(&self.home.folder().manifest())?;
        self.announce(&books.manifest);
        let counted = self.count_instructions(&mut books)?;
        if counted == Ending::Interrupted || self.run_trials(&mut books)? == Ending::Interrupted {
            (self.options.console.line)(&format!(
                "interrupted; finished trials are in {}; repeat the command with --resume to continue",
                self.home.folder().root().display()
            ));
            return Ok(Ending::Interrupted);
        }
        books.manifest.ended = Some(environment::now());
        books.manifest.machine.load_average_end = probe::load_average();
        let path = self.home.folder().manifest();
        if let Some(part) = self.options.part {
            let manifest = books.manifest;
            manifest.write(&path)?;
            (self.options.console.line)(&format!("part {part} of {} is complete", self.experiment.name));
            return self.ending_of_part();
        }
        let conclusion = self.conclusion();
        let verdicts = conclusion.verdicts(&books.manifest.looks)?;
        books.manifest.conclusions = verdicts.sentences();
        books.manifest.write(&path)?;
        if self.options.has_profile {
            let profiled = self.profile(&mut books, &verdicts.decided_on_time());
            if !matches!(profiled, Ok(Ending::Done)) {
                let reason =
                    profiled.err().map_or_else(|| "interrupted".to_owned(), |problem| problem.to_string());
                let text = format!(
                    "no CPU profile: {reason}; the results are complete, and --resume --profile repeats only the profile"
                );
                (self.options.console.line)(wrapped("warning: ", "  ", &text).trim_end());
            }
        }
        let manifest = books.manifest;
        manifest.write(&path)?;
        conclusion.conclude(&manifest, &verdicts, &[])
    }

    /// Runs the trials of the experiment that have not finished yet, one after the other.
    fn run_trials(&self, books: &mut Books) -> Outcome<Ending> {
        if self.experiment.trials.interleaving() != Interleaving::Rounds {
            return self.run_rounds_side_by_side(books);
        }
        let Experiment { name, cells, task, .. } = self.experiment;
        let turns = self.remaining(&books.finished, &books.finished_noise);
        let extent = Extent {
            rounds: self.experiment.trials.count,
            trials: turns.len(),
            seconds: turns.iter().map(|turn| self.estimates[turn.cell].seconds()).sum(),
            budget: self.experiment.trials.budget.map(|budget| budget.0 as f64 / 1e9),
        };
        let mut progress = Progress::new(name, extent, self.options.verbose, self.options.console.line);
        let (mut round, mut failed) = (None, BTreeSet::new());
        let mut stopping = Stopping::new(&self.experiment.trials);
        for (place, turn) in turns.iter().enumerate() {
            let (cell, Group { trial, .. }) = (&cells[turn.cell], turn.group);
            if round.replace(trial) != Some(trial)
                && self.has_ended(trial, &mut stopping, books, &progress)?
            {
                break;
            }
            if failed.contains(&turn.cell) || stopping.has_stopped(turn.group.cell) {
                continue;
            }
            let kept = |problem| {
                let advice =
                    "lsmbench keeps the finished trials; fix the cause and repeat the command with --resume";
                Problem::new(format!("{}, round {}: {problem}; {advice}", cell.label, trial + 1))
            };
            let fixture = match self.fixture(cell, turn, books).map_err(kept)? {
                Found::Fixture(fixture) => Some(fixture),
                Found::None => None,
                Found::Interrupted => return Ok(Ending::Interrupted),
            };
            let phases = task.phases().into_iter();
            let phases = phases.zip(self.estimates[turn.cell].phase_seconds.iter().copied()).collect();
            let again = if turn.again { " (noise)" } else { "" };
            progress.begin(format!("{}{again}", cell.label), trial + 1, phases);
            let report = match self.run_one(cell, turn, fixture.as_deref(), |step| progress.update(step)) {
                // If the engine may reject an option, the error ends only this configuration.
                Err(problem) if engine(&cell.engine).may_reject_options() => {
                    let warning =
                        format!("configuration {} stopped in round {}: {problem}", cell.label, trial + 1);
                    progress.print(wrapped("  warning: ", "    ", &warning).trim_end());
                    books.manifest.warnings.push(warning);
                    failed.insert(turn.cell);
                    let others = turns[place + 1..].iter().filter(|other| other.cell == turn.cell).count();
                    progress.leave_out(others, others as f64 * self.estimates[turn.cell].seconds());
                    progress.end(is_last_of_round(&turns[place..], &failed));
                    continue;
                }
                report => report.map_err(kept)?,
            };
            let Some(report) = report else { return Ok(Ending::Interrupted) };
            for wrong in &report.wrong {
                progress.print(&format!("  WRONG ANSWER by {}: {wrong}", cell.label));
            }
            for mark in self.store(cell, turn, report, books).map_err(kept)? {
                progress.print(wrapped("  warning: ", "    ", &mark).trim_end());
            }
            progress.end(is_last_of_round(&turns[place..], &failed));
            if place + 1 == turns.len() {
                self.has_ended(trial + 1, &mut stopping, books, &progress)?;
            }
        }
        Ok(Ending::Done)
    }

    /// Returns the trials that must still run, in order. Each round has one trial per configuration, and a second trial
    /// per baseline if the run measures noise.
    fn remaining(&self, finished: &BTreeSet<Group>, finished_noise: &BTreeSet<Group>) -> Vec<PlannedTrial> {
        let Experiment { cells, trials, .. } = self.experiment;
        let twice = noisy_baselines(&self.facts);
        let places: Vec<usize> = (0..cells.len()).chain(twice).collect();
        let plan = TrialPlan::new(places.len(), trials.count as usize, trials.seed, Arrangement::Mirrored);
        let turns = plan.slots.iter().map(|slot| {
            let cell = places[slot.cell];
            let group = Group { cell: cells[cell].number, trial: slot.block as u64 };
            PlannedTrial { cell, group, again: slot.cell >= cells.len() }
        });
        let is_done = |turn: &PlannedTrial| match turn.again {
            true => finished_noise.contains(&turn.group),
            false => finished.contains(&turn.group),
        };
        let part = self.options.part;
        let is_own =
            |turn: &PlannedTrial| part.is_none_or(|part| self.cut.holds(part, turn.cell, turn.group.trial));
        turns.filter(is_own).filter(|turn| !is_done(turn)).collect()
    }

    /// Returns whether the run ends after `rounds` rounds. Prints the reason if the run ends early, such as a used-up
    /// time budget.
    fn has_ended(
        &self,
        rounds: u64,
        stopping: &mut Stopping,
        books: &mut Books,
        progress: &Progress,
    ) -> Outcome<bool> {
        let reason = match self.is_precise(rounds)? {
            true => Some("the confidence intervals are as narrow as trials.precision requests".to_owned()),
            false => self.look(rounds, stopping, books, progress)?,
        };
        if let Some(reason) = reason.as_ref().filter(|_| rounds < self.experiment.trials.count) {
            progress.print(&format!("  stopped after {rounds} rounds: {reason}"));
        }
        Ok(reason.is_some())
    }

    /// Evaluates the verdicts if it is time to do so, and stops the configurations whose verdicts are decided. Returns
    /// the reason why the run ends, or `None` if it continues.
    fn look(
        &self,
        rounds: u64,
        stopping: &mut Stopping,
        books: &mut Books,
        progress: &Progress,
    ) -> Outcome<Option<String>> {
        let more_rounds = match stopping.next(rounds) {
            Next::GoOn => return Ok(None),
            Next::End(reason) => return Ok(Some(reason)),
            Next::Look { more_rounds } => more_rounds,
        };
        books.manifest.looks.clone_from(&stopping.looks);
        let outlooks = self.conclusion().verdicts(&stopping.looks)?.outlooks(more_rounds);
        let (decided, reason) = stopping.judge(&outlooks, more_rounds);
        for cell in self.experiment.cells.iter().filter(|cell| decided.contains(&cell.number)) {
            if let Some(Outlook::Decided(verdict)) = outlooks.get(&cell.number) {
                progress.print(&format!(
                    "  the verdict on {} is decided after {rounds} rounds: {verdict}",
                    cell.label
                ));
            }
        }
        Ok(reason)
    }

    /// Returns whether every confidence interval is as narrow as `trials.precision` requests, after `blocks` rounds.
    fn is_precise(&self, blocks: u64) -> Outcome<bool> {
        // A part has only its own rounds, so it cannot compute the confidence intervals of the whole experiment.
        let precision = self.experiment.trials.precision.filter(|_| self.options.part.is_none());
        let Some(precision) = precision else { return Ok(false) };
        Ok(blocks >= FEWEST_BLOCKS as u64
            && self.conclusion().verdicts(&[])?.reach_no_further_than(precision))
    }

    /// Returns the inputs that the run needs to compute the verdicts and to draw the charts.
    fn conclusion(&self) -> Conclusion<'_> {
        Conclusion {
            experiment: self.experiment,
            facts: &self.facts,
            folder: self.home.folder(),
            plots: self.options.plots.join(&self.experiment.name),
            has_page: self.options.has_page,
            markdown: self.options.markdown.as_deref(),
            console: self.options.console,
        }
    }

    /// Returns the prepared store (fixture) from which the trials of a configuration start, and records it in the
    /// manifest.
    fn fixture(&self, cell: &Cell, turn: &PlannedTrial, books: &mut Books) -> Outcome<Found> {
        let spec = self.spec(cell, turn, &self.home.data());
        let found = books.fixtures.of(self.experiment, cell, &spec)?;
        if let Found::Fixture(fixture) = &found {
            books.note_fixture(cell, fixture);
        }
        Ok(found)
    }

    fn run_one(
        &self,
        cell: &Cell,
        turn: &PlannedTrial,
        fixture: Option<&Fixture>,
        progress: impl FnMut(Step),
    ) -> Outcome<Option<TrialReport>> {
        let data = DataFolder::create(self.home.data())?;
        let mut spec = self.spec(cell, turn, data.path());
        spec.fixture = fixture
            .map(|fixture| fixture.clone_to(&spec.directory, spec.memory_limit.is_some()))
            .transpose()?;
        run_trial(&spec, self.options.console.line, progress)
    }

    /// Returns the settings of one trial, which its process receives. The trial stores its data in the folder `data`.
    fn spec(&self, cell: &Cell, turn: &PlannedTrial, data: &Path) -> TrialSpec {
        let trials = &self.experiment.trials;
        TrialSpec {
            seed: trials.seed_of(turn.group.trial),
            results: (!turn.again).then(|| self.home.folder().root().to_owned()),
            trial: turn.group.trial,
            memory_limit: trials.memory_limit.map(|limit| limit.0),
            warm_memory: trials.warm_memory.map(|bytes| bytes.0).filter(|_| trials.mode == RunMode::Timed),
            ..trial_spec(self.experiment, cell, data.join("tree"))
        }
    }
}

/// Checks that all configurations can run, if the experiment has a table `[gate]`. A missing configuration has no
/// values, so the gate could not reject it.
fn check_gate(experiment: &Experiment) -> Outcome<()> {
    let Some(absent) =
        absences(&experiment.left_out).into_iter().next().filter(|_| experiment.gate.is_some())
    else {
        return Ok(());
    };
    Err(Problem::at(
        &experiment.file,
        None,
        format!("gate: {absent}; install this engine, or remove the table [gate] from the experiment file"),
    ))
}

/// Returns whether the first trial in `turns` is the last trial of its round that runs. Trials of the configurations in
/// `failed` do not run.
fn is_last_of_round(turns: &[PlannedTrial], failed: &BTreeSet<usize>) -> bool {
    let next = turns[1..].iter().find(|next| !failed.contains(&next.cell));
    next.is_none_or(|next| next.group.trial != turns[0].group.trial)
}
