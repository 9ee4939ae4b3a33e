//! The preparation of a phase: the state of the caches, and the warm-up. The preparation ends before the measurement of
//! the phase starts.

use catalog::{ChoiceError, Count, Time};
use toml::{Table, Value};
use types::valid_names;

use crate::spelling::{self, Spelling, inside};

/// Default number of warm-up rounds whose measurements are compared to decide whether the store is steady.
const DEFAULT_ROUNDS: u32 = 5;

/// Maximum number of warm-up rounds whose measurements are compared to decide whether the store is steady.
const MOST_ROUNDS: u64 = 100;

/// Nanoseconds per second.
const SECOND_NS: u64 = 1_000_000_000;

/// The settings of the preparation of a phase: the state of the caches, and the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// The state of the caches when the phase starts.
    pub cache: CacheState,
    /// Unmeasured operations that run before the measured operations.
    pub warm_up: Option<WarmUp>,
}

/// The state of the caches when the measurement of a phase starts. In TOML, an example is `cache = "cold"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheState {
    /// The caches stay as the previous phase left them.
    #[default]
    AsIs,
    /// lsmbench reads all live entries once in key order, so that the caches contain as many entries as fit.
    Warm,
    /// The store is flushed, closed and reopened. Before the store is reopened, lsmbench asks the kernel to evict the
    /// files from the page cache. Neither the block cache nor the page cache then contains blocks of the store.
    Cold,
}

/// Length of the warm-up of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// The warm-up lasts this number of nanoseconds: `warm_up = "10s"`.
    Time(u64),
    /// The warm-up executes this number of operations over all threads: `warm_up = 100_000`.
    Operations(u64),
    /// The warm-up runs until the store is steady: `warm_up = { until = "steady", round = "1s", at_most = "60s" }`.
    Steady(UntilSteady),
}

/// A warm-up that ends when the store is steady. The store is steady when throughput, write amplification and the
/// number of sorted runs are similar in the last `rounds` rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntilSteady {
    /// Number of successive warm-up rounds that must have similar measurements, at least 2.
    pub rounds: u32,
    /// Length of a warm-up round in nanoseconds.
    pub round_ns: u64,
    /// Nanoseconds after which the warm-up ends, even if the store is not steady.
    pub at_most_ns: u64,
}

impl CacheState {
    /// All cache states, in the order in which error messages list them.
    const ALL: [Self; 3] = [Self::AsIs, Self::Warm, Self::Cold];

    /// Returns the name of the cache state in TOML and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

impl WarmUp {
    /// Returns whether the number of operations of the warm-up is unknown in advance. The number is unknown if the
    /// warm-up ends after a time or when the store is steady.
    pub fn is_timed(self) -> bool {
        !matches!(self, Self::Operations(_))
    }

    fn from_toml(value: Value) -> Result<Self, ChoiceError> {
        let warm_up = match value {
            Value::Table(table) => {
                return UntilSteady::from_toml(table)
                    .map(Self::Steady)
                    .map_err(|error| inside("warm_up", error));
            }
            Value::Integer(_) => Self::Operations(spelling::read::<Count>("warm_up", &value)?.0),
            value => Self::Time(spelling::read::<Time>("warm_up", &value)?.0),
        };
        match warm_up {
            Self::Time(0) | Self::Operations(0) => {
                Err(ChoiceError::at("warm_up", "warm_up is 0; remove it to run without a warm-up"))
            }
            warm_up => Ok(warm_up),
        }
    }

    fn to_toml(self) -> Value {
        match self {
            Self::Time(ns) => Time(ns).to_string().into(),
            Self::Operations(operations) => operations.cast_signed().into(),
            Self::Steady(until) => {
                let mut table = Table::new();
                table.insert("until".to_owned(), "steady".into());
                table.insert("rounds".to_owned(), i64::from(until.rounds).into());
                table.insert("round".to_owned(), Time(until.round_ns).to_string().into());
                table.insert("at_most".to_owned(), Time(until.at_most_ns).to_string().into());
                Value::Table(table)
            }
        }
    }
}

impl UntilSteady {
    fn from_toml(table: Table) -> Result<Self, ChoiceError> {
        let mut spelling = Spelling::new(table);
        let until: Option<String> = spelling.read("until")?;
        if until.as_deref() != Some("steady") {
            let message = "the table warm_up needs until = \"steady\"; for a warm-up of a fixed length, write \
                           a time such as warm_up = \"10s\", or a number of operations";
            return Err(ChoiceError::at("until", message));
        }
        let rounds = spelling.read::<Count>("rounds")?.map_or(u64::from(DEFAULT_ROUNDS), |count| count.0);
        if !(2..=MOST_ROUNDS).contains(&rounds) {
            return Err(ChoiceError::at(
                "rounds",
                format!("rounds is {rounds}; it must be between 2 and {MOST_ROUNDS}"),
            ));
        }
        let round_ns = spelling.read::<Time>("round")?.map_or(SECOND_NS, |time| time.0);
        let at_most_ns = spelling.read::<Time>("at_most")?.map_or(60 * SECOND_NS, |time| time.0);
        spelling.finish("a warm-up")?;
        if round_ns == 0 || round_ns.saturating_mul(rounds) > at_most_ns {
            let message = format!(
                "at_most is {}, which is too short for {rounds} rounds of {}",
                Time(at_most_ns),
                Time(round_ns)
            );
            return Err(ChoiceError::at("at_most", message));
        }
        Ok(Self { rounds: rounds as u32, round_ns, at_most_ns })
    }
}

impl Before {
    /// Reads the TOML keys `cache` and `warm_up` of a phase. If the phase cannot have a warm-up, the key `warm_up` is
    /// an error, and `no_warm_up` is the reason in its message.
    pub(crate) fn from_spelling(
        spelling: &mut Spelling,
        no_warm_up: Option<&str>,
    ) -> Result<Self, ChoiceError> {
        let cache = match spelling.read::<String>("cache")? {
            None => CacheState::default(),
            Some(name) => {
                let found = CacheState::ALL.into_iter().find(|state| state.name() == name);
                found.ok_or_else(|| {
                    let valid = valid_names(CacheState::ALL.map(CacheState::name));
                    ChoiceError::at("cache", format!("unknown cache state \"{name}\". {valid}"))
                })?
            }
        };
        let warm_up = match no_warm_up {
            Some(reason) => spelling.forbid("warm_up", reason).map(|()| None)?,
            None => spelling.take("warm_up").map(WarmUp::from_toml).transpose()?,
        };
        Ok(Self { cache, warm_up })
    }

    /// Writes the settings of the preparation that differ from their defaults to the TOML table of the phase.
    pub(crate) fn write(self, table: &mut Table) {
        if self.cache != CacheState::default() {
            table.insert("cache".to_owned(), self.cache.name().into());
        }
        table.extend(self.warm_up.map(|warm_up| ("warm_up".to_owned(), warm_up.to_toml())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Before, ChoiceError> {
        let mut spelling = Spelling::new(text.parse().unwrap());
        let before = Before::from_spelling(&mut spelling, None)?;
        spelling.finish("a phase")?;
        Ok(before)
    }

    #[test]
    fn what_is_done_before_reads_back() {
        let steady =
            |rounds, round_ns, at_most_ns| Some(WarmUp::Steady(UntilSteady { rounds, round_ns, at_most_ns }));
        for (text, cache, warm_up) in [
            ("", CacheState::AsIs, None),
            ("cache = \"cold\"", CacheState::Cold, None),
            ("cache = \"warm\"\nwarm_up = \"10s\"", CacheState::Warm, Some(WarmUp::Time(10 * SECOND_NS))),
            ("warm_up = 5_000", CacheState::AsIs, Some(WarmUp::Operations(5000))),
            ("warm_up = { until = \"steady\" }", CacheState::AsIs, steady(5, SECOND_NS, 60 * SECOND_NS)),
            (
                "warm_up = { until = \"steady\", rounds = 4, round = \"250ms\", at_most = \"2s\" }",
                CacheState::AsIs,
                steady(4, 250_000_000, 2 * SECOND_NS),
            ),
        ] {
            let before = read(text).unwrap();
            assert_eq!(before, Before { cache, warm_up }, "{text}");
            let mut table = Table::new();
            before.write(&mut table);
            assert_eq!(read(&table.to_string()).unwrap(), before, "{table}");
        }
    }

    #[test]
    fn what_cannot_be_done_names_its_key() {
        for (text, key) in [
            ("cache = \"hot\"", "cache"),
            ("warm_up = 0", "warm_up"),
            ("warm_up = \"0s\"", "warm_up"),
            ("warm_up = \"soon\"", "warm_up"),
            ("warm_up = { }", "warm_up.until"),
            ("warm_up = { until = \"bored\" }", "warm_up.until"),
            ("warm_up = { until = \"steady\", rounds = 1 }", "warm_up.rounds"),
            ("warm_up = { until = \"steady\", at_most = \"4s\" }", "warm_up.at_most"),
            ("warm_up = { until = \"steady\", rond = \"1s\" }", "warm_up.rond"),
        ] {
            assert_eq!(read(text).unwrap_err().key.as_deref(), Some(key), "{text}");
        }
    }
}
