//! `lsmbench serve` with column families: a Redis client library uses each family as a database.

use std::sync::atomic::{AtomicUsize, Ordering};

use redis::{Client, Connection};
use rustix::process::Signal;

use crate::bench::{Bench, wait_for};
use crate::serve::Server;

const DESIGN: &str = "[design]\nmemtable = { capacity = \"64KiB\" }\n[design.families.index]\nbloom = \"ribbon\"\n\
                      [design.families.values]\ncompression = \"zstd\"\n";

/// Connects a client to a database of the server. The client sends `SELECT`.
fn connect(server: &Server, database: usize) -> Connection {
    let client = Client::open(format!("redis://{}/{database}", server.address)).unwrap();
    client.get_connection().unwrap()
}

#[test]
fn a_redis_client_uses_families_as_databases() {
    let bench = Bench::new();
    bench.write("families.toml", DESIGN);
    let server = Server::start(&bench, &["--design", "families.toml"]);
    let (mut index, mut values) = (connect(&server, 0), connect(&server, 1));
    redis::cmd("SET").arg("a").arg(1).exec(&mut index).unwrap();
    let missing: Option<String> = redis::cmd("GET").arg("a").query(&mut values).unwrap();
    assert_eq!(missing, None);
    let mut transaction = redis::pipe();
    transaction.atomic().cmd("SET").arg("a").arg("one").ignore().cmd("HSET").arg("h").arg("f").arg(2);
    assert_eq!(transaction.query::<(u64,)>(&mut values).unwrap(), (1,));
    let names: Vec<String> =
        redis::cmd("CONFIG").arg("GET").arg("lsmbench-families").query(&mut index).unwrap();
    assert_eq!(names, ["lsmbench-families", "index,values"]);
    redis::cmd("SELECT").arg("values").exec(&mut index).unwrap();
    assert_eq!(redis::cmd("DBSIZE").query::<u64>(&mut index).unwrap(), 2);
    let client = Client::open(format!("redis://{}/2", server.address)).unwrap();
    let error = client.get_connection().map(drop).unwrap_err().to_string();
    assert!(error.contains("DB") || error.contains("database"), "{error}");
    assert_eq!(server.end(Signal::TERM), Some(130));
    // The shell reads the strings of each family, and the next server needs no design file.
    for (family, expected) in [("index", "1\n"), ("values", "one\n")] {
        assert_eq!(bench.run_with(&["shell", "db", "--family", family], "g a\n").expect(0).out, expected);
    }
    let server = Server::start(&bench, &[]);
    let value: String = redis::cmd("GET").arg("a").query(&mut connect(&server, 1)).unwrap();
    assert_eq!(value, "one");
    drop(server);
    bench.run(&["verify", "db"]).expect(0);
}

/// Every acknowledged write of every family survives a kill, and each transaction is complete or absent.
#[test]
fn nothing_acknowledged_in_any_family_is_lost_by_kill_9() {
    for wal in ["wal=group", "wal=buffered"] {
        let bench = Bench::new();
        bench.write("families.toml", DESIGN);
        let options = ["--design", "families.toml", "--set", wal];
        let server = Server::start(&bench, &options);
        let acknowledged = AtomicUsize::new(0);
        let last: Vec<usize> = std::thread::scope(|scope| {
            let write = |database: usize| {
                let (mut connection, acknowledged) = (connect(&server, database), &acknowledged);
                move || {
                    for number in 1.. {
                        let mut pipe = redis::pipe();
                        pipe.atomic();
                        for key in ["first", "second"] {
                            pipe.cmd("SET").arg(key).arg(number).ignore();
                        }
                        pipe.cmd("SET").arg(format!("{number:06}")).arg("x".repeat(100)).ignore();
                        if pipe.exec(&mut connection).is_err() {
                            return number - 1;
                        }
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                    }
                    unreachable!("the server is killed before all numbers are used")
                }
            };
            let writers = [0, 1].map(|database| scope.spawn(write(database)));
            wait_for("acknowledged writes", || (acknowledged.load(Ordering::Relaxed) > 300).then_some(()));
            server.kill_now();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        drop(server);
        bench.run(&["verify", "db"]).expect(0);
        let server = Server::start(&bench, &options);
        for (database, acknowledged) in last.into_iter().enumerate() {
            let mut connection = connect(&server, database);
            let (first, second): (usize, usize) =
                redis::cmd("MGET").arg("first").arg("second").query(&mut connection).unwrap();
            // The last transaction may be complete without an acknowledgement.
            assert!(first == second && (acknowledged..=acknowledged + 1).contains(&first), "{wal}: {first}");
            let names: usize = redis::cmd("DBSIZE").query(&mut connection).unwrap();
            assert_eq!(names, first + 2, "{wal}, database {database}");
        }
    }
}
