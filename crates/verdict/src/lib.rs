//! Verdicts from results alone: which variant is better, by how much, and how sure that is.
//!
//! [`Verdicts`] judges one experiment by its rows. [`Report`] compares two sides of results, and with it
//! [`check_goldens`] and [`against`] gate a CI run. [`series`] finds the runs at which a number changed, [`League`] makes
//! tables of engines, [`calibrate`] measures how often verdicts are right, and [`Charts`] draws what an experiment asks
//! for. Everything reads the files of a results folder: no tree, no engine and no component is linked. What a verdict
//! must know of an experiment is plain data ([`ExperimentFacts`]), and runs that a check needs are the caller's
//! ([`Runner`]).

mod calibration;
mod charts;
mod compare;
mod extract;
mod facts;
mod gate;
mod history;
mod judge;
mod league;
mod markdown;
mod runner;
mod trial_rows;
mod words;

pub use calibration::{Calibration, calibrate};
pub use charts::Charts;
pub use compare::{Format, Pairing, Report, Samples};
pub use extract::{Names, copy_rows, kept_manifest};
pub use facts::{CellFacts, ComponentFacts, Contrast, ExperimentFacts};
pub use gate::{Against, Goldens, against, check_goldens};
pub use history::{Change, Run, Series, add, entries, series};
pub use judge::{Verdicts, noisy_baselines, sentences};
pub use league::{League, Page, Targets, keep};
pub use runner::Runner;
pub use trial_rows::TrialRows;
pub use words::and_more;
