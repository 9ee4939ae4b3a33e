//! The ratio chart that accompanies a chart of times or rates. On a busy machine, the medians of two configurations can
//! differ although the ratios in most rounds are about 1. The ratio chart shows the ratios that the verdict compares.

use results::columns::{OPERATION, PHASE};
use results::reference::metric;
use results::{Repeats, Unit};

use crate::{ChartSpec, FigureStyle, Form};

/// The text that a ratio chart appends to the name of the chart that it accompanies.
pub const RATIO_SUFFIX: &str = "-ratio";

impl ChartSpec {
    /// Returns whether a ratio chart can accompany this chart. The chart must show a measured time or rate, and one
    /// value per trial. A counter has no ratio chart, because its ratio is the same in each trial.
    pub fn can_have_ratios(&self) -> bool {
        let is_of_trials =
            matches!(self.form(), Form::Line | Form::Bar | Form::GroupedBar | Form::Scatter | Form::Heatmap);
        let is_timed = self.y.as_deref().and_then(metric).is_some_and(|y| {
            let units =
                [Unit::Nanoseconds, Unit::Seconds, Unit::OperationsPerSecond, Unit::MegabytesPerSecond];
            units.contains(&y.unit) && y.repeats == Repeats::Varies
        });
        is_of_trials && is_timed && self.file.is_none()
    }

    /// Returns the description of the ratio chart that accompanies this chart: the ratios of the same rows. Returns
    /// `None` if the chart cannot have ratios, or if `ratio` is false in the chart or in the style.
    fn ratio_chart(&self, style: &FigureStyle) -> Option<Self> {
        if !self.can_have_ratios() || !self.ratio.or(style.ratio).unwrap_or(true) {
            return None;
        }
        // If the chart distinguishes phases or operations, the ratio chart has the same phases or operations.
        let by_place = |column: &Option<String>| {
            column.clone().filter(|name| [PHASE.name, OPERATION.name].contains(&name.as_str()))
        };
        Some(Self {
            name: Some(self.file_stem() + RATIO_SUFFIX),
            title: self.title.clone(),
            x: by_place(&self.x),
            y: self.y.clone(),
            series: by_place(&self.series),
            filter: self.filter.clone(),
            ..Self::new(Form::Ratio)
        })
    }

    /// Returns whether two ratio charts show the same ratios.
    fn has_ratios_of(&self, other: &Self) -> bool {
        let places = |spec: &Self| {
            let mut places = [spec.x.clone(), spec.series.clone()];
            places.sort();
            places
        };
        self.form() == Form::Ratio
            && other.form() == Form::Ratio
            && (&self.y, &self.filter) == (&other.y, &other.filter)
            && places(self) == places(other)
    }
}

/// Returns the descriptions of the ratio charts that accompany the charts of an experiment, in the order of the charts.
/// An element is `None` if its chart has no ratio chart, or if another chart shows the same ratios or has the same
/// name.
pub fn ratio_charts(charts: &[ChartSpec], style: &FigureStyle) -> Vec<Option<ChartSpec>> {
    let mut chosen: Vec<Option<ChartSpec>> = Vec::new();
    for chart in charts {
        let ratios = chart.ratio_chart(style).filter(|ratios| {
            let is_free = charts.iter().all(|other| other.file_stem() != ratios.file_stem());
            let mut others = charts.iter().chain(chosen.iter().flatten());
            is_free && !others.any(|other| other.has_ratios_of(ratios))
        });
        chosen.push(ratios);
    }
    chosen
}
