//! Tests of the replies to commands on names, connections and the server.

use std::path::Path;

use crate::served::{Served, Value, ask, ask_bytes, info, request, shown};

/// Executes a script of lines `COMMAND -> REPLY`. Compares the reply to each command with the expected reply.
#[track_caller]
fn replies(served: &Served, script: &str) {
    let mut client = served.client();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (command, expected) = line.split_once(" -> ").unwrap();
        let reply = ask(&mut client, &command.split_whitespace().collect::<Vec<_>>());
        assert_eq!(reply, expected, "{command}");
    }
}

#[test]
fn strings_answer_as_in_redis() {
    replies(
        &Served::new(),
        "GET a -> nil
         SET a 1 -> OK
         GET a -> 1
         SET a 2 NX -> nil
         SET a 2 XX -> OK
         SET b 2 XX -> nil
         SET a 3 GET -> 2
         SET a 4 EX 5 -> !ERR this server does not support the expiry of keys; leave out EX, PX, EXAT and PXAT
         SET a 4 NX XX -> !ERR syntax error
         SETNX a 9 -> 0
         SETNX n 9 -> 1
         GETSET n 10 -> 9
         GETDEL n -> 10
         GETDEL n -> nil
         STRLEN a -> 1
         APPEND a xyz -> 4
         GET a -> 3xyz
         MSET a 1 b 2 c 3 -> OK
         MSET a 1 b -> !ERR wrong number of arguments for 'mset' command
         MGET a nothing c -> [1 nil 3]
         EXISTS a b nothing a -> 3
         DEL a nothing b -> 2
         EXISTS a b c -> 1
         TYPE c -> string
         TYPE a -> none
         DBSIZE -> 1",
    );
}

#[test]
fn numbers_are_counted_up_and_down() {
    replies(
        &Served::new(),
        "INCR n -> 1
         INCRBY n 41 -> 42
         DECR n -> 41
         DECRBY n 50 -> -9
         INCRBY n x -> !ERR value is not an integer or out of range
         SET n 9223372036854775807 -> OK
         INCR n -> !ERR increment or decrement would overflow
         GET n -> 9223372036854775807
         SET n 1.5 -> OK
         INCR n -> !ERR value is not an integer or out of range
         DECRBY m -9223372036854775808 -> !ERR value is not an integer or out of range",
    );
}

#[test]
fn hashes_answer_as_in_redis() {
    replies(
        &Served::new(),
        "HSET h a 1 b 2 -> 2
         HSET h a 3 c 4 -> 1
         HGET h a -> 3
         HGET h nothing -> nil
         HGET nothing a -> nil
         HMGET h a nothing b -> [3 nil 2]
         HGETALL h -> [a 3 b 2 c 4]
         HKEYS h -> [a b c]
         HVALS h -> [3 2 4]
         HLEN h -> 3
         HEXISTS h a -> 1
         HSETNX h a 9 -> 0
         HSETNX h d 9 -> 1
         HINCRBY h d 1 -> 10
         HINCRBY h e 5 -> 5
         HLEN h -> 5
         HMSET h e 6 -> OK
         HSET h odd -> !ERR wrong number of arguments for 'hset' command
         HSET h f 1 g -> !ERR wrong number of arguments for 'hset' command
         TYPE h -> hash
         DBSIZE -> 1
         HDEL h a nothing b c d -> 4
         HGETALL h -> [e 6]
         HDEL h e -> 1
         EXISTS h -> 0
         HGETALL h -> []
         HDEL h e -> 0
         DBSIZE -> 0",
    );
}

/// Rule: a name has only one kind. `SET` replaces any value, including a hash with all its fields.
#[test]
fn kinds_do_not_mix() {
    let wrong = "!WRONGTYPE Operation against a key holding the wrong kind of value";
    let script = "SET s 1 -> OK
         HSET s a 1 -> !!
         HGET s a -> !!
         HGETALL s -> !!
         HMGET s a -> !!
         HLEN s -> !!
         HDEL s a -> !!
         HINCRBY s a 1 -> !!
         HSET h a 1 b 2 -> 2
         GET h -> !!
         INCR h -> !!
         APPEND h x -> !!
         STRLEN h -> !!
         GETSET h x -> !!
         GETDEL h -> !!
         MGET h s -> [nil 1]
         SETNX h x -> 0
         EXISTS h s -> 2
         SET h x -> OK
         HGET h a -> !!
         DEL h -> 1
         HGETALL h -> []
         HSET h c 3 -> 1
         HGETALL h -> [c 3]
         MSET h 1 s 2 -> OK
         TYPE h -> string
         DBSIZE -> 2";
    replies(&Served::new(), &script.replace("!!", wrong));
}

#[test]
fn ranges_are_in_order_and_end_before_the_high_name() {
    let served = Served::new();
    replies(
        &served,
        "MSET b 2 a 1 d 4 c 3 -> OK
         HSET bb f 1 -> 1
         RANGE a c -> [a 1 b 2]
         RANGE b z LIMIT 2 -> [b 2 c 3]
         RANGE a z REV LIMIT 1 -> [d 4]
         RANGE x z -> []
         RANGE c a -> []
         RANGE a c LIMIT 0 -> []
         RANGE a c LIMIT -> !ERR syntax error
         RANGE a c LIMIT -1 -> !ERR value is not an integer or out of range
         RANGE a c DOWN -> !ERR syntax error",
    );
    let mut client = served.client();
    assert_eq!(ask_bytes(&mut client, &[b"RANGE", b"c", b""]), "[c 3 d 4]", "no end");
    assert_eq!(ask_bytes(&mut client, &[b"SET", b"\0\x01", b"zero"]), "OK");
    assert_eq!(ask_bytes(&mut client, &[b"RANGE", b"", b"b"]), "[\\x00\\x01 zero a 1]");
}

#[test]
fn a_scan_meets_every_name_once() {
    let served = Served::new();
    let mut client = served.client();
    let mut expected: Vec<String> = (0..250).map(|number| format!("key:{number:03}")).collect();
    expected.iter().for_each(|name| assert_eq!(ask(&mut client, &["SET", name, "v"]), "OK"));
    for number in 0..20 {
        let name = format!("hash:{number}");
        assert_eq!(ask(&mut client, &["HSET", &name, "a", "1", "b", "2"]), "2");
        expected.push(name);
    }
    let mut scan = |options: &[&str]| {
        let (mut cursor, mut names, mut calls) = ("0".to_owned(), Vec::new(), 0);
        loop {
            let words = [&["SCAN", &cursor][..], options].concat();
            let Value::Array(reply) = client.pipeline(&[request(&words)]).remove(0) else {
                panic!("no array")
            };
            let next = shown(&reply[0]);
            names.extend(reply[1].texts());
            calls += 1;
            cursor = next;
            if cursor == "0" {
                names.sort();
                return (names, calls);
            }
        }
    };
    expected.sort();
    assert_eq!(scan(&[]), (expected.clone(), 27));
    assert_eq!(scan(&["COUNT", "1000"]), (expected.clone(), 1));
    let of =
        |start: &str| expected.iter().filter(|name| name.starts_with(start)).cloned().collect::<Vec<_>>();
    assert_eq!(scan(&["MATCH", "hash:*", "COUNT", "50"]).0, of("hash:"));
    assert_eq!(scan(&["TYPE", "string"]).0, of("key:"));
    assert_eq!(ask(&mut client, &["DBSIZE"]), "270");
    let error = ask(&mut client, &["SCAN", "123456"]);
    assert_eq!(error, "!ERR cursor 123456 is unknown or too old; start again with SCAN 0");
    assert_eq!(ask(&mut client, &["SCAN", "x"]), "!ERR invalid cursor");
    assert_eq!(ask(&mut client, &["FLUSHDB"]), "OK");
    assert_eq!(ask(&mut client, &["DBSIZE"]), "0");
    assert_eq!(ask(&mut client, &["HGETALL", "hash:1"]), "[]");
}

#[test]
fn the_connection_has_its_commands() {
    let served = Served::new();
    replies(
        &served,
        "PING -> PONG
         PING hello -> hello
         ECHO hello -> hello
         SELECT 0 -> OK
         SELECT 1 -> !ERR DB index is out of range; the server has database 0 only
         CLIENT SETNAME me -> OK
         CLIENT GETNAME -> me
         AUTH secret -> !ERR AUTH called without any password configured for the default user.
         CONFIG GET appendonly -> [appendonly yes]
         CONFIG GET maxc* -> [maxclients 10000]
         CONFIG SET maxclients 1 -> !ERR a running server keeps its options; start `lsmbench serve` with other options or another design
         COMMAND COUNT -> 50
         COMMAND INFO get nothing -> [[get 2 [readonly] 1 1 1] nil]
         LPUSH a b -> !ERR unknown command 'LPUSH'; COMMAND LIST lists all commands
         GET -> !ERR wrong number of arguments for 'get' command
         GET a b -> !ERR wrong number of arguments for 'get' command
         PING -> PONG",
    );
    let mut client = served.client();
    // The server ends the connections of earlier clients when it sees that they are closed.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while info(&mut client, "connected_clients") > 1 && std::time::Instant::now() < until {}
    assert_eq!(info(&mut client, "connected_clients"), 1);
    assert!(info(&mut client, "total_commands_processed") >= 15);
    assert!(info(&mut client, "total_error_replies") >= 5);
    assert_eq!(ask(&mut client, &["CONFIG", "RESETSTAT"]), "OK");
    assert!(info(&mut client, "total_error_replies") == 0);
    assert_eq!(ask(&mut client, &["INFO", "keyspace"]), "# Keyspace\\r\\n");
}

#[test]
fn version_3_of_the_protocol_has_maps_and_null() {
    let served = Served::new();
    let mut socket = served.socket();
    socket.send(b"HELLO 3\r\nHSET h a 1\r\nHGETALL h\r\nGET nothing\r\nHELLO 2\r\nHGETALL h\r\nGET nothing\r\nHELLO 4\r\nQUIT\r\n");
    let rest = socket.rest();
    let (hello, after) = rest.split_once(":1\r\n%1\r\n$1\r\na\r\n$1\r\n1\r\n_\r\n").expect(&rest);
    assert!(hello.starts_with("%7\r\n$6\r\nserver\r\n$8\r\nlsmbench\r\n"), "{hello}");
    assert!(hello.contains("$5\r\nproto\r\n:3\r\n"), "{hello}");
    assert!(after.starts_with("*14\r\n") && after.contains("$5\r\nproto\r\n:2\r\n"), "{after}");
    let end =
        "*2\r\n$1\r\na\r\n$1\r\n1\r\n$-1\r\n-NOPROTO unsupported protocol version. Valid: 2, 3\r\n+OK\r\n";
    assert!(after.ends_with(end), "{after}");
}

#[test]
fn a_password_is_asked_for_before_anything_else() {
    let served = Served::with(|options| options.password = Some("secret".to_owned()));
    let mut socket = served.socket();
    socket.send(b"GET a\r\nSHUTDOWN\r\nAUTH wrong\r\nAUTH secre\r\nAUTH secretsecret\r\nAUTH other secret\r\nHELLO 3\r\nPING\r\n");
    let no = "-NOAUTH Authentication required.";
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    for expected in [no, no, wrong, wrong, wrong, wrong] {
        assert_eq!(socket.line(), expected);
    }
    assert!(socket.line().starts_with("-NOAUTH HELLO must be called with the client already authenticated"));
    assert_eq!(socket.line(), no);
    // After the password, a request may be as long as a request of any other client.
    let long = "x".repeat(100_000);
    socket.send(
        format!("AUTH secret\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$100000\r\n{long}\r\nSTRLEN a\r\n").as_bytes(),
    );
    for expected in ["+OK", "+OK", ":100000"] {
        assert_eq!(socket.line(), expected);
    }
    let mut stranger = served.socket();
    stranger.send(b"*2\r\n$3\r\nGET\r\n$100000\r\n");
    assert_eq!(
        stranger.rest(),
        "-ERR Protocol error: invalid bulk length: 100000; the limit is 16384 bytes\r\n"
    );
    let mut client = served.client();
    assert_eq!(ask(&mut client, &["HELLO", "2", "AUTH", "default", "secret"]).matches("lsmbench").count(), 1);
    assert_eq!(ask(&mut client, &["STRLEN", "a"]), "100000");
}

/// Rule: acknowledged writes and the kinds of names survive a shutdown and a restart of the server, with every WAL
/// mode.
#[test]
fn a_server_that_ends_loses_nothing() {
    // An ending server waits for its connected clients, so the servers run at the same time.
    std::thread::scope(|scope| {
        for wal in ["none", "buffered", "group"] {
            scope.spawn(move || ends_without_loss(wal));
        }
    });
}

fn ends_without_loss(wal: &str) {
    let folder = tempfile::tempdir().unwrap();
    let design = format!("wal = \"{wal}\"");
    let start = || Served::of(folder.path(), &design);
    let served = start();
    let mut client = served.client();
    assert_eq!(ask(&mut client, &["SET", "a", "1"]), "OK", "{wal}");
    assert_eq!(ask(&mut client, &["HSET", "h", "f", "2"]), "1", "{wal}");
    served.stop();
    let served = start();
    let mut client = served.client();
    assert_eq!(ask(&mut client, &["GET", "a"]), "1", "{wal}");
    assert_eq!(ask(&mut client, &["HGETALL", "h"]), "[f 2]", "{wal}");
    assert_eq!(ask(&mut client, &["SET", "h", "x"]), "OK", "{wal}");
    assert_eq!(ask(&mut client, &["DBSIZE"]), "2", "{wal}");
    // A client may end the server, too.
    let mut socket = served.socket();
    socket.send(b"SHUTDOWN\r\n");
    assert_eq!(socket.rest(), "", "{wal}");
    served.join();
    assert_eq!(shell_reads(folder.path(), b"h"), Some(b"x".to_vec()), "{wal}");
}

/// Returns the value of a key that `lsmbench shell` reads. The server stores ordinary names unchanged.
fn shell_reads(folder: &Path, key: &[u8]) -> Option<Vec<u8>> {
    let tree = tree::OpenOptions::new(tree::Design::default()).open(folder).unwrap();
    tree.get(key).unwrap()
}

#[test]
fn a_pipeline_is_answered_in_order() {
    let served = Served::new();
    let mut client = served.client();
    let mut requests = Vec::new();
    for number in 0..3_000 {
        let name = format!("k{}", number % 7);
        requests.push(request(&["SET", &name, &number.to_string()]));
        requests.push(request(&["INCR", &name]));
        requests.push(request(&["GET", &name]));
    }
    for (number, values) in client.pipeline(&requests).chunks(3).enumerate() {
        let expected = ["OK".to_owned(), (number + 1).to_string(), (number + 1).to_string()];
        assert!(values.iter().map(shown).eq(expected), "{number}: {values:?}");
    }
    let before = info(&mut client, "total_write_batches");
    let requests: Vec<_> = (0..500).map(|number| request(&["SET", &number.to_string(), "x"])).collect();
    client.pipeline(&requests);
    let batches = info(&mut client, "total_write_batches") - before;
    assert!((1..100).contains(&batches), "500 writes of one pipeline were {batches} batches");
}

#[test]
fn a_transaction_is_one_batch() {
    let served = Served::new();
    replies(
        &served,
        "MULTI -> OK
         MULTI -> !ERR MULTI calls can not be nested
         SET a 1 -> QUEUED
         INCR a -> QUEUED
         GET a -> QUEUED
         HSET h f 1 g 2 -> QUEUED
         HLEN h -> QUEUED
         DEL h a -> QUEUED
         HSET h x 1 -> QUEUED
         EXISTS h a -> QUEUED
         EXEC -> [OK 2 2 2 2 2 1 1]
         HGETALL h -> [x 1]
         EXEC -> !ERR EXEC without MULTI
         MULTI -> OK
         SET a 1 -> QUEUED
         DISCARD -> OK
         GET a -> nil
         MULTI -> OK
         SET a 1 -> QUEUED
         SCAN 0 -> !ERR SCAN cannot be part of a transaction; a transaction can contain only writes, and reads of given names
         EXEC -> !EXECABORT Transaction discarded because of previous errors.
         MULTI -> OK
         NOTHING -> !ERR unknown command 'NOTHING'; COMMAND LIST lists all commands
         EXEC -> !EXECABORT Transaction discarded because of previous errors.
         GET a -> nil
         TREE FLUSH -> OK
         TREE COMPACT -> OK
         TREE SETTLE -> OK
         TREE SYNC -> OK
         TREE BURN -> !ERR unknown TREE subcommand. Valid: FLUSH, COMPACT, SETTLE, SYNC",
    );
    let mut client = served.client();
    assert!(info(&mut client, "total_write_batches") <= 3);
    // The error of one request leaves the others.
    let mut socket = served.socket();
    socket.send(b"MULTI\r\nSET n 1\r\nHSET n f 1\r\nINCR n\r\nEXEC\r\nGET n\r\n");
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    for expected in ["+OK", "+QUEUED", "+QUEUED", "+QUEUED", "*3", "+OK", wrong, ":2", "$1", "2"] {
        assert_eq!(socket.line(), expected);
    }
}
