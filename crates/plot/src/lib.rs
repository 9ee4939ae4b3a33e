//! Draws charts of results, from CSV files to SVG, PNG, PDF, `pgfplots` and gnuplot.
//!
//! A [`Chart`] is a pure function of the following inputs: the CSV files of a results folder (including the verdicts),
//! the histograms of the run, the chart's description ([`ChartSpec`]), the style, and the order of labels. Equal inputs
//! give byte-for-byte equal charts. Points, lines and bars are medians over trials. Whiskers or a band show the
//! interval that the style names, and the caption names this interval. A label has the same color in every chart. The
//! only exception is a chart in which two labels would otherwise share a color. This crate measures nothing, and does
//! not depend on the tree.
//!
//! ```
//! use lsmbench_plot::{Chart, ChartSpec, Context};
//! use results::{Folder, ResultsError, Row, Schema, Table, columns as c};
//!
//! // The rows of two configurations, as in `runs.csv`.
//! let schema = Schema::runs(&["design.bloom"])?;
//! let row = |cell: u64, filter: &str, fpr: f64| -> Result<Row, ResultsError> {
//!     let mut row = Row::new(&schema);
//!     row.set(&c::CELL, cell).set(&c::TRIAL, 0_u64).set(&c::PHASE, "lookup").set(&c::OPERATION, "all");
//!     row.set(&c::FPR, fpr).set_swept("design.bloom", filter)?;
//!     Ok(row)
//! };
//! let rows = vec![row(0, "blocked", 0.012)?, row(1, "ribbon", 0.008)?];
//! let table = Table::new(schema.clone(), rows);
//!
//! let spec: ChartSpec = toml::from_str(
//!     r#"kind = "bar"
//!        x = "design.bloom"
//!        y = "fpr""#,
//! )?;
//! let chart = Chart::of_table(&table, &Folder::new("results/filters"), &spec, &Context::default())?;
//! assert_eq!(chart.title(), "False-positive rate by bloom");
//! assert!(chart.svg().contains("ribbon"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axes;
mod bars;
mod cdf;
mod companion;
mod data;
mod describe;
mod error;
mod export;
mod figure;
mod flame;
mod font;
mod format;
mod heatmap;
mod kind;
mod lines;
mod naming;
mod night;
mod order;
mod page;
mod painted;
mod painter;
mod palette;
mod pdf;
mod pick;
mod quantity;
mod ratio;
mod render;
mod scale;
mod scene;
mod spec;
mod style;
mod swept;
mod verdict;

use std::fmt;
use std::path::{Path, PathBuf};

use results::{Column, Folder, Manifest, Table, Unit};

pub use companion::{RATIO_SUFFIX, ratio_charts};
pub use error::PlotError;
pub use flame::{FlameGraph, FlameSide};
pub use kind::{ChartKind, Form, KINDS};
pub use night::night;
pub use order::LabelOrder;
pub use page::Width;
pub use painter::{Align, Canvas, ChartAxis, ChartPoints, Curve, Dot, Ink, Painter};
pub use spec::{ChartFile, ChartSpec, Scalar, SelectedValues};
pub use style::{Caption, FigureStyle, Format, Formats, Length, Whiskers};
pub use swept::SweptTexts;

use data::{Data, LEAST_FOR_INTERVAL, trials};
use figure::Figure;
use font::Typeface;
use page::Captions;
use scene::Scene;

/// Formats a number with its unit and three digits, as charts do: `1.30 M`, `350 ns`, `4.00 KiB`.
pub fn format_value(number: f64, unit: Unit) -> String {
    format::alike(number, unit)
}

/// The inputs of a chart that do not come from the CSV files: texts, the style, and the order of labels.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The name of the experiment, for the caption.
    pub experiment: String,
    /// The question that the experiment answers, for the caption.
    pub question: String,
    /// The identifier of the run. The caption shows the first characters of the identifier.
    pub run_id: String,
    /// Whether the run was a quick run (`--quick`). The caption of the chart states that the run was a quick run.
    pub is_quick: bool,
    /// The order of labels, such as names of variants. The order also determines the color of each label.
    pub order: LabelOrder,
    /// The width of the chart, if the style sets no width.
    pub width: Width,
    /// A text that the caption shows instead of the number of trials and the interval, for charts whose points are not
    /// medians over trials.
    pub points: Option<String>,
    /// Swept parameters that also change other settings. Each element is the path of the parameter, and a text about
    /// these settings for the caption. For example, a sweep of engines also changes the settings that an engine cannot
    /// match.
    pub brings: Vec<(String, String)>,
    /// The texts of swept values, such as `2MiB` for 2,097,152 bytes. A value without a text looks as in its row.
    pub swept: SweptTexts,
    /// The style of the figure, such as its font and formats.
    pub style: FigureStyle,
}

impl Context {
    /// Creates the context for the charts of a run from its manifest. `order` contains the labels in the catalogs. All
    /// other labels have the order of the run's configurations.
    pub fn of(manifest: &Manifest, order: LabelOrder) -> Self {
        let labels = manifest.cells.iter().map(|cell| cell.label.clone());
        let mut order = order.with_cells("label", labels);
        let cells: Vec<(&str, &[String])> =
            manifest.cells.iter().map(|cell| (cell.label.as_str(), &cell.swept[..])).collect();
        let swept = SweptTexts::of(&manifest.swept, &cells);
        for (at, path) in manifest.swept.iter().enumerate() {
            let values = manifest.cells.iter().filter_map(|cell| cell.swept.get(at));
            order = order.with_cells(path, values.map(|value| swept.shown(path, value).to_owned()));
        }
        let (experiment, question) = (manifest.experiment.clone(), manifest.question.clone());
        Self {
            experiment,
            question,
            run_id: manifest.run_id.clone(),
            is_quick: manifest.quick,
            order,
            width: Width::Full,
            points: None,
            brings: Vec::new(),
            swept,
            style: FigureStyle::default(),
        }
    }

    /// Returns the width of the chart: the width in the style, or else the default width.
    fn page_width(&self) -> Width {
        self.style.width.map_or(self.width, |width| Width::Print(width.inches()))
    }

    /// Returns the texts around a chart: title, question, conditions, verdict and notes. Omits texts that the style
    /// hides.
    fn captions(&self, title: &str, facts: &[String], spread: &str) -> Captions {
        let caption = self.style.caption.unwrap_or(Caption::All);
        let (is_all, has_facts) = (caption == Caption::All, matches!(caption, Caption::All | Caption::Facts));
        let only = |wanted: bool, text: String| if wanted { text } else { String::new() };
        Captions {
            width: self.page_width(),
            title: title.to_owned(),
            question: only(is_all && title != self.question, self.question.clone()),
            facts: only(has_facts, conditions(facts, self, spread)),
            origin: only(has_facts, origin(self)),
            hides_notes: !has_facts,
            ..Captions::default()
        }
    }

    /// Returns the sentence about verdicts, or an empty text if the style hides verdicts.
    fn verdict(&self, sentence: Option<String>) -> String {
        let is_wanted = matches!(self.style.caption.unwrap_or(Caption::All), Caption::All | Caption::Verdict);
        sentence.filter(|_| is_wanted).unwrap_or_default()
    }
}

/// A drawn chart, which can be written to files.
#[derive(Clone)]
pub struct Chart {
    scene: Scene,
    title: String,
    notes: Vec<String>,
    /// The values that the chart draws, for the CSV file and for exports.
    figure: Figure,
    typeface: Typeface,
    width: Width,
    style: FigureStyle,
}

impl fmt::Debug for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chart")
            .field("title", &self.title)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

impl Chart {
    /// Draws the chart that `spec` describes from the results in `folder`: from `runs.csv`, or from another file of
    /// this folder if the kind of chart or `spec` requires it.
    ///
    /// # Errors
    /// The results cannot be read, a column or a value is unknown, the chart is empty, or the font is not installed.
    pub fn draw(folder: &Folder, spec: &ChartSpec, context: &Context) -> Result<Self, PlotError> {
        Self::of_table(&Table::read(&spec.table(folder))?, folder, spec, context)
    }

    /// Draws a chart from a table of results. `folder` is the results folder, with the histograms and the verdicts of
    /// the run.
    ///
    /// # Errors
    /// Returns the same errors as [`draw`](Self::draw).
    pub fn of_table(
        table: &Table,
        folder: &Folder,
        spec: &ChartSpec,
        context: &Context,
    ) -> Result<Self, PlotError> {
        Self::of(table, folder, spec, context, false)
    }

    /// Draws a ratio chart that accompanies another chart, from a table of results. `spec` is one of [`ratio_charts`].
    /// Returns `None` if the verdicts name no pair of configurations with enough trials for a confidence interval.
    ///
    /// # Errors
    /// Returns the same errors as [`draw`](Self::draw).
    pub fn of_ratios(
        table: &Table,
        folder: &Folder,
        spec: &ChartSpec,
        context: &Context,
    ) -> Result<Option<Self>, PlotError> {
        match Self::of(table, folder, spec, context, true) {
            Ok(chart) => {
                let mut spots = chart.figure.tracks.iter().flat_map(|track| &track.spots);
                Ok(spots.any(|spot| spot.interval.is_some()).then_some(chart))
            }
            Err(PlotError::Empty(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn of(
        table: &Table,
        folder: &Folder,
        spec: &ChartSpec,
        context: &Context,
        is_companion: bool,
    ) -> Result<Self, PlotError> {
        let typeface = Typeface::find(context.style.font.as_deref())?;
        let (table, spec) = (context.swept.in_table(table), context.swept.in_spec(spec));
        let (scene, captions, mut figure) =
            typeface.using(|| draw(&table, folder, &spec, context, is_companion))?;
        let Captions { title, notes, .. } = captions;
        figure.title.clone_from(&title);
        let (width, style) = (context.page_width(), context.style.clone());
        Ok(Self { scene, title, notes, figure, typeface, width, style })
    }

    /// Renders the chart as SVG.
    pub fn svg(&self) -> String {
        self.typeface.using(|| render::svg(&self.scene, &self.title, self.width.per_inch()))
    }

    /// Renders the chart as PDF, with a subset of the font embedded.
    ///
    /// # Errors
    /// The font cannot be embedded.
    pub fn pdf(&self) -> Result<Vec<u8>, String> {
        let per_inch = self.width.per_inch().unwrap_or(SCREEN_PER_INCH);
        self.typeface.using(|| pdf::pdf(&self.scene, &self.title, &self.typeface, per_inch))
    }

    /// Writes the chart as PNG. A chart for a screen has twice the size of the SVG, and a chart for print has 432
    /// pixels per inch.
    ///
    /// # Errors
    /// The file cannot be written, or its name does not end in `.png`.
    pub fn write_png(&self, path: &Path) -> Result<(), PlotError> {
        self.typeface.using(|| render::png(&self.scene, path, self.width.per_inch().is_some()))
    }

    /// Writes the chart into a folder: `<stem>.svg` and `<stem>.png` (or the formats that the style names), and the
    /// drawn values as `<stem>.csv`. Creates a missing folder. Returns the paths of the figures, in the order of the
    /// formats.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path, stem: &str) -> Result<Vec<PathBuf>, PlotError> {
        let failed = |path: &Path, message: String| PlotError::Write { path: path.to_owned(), message };
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error.to_string()))?;
        let write = |path: &Path, bytes: &[u8]| {
            std::fs::write(path, bytes).map_err(|error| failed(path, error.to_string()))
        };
        let mut written = Vec::new();
        for format in self.style.formats() {
            let path = folder.join(format!("{stem}.{}", format.ending()));
            match format {
                Format::Svg => write(&path, self.svg().as_bytes())?,
                Format::Png => self.write_png(&path)?,
                Format::Pdf => {
                    let bytes = self.pdf().map_err(|message| failed(&path, message))?;
                    write(&path, &bytes)?;
                }
                Format::Pgf => write(&path, export::pgf(&self.figure, self.style.width).as_bytes())?,
                Format::Gnuplot => write(&path, export::gnuplot(&self.figure).as_bytes())?,
            }
            written.push(path);
        }
        let path = folder.join(format!("{stem}.{}", style::DATA_ENDING));
        let numbers = export::csv(&self.figure).map_err(|error| failed(&path, error.to_string()))?;
        write(&path, &numbers)?;
        Ok(written)
    }

    /// Returns the title of the chart.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns a message for each text that extends beyond the page or overlaps another text. Tests check that charts
    /// have no such texts.
    pub fn flaws(&self) -> Vec<String> {
        self.typeface.using(|| self.scene.flaws())
    }

    /// Returns the notes in the caption: the omitted rows and the reasons.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Pixels per inch of a page that is shown on a screen.
const SCREEN_PER_INCH: f64 = 96.0;

/// Draws a chart in the current typeface. `is_companion` states whether the chart is a ratio chart that accompanies
/// another chart. Returns the scene, the captions and the values of the chart.
fn draw(
    table: &Table,
    folder: &Folder,
    spec: &ChartSpec,
    context: &Context,
    is_companion: bool,
) -> Result<(Scene, Captions, Figure), PlotError> {
    let given = context.style.title.clone().or_else(|| spec.title.clone());
    let torn =
        table.torn().map(|_| "the last line of the CSV file is incomplete, so the chart omits it".to_owned());
    if spec.form() == Form::Cdf {
        let captions = |facts: &[String], trials, title: String| {
            let title = given.clone().unwrap_or_else(|| capitalized(&title));
            let mut captions = context.captions(&title, facts, &trials_merged(trials));
            captions.notes.extend(torn);
            captions
        };
        return cdf::draw(table, folder, spec, &context.order, captions);
    }
    let verdicts = results::verdicts::read(&folder.verdicts());
    let unread = verdicts.as_ref().err().map(|error| format!("no verdict: {error}"));
    let verdicts = verdicts.unwrap_or_default();
    if spec.form() == Form::Ratio && spec.component().painter().is_none() {
        let noise = folder.noise();
        let noise = noise.exists().then(|| Table::read(&noise)).transpose()?;
        let noise = noise.as_ref().map(|noise| context.swept.in_table(noise));
        let ratios =
            ratio::prepare(table, spec, (&verdicts, noise.as_deref(), &context.swept), is_companion)?;
        let title = match given {
            Some(given) if is_companion => ratios.title_after(&given),
            Some(given) => given,
            None => capitalized(&ratios.title()),
        };
        let mut captions = context.captions(&title, &ratios.facts, "");
        captions.verdict = context.verdict(ratios.verdict.clone());
        captions.notes.extend(torn.into_iter().chain(unread).chain(ratios.notes.iter().cloned()));
        let scene = ratio::draw(&ratios, &mut captions)?;
        return Ok((scene, captions, ratios.figure()));
    }
    let whiskers = context.style.whiskers.unwrap_or(Whiskers::Ci);
    let data = data::prepare(table, spec, (&context.order, &context.swept), &verdicts, whiskers)?;
    let spread = context.points.clone().unwrap_or_else(|| trials_drawn(&data, spec.form(), whiskers));
    let title = given.unwrap_or_else(|| capitalized(&title_of(&data, spec.form())));
    let mut captions = context.captions(&title, &data.facts, &spread);
    captions.verdict = context.verdict(data.verdict.clone());
    captions.notes.extend(torn.into_iter().chain(unread).chain(data.notes.iter().cloned()));
    let logs = [spec.log_x, spec.is_log_y()];
    let figure = Figure::of(&data, spec.form(), logs, interval_name(&data, whiskers));
    let kind = spec.component();
    let scene = match (kind.painter(), kind.form()) {
        (Some(painter), _) => painted::draw(painter, &data, spec, &mut captions)?,
        (None, Form::Bar | Form::GroupedBar) => bars::draw(&data, spec, &mut captions)?,
        (None, Form::Heatmap) => heatmap::draw(&data, spec, &mut captions)?,
        (None, _) => lines::draw(&data, spec, &mut captions)?,
    };
    Ok((scene, captions, figure))
}

/// Returns the default title of a chart, such as `throughput by compaction`.
fn title_of(data: &Data, form: Form) -> String {
    let (x, y) = (&data.x_title, &data.y_title);
    let series = data.legend.as_deref().filter(|series| !series.is_empty() && series != x);
    let by = |word: &str| series.map_or_else(String::new, |series| format!("{word} {series}"));
    match form {
        Form::Scatter => format!("{y} vs. {x}{}", by(", by")),
        Form::Timeline => format!("{y} over time{}", by(", by")),
        _ => format!("{y} by {x}{}", by(" and")),
    }
}

/// Returns the text with its first letter in upper case.
fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Returns the conditions of the measurement for the caption, such as `lookup phase · only bloom differs · median of 6
/// trials`. If the swept parameter also changes other settings, the caption contains, for example, `engine differs, and
/// settings that the engines cannot match`.
fn conditions(facts: &[String], context: &Context, spread: &str) -> String {
    let written = |fact: &String| {
        let mut brings = context.brings.iter();
        let others = brings.find(|(path, _)| *fact == pick::alone(Column::Swept(path.clone()).title()));
        others.map_or_else(|| fact.clone(), |(path, others)| format!("{path} differs, and {others}"))
    };
    let parts = facts.iter().map(written).chain([spread.to_owned()]).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ")
}

/// Describes the number of trials per point and the interval that the whiskers show, for the caption.
fn trials_drawn(data: &Data, form: Form, whiskers: Whiskers) -> String {
    let (least, most) = trials(&data.series);
    let wide = data.series.iter().flat_map(|series| &series.points).any(|p| p.y.is_wide() || p.x.is_wide());
    let trials = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    match (most, form) {
        (0 | 1, _) => "1 trial".to_owned(),
        (_, Form::Heatmap) => format!("median of {trials} trials"),
        (..) if wide => {
            let interval = interval_name(data, whiskers);
            format!("median of {trials} trials · {}: {interval}", lines::spread_phrase(data))
        }
        _ => format!("{trials} trials, the same in each"),
    }
}

/// Returns the name of the interval that the whiskers show. If there are too few trials for it, the name states that
/// the whiskers show the range instead.
fn interval_name(data: &Data, whiskers: Whiskers) -> String {
    let (least, most) = trials(&data.series);
    let name = match whiskers {
        Whiskers::Range => "range, least to largest",
        Whiskers::Iqr => "interquartile range",
        Whiskers::Ci if least >= LEAST_FOR_INTERVAL => "95 % CI of the median",
        Whiskers::Ci if most < LEAST_FOR_INTERVAL => "range, because a 95 % CI needs 6 trials",
        Whiskers::Ci => "95 % CI of the median; for points with fewer than 6 trials, the range",
    };
    name.to_owned()
}

fn trials_merged(trials: usize) -> String {
    if trials == 1 {
        "1 trial".to_owned()
    } else {
        format!("{trials} trials merged, each trial as a light line")
    }
}

/// Returns the last line of the caption, which names the experiment and the run from which the values come.
fn origin(context: &Context) -> String {
    let run: String = context.run_id.chars().take(12).collect();
    let kind = if context.is_quick { "quick run" } else { "run" };
    let parts = [context.experiment.clone(), if run.is_empty() { run } else { format!("{kind} {run}") }];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_brings_other_differences_never_differs_alone() {
        let facts = ["mixed phase", "only engine differs"].map(str::to_owned);
        let told = |context: &Context| conditions(&facts, context, "1 trial");
        assert_eq!(told(&Context::default()), "mixed phase · only engine differs · 1 trial");
        let brings = vec![("engine".to_owned(), "settings that the engines cannot match".to_owned())];
        let told = told(&Context { brings, ..Context::default() });
        assert_eq!(
            told,
            "mixed phase · engine differs, and settings that the engines cannot match · 1 trial"
        );
    }
}
