//! The rate of requests in a phase. The rate is as high as the store allows, or fixed, or the result of a search.

use catalog::ChoiceError;
use toml::Value;

use crate::spelling::inside;
use crate::sustained::{MOST_PER_SECOND, Sustained};

/// Minimum rate in operations per second. At a lower rate, a thread would wait for many hours for its next operation.
const LEAST_PER_SECOND: f64 = 1e-4;

/// The rate at which a phase starts its operations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rate {
    /// A closed loop. Each thread starts its next operation when its previous operation has returned.
    #[default]
    Closed,
    /// An open loop. All threads together start a fixed number of operations per second, even if earlier operations
    /// are late. The response time of an operation begins at the intended start of the operation.
    Open {
        /// Operations per second, above 0.
        per_second: f64,
    },
    /// Rate search. lsmbench searches for the highest rate that meets an objective.
    Sustained(Sustained),
}

impl Rate {
    /// Reads `"closed"`, a number of operations per second, or the table of a rate [search](Sustained).
    ///
    /// # Errors
    /// Returns an error that lists the valid forms of a rate.
    pub fn from_toml(value: &Value) -> Result<Self, ChoiceError> {
        let accepted = "write \"closed\", a number of operations per second above 0, or a search such as { \
                        p99 = \"1ms\" }";
        match value {
            Value::String(text) if text == "closed" => Ok(Self::Closed),
            Value::String(text) => match types::quantity::parse_count(text) {
                Ok(per_second) if per_second > 0 => Self::open(per_second as f64),
                _ => Err(ChoiceError::at("rate", format!("rate is \"{text}\"; {accepted}"))),
            },
            Value::Integer(_) | Value::Float(_) => match crate::spelling::number("rate", value)? {
                per_second if per_second > 0.0 => Self::open(per_second),
                other => Err(ChoiceError::at("rate", format!("rate is {other}; {accepted}"))),
            },
            Value::Table(search) => {
                Sustained::from_toml(search).map(Self::Sustained).map_err(|error| inside("rate", error))
            }
            other => Err(ChoiceError::at("rate", format!("rate is a {}; {accepted}", other.type_str()))),
        }
    }

    /// Creates an open-loop rate, at which a fixed number of operations starts per second. Returns an error if the
    /// clock is too coarse for the rate, or if the wait for the next operation is too long.
    fn open(per_second: f64) -> Result<Self, ChoiceError> {
        if (LEAST_PER_SECOND..=MOST_PER_SECOND).contains(&per_second) {
            return Ok(Self::Open { per_second });
        }
        let message = format!(
            "rate is {per_second}; operations per second must be between {LEAST_PER_SECOND} and {MOST_PER_SECOND}"
        );
        Err(ChoiceError::at("rate", message))
    }

    /// Returns the rate as TOML.
    pub fn to_toml(self) -> Value {
        match self {
            Self::Closed => "closed".into(),
            Self::Open { per_second } => per_second.into(),
            Self::Sustained(search) => search.to_toml().into(),
        }
    }

    /// Returns the intended start of operation number `ordinal` of thread `thread`, in nanoseconds from the start of
    /// the phase. The starts have equal distances in time, and the `threads` threads take turns. Returns `None` for a
    /// closed loop, and for a rate search before its end.
    #[inline]
    pub fn intended_start_ns(self, ordinal: u64, thread: u32, threads: u32) -> Option<u64> {
        match self {
            Self::Closed | Self::Sustained(_) => None,
            Self::Open { per_second } => {
                let before = ordinal * u64::from(threads) + u64::from(thread);
                Some((before as f64 * (1e9 / per_second)) as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_and_refuse() {
        assert_eq!(Rate::from_toml(&"closed".into()), Ok(Rate::Closed));
        assert_eq!(Rate::from_toml(&5000.into()), Ok(Rate::Open { per_second: 5000.0 }));
        assert_eq!(Rate::from_toml(&"10k".into()), Ok(Rate::Open { per_second: 10_000.0 }));
        let search = Rate::from_toml(&Value::Table("p99 = \"2ms\"".parse().unwrap())).unwrap();
        assert!(matches!(search, Rate::Sustained(Sustained { within: 0.05, .. })));
        assert_eq!(Rate::from_toml(&search.to_toml()), Ok(search));
        let bad = Rate::from_toml(&Value::Table("p99 = 3".parse().unwrap())).unwrap_err();
        assert_eq!(bad.key.as_deref(), Some("rate.p99"));
        let out_of_range = [Value::from(1e30), "2G".into(), 1e-30.into()];
        let others = [Value::from("open"), 0.into(), (-1.5).into(), f64::NAN.into(), true.into()];
        for bad in others.into_iter().chain(out_of_range) {
            assert_eq!(Rate::from_toml(&bad).unwrap_err().key.as_deref(), Some("rate"), "{bad}");
        }
    }

    #[test]
    fn threads_take_turns() {
        let rate = Rate::Open { per_second: 1000.0 };
        let starts: Vec<_> = (0..3).flat_map(|o| (0..2).map(move |t| (o, t))).collect();
        let starts: Vec<_> = starts.iter().map(|(o, t)| rate.intended_start_ns(*o, *t, 2).unwrap()).collect();
        assert_eq!(starts, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000]);
        assert_eq!(Rate::Closed.intended_start_ns(5, 0, 1), None);
    }
}
