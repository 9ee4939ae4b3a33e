//! Sends the same pipelines to a server of this crate and to `redis-server`, and compares the replies.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use types::SplitMix64;

use crate::served::{Client, Served, Value, shown, wait_until};

/// A process of `redis-server` on a free port. The process ends when this value is dropped.
struct Redis {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Redis {
    /// Starts `redis-server`. Returns `None` if `redis-server` is not installed.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn();
        let child = child.ok()?;
        wait_until("redis-server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Self { child, port, _folder: folder })
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a random command on one of a few names, so commands often access a name of the wrong kind.
fn any_command(random: &mut SplitMix64) -> Vec<Vec<u8>> {
    let mut name = || format!("k{}", random.below(6)).into_bytes();
    let (first, second) = (name(), name());
    let field = |random: &mut SplitMix64| format!("f{}", random.below(4)).into_bytes();
    let value = |random: &mut SplitMix64| match random.below(4) {
        0 => b"text".to_vec(),
        1 => Vec::new(),
        _ => random.below(100).to_string().into_bytes(),
    };
    let word = |text: &str| text.as_bytes().to_vec();
    let (f, g, v, w) = (field(random), field(random), value(random), value(random));
    match random.below(32) {
        0..4 => vec![word("SET"), first, v],
        4 => vec![word("SET"), first, v, word("NX")],
        5 => vec![word("SET"), first, v, word("XX")],
        6 => vec![word("SET"), first, v, word("GET")],
        7 => vec![word("SETNX"), first, v],
        8 => vec![word("GETSET"), first, v],
        9 => vec![word("GETDEL"), first],
        10 => vec![word("MSET"), first, v, second, w],
        11 => vec![word("DEL"), first, second],
        12 => vec![word("APPEND"), first, v],
        13 => vec![word("INCR"), first],
        14 => vec![word("DECRBY"), first, v],
        15..18 => vec![word("HSET"), first, f, v, g, w],
        18 => vec![word("HSETNX"), first, f, v],
        19 => vec![word("HINCRBY"), first, f, w],
        20 => vec![word("HDEL"), first, f, g],
        21 => vec![word("GET"), first],
        22 => vec![word("MGET"), first, second],
        23 => vec![word("EXISTS"), first, second, word("nothing")],
        24 => vec![word("HGET"), first, f],
        25 => vec![word("HMGET"), first, f, g],
        26 => vec![word("HLEN"), first],
        27 => vec![word("HGETALL"), first],
        28 => vec![word("TYPE"), first],
        29 => vec![word("STRLEN"), first],
        30 => vec![word("DBSIZE")],
        _ if random.below(40) == 0 => vec![word("FLUSHDB")],
        _ => vec![word("HEXISTS"), first, f],
    }
}

/// Sends a pipeline, and returns its replies as text. Sorts the fields of a hash, because their order may differ.
fn ask(client: &mut Client, commands: &[Vec<Vec<u8>>]) -> Vec<String> {
    let replies = client.pipeline(commands);
    let text = |(command, reply): (&Vec<Vec<u8>>, &Value)| match reply {
        Value::Array(values) if command[0] == b"HGETALL" => {
            let pairs = values.chunks(2).map(|pair| format!("{}={}", shown(&pair[0]), shown(&pair[1])));
            let mut pairs: Vec<String> = pairs.collect();
            pairs.sort();
            pairs.join(" ")
        }
        // The text after the code is meant for people, so it may differ.
        Value::Error(text) => format!("!{}", text.split(' ').next().unwrap_or_default()),
        reply => without_texts(&shown(reply)),
    };
    commands.iter().zip(&replies).map(text).collect()
}

/// Returns a reply without the texts of its errors.
fn without_texts(reply: &str) -> String {
    let wrong_kind = " Operation against a key holding the wrong kind of value";
    let mut text = reply.replace(wrong_kind, "");
    for of_number in [
        "value is not an integer or out of range",
        "hash value is not an integer",
        "increment or decrement would overflow",
    ] {
        text = text.replace(of_number, "");
    }
    text
}

#[test]
fn replies_are_those_of_redis_server() {
    let Some(redis) = Redis::start() else {
        // Its place is Debian's package redis-server.
        let _ =
            writeln!(std::io::stderr(), "NOT CHECKED: replies against redis-server, which is not installed");
        return;
    };
    let served = Served::new();
    let mut ours = served.client();
    let mut theirs = Client::connect(("127.0.0.1", redis.port));
    let mut random = SplitMix64::new(11);
    for round in 0..1500 {
        let mut commands: Vec<_> = (0..=random.below(12)).map(|_| any_command(&mut random)).collect();
        if random.chance(0.2) {
            // Not a part of transactions here.
            commands.retain(|command| ![&b"HGETALL"[..], b"DBSIZE", b"FLUSHDB"].contains(&&*command[0]));
            commands.insert(0, vec![b"MULTI".to_vec()]);
            commands.push(vec![b"EXEC".to_vec()]);
        }
        let (found, expected) = (ask(&mut ours, &commands), ask(&mut theirs, &commands));
        for ((found, expected), command) in found.iter().zip(&expected).zip(&commands) {
            let words: Vec<_> = command.iter().map(|word| word.escape_ascii().to_string()).collect();
            assert_eq!(found, expected, "round {round}: {}", words.join(" "));
        }
    }
}
