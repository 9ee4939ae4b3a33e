//! The page around a plot. Above the plot are the title and the question. Below the plot are the legend, the caption,
//! and a line that names the experiment and the run.
//!
//! The width of a page is 800 pixels. The height depends on the content, and is at least 500 pixels. A page for a phone
//! is 360 pixels wide. A page for print has [`PER_INCH`] pixels per inch, so its labels are 8 points high. No text is
//! smaller than 12 pixels.

use crate::data::{Across, Data, Known, Series};
use crate::font;
use crate::font::{Anchor, LABEL, Weight};
use crate::palette::{AXIS, Color, FAINT, Hatch, IDEAL, INK, Mark, Style, TEXT, THEORY};
use crate::scene::{Rect, Scene, Shape, Text, cut, wrap_evenly, wrap_words};

/// The smallest height of a page, as a fraction of its width.
const HEIGHT: f64 = 0.625;
/// The smallest height of a plot, in pixels. A page becomes higher if its captions leave less space for the plot.
const LEAST_PLOT: f64 = 250.0;
/// The smallest height of a plot for print, in pixels. This height is lower than on a screen, because a column of a
/// paper has little space.
const LEAST_PLOT_IN_PRINT: f64 = 170.0;
/// The white margin of a page, in pixels.
const MARGIN: f64 = 24.0;
/// The font size of the axis descriptions, in pixels.
pub(crate) const BODY: f64 = 13.0;
const TITLE: f64 = 18.0;
const TITLE_IN_PRINT: f64 = 14.0;
/// The width in pixels of a sample in the legend, which is the line or mark in front of a name, with the gap to the
/// name.
const SAMPLE: f64 = 32.0;
const LEGEND_ROW: f64 = 19.0;
/// Pixels per inch of a page for print. With this value, 12 pixels are 8 points.
const PER_INCH: f64 = 108.0;

/// The texts of a page: title, question, axis descriptions, legend and caption.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captions {
    pub width: Width,
    pub title: String,
    /// The question that the experiment answers. The page shows the question below the title of the chart.
    pub question: String,
    /// The conditions of the measurement: the phase, the settings that differ, the number of trials, and the interval
    /// that the whiskers show.
    pub facts: String,
    /// The verdict on the drawn values, as a sentence.
    pub verdict: String,
    /// The description of the vertical axis. In a heat map, the description of the colors.
    pub upwards: String,
    /// The description of the horizontal axis.
    pub across: String,
    pub legend: Option<Legend>,
    pub notes: Vec<String>,
    pub origin: String,
    /// Whether the caption omits the notes.
    pub hides_notes: bool,
}

impl Captions {
    /// Returns the width of the page between its margins, in pixels.
    pub(crate) fn inner(&self) -> f64 {
        self.width.pixels() - 2.0 * self.width.margin()
    }
}

/// The width of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Width {
    /// A page of 800 pixels.
    #[default]
    Full,
    /// A page of 360 pixels, for a phone.
    Phone,
    /// A width in inches, for a chart in print.
    Print(f64),
}

impl Width {
    fn pixels(self) -> f64 {
        match self {
            Self::Full => 800.0,
            Self::Phone => 360.0,
            Self::Print(inches) => (inches * PER_INCH).round(),
        }
    }

    /// Returns the pixels per inch of a page for print; `None` for a page on a screen.
    pub(crate) fn per_inch(self) -> Option<f64> {
        matches!(self, Self::Print(_)).then_some(PER_INCH)
    }

    /// Returns the white margin of the page in pixels. A page for print has no margin, because the paper provides the
    /// margin.
    pub(crate) fn margin(self) -> f64 {
        match self {
            Self::Full | Self::Phone => MARGIN,
            Self::Print(_) => 4.0,
        }
    }

    fn title_size(self) -> f64 {
        if self.per_inch().is_some() { TITLE_IN_PRINT } else { TITLE }
    }

    fn least_plot(self) -> f64 {
        if self.per_inch().is_some() { LEAST_PLOT_IN_PRINT } else { LEAST_PLOT }
    }
}

/// The legend of a chart: the name of each series, with a sample of its style.
#[derive(Clone, Debug, Default)]
pub(crate) struct Legend {
    /// The title of the column that distinguishes the series, above the names.
    pub heading: String,
    /// The name of each series, with a sample of its style. If the bars of a series have several styles, the series has
    /// several samples.
    pub entries: Vec<(String, Vec<Sample>)>,
}

/// Returns the legend with the names of the series, of the predictions of theory and of the ideal bounds. `sample`
/// returns the sample of a style. Returns `None` if the chart has only one line.
pub(crate) fn legend_for(data: &Data, sample: impl Fn(Style) -> Sample) -> Option<Legend> {
    legend_with(data, |series| vec![sample(series.style)])
}

/// Returns the legend of a chart of bars or points, which draws the names of a single series in different styles. In
/// other respects, this legend equals the one of [`legend_for`].
pub(crate) fn legend_of_bars(data: &Data, sample: impl Fn(Style) -> Sample) -> Option<Legend> {
    /// The largest number of samples that fit in front of a name.
    const MOST: usize = 3;
    let mut styles: Vec<Style> = Vec::new();
    if let (Across::Names(names), [_]) = (&data.across, &data.series[..]) {
        for (_, style) in names.iter().filter(|(_, style)| !style.is_bound()) {
            if styles.len() < MOST && styles.iter().all(|known| known.color != style.color) {
                styles.push(*style);
            }
        }
    }
    legend_with(data, |series| match styles.is_empty() {
        true => vec![sample(series.style)],
        false => styles.iter().copied().map(&sample).collect(),
    })
}

fn legend_with(data: &Data, samples: impl Fn(&Series) -> Vec<Sample>) -> Option<Legend> {
    let several = data.legend.is_some();
    let known = [(data.theory, Sample::Theory), (data.bound, Sample::Bound)];
    let known: Vec<(String, Vec<Sample>)> = known
        .into_iter()
        .filter_map(|(known, sample)| Some((known?.name.to_owned(), vec![sample])))
        .collect();
    if !several && known.is_empty() {
        return None;
    }
    let label = |series: &Series| if several { series.label.clone() } else { "measured".to_owned() };
    let entries = data.series.iter().map(|series| (label(series), samples(series)));
    Some(Legend { heading: data.legend.clone().unwrap_or_default(), entries: entries.chain(known).collect() })
}

/// The sample in front of a name in the legend, which shows a style.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sample {
    /// A short line, with the mark of the points if `mark` is true.
    Line { style: Style, mark: bool },
    /// A mark without a line.
    Mark(Style),
    /// A bar of a bar chart.
    Box(Style),
    /// The line of theoretical values.
    Theory,
    /// The line of an ideal bound.
    Bound,
}

/// A page with its title, legend and caption, and the free space for the plot.
pub(crate) struct Page {
    pub scene: Scene,
    /// The free space of the page for the plot and the labels of its axes.
    pub room: Rect,
    /// The index of the text that describes the horizontal axis, among the texts of the scene. `None` without such a
    /// text.
    across: Option<usize>,
    margin: f64,
}

impl Page {
    /// Centers the description of the horizontal axis below the plot, and returns the finished drawing of the page.
    pub(crate) fn below(mut self, plot: Rect) -> Scene {
        if let Some(Shape::Text(text)) = self.across.and_then(|at| self.scene.shapes.get_mut(at)) {
            let half = font::width(&text.line, text.size, text.weight) / 2.0;
            let middle = f64::midpoint(plot.left, plot.right);
            text.x = middle.min(self.scene.width - self.margin - half).max(self.margin + half);
        }
        self.scene
    }
}

/// Draws the texts of a page, and reserves the space for the plot between them. `plot` is the smallest height of the
/// plot in pixels, including the labels of its ticks.
pub(crate) fn compose(captions: &Captions, plot: f64) -> Page {
    let (width, margin) = (captions.width.pixels(), captions.width.margin());
    let mut scene = Scene::new(width);
    let top = head(&mut scene, captions);
    let mut foot = Scene::new(width);
    let foot_height = foot_of(&mut foot, captions);
    let height = (top + plot.max(captions.width.least_plot()) + foot_height).max(HEIGHT * width).ceil();
    let bottom = height - foot_height;
    let across = (!captions.across.is_empty()).then_some(scene.shapes.len());
    for mut shape in foot.shapes {
        shape.move_down(bottom);
        scene.shapes.push(shape);
    }
    scene.height = height;
    Page { scene, room: Rect { left: margin, top, right: width - margin, bottom }, across, margin }
}

/// Draws the title, the question and the description of the vertical axis. Returns the y coordinate of the lower end of
/// these texts.
fn head(scene: &mut Scene, captions: &Captions) -> f64 {
    let (width, margin, size) = (captions.inner(), captions.width.margin(), captions.width.title_size());
    let mut y = margin - 4.0;
    let mut is_text = false;
    for line in
        wrap_evenly(&captions.title, width, size, Weight::Bold).into_iter().filter(|line| !line.is_empty())
    {
        y += size * font::LINE_EM;
        scene.text(Text::new(line, margin, y - 5.0, size, INK).bold());
        is_text = true;
    }
    y += 2.0;
    for line in wrap_words(&captions.question, width, LABEL, Weight::Regular)
        .into_iter()
        .filter(|line| !line.is_empty())
    {
        y += LABEL * font::LINE_EM;
        scene.text(Text::new(line, margin, y - 4.0, LABEL, FAINT));
        is_text = true;
    }
    y += if is_text { 12.0 } else { 0.0 };
    for line in wrap_words(&captions.upwards, width, BODY, Weight::Regular)
        .into_iter()
        .filter(|line| !line.is_empty())
    {
        y += BODY * font::LINE_EM;
        scene.text(Text::new(line, margin, y - 4.0, BODY, TEXT));
    }
    y + 8.0
}

/// Draws the texts below the plot, starting at y = 0: the description of the horizontal axis, the legend, the caption,
/// and the line that names the experiment and the run. Returns their total height.
fn foot_of(scene: &mut Scene, captions: &Captions) -> f64 {
    let (width, margin) = (captions.inner(), captions.width.margin());
    let mut y = 0.0;
    if !captions.across.is_empty() {
        y += BODY * font::LINE_EM;
        let line = cut(&captions.across, width, BODY, Weight::Regular);
        scene.text(Text::new(line, scene.width / 2.0, y - 4.0, BODY, TEXT).anchored(Anchor::Middle));
    }
    if let Some(legend) = &captions.legend {
        y = legend_of(scene, legend, margin, y + 10.0);
    }
    let notes = captions.notes.iter().filter(|_| !captions.hides_notes);
    let caption = [(&captions.facts, FAINT), (&captions.verdict, TEXT)];
    let caption =
        caption.into_iter().chain(notes.map(|note| (note, TEXT))).filter(|(text, _)| !text.is_empty());
    let mut gap = 10.0;
    for (text, color) in caption {
        y += gap;
        gap = 2.0;
        for line in wrap_words(text, width, LABEL, Weight::Regular) {
            y += LABEL * font::LINE_EM;
            scene.text(Text::new(line, margin, y - 4.0, LABEL, color));
        }
    }
    if !captions.origin.is_empty() {
        y += gap + LABEL * font::LINE_EM;
        let line = cut(&captions.origin, width, LABEL, Weight::Regular);
        scene.text(Text::new(line, scene.width - margin, y - 4.0, LABEL, FAINT).anchored(Anchor::End));
    }
    y + margin / 2.0
}

/// Draws the legend in columns of equal width, starting at y = `top`. Returns the y coordinate of its lower end.
fn legend_of(scene: &mut Scene, legend: &Legend, margin: f64, top: f64) -> f64 {
    let heading = cut(&legend.heading, scene.width / 4.0, BODY, Weight::Regular);
    let indent = if heading.is_empty() { 0.0 } else { font::width(&heading, BODY, Weight::Regular) + 18.0 };
    let width = scene.width - 2.0 * margin - indent;
    let label = |text: &str| font::width(text, BODY, Weight::Regular);
    let widest = legend.entries.iter().map(|(text, _)| label(text)).fold(0.0, f64::max);
    let column = (SAMPLE + widest + 22.0).min(width);
    let columns = ((width + 22.0) / column).floor().max(1.0) as usize;
    // Uses as few rows as possible, and then only as many columns as the entries need with these rows.
    let rows = legend.entries.len().div_ceil(columns);
    scene.text(Text::new(heading, margin, top + 14.0, BODY, FAINT));
    for (at, (text, samples)) in legend.entries.iter().enumerate() {
        let left = margin + indent + (at / rows) as f64 * column;
        let y = top + (at % rows) as f64 * LEGEND_ROW;
        samples_of(scene, samples, left, y + 9.5);
        let text = cut(text, width.min(column) - SAMPLE, BODY, Weight::Regular);
        scene.text(Text::new(text, left + SAMPLE, y + 14.0, BODY, TEXT));
    }
    top + rows as f64 * LEGEND_ROW
}

/// Draws the samples in front of a name in the legend, next to each other in the space of one sample.
fn samples_of(scene: &mut Scene, samples: &[Sample], left: f64, y: f64) {
    let right = left + SAMPLE - 8.0;
    if let [sample] = samples {
        return sample_of(scene, *sample, (left, right), y);
    }
    let width = (right - left) / samples.len() as f64;
    for (at, sample) in samples.iter().enumerate() {
        let left = left + at as f64 * width;
        sample_of(scene, *sample, (left, left + width - 1.0), y);
    }
}

/// Draws the sample of a style between two x coordinates. `y` is its middle.
fn sample_of(scene: &mut Scene, sample: Sample, (left, right): (f64, f64), y: f64) {
    let middle = f64::midpoint(left, right);
    match sample {
        Sample::Line { style, mark } => {
            scene.dashed(vec![(left, y), (right, y)], 2.0, style.color, style.dashes);
            if mark {
                scene.mark(middle, y, style.color, style.mark);
            }
        }
        Sample::Mark(style) => scene.mark((right - 8.0).max(middle), y, style.color, style.mark),
        Sample::Box(style) => {
            let rect = Rect { left: left.max(right - 14.0), top: y - 6.0, right, bottom: y + 6.0 };
            bar(scene, rect, style);
        }
        Sample::Theory => scene.dashed(vec![(left, y), (right, y)], 1.25, TEXT, dashes_of(Known::Theory)),
        Sample::Bound => scene.dashed(vec![(left, y), (right, y)], 1.25, TEXT, dashes_of(Known::Bound)),
    }
}

/// Returns the dash pattern of a line that shows predictions of theory or ideal bounds.
pub(crate) fn dashes_of(known: Known) -> &'static [f64] {
    match known {
        Known::Theory => THEORY,
        Known::Bound => IDEAL,
    }
}

/// Draws a bar with the fill and the hatch of its style. An edge makes light fills visible on white.
pub(crate) fn bar(scene: &mut Scene, rect: Rect, style: Style) {
    scene.rect(rect, style.color);
    if rect.width() < 4.0 || rect.height() < 4.0 {
        return;
    }
    let inner = Rect {
        left: rect.left + 1.5,
        top: rect.top + 1.5,
        right: rect.right - 1.5,
        bottom: rect.bottom - 1.5,
    };
    if style.fill != style.color {
        scene.rect(inner, style.fill);
    }
    for (from, to) in hatch_lines(style.hatch, inner) {
        scene.line(&[from, to], 1.25, style.hatch_color);
    }
}

/// Returns the lines of a hatch inside a rectangle.
fn hatch_lines(hatch: Hatch, rect: Rect) -> Vec<((f64, f64), (f64, f64))> {
    const STEP: f64 = 6.0;
    let steps = |length: f64, step: f64| (1..(length / step).ceil() as usize).map(move |at| at as f64 * step);
    let level =
        || steps(rect.height(), STEP).map(|y| ((rect.left, rect.bottom - y), (rect.right, rect.bottom - y)));
    let upright =
        || steps(rect.width(), STEP).map(|x| ((rect.left + x, rect.top), (rect.left + x, rect.bottom)));
    // On a rising diagonal, the sum of the distances from the left edge and from the top edge is constant.
    let rising = |step: f64| {
        let (width, height) = (rect.width(), rect.height());
        steps(width + height, step).map(move |sum| {
            let (low, high) = ((sum - height).max(0.0), sum.min(width));
            let at = |x: f64| (rect.left + x, rect.top + (sum - x));
            (at(low), at(high))
        })
    };
    let falling = || {
        let flip = |(x, y): (f64, f64)| (rect.left + rect.right - x, y);
        rising(STEP).map(move |(from, to)| (flip(from), flip(to)))
    };
    match hatch {
        Hatch::Plain => Vec::new(),
        Hatch::Rising => rising(STEP).collect(),
        Hatch::Falling => falling().collect(),
        Hatch::Level => level().collect(),
        Hatch::Upright => upright().collect(),
        Hatch::Crossed => rising(STEP).chain(falling()).collect(),
        Hatch::Grid => level().chain(upright()).collect(),
        Hatch::Wide => rising(2.0 * STEP).collect(),
    }
}

/// Draws a whisker, the line of an interval, between two points, with a short cap across each end.
pub(crate) fn whisker(scene: &mut Scene, from: (f64, f64), to: (f64, f64), color: Color) {
    const CAP: f64 = 3.0;
    scene.line(&[from, to], 1.25, color);
    let upright = (from.0 - to.0).abs() < 1e-9;
    for (x, y) in [from, to] {
        let cap = if upright { [(x - CAP, y), (x + CAP, y)] } else { [(x, y - CAP), (x, y + CAP)] };
        scene.line(&cap, 1.25, color);
    }
}

/// Draws a tick of the horizontal axis at the bottom of a plot.
pub(crate) fn tick(scene: &mut Scene, x: f64, bottom: f64) {
    scene.line(&[(x, bottom), (x, bottom + 4.0)], 1.0, AXIS);
}

impl Scene {
    /// Draws the mark of a data point, in the usual size.
    pub(crate) fn mark(&mut self, x: f64, y: f64, color: Color, mark: Mark) {
        self.shapes.push(Shape::Mark { x, y, radius: 4.0, color, mark });
    }
}
