//! A written statement has the same lines when it is parsed again.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::csv::CsvMapping;
use super::other_formats::{BAI2, OFX_SGML};
use super::*;
use crate::model::payments::StatementLine;
use crate::value::Id;
use crate::value::mutation::{damaged, edits};

/// Text of a line: letters of several alphabets, and characters with a meaning in one of the
/// formats.
const TEXT: &str = "[A-Za-z0-9äöüßéŁ€:;?+.\"'&<>(-][A-Za-z0-9äöüßéŁ€ ,:;?+.\"'&<>()-]{0,180}[A-Za-z0-9äöüßéŁ€:;?+.\"'&<>)-]";
const REFERENCE: &str = "[A-Z][A-Za-z0-9:?+.&<>-]{0,60}[A-Z0-9]";

fn lines() -> impl Strategy<Value = Vec<Arc<StatementLine>>> {
    let line = (
        0..31_i32,
        1..=1_000_000_000_000_i64,
        any::<bool>(),
        proptest::option::of(TEXT),
        proptest::option::of(REFERENCE),
    );
    proptest::collection::vec(line, 1..12).prop_map(|lines| {
        let numbered = (1..).zip(lines);
        let lines = numbered.map(|(number, (day, amount, out, description, reference))| {
            Arc::new(StatementLine {
                id: Id::from_bits(u64::from(number)),
                number,
                date: self::day("2025-12-01").plus_days(day),
                amount,
                direction: if out { Debit } else { Credit },
                description,
                reference,
            })
        });
        lines.collect()
    })
}

fn mapping() -> CsvMapping {
    serde_json::from_str(
        r#"{"columns":{"date":"date","amount":"amount","description":"description","reference":"reference"}}"#,
    )
    .expect("a mapping")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_written_statement_is_read_with_the_same_lines(
        lines in lines(),
        opening in -1_000_000_000_000_i64..1_000_000_000_000,
        code in proptest::sample::select(vec!["EUR", "JPY", "KWD"]),
    ) {
        let moved: i64 = lines.iter().map(|line| match line.direction { Credit => line.amount, Debit => -line.amount }).sum();
        let currency = Currency::new(code).expect("a currency");
        let statement = Outgoing {
            id: "bst_0000000000001", account: "wal_0000000000001", currency, from: day("2025-12-01"), to: day("2025-12-31"),
            opening, closing: opening + moved, lines: &lines,
        };
        let mapping = mapping();
        for format in [
            StatementFormat::Camt053, StatementFormat::Mt940, StatementFormat::Ofx, StatementFormat::Bai2, StatementFormat::Csv,
        ] {
            let text = write(format, &statement);
            if format != StatementFormat::Csv {
                prop_assert_eq!(detect(&text), Some(format));
            }
            let source = Source { format, text: &text, currency, account: None, check: true, csv: Some(&mapping) };
            let file = read(&source).unwrap_or_else(|mistake| panic!("{format:?}: {mistake}\n{text}"));
            prop_assert_eq!(file.entries.len(), lines.len());
            if matches!(format, StatementFormat::Camt053 | StatementFormat::Mt940 | StatementFormat::Bai2) {
                prop_assert_eq!((file.opening, file.closing), (Some(opening), Some(opening + moved)));
            }
            for (entry, line) in file.entries.iter().zip(&lines) {
                prop_assert_eq!((entry.date, entry.amount, entry.direction), (line.date, line.amount, line.direction));
                prop_assert_eq!(&entry.description, &line.description, "{:?}:\n{}", format, text);
                // The bank's own id of an entry is its reference if it has no other.
                if format != StatementFormat::Ofx || line.reference.is_some() {
                    prop_assert_eq!(&entry.reference, &line.reference, "{:?}:\n{}", format, text);
                }
            }
        }
    }
}

#[test]
fn slashes_and_commas_are_read_again_where_the_format_has_them() {
    let texts = [("16,475/", "A/1/"), ("/rent", "/a//b"), ("a / b //", "B-2")];
    let line = |(number, (description, reference)): (u32, &(&str, &str))| {
        Arc::new(StatementLine {
            id: Id::from_bits(u64::from(number)),
            number,
            date: day("2025-12-01"),
            amount: 100,
            direction: Credit,
            description: Some((*description).to_owned()),
            reference: Some((*reference).to_owned()),
        })
    };
    let lines: Vec<_> = (1..).zip(&texts).map(line).collect();
    let (from, to) = (day("2025-12-01"), day("2025-12-31"));
    let (id, account, currency) = ("bst_0000000000001", "wal_0000000000001", eur());
    let statement =
        Outgoing { id, account, currency, from, to, opening: 0, closing: 300, lines: &lines };
    for format in [StatementFormat::Mt940, StatementFormat::Bai2] {
        let text = write(format, &statement);
        let source =
            Source { format, text: &text, currency, account: None, check: true, csv: None };
        let file = read(&source).unwrap_or_else(|mistake| panic!("{format:?}: {mistake}\n{text}"));
        for (entry, line) in file.entries.iter().zip(&lines) {
            assert_eq!(entry.description, line.description, "{text}");
            // MT940 references lose a slash at the end, because banks add one.
            let expected = line.reference.as_deref().map(|it| match format {
                StatementFormat::Mt940 => it.trim_end_matches('/'),
                _ => it,
            });
            assert_eq!(entry.reference.as_deref(), expected, "{text}");
        }
    }
}

const SAMPLES: [(StatementFormat, &str); 5] = [
    (StatementFormat::Camt053, CAMT),
    (StatementFormat::Mt940, MT940),
    (StatementFormat::Ofx, OFX_SGML),
    (StatementFormat::Bai2, BAI2),
    (
        StatementFormat::Csv,
        "date,amount,description,reference\n2025-12-01,12.50,Rent,R-1\n2025-12-02,-3.00,Fee,\n",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_read_or_refused_inside_the_file(edits in edits(), check in any::<bool>()) {
        let mapping = mapping();
        for (format, sample) in SAMPLES {
            let bytes = damaged(sample.as_bytes(), &edits);
            let Ok(text) = decode(&bytes) else { continue };
            let source = Source { format, text: &text, currency: eur(), account: None, check, csv: Some(&mapping) };
            if let Err(mistake) = read(&source) {
                let lines = text.lines().count() + 1;
                prop_assert!((1..=lines).contains(&mistake.line), "{format:?}: {mistake} of {lines} lines");
                prop_assert!(mistake.column >= 1 && !mistake.expected.is_empty());
            }
        }
    }
}
