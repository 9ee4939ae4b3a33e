//! Search for the highest rate that a store sustains. The settings of the search are a lowest rate, a highest rate,
//! and an objective. A rate is sustained if the store meets the objective at this rate.

use catalog::{ChoiceError, Count, Time};
use toml::{Table, Value};

use crate::spelling::{Spelling, number};

/// Maximum rate in operations per second: one operation per nanosecond, which is the resolution of the clock.
pub(crate) const MOST_PER_SECOND: f64 = 1e9;

/// Smallest valid value of the setting `within`, which is the precision of a search for the highest sustained rate.
const LEAST_WITHIN: f64 = 0.001;

/// The settings of a search for the highest rate that meets an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sustained {
    /// The objective that a sustained rate must meet.
    pub objective: Objective,
    /// The lowest rate that the search tries, in operations per second.
    pub from: f64,
    /// The highest rate that the search tries, in operations per second.
    pub to: f64,
    /// The precision of the search: the search ends when the lowest failed rate exceeds the highest sustained rate by
    /// at most this fraction.
    pub within: f64,
}

/// Conditions that a sustained rate must meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Maximum 99th percentile of the response time, in nanoseconds.
    pub p99_ns: u64,
    /// Maximum time that writes stall during the measurement of a rate, in nanoseconds; `None` for no limit.
    pub stalls_ns: Option<u64>,
    /// Maximum number of sorted runs in level 0 at any time; `None` for no limit.
    pub level0_runs: Option<u64>,
}

/// The measurement of the store at one rate (a probe): the values that the objective limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// The measured 99th percentile of the response time, in nanoseconds.
    pub p99_ns: u64,
    /// The measured time that writes stalled, in nanoseconds.
    pub stalls_ns: u64,
    /// The largest measured number of sorted runs in level 0.
    pub level0_runs: u64,
}

impl Objective {
    /// Compares a measurement with the objective. Returns the name of the first condition that the measurement does not
    /// meet, or `None` if all conditions are met.
    pub fn missed(&self, probed: &Probed) -> Option<&'static str> {
        if probed.p99_ns > self.p99_ns {
            Some("p99")
        } else if self.stalls_ns.is_some_and(|most| probed.stalls_ns > most) {
            Some("stalls")
        } else if self.level0_runs.is_some_and(|most| probed.level0_runs > most) {
            Some("level0_runs")
        } else {
            None
        }
    }
}

impl Sustained {
    /// Reads `{ p99 = "1ms", from = 1_000, to = 1_000_000, within = 0.05, stalls = "0s", level0_runs = 8 }`.
    ///
    /// # Errors
    /// Returns an error that names the invalid key.
    pub(crate) fn from_toml(table: &Table) -> Result<Self, ChoiceError> {
        let mut spelling = Spelling::new(table.clone());
        let p99 = spelling.read::<Time>("p99")?;
        let rate = |value: Option<Count>, default: f64| value.map_or(default, |count| count.0 as f64);
        let from = rate(spelling.read("from")?, 1_000.0);
        let to = rate(spelling.read("to")?, 10_000_000.0);
        let within = spelling.take("within").as_ref().map_or(Ok(0.05), |value| number("within", value))?;
        let stalls_ns = spelling.read::<Time>("stalls")?.map(|time| time.0);
        let level0_runs = spelling.read::<Count>("level0_runs")?.map(|count| count.0);
        spelling.finish("a searched rate")?;
        let Some(p99) = p99 else {
            let message = "p99 is missing; a rate search needs this limit, such as rate = { p99 = \"1ms\" }";
            return Err(ChoiceError::at("p99", message));
        };
        if p99.0 == 0 {
            let message = "p99 is 0; it must be above 0, such as p99 = \"1ms\"";
            return Err(ChoiceError::at("p99", message));
        }
        if !(from >= 1.0 && from < to) {
            let message = format!(
                "from is {from} and to is {to}; the lowest rate `from` must be at least 1, and the highest rate \
                 `to` above `from`"
            );
            return Err(ChoiceError::at("from", message));
        }
        if to > MOST_PER_SECOND {
            let message = format!("to is {to}; the maximum is {MOST_PER_SECOND} operations per second");
            return Err(ChoiceError::at("to", message));
        }
        if !(LEAST_WITHIN..1.0).contains(&within) {
            let message = format!("within is {within}; it must be at least {LEAST_WITHIN} and below 1");
            return Err(ChoiceError::at("within", message));
        }
        Ok(Self { objective: Objective { p99_ns: p99.0, stalls_ns, level0_runs }, from, to, within })
    }

    /// Returns the search as TOML with all defaults.
    pub(crate) fn to_toml(self) -> Table {
        let Self { objective, from, to, within } = self;
        let mut table = Table::new();
        table.insert("p99".to_owned(), Time(objective.p99_ns).to_string().into());
        table.insert("from".to_owned(), Value::Integer(from as i64));
        table.insert("to".to_owned(), Value::Integer(to as i64));
        table.insert("within".to_owned(), within.into());
        if let Some(ns) = objective.stalls_ns {
            table.insert("stalls".to_owned(), Time(ns).to_string().into());
        }
        if let Some(runs) = objective.level0_runs {
            table.insert("level0_runs".to_owned(), runs.cast_signed().into());
        }
        table
    }

    /// Returns the maximum number of rates that a search tries, if it tries no rate twice.
    pub fn most_probes(&self) -> u32 {
        let halvings = ((self.to / self.from).ln() / self.within.ln_1p()).log2().ceil();
        2 + halvings.max(0.0) as u32
    }

    /// Searches for the highest sustained rate. The function `sustains` measures the store at a rate. It returns the
    /// measurement and the name of the condition that the rate misses, or `None` if the rate is sustained.
    ///
    /// The search halves the interval between the logarithms of two rates, because rates differ by factors. A rate that
    /// fails is tried a second time, because a single disturbance of the machine is not a limit of the store.
    ///
    /// # Errors
    ///
    /// Returns the error of `sustains`.
    pub fn search<T, E>(
        &self,
        mut sustains: impl FnMut(f64) -> Result<(T, Option<&'static str>), E>,
    ) -> Result<SustainedRate<T>, E> {
        let mut found = SustainedRate { rate: None, best: None, limit: None, probes: 0 };
        let (mut low, mut high) = (None, None);
        while let Some(rate) = self.next(low, high) {
            found.probes += 1;
            let (mut outcome, mut missed) = sustains(rate)?;
            if missed.is_some() {
                found.probes += 1;
                (outcome, missed) = sustains(rate)?;
            }
            if missed.is_none() {
                (low, found.rate) = (Some(rate), Some(rate));
            } else {
                (high, found.limit) = (Some(rate), missed);
            }
            // If even the lowest rate fails, the probe of the lowest rate is the result.
            if missed.is_none() || found.best.is_none() {
                found.best = Some(outcome);
            }
        }
        Ok(found)
    }

    /// Returns the next rate to try. `low` is the highest sustained rate and `high` is the lowest failed rate, if
    /// known. Returns `None` if the search has ended.
    ///
    /// The search ends if the lowest rate has failed, if the highest rate is sustained, or if `high` exceeds `low` by
    /// at most the fraction `within`.
    fn next(&self, low: Option<f64>, high: Option<f64>) -> Option<f64> {
        match (low, high) {
            (None, None) => Some(self.from),
            (None, Some(_)) => None,
            (Some(low), None) => (low < self.to).then_some(self.to),
            (Some(low), Some(high)) if high / low <= 1.0 + self.within => None,
            (Some(low), Some(high)) => Some((low * high).sqrt()),
        }
    }
}

/// The result of a search for the highest rate that a store sustains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SustainedRate<T> {
    /// The highest rate that meets the objective; `None` if even the lowest rate fails.
    pub rate: Option<f64>,
    /// The measurement at the highest sustained rate. If no rate meets the objective, this is the measurement at the
    /// lowest rate.
    pub best: Option<T>,
    /// The name of the condition that the lowest failed rate misses. `None` if even the highest rate meets the
    /// objective.
    pub limit: Option<&'static str>,
    /// The number of measurements that the search needed.
    pub probes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Sustained, ChoiceError> {
        Sustained::from_toml(&text.parse().unwrap())
    }

    #[test]
    fn searches_read_and_refuse() {
        let search = read("p99 = \"1ms\"\nfrom = 100\nto = \"1M\"\nwithin = 0.1\nlevel0_runs = 8").unwrap();
        assert_eq!((search.from, search.to, search.within), (100.0, 1e6, 0.1));
        assert_eq!(search.objective, Objective { p99_ns: 1_000_000, stalls_ns: None, level0_runs: Some(8) });
        assert_eq!(Sustained::from_toml(&search.to_toml()), Ok(search));
        for (bad, key) in [
            ("from = 5", "p99"),
            ("p99 = \"1ms\"\nfrom = 0", "from"),
            ("p99 = \"1ms\"\nfrom = 10\nto = 10", "from"),
            ("p99 = \"1ms\"\nwithin = 0.0", "within"),
            ("p99 = \"1ms\"\nwithin = nan", "within"),
            ("p99 = \"1ms\"\nfro = 5", "fro"),
            ("p99 = 5", "p99"),
            ("p99 = \"0s\"", "p99"),
            ("p98 = \"1ms\"", "p98"),
            ("p99 = \"1ms\"\nto = \"2G\"", "to"),
        ] {
            assert_eq!(read(bad).unwrap_err().key.as_deref(), Some(key), "{bad}");
        }
    }

    #[test]
    fn a_search_ends_within_its_precision_below_the_true_limit() {
        let search = read("p99 = \"1ms\"\nfrom = 100\nto = 1_000_000\nwithin = 0.02").unwrap();
        for limit in [100.0, 101.0, 5_000.0, 123_456.0, 999_999.0] {
            let mut rates = Vec::new();
            let found = search.search(|rate| {
                rates.push(rate);
                Ok::<_, ()>((rate, (rate > limit).then_some("p99")))
            });
            let found = found.unwrap();
            let rate = found.rate.unwrap();
            assert!(rate <= limit && limit <= rate * 1.02, "{rate} of {limit}");
            assert_eq!(
                (found.best, found.limit, found.probes),
                (Some(rate), Some("p99"), rates.len() as u64)
            );
            rates.dedup();
            assert!(rates.len() as u32 <= search.most_probes(), "{} probes", rates.len());
        }
    }

    #[test]
    fn one_hiccup_is_forgiven_and_bounds_are_said() {
        let search = read("p99 = \"1ms\"\nfrom = 100\nto = 1000").unwrap();
        let mut calls = 0;
        let hiccup = search.search(|rate| {
            calls += 1;
            Ok::<_, ()>((rate, (calls == 1).then_some("p99")))
        });
        assert_eq!(
            hiccup,
            Ok(SustainedRate { rate: Some(1000.0), best: Some(1000.0), limit: None, probes: 3 })
        );
        let never = search.search(|rate| Ok::<_, ()>((rate, Some("stalls"))));
        assert_eq!(
            never,
            Ok(SustainedRate { rate: None, best: Some(100.0), limit: Some("stalls"), probes: 2 })
        );
    }

    #[test]
    fn an_objective_names_what_it_misses() {
        let objective = Objective { p99_ns: 10, stalls_ns: Some(0), level0_runs: None };
        let probed = Probed { p99_ns: 10, stalls_ns: 0, level0_runs: 99 };
        assert_eq!(objective.missed(&probed), None);
        assert_eq!(objective.missed(&Probed { p99_ns: 11, ..probed }), Some("p99"));
        assert_eq!(objective.missed(&Probed { stalls_ns: 1, ..probed }), Some("stalls"));
        let runs = Objective { level0_runs: Some(98), ..objective };
        assert_eq!(runs.missed(&probed), Some("level0_runs"));
    }
}
