//! Tests of the names that the shared library exports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};

/// The only exported function that LevelDB does not have.
const OWN: &str = "leveldb_settle";

/// The number of functions in LevelDB's header.
const FUNCTIONS: usize = 68;

/// Returns the path of the shared library, which cargo builds next to the tests.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let library = folder.join("liblsmbench_leveldb.so");
    assert!(library.exists(), "{} is missing", library.display());
    library
}

/// Returns the names of the functions that a C header declares.
fn declared(header: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(header).unwrap();
    let name = |before: &str| {
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        before[start..].starts_with("leveldb_").then(|| before[start..].to_owned())
    };
    text.match_indices('(').filter_map(|(at, _)| name(&text[..at])).collect()
}

#[test]
fn the_library_exports_all_functions_of_the_header_and_no_others() {
    let bytes = std::fs::read(library()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let defined = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    let exported: BTreeSet<String> = defined.map(|symbol| symbol.name().unwrap().to_owned()).collect();
    let own = declared(&Path::new(env!("CARGO_MANIFEST_DIR")).join("include/leveldb/c.h"));
    assert_eq!(exported, own);
    assert!(own.contains(OWN));
    assert_eq!(own.len(), FUNCTIONS + 1);
    let system = Path::new("/usr/include/leveldb/c.h");
    if !system.exists() {
        return eprintln!("NOT CHECKED: LevelDB's own header; apt-get install libleveldb-dev");
    }
    let mut theirs = declared(system);
    theirs.insert(OWN.to_owned());
    assert_eq!(own, theirs);
}
