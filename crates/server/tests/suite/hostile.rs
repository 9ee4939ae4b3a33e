//! Tests of clients that violate the protocol or disconnect. Each client gets one clear error, and the server
//! continues.

use crate::served::{Served, ask, wait_until};

/// Sends bytes, and returns all bytes that the server sends before it closes the connection.
fn answer(served: &Served, bytes: &[u8]) -> String {
    let mut socket = served.socket();
    socket.send(bytes);
    socket.rest()
}

#[test]
fn what_is_no_request_gets_an_error_and_the_end() {
    let served = Served::new();
    let error = |text: &str| format!("-ERR Protocol error: {text}\r\n");
    for (bytes, expected) in [
        ("*1\r\n$2147483648\r\n", "invalid bulk length: 2147483648; the limit is 67108864 bytes"),
        ("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$-5\r\n", "invalid bulk length: -5"),
        ("*1000000000\r\n", "invalid multibulk length: 1000000000; the limit is 1048576 arguments"),
        ("*1\r\n*1\r\n*1\r\n*1\r\n", "expected '$', got '*'"),
        ("*1\r\n$4\r\nPINGPING\r\n", "no line end after an argument of 4 bytes"),
        ("SET a \"b\r\n", "unbalanced quotes in request"),
        ("GET / HTTP/1.1\r\nHost: \"x\r\n", "unbalanced quotes in request"),
    ] {
        let answer = answer(&served, bytes.as_bytes());
        assert!(answer.ends_with(&error(expected)), "{bytes:?}: {answer:?}");
    }
    let long = vec![b'x'; 1 << 20];
    let mut socket = served.socket();
    let _ = socket.try_send(&long);
    assert_eq!(
        socket.line(),
        "-ERR Protocol error: too big inline request: more than 65536 bytes without a line end"
    );
    // The requests in front of an error are executed.
    assert_eq!(
        answer(&served, b"SET a 1\r\nGET a\r\n*x\r\n"),
        format!("+OK\r\n$1\r\n1\r\n{}", error("invalid multibulk length: x"))
    );
    assert_eq!(ask(&mut served.client(), &["GET", "a"]), "1");
}

#[test]
fn half_a_request_changes_nothing() {
    let served = Served::new();
    let request = b"*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$5\r\nvalue\r\n";
    for length in 0..request.len() {
        let mut socket = served.socket();
        socket.send(&request[..length]);
        socket.finish();
        assert_eq!(socket.rest(), "", "{length}");
    }
    assert_eq!(ask(&mut served.client(), &["GET", "half"]), "nil");
    // Byte by byte is a request like any other.
    let mut socket = served.socket();
    request.iter().for_each(|byte| socket.send(&[*byte]));
    assert_eq!(socket.line(), "+OK");
    // A client that says it sends no more still gets its replies.
    let mut socket = served.socket();
    socket.send(b"GET half\r\nDEL half\r\n");
    socket.finish();
    assert_eq!(socket.rest(), "$5\r\nvalue\r\n:1\r\n");
}

#[test]
fn names_and_fields_above_the_limit_are_errors() {
    let served = Served::new();
    let mut client = served.client();
    let (longest, long) = ("k".repeat(65_535), "k".repeat(65_536));
    assert_eq!(ask(&mut client, &["SET", &longest, "1"]), "OK");
    assert_eq!(ask(&mut client, &["GET", &longest]), "1");
    let error = "!ERR the key has 65536 bytes; the limit is 65535";
    for command in
        [&["SET", &long, "1"][..], &["GET", &long], &["MGET", "a", &long], &["HSET", &long, "f", "1"]]
    {
        assert_eq!(ask(&mut client, command), error);
    }
    let field = "f".repeat(65_530);
    let error = "!ERR the name and the field of a hash may have at most 65530 bytes together";
    for command in
        [&["HSET", "h", "a", "1", &field, "1"][..], &["HGET", "h", &field], &["HMGET", "h", "a", &field]]
    {
        assert_eq!(ask(&mut client, command), error);
    }
    assert_eq!(ask(&mut client, &["HLEN", "h"]), "0", "the error changed nothing");
    assert_eq!(ask(&mut client, &["HSET", "h", &field[1..], "1"]), "1");
    // A write that fails does not take its neighbors in the pipeline with it.
    let mut socket = served.socket();
    let set = format!("*3\r\n$3\r\nSET\r\n$65536\r\n{long}\r\n$1\r\n1\r\n");
    socket.send(format!("SET a 1\r\nINCR h\r\n{set}INCR a\r\n").as_bytes());
    assert_eq!(socket.line(), "+OK");
    assert!(socket.line().starts_with("-WRONGTYPE "));
    assert_eq!(socket.line(), "-ERR the key has 65536 bytes; the limit is 65535");
    assert_eq!(socket.line(), ":2");
}

/// Rule: clients that disconnect in the middle of a request do not harm the server.
#[test]
fn clients_that_vanish_leave_nothing_behind() {
    let served = Served::new();
    for number in 0..100 {
        let mut socket = served.socket();
        socket.send(
            format!("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n{}\r\nGET a\r\n*2\r\n$", number % 10).as_bytes(),
        );
    }
    let mut client = served.client();
    wait_until("the end of all other clients", || crate::served::info(&mut client, "connected_clients") == 1);
    assert!(crate::served::info(&mut client, "client_memory_bytes") < 100_000);
    assert!(ask(&mut client, &["GET", "a"]).len() == 1);
}
