//! Tests of the examples in the documentation: the program accepts every experiment, and the pandas recipe works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::Table;

use crate::bench::Bench;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Collects the paths of the Markdown pages in a folder and its subfolders.
fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, pages),
            false if path.extension().is_some_and(|ending| ending == "md") => pages.push(path),
            false => {}
        }
    }
}

/// Returns the code blocks of a page in one language, each with the number of its first line.
fn blocks(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match &mut open {
            Some(block) if line == "```" => {
                blocks.push(std::mem::take(block));
                open = None;
            }
            Some((_, block)) => block.extend([line, "\n"]),
            None if line.strip_prefix("```") == Some(language) => open = Some((number + 1, String::new())),
            // A block of another language ends like one of this language, and is not kept.
            None => {}
        }
    }
    blocks
}

/// Tests that the program accepts every complete experiment of the documentation. A code block is a complete experiment
/// if it begins with a question. The test removes the engines from a sweep, because few machines have all engines.
#[test]
fn whole_experiments_of_pages_are_valid() {
    let mut pages = vec![in_repository("README.md")];
    collect(&in_repository("docs"), &mut pages);
    let bench = Bench::new();
    bench.write("accesses.bin", (0..1000_u64).flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
    bench.write("requests.csv", "1,a,1,30,1,get,0\n2,b,1,50,1,set,0\n");
    bench.write("operations.txt", "p key value\ng key\nr a z\nd key\n");
    for file in ["workloads/db_bench-readrandom.toml", "designs/leveldb-like.toml"] {
        bench.write(file, fs::read(in_repository("configs").join(file)).unwrap());
    }
    let mut found = 0;
    for page in pages {
        for (line, block) in blocks(&fs::read_to_string(&page).unwrap(), "toml") {
            let place = format!("{}:{line}", page.display());
            let mut table: Table = block.parse().unwrap_or_else(|error| panic!("{place}: {error}"));
            if !block.starts_with("question") {
                continue;
            }
            if table.get("sweep").is_some_and(|sweep| sweep.get("engine").is_some()) {
                table.remove("sweep");
                if let Some(verdict) = table.get_mut("verdict").and_then(toml::Value::as_table_mut) {
                    verdict.remove("baseline");
                }
            }
            if table.get("engine").is_some_and(toml::Value::is_array) {
                table.remove("engine");
            }
            bench.write("page.toml", table.to_string());
            let answer = bench.run(&["describe", "page.toml"]);
            assert_eq!(answer.code, Some(0), "{place}: {}", answer.err);
            found += 1;
        }
    }
    assert!(found >= 5, "{found} experiments are in the pages");
}

/// Tests that the pandas recipe computes the same verdict as lsmbench. Without Python, pandas and matplotlib, the test
/// checks nothing.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn the_pandas_recipe_recomputes_a_verdict() {
    let has_pandas = Command::new("python3").args(["-c", "import pandas, matplotlib"]).output();
    if !has_pandas.is_ok_and(|python| python.status.success()) {
        eprintln!("skipped: python3 with pandas and matplotlib is not here; pip install pandas matplotlib");
        return;
    }
    let bench = Bench::small();
    let timed = ["--set", "trials.mode=timed", "--set", "trials.count=6", "--allow-debug"];
    let metric = ["--set", "verdict.metric=ops_per_second", "--set", "verdict.phase=look"];
    bench.ok(&[&["run", "small.toml"][..], &timed, &metric].concat());
    let recompute = |arguments: &[&str]| {
        let script = in_repository("docs/how-to/recompute.py");
        let mut python = Command::new("python3");
        python.arg(script).args(arguments).current_dir(bench.path("."));
        python.output().unwrap()
    };
    let output = recompute(&["results/small", "--chart", "figure.svg"]);
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{error}");
    assert_eq!(text.matches("agrees").count(), 3, "{text}");
    assert!(bench.read("figure.svg").contains("</svg>"));
    assert_eq!(recompute(&["nowhere"]).status.code(), Some(2));
}

/// Tests the script that compares tuners. Only nightly runs compare `lsmbench tune` with all installed tuners. Other
/// runs compare only random designs.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn the_script_compares_tuners() {
    let is_nightly = catalog::laws::is_nightly();
    let bench = Bench::new();
    let tuners: &[&str] = if is_nightly { &[] } else { &["--tuners", "random"] };
    let sizes = if is_nightly { ["--runs", "8", "--seeds", "2"] } else { ["--runs", "2", "--seeds", "1"] };
    let mut python = Command::new("python3");
    python.arg(in_repository("docs/how-to/compare_tuners.py"));
    python
        .args(["--lsmbench", env!("CARGO_BIN_EXE_lsmbench"), "--workloads", "queue"])
        .args(tuners)
        .args(sizes);
    let Ok(output) = python.current_dir(bench.path(".")).output() else {
        return eprintln!("NOT CHECKED: the script that compares tuners, because python3 is not installed");
    };
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{error}");
    eprint!("{text}{error}");
    let objective = |tuner: &str| {
        let row = text.lines().find(|line| line.starts_with(&format!("| queue | {tuner} | ")));
        row?.split(" | ").nth(2)?.parse::<f64>().ok()
    };
    let random = objective("random").expect("random designs have an objective");
    assert!(!is_nightly || objective("lsmbench").is_some_and(|advised| advised <= random), "{text}");
}

#[test]
fn blocks_are_those_of_their_language() {
    let text = "```toml\na = 1\nb = 2\n```\n```sh\nls\n```\n```toml\nc = 3\n```\n";
    let expected = [(2, "a = 1\nb = 2\n".to_owned()), (9, "c = 3\n".to_owned())];
    assert_eq!(blocks(text, "toml"), expected);
}
