//! Tests of the databases of a server: each column family of a store is a database of its own.

use lsmbench_server::Protocol;

use crate::served::{Client, Served, ask, request, shown, wait_until};

const DESIGN: &str = "memtable.capacity = \"256KiB\"\nwal = \"group\"\n[families.cold]\ncompression = \"lz4\"\n\
                      [families.index]\nmerge_operator = \"append\"\n[families.values]\nbloom = \"ribbon\"";

/// Sends commands, one per line, and compares each reply with the text after the arrow.
#[track_caller]
fn replies(client: &mut Client, script: &str) {
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (command, expected) = line.split_once(" -> ").unwrap();
        let reply = ask(client, &command.split_whitespace().collect::<Vec<_>>());
        assert_eq!(reply, expected, "{command}");
    }
}

#[test]
fn select_chooses_a_family_by_its_number_or_name() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::of(folder.path(), DESIGN);
    let (mut client, mut other) = (served.client(), served.client());
    replies(
        &mut client,
        "SET a 0 -> OK
         SELECT 1 -> OK
         GET a -> nil
         SET a 1 -> OK
         HSET h f 1 -> 1
         SELECT values -> OK
         EXISTS a h -> 0
         HSET h f 2 g 3 -> 2
         TYPE h -> hash
         DBSIZE -> 1
         SELECT 0 -> OK
         TYPE h -> none
         GET a -> 0
         SELECT 3 -> !ERR DB index is out of range; the server has the databases 0 to 2
         SELECT -1 -> !ERR DB index is out of range; the server has the databases 0 to 2
         SELECT indx -> !ERR unknown family \"indx\". Valid: \"cold\", \"index\", \"values\"
         GET a -> 0
         CONFIG GET databases -> [databases 3]
         CONFIG GET lsmbench-families -> [lsmbench-families cold,index,values]
         SELECT index -> OK
         RANGE a b -> [a 1]
         SCAN 0 -> [0 [h a]]
         RESET -> RESET
         GET a -> 0",
    );
    // The selected database belongs to the connection.
    assert_eq!(ask(&mut other, &["GET", "a"]), "0");
    let info = ask(&mut other, &["INFO", "keyspace"]);
    for line in ["db0:keys=1,expires=0,family=cold", "db1:keys=2,expires=0,family=index"] {
        assert!(info.contains(line), "{info}");
    }
    assert!(ask(&mut other, &["INFO", "server"]).contains("families:cold,index,values"));
    replies(&mut other, "SELECT 1 -> OK\nFLUSHDB -> OK\nDBSIZE -> 0\nSELECT 2 -> OK\nDBSIZE -> 1");
    replies(&mut other, "FLUSHALL -> OK\nDBSIZE -> 0\nSELECT 0 -> OK\nDBSIZE -> 0\nTREE COMPACT -> OK");
}

/// A pipeline may change its database. A transaction belongs to one database, and survives the end of the server.
#[test]
fn pipelines_and_transactions_keep_their_database() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::of(folder.path(), DESIGN);
    let mut client = served.client();
    let pipeline =
        ["SET a 0", "SELECT 2", "SET a 2", "INCR n", "SELECT 0", "GET a", "SELECT 2", "GET a", "INCR n"];
    let requests: Vec<_> =
        pipeline.iter().map(|line| request(&line.split(' ').collect::<Vec<_>>())).collect();
    let answers: Vec<String> = client.pipeline(&requests).iter().map(shown).collect();
    assert_eq!(answers, ["OK", "OK", "OK", "1", "OK", "0", "OK", "2", "2"]);
    replies(
        &mut client,
        "MULTI -> OK
         SET b 1 -> QUEUED
         INCR n -> QUEUED
         EXEC -> [OK 3]
         MULTI -> OK
         SET b 2 -> QUEUED
         SELECT 0 -> !ERR SELECT cannot be part of a transaction; a transaction can contain only writes, and reads of given names
         EXEC -> !EXECABORT Transaction discarded because of previous errors.
         GET b -> 1
         SELECT 0 -> OK
         EXISTS b n -> 0",
    );
    drop(client);
    served.stop();
    let served = Served::of(folder.path(), DESIGN);
    replies(&mut served.client(), "GET a -> 0\nSELECT values -> OK\nMGET a b n -> [2 1 3]");
}

#[test]
fn the_text_language_selects_a_family() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new_in(folder.path(), DESIGN, |options| options.protocol = Protocol::Dsl);
    let mut socket = served.socket();
    socket.send(
        b"p a 0\nf index\nm a 1\nm a 2\np b 3\nf values\np a 4\nr a z\nf index\nr a z\nf cold\nr a z\n",
    );
    assert_eq!([socket.line(), socket.line(), socket.line()], ["a:4", "a:12 b:3", "a:0"]);
    socket.send(b"f indx\np a 7\ng a\nf cold\nm a 9\ng a\n");
    assert_eq!(
        socket.line(),
        "error: line 13: unknown family \"indx\". Valid: \"cold\", \"index\", \"values\""
    );
    // A put must not go to the family that was selected before.
    for line in [14, 15] {
        let expected = format!("error: line {line}: no family is selected; select a family with f NAME");
        assert_eq!(socket.line(), expected);
    }
    assert!(socket.line().starts_with("error: line 17: "), "only one family has a merge operator");
    assert_eq!(socket.line(), "0");
    // A store without families has no other family.
    let plain = Served::with(|options| options.protocol = Protocol::Dsl);
    let mut socket = plain.socket();
    socket.send(b"f index\n");
    assert_eq!(socket.line(), "error: line 1: the store has no column families; leave the family out");
}

/// Writes of several families at the same time share syncs of the one WAL.
#[test]
fn families_share_syncs() {
    const PUTS: usize = 60;
    // In memory, a sync takes no time, so writers have no reason to share syncs.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let served = Served::of(folder.path(), DESIGN);
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let served = &served;
            scope.spawn(move || {
                let mut client = served.client();
                assert_eq!(ask(&mut client, &["SELECT", &(writer % 3).to_string()]), "OK");
                for number in 0..PUTS {
                    assert_eq!(ask(&mut client, &["SET", &format!("{writer}-{number}"), "v"]), "OK");
                }
            });
        }
    });
    let mut client = served.client();
    let count = |client: &mut Client, name: &str| {
        let info = ask(client, &["INFO", "tree"]);
        let line = info.split("\\r\\n").find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {name} in {info}")).parse::<usize>().unwrap()
    };
    assert_eq!(count(&mut client, "puts"), 6 * PUTS);
    let syncs = count(&mut client, "wal_syncs");
    assert!(syncs > 0 && syncs < 6 * PUTS, "{syncs} syncs");
    for database in ["0", "1", "2"] {
        assert_eq!(ask(&mut client, &["SELECT", database]), "OK");
        wait_until("all names", || ask(&mut client, &["DBSIZE"]) == (2 * PUTS).to_string());
    }
}
