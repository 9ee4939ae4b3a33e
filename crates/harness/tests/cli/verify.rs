//! `verify`: what is wrong with a store, and where; nothing is changed.

use std::fs;
use std::path::PathBuf;

use crate::bench::Bench;

/// A closed store of some tables in `db`.
fn stored() -> Bench {
    let bench = Bench::new();
    let puts =
        (0..3000).map(|number| format!("p key{number:05} value{number}\n")).collect::<Vec<_>>().concat();
    bench.run_with(&["shell", "db", "--set", "memtable.capacity=16KiB"], &puts).expect(0);
    bench
}

/// The files of the store whose names contain `part`, the largest first.
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
    assert!(answer.out.starts_with("db: no damage in "), "{}", answer.out);
    assert!(answer.out.contains(" tables with "), "{}", answer.out);
    assert!(bench.content() == before, "something was touched");
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
        let damage = answer.out.lines().find(|line| line.starts_with("damage: ")).unwrap();
        assert!(damage.contains(&format!("db/{name}, offset ")), "the place is not named: {damage}");
        assert!(bench.content() == before, "something was touched");
        fs::write(&path, &whole).unwrap();
    }
    // Without its last record the manifest tells of files that are gone.
    let manifest = files(&bench, "manifest").remove(0);
    let whole = fs::read(&manifest).unwrap();
    fs::write(&manifest, &whole[..whole.len() - 3]).unwrap();
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
    for (directory, saying) in
        [("nowhere", "there is no directory nowhere"), ("file", "there is no directory file")]
    {
        let error = bench.run(&["verify", directory]).refusal();
        assert!(error.contains(saying), "{error}");
    }
}
