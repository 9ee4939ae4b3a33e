//! The program `lsmbench`: see the library of this package.

#[global_allocator]
static ALLOCATOR: lsmbench::allocation::Counting = lsmbench::allocation::Counting;

fn main() -> std::process::ExitCode {
    lsmbench::Workbench::new().main()
}
