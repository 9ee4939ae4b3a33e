//! Looking for a broken law without a fuzzer: the corpus, and seeded changes of it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::mutate::mutate;
use crate::regressions::regressions;
use crate::target::Target;

/// How much is looked at, and how long is waited.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// The seed of the changes.
    pub seed: u64,
    /// The number of changed inputs.
    pub changes: usize,
    /// How long one input may take by the clock of the machine, which others use too.
    pub patience: Duration,
}

/// An input that breaks a law.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The input.
    pub input: Vec<u8>,
    /// What the panic said.
    pub message: String,
}

/// What the thread that feeds a target tells the one that watches it.
enum News {
    /// It feeds this input from now on.
    Feeds(Vec<u8>),
    /// It has found a broken law, or fed so many inputs.
    Ended(Result<usize, Failure>),
}

impl Hunt {
    /// Feeds `target` its corpus, what was found before, and seeded changes of both; returns how many inputs that
    /// was.
    ///
    /// # Errors
    /// The first input that breaks a law, or does not come to an end; the thread that it holds is left to itself.
    pub fn run(&self, target: &Target) -> Result<usize, Failure> {
        let (sender, news) = channel();
        let (hunt, target) = (*self, *target);
        thread::spawn(move || {
            let ended = hunt.feed_all(&target, &sender);
            // Whoever has lost patience listens no more.
            let _ = sender.send(News::Ended(ended));
        });
        self.watch(&news)
    }

    fn watch(&self, news: &Receiver<News>) -> Result<usize, Failure> {
        let mut fed = Vec::new();
        loop {
            let message = match news.recv_timeout(self.patience) {
                Ok(News::Feeds(input)) => {
                    fed = input;
                    continue;
                }
                Ok(News::Ended(ended)) => return ended,
                Err(RecvTimeoutError::Timeout) => format!("it does not end within {:?}", self.patience),
                Err(RecvTimeoutError::Disconnected) => "making the corpus panics".to_owned(),
            };
            return Err(Failure { input: fed, message });
        }
    }

    fn feed_all(&self, target: &Target, news: &Sender<News>) -> Result<usize, Failure> {
        let mut corpus = (target.seeds)();
        corpus.extend(regressions(target.name).into_iter().map(|(_, input)| input));
        corpus.iter().try_for_each(|input| feed(target, input, news))?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        for _ in 0..self.changes {
            feed(target, &mutate(&corpus, target.form, &mut random), news)?;
        }
        Ok(corpus.len() + self.changes)
    }
}

fn feed(target: &Target, input: &[u8], news: &Sender<News>) -> Result<(), Failure> {
    let _ = news.send(News::Feeds(input.to_vec()));
    catch_unwind(AssertUnwindSafe(|| (target.run)(input)))
        .map_err(|panic| Failure { input: input.to_vec(), message: message(&*panic) })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text").to_owned()
}
