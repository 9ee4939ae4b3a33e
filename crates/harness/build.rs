//! Build script that passes the commit, the compiler and the compiler flags to the program. The program writes these
//! values to its results.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let output = |program: &str, arguments: &[&str]| {
        let output =
            Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let set =
        |name: &str, value: Option<String>| println!("cargo::rustc-env={name}={}", value.unwrap_or_default());
    set("LSMBENCH_GIT_COMMIT", output("git", &["rev-parse", "HEAD"]));
    // Without this option, git can rewrite the index in a fresh clone. The next build would then compile the program
    // again, because it depends on the index.
    let status = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"];
    set("LSMBENCH_GIT_DIRTY", output("git", &status).map(|text| (!text.is_empty()).to_string()));
    set("LSMBENCH_RUSTC", output(&env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()), &["--version"]));
    set("LSMBENCH_FLAGS", env::var("CARGO_ENCODED_RUSTFLAGS").ok().map(|flags| flags.replace('\u{1f}', " ")));
    set("LSMBENCH_TARGET", env::var("TARGET").ok());
    set("LSMBENCH_PROFILE", profile());
    if let Some(folder) = output("git", &["rev-parse", "--absolute-git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/HEAD");
        println!("cargo::rerun-if-changed={folder}/index");
    }
}

/// Returns the name of the build profile. The variable `PROFILE` contains only the built-in profile from which a custom
/// profile inherits. The function therefore reads the name from the path of the output folder:
/// `target/PROFILE/build/CRATE/out`.
fn profile() -> Option<String> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    Some(folder.ancestors().nth(3)?.file_name()?.to_string_lossy().into_owned())
}
