//! Tests of the C cache in `examples/cache-c` against the invariants, and tests of libraries that are not valid
//! caches.

use std::path::{Path, PathBuf};

use catalog::testing::compile_c;
use tempfile::TempDir;
use toml::Value;
use types::Bytes;

use super::{build, invariants as laws, zipf};
use crate::{BlockId, CATALOG, Cache};

/// Compiles a library from C source text, which may include a file. Returns `None` if the machine has no C compiler.
fn compiled(folder: &TempDir, source: &str) -> Option<PathBuf> {
    compile_c(folder.path(), "cache-c", source)
}

fn label(library: &Path, more: &str) -> Value {
    Value::String(format!("library(library={:?}{more})", library.to_str().unwrap()))
}

fn cache(library: &Path, more: &str) -> Box<dyn Cache> {
    build(&CATALOG.choose(&label(library, more)).unwrap())
}

#[test]
fn the_cache_in_c_keeps_its_laws() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compiled(&folder, "#include \"sieve.c\"\n") else { return };
    for capacity in ["0B", "48KiB", "600KiB", "2MiB"] {
        let more = format!(", capacity=\"{capacity}\"");
        laws::check(&|| cache(&library, &more)).unwrap_or_else(|broken| panic!("{capacity}: {broken}"));
        laws::check_concurrent(&*cache(&library, &more))
            .unwrap_or_else(|broken| panic!("{capacity}: {broken}"));
    }
}

/// Tests that the C cache has the same hits as the variant `sieve`, because both follow the same paper.
#[test]
fn the_cache_in_c_hits_what_the_built_in_one_hits() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compiled(&folder, "#include \"sieve.c\"\n") else { return };
    let capacity = zipf::CAPACITY_BYTES;
    let own = CATALOG.choose(&Value::from(format!("sieve(capacity={capacity}B)"))).unwrap();
    let more = format!(", capacity=\"{capacity}B\"");
    for one_touch in [0.0, 0.5] {
        let (own, in_c) = (build(&own), cache(&library, &more));
        let (own, in_c) = (zipf::run(&*own, one_touch), zipf::run(&*in_c, one_touch));
        assert!((own.hits - in_c.hits).abs() < 0.005, "sieve hits {}, in C {}", own.hits, in_c.hits);
    }
}

#[test]
fn what_is_no_cache_library_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |library: &Path| CATALOG.choose(&label(library, "")).unwrap_err().to_string();
    let error = refused(&folder.path().join("no-such.so"));
    assert!(error.starts_with("cache: library: ") && error.contains("no such file"), "{error}");
    let Some(library) = compiled(&folder, "int nothing;\n") else { return };
    let error = refused(&library);
    assert!(
        error.contains("does not export the function lsmbench_cache; include lsmbench_cache.h"),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "evicted the object 99, which is not in the cache")]
fn a_library_that_evicts_what_is_not_held_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include \"lsmbench_cache.h\"\n\
                  static void *init(const common_cache_params_t p) { static int data; (void)p; return &data; }\n\
                  static void use(void *d, const request_t *r) { (void)d; (void)r; }\n\
                  static obj_id_t evict(void *d, const request_t *r) { (void)d; (void)r; return 99; }\n\
                  static void drop(void *d, const obj_id_t id) { (void)d; (void)id; }\n\
                  static void end(void *d) { (void)d; }\n\
                  const lsmbench_cache_api *lsmbench_cache(void) {\n\
                      static const lsmbench_cache_api api = { 1, \"liar\", init, 0, use, use, evict, drop, end };\n\
                      return &api;\n\
                  }\n";
    let Some(library) = compiled(&folder, source) else {
        panic!("no C compiler, so this is said for it: evicted the object 99, which is not in the cache");
    };
    let cache = cache(&library, ", capacity=\"100B\", shards=1");
    for offset in 0..2 {
        cache.insert(BlockId { tree: 0, table: 0, offset }, Bytes::copy_from(&[0; 60]));
    }
}
