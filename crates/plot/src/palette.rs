//! Colors that readers with any color vision can distinguish, on a white page and in print.
//!
//! The first eight colors come from Okabe and Ito (*Color Universal Design*, 2008), with a darker yellow for white
//! paper. A chart with more series uses eight further colors, for up to 16 series with different colors. Dashes, marks
//! and hatches also distinguish the series, for example in gray print. A dark page replaces each color by another
//! color ([`Color::at_night`]).

use plotters_backend::BackendColor;

/// An opaque color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Color(pub u8, pub u8, pub u8);

impl Color {
    pub(crate) fn solid(self) -> BackendColor {
        self.translucent(1.0)
    }

    pub(crate) fn translucent(self, alpha: f64) -> BackendColor {
        BackendColor { alpha, rgb: (self.0, self.1, self.2) }
    }

    /// Returns a mixture of this color and white. `share` is the fraction of this color.
    pub(crate) fn tint(self, share: f64) -> Self {
        self.mix(PAPER, 1.0 - share)
    }

    /// Returns a mixture of this color and another color. `share` is the fraction of the other color.
    pub(crate) fn mix(self, other: Self, share: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// Returns the relative luminance from 0 to 1 (ITU-R BT.709 weights on linear light).
    pub(crate) fn luminance(self) -> f64 {
        let linear = |channel: u8| (f64::from(channel) / 255.0).powf(2.2);
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Returns the color that replaces this color on a dark page. The color of a series keeps its hue, also in a
    /// mixture with white or with the text color [`INK`]. For all other colors, the lightness is inverted.
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

    /// Returns a color with the hue of this color and inverted lightness, which is never darker than the background of
    /// a dark page.
    fn turned(self) -> Self {
        let channels = [self.0, self.1, self.2].map(|channel| f64::from(channel) / 255.0);
        let (most, least) =
            channels.iter().fold((0.0_f64, 1.0_f64), |(most, least), c| (most.max(*c), least.min(*c)));
        let light = (most + least) / 2.0;
        let turned = 1.0 - (1.0 - NIGHT) * light;
        // Returns the range of the color channels that a lightness permits, as in the color model HSL.
        let reach = |light: f64| 1.0 - (2.0 * light - 1.0).abs();
        let spread = if reach(light) > 0.0 { reach(turned) / reach(light) } else { 0.0 };
        let [r, g, b] = channels.map(|channel| ((turned + (channel - light) * spread) * 255.0).round() as u8);
        Self(r, g, b)
    }
}

/// The number of mixing ratios with which [`Color::at_night`] tests whether a color is a mixture of two known colors.
const SHARES: u32 = 20;

/// The background of the page.
pub(crate) const PAPER: Color = Color(255, 255, 255);
/// The text color of titles.
pub(crate) const INK: Color = Color(26, 26, 26);
/// The color of normal text.
pub(crate) const TEXT: Color = Color(68, 68, 68);
/// The color of less important text.
pub(crate) const FAINT: Color = Color(110, 110, 110);
/// The color of axis lines.
pub(crate) const AXIS: Color = Color(120, 120, 120);
/// The color of grid lines.
pub(crate) const GRID: Color = Color(230, 230, 230);
/// The color of lines that show theoretical values or an ideal bound, which no component can beat.
pub(crate) const BOUND: Color = Color(128, 128, 128);

/// The colors of series, in order. The colors after the first [`USUAL_HUES`] are only for charts with many series.
pub(crate) const HUES: [Color; 16] = [
    Color(0, 114, 178),
    Color(213, 94, 0),
    Color(0, 158, 115),
    Color(204, 121, 167),
    Color(230, 159, 0),
    Color(86, 180, 233),
    Color(139, 115, 0),
    Color(64, 64, 64),
    Color(122, 47, 184),
    Color(134, 179, 0),
    Color(181, 18, 27),
    Color(224, 31, 168),
    Color(22, 32, 110),
    Color(0, 106, 102),
    Color(122, 58, 18),
    Color(165, 139, 234),
];

/// The number of colors from which the position of a label in its catalog selects its color.
pub(crate) const USUAL_HUES: usize = 8;

/// The colors of series on a dark page. Dark colors are replaced by lighter colors.
const HUES_AT_NIGHT: [Color; 16] = [
    Color(30, 132, 200),
    Color(226, 108, 20),
    Color(0, 168, 124),
    Color(212, 136, 180),
    Color(230, 159, 0),
    Color(116, 196, 240),
    Color(168, 142, 24),
    Color(196, 198, 202),
    Color(140, 94, 184),
    Color(172, 234, 118),
    Color(237, 1, 70),
    Color(219, 64, 173),
    Color(132, 146, 241),
    Color(143, 244, 224),
    Color(170, 97, 77),
    Color(180, 99, 250),
];

/// The background of a dark page, which is equal to the background of the dark report pages.
const PAPER_AT_NIGHT: Color = Color(30, 33, 37);
/// The lightness of the background of a dark page, from 0 to 1.
const NIGHT: f64 = 0.13;

/// The dash patterns of series lines: the lengths of strokes and gaps in pixels. The empty pattern is a solid line.
pub(crate) const DASHES: [&[f64]; 4] = [&[], &[8.0, 4.0], &[2.0, 3.0], &[10.0, 3.0, 2.0, 3.0]];

/// The dash pattern of lines that show theoretical values: the lengths of strokes and gaps in pixels.
pub(crate) const THEORY: &[f64] = &[3.0, 3.0];
/// The dash pattern of lines that show an ideal bound: the lengths of strokes and gaps in pixels.
pub(crate) const IDEAL: &[f64] = &[9.0, 3.0];

/// The shape of the mark at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    TriangleDown,
    Plus,
    Star,
    HollowCircle,
    HollowSquare,
    HollowTriangle,
    HollowDiamond,
    HollowTriangleDown,
    Asterisk,
    TriangleRight,
    UprightBar,
}

impl Mark {
    /// Returns the filled mark whose outline this hollow mark has. Returns `None` if this mark is not hollow.
    pub(crate) fn filled(self) -> Option<Self> {
        match self {
            Self::HollowCircle => Some(Self::Circle),
            Self::HollowSquare => Some(Self::Square),
            Self::HollowTriangle => Some(Self::Triangle),
            Self::HollowDiamond => Some(Self::Diamond),
            Self::HollowTriangleDown => Some(Self::TriangleDown),
            _ => None,
        }
    }
}

/// A hatch: a pattern of lines in a bar, with which readers can distinguish bars without color.
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

/// The marks of series, in order. The marks after the first [`USUAL_MARKS`] are only for charts with many series.
pub(crate) const MARKS: [Mark; 16] = [
    Mark::Circle,
    Mark::Square,
    Mark::Triangle,
    Mark::Diamond,
    Mark::Cross,
    Mark::TriangleDown,
    Mark::Plus,
    Mark::Star,
    Mark::HollowCircle,
    Mark::HollowSquare,
    Mark::HollowTriangle,
    Mark::HollowDiamond,
    Mark::HollowTriangleDown,
    Mark::Asterisk,
    Mark::TriangleRight,
    Mark::UprightBar,
];

/// The number of marks from which the position of a label in its catalog selects its mark.
const USUAL_MARKS: usize = 5;

/// The share of the color in the fills of bars, for the first and the following labels of one variant.
const TINTS: [f64; 4] = [1.0, 0.55, 0.3, 0.75];

/// The share of the color in the fill of bars with dark hatch lines.
const LIGHT_FILL: f64 = 0.3;

/// The style of one series: its color, fill, dash pattern, mark and hatch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub color: Color,
    /// The fill color of bars.
    pub fill: Color,
    pub dashes: &'static [f64],
    pub mark: Mark,
    /// The hatch of the bars, if bars of several series are next to each other.
    pub hatch: Hatch,
    /// The color of the lines of the hatch.
    pub hatch_color: Color,
    /// The position of the label in the order of labels. Labels of one variant with different parameters have the same
    /// position. `None` for an ideal bound.
    pub kind: Option<usize>,
}

impl Style {
    /// Returns the style of a label. `place` is its position in the order of labels. `repeat` is the number of earlier
    /// labels at this position, such as labels of the same variant with other parameters.
    pub(crate) fn new(place: usize, repeat: usize) -> Self {
        let color = HUES[place % USUAL_HUES];
        let turn = place / USUAL_HUES + repeat;
        Self {
            color,
            fill: color.tint(TINTS[turn % TINTS.len()]),
            dashes: DASHES[turn % DASHES.len()],
            mark: MARKS[(place + repeat) % USUAL_MARKS],
            hatch: Hatch::Plain,
            hatch_color: PAPER,
            kind: Some(place),
        }
    }

    /// Returns this style with another color. `repeat` is the number of earlier labels of the same variant in the
    /// chart.
    pub(crate) fn recolored(self, color: Color, repeat: usize) -> Self {
        let fill = color.tint(TINTS[repeat % TINTS.len()]);
        Self { color, fill, dashes: DASHES[repeat % DASHES.len()], ..self }
    }

    /// Returns this style with the hatch for the bars of the series with this index in a chart. From the ninth series
    /// on, the lines of the hatch are dark on a light fill, so that 16 series have different bars in gray print.
    pub(crate) fn hatched(self, place: usize) -> Self {
        let turn = place / HATCHES.len();
        let hatch = HATCHES[(place + turn / 2) % HATCHES.len()];
        match turn % 2 {
            0 => Self { hatch, ..self },
            _ => Self { hatch, hatch_color: self.color, fill: self.color.tint(LIGHT_FILL), ..self },
        }
    }

    /// Returns whether this is the style of an ideal bound, which no component can exceed.
    pub(crate) fn is_bound(&self) -> bool {
        self.kind.is_none()
    }

    /// Returns the style of an ideal bound, which no component can exceed. `repeat` is the number of earlier ideal
    /// bounds in the chart.
    pub(crate) fn bound(repeat: usize) -> Self {
        let dashes = DASHES[1 + repeat % 3];
        Self {
            color: BOUND,
            fill: BOUND.tint(0.4),
            dashes,
            mark: MARKS[(4 + repeat) % USUAL_MARKS],
            hatch: Hatch::Plain,
            hatch_color: PAPER,
            kind: None,
        }
    }
}

/// The colors of heat maps, from light for small values to dark for large values. Readers can distinguish them in gray
/// and with any color vision.
const RAMP: [Color; 6] = [
    Color(247, 251, 255),
    Color(198, 219, 239),
    Color(125, 178, 214),
    Color(55, 126, 184),
    Color(13, 74, 140),
    Color(5, 30, 80),
];

/// Returns the color of the heat map for a value from 0 (smallest) to 1 (largest).
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
    }

    /// Returns the distance of two colors in the color space Oklab (Ottosson, 2020). Colors closer than about 0.02 look
    /// equal next to each other.
    fn distance(a: Color, b: Color) -> f64 {
        let [a, b] = [a, b].map(|color| {
            let linear = |channel: u8| (f64::from(channel) / 255.0).powf(2.2);
            let rgb = [color.0, color.1, color.2].map(linear);
            let sum =
                |weights: [f64; 3], of: [f64; 3]| weights.iter().zip(of).map(|(w, v)| w * v).sum::<f64>();
            let cones = [
                [0.412_221, 0.536_333, 0.051_446],
                [0.211_903, 0.680_700, 0.107_397],
                [0.088_302, 0.281_719, 0.629_979],
            ];
            let cones = cones.map(|weights| sum(weights, rgb).cbrt());
            let axes = [
                [0.210_454, 0.793_618, -0.004_072],
                [1.977_998, -2.428_592, 0.450_594],
                [0.025_904, 0.782_772, -0.808_676],
            ];
            axes.map(|weights| sum(weights, cones))
        });
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn sixteen_colors_look_different_by_day_and_at_night() {
        for colors in [HUES, HUES.map(Color::at_night)] {
            for (at, a) in colors.iter().enumerate() {
                for b in &colors[..at] {
                    assert!(distance(*a, *b) > 0.1, "{a:?} {b:?}: {}", distance(*a, *b));
                }
            }
        }
    }

    #[test]
    fn the_bars_of_sixteen_series_look_different_without_color() {
        let bars: Vec<Style> = (0..16).map(|at| Style::new(0, 0).hatched(at)).collect();
        for (at, a) in bars.iter().enumerate() {
            assert!(bars[..at].iter().all(|b| (a.hatch, a.fill) != (b.hatch, b.fill)), "{a:?}");
        }
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
        // WCAG requires a contrast of at least 3 for graphics; sky blue and orange come with marks.
        for hue in HUES {
            let contrast = contrast(hue, PAPER);
            assert!(contrast >= 2.0, "{hue:?}: {contrast}");
        }
    }
}
