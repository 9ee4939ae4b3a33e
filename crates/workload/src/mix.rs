//! The mix of a phase: the relative frequencies of the kinds of operations.

use catalog::ChoiceError;
use toml::{Table, Value};

use crate::operation::Kind;
use crate::random::{Random, threshold};
use crate::spelling::{self, Spelling};

/// Maximum difference between the sum of the shares and 1. The sum may differ from 1, because decimal fractions are
/// not exact in binary.
const SHARE_TOLERANCE: f64 = 1e-6;

/// The mix of a phase: a weight for every kind of operation. Only the ratios of the weights matter. If all weights are
/// at most 1 and one of them is a fraction, the weights are shares, which must sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    weights: [f64; Kind::ALL.len()],
}

impl Mix {
    /// Creates a mix in which all operations have one kind.
    pub fn only(kind: Kind) -> Self {
        let mut weights = [0.0; Kind::ALL.len()];
        weights[kind as usize] = 1.0;
        Self { weights }
    }

    /// Reads a table such as `{ get = 0.95, put = 0.05 }`, or the name of a single kind.
    ///
    /// # Errors
    /// Returns an error for a negative weight, a weight of an unknown kind, weights that are all 0, or fractions
    /// that do not sum to 1. The error names the weight.
    pub fn from_toml(value: &Value) -> Result<Self, ChoiceError> {
        Self::read(value, "mix", "{ get = 0.95, put = 0.05 }", &Kind::ALL)
    }

    /// Reads the key `batch_mix`, which is the mix of the operations in write batches.
    ///
    /// # Errors
    /// Returns the errors of [`from_toml`](Self::from_toml), or an error for a kind that a batch cannot contain.
    pub fn members_from_toml(value: &Value) -> Result<Self, ChoiceError> {
        Self::read(value, "batch_mix", "{ put = 0.95, delete = 0.05 }", &Kind::BATCHED)
    }

    /// Reads the mix `value` of the TOML key `name`, in which only the operation kinds `kinds` are valid. `example`
    /// is a valid mix, which error messages show.
    fn read(value: &Value, name: &str, example: &str, kinds: &[Kind]) -> Result<Self, ChoiceError> {
        let table = match value {
            Value::Table(table) => table.clone(),
            Value::String(kind) => Table::from_iter([(kind.clone(), Value::Integer(1))]),
            other => {
                let message = format!("{name} has the type {}; write {example}", other.type_str());
                return Err(ChoiceError::whole(message));
            }
        };
        let mut spelling = Spelling::new(table);
        let mut weights = [0.0; Kind::ALL.len()];
        for kind in kinds.iter().copied() {
            if let Some(weight) = spelling.take(kind.name()) {
                let weight = spelling::number(kind.name(), &weight)?;
                if weight < 0.0 {
                    let message = format!("the weight of {kind} is {weight}; a weight must be 0 or more");
                    return Err(ChoiceError::at(kind.name(), message));
                }
                weights[kind as usize] = weight;
            }
        }
        spelling.finish(name)?;
        let sum: f64 = weights.iter().sum();
        if !(sum.is_finite() && sum > 0.0) {
            return Err(ChoiceError::whole(format!(
                "the weights of {name} sum to {sum}; at least one weight must be above 0"
            )));
        }
        // If no weight exceeds 1 and any weight has a fraction, the weights are shares of 1.
        let are_shares =
            weights.iter().all(|weight| *weight <= 1.0) && weights.iter().any(|weight| weight.fract() > 0.0);
        if are_shares && (sum - 1.0).abs() > SHARE_TOLERANCE {
            return Err(ChoiceError::whole(format!(
                "the shares of {name} sum to {sum}, not 1; change a share, or use whole numbers as weights"
            )));
        }
        Ok(Self { weights })
    }

    /// Returns the kinds with a weight above 0 and their weights, as TOML.
    pub fn to_toml(&self) -> Value {
        let kinds = Kind::ALL.into_iter().filter(|kind| self.has(*kind));
        Value::Table(
            kinds
                .map(|kind| (kind.name().to_owned(), Value::Float(self.weights[kind as usize])))
                .collect::<Table>(),
        )
    }

    /// Returns the share of a kind among the operations, between 0 and 1.
    pub fn share(&self, kind: Kind) -> f64 {
        self.weights[kind as usize] / self.weights.iter().sum::<f64>()
    }

    /// Returns whether the mix has operations of a kind, such as gets.
    pub fn has(&self, kind: Kind) -> bool {
        self.weights[kind as usize] > 0.0
    }

    /// Returns whether the mix has a kind of operation that changes the store.
    pub fn writes(&self) -> bool {
        Kind::ALL.into_iter().any(|kind| kind.writes() && self.has(kind))
    }
}

/// Sampler that draws kinds of operations in proportion to their weights.
#[derive(Clone, Debug)]
pub(crate) struct KindSampler {
    /// For each kind of operation, the exclusive upper limit of the random numbers that select it. A random number
    /// selects the first kind whose limit is above the number.
    below: [u64; Kind::ALL.len()],
    /// A table with the kind of operation for each value of the upper byte of a random number. The entry is `None` if
    /// the kind also depends on the lower bits.
    by_upper_byte: [Option<Kind>; 256],
    /// The kind of all operations, if the mix has only one kind. `None` if the mix has several kinds.
    only: Option<Kind>,
}

impl KindSampler {
    pub(crate) fn new(mix: &Mix) -> Self {
        let mut below = [0; Kind::ALL.len()];
        let mut sum = 0.0;
        let last = Kind::ALL.into_iter().rfind(|kind| mix.has(*kind));
        for kind in Kind::ALL {
            sum += mix.share(kind);
            // The last kind of the mix gets the remainder that rounding leaves. Later kinds get nothing.
            below[kind as usize] = if Some(kind) < last { threshold(sum) } else { u64::MAX };
        }
        let mut kinds = Kind::ALL.into_iter().filter(|kind| mix.has(*kind));
        let only = kinds.next().filter(|_| kinds.next().is_none());
        let by_upper_byte = std::array::from_fn(|byte| {
            let first = (byte as u64) << 56;
            let kind = kind_of(&below, first);
            (kind == kind_of(&below, first | u64::MAX >> 8)).then_some(kind)
        });
        Self { below, by_upper_byte, only }
    }

    /// Fills `kinds` with random kinds. If the mix has only one kind, no random number is drawn.
    pub(crate) fn fill(&self, random: &mut Random, kinds: &mut [Kind]) {
        if let Some(only) = self.only {
            kinds.fill(only);
            return;
        }
        for kind in kinds {
            let bits = random.bits();
            let settled = self.by_upper_byte[(bits >> 56) as usize];
            *kind = settled.unwrap_or_else(|| kind_of(&self.below, bits));
        }
    }
}

fn kind_of(below: &[u64; Kind::ALL.len()], bits: u64) -> Kind {
    // The largest random number must not select a kind after the last kind.
    let bits = bits.min(u64::MAX - 1);
    Kind::ALL[below.iter().filter(|below| bits >= **below).count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<Mix, ChoiceError> {
        let table: Table = toml::from_str(&format!("x = {toml}")).unwrap();
        Mix::from_toml(&table["x"])
    }

    #[test]
    fn weights_become_shares() {
        let mix = read("{ get = 3, put = 1 }").unwrap();
        assert!((mix.share(Kind::Get) - 0.75).abs() < 1e-12 && mix.writes());
        assert_eq!(Mix::from_toml(&mix.to_toml()), Ok(mix));
        assert_eq!(read("\"get\""), Ok(Mix::only(Kind::Get)));
        assert!(!Mix::only(Kind::Range).writes());
    }

    #[test]
    fn impossible_mixes_name_their_key() {
        for (toml, key, message) in [
            ("{ get = -1 }", Some("get"), "a weight must be 0 or more"),
            ("{ get = inf }", Some("get"), "finite number"),
            ("{ get = \"much\" }", Some("get"), "expected a number"),
            ("{ git = 1 }", Some("git"), "mix has no key \"git\"; did you mean \"get\"?"),
            ("{ get = 0 }", None, "sum to 0"),
            ("{ get = 0.95, put = 0.5 }", None, "the shares of mix sum to 1.45, not 1"),
            ("{}", None, "sum to 0"),
            ("3", None, "mix has the type integer; write { get = 0.95, put = 0.05 }"),
        ] {
            let error = read(toml).unwrap_err();
            assert!(error.message.contains(message), "{toml}: {error}");
            assert_eq!(error.key.as_deref(), key);
        }
    }

    #[test]
    fn kinds_come_as_often_as_their_weights_say() {
        let mix = read("{ get = 0.5, delete = 0.2, range = 0.25, multi_get = 0.05 }").unwrap();
        let mut kinds = vec![Kind::Put; 400_000];
        KindSampler::new(&mix).fill(&mut Random::new(5), &mut kinds);
        let mut chi2 = 0.0;
        for kind in Kind::ALL {
            let count = kinds.iter().filter(|k| **k == kind).count() as f64;
            let expected = mix.share(kind) * kinds.len() as f64;
            if expected == 0.0 {
                assert_eq!(count.to_bits(), 0, "{kind}");
            } else {
                chi2 += (count - expected).powi(2) / expected;
            }
        }
        // With 3 degrees of freedom, χ² exceeds this limit once in 100 000 times.
        assert!(chi2 < 25.9, "{chi2}");
    }
}
