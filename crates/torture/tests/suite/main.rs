//! Every shipped kind of design explored a little, and every planted bug caught.

#![allow(clippy::print_stdout)] // what was tried is worth reading in the output of a test

mod shipped;
