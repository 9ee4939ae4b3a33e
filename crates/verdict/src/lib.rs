//! Verdicts from results: which variant is better, by how much, and with which confidence.
//!
//! [`Verdicts`] judges one experiment by its rows. [`ComparisonReport`] compares base results with new results.
//! [`check_goldens`] and [`against`] use this report to gate a CI run. [`series`] finds the runs at which a metric
//! changed. [`EngineTables`] renders tables of engines, [`calibrate`] measures how often verdicts are right, and
//! [`Charts`] draws the charts of an experiment. This crate reads only the files of results folders, so it does not
//! depend on trees, engines or components. The facts of an experiment that a verdict needs are plain data
//! ([`ExperimentFacts`]). The caller runs the experiments of a check ([`Runner`]).
//!
//! This example finds the run at which the throughput of a configuration fell:
//!
//! ```
//! use lsmbench_verdict::series;
//! use results::history::{EXPERIMENT, MEDIAN, METRIC, row};
//!
//! let throughput = [101.0, 99.0, 100.0, 102.0, 98.0, 100.0, 81.0, 79.0, 80.0, 82.0, 78.0, 80.0];
//! let history = throughput.map(|median| {
//!     let mut run = row();
//!     run.set(&EXPERIMENT, "filters").set(&METRIC, "ops_per_second").set(&MEDIAN, median);
//!     run
//! });
//! let found = series(&history);
//! assert_eq!(found[0].change_points, [6]);
//! assert_eq!(found[0].changes()[0].verdict(found[0].metric.better), "regressed");
//! ```

mod calibration;
mod calibration_table;
mod change;
mod charts;
mod compare;
mod cpu_profile;
mod effects;
mod engine_tables;
mod extract;
mod facts;
mod gate;
mod history;
mod judge;
mod markdown;
mod row_sentences;
mod runner;
mod slices;
mod trial_rows;
mod verdict_settings;
mod words;

pub use calibration::{Calibration, JudgeRun, calibrate};
pub use calibration_table::{CalibrationSeries, CalibrationTable, JudgedRun, Method};
pub use change::Change as RatioChange;
pub use charts::Charts;
pub use compare::{ComparisonReport, Pairing, ReportFormat, Samples};
pub use cpu_profile::{CpuProfile, short_name};
pub use effects::{Effects, Selection};
pub use engine_tables::{EngineTables, MarkdownPage, Targets, keep};
pub use extract::{Names, copy_rows, kept_manifest};
pub use facts::{CellFacts, ComponentFacts, Contrast, ExperimentFacts};
pub use gate::{Against, FailOn, GateRule, Goldens, Tolerance, against, check_goldens};
pub use history::{Change, HistoryRun, Series, add, add_command, entries, series};
pub use judge::{
    Gated, LOOKS_ALPHA, Machines, NO_QUICK_VERDICT, PhaseCounters, Verdicts, baselines, judged_phase,
    noisy_baselines, rows_of_rounds, screen, sentences,
};
pub use row_sentences::{best_sentence, row_sentences};
pub use runner::Runner;
pub use slices::slices_note;
pub use trial_rows::TrialRows;
pub use verdict_settings::VerdictSettings;
pub use words::{and_more, counted, wrapped};
