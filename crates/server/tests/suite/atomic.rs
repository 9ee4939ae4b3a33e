//! Tests of concurrent clients: no client undoes an acknowledged write of another client.

use std::sync::Barrier;

use crate::served::{Client, Served, Value, ask, request};

const CLIENTS: usize = 8;
const TIMES: i64 = 400;

/// Runs `work` for every client at the same time.
fn at_once(served: &Served, work: impl Fn(usize, &mut Client) + Sync) {
    let start = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                let mut client = served.client();
                start.wait();
                work(number, &mut client);
            });
        }
    });
}

#[test]
fn counting_is_atomic() {
    let served = Served::new();
    at_once(&served, |number, client| {
        for time in 0..TIMES {
            if number % 2 == 0 {
                assert!(matches!(client.call(&[b"INCR", b"n"]), Value::Integer(_)));
            } else {
                // A write in between the reads and the writes of others must not be lost.
                let requests = [
                    request(&["INCRBY", "n", "1"]),
                    request(&["HINCRBY", "h", "f", "2"]),
                    request(&["SET", &format!("own{number}"), &time.to_string()]),
                ];
                client.pipeline(&requests);
            }
        }
    });
    let mut client = served.client();
    let clients = i64::try_from(CLIENTS).unwrap();
    assert_eq!(ask(&mut client, &["GET", "n"]), (clients * TIMES).to_string());
    assert_eq!(ask(&mut client, &["HGET", "h", "f"]), (clients * TIMES).to_string());
    assert_eq!(ask(&mut client, &["HLEN", "h"]), "1");
}

/// Rule: while clients add and remove fields, the number of fields of a hash stays correct. A name never has two kinds.
#[test]
fn hashes_keep_count_while_names_change_their_kind() {
    let served = Served::new();
    at_once(&served, |number, client| {
        for time in 0..TIMES {
            let number = i64::try_from(number).unwrap();
            let field = format!("f{}", (time * 7 + number) % 5);
            match (time + number) % 4 {
                0 | 1 => drop(ask(client, &["HSET", "x", &field, "1"])),
                2 => drop(ask(client, &["HDEL", "x", &field])),
                _ if time % 20 == 3 => drop(ask(client, &["SET", "x", "text"])),
                _ => drop(ask(client, &["DEL", "x"])),
            }
            assert_eq!(ask(client, &["SET", &format!("own{number}"), "1"]), "OK");
        }
    });
    let mut client = served.client();
    ask(&mut client, &["HSET", "y", "a", "1"]);
    match ask(&mut client, &["TYPE", "x"]).as_str() {
        "hash" => {
            let fields = client.call(&[b"HKEYS", b"x"]).texts();
            assert_eq!(ask(&mut client, &["HLEN", "x"]), fields.len().to_string());
            assert!(!fields.is_empty());
        }
        "string" => assert_eq!(ask(&mut client, &["GET", "x"]), "text"),
        kind => assert_eq!((kind, ask(&mut client, &["EXISTS", "x"]).as_str()), ("none", "0")),
    }
    let names = CLIENTS as u64 + 1 + u64::from(ask(&mut client, &["EXISTS", "x"]) == "1");
    assert_eq!(ask(&mut client, &["DBSIZE"]), names.to_string());
    // A deleted hash leaves no fields.
    ask(&mut client, &["DEL", "x"]);
    ask(&mut client, &["HSET", "x", "only", "1"]);
    assert_eq!(ask(&mut client, &["HGETALL", "x"]), "[only 1]");
}

/// Rule: a reader sees either all writes of an `MSET` or none.
#[test]
fn a_batch_is_seen_as_a_whole() {
    let served = Served::new();
    let mut client = served.client();
    assert_eq!(ask(&mut client, &["MSET", "a", "0", "b", "0"]), "OK");
    at_once(&served, |number, client| {
        for time in 0..TIMES {
            let value = format!("{number}-{time}");
            if number < 2 {
                assert_eq!(ask(client, &["MSET", "a", &value, "b", &value]), "OK");
            } else {
                let values = client.call(&[b"MGET", b"a", b"b"]).texts();
                assert_eq!(values[0], values[1]);
                let pairs = client.call(&[b"RANGE", b"a", b"c"]).texts();
                assert_eq!(pairs[1], pairs[3]);
            }
        }
    });
}

/// Rule: while one client deletes all names, other clients write. Afterwards, each later write of these clients is
/// either complete or absent.
#[test]
fn emptying_excludes_writers() {
    let served = Served::new();
    at_once(&served, |number, client| {
        for time in 0..TIMES / 8 {
            if number == 0 {
                assert_eq!(ask(client, &["FLUSHDB"]), "OK");
            } else {
                let name = format!("{number}:{time}");
                assert_eq!(ask(client, &["MSET", &name, "1", &format!("{name}b"), "1"]), "OK");
                assert!(ask(client, &["HSET", &format!("h{number}"), "f", "1"]).parse::<u64>().is_ok());
            }
        }
    });
    let mut client = served.client();
    let names: u64 = ask(&mut client, &["DBSIZE"]).parse().unwrap();
    let Value::Array(reply) = client.call(&[b"SCAN", b"0", b"COUNT", b"10000"]) else { panic!("no array") };
    let found = reply[1].texts();
    assert_eq!(found.len() as u64, names);
    for name in found.iter().filter(|name| name.contains(':')) {
        let other = name.strip_suffix('b').map_or_else(|| format!("{name}b"), str::to_owned);
        assert!(found.contains(&other), "{name} without {other}");
    }
}
