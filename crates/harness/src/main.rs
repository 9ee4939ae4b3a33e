//! The program `lsmbench`: the library of this package, together with the variants of the source documents.

#[global_allocator]
static ALLOCATOR: lsmbench::allocation::Counting = lsmbench::allocation::Counting;

fn main() -> std::process::ExitCode {
    lsmbench::Workbench::new()
        .allocation(&study::INVERSE)
        .cache(&study::STRING_LRU)
        .format(&study::BARE_DELTA)
        .format(&study::PLAIN)
        .memtable(&study::VECTOR_BTREEMAP)
        .format(&study::FIXED_PAIRS)
        .main()
}
