//! Samples a CPU profile of each configuration after the trials, and compares the profiles of configurations whose
//! verdict is decided. The profiled trials add no rows to the results.

use std::collections::BTreeMap;
use std::path::Path;

use experiment::{Cell, Experiment};
use measure::median;
use plot::{FlameGraph, FlameSide};
use results::columns::ALL;
use results::targets::create_folder;
use results::{CpuProfileInfo, FlameGraphInfo, Group, RunMode, Table, columns as c};
use trial::{ObservedPhase, TrialSpec};
use types::{Outcome, Problem};
use verdict::{CpuProfile, judged_phase, short_name};
use workload::Rate;

use super::books::Books;
use super::instructions::operations;
use super::{Ending, PlannedTrial, Run};
use crate::child::run_trial_under;
use crate::fixture::Found;
use crate::home::DataFolder;
use crate::perf::{Perf, Samples};
use crate::scratch::scratch;

/// The desired number of samples in the CPU profile of a configuration. It keeps the sampling error of a function with
/// a tenth of the CPU time at about 5 %.
const SAMPLES: f64 = 4000.0;

/// The lowest and the highest number of samples per second of CPU time. Each sample copies the stack, so a higher rate
/// would distort the profile.
const LEAST_RATE: u64 = 99;
const LARGEST_RATE: u64 = 1999;

/// The largest number of trials in which the CPU profile of one configuration is sampled.
const MOST_TRIALS: u64 = 5;

/// The settings of the profiler for one configuration: the samples per second of CPU time, and the number of profiled
/// trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sampling {
    samples_per_second: u64,
    trials: u64,
}

impl Sampling {
    /// Chooses the settings with which a phase of `seconds` seconds gets about [`SAMPLES`] samples.
    fn of(seconds: f64) -> Self {
        let seconds = seconds.max(1e-3);
        let samples_per_second = ((SAMPLES / seconds) as u64).clamp(LEAST_RATE, LARGEST_RATE);
        let trials = (SAMPLES / (seconds * samples_per_second as f64)).ceil() as u64;
        Self { samples_per_second, trials: trials.clamp(1, MOST_TRIALS) }
    }
}

impl Run<'_> {
    /// Checks that the run can sample CPU profiles.
    ///
    /// # Errors
    /// Returns an error if the experiment has no store, does not measure times, or runs its phase at several rates, or
    /// if the profiler does not work.
    pub(super) fn check_profile(experiment: &Experiment, out: &Path) -> Outcome<()> {
        let refused =
            |reason: String| Err(Problem::at(&experiment.file, None, format!("--profile: {reason}")));
        let Some(workload) = experiment.task.workload() else {
            return refused(
                "a component experiment has no store to profile; run without --profile".to_owned(),
            );
        };
        if experiment.trials.mode == RunMode::Counted {
            return refused("counted mode measures no time; use trials.mode = \"timed\"".to_owned());
        }
        let phase = judged_phase(&experiment.facts());
        let judged = workload.phases.iter().find(|own| own.name == phase);
        if judged.is_some_and(|judged| matches!(judged.rate, Rate::Sustained(_))) {
            return refused(format!(
                "phase {phase} runs at several rates, but a profile needs one rate; set phase.{phase}.rate \
                 to a number"
            ));
        }
        create_folder(out)?;
        Perf::check(scratch(Some(out))?.path())
    }

    /// Samples the CPU profiles of all configurations, and writes them to files. Draws a flame graph for each pair of a
    /// candidate and a baseline in `decided`, which are pairs with a decided verdict.
    pub(super) fn profile(&self, books: &mut Books, decided: &[(u64, u64)]) -> Outcome<Ending> {
        let phase = judged_phase(&self.facts);
        let folder = self.home.folder().clone();
        create_folder(&folder.profiles())?;
        let durations = self.durations(&phase)?;
        let mut profiles: BTreeMap<u64, CpuProfile> = BTreeMap::new();
        (books.manifest.cpu_profiles, books.manifest.flame_graphs) = (Vec::new(), Vec::new());
        for (at, cell) in self.experiment.cells.iter().enumerate() {
            // A configuration without rows was rejected by its engine.
            let Some(seconds) = durations.get(&cell.number) else { continue };
            let sampling = Sampling::of(*seconds);
            (self.options.console.line)(&format!("  profiling {} in phase {phase}", cell.label));
            let turn = PlannedTrial { cell: at, group: Group { cell: cell.number, trial: 0 }, again: false };
            let own = self.profile_of(cell, &turn, (&phase, sampling), books);
            let own = own.map_err(|problem| Problem::new(format!("{}: {problem}", cell.label)))?;
            let Some(profile) = own else { return Ok(Ending::Interrupted) };
            let file = folder.folded_stacks(cell.number);
            profile.stacks.write(&file)?;
            books.manifest.cpu_profiles.push(CpuProfileInfo {
                cell: cell.number,
                phase: phase.clone(),
                operations: profile.operations,
                trials: sampling.trials,
                samples: profile.samples,
                samples_per_second: sampling.samples_per_second,
                file: relative(&file, folder.root()),
            });
            profiles.insert(cell.number, profile);
        }
        for (candidate, baseline) in decided {
            let both = profiles.get(candidate).zip(profiles.get(baseline));
            let Some((own, base)) = both else { continue };
            let summary = own.summary(base, &phase);
            let file = folder.flame_graph(*candidate, *baseline);
            let svg = flame_graph(own, base, &summary);
            std::fs::write(&file, svg)
                .map_err(|error| Problem::doing(format!("write {}", file.display()), error))?;
            books.manifest.flame_graphs.push(FlameGraphInfo {
                cell: *candidate,
                baseline: *baseline,
                summary,
                file: relative(&file, folder.root()),
            });
        }
        Ok(Ending::Done)
    }

    /// Returns the median duration of a phase over the trials, in seconds, by the number of the configuration.
    fn durations(&self, phase: &str) -> Outcome<BTreeMap<u64, f64>> {
        let table = Table::read(&self.home.folder().runs())?;
        let mut durations: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in table.rows() {
            let is_judged =
                row.get(&c::PHASE).text() == Some(phase) && row.get(&c::OPERATION).text() == Some(ALL);
            let both = row.get(&c::CELL).integer().zip(row.get(&c::SECONDS).number());
            if let Some((cell, seconds)) = both.filter(|_| is_judged) {
                durations.entry(cell).or_default().push(seconds);
            }
        }
        let medians = durations.into_iter().filter_map(|(cell, seconds)| Some((cell, median(seconds)?)));
        Ok(medians.collect())
    }

    /// Samples the CPU profile of one configuration in one phase. Returns `None` if the user interrupted the run.
    fn profile_of(
        &self,
        cell: &Cell,
        turn: &PlannedTrial,
        (phase, sampling): (&str, Sampling),
        books: &mut Books,
    ) -> Outcome<Option<CpuProfile>> {
        let (mut samples, mut performed) = (Samples::default(), 0.0);
        for _ in 0..sampling.trials {
            let fixture = match self.fixture(cell, turn, books)? {
                Found::Fixture(fixture) => Some(fixture),
                Found::None => None,
                Found::Interrupted => return Ok(None),
            };
            let data = DataFolder::create(self.home.data())?;
            let perf = Perf::new(data.path())?;
            let mut spec = TrialSpec {
                results: None,
                observed: Some(ObservedPhase { phase: phase.to_owned(), tool: perf.tool() }),
                ..self.spec(cell, turn, data.path())
            };
            let is_limited = spec.memory_limit.is_some();
            spec.fixture =
                fixture.map(|fixture| fixture.clone_to(&spec.directory, is_limited)).transpose()?;
            let launcher = perf.launcher(sampling.samples_per_second);
            let line = self.options.console.line;
            let Some(report) = run_trial_under(&launcher, &spec, line, |_| ())? else { return Ok(None) };
            performed += operations(&report, phase)?;
            samples.merge(&perf.samples()?);
        }
        let Samples { stacks, count } = samples;
        Ok(Some(CpuProfile {
            name: cell.label.clone(),
            stacks,
            operations: performed as u64,
            samples: count,
        }))
    }
}

/// Compares the CPU times of a candidate and its baseline in a flame graph, and returns the graph as SVG.
fn flame_graph(candidate: &CpuProfile, baseline: &CpuProfile, summary: &str) -> String {
    fn side(profile: &CpuProfile) -> FlameSide<'_> {
        FlameSide { label: &profile.name, stacks: &profile.stacks, operations: profile.operations }
    }
    let colors = "Functions with more CPU time than in the baseline are orange, and functions with less CPU time are \
                  blue.";
    FlameGraph {
        title: format!("CPU time of {} compared with {}", candidate.name, baseline.name),
        caption: format!("{summary} {colors}"),
        sides: [side(baseline), side(candidate)],
        short_name,
    }
    .svg()
}

/// Returns the path of `file` relative to `folder`. The file must be inside of the folder.
fn relative(file: &Path, folder: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_phases_have_more_samples_per_second_and_more_trials() {
        let of = Sampling::of;
        assert_eq!(of(100.0), Sampling { samples_per_second: 99, trials: 1 });
        assert_eq!(of(4.0), Sampling { samples_per_second: 1000, trials: 1 });
        assert_eq!(of(1.0), Sampling { samples_per_second: 1999, trials: 3 });
        assert_eq!(of(0.0), Sampling { samples_per_second: 1999, trials: 5 });
    }

    #[test]
    fn files_are_relative_to_the_results() {
        assert_eq!(relative(Path::new("r/x/profiles/a.svg"), Path::new("r/x")), "profiles/a.svg");
    }
}
