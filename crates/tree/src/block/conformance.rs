//! Checks the invariants of block formats. The tests of any crate can call this check.
//!
//! ```
//! use lsmbench_tree::block;
//!
//! block::conformance::check(block::CATALOG.variant("btree-page")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use catalog::Variant;
use catalog::laws::{self, Invariant, ensure};
use types::{Bytes, Direction, Entry, HashedKey, KeyHash};
use xxhash_rust::xxh3::xxh3_64;

use super::{BlockBuilder, BlockFormat, CATALOG, Found, find, walk};
use crate::conformance::check_in_tree;
use crate::{BlockIndex, BlockOptions};

/// A block format under test.
struct Subject(Box<dyn BlockFormat>);

/// The invariants of block formats: the name and the check of each invariant.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("all block formats of the catalog must have different codes", a_code_is_one_format),
    ("an iterator over a block must return all entries in key order", a_walk_gives_every_entry),
    ("a lookup in a block must find every key of the block, and no other key", every_key_is_found),
    ("reads of corrupt blocks must not panic", corruption_is_an_error),
];

/// Checks every invariant of block formats for one format with its default parameters, every index and several restart
/// intervals. Also checks that a tree with this format gives the same answers as a `BTreeMap`.
///
/// The function adds the format to the catalog if the catalog lacks it, because a reader selects the format of a
/// block by its code in the catalog.
///
/// # Errors
/// If the format cannot be added to the catalog, or if an invariant is broken. The error has one line per broken
/// invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn BlockFormat>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    let by_itself = laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS);
    let broken = [by_itself.err(), check_in_tree(CATALOG.axis, variant.kind).err()];
    laws::all_kept(&broken.into_iter().flatten().collect::<Vec<_>>())
}

/// A key with its value, or `None` for a tombstone.
type OwnedEntry = (Vec<u8>, Option<Vec<u8>>);

/// Returns three sets of entries in key order, with which each invariant is checked:
///
/// - values and tombstones whose keys share prefixes; one key is empty, and some keys are prefixes of other keys;
/// - key-value pairs of one size;
/// - a single entry.
fn sets() -> Vec<Vec<OwnedEntry>> {
    let mut keys: Vec<Vec<u8>> = (0..300u32).map(|i| format!("user{:05}", i * 7).into_bytes()).collect();
    keys.extend([b"".to_vec(), b"a".to_vec(), b"aa".to_vec(), b"aaa\0".to_vec(), b"\xff\xff".to_vec()]);
    keys.sort();
    let value = |index: usize| (index % 5 != 3).then(|| format!("value {index}").into_bytes());
    let mixed: Vec<_> = keys.into_iter().enumerate().map(|(index, key)| (key, value(index))).collect();
    let pair = |number: u32| ((number * 977).to_be_bytes().to_vec(), Some(number.to_le_bytes().to_vec()));
    let one = mixed[7..8].to_vec();
    vec![mixed, (1000..1100).map(pair).collect(), one]
}

fn hashed(key: &[u8]) -> HashedKey<'_> {
    HashedKey { bytes: key, hash: KeyHash(xxh3_64(key)) }
}

/// Returns the entries encoded as one block of the format under test.
fn block(format: &Subject, entries: &[OwnedEntry], options: &BlockOptions) -> Vec<u8> {
    let mut builder = BlockBuilder::new(&*format.0, options);
    for (key, value) in entries {
        builder.add(Entry { key, value: value.as_deref() }, hashed(key).hash);
    }
    builder.finish(<[u8]>::to_vec)
}

/// Checks an invariant with many data blocks. Calls `check` with each set of entries from [`sets`] and with a block of
/// these entries, for every index and several restart intervals.
fn each(format: &Subject, check: impl Fn(&[u8], &[OwnedEntry]) -> Result<(), String>) -> Result<(), String> {
    for restart_interval in [1, 2, 3, 16, 1000] {
        for index in BlockIndex::ALL {
            let options = BlockOptions { restart_interval, index, ..BlockOptions::default() };
            for entries in sets() {
                let checked = check(&block(format, &entries, &options), &entries);
                checked.map_err(|what| {
                    format!(
                        "{index:?} index, restart interval {restart_interval}, {} entries: {what}",
                        entries.len()
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Reads all entries of a block with its iterator, in ascending or descending key order. Returns `None` if the iterator
/// reports the block as corrupt.
fn walked(block: &[u8], direction: Direction) -> Option<Vec<OwnedEntry>> {
    let mut entries = Vec::new();
    let visit = |key: &[u8], value: Option<&[u8]>| entries.push((key.to_vec(), value.map(<[u8]>::to_vec)));
    walk(Bytes::copy_from(block), direction, visit)?;
    Some(entries)
}

fn a_code_is_one_format(format: &Subject) -> Result<(), String> {
    let code = format.0.code();
    ensure(code < 16, || {
        format!(
            "the code of the block format is {code}; it must be 0 to 15, because a block footer has four bits for \
             the code"
        )
    })?;
    let formats = CATALOG.all().filter_map(|choice| CATALOG.build(&choice).ok());
    let owners = formats.filter(|other| other.code() == code).count();
    ensure(owners == 1, || {
        format!("the code {code} must belong to one format of the catalog, but belongs to {owners} formats")
    })
}

fn a_walk_gives_every_entry(format: &Subject) -> Result<(), String> {
    each(format, |block, entries| {
        let forward = walked(block, Direction::Forward)
            .ok_or("a forward iterator reports an intact block as corrupt")?;
        ensure(forward == entries, || {
            "a forward iterator does not return exactly the entries of the block in key order".to_owned()
        })?;
        let backward = walked(block, Direction::Backward)
            .ok_or("a backward iterator reports an intact block as corrupt")?;
        ensure(backward.iter().rev().eq(entries), || {
            "a backward iterator does not return exactly the entries of the block in descending key order"
                .to_owned()
        })
    })
}

fn every_key_is_found(format: &Subject) -> Result<(), String> {
    each(format, |block, entries| {
        for (key, value) in entries {
            let found = find(block, hashed(key));
            let is_right = match (&found, value) {
                (Some(Found::Tombstone), None) => true,
                (Some(Found::Value(range)), Some(value)) => block.get(range.clone()) == Some(value),
                _ => false,
            };
            ensure(is_right, || {
                let stored = value.as_ref().map_or_else(
                    || "a tombstone".to_owned(),
                    |value| format!("the value \"{}\"", value.escape_ascii()),
                );
                let key = key.escape_ascii();
                format!("a lookup of the key \"{key}\" returns {found:?}, but the block contains {stored}")
            })?;
            let absent = [key, &b"\0\x01"[..]].concat();
            let found = find(block, hashed(&absent));
            ensure(matches!(found, Some(Found::Absent)), || {
                format!(
                    "a lookup of the absent key {:?} returns {found:?}; it must return Some(Absent)",
                    absent.escape_ascii().to_string()
                )
            })?;
        }
        Ok(())
    })
}

/// Checks that reads of truncated blocks and of blocks with one flipped bit cause no panic. The reads may return errors
/// or wrong entries, because the checksum of a block is not part of the block format.
fn corruption_is_an_error(format: &Subject) -> Result<(), String> {
    for index in BlockIndex::ALL {
        let options = BlockOptions { index, ..BlockOptions::default() };
        for entries in sets() {
            let entries = &entries[..entries.len().min(20)];
            let sound = block(format, entries, &options);
            let read = |bytes: &[u8]| {
                let read = || {
                    walked(bytes, Direction::Forward);
                    walked(bytes, Direction::Backward);
                    entries.iter().filter(|(key, _)| find(bytes, hashed(key)).is_some()).count()
                };
                catch_unwind(AssertUnwindSafe(read)).map(|_| ()).map_err(|_| {
                    "a read of a truncated block, or of a block with one flipped bit, panics; it must return \
                     an error or entries"
                        .to_owned()
                })
            };
            (0..sound.len()).try_for_each(|len| read(&sound[..len]))?;
            for bit in 0..sound.len() * 8 {
                let mut flipped = sound.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                read(&flipped)?;
            }
        }
    }
    Ok(())
}
