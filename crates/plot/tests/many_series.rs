//! Tests that readers can distinguish the series of a chart: by color, by mark or hatch, and by the samples in the
//! legend.

use std::collections::BTreeSet;

use lsmbench_plot as plot;
use plot::Chart;
use roxmltree::{Document, Node};

mod synthetic;

/// The SVG units per pixel of the page.
const UNITS: f64 = 4.0;

fn drawn(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let samples = synthetic::gallery(folder.path());
    let sample = samples.iter().find(|sample| sample.name == name).unwrap();
    Chart::draw(&sample.folder, &sample.spec, &sample.context).unwrap().svg()
}

fn number(node: &Node<'_, '_>, attribute: &str) -> f64 {
    node.attribute(attribute).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Returns the x and y coordinates of a shape, in pixels: of its first point, its corner or its center.
fn place(node: &Node<'_, '_>) -> Option<[f64; 2]> {
    let (x, y) = match node.tag_name().name() {
        "circle" => (number(node, "cx"), number(node, "cy")),
        "rect" => (number(node, "x"), number(node, "y")),
        "polygon" | "polyline" => {
            let (x, y) = node.attribute("points")?.split_whitespace().next()?.split_once(',')?;
            (x.parse().ok()?, y.parse().ok()?)
        }
        _ => return None,
    };
    Some([x / UNITS, y / UNITS])
}

/// Returns the shapes of the sample in front of a name in the legend, without their position and without white edges.
/// Each shape is a text with the attributes that readers see, such as the color and the form.
fn sample<'a>(document: &'a Document<'a>, name: &str) -> Vec<Node<'a, 'a>> {
    let is_name = |node: &Node<'_, '_>| {
        node.has_tag_name("text") && node.text().is_some_and(|text| text.trim() == name)
    };
    let label = document.descendants().rfind(is_name).unwrap_or_else(|| panic!("no {name}"));
    let (x, y) = (number(&label, "x") / UNITS, number(&label, "y") / UNITS);
    let is_near = |node: &Node<'_, '_>| {
        let near = |[left, top]: [f64; 2]| (0.0..34.0).contains(&(x - left)) && (y - top).abs() < 14.0;
        place(node).is_some_and(near)
    };
    document.descendants().filter(is_near).collect()
}

/// Returns the colors of shapes, except white.
fn colors(shapes: &[Node<'_, '_>]) -> BTreeSet<String> {
    let of = |node: &Node<'_, '_>| {
        ["fill", "stroke"].map(|name| node.attribute(name).unwrap_or("none").to_owned())
    };
    let colors = shapes.iter().flat_map(of).filter(|color| !["none", "#FFFFFF"].contains(&color.as_str()));
    colors.collect()
}

/// Returns the forms of shapes relative to the first shape, without their colors.
fn forms(shapes: &[Node<'_, '_>]) -> String {
    let Some([x, y]) = shapes.first().and_then(place) else { return String::new() };
    let form = |node: &Node<'_, '_>| {
        let is_white = colors(&[*node]).is_empty();
        let name = node.tag_name().name();
        let size = ["r", "width", "height"].map(|attribute| number(node, attribute));
        let points: Vec<String> = node
            .attribute("points")
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|point| point.split_once(','))
            .map(|(px, py)| {
                let [px, py]: [f64; 2] = [px, py].map(|text| text.parse().unwrap());
                format!("{:.0},{:.0}", px / UNITS - x, py / UNITS - y)
            })
            .collect();
        format!("{name} {is_white} {size:?} {}", points.join(" "))
    };
    shapes.iter().map(form).collect::<Vec<_>>().join("; ")
}

#[test]
fn sixteen_series_differ_in_color_and_in_form() {
    for name in ["line-16-series", "bars-16-series"] {
        let svg = drawn(name);
        let document = Document::parse(&svg).unwrap();
        let labels: Vec<String> = (0..16).map(|at| format!("variant-{at}")).collect();
        let samples: Vec<_> = labels.iter().map(|label| sample(&document, label)).collect();
        let hues: BTreeSet<_> = samples.iter().map(|shapes| colors(shapes)).collect();
        let forms: BTreeSet<_> = samples.iter().map(|shapes| forms(shapes)).collect();
        assert_eq!((hues.len(), forms.len()), (16, 16), "{name}: {hues:?} {forms:#?}");
        // Each color of the legend is also in the plot, above the legend.
        let top = samples[0].iter().filter_map(place).map(|[_, y]| y).fold(f64::INFINITY, f64::min);
        let in_plot = |node: &Node<'_, '_>| place(node).is_some_and(|[_, y]| y < top - 20.0);
        let plot = colors(&document.descendants().filter(in_plot).collect::<Vec<_>>());
        for hue in hues {
            assert!(hue.is_subset(&plot), "{name}: {hue:?} is not in the plot");
        }
    }
}

#[test]
fn the_legend_of_bars_with_theory_has_the_colors_of_the_bars() {
    let svg = drawn("fpr-bars");
    let document = Document::parse(&svg).unwrap();
    let measured = colors(&sample(&document, "measured"));
    let bars: BTreeSet<String> = ["#D55E00", "#009E73", "#E69F00"].map(str::to_owned).into();
    assert_eq!(measured, bars);
}
