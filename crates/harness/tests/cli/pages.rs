//! Tests of the examples in the documentation: the program accepts every experiment, and the pandas recipe works.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use results::SeamCost;
use toml::Table;

use crate::bench::Bench;
use crate::commands::missing;
use crate::markdown::{self, Block, Step, in_repository};

/// Tests that the program accepts every complete experiment of the documentation. A code block is a complete experiment
/// if it begins with a question. The test removes the engines from a sweep, because few machines have all engines.
#[test]
fn whole_experiments_of_pages_are_valid() {
    let bench = Bench::new();
    bench.write("accesses.bin", (0..1000_u64).flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
    bench.write("requests.csv", "1,a,1,30,1,get,0\n2,b,1,50,1,set,0\n");
    bench.write("operations.txt", "p key value\ng key\nr a z\nd key\n");
    for file in ["workloads/db_bench-readrandom.toml", "designs/leveldb-like.toml"] {
        bench.write(file, fs::read(in_repository("configs").join(file)).unwrap());
    }
    let mut found = 0;
    for page in markdown::pages() {
        for Block { line, language, code, .. } in markdown::blocks(&markdown::read(&page)) {
            if language != "toml" {
                continue;
            }
            let place = format!("{page}:{line}");
            let mut table: Table = code.parse().unwrap_or_else(|error| panic!("{place}: {error}"));
            if !code.starts_with("question") {
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

/// Tests that the pandas recipe computes the same verdict as lsmbench for the experiment of the tutorial, that its output
/// is as on the page, and that the other code of the page runs. Without Python, pandas and matplotlib, the test checks
/// nothing.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn the_pandas_recipe_recomputes_a_verdict() {
    let has_pandas = Command::new("python3").args(["-c", "import pandas, matplotlib"]).output();
    if !has_pandas.is_ok_and(|python| python.status.success()) {
        eprintln!("skipped: python3 with pandas and matplotlib is not here; pip install pandas matplotlib");
        return;
    }
    let bench = Bench::new();
    let (tutorial, page) = ("docs/tutorial.md", "docs/how-to/pandas.md");
    let mut files = BTreeMap::new();
    markdown::steps(tutorial, &markdown::read(tutorial))
        .iter()
        .for_each(|step| step.save(tutorial, &mut files));
    bench.write("filters.toml", &files["filters.toml"]);
    let sizes = ["--set", "phase.load.insert=3000", "--set", "phase.absent.operations=3000"];
    bench.ok(&[&["run", "filters.toml", "--allow-debug"][..], &sizes].concat());
    let python = |arguments: &[&str]| {
        let output = Command::new("python3").args(arguments).current_dir(bench.path(".")).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let script = in_repository("docs/how-to/recompute.py");
    let recompute = |arguments: &[&str]| python(&[&[script.to_str().unwrap()], arguments].concat());
    let text = markdown::read(page);
    let steps = markdown::steps(page, &text);
    let commands = steps.iter().filter_map(|step| match step {
        Step::Run(command) => {
            Some((command.text.strip_prefix("python3 docs/how-to/recompute.py ")?, command))
        }
        _ => None,
    });
    let [(arguments, command)] = commands.collect::<Vec<_>>()[..] else { panic!("{page} has one command") };
    let (code, output, error) = recompute(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(code, Some(0), "{output}{error}");
    assert_eq!(missing(command.output.as_ref().unwrap(), &output), None, "{output}");
    assert!(bench.path("throughput.pdf").is_file());
    let blocks = markdown::blocks(&text).into_iter().filter(|block| block.language == "python");
    let (code, output, error) = python(&["-c", &blocks.map(|block| block.code).collect::<String>()]);
    assert!(code == Some(0) && output.contains("blocked"), "{output}{error}");
    assert_eq!(recompute(&["nowhere"]).0, Some(2));
}

/// Tests that a JSON example contains only fields of the manifest.
#[test]
fn json_of_pages_is_a_part_of_a_manifest() {
    let page = "docs/how-to/other-languages.md";
    let blocks = markdown::blocks(&markdown::read(page)).into_iter().filter(|block| block.language == "json");
    let [block] = &blocks.collect::<Vec<_>>()[..] else { panic!("{page} has one JSON block") };
    let part: BTreeMap<String, Vec<SeamCost>> = serde_json::from_str(&format!("{{{}}}", block.code)).unwrap();
    assert_eq!(part.keys().collect::<Vec<_>>(), ["seams"]);
    assert_eq!(part["seams"][0].kind, "library");
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
