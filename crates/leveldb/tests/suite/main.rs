//! Tests of the exported functions: against a map, from C, and by name.

#![allow(unsafe_code, clippy::print_stderr)] // the tests call C functions, and print what they cannot check

mod calls;
mod exports;
mod model;
mod program;
