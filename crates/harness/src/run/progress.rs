//! Telling how far a run is: a bar with an ETA on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

/// The progress of one experiment.
pub(super) struct Progress {
    /// The bar; none where standard error is no terminal.
    bar: Option<ProgressBar>,
    /// Operations of the trials that are over.
    finished: u64,
    /// Operations of the phases of this trial that are over, and the phase that runs.
    phase: (String, u64),
    last_done: u64,
    started: Instant,
}

impl Progress {
    /// Progress towards `operations` in all.
    pub(super) fn new(experiment: &str, operations: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{prefix} {bar:30} {percent:>3} % · {eta} left · {wide_msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
            ProgressBar::new(operations).with_style(style).with_prefix(experiment.to_owned())
        });
        Self { bar, finished: 0, phase: (String::new(), 0), last_done: 0, started: Instant::now() }
    }

    /// A trial begins.
    pub(super) fn begin(&mut self, what: &str) {
        self.phase = (String::new(), 0);
        self.last_done = 0;
        self.started = Instant::now();
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
        }
    }

    /// A phase of the trial is this far.
    pub(super) fn update(&mut self, what: &str, phase: &str, done: u64) {
        if self.phase.0 != phase {
            self.phase = (phase.to_owned(), self.phase.1 + self.last_done);
        }
        self.last_done = done;
        if let Some(bar) = &self.bar {
            bar.set_position(self.finished + self.phase.1 + done);
            bar.set_message(format!("{what} · {phase}"));
        }
    }

    /// The trial is over; `operations` is what it was expected to do.
    pub(super) fn end(&mut self, what: &str, operations: u64) {
        self.finished += operations;
        match &self.bar {
            Some(bar) => bar.set_position(self.finished),
            None => line(&format!("{what}: {:.1} s", self.started.elapsed().as_secs_f64())),
        }
    }

    /// All trials are over.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Writes a line to standard error; a reader that is gone is no error.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
