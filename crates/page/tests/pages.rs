//! Tests of pages from results. The tests compare the numbers of a page with the CSV files and with the estimates of
//! `measure`, and check the structure of the page.

use std::path::Path;
use std::process::{Command, Stdio};

use lsmbench_page::Page;
use measure::{Comparison, Criteria, Noise, Sample, adjust, compare};
use results::{
    Better, CellInfo, EngineInfo, FlameGraphInfo, Folder, MANIFEST_VERSION, Manifest, NodeInfo, Row,
    RowWriter, Schema, Unit, columns as c, verdicts as v,
};
use serde_json::Value;
use verdict::RatioChange;

const LABELS: [&str; 4] = ["none", "xor <b> & \"c\"", "standard", "blocked"];
const TRIALS: u64 = 7;

/// Returns the throughput of a configuration in a trial. The first two configurations differ little, and the others
/// differ much.
fn rate(cell: usize, trial: u64) -> f64 {
    let noise = [0.013, -0.02, 0.004, 0.031, -0.012, 0.007, 0.0][(trial as usize + 3 * cell) % 7];
    let factor = [1.0, 1.011, 2.6, 0.83][cell];
    100_000.0 * factor * (1.0 + noise) * (1.0 + trial as f64 / 10.0)
}

fn row(schema: &Schema, (cell, phase): (usize, &str), trial: u64, rate: f64) -> Row {
    let mut row = Row::new(schema);
    row.set(&c::EXPERIMENT, "filters").set(&c::CELL, cell as u64).set(&c::LABEL, LABELS[cell]);
    row.set(&c::TRIAL, trial).set(&c::PHASE, phase).set(&c::OPERATION, "all").set(&c::MODE, "timed");
    row.set(&c::SEED, 42_u64).set(&c::OPS_PER_SECOND, rate).set(&c::OPS, 1000_u64);
    row.set_swept("design.bloom", LABELS[cell]).unwrap();
    row
}

/// Writes a results folder with four configurations. The last configuration has no value in the last trial.
fn results(folder: &Path) {
    results_of(folder, &["look"], 1.004);
}

/// Writes a results folder with these phases, which have equal values. In the second trials of the baseline, its
/// throughput has the factor `again`.
fn results_of(folder: &Path, phases: &[&str], again: f64) {
    std::fs::create_dir_all(folder).unwrap();
    let folder = Folder::new(folder);
    let schema = Schema::runs(&["design.bloom"]).unwrap();
    let mut runs = RowWriter::create(&folder.runs(), &schema).unwrap();
    let mut noise = RowWriter::create(&folder.noise(), &schema).unwrap();
    for trial in 0..TRIALS {
        for phase in phases {
            let there = (0..LABELS.len()).filter(|cell| (*cell, trial) != (3, TRIALS - 1));
            let rows: Vec<Row> =
                there.map(|cell| row(&schema, (cell, phase), trial, rate(cell, trial))).collect();
            runs.append(&rows).unwrap();
            noise.append(&[row(&schema, (0, phase), trial, rate(0, trial) * again)]).unwrap();
        }
    }
    let cell = |(cell, label): (u64, &&str)| CellInfo {
        cell,
        label: (*label).to_owned(),
        swept: vec![(*label).to_owned()],
        ..CellInfo::default()
    };
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        experiment: "filters".to_owned(),
        question: "Which filter </script> is fastest?".to_owned(),
        mode: "timed".to_owned(),
        trials: TRIALS,
        swept: vec!["design.bloom".to_owned()],
        phases: phases.iter().map(ToString::to_string).collect(),
        cells: (0..).zip(&LABELS).map(cell).collect(),
        conclusions: vec!["throughput in phase look: standard is 2.60x faster.".to_owned()],
        runs: Some(runs.seal().unwrap()),
        noise: Some(noise.seal().unwrap()),
        ..Manifest::default()
    };
    manifest.write(&folder.manifest()).unwrap();
    let mut verdict = v::row();
    verdict.set(&v::EXPERIMENT, "filters").set(&v::PHASE, "look").set(&v::OPERATION, "all");
    verdict.set(&v::METRIC, "ops_per_second").set(&v::BASELINE, "none").set(&v::CANDIDATE, "standard");
    verdict.set(&v::VERDICT, "improved").set(&v::RATIO, 2.6).set(&v::TRIALS, TRIALS).set(&v::P_VALUE, 0.01);
    v::write(&folder.verdicts(), &[verdict]).unwrap();
}

fn page() -> String {
    page_with_noise(1.004)
}

fn page_with_noise(again: f64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let results_folder = folder.path().join("filters");
    results_of(&results_folder, &["look"], again);
    Page::of(&[results_folder]).unwrap().html()
}

/// Changes the manifest of results without verdicts, and returns their page.
fn page_without_verdicts(phases: &[&str], change: impl FnOnce(&mut Manifest)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filters");
    results_of(&path, phases, 1.004);
    let files = Folder::new(&path);
    std::fs::remove_file(files.verdicts()).unwrap();
    let mut manifest = Manifest::read(&files.manifest()).unwrap();
    manifest.conclusions.clear();
    change(&mut manifest);
    manifest.write(&files.manifest()).unwrap();
    Page::of(&[path]).unwrap().html()
}

/// Returns the text between `start` and `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

fn data(html: &str) -> Value {
    serde_json::from_str(between(html, "id=\"data\">", "</script>")).unwrap()
}

/// Returns the comparisons of all configurations with a baseline, computed with `measure`.
fn expected(baseline: usize, again: f64) -> Vec<(usize, Comparison, f64, f64)> {
    let there = |cell: usize, trial: u64| (cell, trial) != (3, TRIALS - 1);
    let sample = |cell: usize| {
        let trials = (0..TRIALS).filter(|trial| there(cell, *trial));
        Sample::new("", trials.map(|trial| (trial, rate(cell, trial))))
    };
    let again = Sample::new("", (0..TRIALS).map(|trial| (trial, rate(0, trial) * again)));
    let floor = Noise::of(&sample(0), &again, &Criteria::default(), 1).unwrap().floor;
    let criteria = Criteria { delta: Criteria::default().delta.max(floor), ..Criteria::default() };
    let others = (0..LABELS.len()).filter(|cell| *cell != baseline);
    let compared = |cell: usize| {
        let comparison = compare(&sample(baseline), &sample(cell), Better::Higher, &criteria);
        (cell, comparison, sample(cell).median().unwrap(), sample(baseline).median().unwrap())
    };
    let mut all: Vec<_> = others.map(compared).collect();
    adjust(all.iter_mut().map(|(_, comparison, _, _)| comparison));
    all
}

#[test]
fn the_numbers_of_a_page_are_those_of_the_csv() {
    let data = data(&page());
    let run = &data["runs"][0];
    let metric =
        run["metrics"].as_array().unwrap().iter().position(|of| of["name"] == "ops_per_second").unwrap();
    let matrices = run["numbers"].as_array().unwrap();
    let matrix = matrices.iter().find(|of| of["metric"] == metric).unwrap();
    for cell in 0..LABELS.len() {
        for trial in 0..TRIALS {
            let number = matrix["cells"][cell][trial as usize].as_f64();
            let there = (cell, trial) != (3, TRIALS - 1);
            assert_eq!(number, there.then(|| rate(cell, trial)), "cell {cell}, trial {trial}");
        }
    }
    assert_eq!(run["rounds"].as_array().unwrap().len() as u64, TRIALS);
    assert_eq!(run["first"]["metric"], metric);
    assert_eq!(run["verdicts"][0]["candidate"], 2);
    // A number that is the same in all trials is stored once.
    let ops = run["metrics"].as_array().unwrap().iter().position(|of| of["name"] == "ops").unwrap();
    assert_eq!(matrices.iter().find(|of| of["metric"] == ops).unwrap()["cells"][0], 1000.0);
}

#[test]
fn a_page_is_well_formed_whole_and_readable_without_its_script() {
    let html = page();
    let visible = html.split("<script").next().unwrap();
    let style = between(visible, "<style>", "</style>");
    let mut open: Vec<String> = Vec::new();
    for tag in visible.replace(style, "").split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let name = tag.trim_start_matches('/').split(' ').next().unwrap().to_lowercase();
        match tag.starts_with('/') {
            true => assert_eq!(open.pop().as_deref(), Some(&*name), "before </{name}>"),
            false if ["meta", "link", "!doctype"].contains(&&*name) => {}
            false => open.push(name),
        }
    }
    assert_eq!(open, ["html", "body"], "the script and the end follow");
    assert!(html.ends_with("</script>\n</body>\n</html>\n"));
    assert_eq!(html.matches("<script").count(), 2);
    assert!(visible.contains("Which filter &lt;/script&gt; is fastest?"));
    assert!(visible.contains("<li>Throughput in phase look: standard is 2.60x faster.</li>"));
    assert!(visible.contains("xor &lt;b&gt; &amp; &quot;c&quot;"));
    assert!(
        visible.contains("<td>2.57x</td>")
            && visible.contains("<tr class=\"improved\"><th scope=\"row\">standard</th>"),
        "{visible}"
    );
    for address in ["http://", "https://", " src=", "url(", "@import"] {
        assert!(!visible.contains(address), "{address}");
    }
}

/// Returns the output of `program`, which runs after the script of a page and can use `page`, `run` and
/// `rows(selection, baseline)`. Returns `None` if Node.js is not installed.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn printed(html: &str, program: &str) -> Option<Value> {
    let node = Command::new("node").args(["-", "x"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut node) = node else {
        eprintln!(
            "NOT CHECKED: Node.js is not here, so the script of the page did not run; apt-get install nodejs"
        );
        return None;
    };
    let script = html.rsplit_once("<script>").unwrap().1.rsplit_once("</script>").unwrap().0;
    let program = format!(
        "{script}\nconst page = {};\nconst run = page.runs[0];\n\
         const rows = (of, b) => {{ const steps = lsmbench.computeRows(page, run, of, b, () => true); \
         let step = steps.next(); while (!step.done) step = steps.next(); return step.value; }};\n{program}\n",
        data(html)
    );
    std::io::Write::write_all(&mut node.stdin.take().unwrap(), program.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    Some(serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}")))
}

#[test]
fn a_machine_of_merged_parts_has_its_own_ratios() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filters");
    results(&path);
    let file = Folder::new(&path).manifest();
    let mut manifest = Manifest::read(&file).unwrap();
    let node = |name: &str, rounds: &[u64]| NodeInfo {
        name: name.to_owned(),
        rounds: rounds.to_vec(),
        ..NodeInfo::default()
    };
    manifest.nodes = vec![node("a", &[0, 1, 2, 4, 5, 6]), node("b", &[3])];
    manifest.write(&file).unwrap();
    let html = Page::of(&[path]).unwrap().html();
    let program = "console.log(JSON.stringify([0, 1].map((machine) => \
        rows({ ...run.first, machine }, null).find((row) => row.cell === 2).of)));";
    let Some(found) = printed(&html, program) else { return };
    let sample = |cell: usize| {
        let trials = (0..TRIALS).filter(|trial| *trial != 3);
        Sample::new("", trials.map(|trial| (trial, rate(cell, trial))))
    };
    let comparison = compare(&sample(0), &sample(2), Better::Higher, &Criteria::default());
    let interval = comparison.interval.unwrap();
    for (key, expected) in
        [("ratio", comparison.ratio.unwrap()), ("low", interval.low), ("high", interval.high)]
    {
        let own = found[0][key].as_f64().unwrap();
        assert!((own - expected).abs() < 1e-12 * expected, "{key}: {found} and {comparison:?}");
    }
    assert_eq!((&found[1]["n"], &found[1]["low"]), (&1.into(), &Value::Null), "{found}");
}

#[test]
fn any_baseline_gives_the_estimates_of_measure() {
    let Some(verdicts) = compared_with_measure(1.004, "threshold") else { return };
    for word in ["improved", "regressed"] {
        assert!(verdicts.iter().any(|verdict| verdict == word), "{verdicts:?}");
    }
    // The noise floor hides all differences.
    let Some(verdicts) = compared_with_measure(3.0, "noise floor") else { return };
    let reason = "the difference is smaller than the noise floor of 200.0%, but the confidence interval (CI) extends \
                  beyond 10.0%, the largest difference that counts as equivalent";
    assert!(verdicts.iter().any(|verdict| verdict == &format!("inconclusive: {reason}")), "{verdicts:?}");
}

/// Compares the rows that the script computes with those of `measure`, and returns the verdicts with their reasons.
/// Returns `None` if Node.js is not installed.
fn compared_with_measure(again: f64, threshold: &str) -> Option<Vec<String>> {
    let program = "const metric = run.metrics[run.first.metric];\n\
         console.log(JSON.stringify([0, 1, 2, 3].map((b) => rows(run.first, b).filter((row) => row.of).map((row) => ({ \
         cell: row.cell, ...row.of, value: lsmbench.value(row.median, metric.unit), \
         change: lsmbench.changeOf(row.of, row.baseMedian, metric) })))));";
    let of_page = printed(&page_with_noise(again), program)?;
    let mut verdicts = Vec::new();
    for baseline in 0..LABELS.len() {
        let rows = of_page[baseline].as_array().unwrap();
        let expected = expected(baseline, again);
        assert_eq!(rows.len(), expected.len());
        for (row, (cell, comparison, own, _)) in rows.iter().zip(&expected) {
            let place = format!("cell {cell} against {baseline}: {row} and {comparison:?}");
            let near = |key: &str, expected: f64, error: f64| {
                let found = row[key].as_f64().unwrap_or_else(|| panic!("{key}: {place}"));
                assert!((found - expected).abs() <= error * expected.abs().max(1e-6), "{key}: {place}");
            };
            assert_eq!(row["cell"], *cell, "{place}");
            let interval = comparison.interval.unwrap();
            near("ratio", comparison.ratio.unwrap(), 1e-12);
            near("low", interval.low, 1e-12);
            near("high", interval.high, 1e-12);
            assert_eq!(row["n"], comparison.blocks, "{place}");
            assert_eq!(row["value"], plot::format_value(*own, Unit::OperationsPerSecond), "{place}");
            let change = RatioChange::of(comparison, None).unwrap();
            let minus = |text: String| text.replace('-', "−");
            assert_eq!(row["change"]["short"], minus(change.short()), "{place}");
            assert_eq!(row["change"]["range"], minus(change.range().unwrap()), "{place}");
            // The verdict of the run goes before that of the page.
            if (baseline, *cell) == (0, 2) {
                assert_eq!((&row["verdict"], row["p"].as_f64()), (&"improved".into(), Some(0.01)), "{place}");
                continue;
            }
            near("p", comparison.p_value.unwrap(), 1e-8);
            assert_eq!(row["verdict"], comparison.verdict.to_string(), "{place}");
            let reason = comparison.reason(threshold);
            assert_eq!(row["doubt"], reason.clone().unwrap_or_default(), "{place}");
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            verdicts.push(format!("{}{reason}", comparison.verdict));
        }
    }
    Some(verdicts)
}

#[test]
fn without_verdicts_the_page_opens_on_the_judged_phase_and_names_the_best() {
    let html = page_without_verdicts(&["look", "scan"], |manifest| {
        manifest.resolved = "[verdict]\nmetric = \"ops_per_second\"\nphase = \"look\"\n".to_owned();
    });
    let data = data(&html);
    let run = &data["runs"][0];
    assert_eq!(run["phases"][run["first"]["phase"].as_u64().unwrap() as usize], "look");
    let said = run["conclusions"].as_array().unwrap();
    let expected = "throughput in phase look: best is standard, which is 2.57x faster than the next, \"none\" (95% CI 2.54x to 2.69x).";
    assert_eq!((said[0].as_str(), said.len()), (Some(expected), 2), "{said:?}");
    assert!(html.contains("<li>Throughput in phase look: best is standard"));
    let of_last = page_without_verdicts(&["look", "scan"], |_| {});
    assert!(of_last.contains("<caption>Throughput in phase scan, higher is better</caption>"));
}

#[test]
fn the_table_is_sorted_best_first_and_names_units_and_thresholds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filters");
    results(&path);
    let mut verdict = v::read(&Folder::new(&path).verdicts()).unwrap().remove(0);
    verdict.set(&v::CANDIDATE, LABELS[1]).set(&v::VERDICT, "equivalent").set(&v::DELTA, 0.5);
    v::write(&Folder::new(&path).verdicts(), &[verdict]).unwrap();
    let html = Page::of(&[path]).unwrap().html();
    let table = between(&html, "<table>", "</table>");
    assert!(table.contains("<th scope=\"col\">value (ops/s)</th>"), "{table}");
    let names: Vec<&str> = table.split("<th scope=\"row\">").skip(1).collect();
    let places = ["standard", "none", "xor", "blocked"];
    assert!(names.iter().zip(places).all(|(name, place)| name.starts_with(place)), "{table}");
    assert!(table.contains("<td>within the threshold of 10.0%</td>"), "{table}");
}

#[test]
fn settings_that_differ_are_folded_and_disturbances_are_not() {
    let html = page_without_verdicts(&["look"], |manifest| {
        manifest.warnings = vec!["cores, 2: use more CPUs".to_owned()];
        manifest.cells[1].engine = Some(EngineInfo {
            name: "lmdb".to_owned(),
            mapping: vec!["map: 1 GiB".to_owned(), "mismatch: no <filters>".to_owned()],
            doubts: vec!["an old library".to_owned()],
            ..EngineInfo::default()
        });
    });
    let fold = "<details class=\"notes mismatches\"><summary>Settings that differ, by engine (2)</summary>\n<ul>\n\
                <li><strong>lmdb</strong>\n<ul>\n<li>no &lt;filters&gt;</li>\n<li>warning: an old library</li>\n";
    assert!(html.contains(fold));
    assert!(html.contains("<details class=\"notes\"><summary>1 note about this run</summary>"));
    for note in
        ["load, 9.9 on 2 cores: other programs use the CPUs", "node1: build, debug: build with --release"]
    {
        let html = page_without_verdicts(&["look"], |manifest| manifest.warnings = vec![note.to_owned()]);
        assert!(html.contains("<details class=\"notes\" open><summary>1 note about this run</summary>"));
        assert!(!html.contains("Settings that differ"));
    }
}

#[test]
fn a_flame_graph_is_folded_and_cannot_run_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filters");
    results(&path);
    let folder = Folder::new(&path);
    let mut manifest = Manifest::read(&folder.manifest()).unwrap();
    let graph = |cell| FlameGraphInfo {
        cell,
        baseline: 0,
        summary: "In phase look, <b>standard</b> uses less.".to_owned(),
        file: String::new(),
    };
    // The file of the second graph is missing.
    manifest.flame_graphs = vec![graph(2), graph(1)];
    manifest.write(&folder.manifest()).unwrap();
    std::fs::create_dir_all(folder.profiles()).unwrap();
    std::fs::write(folder.flame_graph(2, 0), "<svg><script>alert(\"x\")</script></svg>").unwrap();
    let html = Page::of(&[path]).unwrap().html();
    assert_eq!(html.matches("<iframe").count(), 1);
    assert!(html.contains("<summary>Flame graph of standard against none</summary>"));
    assert!(html.contains("<p>In phase look, &lt;b&gt;standard&lt;/b&gt; uses less.</p>"));
    assert!(
        html.contains("<iframe sandbox ") && html.contains("srcdoc=\"&lt;svg&gt;&lt;script&gt;alert(&quot;")
    );
}

#[test]
fn a_folder_without_results_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = Page::of(&[folder.path().to_owned()]).err().unwrap().to_string();
    assert!(error.contains("is not a results folder: it has no manifest.json"), "{error}");
    results(&folder.path().join("filters"));
    let runs = folder.path().join("filters/runs.csv");
    let text = std::fs::read_to_string(&runs).unwrap();
    std::fs::write(&runs, text.replacen(",42,", ",43,", 1)).unwrap();
    assert!(Page::of(&[folder.path().join("filters")]).is_err(), "changed rows");
}
