//! The report in git follows from the results in git, and what was changed is found.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::Bench;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_report_in_git_follows_from_the_results_in_git() {
    let bench = Bench::new();
    let (experiments, published) = (in_repository("experiments"), in_repository("results/published"));
    let arguments = |results: &Path| {
        let [experiments, results] = [&experiments, results].map(|path| path.display().to_string());
        ["report".to_owned(), experiments, "--check".to_owned(), "--results".to_owned(), results]
    };
    let check = |results: &Path| {
        let arguments = arguments(results);
        bench.run(&arguments.each_ref().map(String::as_str))
    };
    let right = check(&published);
    assert_eq!(right.code, Some(0), "{}{}\n`just report` makes it anew", right.out, right.err);

    let copied = bench.path("published");
    copy(&published, &copied);
    let rows = copied.join("component-e12-bloom-bits/runs.csv");
    let text = fs::read_to_string(&rows).unwrap();
    fs::write(&rows, text.replacen("standard", "blocked", 1)).unwrap();
    let wrong = check(&copied);
    assert_eq!(wrong.code, Some(1), "rows that were changed: {}{}", wrong.out, wrong.err);

    fs::write(&rows, text).unwrap();
    let page = copied.join("report/claims.csv");
    fs::write(&page, fs::read_to_string(&page).unwrap().replacen("impossible", "reproduced", 1)).unwrap();
    let wrong = check(&copied);
    assert_eq!(wrong.code, Some(1), "{}{}", wrong.out, wrong.err);
    assert!(
        (wrong.out.clone() + &wrong.err).contains("claims.csv does not follow"),
        "{}{}",
        wrong.out,
        wrong.err
    );
}
