//! Tests of `lsmbench page`, and of the page that every run writes.

use std::fmt::Write as _;

use results::Manifest;

use crate::bench::Bench;

/// Returns the data that a page contains.
fn data(html: &str) -> serde_json::Value {
    let data = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_run_writes_its_page_and_the_page_has_its_verdicts_and_numbers() {
    let bench = Bench::small();
    let answer = bench.ok(&["run", "small.toml"]);
    assert!(answer.contains("page.html)"), "{answer}");
    let html = bench.read("plots/small/page.html");
    let manifest = Manifest::read(&bench.path("results/small/manifest.json")).unwrap();
    assert!(!manifest.conclusions.is_empty());
    let data = data(&html);
    let run = &data["runs"][0];
    let told: Vec<&str> =
        run["conclusions"].as_array().unwrap().iter().filter_map(|of| of.as_str()).collect();
    assert_eq!(told, manifest.conclusions);
    let verdicts = results::verdicts::read(&bench.path("results/small/verdicts.csv")).unwrap();
    let of_page = run["verdicts"].as_array().unwrap();
    assert_eq!(of_page.len(), verdicts.len());
    for (row, of_page) in verdicts.iter().zip(of_page) {
        let candidate = &run["cells"][of_page["candidate"].as_u64().unwrap() as usize]["label"];
        assert_eq!(*candidate, row.get(&results::verdicts::CANDIDATE).to_string());
        assert_eq!(of_page["ratio"].as_f64(), row.get(&results::verdicts::RATIO).number());
    }
    assert!(!run["levels"].as_array().unwrap().is_empty());
    assert!(html.len() < 400_000, "{} bytes", html.len());
}

#[test]
fn a_page_is_left_out_on_request_and_made_again_from_results() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml", "--no-page"]);
    assert!(!bench.path("plots/small/page.html").exists());
    assert_eq!(bench.ok(&["page", "results", "--out", "all.html"]), "all.html\n");
    assert_eq!(data(&bench.read("all.html"))["runs"][0]["name"], "small");
    bench.ok(&["page", "results/small"]);
    assert!(bench.path("page.html").exists());
    let answer = bench.run(&["page", "nowhere"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("nowhere is not a results folder"), "{}", answer.err);
    let answer = bench.run(&["page", "results", "--out", "absent/page.html"]);
    assert_eq!(answer.code, Some(2), "{}", answer.err);
}

#[test]
fn a_page_shows_a_history_with_the_commits_of_its_change_points() {
    let bench = Bench::small();
    let mut text =
        "started,git_commit,machine,config_hash,experiment,label,phase,operation,metric,median,trials\n"
            .to_owned();
    for run in 0..16 {
        let rate = if run < 10 { 100_000 } else { 80_000 } + run % 3 * 1_000;
        let begin = format!("2026-01-01T00:00:{run:02}Z,c0ffee{run:04},box,h,x");
        writeln!(text, "{begin},leveled,mixed,all,ops_per_second,{rate},6").unwrap();
        writeln!(text, "{begin},<tiered>,mixed,get,p99_ns,1200,6").unwrap();
    }
    bench.write("h.csv", text);
    assert_eq!(bench.ok(&["page", "--history", "h.csv", "--out", "h.html"]), "h.html\n");
    let html = bench.read("h.html");
    let history = html.split_once("id=\"history\">").unwrap().1.split_once("</script>").unwrap().0;
    let history: serde_json::Value = serde_json::from_str(history).unwrap();
    let experiment = &history["experiments"][0];
    assert_eq!(experiment["runs"].as_array().unwrap().len(), 16);
    assert_eq!(experiment["runs"][10]["commit"], "c0ffee0010");
    let changed =
        experiment["series"].as_array().unwrap().iter().find(|one| one["label"] == "leveled").unwrap();
    let change = &changed["changes"][0];
    assert_eq!((&change["run"], &change["verdict"]), (&10.into(), &"regressed".into()));
    assert_eq!(changed["levels"], serde_json::json!([[0, 9, 101_000.0], [10, 15, 81_000.0]]));
    let visible = html.split("<script").next().unwrap();
    assert!(
        visible.contains("<td><code>c0ffee0010</code></td>") && visible.contains("(-19.8 %)"),
        "{visible}"
    );
    assert!(visible.contains("&lt;tiered&gt;") && !visible.contains("id=\"run-0\""));
    // Results and the history share a page.
    bench.ok(&["run", "small.toml", "--no-page"]);
    bench.ok(&["page", "results", "--history", "h.csv", "--out", "both.html"]);
    let both = bench.read("both.html");
    assert!(both.contains("id=\"run-0\"") && both.contains("id=\"history-page\""));
    let error = bench.run(&["page", "--history", "none.csv"]).refusal();
    assert!(
        error.contains("no history none.csv; create it with: lsmbench history none.csv --add RESULTS"),
        "{error}"
    );
    let error = bench.run(&["page", "--history", "results"]).refusal();
    assert!(error.contains("results: this is a folder; name the file of a history, such as"), "{error}");
    bench.write("empty.csv", bench.read("h.csv").lines().next().unwrap().to_owned() + "\n");
    let error = bench.run(&["page", "--history", "empty.csv"]).refusal();
    assert!(
        error.contains("the history has no runs; add a run with: lsmbench history empty.csv --add"),
        "{error}"
    );
    assert!(bench.run(&["page"]).expect(2).err.contains("RESULTS"));
}
