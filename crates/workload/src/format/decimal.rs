//! Keys that are decimal numbers with leading zeros. Keys sort by their indexes and are easy to read.
//!
//! Key i is written as the number 2i. The absent key after key i is written as 2i + 1. If the keys are `scattered`, a
//! fixed bijection replaces each number by another number with an equal number of digits.

use std::sync::Arc;

use catalog::{Build, Variant};

use super::numbered::{self, Numbers, Params};
use super::policy::{KeyFormat, KeyFormatPolicy};
use crate::operation::KeyId;
use crate::trace::Recording;

pub(crate) const VARIANT: Variant<dyn KeyFormatPolicy> = Variant::new::<Policy>(
    "decimal",
    "a decimal number, padded with zeros; readable keys that sort by their indexes",
    numbered::REFERENCE,
);

/// Maximum number of digits of a number. A longer key starts with zeros.
const MOST_DIGITS: usize = 18;

struct Policy(Params);

impl Build<dyn KeyFormatPolicy> for Policy {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyFormatPolicy>, String> {
        Ok(Box::new(Self(params.checked()?)))
    }
}

impl KeyFormatPolicy for Policy {
    fn open(&self, _: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String> {
        let bytes = self.0.bytes.0 as usize;
        let numbers = 10u64.pow(bytes.min(MOST_DIGITS) as u32);
        Ok(Arc::new(Decimal { bytes, numbers: self.0.numbers(numbers) }))
    }
}

struct Decimal {
    bytes: usize,
    numbers: Numbers,
}

impl Decimal {
    fn append_number(&self, number: u64, out: &mut Vec<u8>) {
        let digits = super::digits::decimal_digits(number);
        let zeros = self.bytes.saturating_sub(digits.len());
        out.resize(out.len() + zeros, b'0');
        out.extend_from_slice(&digits[digits.len() - (self.bytes - zeros)..]);
    }
}

impl KeyFormat for Decimal {
    fn append(&self, key: KeyId, out: &mut Vec<u8>) {
        self.append_number(self.numbers.of(key), out);
    }

    fn has_numbers(&self) -> bool {
        true
    }

    fn append_above(&self, key: KeyId, span: u32, out: &mut Vec<u8>) {
        match self.numbers.above(key, span) {
            Some(number) => self.append_number(number, out),
            None => out.resize(out.len() + self.bytes + 1, u8::MAX),
        }
    }

    fn capacity(&self) -> u64 {
        self.numbers.keys()
    }

    fn ordered(&self) -> bool {
        self.numbers.ordered()
    }

    fn max_bytes(&self) -> usize {
        self.bytes
    }
}
