//! Draws charts of kinds from other crates. Such a kind draws its points with its own painter.

use crate::data::{Across, Data, Point};
use crate::describe::{Side, describe};
use crate::lines;
use crate::page::{Captions, Sample, compose, legend_of_bars};
use crate::painter::{Canvas, ChartAxis, ChartPoints, Curve, Dot, Painter};
use crate::scene::Scene;
use crate::{ChartSpec, PlotError};

/// Draws a chart whose plot `painter` draws, with the title, legend and caption around it.
///
/// # Errors
/// A logarithmic axis has no number above 0.
pub(crate) fn draw(
    painter: &dyn Painter,
    data: &Data,
    spec: &ChartSpec,
    captions: &mut Captions,
) -> Result<Scene, PlotError> {
    captions.legend = legend_of_bars(data, Sample::Box);
    captions.upwards = describe(&data.y_title, "", data.y.better(), Side::Upwards);
    captions.across.clone_from(&data.x_title);
    let (names, across) = match &data.across {
        Across::Names(names) => (&names[..], None),
        Across::Numbers(unit) => {
            let axis = ChartAxis { scale: lines::across(data, spec)?, unit: *unit };
            (&[][..], Some(axis))
        }
    };
    let upwards = ChartAxis { scale: lines::upwards(data, spec)?, unit: data.y.unit() };
    let colors = match data.series.len() {
        1 if !names.is_empty() => names.iter().map(|(_, style)| style.color).collect(),
        _ => data.series.iter().map(|series| series.style.color).collect(),
    };
    let dot = |point: &Point| Dot {
        x: point.x.median,
        y: point.y.median,
        low: point.y.low,
        high: point.y.high,
        theory: point.theory,
        bound: point.bound,
    };
    let curves = data.series.iter().map(|series| {
        let points = series.points.iter().map(dot).collect();
        Curve { label: &series.label, points }
    });
    let series = curves.collect();
    let names = names.iter().map(|(name, _)| &**name).collect();
    let picture = ChartPoints { names, unit: data.y.unit(), across, upwards, series };
    let mut page = compose(captions, painter.height(&picture));
    let area = page.room;
    painter.paint(&picture, &mut Canvas { scene: &mut page.scene, area, colors });
    Ok(page.below(area))
}
