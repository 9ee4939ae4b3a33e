//! Tests of the limits: passwords, connections, sizes, memory, and clients that violate the protocol.

use std::io::{Read, Write};
use std::net::TcpStream;

use server::grpc::messages::{GetRequest, GetResponse, RangeRequest};
use tonic::Code;

use crate::client::{put, range};
use crate::served::{PATIENCE, Place, wait_until};

#[test]
fn a_password_is_metadata_of_each_call() {
    let place = Place::new();
    let served = place.serve(&["--password", "secret"]);
    let error = served.client().put("a", "1").unwrap_err();
    assert_eq!(error.code(), Code::Unauthenticated);
    assert!(error.message().contains("authorization: Bearer PASSWORD"), "{error}");
    for wrong in ["", "secre", "secrets", "secretsecret"] {
        let error = served.client().with_password(wrong).put("a", "1").unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::Unauthenticated, "the password is wrong"));
    }
    let mut client = served.client().with_password("secret");
    assert_eq!(client.get("a").unwrap(), None);
    client.put("a", "1").unwrap();
    assert_eq!(client.scan(range("", "")).unwrap(), ["a:1"]);
    // The second server of this store would need a password, too.
    let open = ["serve", "db", "--protocol", "grpc", "--listen", "0.0.0.0:7000"];
    let (code, _, error) = place.run(&open, "");
    assert_eq!(code, Some(2));
    assert!(error.contains("other machines could connect without a password; add --password"), "{error}");
}

#[test]
fn a_client_above_the_limit_is_turned_away() {
    let place = Place::new();
    let mut served = place.serve(&["--max-clients", "1", "--metrics", "127.0.0.1:0"]);
    let value = served.metrics();
    let mut first = served.client();
    first.put("a", "1").unwrap();
    // A rejected connection ends after half a second, so a slow call may find it closed.
    wait_until("the error of the limit", || {
        served.client().get("a").is_err_and(|error| {
            error.code() == Code::ResourceExhausted && error.message() == "max number of clients reached"
        })
    });
    assert!(value("lsmbench_server_rejected_connections_total") >= 1);
    drop(first);
    wait_until("a free place", || served.client().get("a").is_ok_and(|value| value.as_deref() == Some("1")));
}

#[test]
fn messages_above_the_limits_are_errors() {
    let place = Place::new();
    let served = place.serve(&["--max-request", "100KiB", "--max-reply", "10KiB"]);
    let mut client = served.client();
    client.put("big", "x".repeat(90_000)).unwrap();
    let error = client.put("bigger", "x".repeat(200_000)).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert!(
        error.message().starts_with("the request has 2000")
            && error.message().ends_with(" bytes; the limit is 102400 bytes"),
        "{error}"
    );
    let error = client.get("big").unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert_eq!(error.message(), "the response has 90000 bytes; the limit is 10240 bytes");
    assert_eq!(client.scan(range("", "")).unwrap_err().code(), Code::ResourceExhausted);
    // Each response of a scan is within the limit.
    for number in 0..30 {
        client.put(format!("a{number:02}"), "x".repeat(2000)).unwrap();
    }
    let mut responses = client.range(range("a", "b")).unwrap();
    assert_eq!(responses.next().unwrap().unwrap().entries.len(), 5);
    assert_eq!(client.scan(range("a", "b")).unwrap().len(), 30);
    // The length of a message is an error before its bytes arrive.
    let (_, error) = client.send("/lsmbench.v1.Store/Put", "application/grpc", "\0\x7f\x7f\x7f\x7f\x0a");
    assert_eq!(error.unwrap().message(), "the request has 2139062143 bytes; the limit is 102400 bytes");
    assert_eq!(client.get("bigger").unwrap(), None);
    client.put("small", "1").unwrap();
    assert_eq!(client.get("small").unwrap().as_deref(), Some("1"));
}

/// Tests the limit on the memory of all clients together. The clients do not read their responses, so the responses
/// stay in memory.
#[test]
fn the_memory_of_all_clients_is_limited() {
    let place = Place::new();
    let mut served = place.serve(&["--max-client-memory", "1MiB", "--metrics", "127.0.0.1:0"]);
    let value = served.metrics();
    let mut client = served.client();
    client.put("big", "x".repeat(400_000)).unwrap();
    client.put("small", "1").unwrap();
    let mut greedy: Vec<_> = (0..5).map(|_| served.client()).collect();
    let get = || GetRequest { key: "big".into(), ..GetRequest::default() };
    let mut streams: Vec<_> =
        greedy.iter_mut().map(|client| client.stream::<_, GetResponse>("Get", get())).collect();
    let refused: Vec<_> = streams.iter().filter_map(|stream| stream.as_ref().err()).collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    for error in refused {
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert!(error.message().starts_with("the clients of this server use more memory"), "{error}");
    }
    assert!(value("lsmbench_server_client_memory_bytes") >= 800_000);
    // A client with a small request is not the client that takes too much.
    assert_eq!(client.get("small").unwrap().as_deref(), Some("1"));
    // After the others have read their responses, their memory is free.
    for stream in streams.iter_mut().filter_map(|stream| stream.as_mut().ok()) {
        let response = stream.next().unwrap().unwrap();
        assert_eq!(response.value.unwrap().len(), 400_000);
        assert!(stream.next().unwrap().is_none());
    }
    drop(streams);
    wait_until("free memory", || value("lsmbench_server_client_memory_bytes") < 100_000);
    assert_eq!(client.get("big").unwrap().unwrap().len(), 400_000);
}

/// Tests a scan whose client does not read the responses. The scan must wait, must not use more memory, and must not
/// disturb other clients.
#[test]
fn a_client_that_does_not_read_waits() {
    let place = Place::new();
    let mut served = place.serve(&["--metrics", "127.0.0.1:0"]);
    let value = served.metrics();
    let (mut client, mut slow) = (served.client(), served.client());
    for thousand in 0..4 {
        let pairs = (0..1000).map(|number| put(format!("{thousand}{number:03}"), "x".repeat(1000)));
        client.batch(pairs.collect()).unwrap();
    }
    let mut responses = slow.range(range("", "")).unwrap();
    assert!(!responses.next().unwrap().unwrap().entries.is_empty());
    for number in 0..100 {
        client.put(format!("n{number}"), "1").unwrap();
    }
    assert!(value("lsmbench_server_client_memory_bytes") < 200_000);
    let mut found = 0;
    while let Some(response) = responses.next().unwrap() {
        found += response.entries.len();
    }
    assert!(found > 3800, "{found} entries");
    // A client that leaves within a scan leaves nothing behind.
    let mut leaver = served.client();
    drop(leaver.range(RangeRequest::default()).unwrap());
    drop((leaver, slow));
    wait_until("the end of other clients", || value("lsmbench_server_connected_clients") == 1);
    wait_until("free memory", || value("lsmbench_server_client_memory_bytes") == 0);
}

#[test]
fn what_is_no_http_2_is_disconnected() {
    let place = Place::new();
    let mut served = place.serve(&["--metrics", "127.0.0.1:0"]);
    let value = served.metrics();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    // A frame of SETTINGS has a length that is a multiple of 6, and DATA belongs to a stream.
    let settings = [&preface[..], &[0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5]].concat();
    let data = [&preface[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0], &[0, 0, 1, 0, 0, 0, 0, 0, 0, 7]].concat();
    for bytes in
        [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], b"*1\r\n$4\r\nPING\r\n0123456789", &settings, &data]
    {
        let mut socket = TcpStream::connect(served.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(bytes).unwrap();
        let mut rest = Vec::new();
        // The server may reset the connection after its last frame.
        let _ = socket.read_to_end(&mut rest);
    }
    wait_until("four counted clients", || value("lsmbench_server_clients_disconnected_total") == 4);
    // Half a preface, and half a request, change nothing.
    for length in [0, 10, preface.len()] {
        TcpStream::connect(served.address).unwrap().write_all(&preface[..length]).unwrap();
    }
    let mut client = served.client();
    client.put("a", "1").unwrap();
    wait_until("the end of all other clients", || value("lsmbench_server_connected_clients") == 1);
    assert_eq!(value("lsmbench_server_clients_disconnected_total"), 4);
}

#[test]
fn calls_are_counted() {
    let place = Place::new();
    let mut served = place.serve(&["--metrics", "127.0.0.1:0"]);
    let value = served.metrics();
    let mut client = served.client();
    client.put("a", "x".repeat(10_000)).unwrap();
    client.get("a").unwrap();
    client.batch(vec![put("b", "1"), put("c", "1")]).unwrap();
    client.scan(range("", "")).unwrap();
    client.put(vec![b'k'; 70_000], "").unwrap_err();
    for (name, expected) in [
        ("lsmbench_server_connected_clients", 1),
        ("lsmbench_server_connections_received_total", 1),
        ("lsmbench_server_commands_processed_total", 5),
        ("lsmbench_server_error_replies_total", 1),
        ("lsmbench_server_write_batches_total", 3),
        ("lsmbench_tree_puts_total", 3),
        ("lsmbench_tree_gets_total", 1),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    assert!(value("lsmbench_server_net_input_bytes_total") > 80_000);
    assert!(value("lsmbench_server_net_output_bytes_total") > 20_000);
}
