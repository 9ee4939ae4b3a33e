//! The invariants of the hash axis as a check that any crate's tests can call.
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

/// All invariants, by name.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("equal keys have equal hashes at any address", equal_keys_have_equal_hashes),
    ("different keys have different hashes", different_keys_have_different_hashes),
    ("similar keys spread evenly by any byte of the hash", close_keys_fall_evenly),
];

/// Checks every invariant of the axis for a hash function. Also checks that a tree with this function answers like a
/// `BTreeMap`.
///
/// The function is added to the catalog unless it is there already, because a design refers to it by name.
///
/// # Errors
/// The function cannot be added to the catalog; or one line per broken invariant, in the form
/// `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn KeyHasher>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    let by_itself = laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS);
    let broken = [by_itself.err(), check_in_tree(CATALOG.axis, variant.kind).err()];
    laws::all_kept(&broken.into_iter().flatten().collect::<Vec<_>>())
}

/// The number of buckets, which eight bits of the hash select.
const BUCKETS: usize = 256;
const KEYS: u64 = 64 * 1024;

/// A form of keys by name, and the function from a number to a key.
type Form = (&'static str, fn(u64) -> Vec<u8>);

const FORMS: [Form; 2] = [
    ("decimal", |number| format!("user{number:012}").into_bytes()),
    ("binary", |number| number.to_be_bytes().to_vec()),
];

/// Checks equal keys of every length up to 300 bytes, at every alignment.
fn equal_keys_have_equal_hashes(subject: &Subject) -> Result<(), String> {
    for len in 0..300 {
        let key: Vec<u8> = (0..len).map(|at: usize| (at * 7) as u8).collect();
        let hash = subject.0.hash(&key);
        for offset in 1..16 {
            let shifted = [&vec![0xaa; offset][..], &key, &[0xaa; 16]].concat();
            let again = subject.0.hash(&shifted[offset..offset + len]);
            ensure(hash == again, || {
                format!("{len} bytes hash to {hash:?}, at offset {offset} to {again:?}")
            })?;
        }
    }
    Ok(())
}

/// Checks that 64 Ki keys of each pattern have distinct 64-bit hashes. One pattern consists of keys of zeros with
/// different lengths.
fn different_keys_have_different_hashes(subject: &Subject) -> Result<(), String> {
    let zeros: fn(u64) -> Vec<u8> = |len| vec![0; len as usize];
    for ((form, key), keys) in FORMS.into_iter().zip([KEYS; 2]).chain([(("zeros", zeros), 300)]) {
        let hashes: HashSet<u64> = (0..keys).map(|number| subject.0.hash(&key(number)).0).collect();
        ensure(hashes.len() as u64 == keys, || {
            format!("{keys} {form} keys have {} different hashes", hashes.len())
        })?;
    }
    Ok(())
}

fn close_keys_fall_evenly(subject: &Subject) -> Result<(), String> {
    for (form, key) in FORMS {
        for shift in (0..64).step_by(8) {
            let unevenness = unevenness(|number| (subject.0.hash(&key(number)).0 >> shift) as usize);
            ensure(unevenness < 5.0, || {
                format!("{form} keys, bit {shift}: {unevenness:.1} standard deviations from an even spread")
            })?;
        }
    }
    Ok(())
}

/// Returns how unevenly keys spread over the buckets: the χ² statistic against an even spread, as standard deviations
/// from its mean.
fn unevenness(bucket: impl Fn(u64) -> usize) -> f64 {
    let mut counts = [0u32; BUCKETS];
    (0..KEYS).for_each(|key| counts[bucket(key) % BUCKETS] += 1);
    let expected = KEYS as f64 / BUCKETS as f64;
    let chi_squared: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    let freedom = (BUCKETS - 1) as f64;
    (chi_squared - freedom) / (2.0 * freedom).sqrt()
}
