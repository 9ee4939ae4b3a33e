//! Charts whose points a kind of another crate draws.

use crate::data::{Across, Data, Point};
use crate::describe::{Side, describe};
use crate::page::{Captions, Sample, compose, legend_for};
use crate::painter::{Canvas, Curve, Dot, Painter, Picture};
use crate::scene::Scene;

/// Draws a page whose middle is a painter's.
pub(crate) fn draw(painter: &dyn Painter, data: &Data, captions: &mut Captions) -> Scene {
    captions.legend = legend_for(data, Sample::Box);
    captions.upwards = describe(&data.y, "", Side::Upwards);
    captions.across = data.x.title().into();
    let names = match &data.across {
        Across::Names(names) => &names[..],
        Across::Numbers(_) => &[],
    };
    let colors = match data.series.len() {
        1 => names.iter().map(|(_, style)| style.color).collect(),
        _ => data.series.iter().map(|series| series.style.color).collect(),
    };
    let dot = |point: &Point| {
        let (x, y) = (point.x.median, point.y);
        Dot { x, y: y.median, low: y.low, high: y.high }
    };
    let curves = data.series.iter().map(|series| {
        let points = series.points.iter().map(dot).collect();
        Curve { label: &series.label, points }
    });
    let series = curves.collect();
    let names = names.iter().map(|(name, _)| &**name).collect();
    let picture = Picture { names, unit: data.y.unit(), series };
    let mut page = compose(captions, painter.height(&picture));
    let area = page.room;
    painter.paint(&picture, &mut Canvas { scene: &mut page.scene, area, colors });
    page.below(area)
}
