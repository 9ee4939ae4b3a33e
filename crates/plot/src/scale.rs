//! Maps numbers to positions on an axis, and chooses the ticks of the axis.

use results::Unit;

use crate::format;

/// The scale of an axis, which maps numbers to positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// A scale on which equal differences have equal lengths.
    Linear { low: f64, high: f64 },
    /// A scale on which equal factors have equal lengths. Both ends of the scale are positive.
    Log { low: f64, high: f64 },
    /// A scale for fractions below 1, on which the steps from 90 % to 99 % and from 99 % to 99.9 % have equal lengths.
    Nines { most: f64 },
    /// A scale with `count` categories in equal slots. A category is in the middle of its slot.
    Slots { count: usize },
}

/// A tick of an axis: its position from 0 to 1, and its label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub label: String,
}

impl Scale {
    /// Returns a linear scale that covers all values. The scale includes 0 if `from_zero` is true, or if 0 is close to
    /// the values.
    pub(crate) fn linear(values: impl Iterator<Item = f64>, from_zero: bool) -> Self {
        let (least, largest) = span(values);
        let (low, high) = if least >= 0.0 && (from_zero || least <= 0.75 * largest) {
            (0.0, largest)
        } else if from_zero {
            (least.min(0.0), largest.max(0.0))
        } else {
            (least, largest)
        };
        if high > low {
            return Self::Linear { low, high };
        }
        // All values are equal, so the scale goes from zero to slightly more than this value.
        match high.total_cmp(&0.0) {
            std::cmp::Ordering::Less => Self::Linear { low: high * 1.2, high: 0.0 },
            std::cmp::Ordering::Equal => Self::Linear { low: 0.0, high: 1.0 },
            std::cmp::Ordering::Greater => Self::Linear { low: 0.0, high: (high * 1.2).min(f64::MAX) },
        }
    }

    /// Returns a logarithmic scale that covers all positive values. Returns `None` if no value is positive.
    pub(crate) fn log(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = span(values.filter(|value| *value > 0.0));
        (low > 0.0 && high.is_finite()).then(|| {
            if high > low {
                Self::Log { low, high }
            } else {
                Self::Log { low: (low / 3.0).max(f64::MIN_POSITIVE), high: (high * 3.0).min(f64::MAX) }
            }
        })
    }

    /// Returns this scale with additional space at both ends. A linear scale then begins and ends at round numbers.
    pub(crate) fn padded(self, ticks: usize, unit: Unit) -> Self {
        let Self::Linear { low, high } = self else { return self.inset(0.04) };
        let round = |low: f64, high: f64, size: f64| {
            let step = nice_step((high - low).min(f64::MAX) / size, ticks) * size;
            // The small offset compensates for rounding errors, which could otherwise add a step at an end that is
            // already a tick.
            let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
            ((first * step).max(f64::MIN), (last * step).min(f64::MAX))
        };
        let size = |low: f64, high: f64| format::axis_unit(low.abs().max(high.abs()), unit).size;
        let (first_low, first_high) = round(low, high, size(low, high));
        // Rounding may have increased an end so much that the axis has a larger unit, so the ends are rounded again.
        let (low, high) = round(low, high, size(first_low, first_high));
        Self::Linear { low, high }
    }

    /// Returns this scale with additional space at both ends, so that points do not touch the frame. `share` is the
    /// space at each end as a fraction of the scale.
    pub(crate) fn inset(self, share: f64) -> Self {
        match self {
            Self::Linear { low, high } => {
                let room = (high - low) * share;
                Self::Linear { low: low - room, high: high + room }
            }
            Self::Log { low, high } => {
                let room = (high.log10() - low.log10()) * share;
                let low = 10f64.powf(low.log10() - room).max(f64::MIN_POSITIVE);
                Self::Log { low, high: 10f64.powf(high.log10() + room).min(f64::MAX) }
            }
            other => other,
        }
    }

    /// Returns the position of a number on the axis, from 0 to 1. Returns `None` if the scale cannot show the number.
    pub(crate) fn at(&self, number: f64) -> Option<f64> {
        let at = match *self {
            // The ends are halved first, because their distance may overflow.
            Self::Linear { low, high } => (number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
            Self::Log { low, high } => {
                if number <= 0.0 {
                    return None;
                }
                (number.log10() - low.log10()) / (high.log10() - low.log10())
            }
            Self::Nines { most } => nines(number.min(most)) / nines(most),
            Self::Slots { count } => (number + 0.5) / count as f64,
        };
        at.is_finite().then_some(at)
    }

    /// Returns about `count` ticks at round numbers, and the unit of the axis. On a logarithmic scale, each label has
    /// its own unit instead.
    pub(crate) fn ticks(&self, count: usize, unit: Unit) -> (Vec<Tick>, &'static str) {
        match *self {
            Self::Linear { low, high } => linear_ticks(low, high, count, unit),
            Self::Log { low, high } => {
                let numbers = log_numbers(low, high, count, unit);
                // Each tick of a size or a time has its unit. The ticks of a rate have no unit, so the description of
                // the axis contains it.
                let rate = unit == Unit::OperationsPerSecond;
                let name = if rate { format::axis_unit(1.0, unit).name } else { "" };
                (self.label(numbers, |number| format::value(number, unit)), name)
            }
            Self::Nines { most } => (nines_ticks(most), ""),
            Self::Slots { .. } => (Vec::new(), ""),
        }
    }

    /// Returns a tick at each of the given values that the scale covers.
    pub(crate) fn label(
        &self,
        numbers: impl IntoIterator<Item = f64>,
        write: impl Fn(f64) -> String,
    ) -> Vec<Tick> {
        let on_axis = |number: f64| self.at(number).filter(|at| (-1e-9..=1.0 + 1e-9).contains(at));
        numbers
            .into_iter()
            .filter_map(|number| Some(Tick { at: on_axis(number)?, label: write(number) }))
            .collect()
    }
}

/// Returns the smallest and the largest value. If there are no values, returns infinity and minus infinity.
pub(crate) fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// Returns a round distance between ticks that divides a length into about `count` parts: 1, 2, 2.5 or 5 times a power
/// of ten.
fn nice_step(length: f64, count: usize) -> f64 {
    let rough = (length / count.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|step| step * power >= rough * 0.999);
    step.unwrap_or(10.0) * power
}

fn linear_ticks(low: f64, high: f64, count: usize, unit: Unit) -> (Vec<Tick>, &'static str) {
    let axis = format::axis_unit(low.abs().max(high.abs()), unit);
    let (from, to) = (low / axis.size, high / axis.size);
    let step = nice_step((to - from).min(f64::MAX), count);
    let first = (from / step - 1e-6).ceil();
    let scale = Scale::Linear { low: from, high: to };
    let numbers: Vec<f64> = (0..=4 * count)
        .map(|i| (first + i as f64) * step)
        .take_while(|number| number.is_finite() && *number <= to + step * 1e-6)
        .collect();
    let plain = numbers.iter().all(|number| (1e-6..1e9).contains(&number.abs()) || *number == 0.0);
    let decimals = (0..8).find(|d| (step * 10f64.powi(*d)).fract() < 1e-6).unwrap_or(8) as usize;
    let write = |number: f64| if plain { format::fixed(number, decimals) } else { format::digits(number) };
    (scale.label(numbers, write), axis.name)
}

/// Returns round numbers for the ticks of a logarithmic axis: powers of ten, or powers of two for bytes. If only a few
/// powers are between `low` and `high`, the result also contains their multiples by 2 and 5.
fn log_numbers(low: f64, high: f64, count: usize, unit: Unit) -> Vec<f64> {
    let base: f64 = if unit == Unit::Bytes { 2.0 } else { 10.0 };
    let (first, last) = (low.log(base).ceil() as i32, high.log(base).floor() as i32);
    let powers = (last - first + 1).max(0) as usize;
    if base > 2.0 && powers < 3 {
        let between = (first - 1..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|m| m * base.powi(power)));
        let numbers: Vec<f64> = between.filter(|number| (low..=high).contains(number)).collect();
        // If the range is below a factor of about two, the ticks are those of a linear axis.
        return if numbers.len() >= 2 { numbers } else { between_round(low, high, count) };
    }
    if powers < 2 {
        return between_round(low, high, count);
    }
    let every = i32::try_from(powers.div_ceil(count.max(2))).unwrap_or(i32::MAX);
    (first..=last).filter(|power| power.rem_euclid(every) == 0).map(|power| base.powi(power)).collect()
}

pub(crate) fn between_round(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = nice_step(high - low, count);
    let first = (low / step).ceil();
    (0..=2 * count).map(|i| (first + i as f64) * step).take_while(|number| *number <= high).collect()
}

/// Returns the number of nines of a fraction, such as 1 for 0.9 and 2 for 0.99. A fraction between 0.9 and 0.99 has a
/// number between 1 and 2.
fn nines(share: f64) -> f64 {
    -(1.0 - share.clamp(0.0, 1.0 - 1e-15)).log10()
}

fn nines_ticks(most: f64) -> Vec<Tick> {
    let scale = Scale::Nines { most };
    let write = |share: f64| {
        let decimals = (nines(share).round() as usize).saturating_sub(2);
        format!("{}{}%", format::fixed(share * 100.0, decimals), format::SPACE)
    };
    let last = nines(most).floor() as i32;
    let numbers = [0.0, 0.5].into_iter().chain((1..=last).map(|n| 1.0 - 10f64.powi(-n)));
    scale.label(numbers, write)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, unit: Unit) -> Vec<String> {
        let (ticks, name) = scale.padded(6, unit).ticks(6, unit);
        let labels = ticks.into_iter().map(|tick| tick.label.replace(format::SPACE, " "));
        labels.chain((!name.is_empty()).then(|| name.to_owned())).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let scale = |values: &[f64]| Scale::linear(values.iter().copied(), true);
        assert_eq!(labels(scale(&[0.0, 830_000.0]), Unit::OperationsPerSecond)[..3], ["0.0", "0.2", "0.4"]);
        assert_eq!(labels(scale(&[1.0, 2.3]), Unit::Ratio), ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]);
        assert_eq!(labels(scale(&[18.0 * 1_048_576.0]), Unit::Bytes), ["0", "5", "10", "15", "20", "MiB"]);
        assert_eq!(labels(scale(&[0.0]), Unit::Count), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(scale(&[-3.0, 4.0]), Unit::Plain), ["−4", "−2", "0", "2", "4"]);
        assert_eq!(
            labels(scale(&[0.01, 0.023]), Unit::Share),
            ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "%"]
        );
        assert!(labels(scale(&[1e300, f64::MAX]), Unit::Plain).len() > 3);
        assert!(labels(scale(&[f64::MAX]), Unit::Ratio).len() > 3);
        assert!(labels(scale(&[1e-300]), Unit::Ratio).len() > 3);
        assert!(labels(scale(&[-f64::MAX, f64::MAX]), Unit::Plain).len() > 2);
    }

    #[test]
    fn log_ticks_are_powers_or_what_lies_between() {
        let scale = |values: &[f64]| Scale::log(values.iter().copied()).unwrap();
        assert_eq!(labels(scale(&[0.001, 0.2]), Unit::Share), ["0.1 %", "1 %", "10 %"]);
        assert_eq!(labels(scale(&[100.0, 2e9]), Unit::Nanoseconds).len(), 4);
        assert_eq!(labels(scale(&[4096.0, 65536.0]), Unit::Bytes)[..2], ["4 KiB", "8 KiB"]);
        assert_eq!(labels(scale(&[110.0, 130.0]), Unit::Ratio), ["110", "115", "120", "125", "130"]);
        assert_eq!(labels(scale(&[10.0, 40.0]), Unit::Ratio), ["10", "20"]);
        assert!(labels(scale(&[5.0]), Unit::Ratio).len() >= 2);
        assert!(labels(scale(&[1e-300, 1e300]), Unit::Ratio).len() >= 4);
        assert_eq!(Scale::log([0.0, -1.0].into_iter()), None);
        assert_eq!(Scale::log(std::iter::empty()), None);
    }

    #[test]
    fn nines_are_equally_far_apart() {
        let scale = Scale::Nines { most: 0.9999 };
        assert_eq!(labels(scale, Unit::Share), ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        assert!((scale.at(0.99).unwrap() - 0.5).abs() < 1e-9);
        assert!((scale.at(1.0).unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn places_run_from_0_to_1() {
        let linear = Scale::Linear { low: -f64::MAX, high: f64::MAX };
        assert_eq!(linear.at(0.0), Some(0.5));
        assert_eq!(Scale::Log { low: 1.0, high: 100.0 }.at(10.0), Some(0.5));
        assert_eq!(Scale::Log { low: 1.0, high: 100.0 }.at(0.0), None);
        assert_eq!(Scale::Slots { count: 4 }.at(1.0), Some(0.375));
    }
}
