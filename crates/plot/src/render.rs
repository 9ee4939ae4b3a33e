//! Draws a scene with the back ends of `plotters`: as SVG, and as PNG at twice the size.
//!
//! The back ends draw only at integer coordinates. For precision, the scene is therefore drawn four times as large. The
//! view box of the SVG scales the drawing down again. For a PNG, each group of pixels is averaged, which also smooths
//! every edge.

use std::fmt::Write as _;
use std::path::Path;

use plotters::prelude::{BitMapBackend, SVGBackend};
use plotters_backend::{BackendColor, BackendStyle, DrawingBackend, DrawingErrorKind};

use crate::PlotError;
use crate::font::{self, BASELINE_EM, TextStyle, Typeface};
use crate::palette::{Color, Mark, PAPER};
use crate::scene::{Rect, Scene, Shape, Text};

/// The number of units of a `plotters` back end per pixel of the page. Back ends accept only whole units, so more units
/// draw more precisely.
const UNITS: f64 = 4.0;

/// The number of pixels of a PNG for a screen per pixel of the page. A PNG for print keeps all drawn pixels.
const PNG_SCALE: usize = 2;

/// Renders the scene as SVG. `title` is the text for screen readers. `in_print` is the number of pixels per inch in
/// print; `None` for a screen.
pub(crate) fn svg(scene: &Scene, title: &str, in_print: Option<f64>) -> String {
    let (width, height) = size(scene);
    let mut text = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut text, (width, height));
        let mut pen = Pen { backend: &mut backend, joins: Joins::Native };
        // Writing to a string does not fail.
        let _ = pen.scene(scene);
        let _ = pen.backend.present();
    }
    let body = text.split_once('\n').map_or("", |(_, body)| body);
    let (w, h) = match in_print {
        Some(per_inch) => {
            let inches = |pixels: f64| format!("{}in", (pixels / per_inch * 1e4).round() / 1e4);
            (inches(scene.width), inches(scene.height))
        }
        None => (scene.width.to_string(), scene.height.to_string()),
    };
    let stretch = if Typeface::current().is_embedded() { " font-stretch=\"condensed\"" } else { "" };
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace(char::is_control, " ");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {width} {height}\" \
         stroke-linejoin=\"round\"{stretch} role=\"img\">\n<title>{title}</title>\n{}",
        with_widths(body, scene)
    )
}

/// Adds the width of every text to the SVG, so that a viewer with another font draws each text with this width.
fn with_widths(body: &str, scene: &Scene) -> String {
    const TEXT: &str = "<text ";
    let mut parts = body.split(TEXT);
    let mut out = parts.next().unwrap_or_default().to_owned();
    let texts = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(text) if !text.line.is_empty() => Some(text),
        _ => None,
    });
    for (text, part) in texts.zip(parts) {
        let length = (font::width(&text.line, text.size, text.weight) * UNITS).round();
        let _ = write!(out, "{TEXT}textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" {part}");
    }
    out
}

/// Writes the scene as PNG. With `is_print`, the PNG has the resolution of a printed page.
pub(crate) fn png(scene: &Scene, path: &Path, is_print: bool) -> Result<(), PlotError> {
    let failed = |error: &dyn std::fmt::Display| PlotError::Write {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let (width, height) = size(scene);
    let mut pixels = vec![255; width as usize * height as usize * 3];
    {
        let mut backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
        let mut pen = Pen { backend: &mut backend, joins: Joins::Round };
        pen.scene(scene).map_err(|error| failed(&error))?;
        pen.backend.present().map_err(|error| failed(&error))?;
    }
    let step = if is_print { 1 } else { UNITS as usize / PNG_SCALE };
    let (small, size) = shrink(&pixels, width as usize, step);
    let mut backend = BitMapBackend::new(path, size);
    backend.blit_bitmap((0, 0), size, &small).map_err(|error| failed(&error))?;
    backend.present().map_err(|error| failed(&error))
}

fn size(scene: &Scene) -> (u32, u32) {
    ((scene.width * UNITS).round() as u32, (scene.height * UNITS).round() as u32)
}

/// Reduces an image: each square of `step` by `step` pixels becomes one pixel with the average color. Returns the
/// pixels and the size of the reduced image.
fn shrink(pixels: &[u8], width: usize, step: usize) -> (Vec<u8>, (u32, u32)) {
    let (columns, rows) = (width / step, pixels.len() / 3 / width / step);
    let mut small = Vec::with_capacity(columns * rows * 3);
    for row in 0..rows {
        for column in 0..columns {
            for channel in 0..3 {
                let at = |y: usize, x: usize| ((row * step + y) * width + column * step + x) * 3 + channel;
                let sum: usize = (0..step * step).map(|i| usize::from(pixels[at(i / step, i % step)])).sum();
                small.push((sum / (step * step)) as u8);
            }
        }
    }
    (small, (columns as u32, rows as u32))
}

/// How a pen draws the corners of lines with a `plotters` back end.
#[derive(Clone, Copy, PartialEq)]
enum Joins {
    /// The back end draws paths without gaps.
    Native,
    /// The back end leaves gaps at corners, so the pen draws each segment separately and adds a disc at each corner.
    Round,
}

/// Draws the shapes of a scene with a `plotters` back end.
struct Pen<'a, B> {
    backend: &'a mut B,
    joins: Joins,
}

type Drawn<B> = Result<(), DrawingErrorKind<<B as DrawingBackend>::ErrorType>>;

impl<B: DrawingBackend> Pen<'_, B> {
    fn scene(&mut self, scene: &Scene) -> Drawn<B> {
        let page = Rect { left: 0.0, top: 0.0, right: scene.width, bottom: scene.height };
        self.rect(page, PAPER)?;
        for shape in &scene.shapes {
            match shape {
                Shape::Line { points, width, color, dashes } => {
                    for stretch in dash(points, dashes) {
                        self.line(&stretch, *width, *color)?;
                    }
                }
                Shape::Area { points, color, alpha } => self.area(points, color.translucent(*alpha))?,
                Shape::Box { rect, color } => self.rect(*rect, *color)?,
                Shape::Mark { x, y, radius, color, mark } => {
                    for (outline, color) in layers(*mark, (*x, *y), *radius, *color) {
                        self.mark(outline, (*x, *y), color)?;
                    }
                }
                Shape::Text(text) => self.text(text)?,
            }
        }
        Ok(())
    }

    fn rect(&mut self, rect: Rect, color: Color) -> Drawn<B> {
        let corner = |x, y| units((x, y));
        self.backend.draw_rect(
            corner(rect.left, rect.top),
            corner(rect.right, rect.bottom),
            &color.solid(),
            true,
        )
    }

    fn area(&mut self, points: &[(f64, f64)], color: BackendColor) -> Drawn<B> {
        self.backend.fill_polygon(points.iter().copied().map(units), &color)
    }

    fn line(&mut self, points: &[(f64, f64)], width: f64, color: Color) -> Drawn<B> {
        let stroke = Stroke { color: color.solid(), width: (width * UNITS).round() as u32 };
        let mut points: Vec<(i32, i32)> = points.iter().copied().map(units).collect();
        points.dedup();
        if self.joins == Joins::Native {
            return self.backend.draw_path(points, &stroke);
        }
        for (at, pair) in points.windows(2).enumerate() {
            self.backend.draw_line(pair[0], pair[1], &stroke)?;
            if at > 0 && stroke.width > 2 {
                self.backend.draw_circle(pair[0], stroke.width / 2, &stroke.color, true)?;
            }
        }
        Ok(())
    }

    fn mark(&mut self, outline: Outline, at: (f64, f64), color: Color) -> Drawn<B> {
        match outline {
            Outline::Circle(radius) => {
                let radius = (radius * UNITS).round() as u32;
                self.backend.draw_circle(units(at), radius, &color.solid(), true)
            }
            Outline::Polygon(points) => self.area(&points, color.solid()),
            Outline::Strokes(lines, width) => lines.iter().try_for_each(|line| self.line(line, width, color)),
        }
    }

    fn text(&mut self, text: &Text) -> Drawn<B> {
        if text.line.is_empty() {
            return Ok(());
        }
        let style = TextStyle::new(text.size * UNITS, text.weight, text.color, text.anchor, text.rotated);
        let hang = BASELINE_EM * text.size;
        let point = if text.rotated { (text.x - hang, text.y) } else { (text.x, text.y - hang) };
        self.backend.draw_text(&text.line, &style, units(point))
    }
}

/// The geometric shape of a mark at a data point.
pub(crate) enum Outline {
    /// A filled circle with this radius.
    Circle(f64),
    /// A filled polygon.
    Polygon(Vec<(f64, f64)>),
    /// Lines with their thickness.
    Strokes(Vec<[(f64, f64); 2]>, f64),
}

/// Returns the shapes of a mark at a position, with their colors, in the order of drawing: a white edge, the mark, and
/// the white inside of a hollow mark.
pub(crate) fn layers(mark: Mark, at: (f64, f64), radius: f64, color: Color) -> Vec<(Outline, Color)> {
    /// The thickness of the line of a hollow mark, as a fraction of its radius.
    const RIM: f64 = 0.4;
    let shape = mark.filled().unwrap_or(mark);
    let mut layers = vec![(outline(shape, at, radius + 1.0), PAPER), (outline(shape, at, radius), color)];
    layers.extend(mark.filled().map(|shape| (outline(shape, at, radius * (1.0 - RIM)), PAPER)));
    layers
}

/// Returns the geometric shape of a filled mark at a position, with this radius.
fn outline(mark: Mark, (x, y): (f64, f64), radius: f64) -> Outline {
    let polygon = |corners: &[(f64, f64)]| {
        Outline::Polygon(corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect())
    };
    let strokes = |ends: &[(f64, f64)]| {
        let line =
            |(dx, dy): &(f64, f64)| [(x - dx * radius, y - dy * radius), (x + dx * radius, y + dy * radius)];
        Outline::Strokes(ends.iter().map(line).collect(), 2.4_f64.min(radius * 0.6))
    };
    match mark {
        Mark::Circle | Mark::HollowCircle => Outline::Circle(radius),
        Mark::Square | Mark::HollowSquare => {
            polygon(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)])
        }
        Mark::Triangle | Mark::HollowTriangle => polygon(&[(0.0, -1.15), (1.05, 0.8), (-1.05, 0.8)]),
        Mark::TriangleDown | Mark::HollowTriangleDown => polygon(&[(0.0, 1.15), (1.05, -0.8), (-1.05, -0.8)]),
        Mark::TriangleRight => polygon(&[(1.15, 0.0), (-0.8, 1.05), (-0.8, -1.05)]),
        Mark::Diamond | Mark::HollowDiamond => polygon(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
        Mark::Star => {
            let corner = |at: usize| {
                let angle = std::f64::consts::PI * at as f64 / 5.0;
                let reach = if at.is_multiple_of(2) { 1.4 } else { 0.6 };
                (angle.sin() * reach, -angle.cos() * reach)
            };
            polygon(&std::array::from_fn::<_, 10, _>(corner))
        }
        Mark::Cross => strokes(&[(0.85, 0.85), (0.85, -0.85)]),
        Mark::Plus => strokes(&[(1.2, 0.0), (0.0, 1.2)]),
        Mark::Asterisk => strokes(&[(1.2, 0.0), (0.6, 1.04), (0.6, -1.04)]),
        Mark::UprightBar => strokes(&[(0.0, 1.3)]),
    }
}

struct Stroke {
    color: BackendColor,
    width: u32,
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        self.color
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

fn units((x, y): (f64, f64)) -> (i32, i32) {
    ((x * UNITS).round() as i32, (y * UNITS).round() as i32)
}

/// Cuts a line into dashes. `lengths` contains the lengths of dashes and gaps alternately, beginning with a dash.
fn dash(points: &[(f64, f64)], lengths: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if lengths.is_empty() {
        return vec![points.to_vec()];
    }
    let mut strokes = Vec::new();
    let mut stroke: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    let (mut phase, mut left) = (0, lengths[0]);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let rest = (to.0 - from.0).hypot(to.1 - from.1);
            if rest <= left {
                left -= rest;
                stroke.push(to);
                break;
            }
            let share = left / rest;
            from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            stroke.push(from);
            // Removes the second of two equal points, which occur if a dash ends exactly at a corner of the line.
            stroke.dedup();
            if phase % 2 == 0 {
                strokes.push(std::mem::take(&mut stroke));
            }
            stroke = vec![from];
            phase += 1;
            left = lengths[phase % lengths.len()];
        }
    }
    if phase % 2 == 0 && stroke.len() > 1 {
        strokes.push(stroke);
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_are_as_long_as_they_say() {
        let strokes = dash(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], &[4.0, 2.0]);
        assert_eq!(strokes.len(), 4);
        assert_eq!(strokes[0], [(0.0, 0.0), (4.0, 0.0)]);
        assert_eq!(strokes[1], [(6.0, 0.0), (10.0, 0.0)]);
        assert_eq!(strokes[2], [(10.0, 2.0), (10.0, 6.0)]);
        assert_eq!(strokes[3], [(10.0, 8.0), (10.0, 10.0)]);
        assert_eq!(dash(&[(0.0, 0.0)], &[]), [[(0.0, 0.0)]]);
        assert!(dash(&[], &[1.0, 1.0]).is_empty());
    }

    #[test]
    fn shrinking_averages() {
        let pixels = [0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255];
        assert_eq!(shrink(&pixels, 2, 2), (vec![127, 127, 127], (1, 1)));
    }
}
