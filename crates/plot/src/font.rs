//! The typeface of all charts: `DejaVu` Sans Condensed, embedded, so that no chart depends on the fonts of a
//! machine. An SVG names it, and says how wide each text is to be in whichever face a viewer has instead.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, FontFamily, FontStyle, FontTransform};

use crate::palette::Color;

/// What an SVG asks for; Arial and its metric twins come close in width.
const FAMILY: &str = "DejaVu Sans Condensed, DejaVu Sans, Arial, Liberation Sans, Helvetica, sans-serif";

/// The SVG back end writes a font size as its argument divided by this.
const SIZE_PER_EM: f64 = 1.24;

/// How far the baseline lies below the anchor of text that hangs from its top, in em: what the SVG back end
/// shifts such text by.
pub(crate) const BASELINE_EM: f64 = 0.76;

/// The height of a line of text in em.
pub(crate) const LINE_EM: f64 = 1.3;

/// The size of labels.
pub(crate) const LABEL: f64 = 12.0;

/// Where text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How thick its strokes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

static REGULAR: LazyLock<FontRef<'static>> = LazyLock::new(|| face(dejavu::sans_condensed::regular()));
static BOLD: LazyLock<FontRef<'static>> = LazyLock::new(|| face(dejavu::sans_condensed::bold()));

fn face(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the embedded font is a font")
}

fn of(weight: Weight) -> &'static FontRef<'static> {
    match weight {
        Weight::Regular => &REGULAR,
        Weight::Bold => &BOLD,
    }
}

/// The width of a line of text whose em is `size` high, in the same unit.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    advances(text, weight).last().map_or(0.0, |(_, _, end)| end) * size
}

/// Each glyph with the em at which it starts and ends.
fn advances(text: &str, weight: Weight) -> impl Iterator<Item = (GlyphId, f64, f64)> {
    let font = of(weight);
    let per_em = f64::from(font.units_per_em().unwrap_or(2048.0));
    let (mut at, mut before) = (0.0, None);
    text.chars().map(move |c| {
        let glyph = font.glyph_id(c);
        let kern = before.map_or(0.0, |before| font.kern_unscaled(before, glyph));
        let start = at + f64::from(kern) / per_em;
        at = start + f64::from(font.h_advance_unscaled(glyph)) / per_em;
        before = Some(glyph);
        (glyph, start, at)
    })
}

/// One line of text as the back ends draw it: it hangs from its anchor.
pub(crate) struct TextStyle {
    /// Pixels per em.
    pub size: f64,
    pub weight: Weight,
    pub color: Color,
    pub anchor: Anchor,
    /// Whether it reads from bottom to top.
    pub rotated: bool,
}

impl BackendTextStyle for TextStyle {
    type FontError = std::convert::Infallible;

    fn color(&self) -> BackendColor {
        self.color.solid()
    }

    fn size(&self) -> f64 {
        // The neighbour of the product whose quotient is the size itself and no 52.00000000000001.
        let size = self.size * SIZE_PER_EM;
        let exact = [size, size.next_down(), size.next_up()];
        exact.into_iter().find(|size| (size / SIZE_PER_EM).to_bits() == self.size.to_bits()).unwrap_or(size)
    }

    fn transform(&self) -> FontTransform {
        if self.rotated { FontTransform::Rotate270 } else { FontTransform::None }
    }

    fn style(&self) -> FontStyle {
        match self.weight {
            Weight::Regular => FontStyle::Normal,
            Weight::Bold => FontStyle::Bold,
        }
    }

    fn anchor(&self) -> Pos {
        let horizontal = match self.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        Pos::new(horizontal, VPos::Top)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::Name(FAMILY)
    }

    fn layout_box(&self, text: &str) -> Result<((i32, i32), (i32, i32)), Self::FontError> {
        Ok(((0, 0), (width(text, self.size, self.weight).round() as i32, self.size.round() as i32)))
    }

    fn draw<E, D: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        text: &str,
        (left, top): BackendCoord,
        mut draw: D,
    ) -> Result<Result<(), E>, Self::FontError> {
        let font = of(self.weight);
        // The library scales by the height of a line, not by the em.
        let line = font.height_unscaled() / font.units_per_em().unwrap_or(2048.0);
        let scale = PxScale::from(self.size as f32 * line);
        let baseline = f64::from(top) + BASELINE_EM * self.size;
        for (glyph, start, _) in advances(text, self.weight) {
            let x = f64::from(left) + start * self.size;
            let glyph = glyph.with_scale_and_position(scale, point(x as f32, baseline as f32));
            let Some(outline) = font.as_scaled(scale).outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            let mut result = Ok(());
            outline.draw(|x, y, coverage| {
                if result.is_ok() && coverage > 0.0 {
                    let color = self.color().mix(f64::from(coverage.min(1.0)));
                    let place = |corner: f32, step: u32| corner as i32 + step.cast_signed();
                    result = draw(place(corner.x, x), place(corner.y, y), color);
                }
            });
            if result.is_err() {
                return Ok(result);
            }
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up_and_bold_is_wider() {
        let one = width("m", 12.0, Weight::Regular);
        assert!(one > 8.0 && one < 12.0, "{one}");
        assert!((width("mmmm", 12.0, Weight::Regular) - 4.0 * one).abs() < 0.01);
        assert!(width("mmmm", 12.0, Weight::Bold) > 4.0 * one);
        assert!(width("", 12.0, Weight::Regular).abs() < f64::EPSILON);
    }

    #[test]
    fn every_character_that_charts_use_has_a_glyph() {
        for c in "×−–…·→←↑↓µ⁰¹²³⁴⁵⁶⁷⁸⁹⁻\u{a0}\u{202f}".chars() {
            assert_ne!(of(Weight::Regular).glyph_id(c), GlyphId(0), "{c}");
        }
    }
}
