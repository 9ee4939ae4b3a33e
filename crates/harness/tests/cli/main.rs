//! The program as its users meet it: files in, exit codes, files and text out.

mod bad_input;
mod bench;
mod conditions;
mod counted;
mod documents;
mod doors;
mod fixtures;
mod gate;
mod history;
mod kills;
mod levels;
mod oracles;
mod peers;
mod refusals;
mod replay;
mod report;
mod resume;
mod shell;
mod subjects;
mod sweeps;
mod timed;
mod torture;
mod values;
mod verdicts;
mod verify;
mod wrong;
