//! Controls the trial process of one configuration. This process takes turns with the trial processes of the other
//! configurations.

use std::time::{Duration, Instant};

use measure::probe::monotonic_ns;
use trial::{Message, Slice, Step, TrialReport, TrialSpec, Turn, Yielded};
use types::{Outcome, Problem};

use super::trial_process::{Event, TrialProcess};
use crate::interrupt;

/// The interval at which a waiting run checks whether the user has interrupted it.
const LOOK_UP_PERIOD: Duration = Duration::from_millis(50);

/// The state of a trial process, according to its last message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// The process does work that is not timed, such as opening its store, preparing a phase, or checking answers.
    Working,
    /// The process waits for a turn, in which it executes the first operations of a phase.
    Ready {
        /// The name of the phase that the process executes next.
        phase: String,
        /// The number of operations of the phase, if known.
        operations: Option<u64>,
    },
    /// The process has executed its operations of one turn (a slice).
    Ran(Slice),
    /// The process executes a call that is not divided into operations, such as waiting for compactions.
    Calling,
    /// The process has ended.
    Over,
}

/// A trial process that takes turns with other trial processes. It is paused between its turns.
pub(super) struct Side {
    process: TrialProcess,
    pub(super) state: State,
    /// The report of the trial, or its error. `None` until the process has ended.
    outcome: Option<Outcome<TrialReport>>,
    /// The total time for which the process was paused during calls such as a flush, in nanoseconds.
    stopped_ns: u64,
    /// The time at which the parent last paused the process, in nanoseconds of the monotonic clock. `None` while the
    /// process runs.
    stopped_at_ns: Option<u64>,
    /// The start and the end of the last pause during a call such as a flush, in nanoseconds of the monotonic clock.
    last_stop_ns: Option<(u64, u64)>,
}

impl Side {
    /// Starts the process of a trial that takes turns with others.
    pub(super) fn start(spec: &TrialSpec, line: fn(&str)) -> Outcome<Self> {
        Ok(Self {
            process: TrialProcess::start(spec, &[], line)?,
            state: State::Working,
            outcome: None,
            stopped_ns: 0,
            stopped_at_ns: None,
            last_stop_ns: None,
        })
    }

    /// Returns the report of the trial or its error. Call this function after the process has ended.
    pub(super) fn into_outcome(self) -> Outcome<TrialReport> {
        self.outcome
            .unwrap_or_else(|| Err(Problem::new("the trial process has not ended, so it has no report")))
    }

    /// Runs one turn of the process, and then pauses it. A turn ends when the process waits for its next turn, or after
    /// the time `slice` of a call such as a flush. Returns `false` if the user interrupted the run.
    pub(super) fn take_turn(
        &mut self,
        operations: u64,
        slice: Duration,
        progress: &mut dyn FnMut(Step),
    ) -> Outcome<bool> {
        self.begin_turn(operations)?;
        if !self.end_turn(Some(slice), progress)? {
            return Ok(false);
        }
        if self.state != State::Over {
            self.process.stop()?;
            self.stopped_at_ns = Some(monotonic_ns());
        }
        Ok(true)
    }

    /// Starts a turn of the paused process, in which the process executes `operations` operations.
    pub(super) fn begin_turn(&mut self, operations: u64) -> Outcome<()> {
        if let Some(from) = self.stopped_at_ns.take() {
            if self.state == State::Calling {
                let now = monotonic_ns();
                self.last_stop_ns = Some((from, now));
                self.stopped_ns += now.saturating_sub(from);
            }
            self.process.go_on()?;
        }
        match self.state {
            State::Ready { .. } | State::Ran(_) => {
                self.process.give(Turn { operations, stopped_ns: self.stopped_ns });
                self.state = State::Working;
            }
            State::Working | State::Calling | State::Over => {}
        }
        Ok(())
    }

    /// Waits until the process has finished its turn. Waits at most the time `slice` for a call such as a flush, or
    /// until the call ends if `slice` is `None`. Returns `false` if the user interrupted the run.
    pub(super) fn end_turn(
        &mut self,
        slice: Option<Duration>,
        progress: &mut dyn FnMut(Step),
    ) -> Outcome<bool> {
        let mut deadline = slice.map(|slice| Instant::now() + slice);
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let is_calling = self.state == State::Calling;
            let most = left.filter(|_| is_calling).map_or(LOOK_UP_PERIOD, |left| left.min(LOOK_UP_PERIOD));
            let event = self.process.wait(most);
            if interrupt::is_requested() {
                return Ok(false);
            }
            match event {
                Event::Message(Message::Progress(step)) => progress(step),
                Event::Message(Message::Done(report)) => self.outcome = Some(Ok(report)),
                Event::Message(Message::Failed(message)) => self.outcome = Some(Err(Problem::new(message))),
                Event::Message(Message::Yields(Yielded::Calls)) => {
                    self.state = State::Calling;
                    deadline = slice.map(|slice| Instant::now() + slice);
                }
                Event::Message(Message::Yields(Yielded::Ready { phase, operations })) => {
                    self.state = State::Ready { phase, operations };
                    return Ok(true);
                }
                Event::Message(Message::Yields(Yielded::Ran(slice))) => {
                    self.state = State::Ran(slice);
                    return Ok(true);
                }
                // After a call ends, the turn goes on with the next work of the process.
                Event::Message(Message::Yields(Yielded::Returned { at_ns })) => self.return_at(at_ns),
                Event::None if is_calling && left.is_some_and(|left| left.is_zero()) => return Ok(true),
                Event::None => {}
                Event::Ended => return self.end().map(|()| true),
            }
        }
    }

    /// Records that a call such as a flush ended at the time `at_ns` of the monotonic clock, in nanoseconds. The call
    /// may have ended shortly before the process was paused.
    fn return_at(&mut self, at_ns: u64) {
        if let Some((from, to)) = self.last_stop_ns.take().filter(|(from, _)| *from >= at_ns) {
            self.stopped_ns -= to - from;
        }
        self.state = State::Working;
        self.process.give(Turn { operations: 0, stopped_ns: self.stopped_ns });
    }

    fn end(&mut self) -> Outcome<()> {
        self.state = State::Over;
        match &self.outcome {
            Some(_) => drop(self.process.end()?),
            None => self.outcome = Some(Err(self.process.without_result()?)),
        }
        Ok(())
    }
}
