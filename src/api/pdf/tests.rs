use super::*;

fn rows(count: usize) -> Vec<Row> {
    let row = |number| Row::new(format!("Line {number}"), vec!["1,000.00".to_owned()]);
    (0..count).map(row).collect()
}

fn pdf(lines: usize, name: &str) -> PdfDocument {
    PdfDocument {
        name: "A list".to_owned(),
        file: "list".to_owned(),
        created_at: "2026-01-31T09:00:00Z".parse().expect("an instant"),
        paper: Paper::A4,
        sender: vec![name.to_owned(), "1 High Street".to_owned()],
        title: vec!["List".to_owned()],
        stamp: None,
        blocks: vec![Block::Tables(vec![Table {
            title: "Lines".to_owned(),
            columns: vec!["Amount".to_owned()],
            rows: rows(lines),
            total: Some(Row::new("Total", vec!["9.00".to_owned()])),
        }])],
        footer: "Simulated: no real money".to_owned(),
    }
}

#[test]
fn the_same_document_is_the_same_bytes() {
    let one = pdf(3, "Ọláyínká Łukasz Ltd").to_pdf();
    assert_eq!(one, pdf(3, "Ọláyínká Łukasz Ltd").to_pdf());
    assert!(one.starts_with(b"%PDF-"));
    assert!(one.ends_with(b"%%EOF\n") || one.ends_with(b"%%EOF"));
}

#[test]
fn a_long_list_goes_on_on_the_next_page() {
    let texts = |page: &Vec<layout::Mark>| -> Vec<String> {
        let text = |mark: &layout::Mark| match mark {
            layout::Mark::Text { text, .. } => Some(text.clone()),
            _ => None,
        };
        page.iter().filter_map(text).collect()
    };
    assert_eq!(layout::pages(&pdf(3, "Short")).len(), 1);
    let pages = layout::pages(&pdf(120, "Long"));
    assert_eq!(pages.len(), 3);
    let all: Vec<Vec<String>> = pages.iter().map(texts).collect();
    for page in &all {
        assert!(page.contains(&"Lines".to_owned()), "each page has the heading");
    }
    let shown = all.concat();
    for number in 0..120 {
        assert!(shown.contains(&format!("Line {number}")));
    }
    assert!(all[2].contains(&"Page 3 of 3".to_owned()));
    assert_eq!(shown.iter().filter(|text| *text == "Total").count(), 1);
    for paper in [Paper::A4, Paper::Letter] {
        let (size, pdf) = (layout::Page::of(paper), PdfDocument { paper, ..pdf(120, "Long") });
        for mark in layout::pages(&pdf).iter().flatten() {
            if let layout::Mark::Text { y, x, .. } = mark {
                assert!((0..size.height).contains(y) && (0..size.width).contains(x));
            }
        }
    }
}

#[test]
fn letters_beyond_the_font_are_question_marks_and_names_of_its_languages_are_whole() {
    let font = font::Font::of(font::Weight::Regular);
    let unknown = font.glyph('?');
    for letter in "Ọláyínká Ẹ̀bùn Łukasz Şükrü Čapek Øre Ñandú Αλέξης Юлия ₦€£".chars()
    {
        assert_ne!(font.glyph(letter), unknown, "{letter}");
    }
    assert_eq!(font.glyph('漢'), unknown);
}

#[test]
fn a_question_mark_is_copied_as_itself_beside_letters_beyond_the_font() {
    let bytes = pdf(1, "漢? Ltd").to_pdf();
    let has = |code: &[u8]| bytes.windows(code.len()).any(|part| part == code);
    assert!(has(b"<003F>"), "the question mark has its own code");
    assert!(!has(b"<6F22>"), "no glyph stands for a letter that it does not show");
}

#[test]
fn text_without_a_place_to_break_is_broken_all_the_same() {
    let long = "x".repeat(400);
    let pages = layout::pages(&pdf(1, &long));
    for mark in pages.iter().flatten() {
        if let layout::Mark::Text { x, size, weight, text, .. } = mark {
            let end = x + font::Font::of(*weight).width(text, *size);
            assert!(end <= layout::Page::of(Paper::A4).width, "{text}");
        }
    }
}
