//! The typeface of charts: the embedded `DejaVu` Sans Condensed, or the typeface that the style names. With the
//! embedded typeface, charts do not depend on installed fonts. An SVG names the font families and states the width of
//! each text, so that a viewer with another font draws each text with this width.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use ab_glyph::{Font, FontArc, FontVec, GlyphId, PxScale, ScaleFont, point};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, FontFamily, FontStyle, FontTransform};

use crate::PlotError;
use crate::palette::Color;

/// The font families in an SVG, in order of preference. All families after the second are replacements with similar
/// widths.
const FAMILY: &str = "DejaVu Sans Condensed, DejaVu Sans, Arial, Liberation Sans, Helvetica, sans-serif";

/// The number by which the SVG back end of `plotters` divides a font size. To undo the division, [`TextStyle`]
/// multiplies its font size by this number.
const SIZE_PER_EM: f64 = 1.24;

/// The distance from the upper edge of a text to its baseline, in em. The SVG back end shifts the text by this
/// distance.
pub(crate) const BASELINE_EM: f64 = 0.76;

/// The height of a line of text in em.
pub(crate) const LINE_EM: f64 = 1.3;

/// The size of labels, in pixels.
pub(crate) const LABEL: f64 = 12.0;

/// The part of a text that is placed at the given position: the start, the middle or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The weight of a font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// One font of a typeface, regular or bold, with the bytes of its file.
#[derive(Clone)]
pub(crate) struct Face {
    font: FontArc,
    bytes: Arc<Cow<'static, [u8]>>,
    /// The index of this font in its file, because a font file can contain several fonts.
    index: u32,
}

impl Face {
    fn embedded(bytes: &'static [u8]) -> Self {
        let font = FontArc::try_from_slice(bytes).expect("the embedded font file must be a valid font");
        Self { font, bytes: Arc::new(Cow::Borrowed(bytes)), index: 0 }
    }

    fn read(database: &fontdb::Database, id: fontdb::ID) -> Option<Self> {
        database.with_face_data(id, |bytes, index| {
            let font = FontVec::try_from_vec_and_index(bytes.to_vec(), index).ok()?;
            Some(Self { font: FontArc::new(font), bytes: Arc::new(Cow::Owned(bytes.to_vec())), index })
        })?
    }

    /// Returns the bytes of the font file, and the index of this font in the file.
    pub(crate) fn file(&self) -> (&[u8], u32) {
        (&self.bytes, self.index)
    }

    /// Returns the parsed font, which has the widths and outlines of glyphs.
    pub(crate) fn font(&self) -> &FontArc {
        &self.font
    }
}

/// A typeface: one face in regular weight and one face in bold weight.
#[derive(Clone)]
pub(crate) struct Typeface {
    /// The font family that an SVG names first; `None` for the embedded typeface.
    family: Option<String>,
    regular: Face,
    bold: Face,
}

static EMBEDDED: LazyLock<Typeface> = LazyLock::new(|| Typeface {
    family: None,
    regular: Face::embedded(dejavu::sans_condensed::regular()),
    bold: Face::embedded(dejavu::sans_condensed::bold()),
});

thread_local! {
    /// The typeface in which the current thread draws a chart.
    static CURRENT: RefCell<Option<Typeface>> = const { RefCell::new(None) };
}

impl Typeface {
    /// Finds a typeface by name: an installed family or a font file. Without a name, returns the embedded typeface.
    ///
    /// # Errors
    /// A font file cannot be read, or a family is not installed.
    pub(crate) fn find(name: Option<&str>) -> Result<Self, PlotError> {
        let Some(name) = name else { return Ok(EMBEDDED.clone()) };
        let problem = |message: String| PlotError::spec("style.font", message);
        let mut database = fontdb::Database::new();
        let is_file = Path::new(name).is_file();
        let family = if is_file {
            database
                .load_font_file(name)
                .map_err(|error| problem(format!("cannot read font file \"{name}\": {error}")))?;
            let face = database.faces().next();
            let face =
                face.ok_or_else(|| problem(format!("\"{name}\" is not a font file (TTF, OTF or TTC)")))?;
            face.families.first().map_or_else(|| name.to_owned(), |(family, _)| family.clone())
        } else {
            database.load_system_fonts();
            name.to_owned()
        };
        let face = |weight| {
            let families = [fontdb::Family::Name(&family)];
            let id =
                database.query(&fontdb::Query { families: &families, weight, ..fontdb::Query::default() })?;
            Face::read(&database, id)
        };
        let regular = face(fontdb::Weight::NORMAL).ok_or_else(|| {
            problem(format!("font family \"{name}\" is not installed; name another family or a font file (`fc-list : family` lists all families)"))
        })?;
        let bold = face(fontdb::Weight::BOLD).unwrap_or_else(|| regular.clone());
        Ok(Self { family: Some(family), regular, bold })
    }

    /// Returns the font of this typeface with the given weight.
    pub(crate) fn face(&self, weight: Weight) -> &Face {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }

    /// Returns whether this is the embedded typeface, whose letters are condensed.
    pub(crate) fn is_embedded(&self) -> bool {
        self.family.is_none()
    }

    /// Returns the font families for an SVG, in order of preference.
    pub(crate) fn families(&self) -> String {
        self.family.as_ref().map_or_else(
            || FAMILY.to_owned(),
            |family| format!("{}, {FAMILY}", family.replace(['"', '<', '&'], "")),
        )
    }

    /// Calls `draw`, which measures and writes all its texts in this typeface.
    pub(crate) fn using<R>(&self, draw: impl FnOnce() -> R) -> R {
        let before = CURRENT.replace(Some(self.clone()));
        let drawn = draw();
        CURRENT.set(before);
        drawn
    }

    /// Returns the typeface in which the current thread draws a chart.
    pub(crate) fn current() -> Self {
        CURRENT.with_borrow(|current| current.as_ref().unwrap_or(&EMBEDDED).clone())
    }
}

fn of(weight: Weight) -> FontArc {
    CURRENT.with_borrow(|current| current.as_ref().unwrap_or(&EMBEDDED).face(weight).font.clone())
}

/// Returns the width of a line of text. `size` is the font size (1 em), and the result has the unit of `size`.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    advances(text, &of(weight)).last().map_or(0.0, |(_, _, end)| end) * size
}

/// Returns the glyphs of a line of text, each with its start and its end in em.
pub(crate) fn advances<'a>(
    text: &'a str,
    font: &'a FontArc,
) -> impl Iterator<Item = (GlyphId, f64, f64)> + use<'a> {
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

/// The style of a line of text. Back ends of `plotters` place the text by its upper edge.
pub(crate) struct TextStyle {
    /// The font size in pixels per em.
    pub size: f64,
    pub weight: Weight,
    pub color: Color,
    pub anchor: Anchor,
    /// Whether the text reads from bottom to top.
    pub rotated: bool,
    families: String,
}

impl TextStyle {
    /// Creates the style of a text in the current typeface of the thread.
    pub(crate) fn new(size: f64, weight: Weight, color: Color, anchor: Anchor, rotated: bool) -> Self {
        Self { size, weight, color, anchor, rotated, families: Typeface::current().families() }
    }
}

impl BackendTextStyle for TextStyle {
    type FontError = std::convert::Infallible;

    fn color(&self) -> BackendColor {
        self.color.solid()
    }

    fn size(&self) -> f64 {
        // The back end divides by `SIZE_PER_EM`. Because of rounding, the quotient could be 52.00000000000001 instead
        // of 52. One of the neighboring numbers then has the exact quotient.
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
        FontFamily::Name(&self.families)
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
        // The crate `ab_glyph` scales by the line height of the font, not by the em.
        let line = font.height_unscaled() / font.units_per_em().unwrap_or(2048.0);
        let scale = PxScale::from(self.size as f32 * line);
        let baseline = f64::from(top) + BASELINE_EM * self.size;
        for (glyph, start, _) in advances(text, &font) {
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
