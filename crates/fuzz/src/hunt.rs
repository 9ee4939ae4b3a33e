//! Looking for a broken law without a fuzzer: the corpus, and seeded changes of it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::mutate::mutate;
use crate::regressions::regressions;
use crate::target::Target;

/// An input that breaks a law.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The input.
    pub input: Vec<u8>,
    /// What the panic said.
    pub message: String,
}

/// Feeds `target` its corpus, what was found before, and `count` seeded changes of both; returns how many inputs
/// that was.
///
/// # Errors
/// The first input that breaks a law.
pub fn hunt(target: &Target, seed: u64, count: usize) -> Result<usize, Failure> {
    let mut corpus = (target.seeds)();
    corpus.extend(regressions(target.name).into_iter().map(|(_, input)| input));
    corpus.iter().try_for_each(|input| feed(target, input))?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..count {
        feed(target, &mutate(&corpus, target.form, &mut random))?;
    }
    Ok(corpus.len() + count)
}

fn feed(target: &Target, input: &[u8]) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input)))
        .map_err(|panic| Failure { input: input.to_vec(), message: message(&*panic) })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text").to_owned()
}
