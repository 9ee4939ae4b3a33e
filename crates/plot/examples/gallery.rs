//! Draws the gallery of synthetic charts into a folder, to be looked at:
//! `cargo run -p lsmbench-plot --example gallery -- charts`.

use std::path::PathBuf;

use lsmbench_plot as plot;
use plot::Chart;

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "charts".to_owned()));
    let results = folder.join("results");
    for sample in synthetic::gallery(&results) {
        let chart = Chart::draw(&sample.folder, &sample.spec, &sample.context);
        let chart = chart.unwrap_or_else(|error| panic!("{}: {error}", sample.name));
        assert!(chart.flaws().is_empty(), "{}: {:?}", sample.name, chart.flaws());
        chart.write(&folder, sample.name).unwrap_or_else(|error| panic!("{error}"));
    }
}
