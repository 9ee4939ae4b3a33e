//! Draws the gallery of synthetic charts into a folder for visual checks: as wide pages, for a phone, and for a printed
//! column. Run `cargo run -p lsmbench-plot --example gallery -- charts`.

use std::path::PathBuf;

use lsmbench_plot as plot;
use plot::{Chart, Context, FigureStyle, Width};

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "charts".to_owned()));
    let results = folder.join("results");
    let print = FigureStyle {
        width: Some("3.3in".parse().expect("a width")),
        format: Some("svg,png,pdf,pgf,gnuplot".parse().expect("formats")),
        ..FigureStyle::default()
    };
    for sample in synthetic::gallery(&results) {
        let looks = [
            (Width::Full, FigureStyle::default(), ""),
            (Width::Phone, FigureStyle::default(), "-phone"),
            (Width::Full, print.clone(), "-print"),
        ];
        for (width, style, suffix) in looks {
            let context = Context { width, style, ..sample.context.clone() };
            let chart = Chart::draw(&sample.folder, &sample.spec, &context);
            let chart = chart.unwrap_or_else(|error| panic!("{}: {error}", sample.name));
            let stem = format!("{}{suffix}", sample.name);
            chart.write(&folder, &stem).unwrap_or_else(|error| panic!("{error}"));
            assert!(chart.flaws().is_empty(), "{stem}: {:?}", chart.flaws());
        }
    }
}
