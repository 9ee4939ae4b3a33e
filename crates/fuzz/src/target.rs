//! The description of a fuzz target.

/// A fuzz target: one reader of bytes or text from an untrusted source, with its inputs and its invariants.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// The name of the target, as in `just fuzz NAME SECONDS`.
    pub name: &'static str,
    /// A description of the input and of the checked invariants.
    pub about: &'static str,
    /// The kind of inputs, which determines how inputs are mutated.
    pub form: InputForm,
    /// A function that returns the seed corpus: valid inputs that the encoders create.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// A function that passes one input to the reader and checks the invariants. The function returns whether the
    /// reader accepted the input.
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
