//! Links each measured column to the column with its theoretical value or bound.

use crate::columns as c;
use crate::{Metric, Row};

/// A measured column, and the column with its theoretical value or bound.
#[derive(Debug)]
pub struct Expectation {
    /// The column with the measured value.
    pub of: &'static Metric,
    /// The column with the expected value, or with the bound.
    pub by: &'static Metric,
    /// The column with the residual (the relative difference between the measured and the expected value), if such a
    /// column exists.
    pub residual: Option<&'static Metric>,
    /// Whether `by` contains a bound instead of an expected value.
    pub is_bound: bool,
    /// The name of the theoretical value or bound in the legend of a chart.
    pub name: &'static str,
}

/// All measured columns with a theoretical value or bound. If a column has several bounds, charts show the first bound
/// that has values.
pub static EXPECTATIONS: &[Expectation] = &[
    theory(&c::FPR, &c::EXPECTED_FPR, Some(&c::FPR_RESIDUAL)),
    theory(&c::WRITE_AMP_SETTLED, &c::EXPECTED_WRITE_AMP, Some(&c::WRITE_AMP_RESIDUAL)),
    theory(&c::WRITE_AMP, &c::EXPECTED_WRITE_AMP, Some(&c::WRITE_AMP_RESIDUAL)),
    theory(&c::BLOB_BYTES_WRITTEN, &c::EXPECTED_BLOB_BYTES_WRITTEN, Some(&c::BLOB_BYTES_RESIDUAL)),
    theory(&c::BLOB_LIVE_SHARE, &c::EXPECTED_BLOB_LIVE_SHARE, None),
    theory(&c::RUNS_SETTLED, &c::EXPECTED_RUNS, None),
    theory(&c::RUNS, &c::EXPECTED_RUNS, None),
    theory(&c::LEVELS_SETTLED, &c::EXPECTED_LEVELS, None),
    theory(&c::LEVELS, &c::EXPECTED_LEVELS, None),
    theory(&c::BLOCKS_PER_GET, &c::EXPECTED_BLOCKS_PER_GET, Some(&c::BLOCKS_PER_GET_RESIDUAL)),
    theory(&c::CACHE_HIT_RATE, &c::EXPECTED_HIT_RATE, Some(&c::HIT_RATE_RESIDUAL)),
    theory(&c::SPACE_AMP_SETTLED, &c::MOST_SPACE_AMP, Some(&c::SPACE_AMP_RESIDUAL)),
    bound(&c::SPACE_AMP_SETTLED, &c::LEAST_SPACE_AMP, "every key once"),
    bound(&c::CACHE_HIT_RATE, &c::BEST_HIT_RATE, "best possible"),
    bound(&c::CACHE_HIT_RATE, &c::BEST_STATIC_HIT_RATE, "best static set"),
];

const fn theory(of: &'static Metric, by: &'static Metric, residual: Option<&'static Metric>) -> Expectation {
    Expectation { of, by, residual, is_bound: false, name: "theory" }
}

const fn bound(of: &'static Metric, by: &'static Metric, name: &'static str) -> Expectation {
    Expectation { of, by, residual: None, is_bound: true, name }
}

impl Expectation {
    /// Returns the theoretical values and bounds of the measured column with the name `column`.
    pub fn of(column: &str) -> impl Iterator<Item = &'static Self> {
        EXPECTATIONS.iter().filter(move |expectation| expectation.of.name == column)
    }

    /// Fills the empty residual columns of a row. A residual is measured value / expected value − 1. It remains empty
    /// if the measured value is unknown, or if the expected value is unknown or not above 0.
    pub fn complete(row: &mut Row) {
        for expectation in EXPECTATIONS {
            let Some(residual) = expectation.residual.filter(|residual| row.get(residual).is_empty()) else {
                continue;
            };
            let both = row.get(expectation.of).number().zip(row.get(expectation.by).number());
            if let Some((measured, expected)) = both.filter(|(_, expected)| *expected > 0.0) {
                row.set(residual, measured / expected - 1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn residuals_are_parts_of_what_was_expected() {
        let mut row = Row::new(&Schema::runs::<&str>(&[]).unwrap());
        row.set(&c::FPR, 0.03).set(&c::EXPECTED_FPR, 0.02).set(&c::WRITE_AMP, 9.0);
        row.set(&c::WRITE_AMP_SETTLED, 5.0).set(&c::EXPECTED_WRITE_AMP, 4.0);
        row.set(&c::CACHE_HIT_RATE, 0.5).set(&c::EXPECTED_HIT_RATE, 0.0);
        Expectation::complete(&mut row);
        let near =
            |metric: &Metric, expected: f64| (row.get(metric).number().unwrap() - expected).abs() < 1e-12;
        assert!(near(&c::FPR_RESIDUAL, 0.5) && near(&c::WRITE_AMP_RESIDUAL, 0.25));
        assert!(row.get(&c::HIT_RATE_RESIDUAL).is_empty() && row.get(&c::BLOCKS_PER_GET_RESIDUAL).is_empty());
    }

    #[test]
    fn what_is_known_is_in_the_unit_of_its_column() {
        for expectation in EXPECTATIONS {
            assert_eq!(expectation.of.unit, expectation.by.unit, "{}", expectation.of.name);
            assert!(crate::reference::metric(expectation.by.name).is_some());
        }
        let names: Vec<&str> = Expectation::of("cache_hit_rate").map(|known| known.by.name).collect();
        assert_eq!(names, ["expected_hit_rate", "best_hit_rate", "best_static_hit_rate"]);
    }
}
