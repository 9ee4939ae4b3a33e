//! Tests of `lsmbench verify`, which reports the corruption of a store with its position and changes nothing.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::bench::Bench;

/// Creates a closed store with one SSTable in `db`.
fn stored() -> Bench {
    stored_in_tables_of("2MiB")
}

/// Creates a closed store in `db` with SSTables of this size.
fn stored_in_tables_of(bytes: &str) -> Bench {
    let bench = Bench::new();
    let puts =
        (0..3000).map(|number| format!("p key{number:05} value{number}\n")).collect::<Vec<_>>().concat();
    bench
        .run_with(
            &["shell", "db", "--set", "memtable.capacity=16KiB", "--set", &format!("table.capacity={bytes}")],
            &puts,
        )
        .expect(0);
    bench
}

/// Returns the files of the store whose names contain `part`, with the largest file first.
fn files(bench: &Bench, part: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(bench.path("db")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().unwrap().to_string_lossy().contains(part));
    files.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).unwrap().len()));
    files
}

#[test]
fn an_intact_store_has_no_damage() {
    let bench = stored();
    let before = bench.content();
    let answer = bench.run(&["verify", "db"]).expect(0);
    assert!(answer.out.starts_with("db: no corruption in "), "{}", answer.out);
    assert!(answer.out.contains(" SSTables ("), "{}", answer.out);
    assert!(bench.content() == before, "something was touched");
}

#[test]
fn blocks_without_a_checksum_are_counted() {
    let bench = Bench::new();
    let puts: Vec<String> = (0..3000).map(|number| format!("p key{number:05} value{number}\n")).collect();
    let puts = puts.concat();
    let shell = ["shell", "db", "--set", "memtable.capacity=16KiB", "--set", "block.checksum=none"];
    bench.run_with(&shell, &puts).expect(0);
    let answer = bench.run(&["verify", "db"]).expect(0).out;
    let line = answer.lines().last().unwrap();
    let (unchecked, rest) = line.split_once(" of ").unwrap();
    let (blocks, rest) = rest.split_once(' ').unwrap();
    assert!(unchecked == blocks && unchecked != "0", "{answer}");
    assert_eq!(
        rest,
        "blocks have no checksum (block.checksum = \"none\"), so their contents were not checked"
    );
}

/// Tests that a store without a manifest opens from the names of its files, and only with the design that created it.
#[test]
fn a_store_without_a_manifest_is_checked_by_the_names_of_its_files() {
    let bench = Bench::new();
    let puts =
        (0..3000).map(|number| format!("p key{number:05} value{number}\n")).collect::<Vec<_>>().concat();
    let scanned = ["--set", "table.manifest=none", "--set", "compaction=merge-all"];
    let shell = [&["shell", "db", "--set", "memtable.capacity=16KiB"][..], &scanned].concat();
    bench.run_with(&shell, &puts).expect(0);
    assert!(files(&bench, "manifest").is_empty() && !files(&bench, ".table").is_empty());
    assert_eq!(bench.run_with(&shell, "g key00000\ng key02999\n").expect(0).out, "value0\nvalue2999\n");
    let answer = bench.run(&["verify", "db"]).expect(0);
    assert!(answer.out.starts_with("db: no corruption in "), "{}", answer.out);
    let error = bench.run_with(&["shell", "db"], "g key00000\n").refusal();
    let expected = "db is a store without a manifest, but the design has one; set table.manifest = \"none\"";
    assert!(error.contains(expected), "{error}");
    let table = files(&bench, ".table").remove(0);
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::write(&table, &bytes).unwrap();
    let answer = bench.run(&["verify", "db"]).expect(1);
    assert!(answer.out.contains(&*table.file_name().unwrap().to_string_lossy()), "{}", answer.out);
}

#[test]
fn a_flipped_byte_is_found_wherever_it_is() {
    let bench = stored();
    for (part, share) in [("table", 0.1), ("table", 0.5), ("table", 0.95), ("manifest", 0.0)] {
        let path = files(&bench, part).into_iter().next().unwrap_or_else(|| panic!("no {part}"));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[(whole.len() as f64 * share) as usize] ^= 0x40;
        fs::write(&path, &damaged).unwrap();
        let before = bench.content();
        let answer = bench.run(&["verify", "db"]).expect(1);
        let damage = answer.out.lines().find(|line| line.starts_with("corruption: ")).unwrap();
        assert!(damage.contains(&format!("db/{name}, offset ")), "the place is not named: {damage}");
        assert!(bench.content() == before, "something was touched");
        fs::write(&path, &whole).unwrap();
    }
    // Without its second half the manifest names files that do not exist. Without only the last record, it may lack
    // nothing but the mark that the store was closed.
    let manifest = files(&bench, "manifest").remove(0);
    let whole = fs::read(&manifest).unwrap();
    fs::write(&manifest, &whole[..whole.len() / 2]).unwrap();
    bench.run(&["verify", "db"]).expect(1);
    fs::write(&manifest, &whole).unwrap();
    let table = files(&bench, "table").remove(0);
    fs::remove_file(&table).unwrap();
    let answer = bench.run(&["verify", "db"]).expect(1);
    assert!(answer.out.contains(&*table.file_name().unwrap().to_string_lossy()), "{}", answer.out);
}

#[test]
fn what_is_no_store_is_refused() {
    let bench = Bench::new();
    bench.write("file", "text");
    bench.write("home/letter.txt", "dear");
    fs::create_dir(bench.path("empty")).unwrap();
    let before = bench.content();
    for (directory, saying) in [
        ("nowhere", "no such directory: nowhere"),
        ("file", "no such directory: file"),
        ("empty", "empty is not a store: it has no manifest, no SSTable and no WAL"),
        ("home", "home is not a store: it has no manifest, no SSTable and no WAL"),
    ] {
        let error = bench.run(&["verify", directory]).refusal();
        assert!(error.contains(saying), "{error}");
    }
    assert!(bench.content() == before, "something was touched");
}

#[test]
fn nothing_is_created_where_nothing_may_be_written() {
    let bench = stored();
    fs::remove_file(bench.path("db/lock")).unwrap();
    for name in files(&bench, "") {
        fs::set_permissions(&name, Permissions::from_mode(0o400)).unwrap();
    }
    fs::set_permissions(bench.path("db"), Permissions::from_mode(0o500)).unwrap();
    let answer = bench.run(&["verify", "db"]).expect(0);
    fs::set_permissions(bench.path("db"), Permissions::from_mode(0o700)).unwrap();
    assert!(answer.out.starts_with("db: no corruption in "), "{}", answer.out);
    // The superuser may write anywhere, so only this check shows that nothing was written.
    assert!(!bench.path("db/lock").exists());
}

#[test]
fn a_store_that_is_in_use_is_refused() {
    let bench = stored();
    let lock = File::open(bench.path("db/lock")).unwrap();
    lock.try_lock().unwrap();
    let error = bench.run(&["verify", "db"]).refusal();
    assert!(error.contains("db is in use by "), "{error}");
    drop(lock);
    bench.run(&["verify", "db"]).expect(0);
}

#[test]
fn every_piece_of_damage_is_told_in_one_pass() {
    let bench = stored_in_tables_of("16KiB");
    let tables = files(&bench, "table");
    let log = files(&bench, "wal").remove(0);
    let mut names = Vec::new();
    for path in tables[..2].iter().chain([&log]) {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    fs::remove_file(&tables[2]).unwrap();
    names.push(tables[2].file_name().unwrap().to_string_lossy().into_owned());
    let answer = bench.run(&["verify", "db"]).expect(1);
    let damage: Vec<&str> = answer.out.lines().filter(|line| line.starts_with("corruption: ")).collect();
    for name in names {
        assert!(damage.iter().any(|line| line.contains(&name)), "{name} is not named: {}", answer.out);
    }
    assert!(answer.out.contains("corrupt parts in "), "{}", answer.out);
}

#[test]
fn a_closed_store_misses_every_byte_of_its_log() {
    let bench = stored();
    let log = files(&bench, "wal").remove(0);
    let whole = fs::read(&log).unwrap();
    for len in [0, 19, 20, whole.len() / 2, whole.len() - 1] {
        fs::write(&log, &whole[..len]).unwrap();
        let answer = bench.run(&["verify", "db"]).expect(1);
        assert!(answer.out.contains(&*log.file_name().unwrap().to_string_lossy()), "{}", answer.out);
    }
}
