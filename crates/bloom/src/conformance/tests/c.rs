//! Checks the filter of `examples/filter-c` against all invariants, and checks that invalid libraries are rejected.

use std::path::{Path, PathBuf};

use catalog::testing::compile_c;
use tempfile::TempDir;

use super::{CATALOG, INVARIANTS, Keys, Subject, Value, check_invariants, policy};

/// Compiles a shared library from this C source. Returns `None` if no C compiler is installed.
fn compiled(folder: &TempDir, source: &str) -> Option<PathBuf> {
    compile_c(folder.path(), "filter-c", source)
}

fn label(library: &Path) -> String {
    format!("library(library={:?})", library.to_str().unwrap())
}

/// Returns the error message for a library that must be rejected.
fn refused(library: &Path) -> String {
    CATALOG.choose(&Value::String(label(library))).unwrap_err().to_string()
}

#[test]
fn the_filter_in_c_keeps_every_invariant() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compiled(&folder, "#include \"blocked.c\"\n") else { return };
    let label = label(&library);
    let subject = Subject { policy: policy(&label), spends_bits: true, oracle: false };
    check_invariants(&label, &subject, INVARIANTS).unwrap();
}

#[test]
fn no_library_opens_the_filter_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compiled(&folder, "#include \"blocked.c\"\n") else { return };
    let keys = Keys::of(&[types::KeyHash(1), types::KeyHash(2)]);
    let stored = types::Bytes::copy_from(&policy(&label(&library)).build(&keys.input(None)));
    let error = policy("library").open(stored).err().unwrap().to_string();
    assert!(error.contains("the library \"blocked-c\" wrote this filter"), "{error}");
    assert!(error.contains("the design has the library \"standard\""), "{error}");
}

#[test]
fn what_is_no_filter_library_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let missing = refused(&folder.path().join("no-such.so"));
    assert!(
        missing.contains("no such file in ") && missing.contains("build the library, or correct"),
        "{missing}"
    );
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    assert!(refused(&text).contains("cannot be loaded"), "{}", refused(&text));
    let sources = [
        ("int nothing;\n", "does not export the function lsmbench_filter"),
        ("const void *lsmbench_filter(void) { return 0; }\n", "lsmbench_filter returned NULL"),
        (
            "static const struct { unsigned abi; long rest[20]; } api = { 77, { 0 } };\n\
             const void *lsmbench_filter(void) { return &api; }\n",
            "has version 77 of the ABI of lsmbench_filter.h, this program has version 1",
        ),
        (
            "#include \"lsmbench_filter.h\"\n\
             static const lsmbench_filter_api api = { .abi = 1, .name = \"empty\" };\n\
             const lsmbench_filter_api *lsmbench_filter(void) { return &api; }\n",
            "sets max_bytes to NULL",
        ),
        (
            "#include \"lsmbench_filter.h\"\n\
             static const lsmbench_filter_api api = { .abi = 1, .name = \"two words\" };\n\
             const lsmbench_filter_api *lsmbench_filter(void) { return &api; }\n",
            "a name must have 1 to 32 printable ASCII characters",
        ),
    ];
    for (source, expected) in sources {
        // Each library has its own folder, because a loaded library stays loaded under its path.
        let folder = tempfile::tempdir().unwrap();
        let Some(library) = compiled(&folder, source) else { return };
        let error = refused(&library);
        assert!(error.starts_with("bloom: library: ") && error.contains(expected), "{error}");
    }
}
