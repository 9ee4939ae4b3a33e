//! The description of a fuzz target.

/// A reader of bytes or text from an untrusted source.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// The name, as in `just fuzz NAME SECONDS`.
    pub name: &'static str,
    /// The input of the reader, and the checked invariants.
    pub about: &'static str,
    /// The kind of inputs.
    pub form: InputForm,
    /// The seed corpus: accepted inputs, made by the encoders.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Feeds one input to the reader. Returns whether the input was accepted.
    ///
    /// # Panics
    /// Where an invariant is broken.
    pub run: fn(&[u8]) -> bool,
}

/// The kind of inputs, which determines their mutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputForm {
    /// Inputs of lengths, offsets and contents.
    Bytes,
    /// Text, which is mutated by lines, words and numbers.
    Text,
}
