//! The font: Noto Sans in two weights, reduced to Latin, Greek and Cyrillic (`fixtures/fonts`).

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// One weight of the font.
pub(super) struct Font {
    pub(super) data: &'static [u8],
    pub(super) face: Face<'static>,
    /// The glyph for a character that the font lacks.
    unknown: GlyphId,
}

static REGULAR: LazyLock<Font> =
    LazyLock::new(|| Font::read(include_bytes!("../../../fixtures/fonts/NotoSans-Regular.ttf")));
static BOLD: LazyLock<Font> =
    LazyLock::new(|| Font::read(include_bytes!("../../../fixtures/fonts/NotoSans-Bold.ttf")));

impl Font {
    /// The font of that weight.
    pub(super) fn of(weight: Weight) -> &'static Self {
        match weight {
            Weight::Regular => &REGULAR,
            Weight::Bold => &BOLD,
        }
    }

    fn read(data: &'static [u8]) -> Self {
        let face = Face::parse(data, 0).expect("the embedded font is whole: a test reads it");
        let unknown = face.glyph_index('?').unwrap_or_default();
        Self { data, face, unknown }
    }

    /// The glyph of a character, or a question mark if the font lacks it.
    pub(super) fn glyph(&self, letter: char) -> GlyphId {
        self.face.glyph_index(letter).unwrap_or(self.unknown)
    }

    /// The copied text of a character: itself, or a question mark if the font lacks it.
    pub(super) fn copied(&self, letter: char) -> char {
        self.face.glyph_index(letter).map_or('?', |_| letter)
    }

    /// The width of a glyph, in thousandths of the font size.
    pub(super) fn advance(&self, glyph: GlyphId) -> i32 {
        let advance = i32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0));
        advance * 1_000 / i32::from(self.face.units_per_em())
    }

    /// The width of a text, in thousandths of a point.
    pub(super) fn width(&self, text: &str, size: i32) -> i32 {
        let advances = text.chars().map(|letter| self.advance(self.glyph(letter)));
        advances.sum::<i32>() * size
    }
}
