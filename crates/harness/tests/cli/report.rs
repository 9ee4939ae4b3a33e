//! Tests that the report in git matches the results in git, and that a change in either is detected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::Bench;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Copies a folder with its contents.
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
        (wrong.out.clone() + &wrong.err).contains("claims.csv differs from"),
        "{}{}",
        wrong.out,
        wrong.err
    );
}

/// Returns the cells of a row of a Markdown table, or `None` for another line.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect())
}

/// The verdicts of the report in git.
struct Verdicts {
    /// The claimed value, the measured value, the prediction of theory and the verdict, by the name of the claim.
    claims: BTreeMap<String, [String; 4]>,
    /// The number of claims, by the name of the system and the verdict.
    counts: BTreeMap<(String, String), u64>,
}

impl Verdicts {
    fn read() -> Self {
        let report = in_repository("results/published/report");
        let mut counts = BTreeMap::new();
        for row in csv::Reader::from_path(report.join("claims.csv")).unwrap().deserialize() {
            let row: BTreeMap<String, String> = row.unwrap();
            for system in [row["document"].clone(), "all".to_owned()] {
                *counts.entry((system, row["verdict"].clone())).or_default() += 1;
            }
        }
        let mut claims = BTreeMap::new();
        let systems = counts.keys().map(|(system, _)| system).filter(|system| *system != "all");
        for page in systems.map(|system| report.join(system).with_extension("md")) {
            for line in fs::read_to_string(page).unwrap().lines() {
                let Some(&[id, _, claimed, measured, theory, verdict, ..]) = cells(line).as_deref() else {
                    continue;
                };
                // The prediction is followed by its derivation. "none" is followed by the reason.
                let theory = theory.split(": ").next().filter(|value| *value != "none").unwrap_or_default();
                claims.insert(id.to_owned(), [claimed, measured, theory, verdict].map(str::to_owned));
            }
        }
        Self { claims, counts }
    }

    /// Returns a row of the page with the values of the report. `header` contains the cells of the header of the table.
    fn row(&self, header: &[&str], row: &[&str]) -> Option<String> {
        let values = match header {
            ["claim", "statement", ..] => {
                let claim = &self.claims[row[0].trim_matches('`')];
                [&[row[1].to_owned()], &claim[..]].concat()
            }
            ["system", "claims", verdicts @ ..] => {
                let system = row[0].trim_start_matches('[').split(']').next()?;
                let count = |verdict: &&str| {
                    *self.counts.get(&(system.to_owned(), (*verdict).to_owned())).unwrap_or(&0)
                };
                let counts: Vec<u64> = verdicts.iter().map(count).collect();
                let own = self.counts.iter().filter(|((of, _), _)| of == system).map(|(_, count)| count);
                let all: u64 = own.sum();
                assert_eq!(
                    counts.iter().sum::<u64>(),
                    all,
                    "the page has no column for a verdict of {system}"
                );
                [all].into_iter().chain(counts).map(|count| count.to_string()).collect()
            }
            _ => return None,
        };
        Some(format!("| {} | {} |", row[0], values.join(" | ")))
    }
}

/// Tests that the page about published systems has the numbers of the report.
#[test]
fn the_page_of_published_systems_follows_from_the_report() {
    let path = in_repository("docs/results/published-systems.md");
    let page = fs::read_to_string(&path).unwrap();
    let verdicts = Verdicts::read();
    let (mut expected, mut header, mut found) = (String::new(), Vec::new(), 0);
    for line in page.lines() {
        let row = cells(line);
        let values = row.as_ref().and_then(|row| verdicts.row(&header, row));
        found += usize::from(values.is_some());
        match row {
            Some(row) if header.is_empty() => header = row,
            _ if line.starts_with('|') => {}
            _ => header.clear(),
        }
        expected += &(values.unwrap_or_else(|| line.to_owned()) + "\n");
    }
    assert!(found > 30, "only {found} rows of {} have numbers of the report", path.display());
    if std::env::var_os("LSMBENCH_REWRITE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let differs = page.lines().zip(expected.lines()).find(|(page, expected)| page != expected);
    assert!(
        differs.is_none(),
        "docs/results/published-systems.md differs from the report: {differs:?}; write it again: \
         LSMBENCH_REWRITE=1 cargo test -p lsmbench --test cli the_page_of_published_systems"
    );
}

const CLAIMS: &str = "id,section,figure,subject,metric,params,value,unit,bound
a-1,1,E1,binary,size,,12,bytes,exact
a-2,1,E1,eytzinger,size,,12,bytes,exact
a-3,1,E1,eytzinger,saved,,30,%,up to
";

const ANSWER: &str = r#"
question = "?"
subject  = "fence"

[component]
keys       = { kind = "u64", bytes = "8B" }
operations = 4_096

[sweep]
"component.entries" = [500, 1_000]
"design.fence"      = ["binary", "eytzinger"]

[trials]
count = 1

[[chart]]
kind   = "line"
x      = "component.entries"
y      = "bytes_per_entry"
series = "design.fence"
filter = { phase = "build" }

[source]
document = "a"
figure   = "E1"
title    = "Sizes"
sections = ["1"]

[[claim]]
ids       = "a-1, a-2"
metric    = "size"
column    = "bytes_per_entry"
phase     = "build"
where     = { "component.entries" = "1000" }
compare   = "value"
subjects  = { binary = { "design.fence" = "binary" }, eytzinger = { "design.fence" = "eytzinger" } }
tolerance = 0.1

[[claim]]
ids       = "a-3"
metric    = "saved"
column    = "bytes_per_entry"
phase     = "build"
sweep     = "component.entries"
compare   = "percent-less"
to        = "binary"
subjects  = { binary = { "design.fence" = "binary" }, eytzinger = { "design.fence" = "eytzinger" } }
tolerance = 0.25
"#;

#[test]
fn more_trials_are_added_to_those_that_ran_and_give_intervals() {
    let bench = Bench::new();
    bench.write("a/claims.csv", CLAIMS);
    bench.write("a/e1.toml", ANSWER);
    let judged = |trials: &str| {
        bench.ok(&["report", "a", "--allow-debug", "--trials", trials]);
        let text = bench.read("results/report/claims.csv");
        let rows: Vec<Vec<String>> = csv::Reader::from_reader(text.as_bytes())
            .records()
            .map(|row| row.unwrap().iter().map(str::to_owned).collect())
            .collect();
        (rows, bench.manifest("component-e1"))
    };
    let (once, first) = judged("1");
    let (often, all) = judged("6");
    assert_eq!((first.trials, all.trials), (1, 6));
    assert_eq!(first.run_id, all.run_id, "the trial that was there is one of the six");
    let verdicts = |rows: &[Vec<String>]| rows.iter().map(|row| row[10].clone()).collect::<Vec<_>>();
    assert_eq!(verdicts(&once), ["reproduced", "not reproduced", "reproduced"], "{once:?}");
    assert_eq!(verdicts(&often), verdicts(&once), "bytes are the same in each trial");
    assert!(
        once.iter().all(|row| row[7].is_empty()) && often.iter().all(|row| !row[7].is_empty()),
        "{often:?}"
    );
    let page = bench.read("results/report/a.html");
    for width in ["width=\"800\"", "width=\"360\""] {
        assert_eq!(page.matches(width).count(), 1, "{width}");
    }
}
