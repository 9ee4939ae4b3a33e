//! Tests of the methods of the gRPC service: answers, atomic batches, streams from snapshots, and errors.

use server::grpc::messages::{
    BatchRequest, DeleteRangeRequest, DeleteRequest, GetRequest, GetResponse, LoadResponse, MergeRequest,
    Operation, OperationKind, PutRequest, RangeRequest,
};
use tonic::Code;

use crate::client::{batch, put, range, shown};
use crate::served::Place;

#[test]
fn calls_write_and_read_the_store() {
    let place = Place::new();
    let served = place.serve(&["--set", "merge_operator=append"]);
    let mut client = served.client();
    client.put("a", "1").unwrap();
    client.put(vec![0, 255], vec![0]).unwrap();
    client.put("empty", "").unwrap();
    assert_eq!(client.get("a").unwrap().as_deref(), Some("1"));
    assert_eq!(client.get("empty").unwrap().as_deref(), Some(""));
    assert_eq!(client.get("b").unwrap(), None);
    client.delete("empty").unwrap();
    client.delete("never").unwrap();
    assert_eq!(client.get("empty").unwrap(), None);
    client
        .batch(vec![
            put("b", "2"),
            put("c", "3"),
            put("d", "4"),
            put("e", "5"),
            OperationKind::Delete(DeleteRequest { key: "b".into(), ..DeleteRequest::default() }),
            OperationKind::DeleteRange(DeleteRangeRequest {
                low: "d".into(),
                high: "e".into(),
                ..DeleteRangeRequest::default()
            }),
            OperationKind::Merge(MergeRequest {
                key: "c".into(),
                operand: "!".into(),
                ..MergeRequest::default()
            }),
        ])
        .unwrap();
    assert_eq!(client.scan(range("", "")).unwrap(), ["\\x00\\xff:\\x00", "a:1", "c:3!", "e:5"]);
    assert_eq!(client.scan(range("a", "c")).unwrap(), ["a:1"]);
    assert_eq!(client.scan(range("e", "a")).unwrap(), [""; 0]);
    let last = RangeRequest { limit: 2, backward: true, ..range("", "") };
    assert_eq!(client.scan(last).unwrap(), ["e:5", "c:3!"]);
    let first = RangeRequest { limit: 1, ..range("b", "") };
    assert_eq!(client.scan(first).unwrap(), ["c:3!"]);
    // The keys are those of the tree, so the shell reads them.
    drop(client);
    served.signal(rustix::process::Signal::TERM);
    assert_eq!(served.wait(), Some(130));
    let (code, out, err) = place.run(&["shell", "db", "--set", "merge_operator=append"], "r a z\n");
    assert_eq!((code, &*out), (Some(0), "a:1 c:3! e:5\n"), "{err}");
}

#[test]
fn a_wrong_call_names_its_error_and_changes_nothing() {
    let place = Place::new();
    let served = place.serve(&[]);
    let mut client = served.client();
    client.put("a", "1").unwrap();
    let long = vec![b'k'; 65_537];
    let error = client.put(long.clone(), "").unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.message(), "the key has 65537 bytes; the limit is 65536");
    assert_eq!(client.get(long.clone()).unwrap_err().code(), Code::InvalidArgument);
    // All operations of a batch, or none.
    let wrong = OperationKind::Put(PutRequest { key: long.into(), ..PutRequest::default() });
    let error = client.batch(vec![put("a", "2"), put("b", "2"), wrong]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.message(), "operation 3: the key has 65537 bytes; the limit is 65536");
    let merge = OperationKind::Merge(MergeRequest {
        key: "a".into(),
        operand: "2".into(),
        ..MergeRequest::default()
    });
    let error = client.batch(vec![put("b", "2"), merge]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("merge operator"), "{error}");
    let nothing = BatchRequest { operations: vec![Operation { kind: None }] };
    let error = client.call::<_, GetResponse>("Batch", nothing).unwrap_err();
    assert!(error.message().starts_with("operation 1: no write is set"), "{error}");
    let error = client.call::<_, GetResponse>("Frobnicate", GetRequest::default()).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().contains("no method /lsmbench.v1.Store/Frobnicate"), "{error}");
    // A message that is not of the type, and requests that are not of gRPC.
    let put_path = "/lsmbench.v1.Store/Put";
    let (status, error) = client.send(put_path, "application/grpc", "\0\0\0\0\x01\x0a");
    assert_eq!((status, error.unwrap().code()), (200, Code::Internal));
    assert_eq!(client.send(put_path, "application/grpc+json", "{}").0, 415);
    assert_eq!(client.send("/", "text/plain", "").0, 415);
    assert_eq!(client.scan(range("", "")).unwrap(), ["a:1"]);
}

/// Tests that a scan is a stream of bounded responses, and that later writes do not change the scan.
#[test]
fn a_scan_reads_one_snapshot_in_bounded_responses() {
    const ENTRIES: usize = 3000;
    let place = Place::new();
    let served = place.serve(&["--set", "memtable.capacity=64KiB"]);
    let (mut writer, mut client) = (served.client(), served.client());
    let key = |number: usize| format!("k{number:05}");
    let value = "v".repeat(200);
    let all: Vec<OperationKind> = (0..ENTRIES).map(|number| put(key(number), &*value)).collect();
    writer.batch(all).unwrap();
    for backward in [false, true] {
        let mut responses = client.range(RangeRequest { backward, ..range("", "") }).unwrap();
        let (mut found, mut count) = (Vec::new(), 0);
        while let Some(response) = responses.next().unwrap() {
            let bytes: usize = response.entries.iter().map(|entry| entry.key.len() + entry.value.len()).sum();
            assert!(bytes <= 64 << 10, "{bytes} bytes");
            found.extend(response.entries.iter().map(shown));
            count += 1;
            if count == 1 {
                // Each of these writes is after the snapshot.
                writer.put(key(ENTRIES / 2), "new").unwrap();
                writer.put("k000000", "new").unwrap();
                writer.delete(&key(ENTRIES / 3)).unwrap();
            }
        }
        assert!(count >= ENTRIES * 206 / (65 << 10), "{count} responses");
        let mut expected: Vec<String> =
            (0..ENTRIES).map(|number| format!("{}:{value}", key(number))).collect();
        if backward {
            expected.reverse();
        }
        assert_eq!(found, expected);
        writer.put(key(ENTRIES / 2), &*value).unwrap();
        writer.delete("k000000").unwrap();
        writer.put(key(ENTRIES / 3), &*value).unwrap();
    }
    // A value that is larger than a response is a response of its own.
    writer.put("k00001", "x".repeat(300_000)).unwrap();
    let lengths: Vec<usize> =
        client.scan(range("k00000", "k00003")).unwrap().iter().map(String::len).collect();
    assert_eq!(lengths, [207, 300_007, 207]);
}

#[test]
fn a_load_keeps_the_batches_before_an_error() {
    let place = Place::new();
    let served = place.serve(&[]);
    let mut client = served.client();
    let pairs =
        |from: usize| batch((from..from + 100).map(|number| put(format!("{number:04}"), "v")).collect());
    let batches: Vec<BatchRequest> = (0..20).map(|number| pairs(number * 100)).collect();
    let loaded = client.load(tokio_stream::iter(batches)).unwrap();
    assert_eq!(loaded, LoadResponse { batches: 20, operations: 2000 });
    assert_eq!(client.load(tokio_stream::iter([])).unwrap(), LoadResponse::default());
    assert_eq!(client.scan(range("", "")).unwrap().len(), 2000);
    let wrong = BatchRequest { operations: vec![Operation { kind: None }] };
    let error = client.load(tokio_stream::iter([pairs(3000), pairs(4000), wrong, pairs(5000)])).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().starts_with("batch 3: operation 1: no write is set"), "{error}");
    assert!(error.message().ends_with("; 2 batches are written"), "{error}");
    assert_eq!(client.scan(range("3", "")).unwrap().len(), 200);
}

/// Tests that writes of different connections, and of different calls of one connection, share syncs of the WAL.
#[test]
fn connections_share_syncs() {
    const CLIENTS: usize = 8;
    const PUTS: usize = 60;
    let place = Place::new();
    let mut served = place.serve(&["--set", "wal=group", "--metrics", "127.0.0.1:0"]);
    let value = served.metrics();
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let served = &served;
            scope.spawn(move || {
                let mut client = served.client();
                for put in 0..PUTS {
                    client.put(format!("{number}-{put}"), "v").unwrap();
                    assert_eq!(client.get(format!("{number}-{put}")).unwrap().as_deref(), Some("v"));
                }
            });
        }
    });
    let puts = (CLIENTS * PUTS) as u64;
    assert_eq!(value("lsmbench_tree_puts_total"), puts);
    let syncs = value("lsmbench_tree_wal_syncs_total");
    assert!(syncs > 0 && syncs < puts, "{syncs} syncs for {puts} puts");
}
