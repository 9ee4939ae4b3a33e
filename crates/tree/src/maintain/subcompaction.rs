//! Divides a compaction into parts with disjoint key ranges that threads can merge in parallel.

use std::sync::Arc;

use types::Bytes;

use crate::error::Result;
use crate::stats::Counters;
use crate::table::Table;

/// The input SSTables of a compaction in one sorted run, in key order.
pub(super) type Input = Vec<Arc<Table>>;

/// The number of anchors per part of a compaction. An anchor is a key at which the compaction can be split. With more
/// anchors, the parts have more equal sizes.
const ANCHORS_PER_PART: u64 = 32;

/// Returns the keys that split a compaction of `inputs` into at most `parts` parts with about equal numbers of bytes.
/// The keys are in ascending order, and each key is the first key of a part. Returns no keys if `parts` is below 2.
///
/// The keys are chosen among anchors, which are the first keys of blocks at equal distances in the files. Source:
/// `RocksDB`, `CompactionJob::GenSubcompactionBoundaries`. The bytes read for the anchors count as reads of the
/// compaction in `counters`.
pub(super) fn separators(inputs: &[Input], parts: usize, counters: &Counters) -> Result<Vec<Bytes>> {
    if parts < 2 {
        return Ok(Vec::new());
    }
    let total: u64 = inputs.iter().flatten().map(|table| table.file_bytes()).sum();
    let distance = total / (parts as u64 * ANCHORS_PER_PART) + 1;
    let mut anchors: Vec<(Bytes, u64)> = Vec::new();
    for table in inputs.iter().flatten() {
        let blocks = u64::from(table.block_count());
        let count = table.file_bytes().div_ceil(distance).min(blocks);
        for anchor in 0..count {
            let (key, bytes) = table.first_key((anchor * blocks / count) as u32)?;
            counters.compaction_bytes_read.add(bytes);
            anchors.push((key, table.file_bytes() / count));
        }
    }
    anchors.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(cut(&anchors, parts))
}

/// Returns the first key of each part of a compaction, except for the first part. `anchors` are keys in ascending
/// order, each with the number of bytes up to the next anchor.
fn cut(anchors: &[(Bytes, u64)], parts: usize) -> Vec<Bytes> {
    let total: u64 = anchors.iter().map(|(_, bytes)| bytes).sum();
    let mut cuts: Vec<Bytes> = Vec::new();
    let mut before = 0;
    for (key, bytes) in anchors {
        let last = cuts.last().map_or(&anchors[0].0, |last| last);
        if before * parts as u64 >= total * (cuts.len() as u64 + 1) && **key > **last {
            cuts.push(key.clone());
        }
        before += bytes;
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(anchors: &[(&str, u64)], parts: usize) -> Vec<String> {
        let anchors: Vec<(Bytes, u64)> =
            anchors.iter().map(|(key, bytes)| (Bytes::copy_from(key.as_bytes()), *bytes)).collect();
        cut(&anchors, parts).iter().map(|key| String::from_utf8(key.to_vec()).unwrap()).collect()
    }

    #[test]
    fn parts_have_equal_bytes() {
        let anchors = [("a", 10), ("c", 10), ("e", 10), ("g", 10)];
        assert_eq!(cuts(&anchors, 2), ["e"]);
        assert_eq!(cuts(&anchors, 4), ["c", "e", "g"]);
        assert_eq!(cuts(&anchors, 1), [""; 0]);
        assert_eq!(cuts(&[("a", 1), ("b", 1), ("c", 8), ("d", 1), ("e", 1)], 2), ["d"]);
    }

    #[test]
    fn no_part_is_empty_and_no_key_cuts_twice() {
        assert_eq!(cuts(&[("a", 10), ("a", 10), ("a", 10), ("b", 1)], 3), ["b"]);
        assert_eq!(cuts(&[("a", 10), ("a", 10)], 8), [""; 0]);
        assert_eq!(cuts(&[("a", 30), ("b", 1), ("b", 1), ("c", 1)], 3), ["b", "c"]);
        assert_eq!(cuts(&[], 3), [""; 0]);
    }
}
