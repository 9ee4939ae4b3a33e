//! Keys that are a zero-padded decimal number: the order of keys is the order of their indexes, and a person
//! can read them.
//!
//! Key i is written as the number 2i, the absent key behind it as 2i + 1. Where the keys are `scattered`,
//! the number first goes through a fixed bijection of all numbers of so many digits.

use std::sync::Arc;

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use super::policy::{KeyFormat, KeyFormatPolicy};
use super::u64_be::SCATTER_SEED;
use crate::operation::KeyId;
use crate::permutation::Permutation;
use crate::trace::Recording;

pub(crate) const VARIANT: Variant<dyn KeyFormatPolicy> = Variant::new::<Policy>(
    "decimal",
    "a zero-padded decimal number, readable, in index order",
    "# The length of every key.
bytes = \"16B\"
# Whether neighbours in index order stand anywhere in key order.
scattered = false
",
);

/// The digits that a 63-bit number fills at most; longer keys have leading zeros.
const MOST_DIGITS: usize = 18;

struct Policy(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bytes: ByteSize,
    scattered: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { bytes: ByteSize(16), scattered: false }
    }
}

impl Build<dyn KeyFormatPolicy> for Policy {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyFormatPolicy>, String> {
        super::check_bytes(params.bytes)?;
        Ok(Box::new(Self(params)))
    }
}

impl KeyFormatPolicy for Policy {
    fn open(&self, _: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String> {
        let bytes = self.0.bytes.0 as usize;
        let numbers = 10u64.pow(bytes.min(MOST_DIGITS) as u32);
        let scatter = self.0.scattered.then(|| Permutation::new(numbers, SCATTER_SEED));
        Ok(Arc::new(Decimal { bytes, numbers, scatter }))
    }
}

struct Decimal {
    bytes: usize,
    /// Numbers are below this.
    numbers: u64,
    scatter: Option<Permutation>,
}

impl KeyFormat for Decimal {
    fn append(&self, key: KeyId, out: &mut Vec<u8>) {
        let number = match &self.scatter {
            None => key.number(),
            Some(scatter) => scatter.apply(key.number()),
        };
        let digits = super::decimal_digits(number);
        let zeros = self.bytes.saturating_sub(digits.len());
        out.resize(out.len() + zeros, b'0');
        out.extend_from_slice(&digits[digits.len() - (self.bytes - zeros)..]);
    }

    fn capacity(&self) -> u64 {
        self.numbers / 2
    }

    fn ordered(&self) -> bool {
        self.scatter.is_none()
    }

    fn max_bytes(&self) -> usize {
        self.bytes
    }
}
