//! Checks the invariants of a store. Each check is a function that receives an opener, and reopens the store through
//! it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

use types::{Direction, MergeOperator, SplitMix64};
use workload::{Model, Scan, Target, Write};

use crate::{EntryLimits, Store};

/// A function that opens the store under test. A later call reopens the store on its existing files.
pub(crate) type Opener<'a> = dyn Fn() -> Result<Box<dyn Target>, String> + 'a;

/// A function that checks one invariant of a store, whose entries must have sizes within the given limits. The error
/// describes the violation.
pub(crate) type Check = fn(&Opener<'_>, &EntryLimits) -> Result<(), String>;

/// The number of random operations that a check runs on a store.
const STEPS: usize = 6_000;

/// The bytes of the random keys. An engine that treats keys as C strings, or compares bytes as signed numbers, fails
/// with these bytes.
const ALPHABET: [u8; 5] = [0x00, 0x01, b'a', 0x80, 0xff];

/// Compares a store with a map to which the same writes are applied. The writes are random merges, puts and deletes,
/// with flushes and compactions in between.
pub(crate) fn merges(store: &dyn Store, operator: MergeOperator) -> Result<(), String> {
    let text = |error: workload::TargetError| error.to_string();
    let (mut random, mut map) = (SplitMix64::new(11), BTreeMap::<Vec<u8>, Vec<u8>>::new());
    let number = |random: &mut SplitMix64| random.below(40).to_be_bytes().to_vec();
    for step in 0..STEPS {
        let (key, mut operand) = (number(&mut random), value(&mut random));
        operand.truncate(20);
        match random.below(100) {
            0..60 => {
                let merged = store.merge(&key, &operand);
                merged
                    .ok_or("the engine declares merges, but its stores have no merge call")?
                    .map_err(text)?;
                operator.combine(map.entry(key.clone()).or_default(), &operand);
            }
            60..70 => {
                store.put(&key, &operand).map_err(text)?;
                map.insert(key.clone(), operand);
            }
            70..78 => {
                store.delete(&key).map_err(text)?;
                map.remove(&key);
            }
            78 => {
                let end = [&*key, &[0]].concat();
                if let Some(deleted) = store.delete_range(&key, &end) {
                    deleted.map_err(text)?;
                    map.remove(&key);
                }
            }
            79 => store.flush().map_err(text)?,
            80 if step % 7 == 0 => store.compact().transpose().map(drop).map_err(text)?,
            _ => {}
        }
        let mut found = Vec::new();
        let is_found = store.get(&key, &mut found).map_err(text)?;
        if is_found.then_some(&found) != map.get(&key) {
            return Err(format!(
                "step {step}: get of key {key:x?} returned {:x?}, expected {:x?} (None: the key is absent)",
                is_found.then_some(&found),
                map.get(&key)
            ));
        }
    }
    for direction in [Direction::Forward, Direction::Backward] {
        let all = Scan { low: b"", high: None, direction, limit: usize::MAX };
        let mut entries = Vec::new();
        store.range(&all, &mut |key, value| entries.push((key.to_vec(), value.to_vec()))).map_err(text)?;
        entries.sort();
        if !entries.iter().map(|(key, value)| (key, value)).eq(&map) {
            return Err(format!("a {direction:?} scan of the whole store differs from the expected map"));
        }
    }
    Ok(())
}

/// Compares a store with the model, an ordered map that applies the same operations. The operations are random and of
/// every kind. The store is closed and reopened every 1,500 operations.
pub(crate) fn model(open: &Opener<'_>, limits: &EntryLimits) -> Result<(), String> {
    let mut random = SplitMix64::new(7);
    let model = Model::default();
    let mut store = open()?;
    for step in 0..STEPS {
        if step % 1500 == 1499 {
            store.close().map_err(|error| format!("step {step}: the store cannot be closed: {error}"))?;
            drop(store);
            store = open()?;
        }
        one_step(&mut random, &*store, &model, limits).map_err(|broken| format!("step {step}: {broken}"))?;
    }
    compare(
        &*store,
        &model,
        &Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX },
    )?;
    store.close().map_err(|error| error.to_string())
}

fn one_step(
    random: &mut SplitMix64,
    store: &dyn Target,
    model: &Model,
    limits: &EntryLimits,
) -> Result<(), String> {
    let text = |error: workload::TargetError| error.to_string();
    let value = |random: &mut SplitMix64| value_within(random, limits);
    match random.below(100) {
        0..40 => {
            let (key, value) = (key(random), value(random));
            store.put(&key, &value).map_err(text)?;
            model.put(&key, &value).map_err(text)
        }
        40..41 => {
            let (one, other) = (key(random), key(random));
            let (low, high) = if one < other { (one, other) } else { (other, one) };
            // Two random keys are far apart, so half of the ranges end shortly after their start and have only a few
            // keys.
            let high = if random.chance(0.5) { [&*low, &[0x80]].concat() } else { high };
            if low >= high {
                return Ok(());
            }
            match store.delete_range(&low, &high) {
                Some(deleted) => {
                    deleted.map_err(text)?;
                    model.delete_range(&low, &high).transpose().map(drop).map_err(text)
                }
                None => Ok(()),
            }
        }
        41..44 => {
            let (key, value) = (key(random), value(random));
            let Some(written) = store.put_if_absent(&key, &value) else { return Ok(()) };
            let expected = model.put_if_absent(&key, &value).transpose().map_err(text)?;
            match written.map_err(text)? {
                written if Some(written) == expected => Ok(()),
                written => Err(format!(
                    "put_if_absent of key {key:x?} returned {written}, expected {must_write}",
                    must_write = expected == Some(true)
                )),
            }
        }
        44..47 => single_life(random, store, model, limits),
        47..50 => {
            let key = key(random);
            store.delete(&key).map_err(text)?;
            model.delete(&key).map_err(text)
        }
        50..60 => {
            let pairs: Vec<_> = (0..random.below(8)).map(|_| (key(random), value(random))).collect();
            let deletes = random.below(3) as usize;
            let write = |(at, (key, value)): (usize, &'_ (Vec<u8>, Vec<u8>))| {
                (at < deletes, key.clone(), value.clone())
            };
            let writes: Vec<_> = pairs.iter().enumerate().map(write).collect();
            let writes: Vec<Write<'_>> = writes
                .iter()
                .map(|(is_delete, key, value)| match is_delete {
                    true => Write::Delete { key },
                    false => Write::Put { key, value },
                })
                .collect();
            store.write(&writes).map_err(text)?;
            model.write(&writes).map_err(text)
        }
        60..75 => gets(random, store, model),
        75..82 => multi_gets(random, store, model),
        82..98 => {
            let low = if random.chance(0.2) { Vec::new() } else { key(random) };
            let high = random.chance(0.6).then(|| key(random));
            let direction = if random.chance(0.5) { Direction::Forward } else { Direction::Backward };
            let limit = if random.chance(0.3) { usize::MAX } else { random.below(6) as usize };
            compare(store, model, &Scan { low: &low, high: high.as_deref(), direction, limit })
        }
        98 => store.flush().map_err(text),
        _ => store.settle().map_err(text),
    }
}

/// Puts a key if it is absent, and deletes the key if it exists. The key therefore has at most one put before a single
/// delete, as single deletes require. A store without single deletes executes an ordinary delete.
fn single_life(
    random: &mut SplitMix64,
    store: &dyn Target,
    model: &Model,
    limits: &EntryLimits,
) -> Result<(), String> {
    let text = |error: workload::TargetError| error.to_string();
    let key = format!("single-{}", random.below(12)).into_bytes();
    if !model.get(&key, &mut Vec::new()).map_err(text)? {
        let value = value_within(random, limits);
        store.put(&key, &value).map_err(text)?;
        return model.put(&key, &value).map_err(text);
    }
    store.single_delete(&key).unwrap_or_else(|| store.delete(&key)).map_err(text)?;
    let mut found = Vec::new();
    if store.get(&key, &mut found).map_err(text)? {
        return Err(format!("key {key:x?} still exists after its single delete"));
    }
    model.delete(&key).map_err(text)
}

fn key(random: &mut SplitMix64) -> Vec<u8> {
    let bytes = 1 + random.below(4);
    (0..bytes).map(|_| ALPHABET[random.below(ALPHABET.len() as u64) as usize]).collect()
}

/// Returns a random value: often up to 149 bytes, sometimes empty or up to 20,000 bytes.
fn value(random: &mut SplitMix64) -> Vec<u8> {
    value_within(random, &EntryLimits::default())
}

/// Returns a random value like [`value`], with its size clamped to the limits of values.
fn value_within(random: &mut SplitMix64, limits: &EntryLimits) -> Vec<u8> {
    let bytes = match random.below(20) {
        0 | 1 => 0,
        2 => 4_000 + random.below(16_000),
        _ => 1 + random.below(149),
    };
    let bytes = limits.nearest_value_bytes(bytes as usize);
    let first = random.next_u64() as u8;
    (0..bytes).map(|at| first.wrapping_add(at as u8)).collect()
}

fn gets(random: &mut SplitMix64, store: &dyn Target, model: &Model) -> Result<(), String> {
    let key = key(random);
    // A get appends the value to the buffer, so these bytes must stay.
    let (mut found, mut expected) = (b"before".to_vec(), b"before".to_vec());
    let is_found = store.get(&key, &mut found).map_err(|error| error.to_string())?;
    let is_expected = model.get(&key, &mut expected).map_err(|error| error.to_string())?;
    match is_found == is_expected && found == expected {
        true => Ok(()),
        false => Err(format!(
            "get of key {key:x?} returned {is_found} and {bytes} bytes in the buffer, expected {is_expected} \
             and {expected_bytes} bytes",
            bytes = found.len(),
            expected_bytes = expected.len()
        )),
    }
}

fn multi_gets(random: &mut SplitMix64, store: &dyn Target, model: &Model) -> Result<(), String> {
    let keys: Vec<Vec<u8>> = (0..=random.below(9)).map(|_| key(random)).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let ask = |target: &dyn Target| {
        let mut answers = vec![None; keys.len()];
        let mut visit = |place: usize, value: Option<&[u8]>| answers[place] = Some(value.map(<[u8]>::to_vec));
        target.multi_get(&keys, &mut visit).map_err(|error| error.to_string())?;
        Ok::<_, String>(answers)
    };
    match ask(store)? == ask(model)? {
        true => Ok(()),
        false => Err(format!(
            "multi_get of keys {keys:x?} returned other values than the model, which contains the expected \
             values"
        )),
    }
}

/// Runs a scan on the store and on the model, and compares the entries and their number.
fn compare(store: &dyn Target, model: &Model, scan: &Scan<'_>) -> Result<(), String> {
    let ask = |target: &dyn Target| {
        let mut entries = Vec::new();
        let count = target.range(scan, &mut |key, value| entries.push((key.to_vec(), value.to_vec())));
        let count = count.map_err(|error| error.to_string())?;
        Ok::<_, String>((count, entries))
    };
    let ((count, found), (expected_count, expected)) = (ask(store)?, ask(model)?);
    if found == expected && count == expected_count {
        return Ok(());
    }
    let at = found.iter().zip(&expected).take_while(|(found, expected)| found == expected).count();
    let key = |entries: &[(Vec<u8>, Vec<u8>)]| entries.get(at).map(|(key, _)| key.clone());
    Err(format!(
        "the scan {scan:x?} passed {passed} entries to its callback and returned {count}; both numbers must \
         be {expected_count}. The key of entry {at} is {key:x?}, expected {expected_key:x?} (None: no such entry)",
        passed = found.len(),
        key = key(&found),
        expected_key = key(&expected)
    ))
}

/// Checks that entries of many sizes can be read back, before and after a flush. Keys have up to 501 bytes, and values
/// have 0 bytes to 5 MiB. If the engine has limits, the sizes are clamped to the limits, and the store must reject the
/// first size beyond each limit.
pub(crate) fn sizes(open: &Opener<'_>, limits: &EntryLimits) -> Result<(), String> {
    let store = open()?;
    let sizes = [0usize, 1, 127, 128, 4095, 4096, 4097, 65_535, 65_536, 1 << 20, 5 << 20];
    let entry = |number: usize| {
        let key = vec![b'a' + number as u8; limits.nearest_key_bytes(1 + number * 50)];
        (key, vec![number as u8 ^ 0x5a; limits.nearest_value_bytes(sizes[number])])
    };
    rejects_sizes_beyond(&*store, limits)?;
    for number in 0..sizes.len() {
        let (key, value) = entry(number);
        store.put(&key, &value).map_err(|error| error.to_string())?;
    }
    for flushed in [false, true] {
        for number in 0..sizes.len() {
            let (key, value) = entry(number);
            let mut found = Vec::new();
            let is_found = store.get(&key, &mut found).map_err(|error| error.to_string())?;
            if !is_found || found != value {
                return Err(format!(
                    "a get must find the key and read the {put} bytes that were put, but it read {read} other \
                     bytes and returned {is_found}",
                    put = value.len(),
                    read = found.len()
                ));
            }
        }
        if !flushed {
            store.flush().map_err(|error| error.to_string())?;
            store.settle().map_err(|error| error.to_string())?;
        }
    }
    store.close().map_err(|error| error.to_string())
}

/// Checks that a store rejects the first key size and value size beyond each limit, and stays empty.
fn rejects_sizes_beyond(store: &dyn Target, limits: &EntryLimits) -> Result<(), String> {
    let beyond = |sizes: &RangeInclusive<usize>| {
        let above = sizes.end().checked_add(1);
        sizes.start().checked_sub(1).into_iter().chain(above)
    };
    let (key, value) = (limits.nearest_key_bytes(1), limits.nearest_value_bytes(1));
    let keys = beyond(&limits.key_bytes).map(|bytes| (bytes, value));
    for (key, value) in keys.chain(beyond(&limits.value_bytes).map(|bytes| (key, bytes))) {
        if store.put(&vec![b'k'; key], &vec![b'v'; value]).is_ok() {
            return Err(format!(
                "a key of {key} bytes with a value of {value} bytes is beyond the limits, but was accepted; \
                 expected an error"
            ));
        }
    }
    let scan = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
    match store.range(&scan, &mut |_, _| {}).map_err(|error| error.to_string())? {
        0 => Ok(()),
        entries => Err(format!("{entries} entries are in the store, although every put was rejected")),
    }
}

/// Checks that all writes are present after the store is closed and reopened, whether they were flushed or not.
pub(crate) fn survives(open: &Opener<'_>, _: &EntryLimits) -> Result<(), String> {
    let entry = |number: u32| (number.to_be_bytes(), [number as u8; 60]);
    let mut written = 0;
    for life in 0..3u32 {
        let store = open()?;
        for number in written..written + 1_000 {
            let (key, value) = entry(number);
            store.put(&key, &value).map_err(|error| error.to_string())?;
        }
        written += 1_000;
        if life == 1 {
            store.flush().map_err(|error| error.to_string())?;
            store.settle().map_err(|error| error.to_string())?;
        }
        let scan = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
        let (mut next, mut wrong) = (0, None);
        let count = store.range(&scan, &mut |key, value| {
            let expected = entry(next);
            if key != expected.0 || value != expected.1 {
                wrong.get_or_insert_with(|| key.to_vec());
            }
            next += 1;
        });
        let count = count.map_err(|error| error.to_string())?;
        if count != written as usize || wrong.is_some() {
            return Err(format!(
                "after {life} reopenings, a scan found {count} of {written} entries; the key of the first \
                 wrong entry is {wrong:x?} (None: no wrong entry)"
            ));
        }
        store.close().map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Checks that batches are atomic. Each batch writes one value to the same 20 keys, so a concurrent scan must never see
/// two different values.
pub(crate) fn whole_batches(open: &Opener<'_>, _: &EntryLimits) -> Result<(), String> {
    let store = open()?;
    let keys: Vec<[u8; 2]> = (0..20u8).map(|number| [b'b', number]).collect();
    let write = |generation: u32| {
        let value = generation.to_be_bytes();
        let writes: Vec<Write<'_>> = keys.iter().map(|key| Write::Put { key, value: &value }).collect();
        store.write(&writes).map_err(|error| error.to_string())
    };
    write(0)?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0u64;
            while !over.load(Ordering::Relaxed) || reads == 0 {
                let mut values = Vec::new();
                let direction =
                    if reads.is_multiple_of(2) { Direction::Forward } else { Direction::Backward };
                let scan = Scan { low: b"b", high: Some(b"c"), direction, limit: usize::MAX };
                let count = store.range(&scan, &mut |_, value| values.push(value.to_vec()));
                let count = count.map_err(|error| error.to_string())?;
                values.dedup();
                if count != keys.len() || values.len() != 1 {
                    return Err(format!(
                        "a scan during batches found {count} keys with {values} different values, expected \
                         {keys} keys with one value, because each batch writes one value to all keys",
                        values = values.len(),
                        keys = keys.len()
                    ));
                }
                reads += 1;
            }
            Ok(())
        });
        let written = (1..2_000).try_for_each(write);
        over.store(true, Ordering::Relaxed);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(read)
    })?;
    store.close().map_err(|error| error.to_string())
}

/// Checks that four threads read back their own keys while all threads write, and that no key is lost.
pub(crate) fn threads(open: &Opener<'_>, _: &EntryLimits) -> Result<(), String> {
    const THREADS: u8 = 4;
    const KEYS: u32 = 1_000;
    let store = open()?;
    let entry = |thread: u8, number: u32| {
        let key = [&[thread][..], &number.to_be_bytes()].concat();
        (key, format!("{thread} {number}").into_bytes())
    };
    let work = |thread: u8| {
        for number in 0..KEYS {
            let (key, value) = entry(thread, number);
            store.put(&key, &value).map_err(|error| error.to_string())?;
            let (key, value) = entry(thread, number / 2);
            let mut found = Vec::new();
            store.get(&key, &mut found).map_err(|error| error.to_string())?;
            if found != value {
                return Err(format!(
                    "thread {thread} did not read back the value of its key number {number}",
                    number = number / 2
                ));
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<(), String>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect::<Vec<_>>().into_iter().collect::<Result<(), String>>()
    })?;
    let scan = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
    let count = store.range(&scan, &mut |_, _| {}).map_err(|error| error.to_string())?;
    match count == usize::from(THREADS) * KEYS as usize {
        true => store.close().map_err(|error| error.to_string()),
        false => Err(format!(
            "the store has {count} keys after the writes of all threads, expected {expected}",
            expected = usize::from(THREADS) * KEYS as usize
        )),
    }
}
