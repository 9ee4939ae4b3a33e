//! The page around a plot: title and facts above, legend, notes and origin below.
//!
//! The page is 800 pixels wide and as high as its content asks, 500 at least; that of a phone is 360 wide. No text is
//! smaller than 12 pixels.

use crate::data::{Data, Known, Series};
use crate::font;
use crate::font::{Anchor, LABEL, Weight};
use crate::palette::{AXIS, Color, FAINT, INK, Mark, Style, TEXT};
use crate::scene::{Rect, Scene, Shape, Text, cut, wrap, wrap_evenly};

/// The height of a page whose content asks no more, as a share of its width.
const HEIGHT: f64 = 0.625;
/// The lowest a plot may become; the page grows instead.
const LEAST_PLOT: f64 = 250.0;
/// White around everything.
pub(crate) const MARGIN: f64 = 24.0;
/// The size of descriptions.
pub(crate) const BODY: f64 = 13.0;
const TITLE: f64 = 18.0;
/// The width of a legend's sample with the gap behind it.
const SAMPLE: f64 = 32.0;
const LEGEND_ROW: f64 = 19.0;

/// What is said around a plot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captions {
    pub width: Width,
    pub title: String,
    pub subtitle: String,
    /// What the verdict is on what is shown.
    pub verdict: String,
    /// What is measured upwards, or by colour.
    pub upwards: String,
    /// What stands across.
    pub across: String,
    pub legend: Option<Legend>,
    pub notes: Vec<String>,
    pub origin: String,
}

impl Captions {
    /// The pixels between the margins.
    pub(crate) fn inner(&self) -> f64 {
        self.width.pixels() - 2.0 * MARGIN
    }
}

/// How wide a page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// 800 pixels.
    #[default]
    Full,
    /// 360 pixels, for a screen held in a hand.
    Phone,
}

impl Width {
    fn pixels(self) -> f64 {
        match self {
            Self::Full => 800.0,
            Self::Phone => 360.0,
        }
    }

    /// So many lines where so many are enough on a full page.
    fn lines(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Phone => 3 * full,
        }
    }
}

/// The names of the series.
#[derive(Clone, Debug, Default)]
pub(crate) struct Legend {
    /// What they are names of.
    pub heading: String,
    pub entries: Vec<(String, Sample)>,
}

/// The names of the series, and the lines of what is known beforehand; nothing where there is nothing to tell apart.
pub(crate) fn legend_for(data: &Data, sample: impl Fn(Style) -> Sample) -> Option<Legend> {
    let several = data.legend.is_some();
    let known = [(data.theory, Sample::Theory), (data.bound, Sample::Bound)];
    let known: Vec<(String, Sample)> =
        known.into_iter().filter_map(|(known, sample)| Some((known?.name.to_owned(), sample))).collect();
    if !several && known.is_empty() {
        return None;
    }
    let label = |series: &Series| if several { series.label.clone() } else { "measured".to_owned() };
    let entries = data.series.iter().map(|series| (label(series), sample(series.style)));
    Some(Legend { heading: data.legend.clone().unwrap_or_default(), entries: entries.chain(known).collect() })
}

/// What stands before a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sample {
    /// A piece of line, with its mark.
    Line { style: Style, mark: bool },
    /// A mark alone.
    Mark(Style),
    /// A bar.
    Box(Style),
    /// The line that stands for theory.
    Theory,
    /// The line that stands for the best there could be.
    Bound,
}

/// A page whose captions are set, with the room that is left for the plot.
pub(crate) struct Page {
    pub scene: Scene,
    /// The room between the captions, ticks included.
    pub room: Rect,
    /// The place among the shapes of what stands across.
    across: Option<usize>,
}

impl Page {
    /// Puts what stands across in the middle below the plot, and gives the scene away.
    pub(crate) fn below(mut self, plot: Rect) -> Scene {
        if let Some(Shape::Text(text)) = self.across.and_then(|at| self.scene.shapes.get_mut(at)) {
            let half = font::width(&text.line, text.size, text.weight) / 2.0;
            let middle = f64::midpoint(plot.left, plot.right);
            text.x = middle.min(self.scene.width - MARGIN - half).max(MARGIN + half);
        }
        self.scene
    }
}

/// Sets the captions around a plot that needs at least `plot` pixels of height, ticks included.
pub(crate) fn compose(captions: &Captions, plot: f64) -> Page {
    let width = captions.width.pixels();
    let mut scene = Scene::new(width);
    let top = head(&mut scene, captions);
    let mut foot = Scene::new(width);
    let foot_height = foot_of(&mut foot, captions);
    let height = (top + plot.max(LEAST_PLOT) + foot_height).max(HEIGHT * width).ceil();
    let bottom = height - foot_height;
    let across = (!captions.across.is_empty()).then_some(scene.shapes.len());
    for mut shape in foot.shapes {
        shape.move_down(bottom);
        scene.shapes.push(shape);
    }
    scene.height = height;
    Page { scene, room: Rect { left: MARGIN, top, right: width - MARGIN, bottom }, across }
}

/// Title, subtitle and what stands upwards; returns where they end.
fn head(scene: &mut Scene, captions: &Captions) -> f64 {
    let width = captions.inner();
    let lines = |full: usize| captions.width.lines(full);
    let mut y = MARGIN - 4.0;
    for line in wrap_evenly(&captions.title, width, TITLE, Weight::Bold, lines(3)) {
        y += TITLE * font::LINE_EM;
        scene.text(Text::new(line, MARGIN, y - 5.0, TITLE, INK).bold());
    }
    y += 2.0;
    for line in wrap(&captions.subtitle, width, BODY, Weight::Regular, lines(3)) {
        y += BODY * font::LINE_EM;
        scene.text(Text::new(line, MARGIN, y - 4.0, BODY, FAINT));
    }
    for line in wrap(&captions.verdict, width, BODY, Weight::Regular, lines(3)) {
        y += BODY * font::LINE_EM;
        scene.text(Text::new(line, MARGIN, y - 4.0, BODY, TEXT));
    }
    y += 12.0;
    for line in wrap(&captions.upwards, width, BODY, Weight::Regular, lines(2)) {
        y += BODY * font::LINE_EM;
        scene.text(Text::new(line, MARGIN, y - 4.0, BODY, TEXT));
    }
    y + 8.0
}

/// What stands across, legend, notes and origin, from 0 downwards; returns their height.
fn foot_of(scene: &mut Scene, captions: &Captions) -> f64 {
    let width = captions.inner();
    let mut y = 0.0;
    if !captions.across.is_empty() {
        y += BODY * font::LINE_EM;
        let line = cut(&captions.across, width, BODY, Weight::Regular);
        scene.text(Text::new(line, scene.width / 2.0, y - 4.0, BODY, TEXT).anchored(Anchor::Middle));
    }
    if let Some(legend) = &captions.legend {
        y = legend_of(scene, legend, y + 10.0);
    }
    y += 10.0;
    for note in &captions.notes {
        for line in wrap(note, width, LABEL, Weight::Regular, captions.width.lines(2)) {
            y += LABEL * font::LINE_EM;
            scene.text(Text::new(line, MARGIN, y - 4.0, LABEL, TEXT));
        }
    }
    y += LABEL * font::LINE_EM;
    let line = cut(&captions.origin, width, LABEL, Weight::Regular);
    scene.text(Text::new(line, scene.width - MARGIN, y - 4.0, LABEL, FAINT).anchored(Anchor::End));
    y + 12.0
}

/// The legend in columns of equal width; returns where it ends.
fn legend_of(scene: &mut Scene, legend: &Legend, top: f64) -> f64 {
    let heading = cut(&legend.heading, scene.width / 4.0, BODY, Weight::Regular);
    let indent = if heading.is_empty() { 0.0 } else { font::width(&heading, BODY, Weight::Regular) + 18.0 };
    let width = scene.width - 2.0 * MARGIN - indent;
    let label = |text: &str| font::width(text, BODY, Weight::Regular);
    let widest = legend.entries.iter().map(|(text, _)| label(text)).fold(0.0, f64::max);
    let column = (SAMPLE + widest + 22.0).min(width);
    let columns = ((width + 22.0) / column).floor().max(1.0) as usize;
    // As few rows as there can be, and then no more columns than those rows need.
    let rows = legend.entries.len().div_ceil(columns);
    scene.text(Text::new(heading, MARGIN, top + 14.0, BODY, FAINT));
    for (at, (text, sample)) in legend.entries.iter().enumerate() {
        let left = MARGIN + indent + (at / rows) as f64 * column;
        let y = top + (at % rows) as f64 * LEGEND_ROW;
        sample_of(scene, *sample, left, y + 9.5);
        let text = cut(text, width.min(column) - SAMPLE, BODY, Weight::Regular);
        scene.text(Text::new(text, left + SAMPLE, y + 14.0, BODY, TEXT));
    }
    top + rows as f64 * LEGEND_ROW
}

fn sample_of(scene: &mut Scene, sample: Sample, left: f64, y: f64) {
    let right = left + SAMPLE - 8.0;
    let middle = f64::midpoint(left, right);
    match sample {
        Sample::Line { style, mark } => {
            scene.dashed(vec![(left, y), (right, y)], 2.0, style.color, style.dashes);
            if mark {
                scene.mark(middle, y, style.color, style.mark);
            }
        }
        Sample::Mark(style) => scene.mark(right - 8.0, y, style.color, style.mark),
        Sample::Box(style) => {
            let rect = Rect { left: right - 14.0, top: y - 6.0, right, bottom: y + 6.0 };
            bar(scene, rect, style);
        }
        Sample::Theory => scene.dashed(vec![(left, y), (right, y)], 1.25, TEXT, dashes_of(Known::Theory)),
        Sample::Bound => scene.dashed(vec![(left, y), (right, y)], 1.25, TEXT, dashes_of(Known::Bound)),
    }
}

/// How the lines of what is known beforehand are broken.
pub(crate) fn dashes_of(known: Known) -> &'static [f64] {
    match known {
        Known::Theory => &[3.0, 3.0],
        Known::Bound => &[9.0, 3.0],
    }
}

/// A bar with an edge, so that its lighter fills keep their shape on white.
pub(crate) fn bar(scene: &mut Scene, rect: Rect, style: Style) {
    if style.fill == style.color || rect.width() < 4.0 || rect.height() < 4.0 {
        scene.rect(rect, style.color);
        return;
    }
    scene.rect(rect, style.color);
    let inner = Rect {
        left: rect.left + 1.5,
        top: rect.top + 1.5,
        right: rect.right - 1.5,
        bottom: rect.bottom - 1.5,
    };
    scene.rect(inner, style.fill);
}

/// A whisker from one point to another, with caps across its ends.
pub(crate) fn whisker(scene: &mut Scene, from: (f64, f64), to: (f64, f64), color: Color) {
    const CAP: f64 = 3.0;
    scene.line(&[from, to], 1.25, color);
    let upright = (from.0 - to.0).abs() < 1e-9;
    for (x, y) in [from, to] {
        let cap = if upright { [(x - CAP, y), (x + CAP, y)] } else { [(x, y - CAP), (x, y + CAP)] };
        scene.line(&cap, 1.25, color);
    }
}

/// A tick on the horizontal axis at the bottom of a plot.
pub(crate) fn tick(scene: &mut Scene, x: f64, bottom: f64) {
    scene.line(&[(x, bottom), (x, bottom + 4.0)], 1.0, AXIS);
}

impl Scene {
    /// A mark of the usual size.
    pub(crate) fn mark(&mut self, x: f64, y: f64, color: Color, mark: Mark) {
        self.shapes.push(Shape::Mark { x, y, radius: 4.0, color, mark });
    }
}
