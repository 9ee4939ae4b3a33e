//! Draws heat maps. A heat map has categories on the horizontal axis and series on the vertical axis. The color of each
//! field shows a value, and darker fields show larger values.

use crate::axes::{LINE, Labels, draw_names_down, names_down, text_width};
use crate::data::{Across, Data, Spread};
use crate::describe::{Side, describe};
use crate::font::{Anchor, LABEL};
use crate::lines::nothing_positive;
use crate::page::{Captions, compose};
use crate::palette::{FAINT, GRID, INK, PAPER, TEXT, ramp};
use crate::pick::count;
use crate::scale::{Scale, span};
use crate::scene::{Rect, Scene, Text};
use crate::{ChartSpec, PlotError, format};

/// The smallest height of a row of fields, in pixels.
const ROW: f64 = 22.0;
/// The width of the color key below the chart, in pixels.
const KEY_WIDTH: f64 = 260.0;
/// The height of the color key with its numbers, in pixels.
const KEY: f64 = 46.0;

/// Draws a heat map.
pub(crate) fn draw(data: &Data, spec: &ChartSpec, captions: &mut Captions) -> Result<Scene, PlotError> {
    let Across::Names(names) = &data.across else {
        return Err(PlotError::spec(
            "x",
            "a heat map needs names on the x axis, but the x column contains numbers; choose another \
             column or another kind of chart",
        ));
    };
    let columns: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let rows: Vec<String> = data.series.iter().map(|series| series.label.clone()).collect();
    let shades = shades(data, spec)?;
    let unseen = spreads(data).filter(|value| shades.at(value.median).is_none()).count();
    if unseen > 0 {
        captions
            .notes
            .push(format!("{} at 0 left white: the color scale is logarithmic", count(unseen, "field")));
    }
    captions.upwards = format!("colour: {}", describe(&data.y_title, "", data.y.better(), Side::Upwards));
    captions.across.clone_from(&data.x_title);
    let (names, left) = names_down(&rows, (0.3 * captions.inner()).min(200.0), 2);
    let row = ROW.max(names.iter().map(|lines| lines.len() as f64 * LINE + 6.0).fold(0.0, f64::max));
    let labels = Labels::of_names(&columns, captions.inner() - left);
    let heading = data.legend.clone().unwrap_or_default();
    let mut page = compose(captions, rows.len() as f64 * row + labels.height() + KEY + 2.0 * LINE);
    let (scene, room) = (&mut page.scene, page.room);
    let rect = Rect {
        left: room.left + left.max(text_width(&heading) + 8.0),
        top: room.top + KEY + LINE,
        right: room.right,
        bottom: room.bottom - labels.height() - 4.0,
    };
    let left = captions.width.margin();
    let right = left + KEY_WIDTH.min(captions.inner());
    key(scene, Rect { left, top: room.top, right, bottom: 0.0 }, shades, data);
    let above = Text::new(heading, rect.left - 8.0, rect.top - 6.0, LABEL, FAINT);
    scene.text(above.anchored(Anchor::End));
    fields(scene, rect, data, shades, columns.len());
    draw_names_down(scene, rect, &names);
    labels.draw(scene, rect, false);
    Ok(page.below(rect))
}

fn spreads(data: &Data) -> impl Iterator<Item = Spread> {
    data.series.iter().flat_map(|series| &series.points).map(|point| point.y)
}

/// Returns the scale that converts a value to a color of the heat map, from the smallest to the largest value.
fn shades(data: &Data, spec: &ChartSpec) -> Result<Scale, PlotError> {
    let medians = || spreads(data).map(|value| value.median);
    if spec.is_log_y() {
        return Scale::log(medians()).ok_or_else(|| nothing_positive("y", data.y.name(), "log_y"));
    }
    let (low, high) = span(medians());
    Ok(if high > low { Scale::Linear { low, high } } else { Scale::linear(medians(), false) })
}

/// Draws the color key below the chart, which shows the value of each color.
fn key(scene: &mut Scene, rect: Rect, shades: Scale, data: &Data) {
    const STEPS: usize = 130;
    let step = rect.width() / STEPS as f64;
    for number in 0..STEPS {
        let left = rect.left + number as f64 * step;
        let color = ramp((number as f64 + 0.5) / STEPS as f64);
        scene.rect(Rect { left, top: rect.top, right: left + step, bottom: rect.top + 12.0 }, color);
    }
    let ends = match shades {
        Scale::Linear { low, high } | Scale::Log { low, high } => [low, high],
        _ => return,
    };
    for (value, x, anchor) in [(ends[0], rect.left, Anchor::Start), (ends[1], rect.right, Anchor::End)] {
        let text = format::alike(value, data.y.unit());
        scene.text(Text::new(text, x, rect.top + 26.0, LABEL, TEXT).anchored(anchor));
    }
}

/// Draws the colored fields. If the text fits, a field shows its value.
fn fields(scene: &mut Scene, rect: Rect, data: &Data, shades: Scale, columns: usize) {
    let (width, height) = (rect.width() / columns as f64, rect.height() / data.series.len() as f64);
    let field = |row: usize, column: usize| Rect {
        left: rect.left + column as f64 * width + 0.75,
        top: rect.top + row as f64 * height + 0.75,
        right: rect.left + (column + 1) as f64 * width - 0.75,
        bottom: rect.top + (row + 1) as f64 * height - 0.75,
    };
    let texts = || spreads(data).map(|value| format::alike(value.median, data.y.unit()));
    let written = texts().all(|text| text_width(&text) + 4.0 <= width) && height >= LABEL + 4.0;
    for (row, series) in data.series.iter().enumerate() {
        for column in 0..columns {
            let found = series.points.iter().find(|point| point.x.median as usize == column);
            let place = field(row, column);
            let value = found.map(|point| point.y.median);
            let shade = value.and_then(|value| shades.at(value)).map(ramp);
            scene.rect(place, shade.unwrap_or(if value.is_some() { PAPER } else { GRID }));
            let text = match value {
                Some(value) => format::alike(value, data.y.unit()),
                None => "–".to_owned(),
            };
            if written || value.is_none() && width > 12.0 {
                let light = shade.unwrap_or(PAPER).luminance();
                let color = if light < 0.25 { PAPER } else { INK };
                let (x, y) = (f64::midpoint(place.left, place.right), f64::midpoint(place.top, place.bottom));
                scene.text(Text::new(text, x, y + LABEL * 0.36, LABEL, color).anchored(Anchor::Middle));
            }
        }
    }
}
