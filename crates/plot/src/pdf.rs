//! Writes a scene as PDF, with subsets of the fonts embedded. Equal scenes give byte-for-byte equal files.

use std::collections::BTreeMap;

use ab_glyph::{Font, GlyphId};
use pdf_writer::types::{CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Finish, Name, Pdf, Rect as PageRect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;

use crate::font::{self, Anchor, Face, Typeface, Weight};
use crate::palette::{Color, PAPER};
use crate::render::{Outline, layers};
use crate::scene::{Rect, Scene, Shape, Text};

/// PDF points per inch.
const POINTS: f64 = 72.0;
/// The constant that approximates a quarter of a circle by a Bezier curve: the distance of a control point from its end
/// point, as a multiple of the radius.
const QUARTER: f64 = 0.552_284_75;
/// The number of glyph units per em in a PDF font.
const PER_EM: f64 = 1000.0;

/// The ids of the PDF objects that describe one embedded font.
#[derive(Clone, Copy)]
struct FontIds {
    font: Ref,
    cid: Ref,
    descriptor: Ref,
    file: Ref,
    unicode: Ref,
}

/// A font with the glyphs that the page uses, to embed in the PDF.
struct Embedded<'a> {
    face: &'a Face,
    /// The name of the font in the resources of the page.
    resource: &'static str,
    used: GlyphRemapper,
    /// The character and the width of each glyph in the subset. The key is the index of the glyph in the subset.
    glyphs: BTreeMap<u16, (char, f64)>,
}

impl<'a> Embedded<'a> {
    fn new(face: &'a Face, resource: &'static str) -> Self {
        Self { face, resource, used: GlyphRemapper::new(), glyphs: BTreeMap::from([(0, ('\u{fffd}', 0.0))]) }
    }

    /// Adds a glyph to the subset of the font in the PDF, and returns the index of the glyph in the subset.
    fn take(&mut self, glyph: GlyphId, character: char) -> u16 {
        let font = self.face.font();
        let per_em = f64::from(font.units_per_em().unwrap_or(2048.0));
        let advance = f64::from(font.h_advance_unscaled(glyph)) / per_em;
        let new = self.used.remap(glyph.0);
        self.glyphs.entry(new).or_insert((character, advance));
        new
    }
}

/// Renders a scene as PDF. `per_inch` pixels of the page become one inch.
///
/// # Errors
/// The font cannot be embedded.
pub(crate) fn pdf(scene: &Scene, title: &str, typeface: &Typeface, per_inch: f64) -> Result<Vec<u8>, String> {
    let scale = POINTS / per_inch;
    let mut faces = [
        Embedded::new(typeface.face(Weight::Regular), "F0"),
        Embedded::new(typeface.face(Weight::Bold), "F1"),
    ];
    let mut alphas: Vec<f64> = Vec::new();
    let mut content = Content::new();
    // Coordinates are pixels, downwards from the upper left corner.
    content.transform([scale, 0.0, 0.0, -scale, 0.0, scene.height * scale].map(|number| number as f32));
    content.set_line_join(LineJoinStyle::RoundJoin).set_line_cap(LineCapStyle::ButtCap);
    fill_rect(&mut content, Rect { left: 0.0, top: 0.0, right: scene.width, bottom: scene.height }, PAPER);
    for shape in &scene.shapes {
        match shape {
            Shape::Line { points, width, color, dashes } => {
                stroke(&mut content, points, *width, *color, dashes);
            }
            Shape::Area { points, color, alpha } => {
                let at = alphas.iter().position(|known| known.total_cmp(alpha).is_eq());
                let at = at.unwrap_or_else(|| {
                    alphas.push(*alpha);
                    alphas.len() - 1
                });
                content.save_state().set_parameters(Name(format!("A{at}").as_bytes()));
                fill(&mut content, points, *color);
                content.restore_state();
            }
            Shape::Box { rect, color } => fill_rect(&mut content, *rect, *color),
            Shape::Mark { x, y, radius, color, mark } => {
                for (outline, color) in layers(*mark, (*x, *y), *radius, *color) {
                    match outline {
                        Outline::Circle(radius) => circle(&mut content, (*x, *y), radius, color),
                        Outline::Polygon(points) => fill(&mut content, &points, color),
                        Outline::Strokes(lines, width) => {
                            lines.iter().for_each(|line| stroke(&mut content, line, width, color, &[]));
                        }
                    }
                }
            }
            Shape::Text(text) => write(&mut content, text, &mut faces),
        }
    }
    document(&content.finish(), title, [scene.width * scale, scene.height * scale], faces, &alphas)
}

fn rgb(color: Color) -> [f32; 3] {
    [color.0, color.1, color.2].map(|channel| f32::from(channel) / 255.0)
}

fn path(content: &mut Content, points: &[(f64, f64)]) {
    for (at, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if at == 0 {
            content.move_to(x, y);
        } else {
            content.line_to(x, y);
        }
    }
}

fn stroke(content: &mut Content, points: &[(f64, f64)], width: f64, color: Color, dashes: &[f64]) {
    if points.len() < 2 {
        return;
    }
    let [r, g, b] = rgb(color);
    content.set_stroke_rgb(r, g, b).set_line_width(width as f32);
    content.set_dash_pattern(dashes.iter().map(|length| *length as f32), 0.0);
    path(content, points);
    content.stroke();
}

fn fill(content: &mut Content, points: &[(f64, f64)], color: Color) {
    let [r, g, b] = rgb(color);
    content.set_fill_rgb(r, g, b);
    path(content, points);
    content.close_path().fill_nonzero();
}

fn fill_rect(content: &mut Content, rect: Rect, color: Color) {
    let [r, g, b] = rgb(color);
    let [left, top, width, height] =
        [rect.left, rect.top, rect.width(), rect.height()].map(|number| number as f32);
    content.set_fill_rgb(r, g, b).rect(left, top, width, height).fill_nonzero();
}

fn circle(content: &mut Content, (x, y): (f64, f64), radius: f64, color: Color) {
    let [red, green, blue] = rgb(color);
    let at = |dx: f64, dy: f64| ((x + dx * radius) as f32, (y + dy * radius) as f32);
    let start = at(1.0, 0.0);
    content.set_fill_rgb(red, green, blue).move_to(start.0, start.1);
    let mut from = (1.0, 0.0);
    for to in [(0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)] {
        // At each end of the quarter circle, the control point lies on the tangent of the circle.
        let first = at(from.0 + to.0 * QUARTER, from.1 + to.1 * QUARTER);
        let second = at(to.0 + from.0 * QUARTER, to.1 + from.1 * QUARTER);
        let end = at(to.0, to.1);
        content.cubic_to(first.0, first.1, second.0, second.1, end.0, end.1);
        from = to;
    }
    content.close_path().fill_nonzero();
}

fn write(content: &mut Content, text: &Text, faces: &mut [Embedded<'_>; 2]) {
    if text.line.is_empty() {
        return;
    }
    let embedded = &mut faces[usize::from(text.weight == Weight::Bold)];
    let font = embedded.face.font().clone();
    let length = font::width(&text.line, text.size, text.weight);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => length / 2.0,
        Anchor::End => length,
    };
    let matrix = match text.rotated {
        // Vertical text runs upwards, with its top to the left.
        true => [0.0, -1.0, -1.0, 0.0, text.x, text.y + before],
        false => [1.0, 0.0, 0.0, -1.0, text.x - before, text.y],
    };
    let [r, g, b] = rgb(text.color);
    content.set_fill_rgb(r, g, b).begin_text();
    content.set_font(Name(embedded.resource.as_bytes()), text.size as f32);
    content.set_text_matrix(matrix.map(|number| number as f32));
    let mut shown = content.show_positioned();
    let mut items = shown.items();
    let mut end = 0.0;
    let glyphs = font::advances(&text.line, &font).zip(text.line.chars());
    let placed: Vec<(u16, f64, f64)> = glyphs
        .map(|((glyph, start, end), character)| (embedded.take(glyph, character), start, end))
        .collect();
    for (glyph, start, next) in placed {
        let kern = (start - end) * PER_EM;
        if kern.abs() > 0.01 {
            items.adjust(-kern as f32);
        }
        items.show(Str(&glyph.to_be_bytes()));
        end = next;
    }
    items.finish();
    shown.finish();
    content.end_text();
}

/// Returns the complete PDF file of a page with this content.
fn document(
    content: &[u8],
    title: &str,
    [width, height]: [f64; 2],
    faces: [Embedded<'_>; 2],
    alphas: &[f64],
) -> Result<Vec<u8>, String> {
    let mut next = 0;
    let mut id = || {
        next += 1;
        Ref::new(next)
    };
    let [catalog, pages, page, stream, info] = [(); 5].map(|()| id());
    let used: Vec<(FontIds, Embedded<'_>)> = faces
        .into_iter()
        .filter(|face| face.glyphs.len() > 1)
        .map(|face| {
            let [font, cid, descriptor, file, unicode] = [(); 5].map(|()| id());
            (FontIds { font, cid, descriptor, file, unicode }, face)
        })
        .collect();
    let states: Vec<Ref> = alphas.iter().map(|_| id()).collect();
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    pdf.document_info(info).title(TextStr(title)).creator(TextStr("lsmbench"));
    let mut written = pdf.page(page);
    written.parent(pages).contents(stream).media_box(PageRect::new(0.0, 0.0, width as f32, height as f32));
    let mut resources = written.resources();
    let mut fonts = resources.fonts();
    for (ids, face) in &used {
        fonts.pair(Name(face.resource.as_bytes()), ids.font);
    }
    fonts.finish();
    let mut graphics = resources.ext_g_states();
    for (at, state) in states.iter().enumerate() {
        graphics.pair(Name(format!("A{at}").as_bytes()), *state);
    }
    graphics.finish();
    resources.finish();
    written.finish();
    pdf.stream(stream, content);
    for (state, alpha) in states.iter().zip(alphas) {
        pdf.ext_graphics(*state).non_stroking_alpha(*alpha as f32);
    }
    for (ids, face) in &used {
        embed(&mut pdf, *ids, face)?;
    }
    Ok(pdf.finish())
}

/// Embeds the used glyphs of a font as a composite font (PDF 1.7, 9.7). The character identifiers (CIDs) of the font
/// are the indexes of the glyphs.
fn embed(pdf: &mut Pdf, ids: FontIds, face: &Embedded<'_>) -> Result<(), String> {
    let (bytes, index) = face.face.file();
    let subset = subsetter::subset(bytes, index, &face.used)
        .map_err(|error| format!("the font cannot be embedded: {error}; name another font with `--font`"))?;
    let is_cff = subset.starts_with(b"OTTO");
    let base = format!("LSMBEN+{}", face.resource);
    let base = Name(base.as_bytes());
    let system = || SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
    pdf.type0_font(ids.font)
        .base_font(base)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(ids.cid)
        .to_unicode(ids.unicode);
    let mut cid = pdf.cid_font(ids.cid);
    cid.subtype(if is_cff { CidFontType::Type0 } else { CidFontType::Type2 });
    cid.base_font(base).system_info(system()).font_descriptor(ids.descriptor).default_width(0.0);
    if !is_cff {
        cid.cid_to_gid_map_predefined(Name(b"Identity"));
    }
    let widths = face.glyphs.values().map(|(_, advance)| (advance * PER_EM) as f32);
    cid.widths().consecutive(0, widths);
    cid.finish();
    let font = face.face.font();
    let per_em = font.units_per_em().unwrap_or(2048.0);
    let em = |units: f32| units / per_em * PER_EM as f32;
    let (ascent, descent) = (em(font.ascent_unscaled()), em(font.descent_unscaled()));
    let mut descriptor = pdf.font_descriptor(ids.descriptor);
    descriptor
        .name(base)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(PageRect::new(-PER_EM as f32, descent, 2.0 * PER_EM as f32, ascent))
        .italic_angle(0.0)
        .ascent(ascent)
        .descent(descent)
        .cap_height(ascent)
        .stem_v(80.0);
    if is_cff {
        descriptor.font_file3(ids.file);
    } else {
        descriptor.font_file2(ids.file);
    }
    descriptor.finish();
    let mut unicode = UnicodeCmap::<u16>::new(Name(b"Custom"), system());
    for (glyph, (character, _)) in face.glyphs.iter().skip(1) {
        unicode.pair(*glyph, *character);
    }
    pdf.cmap(ids.unicode, &unicode.finish());
    let mut file = pdf.stream(ids.file, &subset);
    if is_cff {
        file.pair(Name(b"Subtype"), Name(b"OpenType"));
    }
    file.finish();
    Ok(())
}
