//! Tests of the exported functions: random calls that are compared with a map, a program in C, and the list of names.

#![allow(unsafe_code, clippy::print_stderr)] // the tests call C functions, and print what they cannot check

mod calls;
mod exports;
mod model;
mod program;
