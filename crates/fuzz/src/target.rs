//! What is fuzzed.

/// One reader of bytes or text from outside.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, as in `just fuzz NAME SECONDS`.
    pub name: &'static str,
    /// What it reads, and what is held to.
    pub about: &'static str,
    /// What its inputs are made of.
    pub form: Form,
    /// Inputs that it accepts, made by what writes them.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Feeds it one input.
    ///
    /// # Panics
    /// Where a law is broken.
    pub run: fn(&[u8]),
}

/// What inputs are made of: it decides how they are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lengths, offsets and contents.
    Bytes,
    /// Lines, words and numbers.
    Text,
}
