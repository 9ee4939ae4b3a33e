//! A drawing as a list of shapes. The layout code creates the shapes, tests check them, and back ends render them as
//! SVG, PNG and PDF.
//!
//! Coordinates are pixels of the page. The y axis points downwards.

use crate::font::{self, Anchor, Weight};
use crate::palette::{Color, Mark};

/// One line of text.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub line: String,
    /// The x coordinate of the point at which the text is anchored.
    pub x: f64,
    pub y: f64,
    pub size: f64,
    pub weight: Weight,
    pub color: Color,
    pub anchor: Anchor,
    /// Whether the text reads from bottom to top.
    pub rotated: bool,
}

/// An axis-aligned rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && other.right <= self.right
            && other.bottom <= self.bottom
    }

    /// Returns whether two rectangles overlap by more than a rounding error.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        const HAIR: f64 = 0.5;
        self.left < other.right - HAIR
            && other.left < self.right - HAIR
            && self.top < other.bottom - HAIR
            && other.top < self.bottom - HAIR
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A line through several points.
    Line {
        points: Vec<(f64, f64)>,
        width: f64,
        color: Color,
        dashes: &'static [f64],
    },
    /// A filled polygon with opacity `alpha`.
    Area {
        points: Vec<(f64, f64)>,
        color: Color,
        alpha: f64,
    },
    /// A filled rectangle.
    Box {
        rect: Rect,
        color: Color,
    },
    /// A filled mark with a thin white edge, which separates the mark from the shapes below it.
    Mark {
        x: f64,
        y: f64,
        radius: f64,
        color: Color,
        mark: Mark,
    },
    Text(Text),
}

impl Shape {
    /// Moves the shape down the page by `by` pixels.
    pub(crate) fn move_down(&mut self, by: f64) {
        match self {
            Self::Line { points, .. } | Self::Area { points, .. } => {
                for (_, y) in points {
                    *y += by;
                }
            }
            Self::Box { rect, .. } => {
                rect.top += by;
                rect.bottom += by;
            }
            Self::Mark { y, .. } => *y += by,
            Self::Text(text) => text.y += by,
        }
    }
}

/// The drawing of a whole page: its size in pixels, and its shapes in the order of drawing.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

impl Scene {
    pub(crate) fn new(width: f64) -> Self {
        Self { width, height: 0.0, shapes: Vec::new() }
    }

    pub(crate) fn line(&mut self, points: &[(f64, f64)], width: f64, color: Color) {
        self.dashed(points.to_vec(), width, color, &[]);
    }

    pub(crate) fn dashed(
        &mut self,
        points: Vec<(f64, f64)>,
        width: f64,
        color: Color,
        dashes: &'static [f64],
    ) {
        self.shapes.push(Shape::Line { points, width, color, dashes });
    }

    pub(crate) fn rect(&mut self, rect: Rect, color: Color) {
        self.shapes.push(Shape::Box { rect, color });
    }

    pub(crate) fn text(&mut self, text: Text) {
        self.shapes.push(Shape::Text(text));
    }

    /// Returns one message for each text that extends beyond the page, overlaps another text, or is too small to read.
    pub(crate) fn flaws(&self) -> Vec<String> {
        let page = Rect { left: 0.0, top: 0.0, right: self.width, bottom: self.height };
        let texts: Vec<(&Text, Rect)> = self
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Text(text) if !text.line.is_empty() => Some((text, text.bounds())),
                _ => None,
            })
            .collect();
        let mut flaws = Vec::new();
        for (at, (text, bounds)) in texts.iter().enumerate() {
            if !page.holds(bounds) {
                flaws.push(format!("the text {:?} leaves the page: {bounds:?}", text.line));
            }
            if text.size < 12.0 {
                flaws.push(format!("{:?} is {} pixels high", text.line, text.size));
            }
            let over = texts[..at].iter().find(|(_, other)| other.overlaps(bounds));
            flaws.extend(over.map(|(other, _)| format!("{:?} lies over {:?}", text.line, other.line)));
        }
        flaws
    }
}

impl Text {
    pub(crate) fn new(text: impl Into<String>, x: f64, y: f64, size: f64, color: Color) -> Self {
        // A control character would make the SVG invalid, and names come from files.
        let line = text.into().replace(char::is_control, " ");
        Self { line, x, y, size, weight: Weight::Regular, color, anchor: Anchor::Start, rotated: false }
    }

    pub(crate) fn bold(mut self) -> Self {
        self.weight = Weight::Bold;
        self
    }

    pub(crate) fn anchored(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    pub(crate) fn rotated(mut self) -> Self {
        self.rotated = true;
        self
    }

    /// Returns the bounding box of the text, from the top of capital letters to the bottom of letters such as `g`.
    pub(crate) fn bounds(&self) -> Rect {
        let width = font::width(&self.line, self.size, self.weight);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (ascent, descent) = (0.76 * self.size, 0.24 * self.size);
        if self.rotated {
            let bottom = self.y + before;
            Rect { left: self.x - ascent, right: self.x + descent, top: bottom - width, bottom }
        } else {
            let left = self.x - before;
            Rect { left, right: left + width, top: self.y - ascent, bottom: self.y + descent }
        }
    }
}

/// Breaks a text into at most `most` lines that are at most `width` wide. Lines break at spaces and after `(`, `,` and
/// `/`, and if necessary after `-` and `_`. An ellipsis replaces the end of a word that is wider than a line, and of a
/// text that is too long.
pub(crate) fn wrap(text: &str, width: f64, size: f64, weight: Weight, most: usize) -> Vec<String> {
    let lines = wrap_at(&[' ', '(', ',', '/'], text, width, size, weight, most);
    if lines.iter().any(|line| line.ends_with('…')) {
        return wrap_at(&[' ', '(', ',', '/', '-', '_'], text, width, size, weight, most);
    }
    lines
}

/// Breaks text into lines that are at most `width` wide, at spaces and after each character of `after`.
fn wrap_at(after: &[char], text: &str, width: f64, size: f64, weight: Weight, most: usize) -> Vec<String> {
    let fits = |line: &str| font::width(line.trim_end(), size, weight) <= width;
    let mut lines: Vec<String> = vec![String::new()];
    for piece in text.split_inclusive(after) {
        let (full, last) = (lines.len() >= most, lines.len() - 1);
        let line = &mut lines[last];
        if full || line.is_empty() || fits(&format!("{line}{piece}")) {
            line.push_str(piece);
        } else {
            lines.push(piece.trim_start().to_owned());
        }
    }
    lines.iter().map(|line| cut(line.trim_end(), width, size, weight)).collect()
}

/// Breaks text into lines that are at most `width` wide, only at spaces. A word that is wider than a line is broken at
/// any character. No text is omitted.
pub(crate) fn wrap_words(text: &str, width: f64, size: f64, weight: Weight) -> Vec<String> {
    let fits = |line: &str| font::width(line, size, weight) <= width;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if fits(&longer) {
            *line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(String::new());
        }
        for character in word.chars() {
            let last = lines.len() - 1;
            let longer = format!("{}{character}", lines[last]);
            if fits(&longer) || lines[last].is_empty() {
                lines[last] = longer;
            } else {
                lines.push(character.to_string());
            }
        }
    }
    lines
}

/// Breaks text like [`wrap_words`], into lines of similar length.
pub(crate) fn wrap_evenly(text: &str, width: f64, size: f64, weight: Weight) -> Vec<String> {
    let lines = wrap_words(text, width, size, weight);
    let fits_in = |narrower: f64| wrap_words(text, narrower, size, weight).len() <= lines.len();
    if lines.len() < 2 {
        return lines;
    }
    let narrowest = (20..=40).map(|step| width * f64::from(step) / 40.0).find(|width| fits_in(*width));
    wrap_words(text, narrowest.unwrap_or(width), size, weight)
}

/// Returns the text, cut to the width `width`. An ellipsis replaces the part that does not fit.
pub(crate) fn cut(text: &str, width: f64, size: f64, weight: Weight) -> String {
    if font::width(text, size, weight) <= width {
        return text.to_owned();
    }
    let mut short: Vec<char> = text.chars().collect();
    while short.pop().is_some() {
        let candidate = format!("{}…", short.iter().collect::<String>().trim_end());
        if font::width(&candidate, size, weight) <= width {
            return candidate;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_where_a_reader_would() {
        let wrap = |text, width| wrap(text, width, 12.0, Weight::Regular, 3);
        assert_eq!(wrap("blocked(bits_per_key=12)", 100.0), ["blocked(", "bits_per_key=12)"]);
        assert_eq!(wrap("blocked(bits_per_key=12)", 70.0), ["blocked(", "bits_per_", "key=12)"]);
        assert_eq!(wrap("one two", 400.0), ["one two"]);
        assert_eq!(wrap("", 10.0), [""]);
        let words = |text, width| wrap_words(text, width, 12.0, Weight::Regular);
        assert_eq!(words("lazy-leveled and tiered", 70.0), ["lazy-leveled", "and tiered"]);
        assert_eq!(words("incomprehensibilities", 60.0).concat(), "incomprehensibilities");
        let many = wrap("a quick brown fox jumps over the lazy dog and so on", 60.0);
        assert_eq!(many.len(), 3);
        assert!(many[2].ends_with('…'), "{many:?}");
        for line in many {
            assert!(font::width(&line, 12.0, Weight::Regular) <= 60.0);
        }
    }

    #[test]
    fn text_covers_what_its_anchor_says() {
        let text = Text::new("word", 100.0, 50.0, 10.0, crate::palette::INK);
        let width = text.bounds().width();
        let end = text.clone().anchored(Anchor::End).bounds();
        assert!((end.right - 100.0).abs() < 1e-9 && (end.width() - width).abs() < 1e-9);
        let upright = text.anchored(Anchor::Middle).rotated().bounds();
        assert!((upright.height() - width).abs() < 1e-9);
        assert!((upright.top + upright.bottom - 100.0).abs() < 1e-9);
    }
}
