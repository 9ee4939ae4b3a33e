//! A differential flame graph of two CPU profiles, as SVG (Gregg, *The Flame Graph*, Communications of the ACM 59,
//! 2016).
//!
//! The graph has one panel per profile, and both panels have the same scale. Each box is a function. The width of a box
//! is the CPU time per operation of the function and of all functions that it calls. The boxes below a box are the
//! called functions. The color of a box shows whether the function uses more or less CPU time than in the other
//! profile. A viewer shows the times of a box when the pointer is on the box.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use results::{FoldedStacks, Unit};

use crate::font::{self, Typeface, Weight};
use crate::format::alike;
use crate::palette::{Color, GRID, HUES, INK, PAPER, TEXT};
use crate::scene::{cut, wrap_words};

/// The width of the graph in pixels.
const WIDTH: f64 = 1200.0;

/// The distance between the graph and the edge of the page.
const MARGIN: f64 = 12.0;

/// The height of a row of boxes in pixels, including the gap below the row.
const ROW: f64 = 17.0;

const TITLE_SIZE: f64 = 16.0;
const TEXT_SIZE: f64 = 12.0;

/// The smallest width of a drawn box, in pixels. Narrower boxes are omitted.
const LEAST_WIDTH: f64 = 0.5;

/// The smallest width of a box with a text, in pixels.
const LEAST_TEXT_WIDTH: f64 = 30.0;

/// The color of functions that use less CPU time than in the other profile.
const LESS: Color = HUES[0];
/// The color of functions that use more CPU time than in the other profile.
const MORE: Color = HUES[1];

/// A differential flame graph of two CPU profiles.
#[derive(Clone, Debug)]
pub struct FlameGraph<'a> {
    /// The title of the graph.
    pub title: String,
    /// The sentences below the title.
    pub caption: String,
    /// The profiles to compare: first the baseline, then the candidate.
    pub sides: [FlameSide<'a>; 2],
    /// Shortens the name of a function for the text in its box.
    pub short_name: fn(&str) -> String,
}

/// One of the two profiles of a flame graph.
#[derive(Clone, Copy, Debug)]
pub struct FlameSide<'a> {
    /// The label of the profiled configuration.
    pub label: &'a str,
    /// The stacks of the profile, each with its CPU time.
    pub stacks: &'a FoldedStacks,
    /// The number of operations during the profile.
    pub operations: u64,
}

/// A function in the call tree, which is built from all stacks of both profiles.
#[derive(Default)]
struct Node<'a> {
    /// The CPU time per operation of this function and all functions that it calls, in nanoseconds: one value per
    /// profile.
    ns: [f64; 2],
    callees: BTreeMap<&'a str, Node<'a>>,
}

impl<'a> Node<'a> {
    fn of(sides: &[FlameSide<'a>; 2]) -> Self {
        let mut root = Self::default();
        for (at, side) in sides.iter().enumerate() {
            for (functions, ns) in side.stacks.iter() {
                let ns = ns as f64 / side.operations.max(1) as f64;
                root.ns[at] += ns;
                let mut node = &mut root;
                for function in functions {
                    node = node.callees.entry(function).or_default();
                    node.ns[at] += ns;
                }
            }
        }
        root
    }

    /// Removes outermost functions that only call one other function, such as the start of a thread. The called
    /// function takes their place.
    fn without_starts(mut self) -> Self {
        let mut callees = BTreeMap::new();
        for (mut name, mut node) in std::mem::take(&mut self.callees) {
            while node.callees.len() == 1
                && let Some((inner, below)) = node.callees.pop_first()
            {
                if is_near(below.ns, node.ns) {
                    (name, node) = (inner, below);
                } else {
                    node.callees.insert(inner, below);
                    break;
                }
            }
            let same: &mut Self = callees.entry(name).or_default();
            same.merge(node);
        }
        self.callees = callees;
        self
    }

    fn merge(&mut self, other: Self) {
        self.ns = [self.ns[0] + other.ns[0], self.ns[1] + other.ns[1]];
        for (name, node) in other.callees {
            self.callees.entry(name).or_default().merge(node);
        }
    }

    /// Returns the largest difference in CPU time that a function below this node has between the two profiles, in
    /// nanoseconds.
    fn largest_difference(&self) -> f64 {
        let below = self.callees.values();
        below.map(|node| (node.ns[1] - node.ns[0]).abs().max(node.largest_difference())).fold(0.0, f64::max)
    }

    /// Returns the number of rows of boxes below this node in one profile. `scale` is the width of a box in pixels per
    /// nanosecond. Boxes that are too narrow to be drawn do not count.
    fn depth(&self, side: usize, scale: f64) -> usize {
        let shown = self.callees.values().filter(|node| node.ns[side] * scale >= LEAST_WIDTH);
        shown.map(|node| 1 + node.depth(side, scale)).max().unwrap_or(0)
    }
}

/// Returns whether two functions use equal CPU times, apart from rounding errors. Each array has one time per profile.
fn is_near(a: [f64; 2], b: [f64; 2]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs())
}

/// The state while the boxes of a flame graph are drawn.
struct Drawing<'a> {
    graph: &'a FlameGraph<'a>,
    /// The width of a box in pixels per nanosecond of CPU time.
    scale: f64,
    /// The difference in CPU time that gets the strongest color, in nanoseconds.
    largest_ns: f64,
    svg: String,
}

impl FlameGraph<'_> {
    /// Renders the flame graph as SVG.
    pub fn svg(&self) -> String {
        let root = Node::of(&self.sides).without_starts();
        let longest_ns = root.ns[0].max(root.ns[1]);
        let scale = if longest_ns > 0.0 { (WIDTH - 2.0 * MARGIN) / longest_ns } else { 0.0 };
        let largest_ns = root.largest_difference();
        let mut drawing = Drawing { graph: self, scale, largest_ns, svg: String::new() };
        let mut y = MARGIN + TITLE_SIZE;
        drawing.text(&self.title, (MARGIN, y), (TITLE_SIZE, Weight::Bold), INK);
        for line in wrap_words(&self.caption, WIDTH - 2.0 * MARGIN, TEXT_SIZE, Weight::Regular) {
            y += ROW;
            drawing.text(&line, (MARGIN, y), (TEXT_SIZE, Weight::Regular), TEXT);
        }
        for (at, side) in self.sides.iter().enumerate() {
            y += 1.7 * ROW;
            let (label, time) = (side.label, ns(root.ns[at]));
            let line = format!("{label}: {time} of CPU time per operation");
            drawing.text(&line, (MARGIN, y), (TEXT_SIZE, Weight::Bold), INK);
            y += 0.5 * ROW;
            drawing.callees(&root, at, (MARGIN, y));
            y += root.depth(at, scale) as f64 * ROW;
        }
        let height = y + MARGIN;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH} \
             {height:.0}\" font-family=\"{}\" role=\"img\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" \
             fill=\"{}\"/>\n{}</svg>\n",
            Typeface::current().families(),
            escaped(&self.title),
            hex(PAPER),
            drawing.svg
        )
    }
}

impl Drawing<'_> {
    /// Draws the boxes of the functions that `node` calls, from left to right, largest time first. `x` and `y` are the
    /// upper left corner of the first box.
    fn callees(&mut self, node: &Node<'_>, side: usize, (mut x, y): (f64, f64)) {
        let mut callees: Vec<(&&str, &Node<'_>)> = node.callees.iter().collect();
        // Both panels have the same order.
        callees.sort_by(|a, b| (b.1.ns[0] + b.1.ns[1]).total_cmp(&(a.1.ns[0] + a.1.ns[1])));
        for (name, node) in callees {
            let width = node.ns[side] * self.scale;
            if width >= LEAST_WIDTH {
                self.frame(name, node, (x, y), width);
                self.callees(node, side, (x, y + ROW));
            }
            x += width;
        }
    }

    /// Draws the box of a function.
    fn frame(&mut self, name: &str, node: &Node<'_>, (x, y): (f64, f64), width: f64) {
        let difference = node.ns[1] - node.ns[0];
        let share = if self.largest_ns > 0.0 { (difference.abs() / self.largest_ns).sqrt() } else { 0.0 };
        let color = GRID.mix(if difference > 0.0 { MORE } else { LESS }, 0.85 * share);
        let [baseline, candidate] = &self.graph.sides;
        let told = format!(
            "{name}\n{}: {}, {}: {}, difference {}{}",
            baseline.label,
            ns(node.ns[0]),
            candidate.label,
            ns(node.ns[1]),
            if difference < 0.0 { "−" } else { "+" },
            ns(difference.abs())
        );
        let _ = write!(
            self.svg,
            "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
            escaped(&told),
            (width - 0.3).max(0.3),
            ROW - 1.0,
            hex(color)
        );
        if width >= LEAST_TEXT_WIDTH {
            let short = cut(&(self.graph.short_name)(name), width - 6.0, TEXT_SIZE, Weight::Regular);
            let ink = if color.luminance() > 0.25 { INK } else { PAPER };
            self.text(&short, (x + 3.0, y + 12.5), (TEXT_SIZE, Weight::Regular), ink);
        }
        self.svg += "</g>\n";
    }

    fn text(&mut self, line: &str, (x, y): (f64, f64), (size, weight): (f64, Weight), color: Color) {
        if line.is_empty() {
            return;
        }
        let bold = if weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
        let _ = write!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{bold} fill=\"{}\" textLength=\"{:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\" pointer-events=\"none\">{}</text>",
            hex(color),
            font::width(line, size, weight),
            escaped(line)
        );
    }
}

/// Formats a CPU time per operation, such as `1.20 µs`.
fn ns(value: f64) -> String {
    alike(value, Unit::Nanoseconds).replace('\u{a0}', " ")
}

fn hex(Color(red, green, blue): Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace(|letter: char| letter.is_control() && letter != '\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(parts: &[(&[&str], u64)]) -> FoldedStacks {
        let mut stacks = FoldedStacks::default();
        parts.iter().for_each(|(functions, ns)| stacks.add(functions.iter().copied(), *ns));
        stacks
    }

    #[test]
    fn the_graph_shows_both_profiles_with_one_scale() {
        let fast =
            stacks(&[(&["start", "main", "get", "Vec<u8>::seek"], 100), (&["start", "main", "put"], 100)]);
        let slow = stacks(&[
            (&["start", "main", "get", "Vec<u8>::seek"], 300),
            (&["start", "main", "get", "new"], 100),
            (&["start", "main", "put"], 100),
        ]);
        let side = |label, stacks| FlameSide { label, stacks, operations: 1 };
        let graph = FlameGraph {
            title: "slow against fast".to_owned(),
            caption: "In phase get, slow is slower.".to_owned(),
            sides: [side("fast", &fast), side("slow", &slow)],
            short_name: str::to_owned,
        };
        let svg = graph.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let boxes: Vec<(String, f64)> = document
            .descendants()
            .filter(|node| node.has_tag_name("g"))
            .map(|node| {
                let title = node.children().find(|child| child.has_tag_name("title")).unwrap();
                let rect = node.children().find(|child| child.has_tag_name("rect")).unwrap();
                (title.text().unwrap().to_owned(), rect.attribute("width").unwrap().parse().unwrap())
            })
            .collect();
        // The start is left out. The slow profile fills the width, and the fast profile is 2.5 times as short.
        let widths = |name: &str| -> Vec<f64> {
            let own = boxes.iter().filter(|(title, _)| title.starts_with(&format!("{name}\n")));
            own.map(|(_, width)| width.round()).collect()
        };
        assert_eq!(widths("start"), [0.0; 0]);
        assert_eq!(widths("main"), [470.0, 1176.0]);
        assert_eq!(widths("Vec<u8>::seek"), [235.0, 705.0]);
        assert_eq!(widths("new"), [235.0]);
        let told = &boxes.iter().find(|(title, _)| title.starts_with("Vec")).unwrap().0;
        assert!(told.contains("fast: 100 ns, slow: 300 ns, difference +200 ns"), "{told}");
        assert!(svg.contains(&hex(GRID)), "put has no difference");
    }

    #[test]
    fn an_empty_profile_is_an_empty_graph() {
        let none = FoldedStacks::default();
        let side = FlameSide { label: "none", stacks: &none, operations: 0 };
        let graph = FlameGraph {
            title: "a & b".to_owned(),
            caption: String::new(),
            sides: [side, side],
            short_name: str::to_owned,
        };
        let svg = graph.svg();
        assert!(roxmltree::Document::parse(&svg).is_ok() && !svg.contains("<g>"), "{svg}");
    }
}
