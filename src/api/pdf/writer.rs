//! Writes pages as PDF. Only the used characters of a font are embedded, with their meaning, so that the text can be searched and copied.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Date, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;

use crate::api::pdf::PdfDocument;
use crate::api::pdf::font::{Font, Weight};
use crate::api::pdf::layout::{Ink, Mark, POINT, Page};
use crate::value::Timestamp;

const ADOBE: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// A length as the library takes it.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "PDF's own numbers: a page is less than a million thousandths of a point, which a float holds exactly"
)]
fn points(length: i32) -> f32 {
    length as f32 / POINT as f32
}

/// The document's bytes.
pub(super) fn write(document: &PdfDocument, pages: &[Vec<Mark>]) -> Vec<u8> {
    let mut ids = (1..).map(Ref::new);
    let mut next = || ids.next().expect("a document has few parts");
    let (catalog, tree, info) = (next(), next(), next());
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(tree).lang(TextStr("en"));
    let size = Page::of(document.paper);
    let mut fonts = [Used::new(Weight::Regular), Used::new(Weight::Bold)];
    let contents: Vec<Vec<u8>> =
        pages.iter().map(|marks| draw(marks, size.height, &mut fonts)).collect();
    let font_ids: Vec<Ref> = fonts.iter().map(|font| font.write(&mut pdf, &mut next)).collect();
    let mut kids = Vec::new();
    for content in &contents {
        let (page_id, content_id) = (next(), next());
        kids.push(page_id);
        let mut page = pdf.page(page_id);
        page.parent(tree)
            .media_box(Rect::new(0.0, 0.0, points(size.width), points(size.height)))
            .contents(content_id);
        let mut resources = page.resources();
        let mut named = resources.fonts();
        for (font, id) in fonts.iter().zip(&font_ids) {
            named.pair(font.name(), *id);
        }
        named.finish();
        resources.finish();
        page.finish();
        let packed = packed(content);
        pdf.stream(content_id, &packed).filter(Filter::FlateDecode);
    }
    let count = i32::try_from(kids.len()).unwrap_or(i32::MAX);
    pdf.pages(tree).kids(kids).count(count);
    let mut about = pdf.document_info(info);
    about
        .title(TextStr(&document.name))
        .author(TextStr(document.sender.first().map_or("", String::as_str)))
        .producer(TextStr("sandbox"))
        .creation_date(date(document.created_at));
    about.finish();
    pdf.finish()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    const LEVEL: u8 = 6;
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, LEVEL)
}

fn date(at: Timestamp) -> Date {
    let day = at.date().civil();
    let seconds = at.millis_of_day() / 1_000;
    let part = |number: i64| u8::try_from(number).unwrap_or_default();
    Date::new(u16::try_from(day.year()).unwrap_or_default())
        .month(day.month().unsigned_abs())
        .day(day.day().unsigned_abs())
        .hour(part(seconds / 3_600))
        .minute(part(seconds / 60 % 60))
        .second(part(seconds % 60))
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}

/// The part of a font that the document uses.
struct Used {
    weight: Weight,
    font: &'static Font,
    glyphs: GlyphRemapper,
    /// The character of each glyph, by its number in the document.
    letters: BTreeMap<u16, char>,
    /// The width of each glyph in thousandths, by the same number.
    widths: BTreeMap<u16, i32>,
}

impl Used {
    fn new(weight: Weight) -> Self {
        Self {
            weight,
            font: Font::of(weight),
            glyphs: GlyphRemapper::new(),
            letters: BTreeMap::new(),
            widths: BTreeMap::new(),
        }
    }

    const fn name(&self) -> Name<'static> {
        match self.weight {
            Weight::Regular => Name(b"Regular"),
            Weight::Bold => Name(b"Bold"),
        }
    }

    /// The font name; six letters before it mark a subset.
    const fn base_name(&self) -> Name<'static> {
        match self.weight {
            Weight::Regular => Name(b"SANDBX+NotoSans-Regular"),
            Weight::Bold => Name(b"SANDBX+NotoSans-Bold"),
        }
    }

    /// The text as glyph numbers, two bytes each.
    fn encode(&mut self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len() * 2);
        for letter in text.chars() {
            let glyph = self.font.glyph(letter);
            let number = self.glyphs.remap(glyph.0);
            self.letters.entry(number).or_insert_with(|| self.font.copied(letter));
            self.widths.entry(number).or_insert_with(|| self.font.advance(glyph));
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Writes the font. Returns the id that pages refer to.
    fn write(&self, pdf: &mut Pdf, next: &mut impl FnMut() -> Ref) -> Ref {
        let (font, cid, descriptor, meanings, file) = (next(), next(), next(), next(), next());
        let name = self.base_name();
        pdf.type0_font(font)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(cid)
            .to_unicode(meanings);
        let mut described = pdf.cid_font(cid);
        described
            .subtype(CidFontType::Type2)
            .base_font(name)
            .system_info(ADOBE)
            .font_descriptor(descriptor)
            .default_width(0.0)
            .cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = described.widths();
        for (&number, &width) in &self.widths {
            widths.consecutive(number, [points(width * POINT)]);
        }
        widths.finish();
        described.finish();
        let face = &self.font.face;
        let scaled = |units: i16| {
            let thousandths = i32::from(units) * 1_000 / i32::from(face.units_per_em());
            points(thousandths * POINT)
        };
        let bounds = face.global_bounding_box();
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(Rect::new(
                scaled(bounds.x_min),
                scaled(bounds.y_min),
                scaled(bounds.x_max),
                scaled(bounds.y_max),
            ))
            .italic_angle(0.0)
            .ascent(scaled(face.ascender()))
            .descent(scaled(face.descender()))
            .cap_height(scaled(face.capital_height().unwrap_or(face.ascender())))
            .stem_v(if self.weight == Weight::Bold { 140.0 } else { 80.0 })
            .font_file2(file);
        let mut map = UnicodeCmap::new(Name(b"Meanings"), ADOBE);
        for (&number, &letter) in &self.letters {
            map.pair(number, letter);
        }
        pdf.cmap(meanings, &map.finish());
        let subset = subsetter::subset(self.font.data, 0, &self.glyphs)
            .expect("the embedded font is whole: a test reads it");
        let stream = packed(&subset);
        pdf.stream(file, &stream).filter(Filter::FlateDecode);
        font
    }
}

/// The marks of a page of this height as PDF operators.
fn draw(marks: &[Mark], page: i32, fonts: &mut [Used; 2]) -> Vec<u8> {
    let mut content = Content::new();
    for mark in marks {
        match mark {
            Mark::Text { x, y, size, weight, ink, text } => {
                let font = &mut fonts[usize::from(*weight == Weight::Bold)];
                let encoded = font.encode(text);
                dip(&mut content, *ink);
                content.begin_text();
                content.set_font(font.name(), points(size * POINT));
                content.next_line(points(*x), points(page - y));
                content.show(Str(&encoded));
                content.end_text();
            }
            Mark::Line { y, from, to, ink } => {
                dip(&mut content, *ink);
                let thin = POINT * 6 / 10;
                content.rect(points(*from), points(page - y), points(to - from), points(thin));
                content.fill_nonzero();
            }
            Mark::Fill { x, y, width, height, ink } => {
                dip(&mut content, *ink);
                content.rect(
                    points(*x),
                    points(page - y - height),
                    points(*width),
                    points(*height),
                );
                content.fill_nonzero();
            }
        }
    }
    content.finish().to_vec()
}

fn dip(content: &mut Content, ink: Ink) {
    match ink {
        Ink::Black => content.set_fill_gray(0.1),
        Ink::Grey => content.set_fill_gray(0.38),
        Ink::Pale => content.set_fill_gray(0.75),
        Ink::Wash => content.set_fill_gray(0.94),
        Ink::Red => content.set_fill_rgb(0.7, 0.1, 0.1),
    };
}
