//! The invariants of filters. Each invariant is a function that checks one filter policy.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};

use catalog::laws::{Invariant, ensure, is_nightly};
use types::{Bytes, HashedKey, KeyHash, KeyList, SplitMix64};

use crate::{Filter, FilterInput, FilterPolicy};

/// The filter policy under test, with its description in the catalog.
pub(crate) struct Subject {
    pub(crate) policy: Box<dyn FilterPolicy>,
    /// Whether the filter has a parameter `bits_per_key`, so that an allocation may change its memory.
    pub(crate) spends_bits: bool,
    pub(crate) oracle: bool,
}

/// All invariants of filters, each with its name.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("every added key is reported as present", no_key_is_lost),
    ("answers depend only on the stored bytes and the probed key", answers_depend_on_bytes_and_hash_alone),
    ("a filter built by single insertions equals a filter built in one call", what_grows_is_what_is_built),
    ("a batch of probes gives the same answers as single probes", a_batch_answers_as_single_probes_do),
    (
        "after reports of false positives, added keys are still reported as present",
        reported_false_positives_lose_no_key,
    ),
    (
        "the measured false-positive rate is close to the value of expected_fpr()",
        the_rate_is_the_one_expected,
    ),
    ("small filters have about the expected false-positive rate", small_filters_are_near_their_rate),
    ("a filter that uses memory but has no keys reports every key as absent", an_empty_table_has_no_keys),
    ("a range that contains an added key is never reported as empty", no_range_with_a_key_is_empty),
    (
        "`answers_ranges` returns whether the filter can report a range as empty",
        ranges_are_answered_where_it_says_so,
    ),
    ("the filter uses as many bits per key as the allocation sets", the_allocation_is_spent),
    ("`memory_bytes` is close to the stored size", memory_is_told),
    (
        "with corrupt bytes, a filter returns an error or a wrong answer, and does not panic",
        corruption_is_an_error_or_a_wrong_answer,
    ),
];

/// The bits per key at which measured false-positive rates are compared with theory.
const BITS_PER_KEY: [f64; 5] = [4.0, 8.0, 10.0, 12.0, 16.0];

fn random_hashes(count: usize, seed: u64) -> Vec<KeyHash> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| KeyHash(random.next_u64())).collect()
}

/// Returns the key that the tests use for a hash. Different hashes have different keys. The order of the keys differs
/// from the order of the hashes.
fn key_of(hash: KeyHash) -> [u8; 8] {
    hash.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

/// The keys for the checks of filters, together with their hashes. Filters that need keys and filters that need hashes
/// therefore get the same input.
pub(crate) struct Keys {
    hashes: Vec<KeyHash>,
    list: KeyList,
}

impl Keys {
    /// Creates the keys for these hashes, sorted by key.
    pub(crate) fn of(hashes: &[KeyHash]) -> Self {
        let mut hashes = hashes.to_vec();
        hashes.sort_unstable_by_key(|hash| key_of(*hash));
        let list = hashes.iter().map(|hash| key_of(*hash)).collect();
        Self { hashes, list }
    }

    pub(crate) fn input(&self, bits_per_key: Option<f64>) -> FilterInput<'_> {
        FilterInput { hashes: &self.hashes, bits_per_key, keys: Some(&self.list) }
    }
}

/// Returns whether a filter may contain the key that belongs to a hash.
pub(crate) fn may_contain(filter: &dyn Filter, hash: KeyHash) -> bool {
    filter.may_contain_key(HashedKey { bytes: &key_of(hash), hash })
}

/// Probes a filter for the keys that belong to many hashes, and writes its answers to `answers`.
fn may_contain_all(filter: &dyn Filter, hashes: &[KeyHash], answers: &mut [bool]) {
    let bytes: Vec<[u8; 8]> = hashes.iter().map(|hash| key_of(*hash)).collect();
    let keys = bytes.iter().zip(hashes).map(|(bytes, hash)| HashedKey { bytes, hash: *hash });
    filter.may_contain_keys(&keys.collect::<Vec<_>>(), answers);
}

fn build(subject: &Subject, hashes: &[KeyHash], bits_per_key: Option<f64>) -> Box<dyn Filter> {
    open(subject, &subject.policy.build(&Keys::of(hashes).input(bits_per_key)))
}

fn open(subject: &Subject, stored: &[u8]) -> Box<dyn Filter> {
    subject.policy.open(Bytes::copy_from(stored)).expect("a filter policy must open the bytes that it built")
}

/// Returns the start of an error message, which states the memory of the filter: `without an allocation`, or `with an
/// allocation of … bits per key`.
fn with_allocation(bits_per_key: Option<f64>) -> String {
    bits_per_key.map_or("without an allocation".to_owned(), |bits| {
        format!("with an allocation of {bits} bits per key")
    })
}

fn no_key_is_lost(subject: &Subject) -> Result<(), String> {
    let extremes = vec![KeyHash(0), KeyHash(u64::MAX), KeyHash(0), KeyHash(1), KeyHash(1 << 63)];
    let equal = vec![KeyHash(0x1234_5678_9abc_def0); 500];
    let consecutive: Vec<KeyHash> = (0..5000).map(KeyHash).collect();
    let random = [1, 2, 51, 52, 63, 64, 65, 1000, 100_000].map(|count| random_hashes(count, 1));
    for hashes in random.iter().chain([&extremes, &equal, &consecutive]) {
        for bits_per_key in [None, Some(0.0), Some(0.1), Some(0.7), Some(10.0), Some(63.9), Some(1000.0)] {
            let filter = build(subject, hashes, bits_per_key);
            let kept = |hash: KeyHash| filter.may_contain(hash) && may_contain(&*filter, hash);
            let lost = hashes.iter().filter(|hash| !kept(**hash)).count();
            ensure(lost == 0, || {
                let allocation = with_allocation(bits_per_key);
                format!("{allocation}, the filter reports {lost} of {} added keys as absent", hashes.len())
            })?;
        }
    }
    Ok(())
}

fn answers_depend_on_bytes_and_hash_alone(subject: &Subject) -> Result<(), String> {
    let hashes = random_hashes(3000, 2);
    let keys = Keys::of(&hashes);
    let input = keys.input(None);
    let stored = subject.policy.build(&input);
    ensure(stored == subject.policy.build(&input), || {
        "two builds from equal keys return different bytes".to_owned()
    })?;
    let first = subject.policy.open(Bytes::copy_from(&stored)).map_err(|e| e.to_string())?;
    let probes = random_hashes(3000, 3);
    for offset in [1, 3, 8, 17, 33] {
        let mut shifted = vec![0xff; offset];
        shifted.extend(&stored);
        let shifted = Bytes::copy_from(&shifted).slice(offset..offset + stored.len());
        let second = subject.policy.open(shifted).map_err(|e| e.to_string())?;
        for hash in probes.iter().chain(&hashes) {
            let same = may_contain(&*first, *hash) == may_contain(&*second, *hash)
                && may_contain(&*first, *hash) == may_contain(&*first, *hash);
            ensure(same, || {
                format!(
                    "answers differ between two probes with equal keys, or change if the stored bytes begin \
                     at offset {offset} of a buffer"
                )
            })?;
        }
    }
    Ok(())
}

/// Checks that a filter builder, which gets the keys one by one, returns the bytes that `build` returns. The order of
/// the keys, the batches and the number of threads must not change the bytes.
fn what_grows_is_what_is_built(subject: &Subject) -> Result<(), String> {
    for count in [0, 1, 1000] {
        let hashes = random_hashes(count, 11);
        let input = FilterInput { hashes: &hashes, bits_per_key: None, keys: None };
        let Some(grown) = subject.policy.grow(&input) else { return Ok(()) };
        let built = subject.policy.build(&input);
        hashes.iter().rev().for_each(|hash| grown.insert(*hash));
        if grown.finish() != built {
            return Err(format!(
                "after {count} calls of `insert`, `finish` returns other bytes than `build` returns for \
                 the same keys"
            ));
        }
        let together = subject.policy.grow(&input).ok_or(
            "a second call of `grow` with equal input returns None, although the first call returned a filter \
             builder",
        )?;
        std::thread::scope(|scope| {
            for share in hashes.chunks(count.div_ceil(4).max(1)) {
                let together = &together;
                scope.spawn(move || share.chunks(45).for_each(|batch| together.insert_batch(batch)));
            }
        });
        if together.finish() != built {
            return Err(format!(
                "after `insert_batch` of {count} keys in several threads, `finish` returns other bytes \
                 than `build` returns for the same keys"
            ));
        }
    }
    Ok(())
}

fn a_batch_answers_as_single_probes_do(subject: &Subject) -> Result<(), String> {
    let hashes = random_hashes(2000, 4);
    let filter = build(subject, &hashes, Some(4.0));
    let probes: Vec<KeyHash> = hashes.into_iter().chain(random_hashes(2000, 5)).collect();
    for count in [0, 1, 7, 31, 32, 33, 64, 100, probes.len()] {
        for start in [0, probes.len() - count] {
            let probes = &probes[start..start + count];
            let mut answers = vec![false; count];
            filter.may_contain_batch(probes, &mut answers);
            let same = probes.iter().zip(&answers).all(|(hash, answer)| filter.may_contain(*hash) == *answer);
            ensure(same, || {
                format!("for {count} hashes, `may_contain_batch` gives other answers than `may_contain`")
            })?;
            may_contain_all(&*filter, probes, &mut answers);
            let same =
                probes.iter().zip(&answers).all(|(hash, answer)| may_contain(&*filter, *hash) == *answer);
            ensure(same, || {
                format!("for {count} keys, `may_contain_keys` gives other answers than `may_contain_key`")
            })?;
        }
    }
    let short = catch_unwind(AssertUnwindSafe(|| filter.may_contain_batch(&probes, &mut [false])));
    ensure(short.is_err(), || {
        "`may_contain_batch` must panic if the list of answers is shorter than the list of hashes, but it \
         does not"
            .to_owned()
    })
}

/// Checks that a filter still reports each added key present after its false positives were reported to the filter.
/// Also checks that a batch of lookups then gives the answers of single lookups.
fn reported_false_positives_lose_no_key(subject: &Subject) -> Result<(), String> {
    let (hashes, absent) = (random_hashes(2000, 18), random_hashes(20_000, 19));
    let filter = build(subject, &hashes, Some(8.0));
    for hash in &absent {
        if may_contain(&*filter, *hash) {
            filter.report_false_positive(HashedKey { bytes: &key_of(*hash), hash: *hash });
        }
    }
    let lost = hashes.iter().filter(|hash| !may_contain(&*filter, **hash)).count();
    ensure(lost == 0, || {
        format!("after reports of false positives, the filter reports {lost} of 2000 added keys as absent")
    })?;
    let mut answers = vec![false; absent.len()];
    may_contain_all(&*filter, &absent, &mut answers);
    let same = absent.iter().zip(&answers).all(|(hash, answer)| may_contain(&*filter, *hash) == *answer);
    ensure(same, || {
        "after reports of false positives, `may_contain_keys` gives other answers than `may_contain_key`"
            .to_owned()
    })
}

/// Checks that the measured false-positive rate differs from theory by at most 3 %, plus the sampling error.
fn the_rate_is_the_one_expected(subject: &Subject) -> Result<(), String> {
    let hashes = random_hashes(300_000, 6);
    let probes = random_hashes(if is_nightly() { 1_000_000 } else { 250_000 }, 7);
    for bits_per_key in BITS_PER_KEY {
        let filter = build(subject, &hashes, Some(bits_per_key));
        within(0.03, filter.expected_fpr(), share_of_positives(&*filter, &probes), probes.len())
            .map_err(|error| format!("at {bits_per_key} bits per key: {error}"))?;
    }
    Ok(())
}

/// Checks that the average rate of many filters of a few keys is within 25 % of theory. Theory is only an
/// approximation for few keys.
fn small_filters_are_near_their_rate(subject: &Subject) -> Result<(), String> {
    const FILTERS: u64 = 100;
    let probes = random_hashes(10_000, 8);
    for keys in [1, 50, 200] {
        let (mut expected, mut measured) = (0.0, 0.0);
        for seed in 0..FILTERS {
            let filter = build(subject, &random_hashes(keys, 100 + seed), Some(6.0));
            expected += filter.expected_fpr() / FILTERS as f64;
            measured += share_of_positives(&*filter, &probes) / FILTERS as f64;
        }
        within(0.25, expected, measured, probes.len()).map_err(|error| format!("{keys} keys: {error}"))?;
    }
    Ok(())
}

fn share_of_positives(filter: &dyn Filter, probes: &[KeyHash]) -> f64 {
    let mut answers = vec![false; probes.len()];
    may_contain_all(filter, probes, &mut answers);
    answers.iter().filter(|answer| **answer).count() as f64 / probes.len() as f64
}

/// Checks that the false-positive rate `measured` in `probes` probes is close to the rate `expected`. The allowed
/// difference is the relative `tolerance` plus four standard deviations of sampling.
fn within(tolerance: f64, expected: f64, measured: f64, probes: usize) -> Result<(), String> {
    let sampling = 4.0 * (expected * (1.0 - expected).max(0.0) / probes as f64).sqrt();
    ensure((measured - expected).abs() <= tolerance * expected + sampling, || {
        format!(
            "the measured false-positive rate is {measured:.6}, but `expected_fpr` returns {expected:.6}; the \
             difference is larger than the tolerance of {:.0} % plus the sampling error",
            100.0 * tolerance
        )
    })
}

fn an_empty_table_has_no_keys(subject: &Subject) -> Result<(), String> {
    for bits_per_key in [None, Some(0.1), Some(10.0)] {
        let filter = build(subject, &[], bits_per_key);
        let positives = share_of_positives(&*filter, &random_hashes(1000, 9));
        within(0.0, filter.expected_fpr(), positives, 1000)?;
        // Only a filter that always answers "maybe" may give this answer for an empty SSTable. The memory of such a
        // filter is 0.
        ensure(positives == 0.0 || filter.memory_bytes() == 0, || {
            "a filter without keys reports a key as present, which is allowed only for a filter that uses no \
             memory"
                .to_owned()
        })?;
    }
    Ok(())
}

/// Returns sets of keys for the checks of range filters: dense and sparse numbers with or without padding, strings with
/// common prefixes, and edge cases.
fn kinds_of_keys() -> Vec<BTreeSet<Vec<u8>>> {
    let numbers = || random_hashes(2000, 14).into_iter().map(|hash| hash.0);
    let odd: [&[u8]; 9] = [b"", b"\0", b"\0\0", b"a", b"a\0", b"ab", &[0xff; 8], &[0xff; 9], &[0xff; 30]];
    vec![
        numbers().map(|number| number.to_be_bytes().to_vec()).collect(),
        numbers().map(|number| [&(number % 5000).to_be_bytes()[..], b"0000"].concat()).collect(),
        numbers().map(|number| format!("user{:020}", number % 1_000_000).into_bytes()).collect(),
        numbers().map(|number| format!("{:x}", number >> (number % 64)).into_bytes()).collect(),
        numbers().map(|number| vec![b'a' + (number % 3) as u8; number as usize / 3 % 40]).collect(),
        odd.iter().map(|key| key.to_vec()).collect(),
        [b"one".to_vec()].into(),
    ]
}

/// Checks that no range with a key is reported empty. The bounds of the ranges are inclusive, exclusive or absent.
/// Bounds are equal to a key, next to a key or further away.
fn no_range_with_a_key_is_empty(subject: &Subject) -> Result<(), String> {
    for keys in kinds_of_keys() {
        let list: KeyList = keys.iter().collect();
        let hashes = random_hashes(keys.len(), 15);
        for bits_per_key in [None, Some(0.5), Some(3.0), Some(40.0)] {
            let input = FilterInput { hashes: &hashes, bits_per_key, keys: Some(&list) };
            let filter = open(subject, &subject.policy.build(&input));
            for (index, key) in keys.iter().enumerate() {
                let after = [&key[..], b"\0"].concat();
                let further = list.key((index + 1 + index % 5).min(list.len() - 1));
                let before = list.key(index.saturating_sub(1 + index % 3));
                let lows = [Bound::Unbounded, Bound::Included(&key[..]), Bound::Included(before)];
                let highs = [Bound::Unbounded, Bound::Included(&key[..]), Bound::Excluded(&after[..])];
                let highs = highs.into_iter().chain([Bound::Included(further)]);
                for (low, high) in lows.into_iter().flat_map(|low| highs.clone().map(move |high| (low, high)))
                {
                    ensure(filter.may_contain_range(low, high), || {
                        let allocation = with_allocation(bits_per_key);
                        format!(
                            "{allocation}, the range from {low:?} to {high:?} is reported as empty, although it \
                             includes an added key"
                        )
                    })?;
                }
            }
            let below = list.iter().zip(list.iter().skip(1)).all(|(low, high)| {
                filter.may_contain_range(Bound::Excluded(low), Bound::Included(high))
                    && filter.may_contain_range(Bound::Included(low), Bound::Excluded(high))
            });
            ensure(below, || {
                "a range from one added key to the next added key is reported as empty, although the range \
                 includes one of the two keys"
                    .to_owned()
            })?;
        }
    }
    Ok(())
}

/// If the filter answers ranges, checks that some ranges after absent keys are reported empty. If the filter does not
/// answer ranges, checks that no range is reported empty.
fn ranges_are_answered_where_it_says_so(subject: &Subject) -> Result<(), String> {
    let filter = build(subject, &random_hashes(1000, 16), None);
    let empty = random_hashes(1000, 17).into_iter().filter(|hash| {
        let [low, high] = [b"a", b"z"].map(|end| [&key_of(*hash)[..], end].concat());
        !filter.may_contain_range(Bound::Included(&low), Bound::Included(&high))
    });
    let (empty, answers) = (empty.count(), filter.answers_ranges());
    ensure(if answers { empty > 0 } else { empty == 0 }, || {
        format!(
            "the filter reports {empty} of 1000 ranges without keys as empty, but `answers_ranges` returns \
             {answers}; it must return true if and only if the filter can report a range as empty"
        )
    })
}

/// Checks that a filter of 100,000 keys takes the memory that an allocation sets.
///
/// * A filter with the parameter `bits_per_key` may take about 1 % more.
/// * The memory of a filter with fingerprints may differ by about 1.5 bits per key.
///
/// Without an allocation, the memory must be within 7 % of [`bits_per_key`](FilterPolicy::bits_per_key).
fn the_allocation_is_spent(subject: &Subject) -> Result<(), String> {
    let Some(own) = subject.policy.bits_per_key() else {
        return ensure(!subject.spends_bits, || {
            "the policy has the parameter `bits_per_key`, but its method `bits_per_key` returns `None`"
                .to_owned()
        });
    };
    let hashes = random_hashes(100_000, 10);
    let bits = |given| build(subject, &hashes, given).memory_bytes() as f64 * 8.0 / hashes.len() as f64;
    let (spent, asked) = (bits(None), bits(Some(own)));
    ensure((spent / own - 1.0).abs() <= 0.07 && (asked / own - 1.0).abs() <= 0.15, || {
        format!(
            "the method `bits_per_key` returns {own}. Without an allocation, the filter takes {spent} bits \
             per key; the difference must be at most 7 %. With an allocation of {own} bits per key, the \
             filter takes {asked} bits per key; the difference must be at most 15 %"
        )
    })?;
    let given = if subject.spends_bits { &[0.1, 1.5, 4.0, 10.0, 16.0, 33.3][..] } else { &[9.0, 16.0, 30.0] };
    let slack = if subject.spends_bits { 0.0 } else { 1.5 };
    for given in given {
        let bits = bits(Some(*given));
        ensure(bits >= given - slack && bits <= given * 1.01 + slack + 0.02, || {
            format!(
                "with an allocation of {given} bits per key, the filter takes {bits} bits per key; it may \
                 take at most {slack} bits less, or 1 % + {slack} bits more"
            )
        })?;
    }
    Ok(())
}

/// Checks that [`memory_bytes`](Filter::memory_bytes) is 0 for an ideal bound. For any other filter, the result must be
/// the stored size, with a tolerance of 10 % and 64 bytes.
fn memory_is_told(subject: &Subject) -> Result<(), String> {
    let hashes = random_hashes(10_000, 11);
    let stored = subject.policy.build(&Keys::of(&hashes).input(None));
    let memory = build(subject, &hashes, None).memory_bytes();
    if subject.oracle {
        return ensure(memory == 0, || {
            format!("`memory_bytes` of an ideal variant returns {memory}; it must return 0")
        });
    }
    ensure(stored.len().abs_diff(memory) <= stored.len() / 10 + 64, || {
        format!(
            "`memory_bytes` is {memory}, but the stored filter has {} bytes; the maximum difference is 10 % + \
             64 bytes",
            stored.len()
        )
    })
}

/// Checks that corrupt bytes never cause a panic. If the stored bytes are too short or too long, the filter must not
/// open. If a stored bit is flipped, the filter need not open, and its answers may be wrong.
fn corruption_is_an_error_or_a_wrong_answer(subject: &Subject) -> Result<(), String> {
    let hashes = random_hashes(300, 12);
    let probes = random_hashes(100, 13);
    let stored = subject.policy.build(&Keys::of(&hashes).input(None));
    let open = |bytes: &[u8]| {
        catch_unwind(AssertUnwindSafe(|| {
            subject.policy.open(Bytes::copy_from(bytes)).map(|filter| {
                let _ = (filter.expected_fpr(), share_of_positives(&*filter, &probes));
                let ranges =
                    probes.windows(2).map(|pair| [pair[0], pair[1]].map(|hash| hash.0.to_be_bytes()));
                let ranges = ranges.filter(|[low, high]| {
                    filter.may_contain_range(Bound::Included(low), Bound::Excluded(high))
                });
                probes.iter().filter(|hash| filter.may_contain(**hash)).count() + ranges.count()
            })
        }))
        .map_err(|_| "opening or probing a filter with corrupt bytes panics".to_owned())
    };
    for len in 0..stored.len() {
        ensure(open(&stored[..len])?.is_err(), || {
            format!(
                "a stored filter that is truncated to {len} of {} bytes opens without an error; it must be \
                 rejected",
                stored.len()
            )
        })?;
    }
    for extra in [1, 8, 64] {
        let longer = [&stored[..], &vec![0; extra]].concat();
        ensure(open(&longer)?.is_err(), || {
            format!(
                "a stored filter with {extra} additional bytes at its end opens without an error; it must \
                 be rejected"
            )
        })?;
    }
    for bit in 0..stored.len() * 8 {
        let mut flipped = stored.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = open(&flipped)?;
    }
    Ok(())
}
