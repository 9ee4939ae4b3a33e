//! Shows the progress and the remaining time of a run. On a terminal, the progress is a bar. Otherwise, the progress is
//! one line per round of trials.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use trial::Step;
use verdict::counted;

/// The interval at which the progress bar is redrawn while the trial reports nothing.
const TICK: Duration = Duration::from_millis(250);

/// The number of steps of the progress bar per estimated second of the run.
const POSITIONS_PER_SECOND: f64 = 1000.0;

/// The longest time without output if standard error is not a terminal. A longer round prints a line before its end.
const LONGEST_SILENCE: Duration = Duration::from_mins(1);

/// The progress of the run of one experiment. The remaining time follows from the estimated duration of each trial,
/// corrected by the measured time of the finished trials.
pub(super) struct Progress {
    /// The progress bar. `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
    /// The number of rounds of the experiment.
    rounds: u64,
    /// The number of trials of this run.
    trials: usize,
    trials_done: usize,
    /// The estimated duration of all trials of the run, and of the finished trials (`seconds_done`), in seconds.
    seconds: f64,
    seconds_done: f64,
    /// The time limit of the run in seconds. `None` without a limit.
    budget: Option<f64>,
    /// The total elapsed time of the finished trials.
    elapsed: Duration,
    trial: RunningTrial,
    /// The time at which the progress last printed a line.
    printed: Instant,
    /// Whether to print a line after every trial instead of after every round.
    verbose: bool,
    /// A function that prints a line.
    line: fn(&str),
}

/// The running trial, with its start time.
#[derive(Default)]
struct RunningTrial {
    /// The label of the configuration of the running trial.
    label: String,
    /// The number of the round of the trial, starting at 1.
    round: u64,
    /// The phases of the trial, each with its estimated duration in seconds.
    phases: Vec<(String, f64)>,
    started: Option<Instant>,
}

impl RunningTrial {
    fn seconds(&self) -> f64 {
        self.phases.iter().map(|(_, seconds)| seconds).sum()
    }
}

/// The size of a run: the number of rounds, the number of trials, and the estimated duration in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) rounds: u64,
    pub(super) trials: usize,
    pub(super) seconds: f64,
    /// The time limit of the run in seconds. `None` without a limit.
    pub(super) budget: Option<f64>,
}

impl Progress {
    /// Creates the progress at the start of a run. If `verbose` is set, a line is printed after every trial instead of
    /// after every round.
    pub(super) fn new(experiment: &str, extent: Extent, verbose: bool, line: fn(&str)) -> Self {
        let Extent { rounds, trials, seconds, budget } = extent;
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{prefix} {bar:20} {wide_msg}");
            let style = style.expect("the template of the progress bar must be valid").progress_chars("━╸─");
            let bar = ProgressBar::new((seconds * POSITIONS_PER_SECOND) as u64);
            bar.enable_steady_tick(TICK);
            bar.with_style(style).with_prefix(experiment.to_owned())
        });
        Self {
            bar,
            rounds,
            trials,
            trials_done: 0,
            seconds,
            seconds_done: 0.0,
            budget,
            elapsed: Duration::ZERO,
            trial: RunningTrial::default(),
            printed: Instant::now(),
            verbose,
            line,
        }
    }

    /// Starts the progress of a trial in the round with the number `round`. The first round has the number 1.
    pub(super) fn begin(&mut self, label: String, round: u64, phases: Vec<(String, f64)>) {
        self.trial = RunningTrial { label, round, phases, started: Some(Instant::now()) };
        self.draw(0.0, "");
    }

    /// Shows a progress message of the running trial.
    pub(super) fn update(&self, step: Step) {
        let Some((name, seconds)) = self.trial.phases.get(step.phase) else { return };
        let before: f64 = self.trial.phases[..step.phase].iter().map(|(_, seconds)| seconds).sum();
        let checking = if step.checking { ", checking answers" } else { "" };
        self.draw(before + seconds * step.share, &format!(", phase {name}{checking}"));
    }

    /// Draws the progress bar. `seconds` is the estimated duration of the finished part of the running trial.
    fn draw(&self, seconds: f64, phase: &str) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(((self.seconds_done + seconds) * POSITIONS_PER_SECOND) as u64);
        bar.set_message(format!("{} · {}{phase}", self.state(seconds), self.trial.label));
    }

    /// Removes `trials` trials from the size of the run, because their configuration has failed and they will not run.
    /// `seconds` is their estimated duration.
    pub(super) fn leave_out(&mut self, trials: usize, seconds: f64) {
        self.trials -= trials;
        self.seconds -= seconds;
    }

    /// Ends the progress of the running trial, and prints a line if one is due.
    pub(super) fn end(&mut self, is_last_of_round: bool) {
        self.trials_done += 1;
        self.seconds_done += self.trial.seconds();
        let took = self.trial.started.map_or(Duration::ZERO, |started| started.elapsed());
        self.elapsed += took;
        if self.verbose {
            let RunningTrial { label, round, .. } = &self.trial;
            let (done, trials, rounds) = (self.trials_done, self.trials, self.rounds);
            self.print(&format!(
                "  trial {done} of {trials}: {label}, round {round} of {rounds}, {:.1} s",
                took.as_secs_f64()
            ));
        }
        match &self.bar {
            Some(_) => self.draw(0.0, ""),
            None if is_last_of_round || self.printed.elapsed() >= LONGEST_SILENCE => {
                self.print(&format!("  {}", self.state(0.0)));
                self.printed = Instant::now();
            }
            None => {}
        }
    }

    /// Returns a text about the progress, such as `round 3 of 6, 12 of 24 trials, 18 s left`.
    fn state(&self, seconds: f64) -> String {
        let Self { rounds, trials, trials_done, .. } = self;
        let (trials, left) = (counted(*trials, "trial"), in_words(self.seconds_left(seconds)));
        format!("round {} of {rounds}, {trials_done} of {trials}, {left} left", self.trial.round)
    }

    /// Returns the estimated remaining time of the run in seconds, corrected by the time of the finished trials.
    /// `seconds` is the estimated duration of the finished part of the running trial.
    fn seconds_left(&self, seconds: f64) -> f64 {
        let left = (self.seconds - self.seconds_done - seconds).max(0.0);
        let pace = if self.seconds_done > 0.0 { self.elapsed.as_secs_f64() / self.seconds_done } else { 1.0 };
        let most = self.budget.map_or(f64::INFINITY, |budget| budget - self.elapsed.as_secs_f64());
        (left * pace).min(most.max(0.0))
    }

    /// Prints a line. On a terminal, the line is above the bar.
    pub(super) fn print(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| (self.line)(text)),
            None => (self.line)(text),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Formats a duration with suitable units, such as `18 s`, `12 min` or `2 h 5 min`.
fn in_words(seconds: f64) -> String {
    let whole = seconds.ceil() as u64;
    let minutes = whole.div_ceil(60);
    match (whole, minutes) {
        (0..100, _) => format!("{whole} s"),
        (_, ..100) => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (seconds, text) in
            [(0.0, "0 s"), (17.2, "18 s"), (99.0, "99 s"), (700.0, "12 min"), (7_500.0, "2 h 5 min")]
        {
            assert_eq!(in_words(seconds), text);
        }
    }

    #[test]
    fn the_pace_of_the_trials_that_are_done_corrects_the_estimate() {
        let extent = Extent { rounds: 2, trials: 4, seconds: 8.0, budget: None };
        let mut progress = Progress::new("x", extent, false, |_| ());
        let phases = vec![("load".to_owned(), 1.5), ("look".to_owned(), 0.5)];
        progress.begin("a".to_owned(), 1, phases.clone());
        assert_eq!(progress.state(0.0), "round 1 of 2, 0 of 4 trials, 8 s left");
        progress.end(false);
        // Trials take three times as long as estimated.
        progress.elapsed = Duration::from_secs(6);
        progress.begin("b".to_owned(), 1, phases);
        assert_eq!(progress.state(0.0), "round 1 of 2, 1 of 4 trials, 18 s left");
        assert_eq!(progress.state(1.0), "round 1 of 2, 1 of 4 trials, 15 s left");
        progress.budget = Some(10.0);
        assert_eq!(progress.state(0.0), "round 1 of 2, 1 of 4 trials, 4 s left");
    }
}
