//! Tests of the end of a server: signals while streams are open, and kills while clients write.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use server::grpc::messages::BatchRequest;
use tokio_stream::StreamExt as _;
use tonic::Code;

use crate::client::{Client, batch, put, range};
use crate::served::{Place, wait_until};

/// Tests that a server that receives SIGTERM answers its open calls and closes its store. Closing the store makes all
/// writes durable, even without a WAL.
#[test]
fn a_server_that_is_told_to_end_closes_its_store() {
    let place = Place::new();
    let served = place.serve(&["--set", "wal=none"]);
    let (mut client, mut reader, mut loader) = (served.client(), served.client(), served.client());
    let pairs = |from: usize| -> BatchRequest {
        batch((from..from + 1000).map(|number| put(format!("k{number:05}"), "x".repeat(1000))).collect())
    };
    (0..4).for_each(|thousand| client.call::<_, ()>("Batch", pairs(thousand * 1000)).unwrap());
    let mut responses = reader.range(range("", "")).unwrap();
    let first = responses.next().unwrap().unwrap().entries.len();
    std::thread::scope(|scope| {
        // A stream of batches that never ends.
        let endless = tokio_stream::iter([pairs(50_000)]).chain(tokio_stream::pending());
        let loading = scope.spawn(|| loader.load(endless));
        wait_until("the batch of the stream", || client.get("k50999").unwrap().is_some());
        served.signal(Signal::TERM);
        let error = loading.join().unwrap().unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::Unavailable, "the server is shutting down"));
    });
    let mut found = first;
    // The scan ends early with an error.
    while let Ok(response) = responses.next() {
        found += response.expect("an error before the end").entries.len();
    }
    assert!(found < 5000, "{found} entries");
    assert_eq!(served.wait(), Some(130));
    let again = place.serve(&["--set", "wal=none"]);
    assert_eq!(again.client().scan(range("", "")).unwrap().len(), 5000);
    drop(again);
    place.verify();
}

/// Tests that every acknowledged write survives `kill -9`, and that the store contains either all writes of a batch or
/// none.
#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    const CLIENTS: usize = 4;
    for wal in ["wal=group", "wal=buffered"] {
        let place = Place::new();
        let options = ["--set", wal, "--set", "memtable.capacity=64KiB"];
        let served = place.serve(&options);
        let acknowledged = AtomicUsize::new(0);
        let written: Vec<usize> = std::thread::scope(|scope| {
            let writer = |number: usize| {
                let (mut client, acknowledged) = (served.client(), &acknowledged);
                move || write_until_killed(&mut client, number, acknowledged)
            };
            let writers: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(writer(number))).collect();
            wait_until("acknowledged writes", || acknowledged.load(Ordering::Relaxed) >= 200);
            served.signal(Signal::KILL);
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        drop(served);
        let served = place.serve(&options);
        let mut found: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for entry in served.client().scan(range("", "")).unwrap() {
            let mut parts = entry.split(['-', ':']).map(|part| part.parse::<usize>().unwrap());
            let batch = (parts.next().unwrap(), parts.next().unwrap());
            *found.entry(batch).or_default() += 1;
        }
        assert!(found.values().all(|entries| *entries == 8), "{wal}: {found:?}");
        for (number, written) in written.iter().enumerate() {
            let lost: Vec<usize> =
                (0..*written).filter(|batch| !found.contains_key(&(number, *batch))).collect();
            assert!(lost.is_empty(), "{wal}: client {number} lost {lost:?} of {written}");
        }
        drop(served);
        place.verify();
    }
}

/// Writes batches of 8 entries until the server ends. Counts the acknowledged batches in `acknowledged`.
fn write_until_killed(client: &mut Client, number: usize, acknowledged: &AtomicUsize) -> usize {
    for written in 0.. {
        let batch = (0..8).map(|place| put(format!("{number}-{written}-{place}"), "1")).collect();
        if client.batch(batch).is_err() {
            return written;
        }
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    unreachable!("an endless loop")
}
