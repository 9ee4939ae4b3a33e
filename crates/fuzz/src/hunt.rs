//! Searches for inputs that violate an invariant, without libFuzzer. A search runs a target on its corpus and on seeded
//! mutations of the corpus.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::mutate::mutate;
use crate::regressions::regressions;
use crate::target::FuzzTarget;

/// The settings of a search for inputs that make a fuzz target fail.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// The seed of the mutations.
    pub seed: u64,
    /// The number of mutated inputs that the search tries.
    pub changes: usize,
    /// The maximum wall time for one input. This time must be long, because other processes may use the CPU.
    pub patience: Duration,
}

/// An input that violates an invariant.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The bytes of the input.
    pub input: Vec<u8>,
    /// A description of the violation, such as the message of a panic.
    pub message: String,
}

/// The numbers of inputs in a search that found no failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// The number of inputs that the target received.
    pub inputs: usize,
    /// The number of inputs that the reader under test accepted as valid.
    pub accepted: usize,
    /// The number of mutated inputs that the reader under test accepted as valid.
    pub accepted_changes: usize,
}

/// A message between the two threads of a search. The thread that runs the target sends the message to the thread that
/// watches the timeout.
enum News {
    /// The thread has started to run the target on this input.
    Feeds(Vec<u8>),
    /// The search has ended, because an invariant was violated or all inputs were tried.
    Ended(Result<Fed, Failure>),
}

impl Hunt {
    /// Runs `target` on its corpus, on earlier findings, and on seeded mutations of both. Returns how many inputs the
    /// target received and accepted.
    ///
    /// # Errors
    /// Returns the first input that violates an invariant, does not terminate, or is a seed that the target rejects. If
    /// the target does not terminate on an input, its thread keeps running. A target without a corpus is an error, too.
    pub fn run(&self, target: &FuzzTarget) -> Result<Fed, Failure> {
        let (sender, news) = channel();
        let (hunt, target) = (*self, *target);
        thread::spawn(move || {
            let ended = hunt.feed_all(&target, &sender);
            // The receiver is gone after a timeout.
            let _ = sender.send(News::Ended(ended));
        });
        self.watch(&news)
    }

    fn watch(&self, news: &Receiver<News>) -> Result<Fed, Failure> {
        let mut fed = Vec::new();
        loop {
            let message = match news.recv_timeout(self.patience) {
                Ok(News::Feeds(input)) => {
                    fed = input;
                    continue;
                }
                Ok(News::Ended(ended)) => return ended,
                Err(RecvTimeoutError::Timeout) => {
                    format!("the target did not finish the input within {:?}", self.patience)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    "the target panicked before its first input, while it built its corpus".to_owned()
                }
            };
            return Err(Failure { input: fed, message });
        }
    }

    fn feed_all(&self, target: &FuzzTarget, news: &Sender<News>) -> Result<Fed, Failure> {
        let mut corpus = (target.seeds)();
        let seeds = corpus.len();
        let failure =
            |input: &[u8], message: &str| Failure { input: input.to_vec(), message: message.to_owned() };
        if seeds == 0 {
            return Err(failure(&[], "the target has no corpus"));
        }
        corpus.extend(regressions(target.name).into_iter().map(|(_, input)| input));
        let mut count = Fed::default();
        let feed = |count: &mut Fed, input: &[u8]| {
            count.inputs += 1;
            count.accepted += usize::from(feed(target, input, news)?);
            Ok(())
        };
        for input in &corpus {
            feed(&mut count, input)?;
            if count.inputs <= seeds && count.accepted < count.inputs {
                return Err(failure(input, "the target rejects this input of its corpus"));
            }
        }
        let accepted = count.accepted;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        (0..self.changes).try_for_each(|_| feed(&mut count, &mutate(&corpus, target.form, &mut random)))?;
        Ok(Fed { accepted_changes: count.accepted - accepted, ..count })
    }
}

fn feed(target: &FuzzTarget, input: &[u8], news: &Sender<News>) -> Result<bool, Failure> {
    let _ = news.send(News::Feeds(input.to_vec()));
    catch_unwind(AssertUnwindSafe(|| (target.run)(input)))
        .map_err(|panic| Failure { input: input.to_vec(), message: message(&*panic) })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message").to_owned()
}
