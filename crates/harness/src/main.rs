//! The program `lsmbench`: see the library of this package.

fn main() -> std::process::ExitCode {
    lsmbench::main()
}
