//! The contradictions in `experiments/`, with the results of their computations.

use std::fs;

use lsmbench_report::{Contradiction, Settled};
use toml::Table;

use crate::common::{claims, folder};

/// Returns the contradictions of a document with their rulings.
pub(crate) fn contradictions(document: &str) -> Vec<Settled> {
    let text = fs::read_to_string(folder(document).join("contradictions.toml")).unwrap();
    let mut table: Table = text.parse().unwrap();
    let all: Vec<Contradiction> = table.remove("contradiction").unwrap().try_into().unwrap();
    all.into_iter().map(|one| one.settle(document, &claims(document)).unwrap()).collect()
}
