//! Samples of a trace. The hash of a key decides whether a sample contains all records of the key, or none of them.

use workload::{TraceOperation, TraceRecord};

use crate::keys::hash_of;

/// Selects a sample of the records of a trace by the hashes of their keys. The sample contains either all records of a
/// key or none. A reuse distance in the sample is about the real distance times the sampling rate (Waldspurger et al.,
/// FAST '15).
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    threshold: u64,
}

impl Sampler {
    /// Creates a sampler. `rate` is the fraction of keys in the sample, from 0 to 1.
    pub fn new(rate: f64) -> Self {
        // For the rate 1, the cast limits the product to `u64::MAX`, so the sample contains all keys.
        Self { threshold: (rate.clamp(0.0, 1.0) * u64::MAX as f64) as u64 }
    }

    /// Returns whether the sample contains a record. The hash of its key decides. For a scan or a range delete, this is
    /// the first key of the range.
    pub fn takes(&self, record: &TraceRecord) -> bool {
        // The statistics sample keys by the highest bits of their hashes. The sampler uses the lowest bits, so that the
        // statistics can take a sample of its output.
        hash_of(record).swap_bytes() <= self.threshold
    }

    /// Returns whether the record has the same effect in the sample as in the whole trace. A scan or a range delete
    /// does not, because it also affects keys outside of the sample.
    pub fn is_exact(record: &TraceRecord) -> bool {
        !matches!(record.operation, TraceOperation::Scan | TraceOperation::DeleteRange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_all_of_its_records_or_none() {
        let record = |key: u32| TraceRecord::new(TraceOperation::Get, key.to_be_bytes());
        let sampler = Sampler::new(0.1);
        let taken = (0..20_000).filter(|key| sampler.takes(&record(*key))).count();
        assert!((1800..2200).contains(&taken), "{taken}");
        assert!((0..100).all(|key| Sampler::new(1.0).takes(&record(key))));
        let twice = (0..1000).all(|key| sampler.takes(&record(key)) == sampler.takes(&record(key)));
        assert!(twice);
    }
}
