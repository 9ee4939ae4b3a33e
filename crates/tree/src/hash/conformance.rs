//! Checks the invariants of hash functions. The tests of any crate can call this check.
//!
//! ```
//! use lsmbench_tree::hash;
//!
//! hash::conformance::check(hash::CATALOG.variant("xxh3")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use catalog::Variant;
use catalog::laws::{self, Invariant, ensure};

use super::{CATALOG, KeyHasher};
use crate::conformance::check_in_tree;

/// A hash function under test.
struct Subject(Box<dyn KeyHasher>);

/// The names and the checks of all invariants of hash functions.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("equal keys must have equal hashes at any memory address", equal_keys_have_equal_hashes),
    ("different keys must have different hashes", different_keys_have_different_hashes),
    ("each byte of the hash must spread similar keys evenly", close_keys_fall_evenly),
];

/// Checks every invariant of hash functions for one function. Also checks that a tree with this function gives the same
/// answers as a `BTreeMap`.
///
/// The check adds the function to the catalog if the catalog lacks it, because a design refers to a function by name.
///
/// # Errors
/// If the function cannot be added to the catalog, or if an invariant is broken. The error has one line per broken
/// invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn KeyHasher>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    let by_itself = laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS);
    let broken = [by_itself.err(), check_in_tree(CATALOG.axis, variant.kind).err()];
    laws::all_kept(&broken.into_iter().flatten().collect::<Vec<_>>())
}

/// The number of buckets for the check that hashes spread evenly. Eight bits of a hash select the bucket.
const BUCKETS: usize = 256;
const KEYS: u64 = 64 * 1024;

/// A pattern of test keys: its name, and a function that returns the key with a given number.
type Form = (&'static str, fn(u64) -> Vec<u8>);

const FORMS: [Form; 2] = [
    ("decimal", |number| format!("user{number:012}").into_bytes()),
    ("binary", |number| number.to_be_bytes().to_vec()),
];

/// Checks that equal keys have equal hashes, for every length below 300 bytes and at every alignment.
fn equal_keys_have_equal_hashes(subject: &Subject) -> Result<(), String> {
    for len in 0..300 {
        let key: Vec<u8> = (0..len).map(|at: usize| (at * 7) as u8).collect();
        let hash = subject.0.hash(&key);
        for offset in 1..16 {
            let shifted = [&vec![0xaa; offset][..], &key, &[0xaa; 16]].concat();
            let again = subject.0.hash(&shifted[offset..offset + len]);
            ensure(hash == again, || {
                format!(
                    "a key of {len} bytes has the hash {hash:?}, but at offset {offset} of a buffer the hash \
                     {again:?}"
                )
            })?;
        }
    }
    Ok(())
}

/// Checks that the keys of each test pattern have distinct 64-bit hashes. Most patterns have 64 Ki keys. One pattern
/// consists of 300 keys of zeros with different lengths.
fn different_keys_have_different_hashes(subject: &Subject) -> Result<(), String> {
    let zeros: fn(u64) -> Vec<u8> = |len| vec![0; len as usize];
    for ((form, key), keys) in FORMS.into_iter().zip([KEYS; 2]).chain([(("zeros", zeros), 300)]) {
        let hashes: HashSet<u64> = (0..keys).map(|number| subject.0.hash(&key(number)).0).collect();
        ensure(hashes.len() as u64 == keys, || {
            format!("{keys} {form} keys have only {} different hashes", hashes.len())
        })?;
    }
    Ok(())
}

fn close_keys_fall_evenly(subject: &Subject) -> Result<(), String> {
    for (form, key) in FORMS {
        for shift in (0..64).step_by(8) {
            let unevenness = unevenness(|number| (subject.0.hash(&key(number)).0 >> shift) as usize);
            ensure(unevenness < 5.0, || {
                format!(
                    "the byte at bit {shift} of the hashes of {form} keys is {unevenness:.1} standard \
                     deviations from an even spread; the maximum is 5"
                )
            })?;
        }
    }
    Ok(())
}

/// Returns how unevenly hashes are distributed over the buckets, where `bucket` returns the bucket of each key. The
/// result is the χ² statistic against an even distribution, in standard deviations from its mean.
fn unevenness(bucket: impl Fn(u64) -> usize) -> f64 {
    let mut counts = [0u32; BUCKETS];
    (0..KEYS).for_each(|key| counts[bucket(key) % BUCKETS] += 1);
    let expected = KEYS as f64 / BUCKETS as f64;
    let chi_squared: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    let freedom = (BUCKETS - 1) as f64;
    (chi_squared - freedom) / (2.0 * freedom).sqrt()
}
