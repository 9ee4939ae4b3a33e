//! Tests that streams are repeatable and independent of each other, and that only one thread writes each key.

use std::collections::{HashMap, HashSet};

use super::workload::{Extent, Kind, Operation};
use super::{loaded, mixed, operations, plan};

fn run(keys: u64, lines: &str) -> Vec<Operation> {
    operations(&mixed(keys, lines).phases()[1], loaded(keys), 0, 256).0
}

#[test]
fn streams_repeat_whatever_the_size_of_batches() {
    for lines in [
        "mix = { get = 1, put = 1, delete = 1, insert = 1, range = 1, rmw = 1 }\nkeys = \"zipfian\"\nabsent = 0.3",
        "mix = { get = 1, batch = 1, multi_get = 1, insert = 1 }\nbatch = 3\nkeys = \"latest\"",
        "mix = { insert = 2, get = 1 }\nkeys = \"ycsb-scrambled\"",
        "mix = { put = 1, get = 1 }\nkeys = \"hotspot\"\nthreads = 3",
        "mix = { put = 1, insert = 1 }\nkeys = \"zipfian\"\nthreads = 2",
    ] {
        let plan = mixed(500, &format!("operations = 3000\n{lines}"));
        let phase = &plan.phases()[1];
        for thread in 0..phase.streams(loaded(500)).len() {
            let whole = operations(phase, loaded(500), thread, 10_000);
            for limit in [1, 7, 256] {
                assert_eq!(whole, operations(phase, loaded(500), thread, limit), "{lines}: by {limit}");
            }
        }
    }
}

fn keys(operations: &[Operation]) -> Vec<u64> {
    operations.iter().map(|operation| operation.key.index()).collect()
}

/// Tests that a change to one random decision does not change the random numbers of other decisions.
#[test]
fn concerns_do_not_disturb_each_other() {
    let base = "operations = 2000\nkeys = \"zipfian\"\n";
    let first = run(1000, &format!("{base}mix = {{ get = 0.9, put = 0.1 }}"));
    let more_puts = run(1000, &format!("{base}mix = {{ get = 0.2, put = 0.5, delete = 0.3 }}"));
    assert_eq!(keys(&first), keys(&more_puts), "the mix changes no key");

    let absent = run(1000, &format!("{base}mix = {{ get = 0.9, put = 0.1 }}\nabsent = 0.5"));
    assert_eq!(keys(&first), keys(&absent), "absent keys change no other");
    assert!(first.iter().zip(&absent).all(|(a, b)| a.kind == b.kind));

    let uniform =
        run(1000, "operations = 2000\nmix = { get = 0.9, put = 0.1 }\nkeys = \"uniform\"\nabsent = 0.5");
    let kinds = |all: &[Operation]| all.iter().map(|operation| operation.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&uniform), kinds(&absent), "the keys change no kind");
    let gets = |all: &[Operation]| {
        let gets = all.iter().filter(|operation| operation.kind == Kind::Get);
        gets.map(|operation| operation.key.is_absent()).collect::<Vec<_>>()
    };
    assert_eq!(gets(&uniform), gets(&absent), "the keys change no absence");
    assert_ne!(keys(&uniform), keys(&absent));

    let ranges = "operations = 2000\nmix = { range = 1, get = 1 }\n";
    let forward = run(1000, &format!("{ranges}range = {{ kind = \"uniform\" }}"));
    let both = run(1000, &format!("{ranges}range = {{ kind = \"uniform\", backward = 0.5 }}"));
    let lengths = |all: &[Operation]| all.iter().map(|operation| operation.count).collect::<Vec<_>>();
    assert_eq!(lengths(&forward), lengths(&both), "the direction changes no length");
    assert!(both.iter().any(|operation| operation.backward));

    let longer = "operations = 2000\nkeys = \"zipfian\"\nmix = { get = 0.9, put = 0.1 }\nvalue = \"pareto\"";
    assert_eq!(keys(&first), keys(&run(1000, longer)), "sizes change no key");
}

/// Tests that a phase keeps its operations if another phase is added before it, or if another phase becomes longer.
#[test]
fn phases_hang_on_their_names() {
    let run = "[[phase]]\nname = \"run\"\noperations = 500\nmix = { get = 1, put = 1 }\n";
    let one = plan(&format!("[[phase]]\nname = \"load\"\ninsert = 100\n{run}"));
    let warm = "[[phase]]\nname = \"warm\"\noperations = 50\nmix = \"get\"\n";
    let two = plan(&format!("[[phase]]\nname = \"load\"\ninsert = 100\n{warm}{run}"));
    let last = operations(&two.phases()[2], loaded(100), 0, 256);
    assert_eq!(operations(&one.phases()[1], loaded(100), 0, 256), last);
    let warm = operations(&two.phases()[1], loaded(100), 0, 256).0;
    assert_ne!(keys(&warm), keys(&last.0)[..50]);
}

#[test]
fn a_load_writes_every_key_once_in_its_order() {
    for (order, threads, batch) in [
        ("random", 1, 0),
        ("sequential", 1, 0),
        ("reverse", 1, 0),
        ("random", 3, 0),
        ("random", 2, 7),
        ("reverse", 4, 64),
    ] {
        let batch = if batch == 0 { String::new() } else { format!("batch = {batch}") };
        let toml = format!(
            "[[phase]]\nname = \"load\"\ninsert = 1000\norder = \"{order}\"\nthreads = {threads}\n{batch}"
        );
        let plan = plan(&toml);
        let phase = &plan.phases()[0];
        let from = Extent { keys: 50, versions: 9, retired: 0 };
        let (mut seen, mut heads) = (HashSet::new(), 0);
        for (thread, stream) in phase.streams(from).into_iter().enumerate() {
            heads += stream.remaining().unwrap();
            let (all, extent) = operations(phase, from, thread, 100);
            assert_eq!(extent.keys, 1050);
            let inserts: Vec<_> = all.iter().filter(|operation| operation.kind == Kind::Insert).collect();
            assert!(inserts.windows(2).all(|pair| pair[0].version < pair[1].version));
            assert!(inserts[0].version == 10);
            for insert in &inserts {
                assert!(seen.insert(insert.key.index()));
            }
            let places: Vec<u64> = inserts.iter().map(|insert| insert.key.index()).collect();
            match order {
                "sequential" => assert!(places.is_sorted()),
                "reverse" => assert!(places.is_sorted_by(|a, b| a > b)),
                _ => assert!(!places.is_sorted() && !places.is_sorted_by(|a, b| a > b)),
            }
        }
        assert_eq!(phase.operations(), Some(heads), "{toml}");
        assert!(seen.len() == 1000 && seen.iter().all(|key| (50..1050).contains(key)));
    }
}

/// Tests several threads. Only one thread writes each key, versions increase, and reads access any key.
#[test]
fn threads_write_only_their_own_keys() {
    let lines = "operations = 8000\nthreads = 4\nbatch = 5\nkeys = \"zipfian\"\n\
                 mix = { get = 2, put = 2, delete = 1, rmw = 1, insert = 1, batch = 1 }";
    let plan = mixed(1000, lines);
    let phase = &plan.phases()[1];
    let mut writers: HashMap<u64, usize> = HashMap::new();
    let mut total = 0;
    for thread in 0..4 {
        let (all, extent) = operations(phase, loaded(1000), thread, 256);
        let mut last = loaded(1000).versions;
        let mut foreign_reads = 0;
        for operation in &all {
            total += u64::from(operation.kind != Kind::Put || operation.count == 0);
            let index = operation.key.index();
            if matches!(operation.kind, Kind::Get) {
                foreign_reads += usize::from(index % 4 != thread as u64);
            }
            if operation.kind.writes() && operation.kind != Kind::Batch {
                assert_eq!(*writers.entry(index).or_insert(thread), thread, "key {index}");
                assert!(operation.version > last, "versions rise");
                last = operation.version;
            }
        }
        assert!(foreign_reads > 100);
        assert_eq!(extent.versions, last);
    }
    assert!(total >= 8000);
}

/// Tests that new keys continue the numbering without gaps, and that no key is drawn before it exists.
#[test]
fn inserts_add_keys_behind_the_last() {
    for distribution in
        ["uniform", "zipfian", "latest", "exponential", "hotspot", "ycsb-scrambled", "sequential"]
    {
        let lines =
            format!("operations = 5000\nmix = {{ get = 0.7, insert = 0.3 }}\nkeys = \"{distribution}\"");
        let plan = mixed(100, &lines);
        let (all, extent) = operations(&plan.phases()[1], loaded(100), 0, 256);
        let mut existing = 100;
        for operation in all {
            let index = operation.key.index();
            if operation.kind == Kind::Insert {
                assert_eq!(index, existing, "{distribution}");
                existing += 1;
            } else {
                assert!(index < existing, "{distribution}");
            }
        }
        assert_eq!(extent.keys, existing);
        assert!(existing > 1400);
    }
}

/// Tests a phase that only adds keys. The phase may start without keys, and needs no known end.
#[test]
fn a_phase_of_inserts_needs_no_load() {
    let plan = plan("[[phase]]\nname = \"run\"\nseconds = 1\nmix = \"insert\"");
    let mut stream = plan.phases()[0].streams(Extent::default()).remove(0);
    let mut batch = super::workload::Batch::default();
    assert_eq!((stream.fill(&mut batch, 1000), stream.remaining()), (1000, None));
    assert_eq!(stream.extent(), Extent { keys: 1000, versions: 1000, retired: 0 });
}

/// Tests that a stream ends before the first key that the key format cannot encode.
#[test]
fn a_stream_ends_when_keys_run_out() {
    let plan = plan(
        "key = \"u64(bytes=1B)\"\n[[phase]]\nname = \"load\"\ninsert = 120\n\
         [[phase]]\nname = \"run\"\nseconds = 1\nmix = { get = 1, insert = 1 }",
    );
    let (all, extent) = operations(&plan.phases()[1], loaded(120), 0, 256);
    assert_eq!(extent.keys, 128);
    assert_eq!(all.iter().filter(|operation| operation.kind == Kind::Insert).count(), 8);
}

#[test]
fn groups_stand_before_their_members() {
    let all =
        run(1000, "operations = 300\nmix = { batch = 1, multi_get = 1, get = 1 }\nbatch = 9\nabsent = 0.5");
    let (mut at, mut heads, mut absent) = (0, 0, 0);
    while at < all.len() {
        heads += 1;
        let head = all[at];
        let member = match head.kind {
            Kind::Batch => Kind::Put,
            Kind::MultiGet => Kind::Get,
            _ => {
                at += 1;
                continue;
            }
        };
        assert_eq!((head.count, head.key), (9, all[at + 1].key));
        let members = &all[at + 1..at + 10];
        assert!(members.iter().all(|operation| operation.kind == member));
        absent += members.iter().filter(|operation| operation.key.is_absent()).count();
        at += 10;
    }
    assert_eq!(heads, 300);
    assert!((300..600).contains(&absent), "{absent} of some 900 members are absent");
}
