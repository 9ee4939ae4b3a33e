//! Formulas of derived columns. Most formulas divide a sum of counters by another sum of counters.
//!
//! The formulas apply to the rows of `runs.csv`, `timeline.csv` and `levels.csv` of every engine. The value of a
//! derived column is computed in each row that has all terms of its formula. A term is a column of the file, or one
//! of the [`counters`] that are not in any file.
//!
//! Two rules apply to all formulas. A term that was not measured leaves the column empty, because an unknown number is
//! not 0. A denominator of 0 also leaves the column empty, because the quotient is undefined.
//!
//! [`counters`]: crate::counters

use crate::columns as c;
use crate::counters as n;
use crate::levels as l;
use crate::{Measurements, Metric, Value, ValueType};

/// A formula that computes a derived column from other columns and counters of the same row.
#[derive(Debug)]
pub struct Formula {
    /// The column that the formula computes.
    pub column: &'static Metric,
    /// The metrics whose sum is the numerator of the formula.
    numerator: &'static [&'static Metric],
    /// The operation on the numerator. Most formulas divide the numerator by the sum of other metrics.
    denominator: Denominator,
    /// The result of the formula if the sum of its numerator is 0: either 0, or no value.
    zero: Zero,
}

/// The operation of a formula on its numerator: a division, a subtraction, or no change.
#[derive(Debug)]
enum Denominator {
    /// The formula divides by the sum of these metrics.
    Sum(&'static [&'static Metric]),
    /// The formula divides by this constant, which converts a unit, such as nanoseconds per second.
    Units(f64),
    /// The formula subtracts the sum of these metrics from the numerator. A negative difference becomes 0.
    Less(&'static [&'static Metric]),
    /// The formula returns the numerator if this counter is above 0, and no value otherwise.
    OneWhere(&'static Metric),
}

/// The result of a formula if the sum of its numerator is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zero {
    /// The formula gives 0.
    IsZero,
    /// The formula gives no value, because a sum of 0 may mean that the engine does not report the counter.
    IsEmpty,
}

/// The number of nanoseconds in a second.
const SECOND: f64 = 1e9;

const fn ratio(
    column: &'static Metric,
    numerator: &'static [&'static Metric],
    denominator: &'static [&'static Metric],
) -> Formula {
    Formula { column, numerator, denominator: Denominator::Sum(denominator), zero: Zero::IsZero }
}

const fn seconds(column: &'static Metric, nanoseconds: &'static [&'static Metric]) -> Formula {
    Formula { column, numerator: nanoseconds, denominator: Denominator::Units(SECOND), zero: Zero::IsZero }
}

/// All formulas. If a column has several formulas, the first formula with a value applies. A formula may use a column
/// that an earlier formula derives.
pub static FORMULAS: &[Formula] = &[
    ratio(&c::OPS_PER_SECOND, &[&c::OPS], &[&c::SECONDS]),
    ratio(&c::SETTLED_OPS_PER_SECOND, &[&c::OPS], &[&c::SECONDS, &c::SETTLE_SECONDS]),
    // Bytes written per byte of user data.
    ratio(&c::WRITE_AMP, &[&c::FLUSH_BYTES, &c::COMPACTION_BYTES_WRITTEN], &[&c::USER_BYTES_WRITTEN]),
    ratio(&c::WRITE_AMP, &[&l::BYTES_WRITTEN], &[&c::USER_BYTES_WRITTEN]),
    ratio(
        &c::WRITE_AMP_WAL,
        &[&c::WAL_BYTES, &c::FLUSH_BYTES, &c::COMPACTION_BYTES_WRITTEN],
        &[&c::USER_BYTES_WRITTEN],
    ),
    ratio(
        &c::WRITE_AMP_SETTLED,
        &[&c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED],
        &[&c::USER_BYTES_WRITTEN],
    ),
    ratio(&c::WRITE_AMP_SETTLED, &[&l::BYTES_WRITTEN_SETTLED], &[&c::USER_BYTES_WRITTEN]),
    ratio(
        &c::WRITE_AMP_WAL_SETTLED,
        &[&n::WAL_BYTES_SETTLED, &c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED],
        &[&c::USER_BYTES_WRITTEN],
    ),
    ratio(&c::OS_WRITE_AMP, &[&c::OS_WRITE_BYTES], &[&c::USER_BYTES_WRITTEN]),
    ratio(&c::OS_WRITE_AMP_SETTLED, &[&c::OS_WRITE_BYTES_SETTLED], &[&c::USER_BYTES_WRITTEN]),
    // The compaction debt: bytes written after the last operation of the phase.
    Formula {
        column: &c::DEBT_BYTES,
        numerator: &[&c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED],
        denominator: Denominator::Less(&[&c::FLUSH_BYTES, &c::COMPACTION_BYTES_WRITTEN]),
        zero: Zero::IsZero,
    },
    // Bytes stored per live byte.
    ratio(&c::SPACE_AMP, &[&c::TABLE_BYTES], &[&c::LIVE_BYTES]),
    ratio(&c::SPACE_AMP_SETTLED, &[&c::TABLE_BYTES_SETTLED], &[&c::LIVE_BYTES]),
    // Reads. A value that a get fetches from a blob file counts as one more block.
    ratio(
        &c::BLOCKS_PER_GET,
        &[&n::BLOCKS_SEARCHED, &c::BLOB_VALUES_READ, &c::BLOB_VALUES_FROM_CACHE],
        &[&n::GETS_ALONE],
    ),
    ratio(&c::BLOCKS_PER_GET, &[&n::BLOCKS_SEARCHED], &[&n::GETS]),
    // Some engines do not report which kind of operation read a block. Their blocks per get are known only in phases of
    // gets.
    Formula {
        column: &c::BLOCKS_PER_GET,
        numerator: &[&c::BLOCKS_READ, &c::BLOCKS_FROM_CACHE],
        denominator: Denominator::Sum(&[&n::GETS_ALONE]),
        zero: Zero::IsEmpty,
    },
    ratio(
        &c::READ_AMP,
        &[&c::BLOCKS_READ, &c::BLOCKS_FROM_CACHE, &c::BLOB_VALUES_READ, &c::BLOB_VALUES_FROM_CACHE],
        &[&n::READS_ALONE],
    ),
    Formula {
        column: &c::READ_AMP,
        numerator: &[&c::BLOCKS_READ, &c::BLOCKS_FROM_CACHE],
        denominator: Denominator::Sum(&[&n::READS_ALONE]),
        zero: Zero::IsEmpty,
    },
    ratio(&c::CACHE_HIT_RATE, &[&c::BLOCKS_FROM_CACHE], &[&c::BLOCKS_FROM_CACHE, &c::BLOCKS_READ]),
    ratio(&c::FPR, &[&c::FILTER_FALSE_POSITIVES], &[&c::FILTER_FALSE_POSITIVES, &c::FILTER_NEGATIVES]),
    ratio(
        &c::RANGE_FPR,
        &[&n::RANGE_FILTER_FALSE_POSITIVES],
        &[&n::RANGE_FILTER_FALSE_POSITIVES, &c::RANGE_FILTER_NEGATIVES],
    ),
    ratio(&c::SOURCES_PER_RANGE, &[&n::RANGE_SOURCES], &[&n::RANGES]),
    ratio(&c::COMPARISONS_PER_ENTRY, &[&n::RANGE_COMPARISONS], &[&n::RANGE_ENTRIES]),
    Formula {
        column: &c::BLOCK_INDEX_ANSWERS,
        numerator: &[&n::BLOCK_INDEX_HITS],
        denominator: Denominator::OneWhere(&n::BLOCK_INDEX_PROBES),
        zero: Zero::IsZero,
    },
    ratio(&c::BLOCK_INDEX_HIT_RATE, &[&n::BLOCK_INDEX_HITS], &[&n::BLOCK_INDEX_PROBES]),
    // Times.
    seconds(&c::STALL_SECONDS, &[&n::STALL_NS]),
    seconds(&c::DELAY_SECONDS, &[&n::DELAY_NS]),
    seconds(&c::ROTATION_SECONDS, &[&n::ROTATION_NS]),
    seconds(&c::COMPACTION_SECONDS, &[&n::COMPACTION_NS]),
    ratio(&c::SECONDS_PER_COMPACTION, &[&c::COMPACTION_SECONDS], &[&c::COMPACTIONS]),
    seconds(&c::BANDWIDTH_WAIT_SECONDS, &[&n::BANDWIDTH_WAIT_NS]),
    seconds(&c::DEVICE_SECONDS, &[&n::DEVICE_READ_NS, &n::DEVICE_WRITE_NS]),
    seconds(&c::DEVICE_READ_SECONDS, &[&n::DEVICE_READ_NS]),
    seconds(&c::DEVICE_WRITE_SECONDS, &[&n::DEVICE_WRITE_NS]),
    ratio(&c::DEVICE_NS_PER_OP, &[&n::DEVICE_READ_NS, &n::DEVICE_WRITE_NS], &[&c::OPS]),
    // Resources of the process.
    ratio(&c::ALLOCATIONS_PER_OP, &[&n::ALLOCATIONS], &[&c::OPS]),
    ratio(&c::INSTRUCTIONS_PER_CYCLE, &[&c::INSTRUCTIONS], &[&c::CPU_CYCLES]),
    ratio(&c::CPU_CACHE_MISS_RATE, &[&c::CPU_CACHE_MISSES], &[&c::CPU_CACHE_REFERENCES]),
    ratio(&c::INSTRUCTIONS_PER_OP, &[&c::INSTRUCTIONS], &[&c::OPS]),
];

/// Pairs of a settled column and its original column. A settled column, such as `write_amp_settled`, contains the value
/// of its original column after pending flushes and compactions have finished.
pub static SETTLED: &[(&Metric, &Metric)] = &[
    (&n::WAL_BYTES_SETTLED, &c::WAL_BYTES),
    (&c::FLUSH_BYTES_SETTLED, &c::FLUSH_BYTES),
    (&c::COMPACTION_BYTES_READ_SETTLED, &c::COMPACTION_BYTES_READ),
    (&c::COMPACTION_BYTES_WRITTEN_SETTLED, &c::COMPACTION_BYTES_WRITTEN),
    (&c::TABLE_BYTES_SETTLED, &c::TABLE_BYTES),
    (&c::RUNS_SETTLED, &c::RUNS),
    (&c::LEVELS_SETTLED, &c::LEVELS),
    (&c::OS_WRITE_BYTES_SETTLED, &c::OS_WRITE_BYTES),
    (&l::TABLES_SETTLED, &l::TABLES),
    (&l::BYTES_READ_SETTLED, &l::BYTES_READ),
    (&l::BYTES_WRITTEN_SETTLED, &l::BYTES_WRITTEN),
];

impl Formula {
    /// Computes the value of the formula in a row. The value is empty if a metric of the formula was not measured, or
    /// if the denominator is 0.
    pub fn value(&self, row: &Measurements) -> Value {
        self.number(row).map_or(Value::Empty, |number| match self.column.kind {
            ValueType::Integer => Value::Integer(number as i128),
            _ => Value::from(number),
        })
    }

    fn number(&self, row: &Measurements) -> Option<f64> {
        let sum = |terms: &[&Metric]| terms.iter().map(|term| row.number(term)).sum::<Option<f64>>();
        let numerator = sum(self.numerator).filter(|sum| self.zero == Zero::IsZero || *sum > 0.0)?;
        match self.denominator {
            Denominator::Sum(terms) => sum(terms).filter(|sum| *sum > 0.0).map(|sum| numerator / sum),
            Denominator::Units(units) => Some(numerator / units),
            Denominator::Less(terms) => sum(terms).map(|sum| (numerator - sum).max(0.0)),
            Denominator::OneWhere(counter) => {
                row.number(counter).filter(|count| *count > 0.0).map(|_| numerator)
            }
        }
    }
}

/// Computes the derived columns of a row: fills each empty column for which one of the formulas gives a value.
pub fn derive(row: &mut Measurements) {
    for formula in FORMULAS {
        if row.get(formula.column).is_empty() {
            row.set(formula.column, formula.value(row));
        }
    }
}

/// Sets the settled columns of a row, such as `write_amp_settled`. `settled` contains the measurements after pending
/// flushes and compactions have finished.
pub fn settle(row: &mut Measurements, settled: &Measurements) {
    for (column, of) in SETTLED {
        row.set(column, settled.get(of).clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[(&'static Metric, u64)]) -> Measurements {
        let mut row = Measurements::default();
        values.iter().for_each(|(metric, value)| _ = row.set(metric, *value));
        row
    }

    fn derived(values: &[(&'static Metric, u64)], column: &Metric) -> Option<f64> {
        let mut row = row(values);
        derive(&mut row);
        row.number(column)
    }

    /// Computes the value of `formula` in a row. The row contains `values` and all columns that are derived from
    /// `values`.
    fn value_of(formula: &Formula, values: &[(&'static Metric, u64)]) -> Value {
        let mut row = row(values);
        derive(&mut row);
        formula.value(&row)
    }

    /// Terms of a derived column, written by hand, and the expected value.
    type Case = (&'static Metric, &'static [(&'static Metric, u64)], f64);

    static CASES: &[Case] = &[
        (&c::OPS_PER_SECOND, &[(&c::OPS, 10), (&c::SECONDS, 4)], 2.5),
        (&c::SETTLED_OPS_PER_SECOND, &[(&c::OPS, 10), (&c::SECONDS, 3), (&c::SETTLE_SECONDS, 1)], 2.5),
        (
            &c::WRITE_AMP,
            &[(&c::FLUSH_BYTES, 30), (&c::COMPACTION_BYTES_WRITTEN, 90), (&c::USER_BYTES_WRITTEN, 40)],
            3.0,
        ),
        (&c::WRITE_AMP, &[(&l::BYTES_WRITTEN, 60), (&c::USER_BYTES_WRITTEN, 40)], 1.5),
        (
            &c::WRITE_AMP_WAL,
            &[
                (&c::WAL_BYTES, 50),
                (&c::FLUSH_BYTES, 30),
                (&c::COMPACTION_BYTES_WRITTEN, 90),
                (&c::USER_BYTES_WRITTEN, 40),
            ],
            4.25,
        ),
        (
            &c::WRITE_AMP_SETTLED,
            &[
                (&c::FLUSH_BYTES_SETTLED, 40),
                (&c::COMPACTION_BYTES_WRITTEN_SETTLED, 160),
                (&c::USER_BYTES_WRITTEN, 40),
            ],
            5.0,
        ),
        (&c::WRITE_AMP_SETTLED, &[(&l::BYTES_WRITTEN_SETTLED, 100), (&c::USER_BYTES_WRITTEN, 40)], 2.5),
        (
            &c::WRITE_AMP_WAL_SETTLED,
            &[
                (&n::WAL_BYTES_SETTLED, 60),
                (&c::FLUSH_BYTES_SETTLED, 40),
                (&c::COMPACTION_BYTES_WRITTEN_SETTLED, 160),
                (&c::USER_BYTES_WRITTEN, 40),
            ],
            6.5,
        ),
        (&c::OS_WRITE_AMP, &[(&c::OS_WRITE_BYTES, 300), (&c::USER_BYTES_WRITTEN, 40)], 7.5),
        (&c::OS_WRITE_AMP_SETTLED, &[(&c::OS_WRITE_BYTES_SETTLED, 320), (&c::USER_BYTES_WRITTEN, 40)], 8.0),
        (
            &c::DEBT_BYTES,
            &[
                (&c::FLUSH_BYTES_SETTLED, 40),
                (&c::COMPACTION_BYTES_WRITTEN_SETTLED, 160),
                (&c::FLUSH_BYTES, 30),
                (&c::COMPACTION_BYTES_WRITTEN, 90),
            ],
            80.0,
        ),
        (&c::SPACE_AMP, &[(&c::TABLE_BYTES, 150), (&c::LIVE_BYTES, 100)], 1.5),
        (&c::SPACE_AMP_SETTLED, &[(&c::TABLE_BYTES_SETTLED, 110), (&c::LIVE_BYTES, 100)], 1.1),
        (
            &c::BLOCKS_PER_GET,
            &[
                (&n::BLOCKS_SEARCHED, 30),
                (&c::BLOB_VALUES_READ, 15),
                (&c::BLOB_VALUES_FROM_CACHE, 5),
                (&n::GETS_ALONE, 20),
            ],
            2.5,
        ),
        (&c::BLOCKS_PER_GET, &[(&n::BLOCKS_SEARCHED, 30), (&n::GETS, 20)], 1.5),
        (
            &c::BLOCKS_PER_GET,
            &[(&c::BLOCKS_READ, 10), (&c::BLOCKS_FROM_CACHE, 15), (&n::GETS_ALONE, 20)],
            1.25,
        ),
        (
            &c::READ_AMP,
            &[
                (&c::BLOCKS_READ, 10),
                (&c::BLOCKS_FROM_CACHE, 15),
                (&c::BLOB_VALUES_READ, 3),
                (&c::BLOB_VALUES_FROM_CACHE, 2),
                (&n::READS_ALONE, 10),
            ],
            3.0,
        ),
        (&c::READ_AMP, &[(&c::BLOCKS_READ, 10), (&c::BLOCKS_FROM_CACHE, 15), (&n::READS_ALONE, 10)], 2.5),
        (&c::CACHE_HIT_RATE, &[(&c::BLOCKS_FROM_CACHE, 15), (&c::BLOCKS_READ, 5)], 0.75),
        (&c::FPR, &[(&c::FILTER_FALSE_POSITIVES, 1), (&c::FILTER_NEGATIVES, 99)], 0.01),
        (&c::RANGE_FPR, &[(&n::RANGE_FILTER_FALSE_POSITIVES, 1), (&c::RANGE_FILTER_NEGATIVES, 3)], 0.25),
        (&c::SOURCES_PER_RANGE, &[(&n::RANGE_SOURCES, 6), (&n::RANGES, 4)], 1.5),
        (&c::COMPARISONS_PER_ENTRY, &[(&n::RANGE_COMPARISONS, 30), (&n::RANGE_ENTRIES, 20)], 1.5),
        (&c::BLOCK_INDEX_ANSWERS, &[(&n::BLOCK_INDEX_HITS, 8), (&n::BLOCK_INDEX_PROBES, 10)], 8.0),
        (&c::BLOCK_INDEX_HIT_RATE, &[(&n::BLOCK_INDEX_HITS, 8), (&n::BLOCK_INDEX_PROBES, 10)], 0.8),
        (&c::STALL_SECONDS, &[(&n::STALL_NS, 1_500_000_000)], 1.5),
        (&c::DELAY_SECONDS, &[(&n::DELAY_NS, 500_000_000)], 0.5),
        (&c::ROTATION_SECONDS, &[(&n::ROTATION_NS, 250_000_000)], 0.25),
        (&c::COMPACTION_SECONDS, &[(&n::COMPACTION_NS, 3_000_000_000)], 3.0),
        (&c::SECONDS_PER_COMPACTION, &[(&n::COMPACTION_NS, 3_000_000_000), (&c::COMPACTIONS, 4)], 0.75),
        (&c::BANDWIDTH_WAIT_SECONDS, &[(&n::BANDWIDTH_WAIT_NS, 750_000_000)], 0.75),
        (&c::DEVICE_SECONDS, &[(&n::DEVICE_READ_NS, 1_000_000_000), (&n::DEVICE_WRITE_NS, 500_000_000)], 1.5),
        (&c::DEVICE_READ_SECONDS, &[(&n::DEVICE_READ_NS, 1_000_000_000)], 1.0),
        (&c::DEVICE_WRITE_SECONDS, &[(&n::DEVICE_WRITE_NS, 500_000_000)], 0.5),
        (&c::DEVICE_NS_PER_OP, &[(&n::DEVICE_READ_NS, 700), (&n::DEVICE_WRITE_NS, 300), (&c::OPS, 8)], 125.0),
        (&c::ALLOCATIONS_PER_OP, &[(&n::ALLOCATIONS, 5), (&c::OPS, 4)], 1.25),
        (&c::INSTRUCTIONS_PER_CYCLE, &[(&c::INSTRUCTIONS, 1000), (&c::CPU_CYCLES, 400)], 2.5),
        (&c::CPU_CACHE_MISS_RATE, &[(&c::CPU_CACHE_MISSES, 20), (&c::CPU_CACHE_REFERENCES, 80)], 0.25),
        (&c::INSTRUCTIONS_PER_OP, &[(&c::INSTRUCTIONS, 1000), (&c::OPS, 10)], 100.0),
    ];

    #[test]
    fn every_formula_gives_what_a_row_made_by_hand_says() {
        assert_eq!(CASES.len(), FORMULAS.len(), "a formula without a row");
        for ((column, terms, expected), formula) in CASES.iter().zip(FORMULAS) {
            assert_eq!(formula.column.name, column.name, "rows stand in the order of the formulas");
            assert_eq!(derived(terms, column), Some(*expected), "{}", column.name);
        }
    }

    #[test]
    fn a_term_that_was_not_measured_leaves_the_column_empty() {
        for ((column, terms, _), formula) in CASES.iter().zip(FORMULAS) {
            for without in 0..terms.len() {
                let mut left = terms.to_vec();
                left.remove(without);
                let value = value_of(formula, &left);
                assert_eq!(value, Value::Empty, "{} without {}", column.name, terms[without].0.name);
            }
        }
    }

    #[test]
    fn nothing_is_divided_by_zero_and_a_numerator_of_zero_is_zero_unless_it_says_nothing() {
        for ((column, terms, _), formula) in CASES.iter().zip(FORMULAS) {
            let with_zeros = |zeros: &[&Metric]| {
                let values = terms.iter().map(|(term, value)| {
                    let is_zero = zeros.iter().any(|zero| zero.name == term.name);
                    (*term, if is_zero { 0 } else { *value })
                });
                value_of(formula, &values.collect::<Vec<_>>())
            };
            let without = match formula.denominator {
                Denominator::Sum(denominator) => with_zeros(denominator),
                Denominator::OneWhere(counter) => with_zeros(&[counter]),
                Denominator::Units(_) | Denominator::Less(_) => Value::Empty,
            };
            assert_eq!(without, Value::Empty, "{}", column.name);
            let expected = match (formula.zero, formula.column.kind) {
                (Zero::IsEmpty, _) => Value::Empty,
                (Zero::IsZero, ValueType::Integer) => Value::Integer(0),
                (Zero::IsZero, _) => Value::from(0.0),
            };
            // A term in both sums is 0 in both or in neither, and a derived term is not in the row.
            let is_alone = |term: &&Metric| match &formula.denominator {
                Denominator::Sum(denominator) => denominator.iter().all(|other| other.name != term.name),
                _ => true,
            };
            let is_given = |term: &&Metric| terms.iter().any(|(given, _)| given.name == term.name);
            if formula.numerator.iter().all(|term| is_alone(term) && is_given(term)) {
                assert_eq!(with_zeros(formula.numerator), expected, "{}", column.name);
            }
        }
        // A part of 0 in a whole other than 0.
        assert_eq!(
            derived(&[(&c::BLOCKS_FROM_CACHE, 0), (&c::BLOCKS_READ, 5)], &c::CACHE_HIT_RATE),
            Some(0.0)
        );
        assert_eq!(
            derived(&[(&c::FILTER_FALSE_POSITIVES, 0), (&c::FILTER_NEGATIVES, 9)], &c::FPR),
            Some(0.0)
        );
    }

    #[test]
    fn the_first_formula_that_gives_a_value_counts_and_what_is_set_stays() {
        let both = [
            (&n::BLOCKS_SEARCHED, 30),
            (&n::GETS, 20),
            (&c::BLOCKS_READ, 1),
            (&c::BLOCKS_FROM_CACHE, 1),
            (&n::GETS_ALONE, 20),
        ];
        assert_eq!(derived(&both, &c::BLOCKS_PER_GET), Some(1.5));
        assert_eq!(derived(&[(&c::WRITE_AMP, 9), both[0]], &c::WRITE_AMP), Some(9.0));
    }

    #[test]
    fn settled_columns_are_those_of_the_settled_store() {
        let settled = row(&[(&c::FLUSH_BYTES, 7), (&c::RUNS, 2), (&c::WAL_BYTES, 5)]);
        let mut row = row(&[(&c::FLUSH_BYTES, 4)]);
        settle(&mut row, &settled);
        let names: Vec<&str> = row.iter().map(|(metric, _)| metric.name).collect();
        assert_eq!(names, ["flush_bytes", "wal_bytes_settled", "flush_bytes_settled", "runs_settled"]);
        assert_eq!(row.integer(&c::FLUSH_BYTES_SETTLED), Some(7));
    }

    /// Tests that the columns of hardware counters have values only if the CPU provides these counters.
    #[test]
    fn all_columns_of_hardware_counters_follow_from_the_first_five() {
        let counted = [
            (&c::CPU_CYCLES, 400),
            (&c::INSTRUCTIONS, 1_000),
            (&c::CPU_CACHE_REFERENCES, 80),
            (&c::CPU_CACHE_MISSES, 20),
            (&c::BRANCH_MISSES, 5),
        ];
        let mut all = row(&counted);
        all.set(&c::OPS, 10_u64);
        derive(&mut all);
        assert!(c::HARDWARE.iter().all(|metric| all.number(metric).is_some()));
        let mut some =
            row(&[(&c::INSTRUCTIONS, 1_000), (&c::CPU_CACHE_REFERENCES, 0), (&c::CPU_CACHE_MISSES, 0)]);
        derive(&mut some);
        let names: Vec<&str> = some.iter().map(|(metric, _)| metric.name).collect();
        assert_eq!(names, ["instructions", "cpu_cache_references", "cpu_cache_misses"]);
    }
}
