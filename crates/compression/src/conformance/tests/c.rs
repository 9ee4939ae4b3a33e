//! Tests the codec in `examples/codec-c` against the invariants, and tests that invalid libraries are rejected.

use std::path::{Path, PathBuf};

use catalog::testing::compile_c;
use tempfile::TempDir;

use super::{Value, corpora, decompress, invariants as laws};
use crate::{CATALOG, Compression};

/// Compiles a shared library from C source text. The text may include a header file. Returns `None` if no C compiler is
/// installed.
fn compiled(folder: &TempDir, source: &str) -> Option<PathBuf> {
    compile_c(folder.path(), "codec-c", source)
}

fn label(library: &Path) -> Value {
    Value::String(format!("library(library={:?})", library.to_str().unwrap()))
}

fn codec(library: &Path) -> Box<dyn Compression> {
    CATALOG.build(&CATALOG.choose(&label(library)).unwrap()).unwrap()
}

#[test]
fn the_codec_in_c_keeps_its_laws() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compiled(&folder, "#include \"rle.c\"\n") else { return };
    let codec = codec(&library);
    for (name, block) in corpora::all() {
        laws::check(&*codec, &decompress, &block).unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    for (name, block) in corpora::small() {
        laws::check_corruption(&*codec, &decompress, &block)
            .unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    let (block, mut stored) = ([[7; 300], [8; 300]].concat(), Vec::new());
    assert_ne!(codec.compress(0, &block, &mut stored), crate::RAW);
    assert!(stored.len() < 30 && stored.starts_with(b"\x08packbits"), "{stored:?}");
}

/// Rule: if the library fails or reports a wrong length, the block is stored raw. If the library cannot decompress a
/// block, the call returns an error.
#[test]
fn a_library_that_cannot_compress_stores_blocks_as_they_are() {
    let functions =
        [("(size_t)-1", "0", "16"), ("length + 100", "3", "16"), ("length + 100", "0", "length * 10")];
    for (max_output, code, written) in functions {
        let folder = tempfile::tempdir().unwrap();
        let source = format!(
            "#include \"lsmbench_codec.h\"\n\
             static size_t most(size_t length) {{ (void)length; return {max_output}; }}\n\
             static int32_t in(const uint8_t *b, size_t length, uint8_t *o, size_t c, size_t *w) {{\n\
                 (void)b; (void)o; (void)c; *w = {written}; (void)length; return {code};\n\
             }}\n\
             static int32_t out(const uint8_t *s, size_t l, uint8_t *o, size_t n) {{\n\
                 (void)s; (void)l; (void)o; (void)n; return 9;\n\
             }}\n\
             static size_t bytes(void) {{ return 123; }}\n\
             const lsmbench_codec_api *lsmbench_codec(void) {{\n\
                 static const lsmbench_codec_api api = {{ 1, \"liar\", most, in, out, bytes }};\n\
                 return &api;\n\
             }}\n"
        );
        let Some(library) = compiled(&folder, &source) else { return };
        let codec = codec(&library);
        laws::check(&*codec, &decompress, &[5; 1000]).unwrap();
        assert_eq!(codec.foreign_bytes(0), 123);
        let error = codec.decompress(b"\x04liar...", &mut [0; 9]).unwrap_err().to_string();
        assert!(error.contains("library liar: the function `decompress` returned 9"), "{error}");
    }
}

#[test]
fn what_is_no_codec_library_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |library: &Path| CATALOG.choose(&label(library)).unwrap_err().to_string();
    let error = refused(&folder.path().join("no-such.so"));
    assert!(error.starts_with("compression: library: ") && error.contains("no such file"), "{error}");
    let Some(library) = compiled(&folder, "int nothing;\n") else { return };
    let error = refused(&library);
    assert!(
        error.contains("does not export the function lsmbench_codec; include lsmbench_codec.h"),
        "{error}"
    );
}
