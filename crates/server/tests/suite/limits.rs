//! Tests of the limits for clients: connections, memory, and clients that do not read.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::served::{Served, Socket, ask, info, wait_until};

/// Returns the resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_idle_clients_are_cheap_and_do_not_disturb() {
    let served = Served::new();
    let mut client = served.client();
    ask(&mut client, &["SET", "a", "1"]);
    let before = resident_bytes();
    let mut idle: Vec<Socket> = (0..1000).map(|_| served.socket()).collect();
    // Each has sent something, and then is idle.
    idle.iter_mut().for_each(|socket| socket.send(b"GET a\r\n"));
    for socket in &mut idle {
        assert_eq!((socket.line(), socket.line()), ("$1".to_owned(), "1".to_owned()));
    }
    assert_eq!(info(&mut client, "connected_clients"), 1001);
    wait_until("idle clients without buffers", || info(&mut client, "client_memory_bytes") < 200_000);
    // The buffers of the test's own ends count, too: 8 KiB each.
    let bytes = resident_bytes().saturating_sub(before);
    assert!(bytes < 64 << 20, "{bytes} bytes for 1,000 clients");
    idle.iter_mut().for_each(|socket| socket.send(b"INCR n\r\n"));
    idle.iter_mut().for_each(|socket| assert!(socket.line().starts_with(':')));
    assert_eq!(ask(&mut client, &["GET", "n"]), "1000");
    served.stop();
    idle.iter_mut().for_each(|socket| assert_eq!(socket.rest(), ""));
}

#[test]
fn a_client_above_the_limit_is_turned_away() {
    let served = Served::with(|options| options.limits.connections = 2);
    let (mut first, second) = (served.client(), served.client());
    assert_eq!(served.socket().rest(), "-ERR max number of clients reached\r\n");
    drop(second);
    wait_until("a free place", || {
        let mut socket = served.socket();
        // The server may have closed its end already.
        let _ = socket.try_send(b"PING\r\n");
        socket.line() == "+PONG"
    });
    assert!(info(&mut first, "rejected_connections") >= 1);
}

/// Rule: the server stops reading from a client that does not read its replies. Such a client uses one buffer and does
/// not slow other clients.
#[test]
fn a_client_that_does_not_read_waits() {
    let served = Served::new();
    let mut client = served.client();
    ask(&mut client, &["SET", "big", &"x".repeat(1 << 20)]);
    let mut slow = TcpStream::connect(served.address).unwrap();
    slow.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let requests = b"GET big\r\n".repeat(1000);
    let mut sent = 0;
    let blocked = loop {
        match slow.write(&requests) {
            Ok(bytes) => sent += bytes,
            Err(error) => break error,
        }
        assert!(sent < 1 << 30, "the server takes {sent} bytes of requests, and nobody reads its replies");
    };
    assert!(matches!(blocked.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{blocked}");
    assert!(info(&mut client, "client_memory_bytes") < 16 << 20);
    let start = Instant::now();
    (1..=100).for_each(|number| assert_eq!(ask(&mut client, &["INCR", "n"]), number.to_string()));
    assert!(start.elapsed() < Duration::from_secs(10));
    // As soon as it reads, it gets its replies.
    let mut head = [0; 10];
    slow.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    slow.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"$1048576\r\n");
    // A server that ends does not wait for it for ever.
    let start = Instant::now();
    served.stop();
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn a_reply_above_the_limit_is_an_error_in_its_place() {
    let served = Served::with(|options| options.limits.reply_bytes = 10_000);
    let mut client = served.client();
    for number in 0..20 {
        ask(&mut client, &["SET", &format!("k{number:02}"), &"x".repeat(1000)]);
        ask(&mut client, &["HSET", "h", &format!("f{number}"), &"x".repeat(1000)]);
    }
    let error = "!ERR the reply has more than 10000 bytes; request less data at a time, with a limit or SCAN";
    for command in [
        &["RANGE", "k", "l"][..],
        &["MGET", "k00", "k01", "k02", "k03", "k04", "k05", "k06", "k07", "k08", "k09"],
        &["HGETALL", "h"],
    ] {
        assert_eq!(ask(&mut client, command), error);
    }
    assert_eq!(ask(&mut client, &["RANGE", "k", "l", "LIMIT", "3"]).len(), 3 * (3 + 1000) + 5 + 2);
}

#[test]
fn requests_above_the_limit_end_their_client() {
    let served = Served::with(|options| options.limits.request_bytes = 100_000);
    let mut client = served.client();
    let mut socket = served.socket();
    let _ = socket.try_send(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$200000\r\n");
    assert_eq!(
        socket.rest(),
        "-ERR Protocol error: invalid bulk length: 200000; the limit is 100000 bytes\r\n"
    );
    let mut socket = served.socket();
    let part = format!("$30000\r\n{}\r\n", "x".repeat(30_000));
    let _ = socket.try_send(format!("*9\r\n$4\r\nMSET\r\n{}", part.repeat(4)).as_bytes());
    assert_eq!(socket.rest(), "-ERR Protocol error: the request has more than 100000 bytes; split it\r\n");
    assert_eq!(ask(&mut client, &["DBSIZE"]), "0");
    assert_eq!(info(&mut client, "clients_disconnected"), 2);
}

#[test]
fn the_memory_of_all_clients_is_limited() {
    let served = Served::with(|options| options.limits.client_memory_bytes = 1 << 20);
    let mut client = served.client();
    let mut greedy: Vec<Socket> = (0..10).map(|_| served.socket()).collect();
    let part = format!("*2\r\n$4\r\nECHO\r\n$400000\r\n{}", "x".repeat(300_000));
    greedy.iter_mut().for_each(|socket| _ = socket.try_send(part.as_bytes()));
    wait_until("the limit", || info(&mut client, "clients_disconnected") >= 7);
    let refused = greedy.iter_mut().filter(|socket| {
        socket.stream().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut line = [0; 100];
        let read = socket.stream().read(&mut line).unwrap_or(0);
        line[..read].starts_with(b"-ERR the clients of this server use more memory")
    });
    assert!(refused.count() >= 7);
    drop(greedy);
    assert_eq!(ask(&mut client, &["PING"]), "PONG");
}

#[test]
fn metrics_are_prometheus_text() {
    let served = Served::with(|options| options.metrics = Some("127.0.0.1:0".parse().unwrap()));
    let mut client = served.client();
    (0..10).for_each(|_| assert_eq!(ask(&mut client, &["SET", "a", "1"]), "OK"));
    let get = |request: &str| {
        let mut stream = TcpStream::connect(served.metrics.unwrap()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = get("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    let value = |name: &str| -> u64 {
        let line = body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {body}")).parse().unwrap()
    };
    assert_eq!(value("lsmbench_server_connected_clients"), 1);
    assert!(value("lsmbench_server_commands_processed_total") >= 10);
    assert!(value("lsmbench_tree_puts_total") == 10);
    for line in body.lines().filter(|line| !line.starts_with('#')) {
        let (name, number) = line.split_once(' ').unwrap();
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{line}"
        );
        assert!(number.parse::<u64>().is_ok(), "{line}");
        assert!(
            body.contains(&format!("# TYPE {name} ")) && body.contains(&format!("# HELP {name} ")),
            "{name}"
        );
    }
    assert!(get("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 Not Found\r\n"));
    assert!(get("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 Bad Request\r\n"));
}
