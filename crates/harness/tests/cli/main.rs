//! Tests of the program `lsmbench` as a user runs it. The tests check input files, exit codes, written files and
//! printed texts.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "only the tests that need Linux use some helpers")
)]

mod arbiter;
mod bad_input;
mod batches;
mod bench;
mod blobs;
mod budget;
mod commands;
mod conditions;
mod counted;
mod documents;
mod doors;
mod effects;
mod engines;
mod external;
mod families;
mod fixtures;
mod forewarned;
mod gate;
mod gates;
mod history;
mod honest;
mod indexes;
mod inside;
mod kept;
mod kills;
mod levels;
mod live;
mod lookups;
mod markdown;
mod merge;
mod merges;
mod museum;
mod new;
mod oracles;
mod page;
mod pages;
mod parts;
mod peers;
mod profiles;
mod range_deletes;
mod recipes;
mod reference;
mod refusals;
mod replay;
mod report;
mod resume;
mod roles;
mod seeds;
mod serve;
mod served;
mod served_families;
mod shell;
mod simulate;
mod single_deletes;
mod site;
mod slices;
#[cfg(target_os = "linux")]
mod steps;
mod subjects;
mod submit;
mod sweeps;
mod timed;
mod torture;
mod trace_tools;
mod traces;
mod tune;
mod unread;
mod values;
mod verdicts;
mod verify;
mod workloads;
mod write_stalls;
mod wrong;
