//! Entries that are spread over the key space: the number of entries after a merge, and the cutting of a run into
//! tables.

use std::sync::Arc;

use crate::shape::{TableId, TableShape};

/// Exclusive upper bound of the keys, which are integers. Positions are exact in a double.
const KEY_SPACE: u64 = 1 << 53;

/// Entries spread evenly between two keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    /// The first key.
    start: u64,
    /// The first key after the stretch.
    end: u64,
    /// The expected number of entries, which may be a fraction.
    entries: f64,
}

impl Stretch {
    /// Returns the number of distinct keys after `writes` writes, if each of `distinct_keys` keys is equally likely:
    /// u·(1 − (1 − 1/u)^writes) of u keys were written at least once.
    pub(super) fn flushed(writes: u64, distinct_keys: Option<u64>) -> Self {
        let entries = match distinct_keys {
            None => writes as f64,
            Some(keys) => {
                let keys = keys as f64;
                -keys * (writes as f64 * (-1.0 / keys).ln_1p()).exp_m1()
            }
        };
        Self { start: 0, end: KEY_SPACE, entries: entries.max(1.0) }
    }

    /// Converts the stretch to a table.
    pub(super) fn into_table(self, id: TableId, entry_bytes: u64) -> TableShape {
        let entries = self.entries as u64;
        TableShape {
            id,
            bytes: entries * entry_bytes,
            entries,
            tombstones: 0,
            smallest: self.start.to_be_bytes().into(),
            largest: (self.end - 1).to_be_bytes().into(),
        }
    }

    /// Returns the parts below and from `key` on, which is inside the stretch.
    fn parted(&self, key: u64) -> (Self, Option<Self>) {
        let below = self.entries_in((key - self.start) as f64);
        let (start, end, entries) = (self.start, self.end, self.entries);
        (Self { start, end: key, entries: below }, Some(Self { start: key, end, entries: entries - below }))
    }

    /// Returns the key interval of a table that [`into_table`](Self::into_table) created.
    fn of(table: &TableShape) -> Self {
        Self { start: key(&table.smallest), end: key(&table.largest) + 1, entries: table.entries as f64 }
    }

    fn width(&self) -> f64 {
        (self.end - self.start) as f64
    }

    /// Returns the number of entries in a part of the interval with this width.
    fn entries_in(&self, width: f64) -> f64 {
        self.entries * (width / self.width())
    }
}

/// Returns the position of a simulated key.
fn key(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().expect("simulated keys have 8 bytes"))
}

/// Returns the merged entries of `tables`, in key order: between any two table boundaries the entries are spread
/// evenly.
///
/// For two sets of a and b keys drawn from u keys, u·(1 − (1 − a/u)·(1 − b/u)) keys are in at least one set. If no key
/// is written twice, this is a + b.
pub(super) fn merge(tables: &[TableShape], distinct_keys: Option<u64>) -> Vec<Stretch> {
    let mut inputs: Vec<Stretch> = tables.iter().map(Stretch::of).collect();
    inputs.sort_by_key(|stretch| stretch.start);
    let mut ends: Vec<u64> = inputs.iter().flat_map(|stretch| [stretch.start, stretch.end]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut open: Vec<&Stretch> = Vec::new();
    let mut to_come = inputs.iter().peekable();
    let mut merged = Vec::new();
    for pair in ends.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        open.retain(|stretch| stretch.end > start);
        open.extend(std::iter::from_fn(|| to_come.next_if(|stretch| stretch.start <= start)));
        let width = (end - start) as f64;
        let parts = open.iter().map(|stretch| stretch.entries_in(width));
        let entries = match distinct_keys {
            None => parts.sum(),
            Some(keys) => {
                let keys = keys as f64 * (width / KEY_SPACE as f64);
                // Computed by logarithms, because next to 1 a small share of very many keys would be lost to rounding.
                -keys * parts.map(|part| (-part / keys).max(-1.0).ln_1p()).sum::<f64>().exp_m1()
            }
        };
        if !open.is_empty() {
            merged.push(Stretch { start, end, entries });
        }
    }
    merged
}

/// Splits a run at `cuts`, which ascend. Each part has an integer number of entries, and a part without entries is left
/// out.
pub(super) fn split(run: &[Stretch], cuts: &[Arc<[u8]>]) -> Vec<Vec<Stretch>> {
    if cuts.is_empty() {
        return vec![run.to_vec()];
    }
    let mut rest: Vec<Stretch> = run.iter().rev().cloned().collect();
    let (mut parts, mut part) = (Vec::new(), Vec::new());
    let (mut passed, mut given) = (0.0, 0.0);
    for cut in cuts.iter().map(|cut| key(cut)).chain([u64::MAX]) {
        while let Some(next) = rest.pop_if(|next| next.start < cut) {
            let (below, above) = if next.end <= cut { (next, None) } else { next.parted(cut) };
            rest.extend(above);
            passed += below.entries;
            part.push(below);
        }
        let whole = passed.round() - given;
        if whole >= 1.0 {
            let sum: f64 = part.iter().map(|stretch: &Stretch| stretch.entries).sum();
            part.iter_mut().for_each(|stretch| stretch.entries *= whole / sum);
            given += whole;
            parts.push(std::mem::take(&mut part));
        }
    }
    // Less than half an entry is left, and it was given to the parts before.
    match parts.last_mut() {
        Some(last) => last.extend(part.into_iter().map(|stretch| Stretch { entries: 0.0, ..stretch })),
        None => parts.push(part),
    }
    parts
}

/// Cuts a run into stretches of `entries_per_table` entries. The last stretch gets the remainder. Each stretch has a
/// whole number of entries.
pub(super) fn cut(run: &[Stretch], entries_per_table: u64) -> Vec<Stretch> {
    let total = run.iter().map(|stretch| stretch.entries).sum::<f64>().round().max(1.0);
    let per_table = (entries_per_table as f64).min(total);
    let mut tables = Vec::new();
    let (mut start, mut passed, mut cut_off) = (run.first().map_or(0, |stretch| stretch.start), 0.0, 0.0);
    for stretch in run {
        while passed + stretch.entries > cut_off + per_table && cut_off + per_table < total {
            cut_off += per_table;
            let share = (cut_off - passed) / stretch.entries;
            let end = (stretch.start + (stretch.width() * share) as u64).max(start + 1);
            tables.push(Stretch { start, end, entries: per_table });
            start = end;
        }
        passed += stretch.entries;
    }
    let end = run.last().map_or(KEY_SPACE, |stretch| stretch.end);
    tables.push(Stretch { start, end: end.max(start + 1), entries: total - cut_off });
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(stretches: &[(u64, u64, u64)]) -> Vec<TableShape> {
        let stretch = |(start, end, entries)| Stretch { start, end, entries: entries as f64 };
        (1..).zip(stretches).map(|(id, parts)| stretch(*parts).into_table(id, 10)).collect()
    }

    #[test]
    fn tables_keep_their_stretch() {
        let table = &tables(&[(5, 105, 20)])[0];
        assert_eq!((table.bytes, table.entries), (200, 20));
        assert_eq!(Stretch::of(table), Stretch { start: 5, end: 105, entries: 20.0 });
    }

    #[test]
    fn a_merge_of_new_keys_adds_up_where_tables_overlap() {
        let merged = merge(&tables(&[(0, 100, 100), (50, 150, 50), (200, 300, 7)]), None);
        let expected = [(0, 50, 50.0), (50, 100, 75.0), (100, 150, 25.0), (200, 300, 7.0)];
        let expected = expected.map(|(start, end, entries)| Stretch { start, end, entries });
        assert_eq!(merged, expected);
    }

    #[test]
    fn a_merge_of_old_keys_has_each_once() {
        let all = [(0, KEY_SPACE, 500), (0, KEY_SPACE, 500), (0, KEY_SPACE, 1000)];
        let entries = |tables: &[TableShape]| merge(tables, Some(1000))[0].entries;
        assert!((entries(&tables(&all[..2])) - 750.0).abs() < 1e-9);
        assert!((entries(&tables(&all)) - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn a_flush_of_old_keys_overwrites_itself() {
        let entries = |writes, keys| Stretch::flushed(writes, keys).entries;
        assert!((entries(1000, None) - 1000.0).abs() < 1e-9);
        assert!((entries(1000, Some(1)) - 1.0).abs() < 1e-9);
        // 1 − 1/e of the keys, when each was written once on average.
        assert!((entries(1_000_000, Some(1_000_000)) / 1e6 - 0.632_120_7).abs() < 1e-6);
        assert!((entries(1000, Some(u64::MAX)) - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn a_run_is_split_at_keys_and_keeps_its_entries() {
        let run = merge(&tables(&[(0, 1000, 1000), (500, 1500, 55), (1700, 1800, 1)]), None);
        let cuts =
            |keys: &[u64]| -> Vec<Arc<[u8]>> { keys.iter().map(|key| key.to_be_bytes().into()).collect() };
        for keys in [&[][..], &[100], &[0, 1, 333, 334, 1600, 1750], &[5000]] {
            let parts = split(&run, &cuts(keys));
            let entries = |part: &Vec<Stretch>| part.iter().map(|stretch| stretch.entries).sum::<f64>();
            assert!((parts.iter().map(entries).sum::<f64>() - 1056.0).abs() < 1e-9);
            assert!(parts.iter().all(|part| (entries(part) - entries(part).round()).abs() < 1e-9));
            for part in &parts {
                let (start, end) = (part[0].start, part[part.len() - 1].end);
                // A part of less than half an entry is not split off.
                assert!(keys.iter().all(|key| !(start < *key && *key < end) || [1, 1750].contains(key)));
            }
        }
    }

    #[test]
    fn a_run_is_cut_into_tables_in_order_and_loses_nothing() {
        let run = || merge(&tables(&[(0, 1000, 1000), (500, 1500, 55), (1700, 1800, 1)]), None);
        for per_table in [1, 7, 100, 528, 1055, 1056, u64::MAX] {
            let cut = cut(&run(), per_table);
            assert_eq!(cut.len() as u64, 1056u64.div_ceil(per_table));
            assert!((cut.iter().map(|table| table.entries).sum::<f64>() - 1056.0).abs() < 1e-9);
            assert_eq!((cut[0].start, cut.last().unwrap().end), (0, 1800));
            assert!(cut.iter().all(|table| table.start < table.end && table.entries.fract() == 0.0));
            assert!(cut.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        // A tenth of the entries lies in a tenth of the first stretch, where there is one per key.
        assert_eq!(cut(&run(), 100)[0], Stretch { start: 0, end: 100, entries: 100.0 });
    }
}
