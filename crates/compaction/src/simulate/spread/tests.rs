//! Tests the expected numbers of entries after merges and splits, and with several key classes.

use super::*;

const NEW_KEYS: KeyClass = KeyClass { keys: f64::INFINITY, share: 1.0 };

fn drawn(keys: f64) -> KeyClass {
    KeyClass { keys, share: 1.0 }
}

/// Returns one run for each interval. Each interval is given as a tuple: its start, its end and its number of
/// entries.
fn runs(spread: &mut Spread, stretches: &[(u64, u64, u64)]) -> Vec<Vec<TableShape>> {
    let mut run = |(id, (start, end, entries)): (u64, &(u64, u64, u64))| {
        let is_new = spread.classes[0].keys.is_infinite();
        let entries = *entries as f64;
        let part = Part { entries, added: if is_new { entries } else { 0.0 }, tombstones: 0.0 };
        vec![spread.table(id, Stretch { start: *start, end: *end, parts: vec![part] })]
    };
    (1..).zip(stretches).map(&mut run).collect()
}

fn spread(class: KeyClass) -> Spread {
    Spread::new(vec![class], 10, 2, u64::MAX)
}

fn merged(class: KeyClass, stretches: &[(u64, u64, u64)]) -> Vec<Stretch> {
    let mut spread = spread(class);
    let inputs = runs(&mut spread, stretches);
    spread.merged(&inputs, false)
}

#[test]
fn tables_keep_their_stretch() {
    let mut spread = spread(NEW_KEYS);
    let table = runs(&mut spread, &[(5, 105, 20)])[0][0].clone();
    assert_eq!((table.bytes, table.entries), (200, 20));
    let stretch = spread.stretch(&table);
    assert_eq!((stretch.start, stretch.end), (5, 105));
    assert!((stretch.entries() - 20.0).abs() < 1e-12);
}

#[test]
fn a_merge_of_new_keys_adds_up_where_tables_overlap() {
    let merged = merged(NEW_KEYS, &[(0, 100, 100), (50, 150, 50), (200, 300, 7)]);
    let expected = [(0, 50, 50.0), (50, 100, 75.0), (100, 150, 25.0), (200, 300, 7.0)];
    assert_eq!(merged.len(), expected.len());
    for (stretch, (start, end, entries)) in merged.iter().zip(expected) {
        assert_eq!((stretch.start, stretch.end), (start, end));
        assert!((stretch.entries() - entries).abs() < 1e-9);
    }
}

#[test]
fn a_merge_of_old_keys_has_each_once() {
    let all = [(0, KEY_SPACE, 500), (0, KEY_SPACE, 500), (0, KEY_SPACE, 1000)];
    let entries = |tables: &[(u64, u64, u64)]| merged(drawn(1000.0), tables)[0].entries();
    assert!((entries(&all[..2]) - 750.0).abs() < 1e-9);
    assert!((entries(&all) - 1000.0).abs() < 1e-9);
}

#[test]
fn a_flush_of_old_keys_overwrites_itself() {
    let entries = |writes: f64, class| {
        let flushed = FlushedWrites { adds: 0.0, draws: writes, deletes: 0.0, within: (0.0, 1.0) };
        let mut spread = spread(class);
        spread.flush(flushed, 1);
        spread.entries().0
    };
    assert!((entries(1000.0, NEW_KEYS) - 1000.0).abs() < 1e-9);
    assert!((entries(1000.0, drawn(1.0)) - 1.0).abs() < 1e-9);
    // If each key was written once on average, a share of 1 − 1/e of the keys was written.
    assert!((entries(1e6, drawn(1e6)) / 1e6 - 0.632_120_7).abs() < 1e-5);
}

/// Tests keys that were added once and then overwritten at random. The result is the union of the remaining added
/// keys and the random keys.
#[test]
fn added_keys_are_not_counted_twice() {
    let added = |entries| Part { entries, added: entries, tombstones: 0.0 };
    let drawn = |entries| Part { entries, ..Part::default() };
    let union_of = |parts: &[Part]| union(1000.0, parts.iter().copied(), false);
    assert!((union_of(&[added(400.0), added(600.0)]).entries - 1000.0).abs() < 1e-9);
    let half = union_of(&[drawn(500.0), added(400.0)]);
    assert!((half.entries - 700.0).abs() < 1e-9, "{half:?}");
    let all = union_of(&[half, added(600.0)]);
    assert!((all.entries - 1000.0).abs() < 1e-9, "{all:?}");
}

/// Tests deletes of random keys. The tombstones remain until the last level, where a merge drops both the tombstones
/// and the deleted keys.
#[test]
fn tombstones_survive_where_no_newer_set_has_their_key() {
    let deletes = Part { entries: 200.0, added: 0.0, tombstones: 200.0 };
    let puts = Part { entries: 500.0, added: 0.0, tombstones: 0.0 };
    let kept = union(1000.0, [puts, deletes].into_iter(), false);
    assert!((kept.entries - 600.0).abs() < 1e-9 && (kept.tombstones - 100.0).abs() < 1e-9, "{kept:?}");
    let gone = union(1000.0, [puts, deletes].into_iter(), true);
    assert!((gone.entries - 500.0).abs() < 1e-9 && gone.tombstones.abs() < 1e-9, "{gone:?}");
}

#[test]
fn a_run_is_split_at_keys_and_keeps_its_entries() {
    let run = merged(NEW_KEYS, &[(0, 1000, 1000), (500, 1500, 55), (1700, 1800, 1)]);
    let cuts = |keys: &[u64]| -> Vec<Arc<[u8]>> { keys.iter().map(|key| key.to_be_bytes().into()).collect() };
    for keys in [&[][..], &[100], &[0, 1, 333, 334, 1600, 1750], &[5000]] {
        let parts = split(&run, &cuts(keys));
        let entries = |part: &Vec<Stretch>| part.iter().map(Stretch::entries).sum::<f64>();
        assert!((parts.iter().map(entries).sum::<f64>() - 1056.0).abs() < 1e-9);
        assert!(parts.iter().all(|part| (entries(part) - entries(part).round()).abs() < 1e-9));
        for part in &parts {
            let (start, end) = (part[0].start, part[part.len() - 1].end);
            // A part with less than half an entry is not split off.
            assert!(keys.iter().all(|key| !(start < *key && *key < end) || [1, 1750].contains(key)));
        }
    }
}

#[test]
fn a_run_is_cut_into_tables_in_order_and_loses_nothing() {
    let run = || merged(NEW_KEYS, &[(0, 1000, 1000), (500, 1500, 55), (1700, 1800, 1)]);
    for per_table in [1, 7, 100, 528, 1055, 1056, u64::MAX] {
        let cut = cut(&run(), per_table);
        assert_eq!(cut.len() as u64, 1056u64.div_ceil(per_table));
        assert!((cut.iter().map(Stretch::entries).sum::<f64>() - 1056.0).abs() < 1e-9);
        assert_eq!((cut[0].start, cut.last().unwrap().end), (0, 1800));
        assert!(cut.iter().all(|table| {
            let entries = table.entries();
            table.start < table.end && (entries - entries.round()).abs() < 1e-9
        }));
        assert!(cut.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
    // The first SSTable has a tenth of the entries of the first interval, so it covers a tenth of the keys of this
    // interval.
    let first = &cut(&run(), 100)[0];
    assert_eq!((first.start, first.end), (0, 100));
}
