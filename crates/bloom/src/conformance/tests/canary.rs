//! Filters with a seeded fault. Each filter breaks one invariant, and the check of this invariant must fail.

use std::ops::Bound;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use types::{Bytes, HashedKey, KeyHash};

use crate::{CorruptFilter, Filter, FilterBuilder, FilterInput, FilterPolicy};

/// The fault that is seeded into a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Fault: the filter leaves out one of many keys.
    ForgetsOneKey,
    /// Fault: the stored bytes depend on the number of filters that were built before.
    CountsItsBuilds,
    /// Fault: the last answer of a batch is inverted.
    TurnsTheLastAnswer,
    /// Fault: the last key of a batch is not added to an incremental filter.
    ForgetsWhatGrows,
    /// Fault: after a report, keys that share a byte with the reported key are reported absent.
    LearnsTooMuch,
    /// Fault: the false-positive rate is twice the reported rate.
    HalvesItsRate,
    /// Fault: the false-positive rate is 10 % above the reported rate.
    FlattersItsRate,
    /// Fault: the filter of a small SSTable answers "maybe" for every key.
    SaturatesWhenSmall,
    /// Fault: the filter of an SSTable without keys reports keys.
    SeesKeysInNothing,
    /// Fault: one range with a key is reported empty.
    LosesARange,
    /// Fault: a range without a key is reported empty, although the filter does not answer ranges.
    AnswersRangesUnasked,
    /// Fault: no range is ever reported empty, although the filter answers ranges.
    AnswersNoRange,
    /// Fault: lookups by key do not use the hash of the key.
    LosesKeysByName,
    /// Fault: the filter ignores the bits per key of an allocation.
    IgnoresItsAllocation,
    /// Fault: the filter reports only half of its memory.
    HidesMemory,
    /// Fault: the policy opens truncated bytes without an error.
    AcceptsCutBytes,
    /// Fault: the policy reads truncated bytes without a check of their length.
    PanicsOnCutBytes,
}

impl Fault {
    /// Every fault, with the invariant that must detect it.
    pub(crate) const ALL: [(Self, &'static str); 17] = [
        (Self::ForgetsOneKey, "every added key is reported as present"),
        (Self::CountsItsBuilds, "answers depend only on the stored bytes and the probed key"),
        (Self::TurnsTheLastAnswer, "a batch of probes gives the same answers as single probes"),
        (Self::ForgetsWhatGrows, "a filter built by single insertions equals a filter built in one call"),
        (Self::LearnsTooMuch, "after reports of false positives, added keys are still reported as present"),
        (Self::HalvesItsRate, "the measured false-positive rate is close to the value of expected_fpr()"),
        (Self::FlattersItsRate, "the measured false-positive rate is close to the value of expected_fpr()"),
        (Self::SaturatesWhenSmall, "small filters have about the expected false-positive rate"),
        (Self::SeesKeysInNothing, "a filter that uses memory but has no keys reports every key as absent"),
        (Self::LosesARange, "a range that contains an added key is never reported as empty"),
        (
            Self::AnswersRangesUnasked,
            "`answers_ranges` returns whether the filter can report a range as empty",
        ),
        (Self::AnswersNoRange, "`answers_ranges` returns whether the filter can report a range as empty"),
        (Self::LosesKeysByName, "every added key is reported as present"),
        (Self::IgnoresItsAllocation, "the filter uses as many bits per key as the allocation sets"),
        (Self::HidesMemory, "`memory_bytes` is close to the stored size"),
        (
            Self::AcceptsCutBytes,
            "with corrupt bytes, a filter returns an error or a wrong answer, and does not panic",
        ),
        (
            Self::PanicsOnCutBytes,
            "with corrupt bytes, a filter returns an error or a wrong answer, and does not panic",
        ),
    ];
}

/// A correct policy with a seeded fault.
pub(crate) struct Canary {
    fault: Fault,
    sound: Box<dyn FilterPolicy>,
    builds: AtomicU8,
}

impl Canary {
    pub(crate) fn new(fault: Fault, sound: Box<dyn FilterPolicy>) -> Self {
        Self { fault, sound, builds: AtomicU8::new(0) }
    }
}

impl FilterPolicy for Canary {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let mut input = *input;
        match self.fault {
            Fault::ForgetsOneKey => input.hashes = input.hashes.split_last().map_or(&[], |(_, rest)| rest),
            Fault::IgnoresItsAllocation => input.bits_per_key = None,
            _ => {}
        }
        let mut stored = self.sound.build(&input);
        match self.fault {
            Fault::CountsItsBuilds => {
                let last = stored.last_mut().expect("a head at least");
                *last ^= self.builds.fetch_add(1, Ordering::Relaxed);
            }
            Fault::SaturatesWhenSmall if input.hashes.len() < 1000 => stored[24..].fill(0xff),
            Fault::SeesKeysInNothing if input.hashes.is_empty() => stored[24..].fill(0xff),
            _ => {}
        }
        stored
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let opened = match (self.fault, self.sound.open(stored.clone())) {
            (Fault::AcceptsCutBytes, Err(_)) => {
                self.sound.open(Bytes::copy_from(&self.sound.build(&FilterInput {
                    hashes: &[],
                    bits_per_key: None,
                    keys: None,
                })))
            }
            (Fault::PanicsOnCutBytes, Err(_)) => Err(CorruptFilter(format!("{}", stored[23]))),
            (_, opened) => opened,
        };
        Ok(Box::new(CanaryFilter { fault: self.fault, sound: opened?, reported: OnceLock::new() }))
    }

    fn grow(&self, input: &FilterInput<'_>) -> Option<Box<dyn FilterBuilder>> {
        let sound = self.sound.grow(input)?;
        if self.fault == Fault::ForgetsWhatGrows { Some(Box::new(Forgetful(sound))) } else { Some(sound) }
    }

    fn bits_per_key(&self) -> Option<f64> {
        self.sound.bits_per_key()
    }
}

struct Forgetful(Box<dyn FilterBuilder>);

impl FilterBuilder for Forgetful {
    fn insert(&self, hash: KeyHash) {
        self.0.insert(hash);
    }

    fn insert_batch(&self, hashes: &[KeyHash]) {
        self.0.insert_batch(hashes.split_last().map_or(&[], |(_, others)| others));
    }

    fn finish(&self) -> Vec<u8> {
        self.0.finish()
    }
}

struct CanaryFilter {
    fault: Fault,
    sound: Box<dyn Filter>,
    /// The last byte of the first reported key.
    reported: OnceLock<u8>,
}

impl Filter for CanaryFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.sound.may_contain(hash)
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.sound.may_contain_batch(hashes, answers);
        if let (Fault::TurnsTheLastAnswer, Some(last)) = (self.fault, answers.last_mut()) {
            *last = !*last;
        }
    }

    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        let last = key.bytes.last();
        let missed = match self.fault {
            Fault::LosesKeysByName => last == Some(&7),
            Fault::LearnsTooMuch => last.is_some() && self.reported.get() == last,
            _ => false,
        };
        !missed && self.sound.may_contain_key(key)
    }

    fn report_false_positive(&self, key: HashedKey<'_>) {
        key.bytes.last().map(|last| self.reported.get_or_init(|| *last));
    }

    fn answers_ranges(&self) -> bool {
        self.fault == Fault::AnswersNoRange || self.sound.answers_ranges()
    }

    fn may_contain_range(&self, low: Bound<&[u8]>, _: Bound<&[u8]>) -> bool {
        match (self.fault, low) {
            (Fault::LosesARange, Bound::Included(low)) => low != b"one",
            (Fault::AnswersRangesUnasked, Bound::Included(low)) => low.last() != Some(&b'a'),
            _ => true,
        }
    }

    fn expected_fpr(&self) -> f64 {
        match self.fault {
            Fault::HalvesItsRate => self.sound.expected_fpr() / 2.0,
            Fault::FlattersItsRate => self.sound.expected_fpr() / 1.1,
            _ => self.sound.expected_fpr(),
        }
    }

    fn memory_bytes(&self) -> usize {
        match self.fault {
            Fault::HidesMemory => self.sound.memory_bytes() / 2,
            _ => self.sound.memory_bytes(),
        }
    }
}
