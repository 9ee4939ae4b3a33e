//! Colours that can be told apart with any kind of colour vision, on a white page and in print.
//!
//! The hues are those of Okabe and Ito (*Color Universal Design*, 2008), yellow darkened for white paper.
//! Past eight, a series differs by its dashes and its mark; in bars by a lighter fill. On a dark page each colour has
//! another in its place ([`Color::at_night`]).

use plotters_backend::BackendColor;

/// An opaque colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Color(pub u8, pub u8, pub u8);

impl Color {
    pub(crate) fn solid(self) -> BackendColor {
        self.translucent(1.0)
    }

    pub(crate) fn translucent(self, alpha: f64) -> BackendColor {
        BackendColor { alpha, rgb: (self.0, self.1, self.2) }
    }

    /// This colour mixed with white, by its share.
    pub(crate) fn tint(self, share: f64) -> Self {
        self.mix(PAPER, 1.0 - share)
    }

    /// This colour mixed with another, by the other's share.
    pub(crate) fn mix(self, other: Self, share: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// How light it looks, 0 to 1 (ITU-R BT.709 weights on linear light).
    pub(crate) fn luminance(self) -> f64 {
        let linear = |channel: u8| (f64::from(channel) / 255.0).powf(2.2);
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// What stands in its place on a dark page. A series keeps its hue, and what was mixed with white or with ink is mixed
    /// with what is there instead; of all else light and dark change places.
    pub(crate) fn at_night(self) -> Self {
        let shares = || (1..=SHARES).map(|part| f64::from(part) / f64::from(SHARES));
        for (hue, at_night) in HUES.into_iter().zip(HUES_AT_NIGHT) {
            if let Some(share) = shares().find(|share| hue.tint(*share) == self) {
                return at_night.mix(PAPER_AT_NIGHT, 1.0 - share);
            }
            if let Some(share) = shares().find(|share| hue.mix(INK, *share) == self) {
                return at_night.mix(INK.turned(), share);
            }
        }
        if self == PAPER { PAPER_AT_NIGHT } else { self.turned() }
    }

    /// As dark as it was light, down to the page at night, in the same hue.
    fn turned(self) -> Self {
        let channels = [self.0, self.1, self.2].map(|channel| f64::from(channel) / 255.0);
        let (most, least) =
            channels.iter().fold((0.0_f64, 1.0_f64), |(most, least), c| (most.max(*c), least.min(*c)));
        let light = (most + least) / 2.0;
        let turned = 1.0 - (1.0 - NIGHT) * light;
        // How far the channels lie apart for how far they can, as HSL has it.
        let reach = |light: f64| 1.0 - (2.0 * light - 1.0).abs();
        let spread = if reach(light) > 0.0 { reach(turned) / reach(light) } else { 0.0 };
        let [r, g, b] = channels.map(|channel| ((turned + (channel - light) * spread) * 255.0).round() as u8);
        Self(r, g, b)
    }
}

/// Into how many parts the shares fall at which colours are mixed.
const SHARES: u32 = 20;

/// The page.
pub(crate) const PAPER: Color = Color(255, 255, 255);
/// Titles.
pub(crate) const INK: Color = Color(26, 26, 26);
/// Everything else that is read.
pub(crate) const TEXT: Color = Color(68, 68, 68);
/// What is read last.
pub(crate) const FAINT: Color = Color(110, 110, 110);
/// Axes.
pub(crate) const AXIS: Color = Color(120, 120, 120);
/// Grid lines.
pub(crate) const GRID: Color = Color(230, 230, 230);
/// Bounds that no component could beat, and theory.
pub(crate) const BOUND: Color = Color(128, 128, 128);

/// The colours of series, in order.
pub(crate) const HUES: [Color; 8] = [
    Color(0, 114, 178),
    Color(213, 94, 0),
    Color(0, 158, 115),
    Color(204, 121, 167),
    Color(230, 159, 0),
    Color(86, 180, 233),
    Color(139, 115, 0),
    Color(64, 64, 64),
];

/// The same on a dark page, where those that are dark are lighter.
const HUES_AT_NIGHT: [Color; 8] = [
    Color(30, 132, 200),
    Color(226, 108, 20),
    Color(0, 168, 124),
    Color(212, 136, 180),
    Color(230, 159, 0),
    Color(116, 196, 240),
    Color(168, 142, 24),
    Color(196, 198, 202),
];

/// The page at night, as the pages of the report have it.
const PAPER_AT_NIGHT: Color = Color(30, 33, 37);
/// How light that is.
const NIGHT: f64 = 0.13;

/// Lengths of strokes and gaps in pixels; empty for a solid line.
const DASHES: [&[f64]; 4] = [&[], &[8.0, 4.0], &[2.0, 3.0], &[10.0, 3.0, 2.0, 3.0]];

/// The strokes and gaps of the line of theory, and of that of an ideal bound.
pub(crate) const THEORY: &[f64] = &[3.0, 3.0];
pub(crate) const IDEAL: &[f64] = &[9.0, 3.0];

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

/// The lines across a bar, which tell bars apart without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hatch {
    Plain,
    Rising,
    Falling,
    Level,
    Upright,
    Crossed,
    Grid,
    Wide,
}

const HATCHES: [Hatch; 8] = [
    Hatch::Plain,
    Hatch::Rising,
    Hatch::Level,
    Hatch::Crossed,
    Hatch::Falling,
    Hatch::Upright,
    Hatch::Grid,
    Hatch::Wide,
];

impl Hatch {
    /// The hatch of the series at a place among those of one chart.
    pub(crate) fn at(place: usize) -> Self {
        HATCHES[place % HATCHES.len()]
    }
}

const MARKS: [Mark; 5] = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Cross];

/// How one series looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub color: Color,
    /// The fill of bars.
    pub fill: Color,
    pub dashes: &'static [f64],
    pub mark: Mark,
    /// The lines across its bars, where several series stand side by side.
    pub hatch: Hatch,
    /// The place in the order of labels, which labels of one kind share. `None` for a bound.
    pub kind: Option<usize>,
}

impl Style {
    /// The look of the series whose label has this place in the order of labels; `repeat` counts those before
    /// it that share the place, such as one variant with two parameters.
    pub(crate) fn new(place: usize, repeat: usize) -> Self {
        let color = HUES[place % HUES.len()];
        let turn = place / HUES.len() + repeat;
        let fill = color.tint([1.0, 0.55, 0.3, 0.75][turn % 4]);
        Self {
            color,
            fill,
            dashes: DASHES[turn % DASHES.len()],
            mark: MARKS[(place + repeat) % MARKS.len()],
            hatch: Hatch::Plain,
            kind: Some(place),
        }
    }

    /// The same look in another colour.
    pub(crate) fn recolored(self, color: Color) -> Self {
        Self { color, fill: color, dashes: &[], ..self }
    }

    /// Whether it is the look of a bound.
    pub(crate) fn is_bound(&self) -> bool {
        self.kind.is_none()
    }

    /// The look of a bound: an oracle, which no component could be.
    pub(crate) fn bound(repeat: usize) -> Self {
        let dashes = DASHES[1 + repeat % 3];
        Self {
            color: BOUND,
            fill: BOUND.tint(0.4),
            dashes,
            mark: MARKS[(4 + repeat) % MARKS.len()],
            hatch: Hatch::Plain,
            kind: None,
        }
    }
}

/// From least to most, as light as the values are small: readable in grey and with any colour vision.
const RAMP: [Color; 6] = [
    Color(247, 251, 255),
    Color(198, 219, 239),
    Color(125, 178, 214),
    Color(55, 126, 184),
    Color(13, 74, 140),
    Color(5, 30, 80),
];

/// The colour of a share of the way from least to most.
pub(crate) fn ramp(share: f64) -> Color {
    let at = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let below = (at as usize).min(RAMP.len() - 2);
    RAMP[below].mix(RAMP[below + 1], at - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_series_look_different() {
        let styles: Vec<Style> = (0..32).map(|place| Style::new(place, 0)).collect();
        for (i, a) in styles.iter().enumerate() {
            for b in &styles[..i] {
                assert!((a.color, a.dashes) != (b.color, b.dashes), "{a:?}");
            }
        }
        assert_ne!(Style::new(1, 0).dashes, Style::new(1, 1).dashes);
    }

    #[test]
    fn the_ramp_grows_darker() {
        let lights: Vec<f64> = (0..=20).map(|i| ramp(f64::from(i) / 20.0).luminance()).collect();
        assert!(lights.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!((ramp(-1.0), ramp(2.0)), (RAMP[0], RAMP[5]));
    }

    fn contrast(a: Color, b: Color) -> f64 {
        let (a, b) = (a.luminance(), b.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn at_night_everything_can_be_read() {
        assert_eq!(PAPER.at_night(), PAPER_AT_NIGHT);
        for text in [INK, TEXT] {
            assert!(contrast(text.at_night(), PAPER_AT_NIGHT) > 7.0, "{text:?} {:?}", text.at_night());
        }
        assert!(contrast(FAINT.at_night(), PAPER_AT_NIGHT) > 4.5);
        let grid = contrast(GRID.at_night(), PAPER_AT_NIGHT);
        assert!((1.1..2.0).contains(&grid), "a grid is seen and does not stand out: {grid}");
        for hue in HUES {
            let contrast = contrast(hue.at_night(), PAPER_AT_NIGHT);
            assert!(contrast >= 3.5, "{hue:?}: {contrast}");
        }
        let mut seen = HUES.map(Color::at_night).to_vec();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), HUES.len());
    }

    #[test]
    fn at_night_what_is_mixed_is_mixed_with_what_is_there() {
        for (hue, at_night) in HUES.into_iter().zip(HUES_AT_NIGHT) {
            for share in [1.0, 0.75, 0.55, 0.3] {
                assert_eq!(hue.tint(share).at_night(), at_night.mix(PAPER_AT_NIGHT, 1.0 - share));
            }
            assert!(hue.mix(INK, 0.7).at_night().luminance() > 0.4, "a line over bars stands out");
        }
        let lights: Vec<f64> = (0..=20).map(|i| ramp(f64::from(i) / 20.0).at_night().luminance()).collect();
        assert!(lights.windows(2).all(|pair| pair[0] < pair[1]), "{lights:?}");
    }

    #[test]
    fn lines_stand_out_from_the_page() {
        // The least that WCAG asks of graphics is a contrast of 3; sky blue and orange come with marks.
        for hue in HUES {
            let contrast = contrast(hue, PAPER);
            assert!(contrast >= 2.0, "{hue:?}: {contrast}");
        }
    }
}
