//! Fuzz target for data blocks of every block format.

use tree::block::{BlockBuilder, CATALOG, find, walk};
use tree::{BlockIndex, BlockOptions};
use types::{Bytes, Direction, Entry, HashedKey, KeyHash};

use super::input::SPARE_BYTES;
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for a data block of any format, which the target scans and searches.
///
/// A scan must end, and must not return more entries than the block has bytes. A search must not return another value
/// than the scan. Ascending entries must be unchanged after they are encoded and decoded.
pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "block",
    about: "a data block, which the target scans in both directions and searches",
    form: InputForm::Bytes,
    seeds,
    run,
};

/// An entry with its key and its value, as a scan returns it. The value of a tombstone is `None`.
type Owned = (Vec<u8>, Option<Vec<u8>>);

/// The distance in bytes from the end of a block to the byte that contains the kind of the block's hash index. If a
/// block has a hash index, the target does not check the results of searches.
const KINDS_BYTES: usize = 4;

fn hashed(key: &[u8]) -> HashedKey<'_> {
    HashedKey { bytes: key, hash: tree_hash(key) }
}

/// Returns a simple hash of a key. The hash needs no quality, because the target only needs equal hashes for equal
/// keys.
fn tree_hash(key: &[u8]) -> KeyHash {
    KeyHash(key.iter().fold(7u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

fn seeds() -> Vec<Vec<u8>> {
    let long = vec![b'k'; 300];
    let keys: [&[&[u8]]; 4] = [
        &[b"key0001", b"key0002", b"key0002a", b"key0010", b"other", b"x"],
        &[b"", b"a", b"aa", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", b"b"],
        &[b"aaaa", b"aaab", b"aaac", b"aaad", b"aaae", b"aaaf", b"aaag", b"aaah", b"aaai"],
        &[&long],
    ];
    let mut blocks = Vec::new();
    for index in BlockIndex::ALL {
        for restart_interval in [1, 3, 16] {
            let options = BlockOptions { index, restart_interval, ..BlockOptions::default() };
            blocks.extend(keys.iter().flat_map(|keys| {
                let value = |at: usize| (at % 3 != 2).then_some(&b"value"[..]);
                let entries = keys.iter().enumerate();
                let entries = entries.map(|(at, key)| (key.to_vec(), value(at).map(<[u8]>::to_vec)));
                lay_out(&entries.collect::<Vec<_>>(), &options)
            }));
            let pairs = |number: u32| (number.to_be_bytes().to_vec(), Some(number.to_le_bytes().to_vec()));
            blocks.extend(lay_out(&(0..40).map(pairs).collect::<Vec<_>>(), &options));
        }
    }
    blocks
}

/// Encodes the entries as one block in each block format.
fn lay_out(entries: &[Owned], options: &BlockOptions) -> Vec<Vec<u8>> {
    let formats = CATALOG.all().map(|choice| {
        CATALOG.build(&choice).expect("every block format must build with its default parameters")
    });
    let block = |format: Box<dyn tree::block::BlockFormat>| {
        let mut builder = BlockBuilder::new(&*format, options);
        for (key, value) in entries {
            builder.add(Entry { key, value: value.as_deref() }, tree_hash(key));
        }
        builder.finish(<[u8]>::to_vec)
    };
    formats.map(block).collect()
}

fn entries(block: &[u8], direction: Direction) -> Option<Vec<Owned>> {
    let mut entries: Vec<Owned> = Vec::new();
    walk(Bytes::copy_from(block), direction, |key, value| {
        entries.push((key.to_vec(), value.map(<[u8]>::to_vec)));
        assert!(entries.len() <= block.len(), "the scan returned more entries than the block has bytes");
    })?;
    Some(entries)
}

fn run(input: &[u8]) -> bool {
    for direction in [Direction::Forward, Direction::Backward] {
        bounded(input.len(), SPARE_BYTES, || {
            let mut count = 0;
            walk(Bytes::copy_from(input), direction, |_, _| count += 1);
            assert!(count <= input.len(), "the scan returned more entries than the block has bytes");
        });
    }
    let Some(forward) = entries(input, Direction::Forward) else { return false };
    let rises = forward.windows(2).all(|pair| pair[0].0 < pair[1].0);
    // If both scans agree, the restart points are at the starts of entries. A search can still fail, because only the
    // checksum protects the hash index and the bounds of a block.
    let is_sound =
        rises && entries(input, Direction::Backward).is_some_and(|back| back.iter().rev().eq(&forward));
    let kinds = input.len().checked_sub(KINDS_BYTES).map(|at| input[at]);
    let has_index = kinds.is_some_and(|kinds| kinds & 0xf != BlockIndex::None as u8);
    for (key, value) in &forward {
        let found = find(input, hashed(key));
        if is_sound
            && !has_index
            && let Some(found) = found
        {
            check_found(input, &found, value.as_deref());
        }
    }
    if rises && !forward.is_empty() {
        check_relaid(&forward);
    }
    true
}

fn check_found(block: &[u8], found: &tree::block::Found, value: Option<&[u8]>) {
    use tree::block::Found;
    match found {
        // A search may miss a key, because the bounds can be wrong. The block may also repeat a prefix that an entry
        // shares with the previous key, which misdirects the search.
        Found::Absent => {}
        Found::Tombstone => {
            assert_eq!(value, None, "the lookup returned a tombstone, but the scan returned a value");
        }
        Found::Value(range) => {
            assert_eq!(
                Some(&block[range.clone()]),
                value,
                "the lookup and the scan returned different values"
            );
        }
    }
}

/// Checks that a block of each format returns ascending entries unchanged in both directions.
fn check_relaid(forward: &[Owned]) {
    let bytes: usize =
        forward.iter().map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len)).sum();
    // Offsets in a block have two bytes, so a block with several entries has at most 64 KiB.
    if bytes + forward.len() * 16 > 60_000 {
        return;
    }
    for block in lay_out(forward, &BlockOptions::default()) {
        assert_eq!(
            entries(&block, Direction::Forward).as_deref(),
            Some(forward),
            "a forward scan of the encoded block does not return the encoded entries"
        );
        let mut backward =
            entries(&block, Direction::Backward).expect("a newly encoded block must be readable backward");
        backward.reverse();
        assert_eq!(
            backward, forward,
            "a backward scan of the encoded block does not return the encoded entries"
        );
        for (key, value) in forward {
            match find(&block, hashed(key)) {
                Some(tree::block::Found::Value(range)) => assert_eq!(Some(&block[range]), value.as_deref()),
                Some(tree::block::Found::Tombstone) => assert_eq!(*value, None),
                other => {
                    panic!("the lookup of a key in the encoded block returned {other:?} instead of its value")
                }
            }
        }
    }
}
