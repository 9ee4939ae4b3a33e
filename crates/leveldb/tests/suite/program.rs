//! Tests a C program that is compiled and linked with the shared library.

use std::path::Path;
use std::process::Command;

use crate::exports::library;

#[test]
fn a_program_in_c_gets_the_right_answers() {
    let (folder, crate_folder) = (tempfile::tempdir().unwrap(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let (program, library) = (folder.path().join("program"), library());
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(crate_folder.join("include"))
        .arg(crate_folder.join("tests/program.c"))
        .arg(&library)
        .arg("-o")
        .arg(&program)
        .output();
    let Ok(compiled) = compiled else {
        return eprintln!("NOT CHECKED: a program in C, because cc is not installed; apt-get install gcc");
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let designs = ["", "[design]\ncompaction = \"leveled\"\nbloom = \"ribbon\"\n"];
    for (number, design) in designs.into_iter().enumerate() {
        let mut command = Command::new(&program);
        command.arg(folder.path().join(format!("db{number}"))).env("TEST_TMPDIR", folder.path());
        command.env("LD_LIBRARY_PATH", library.parent().unwrap());
        if !design.is_empty() {
            let file = folder.path().join("design.toml");
            std::fs::write(&file, design).unwrap();
            command.env("LSMBENCH_DESIGN", file);
        }
        let ended = command.output().unwrap();
        let error = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && ended.stdout == b"PASS\n", "design {number}: {error}");
    }
}
