//! Tests a run with a wrong answer. lsmbench must discard the measurements of the configuration and exit with code 1.

use results::{Table, columns as c};

use crate::bench::{Bench, text};

/// Tests that a configuration with a wrong answer has no measured values. All variants answer correctly, so the test
/// itself writes a wrong answer for one of three configurations into the results.
#[test]
fn a_cell_that_answered_wrongly_gets_no_number_and_exit_code_1() {
    let bench = Bench::small();
    let right = bench.ok(&["run", "small.toml"]);
    assert!(right.contains("standard"), "{right}");
    let runs = bench.path("results/small/runs.csv");
    let table = Table::read(&runs).unwrap();
    let at = |name: &str| table.schema().find(name).unwrap();
    let identity = [
        "experiment",
        "cell",
        "label",
        "trial",
        "phase",
        "operation",
        "mode",
        "seed",
        "loop",
        "design.bloom",
    ];
    let mut kept = bench.read("results/small/runs.csv").lines().next().unwrap().to_owned() + "\n";
    for row in table.rows() {
        let mut cells: Vec<String> = row.cells().iter().map(ToString::to_string).collect();
        if text(row, &c::LABEL) == "standard" {
            if text(row, &c::OPERATION) != "all" {
                continue;
            }
            let columns = cells.iter_mut().zip(table.schema().columns());
            columns
                .filter(|(_, column)| !identity.contains(&column.name()))
                .for_each(|(cell, _)| cell.clear());
            cells[at("checked_answers")] = "3000".to_owned();
            cells[at("wrong_answers")] = if text(row, &c::PHASE) == "look" { "2" } else { "0" }.to_owned();
        }
        kept.push_str(&(cells.join(",") + "\n"));
    }
    std::fs::write(&runs, kept).unwrap();
    bench.forget_seals("small");

    let answer = bench.run(&["run", "small.toml", "--resume"]).expect(1);
    let invalid = "INVALID: standard returned 2 wrong answers; its results are discarded. Exit status 1.";
    assert!(answer.out.lines().any(|line| line == invalid), "{}", answer.out);
    assert!(
        !answer.out.lines().any(|line| line.starts_with("  standard")),
        "it is in no table: {}",
        answer.out
    );
    assert!(answer.err.contains("charts omit configurations with wrong answers"), "{}", answer.err);
    assert!(!bench.read("plots/small/fpr-by-bloom.svg").contains("standard"), "it is in no chart");
}
