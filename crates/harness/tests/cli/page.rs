//! `lsmbench page`, and the page that every run writes.

use results::Manifest;

use crate::bench::Bench;

/// The data of a page.
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
