//! Valid files are read. All others are refused with a position: every truncation, every damaged field, and random text.

mod other_formats;
mod round_trip;

use super::*;
use crate::model::TransactionType;
use crate::model::payments::MOST_LINES;
use crate::value::{Date, Key};

const CAMT: &str = include_str!("../../../../../fixtures/statements/camt053.xml");
const MT940: &str = include_str!("../../../../../fixtures/statements/mt940.txt");
const MT940_BARE: &str = include_str!("../../../../../fixtures/statements/mt940-bare.txt");

fn eur() -> Currency {
    Currency::new("EUR").expect("a currency")
}

fn day(text: &str) -> Date {
    text.parse().expect("a day")
}

fn of(format: StatementFormat, text: &str) -> Source<'_> {
    Source { format, text, currency: eur(), account: None, check: true, csv: None }
}

#[track_caller]
fn good(format: StatementFormat, text: &str) -> StatementFile {
    read(&of(format, text)).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// Returns where a damaged file is refused, and the message.
#[track_caller]
fn refused(format: StatementFormat, text: &str) -> String {
    match read(&of(format, text)) {
        Ok(_) => panic!("it is taken:\n{text}"),
        Err(mistake) => mistake.to_string(),
    }
}

/// The file with one change; the changed text must occur exactly once.
#[track_caller]
fn spoilt(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from} stands there once");
    text.replacen(from, to, 1)
}

type Shown<'a> = (&'a str, i64, TransactionType, Option<&'a str>, Option<&'a str>);

#[track_caller]
fn holds(file: &StatementFile, expected: &[Shown<'_>]) {
    let shown: Vec<_> = file
        .entries
        .iter()
        .map(|entry| {
            let (description, reference) =
                (entry.description.as_deref(), entry.reference.as_deref());
            (entry.date, entry.amount, entry.direction, description, reference)
        })
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|(date, amount, direction, text, reference)| {
            (day(date), *amount, *direction, *text, *reference)
        })
        .collect();
    assert_eq!(shown, expected);
}

use TransactionType::{Credit, Debit};

#[test]
fn a_camt053_file_is_read() {
    let file = good(StatementFormat::Camt053, CAMT);
    assert_eq!((file.opening, file.closing), (Some(1_000_000), Some(1_123_395)));
    holds(
        &file,
        &[
            ("2025-12-02", 150_000, Credit, Some("Invoice INV-2025-0042"), Some("INV-2025-0042")),
            (
                "2025-12-03",
                25_055,
                Debit,
                Some("Account maintenance fee & taxes"),
                Some("FEE-2025-12"),
            ),
            // Not booked yet, so not part of this statement.
            ("2025-12-04", 1_000, Credit, Some("Reversal of a debit"), Some("BANKREF-3")),
            ("2025-12-05", 2_550, Debit, None, Some("BATCH-7")),
        ],
    );
}

#[test]
fn an_mt940_file_is_read_with_its_envelope_and_without() {
    let file = good(StatementFormat::Mt940, MT940);
    assert_eq!((file.opening, file.closing), (Some(1_000_000), Some(1_124_395)));
    holds(
        &file,
        &[
            (
                "2025-12-02",
                150_000,
                Credit,
                Some("Invoice INV-2025-0042 /EREF/INV-2025-0042"),
                Some("INV-2025-0042"),
            ),
            ("2025-12-03", 25_055, Debit, Some("ACCOUNT MAINTENANCE FEE"), Some("BANKREF//2")),
            ("2025-12-04", 1_000, Credit, Some("REVERSAL OF A DEBIT"), Some("REV-1")),
            ("2025-12-05", 1_000, Debit, None, Some("REV-2")),
            ("2026-01-01", 550, Debit, Some("Across the year"), Some("YEAR-END")),
        ],
    );
    let bare = good(StatementFormat::Mt940, MT940_BARE);
    assert_eq!(bare.entries, []);
    assert_eq!((bare.opening, bare.closing), (Some(-50), Some(-50)));
    let unix = MT940.replace("\r\n", "\n");
    assert_eq!(good(StatementFormat::Mt940, &unix).closing, file.closing);
}

/// Banks leave out the end mark of an MT940 message, so a file that ends after its closing balance is complete.
#[test]
fn a_file_that_ends_too_early_is_refused_or_has_all_entries() {
    let mut taken = 0;
    for (format, text) in [
        (StatementFormat::Camt053, CAMT),
        (StatementFormat::Mt940, MT940),
        (StatementFormat::Mt940, MT940_BARE),
    ] {
        let whole = text.trim_end();
        let complete = good(format, whole);
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let cut = &whole[..end];
            let mistake = match read(&of(format, cut)) {
                Ok(file) => {
                    assert_eq!(file, complete, "a file of {end} bytes");
                    taken += 1;
                    continue;
                }
                Err(mistake) => mistake,
            };
            let lines = cut.matches('\n').count() + 1;
            assert!((1..=lines).contains(&mistake.line), "{mistake} of {lines} lines");
            assert!(mistake.column >= 1 && mistake.expected.starts_with("expected"), "{mistake}");
        }
    }
    assert!(taken <= 4, "only ends without a mark: {taken}");
}

/// SWIFT, MT 940: field 25P is the account and, in its second line, the BIC of its bank.
#[test]
fn an_account_can_have_the_bic_of_its_bank() {
    let account = MT940.lines().find(|line| line.starts_with(":25:")).expect("an account");
    let of = |bic: &str| spoilt(MT940, account, &format!(":25P:{}\r\n{bic}", &account[4..]));
    let plain = good(StatementFormat::Mt940, MT940);
    for bic in ["DEUTDEFF", "DEUTDEFF500"] {
        let read = good(StatementFormat::Mt940, &of(bic));
        let amounts = read.entries.iter().map(|entry| entry.amount);
        assert!(amounts.eq(plain.entries.iter().map(|entry| entry.amount)), "{bic}");
    }
    for other in ["DEUTDEF", "DEUTDEFF\r\nDEUTDEFF"] {
        let mistake = refused(StatementFormat::Mt940, &of(other));
        assert!(mistake.contains("expected a field such as :61:"), "{mistake}");
    }
}

#[test]
fn noise_in_a_file_never_ends_in_a_panic() {
    for (format, text) in [
        (StatementFormat::Camt053, CAMT),
        (StatementFormat::Mt940, MT940),
        (StatementFormat::Mt940, MT940_BARE),
    ] {
        let mut refusals = 0;
        for round in 0..3_000 {
            let mut stream = Key::new(17).with("spoil").at(round).stream();
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=stream.below(4) {
                let at = usize::try_from(stream.below(bytes.len() as u64)).expect("a place");
                let byte = u8::try_from(stream.below(256)).expect("a byte");
                match stream.below(4) {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    2 => drop(bytes.remove(at)),
                    _ => bytes[at] = *stream.pick(b"<>&:,/-{}'\"0129CDR\r\n"),
                }
            }
            let spoilt = String::from_utf8_lossy(&bytes);
            if let Err(mistake) = read(&of(format, &spoilt)) {
                refusals += 1;
                assert!(mistake.line >= 1 && mistake.column >= 1, "{mistake}");
                assert!(!mistake.expected.contains(char::is_control), "{mistake}");
            }
        }
        assert!(refusals > 1_500, "{refusals} of 3,000 spoilt files were refused");
    }
}

/// An entry of the MT940 file.
const ENTRY: &str = ":61:2512021202C1500,00NTRFINV-2025-0042//BANKREF1";

/// Mistakes in an MT940 file: the replaced text, its replacement, and the expected error.
const MT940_MISTAKES: [(&str, &str, &str); 22] = [
    (":20:STMT-42", ":20:", "line 2, column 5: expected a value after :20:"),
    (":25:", ":26:", "line 3, column 1: expected the account, :25:, but found :26:"),
    (":28C:42/1", ":28C:x", "line 4, column 6: expected a number, such as 42 or 42/1"),
    (":60F:C", ":60M:C", "line 5, column 16: expected the first page of the statement"),
    (":62F:C", ":62M:C", "line 18, column 16: expected another page of the statement"),
    (":60F:C", ":60F:X", "line 5, column 6: expected C or D"),
    ("251201EUR", "251301EUR", "line 5, column 7: expected a valid calendar day"),
    (
        "251201EUR",
        "251201USD",
        "line 18, column 13: expected USD, the currency of the opening balance, but found EUR",
    ),
    ("251201EUR", "251201XXX", "line 5, column 13: expected a currency of ISO 4217, but found XXX"),
    ("10000,00", "10000.00", "line 5, column 21: expected a decimal comma, such as 1234,56"),
    ("10000,00", "10000,001", "line 5, column 22: expected at most 2 decimals for EUR"),
    (
        ENTRY,
        ":61:2512021202C1500,00",
        "line 6, column 23: expected a transaction type such as NTRF",
    ),
    (ENTRY, ":61:2512021202CNTRFINV//1", "line 6, column 17: expected an amount of up to 24"),
    (ENTRY, ":61:2512021202C0,00NTRFINV//1", "line 6, column 16: expected an amount above zero"),
    (ENTRY, ":61:2502311202C1,00NTRFINV//1", "line 6, column 5: expected a valid calendar day"),
    (ENTRY, ":61:2512021302C1,00NTRFINV//1", "line 6, column 11: expected a valid calendar day"),
    (ENTRY, ":61:2512021202E1,00NTRFINV//1", "line 6, column 15: expected C, D, RC or RD"),
    (ENTRY, ":61:2512021202C1500,00XTRF", "line 6, column 23: expected a transaction type"),
    (
        ENTRY,
        ":61:2512021202C1500,01NTRFINV-2025-0042",
        "line 18, column 16: expected 11243.96 EUR, which is the opening balance plus the entries, but found 11243.95 EUR",
    ),
    (
        ":62F:C260101EUR11243,95",
        ":62F:C240101EUR11243,95",
        "line 18, column 7: expected a day on or after that of the opening balance",
    ),
    (
        ":62F:C260101EUR",
        ":62F:C260101USD",
        "line 18, column 13: expected EUR, the currency of the opening balance, but found USD",
    ),
    (
        ":62F:",
        ":63F:",
        "line 18, column 1: expected an entry, :61:, or the closing balance, :62F:, but found :63F:",
    ),
];

#[test]
fn every_mistake_of_an_mt940_file_is_told_with_its_place() {
    let mut wrong = Vec::new();
    for (from, to, expected) in MT940_MISTAKES {
        let mistake = refused(StatementFormat::Mt940, &spoilt(MT940, from, to));
        if !mistake.starts_with(expected) {
            wrong.push(format!("{to}: expected {expected:?}, got {mistake}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let twice = spoilt(MT940, ":28C:42/1", ":28C:42/1\r\n:28C:42/1");
    assert!(
        refused(StatementFormat::Mt940, &twice)
            .starts_with("line 5, column 1: expected the opening balance")
    );
    let pounds = MT940.replace("EUR", "GBP");
    let said = "line 5, column 13: expected EUR, the wallet's currency, but found GBP";
    assert!(refused(StatementFormat::Mt940, &pounds).starts_with(said));
    let gap = format!("{}\r\n{}", MT940.trim_end(), MT940);
    let said =
        "line 27, column 16: expected 11243.95 EUR, the closing balance of the statement before";
    assert!(
        refused(StatementFormat::Mt940, &gap).starts_with(said),
        "{}",
        refused(StatementFormat::Mt940, &gap)
    );
    let other = format!("{MT940_BARE}{}", MT940_BARE.replace("GB29", "GB30"));
    let said = "line 8, column 6: expected statements of one account, GB29NWBK60161331926819, but found GB30";
    assert!(
        refused(StatementFormat::Mt940, &other).starts_with(said),
        "{}",
        refused(StatementFormat::Mt940, &other)
    );
    let stray = format!("{MT940_BARE}what follows\n");
    let said = "line 7, column 1: expected a statement, which starts with :20:, after this line";
    assert_eq!(refused(StatementFormat::Mt940, &stray), said);
    let unclosed = format!("{}\r\n:20:MORE\r\n", MT940.trim_end().trim_end_matches("-}"));
    let said = "line 23, column 1: expected the end of the message, -}";
    assert_eq!(refused(StatementFormat::Mt940, &unclosed), said);
    let large = MT940_BARE.replace("0,50", "9999999999999999999999999,");
    assert!(refused(StatementFormat::Mt940, &large).contains("up to 24 characters"));
}

#[test]
fn every_mistake_of_a_camt053_file_is_told_with_its_place() {
    let mut wrong = Vec::new();
    for (from, to, expected) in [
        ("camt.053.001.08", "camt.052.001.08", "line 2, column 1: expected <Document xmlns="),
        ("camt.053.001.08", "camt.053.001.99", "line 2, column 1: expected <Document xmlns="),
        (
            "<Ccy>EUR</Ccy>",
            "<Ccy>USD</Ccy>",
            "line 16, column 9: expected USD, the currency of the account, but found EUR",
        ),
        (
            "<Cd>OPBD</Cd>",
            "<Cd>ITBD</Cd>",
            "line 16, column 24: expected the first page of the statement",
        ),
        ("<Cd>CLBD</Cd>", "<Cd>OPBD</Cd>", "line 20, column 7: expected one opening balance"),
        ("<Cd>CLBD</Cd>", "<Cd>CLAV</Cd>", "line 8, column 5: expected the closing balance"),
        ("<Amt Ccy=\"EUR\">1500.00</Amt>", "", "line 26, column 7: expected <Amt> in <Ntry>"),
        (
            "<Amt Ccy=\"EUR\">1500.00</Amt>",
            "<Amt>1500.00</Amt>",
            "line 28, column 9: expected the currency, Ccy",
        ),
        (
            "<Amt Ccy=\"EUR\">1500.00</Amt>",
            "<Amt Ccy=\"GBP\">1500.00</Amt>",
            "line 28, column 9: expected EUR",
        ),
        (">1500.00<", ">1500.001<", "line 28, column 29: expected at most 2 decimals"),
        (">1500.00<", ">1500,00<", "line 28, column 24: expected an amount such as 1234.56"),
        (">1500.00<", ">-1500.00<", "line 28, column 24: expected an amount such as 1234.56"),
        (">1500.00<", "><", "line 28, column 9: expected an amount such as 1234.56"),
        (">1500.00<", ">0.00<", "line 28, column 24: expected an amount above zero"),
        (">1500.00<", ">99999999999999999999.00<", "line 28, column 24: expected at most"),
        (
            "<Amt Ccy=\"EUR\">1500.00</Amt>",
            "<Amt Ccy=\"EUR\">1.00</Amt><Amt Ccy=\"EUR\">2.00</Amt>",
            "line 28, column 34: expected one <Amt>",
        ),
        (">2025-12-02<", ">2025-13-02<", "line 31, column 22: expected a calendar day"),
        (
            ">1500.00<",
            ">1500.01<",
            "line 21, column 69: expected 11233.96 EUR, which is the opening balance plus the entries",
        ),
        ("<Id>STMT-42</Id>", "", "line 8, column 5: expected <Id> in <Stmt>"),
        ("<Stmt>", "<Stmt></Stmt><Stmt>", "line 8, column 5: expected <Id> in <Stmt>"),
        (
            "<Sts><Cd>PDNG</Cd></Sts>",
            "<Sts><Cd>LOST</Cd></Sts>",
            "line 45, column 18: expected BOOK, PDNG, INFO or FUTR",
        ),
        ("</Stmt>", "</Smt>", "line 71, column 5: expected XML: expected 'Stmt' tag, not 'Smt'"),
    ] {
        let mistake = refused(StatementFormat::Camt053, &spoilt(CAMT, from, to));
        if !mistake.starts_with(expected) {
            wrong.push(format!("{to}: expected {expected:?}, got {mistake}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn entities_and_depth_are_no_way_in() {
    let head = "<?xml version=\"1.0\"?>\n";
    let dtd = CAMT.replacen(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        &format!("{head}<!DOCTYPE Document [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n"),
        1,
    );
    assert!(refused(StatementFormat::Camt053, &dtd).contains("without a document type"));
    let external = dtd.replace("<!ENTITY a \"aaaa\">", "<!ENTITY a SYSTEM \"file:///etc/passwd\">");
    assert!(refused(StatementFormat::Camt053, &external).contains("without a document type"));
    let unknown = spoilt(CAMT, "fee &amp; taxes", "fee &other; taxes");
    assert!(refused(StatementFormat::Camt053, &unknown).starts_with("line 4"));
    let deep = format!("{head}{}", "<a>".repeat(300_000));
    assert!(refused(StatementFormat::Camt053, &deep).contains("it ends before"));
    let deep = format!("{deep}{}", "</a>".repeat(300_000));
    assert!(
        refused(StatementFormat::Camt053, &deep)
            .starts_with("line 2, column 1: expected <Document")
    );
    for text in ["", " ", "\u{feff}", "{}", "<", "<Document/>", ":20:", "-", "-}", "{4:", "{4:\n-}"]
    {
        refused(StatementFormat::Camt053, text);
        refused(StatementFormat::Mt940, text);
    }
}

#[test]
fn a_file_with_more_than_the_maximum_of_entries_is_refused() {
    let entry = ":61:2512021202C1,00NTRFREF\n";
    let file = |count: usize| {
        format!(
            ":20:MANY\n:25:42\n:28C:1\n:60F:C251201EUR0,\n{}:62F:C251231EUR{count},\n-\n",
            entry.repeat(count)
        )
    };
    assert_eq!(good(StatementFormat::Mt940, &file(MOST_LINES)).entries.len(), MOST_LINES);
    let mistake = refused(StatementFormat::Mt940, &file(MOST_LINES + 1));
    assert!(
        mistake.starts_with("line 10005, column 1: expected at most 10000 entries"),
        "{mistake}"
    );
}
