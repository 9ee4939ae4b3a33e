//! The description of a fuzz target.

/// A reader of bytes or text from an untrusted source.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// The name of the target, as in `just fuzz NAME SECONDS`.
    pub name: &'static str,
    /// A description of the input and of the checked invariants.
    pub about: &'static str,
    /// The kind of inputs.
    pub form: InputForm,
    /// Returns the seed corpus: valid inputs that the encoders create.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Passes one input to the reader, and checks the invariants. Returns whether the reader accepted the input.
    ///
    /// # Panics
    /// Panics if an invariant is violated.
    pub run: fn(&[u8]) -> bool,
}

/// The kind of inputs, which determines their mutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputForm {
    /// Binary inputs with lengths, offsets and contents.
    Bytes,
    /// Text, which is mutated by lines, words and numbers.
    Text,
}
