//! Telling how far a run is: a bar with an ETA on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use trial::Step;

/// How often the bar is drawn anew while nothing is heard of the trial.
const TICK: Duration = Duration::from_millis(250);

/// Positions of the bar per second that a run was estimated to take.
const POSITIONS_PER_SECOND: f64 = 1000.0;

/// The progress of one experiment. Work is weighed by the seconds that it was estimated to take.
pub(super) struct Progress {
    /// The bar; none where standard error is no terminal.
    bar: Option<ProgressBar>,
    trials: usize,
    trials_done: usize,
    seconds_done: f64,
    trial: TrialProgress,
    /// Prints a line, where there is no bar or above it.
    line: fn(&str),
}

/// The trial that runs.
#[derive(Default)]
struct TrialProgress {
    what: String,
    /// Its phases, each with the seconds that it was estimated to take.
    phases: Vec<(String, f64)>,
    started: Option<Instant>,
}

impl Progress {
    /// Progress towards `trials` trials that were estimated to take `seconds`.
    pub(super) fn new(experiment: &str, trials: usize, seconds: f64, line: fn(&str)) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{prefix} {bar:30} {percent:>3} % · {eta} left · {wide_msg}");
            let style = style.expect("the template is right").progress_chars("━╸─");
            let bar = ProgressBar::new((seconds * POSITIONS_PER_SECOND) as u64);
            bar.enable_steady_tick(TICK);
            bar.with_style(style).with_prefix(experiment.to_owned())
        });
        Self { bar, trials, trials_done: 0, seconds_done: 0.0, trial: TrialProgress::default(), line }
    }

    /// A trial begins.
    pub(super) fn begin(&mut self, what: String, phases: Vec<(String, f64)>) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.clone());
        }
        self.trial = TrialProgress { what, phases, started: Some(Instant::now()) };
    }

    /// The trial is this far.
    pub(super) fn update(&self, step: Step) {
        let Some(bar) = &self.bar else { return };
        let Some((name, seconds)) = self.trial.phases.get(step.phase) else { return };
        let before: f64 = self.trial.phases[..step.phase].iter().map(|(_, seconds)| seconds).sum();
        let position = self.seconds_done + before + seconds * step.share;
        bar.set_position((position * POSITIONS_PER_SECOND) as u64);
        let checking = if step.checking { " · checking answers" } else { "" };
        bar.set_message(format!("{} · {name}{checking}", self.trial.what));
    }

    /// The trial is over.
    pub(super) fn end(&mut self) {
        self.trials_done += 1;
        self.seconds_done += self.trial.phases.iter().map(|(_, seconds)| seconds).sum::<f64>();
        if let Some(bar) = &self.bar {
            bar.set_position((self.seconds_done * POSITIONS_PER_SECOND) as u64);
            return;
        }
        let seconds = self.trial.started.map_or(0.0, |started| started.elapsed().as_secs_f64());
        let width = self.trials.to_string().len();
        (self.line)(&format!(
            "  {:>width$} of {}: {}, {seconds:.1} s",
            self.trials_done, self.trials, self.trial.what
        ));
    }

    /// Tells something, above the bar where there is one.
    pub(super) fn tell(&self, text: &str) {
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
