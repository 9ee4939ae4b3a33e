//! The parameters that several Bloom filters share: bits per key and probes per key.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::filter::FilterInput;

/// The parameters of a Bloom filter as the user writes them in TOML.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Params {
    /// The memory of the filter in bits per key.
    pub(crate) bits_per_key: f64,
    /// The number of bits that each key sets. 0 selects the number with the lowest false-positive rate.
    pub(crate) probes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 10.0, probes: 0 }
    }
}

/// The parameters of a Bloom filter after the check of their ranges.
pub(crate) struct Probed {
    pub(crate) budget: Budget,
    probes: Option<u32>,
    /// The last result of [`probes`](Self::probes) that was computed, so that equal SSTables do not repeat the
    /// computation: the bits per key (as `f64::to_bits`), and the best number of probes.
    last_best: Mutex<Option<(u64, u32)>>,
}

impl Probed {
    /// Checks the parameters of a Bloom filter in which each key sets at most `most_probes` bits.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of range.
    pub(crate) fn from_params(params: &Params, most_probes: u32) -> Result<Self, String> {
        if params.probes > most_probes {
            return Err(format!("probes is {}; it must be from 0 to {most_probes}", params.probes));
        }
        let budget = Budget::from_param(params.bits_per_key)?;
        let probes = (params.probes > 0).then_some(params.probes);
        Ok(Self { budget, probes, last_best: Mutex::default() })
    }

    /// Returns the number of bits that each key sets in the filter of one SSTable. If the parameter `probes` is 0, the
    /// function `best` computes the number from the bits per key. Otherwise, the result is the parameter. The
    /// computation can take longer than the rest of a small filter, so it is repeated only if the bits per key change.
    pub(crate) fn probes(&self, input: &FilterInput<'_>, best: impl Fn(f64) -> u32) -> u32 {
        self.probes.unwrap_or_else(|| {
            let bits_per_key = self.budget.bits_per_key(input);
            let mut last = self.last_best.lock().unwrap_or_else(PoisonError::into_inner);
            match *last {
                Some((bits, probes)) if bits == bits_per_key.to_bits() => probes,
                _ => last.insert((bits_per_key.to_bits(), best(bits_per_key))).1,
            }
        })
    }
}
