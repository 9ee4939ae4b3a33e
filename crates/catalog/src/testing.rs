//! Compiles C components for the tests of an axis.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `source` into a shared library in `folder`. The source can include files from `examples/include` and from
/// the folder `examples/EXAMPLE`, where EXAMPLE is the argument `example`. If the machine has no C compiler, prints to
/// standard error that tests are skipped, and returns `None`.
///
/// # Panics
/// The source does not compile, or `folder` is not writable.
#[expect(clippy::print_stderr, reason = "skipped tests are reported")]
pub fn compile_c(folder: &Path, example: &str, source: &str) -> Option<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (file, library) = (folder.join("source.c"), folder.join("library.so"));
    fs::write(&file, source).expect("the folder of the test must be writable");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"]).arg(examples.join("include"));
    cc.arg("-I").arg(examples.join(example)).arg(&file).arg("-o").arg(&library).arg("-lm");
    match cc.output() {
        Ok(output) => {
            assert!(output.status.success(), "cc: {}", String::from_utf8_lossy(&output.stderr));
            Some(library)
        }
        Err(error) => {
            eprintln!(
                "SKIPPED: cannot run the C compiler cc ({error}), so the tests of {example} did not run"
            );
            None
        }
    }
}
