//! The program `lsmbench`: the library of this package, extended with the variants from published documents (crate
//! `study`).

#[global_allocator]
static ALLOCATOR: lsmbench::allocation::Counting = lsmbench::allocation::Counting;

fn main() -> std::process::ExitCode {
    lsmbench::Workbench::new()
        .allocation(&study::INVERSE)
        .cache(&study::STRING_LRU)
        .compression(&study::BY_LOAD)
        .fence(&study::MIN_MAX)
        .fence(&study::BY_ACCESS)
        .memtable(&study::GROWING_SHARDS)
        .format(&study::BARE_DELTA)
        .format(&study::PLAIN)
        .memtable(&study::VECTOR_BTREEMAP)
        .format(&study::FIXED_PAIRS)
        .format(&study::SENTINEL_PAIRS)
        .main()
}
