//! OFX, BAI2, CSV, the encodings, and what banks change in camt.053.

use super::super::csv::CsvMapping;
use super::*;

pub(super) const OFX_SGML: &str = "OFXHEADER:100\r\nDATA:OFXSGML\r\nVERSION:102\r\nSECURITY:NONE\r\nENCODING:USASCII\r\nCHARSET:1252\r\n\r\n<OFX>\r\n\
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS><DTSERVER>20251231<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>\r\n\
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>EUR\r\n\
<BANKACCTFROM><BANKID>123<ACCTID>4711<ACCTTYPE>CHECKING</BANKACCTFROM>\r\n\
<BANKTRANLIST><DTSTART>20251201<DTEND>20251231\r\n\
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20251202120000[-5:EST]<TRNAMT>-12.50<FITID>F1<NAME>Rent &amp; Co<MEMO>December</STMTTRN>\r\n\
<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20251203<TRNAMT>+100,00<FITID>F2<CHECKNUM>42</STMTTRN>\r\n\
</BANKTRANLIST><LEDGERBAL><BALAMT>87.50<DTASOF>20251231</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\r\n";

pub(super) const BAI2: &str = "01,SENDER,RECEIVER,251203,1200,1,80,,2/\n02,RECEIVER,021000021,1,251202,2359,EUR,2/\n\
03,4711,,010,10000,,,015,8900,,Z/\n88,100,2500,1,/\n16,195,2500,0,BANK1,INV-7,PAYMENT OF INVOICE 7, THANK YOU\n\
16,475,3600,V,251203,,BANK2,CHK 12,CHECK\n88,PAID AT BRANCH/\n49,27500,6/\n98,27500,1,8/\n99,27500,1,10/\n";

fn mapping(more: &str) -> CsvMapping {
    let columns = r#""columns":{"date":"Buchungstag","amount":"Betrag","description":"Zweck","reference":"Ref"}"#;
    serde_json::from_str(&format!("{{{more}{columns}}}")).expect("a mapping")
}

fn with_csv<'a>(text: &'a str, mapping: &'a CsvMapping) -> Source<'a> {
    Source { csv: Some(mapping), ..of(StatementFormat::Csv, text) }
}

#[test]
fn an_ofx_file_is_read_in_both_versions() {
    let sgml = good(StatementFormat::Ofx, OFX_SGML);
    assert_eq!((sgml.opening, sgml.closing), (None, Some(8_750)));
    holds(
        &sgml,
        &[
            ("2025-12-02", 1_250, Debit, Some("Rent & Co December"), Some("F1")),
            ("2025-12-03", 10_000, Credit, None, Some("42")),
        ],
    );
    let xml = "<?xml version=\"1.0\"?><?OFX OFXHEADER=\"200\" VERSION=\"211\"?><OFX><CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS>\
        <CURDEF>EUR</CURDEF><CCACCTFROM><ACCTID>4711</ACCTID></CCACCTFROM><BANKTRANLIST><STMTTRN><TRNTYPE>POS</TRNTYPE>\
        <DTPOSTED>20251202</DTPOSTED><TRNAMT>-.5</TRNAMT><FITID>F1</FITID></STMTTRN></BANKTRANLIST></CCSTMTRS></CCSTMTTRNRS>\
        </CREDITCARDMSGSRSV1></OFX>";
    holds(&good(StatementFormat::Ofx, xml), &[("2025-12-02", 50, Debit, None, Some("F1"))]);
    let own = xml.replace("<FITID>F1", "<FITID>bsl_0ebf0h6vk9w22");
    holds(&good(StatementFormat::Ofx, &own), &[("2025-12-02", 50, Debit, None, None)]);
}

/// As ANZ exports: the head of OFX 2 (XML), and values without end tags.
#[test]
fn an_ofx_file_with_the_head_of_version_2_may_leave_out_end_tags() {
    let body = &OFX_SGML[OFX_SGML.find("<OFX>").expect("a body")..];
    let file = good(StatementFormat::Ofx, &format!("<?xml version=\"1.0\"?>{body}"));
    assert_eq!((file.closing, file.entries.len()), (Some(8_750), 2));
    let entity = format!("<?xml version=\"1.0\"?><!DOCTYPE OFX [<!ENTITY a \"b\">]>{body}");
    assert!(refused(StatementFormat::Ofx, &entity).contains("without a document type"));
}

#[test]
fn a_bai2_file_is_read_with_continuations_and_checked_totals() {
    let file = good(StatementFormat::Bai2, BAI2);
    assert_eq!((file.opening, file.closing), (Some(10_000), Some(8_900)));
    holds(
        &file,
        &[
            ("2025-12-02", 2_500, Credit, Some("PAYMENT OF INVOICE 7, THANK YOU"), Some("INV-7")),
            ("2025-12-02", 3_600, Debit, Some("CHECK PAID AT BRANCH"), Some("CHK 12")),
        ],
    );
}

#[test]
fn a_csv_file_is_read_by_its_declared_columns() {
    let german = "Konto 4711\r\n\"Buchungstag\";\"Zweck\";\"Ref\";\"Betrag\"\r\n\"02.12.25\";\"Rechnung 7; \"\"danke\"\"\";;\"1.234,56\"\r\n\r\n03.12.25;Miete;R-1;-12,5\r\n";
    let more = r#""delimiter":"semicolon","decimal_mark":"comma","date_format":"DD.MM.YY","skip_lines":1,"#;
    let german_mapping = mapping(more);
    let file = read(&with_csv(german, &german_mapping)).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!((file.opening, file.closing), (None, None));
    holds(
        &file,
        &[
            ("2025-12-02", 123_456, Credit, Some("Rechnung 7; \"danke\""), None),
            ("2025-12-03", 1_250, Debit, Some("Miete"), Some("R-1")),
        ],
    );
    let split: CsvMapping = serde_json::from_str(
        r#"{"has_heads":false,"date_format":"MM/DD/YYYY","columns":{"date":"1","debit":"2","credit":"3"}}"#,
    )
    .expect("a mapping");
    let text = "12/02/2025,\"1,000.00\",\n12/03/2025,,(5)\n";
    assert_eq!(
        read(&with_csv(text, &split)).expect_err("credit below zero").to_string(),
        "line 2, column 13: expected an amount above zero"
    );
    let file = read(&with_csv("12/02/2025,\"1,000.00\",\n12/03/2025,,5\n", &split));
    let file = file.unwrap_or_else(|wrong| panic!("{wrong}"));
    holds(
        &file,
        &[("2025-12-02", 100_000, Debit, None, None), ("2025-12-03", 500, Credit, None, None)],
    );
}

/// Format, file, replaced text, its replacement, and the expected error.
const MISTAKES: [(StatementFormat, &str, &str, &str, &str); 19] = [
    (StatementFormat::Ofx, OFX_SGML, "<OFX>", "<QFX>", "line 1, column 1: expected <OFX>"),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "<CURDEF>EUR",
        "",
        "line 10, column 73: expected <CURDEF> in <STMTRS>",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "<CURDEF>EUR",
        "<CURDEF>USD",
        "line 10, column 89: expected EUR, the wallet's currency",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "-12.50",
        "12.x",
        "line 13, column 64: expected an amount such as 1234.56",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "-12.50",
        "-12.505",
        "line 13, column 68: expected at most 2 decimals",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "-12.50",
        "0",
        "line 13, column 64: expected an amount that is not zero",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "20251203",
        "20251303",
        "line 14, column 35: expected a valid calendar day",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "</OFX>",
        "",
        "line 16, column 1: expected the rest of the file",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "</OFX>",
        "</OFX>more",
        "line 15, column 110: expected the end of the file",
    ),
    (
        StatementFormat::Ofx,
        OFX_SGML,
        "</BANKTRANLIST>",
        "</BANKLIST>",
        "line 15, column 1: expected no </BANKLIST>",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "49,27500,6/",
        "49,27501,6/",
        "line 8, column 4: expected 27500, the control total, but found 27501",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "49,27500,6/",
        "49,27500,5/",
        "line 8, column 10: expected 6, the number of records, but found 5",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "98,27500,1,8/",
        "98,27500,2,8/",
        "line 9, column 10: expected 1, the number of accounts, but found 2",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "99,27500,1,10/\n",
        "",
        "line 10, column 1: expected a group header, 02, or the file trailer, 99",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "16,475,3600",
        "17,475,3600",
        "line 6, column 1: expected a record, which starts with",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "16,475,3600",
        "16,475,36.00",
        "line 6, column 8: expected an amount in minor units",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "16,475,",
        "16,015,",
        "line 6, column 4: expected the type code of a transaction detail",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "251202,2359",
        "251302,2359",
        "line 2, column 25: expected a valid calendar day",
    ),
    (
        StatementFormat::Bai2,
        BAI2,
        "01,SENDER",
        "88,SENDER",
        "line 1, column 1: expected the file header, 01",
    ),
];

#[test]
fn every_mistake_of_ofx_and_bai2_is_told_with_its_place() {
    let mut wrong = Vec::new();
    for (format, text, from, to, expected) in MISTAKES {
        let mistake = refused(format, &spoilt(text, from, to));
        if !mistake.starts_with(expected) {
            wrong.push(format!("{to}: expected {expected:?}, got {mistake}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mistake_of_a_csv_file_is_told_with_its_place() {
    let mapping = mapping("");
    let head = "Buchungstag,Betrag,Zweck,Ref\n";
    for (rows, expected) in [
        (
            "2025-12-02,1,a\n",
            "line 2, column 1: expected 4 fields as in the first row, but found 3",
        ),
        ("2025-12-32,1,a,b\n", "line 2, column 1: expected a valid calendar day as YYYY-MM-DD"),
        ("2025-12-02,1.234,a,b\n", "line 2, column 14: expected at most 2 decimals for EUR"),
        ("2025-12-02,,a,b\n", "line 2, column 12: expected an amount that is not zero"),
        ("2025-12-02,1,\"a,b\n", "line 2, column 14: expected a closing quote for the one here"),
        (
            "2025-12-02,1,\"a\"b,c\n",
            "line 2, column 17: expected the end of the field after its closing quote",
        ),
    ] {
        let text = format!("{head}{rows}");
        let mistake = read(&with_csv(&text, &mapping)).expect_err(rows).to_string();
        assert!(mistake.starts_with(expected), "{rows}: {mistake}");
    }
    assert!(read(&with_csv(head, &mapping)).expect("no lines").entries.is_empty());
    let other = read(&with_csv("Datum,Betrag\n2025-12-02,1\n", &mapping));
    let other = other.expect_err("a missing column").to_string();
    assert_eq!(other, "line 1, column 1: expected the column Buchungstag in the header row");
}

#[test]
fn camt053_is_read_as_banks_change_it() {
    let plain = good(StatementFormat::Camt053, CAMT);
    // A prefix, an envelope, another version, no status.
    let prefixed = CAMT
        .replace("</", "</c:")
        .replace('<', "<c:")
        .replace("<c:/c:", "</c:")
        .replace("<c:?", "<?")
        .replace("<c:!", "<!")
        .replace("xmlns=", "xmlns:c=")
        .replace("001.08", "001.02");
    assert_eq!(good(StatementFormat::Camt053, &prefixed).closing, plain.closing);
    let bare = CAMT.replace("<Sts><Cd>BOOK</Cd></Sts>", "").replace("<Sts>BOOK</Sts>", "");
    assert_eq!(good(StatementFormat::Camt053, &bare).entries.len(), plain.entries.len());
    let start = CAMT.find("<Document").expect("a document");
    let wrapped = format!("<Envelope>{}</Envelope>", &CAMT[start..]);
    assert_eq!(good(StatementFormat::Camt053, &wrapped).closing, plain.closing);
    // Without an opening balance it is computed.
    let (from, to) =
        (CAMT.find("<Bal>").expect("a balance"), CAMT.find("</Bal>").expect("its end"));
    let no_opening = format!("{}{}", &CAMT[..from], &CAMT[to + 6..]);
    assert_eq!(good(StatementFormat::Camt053, &no_opening).opening, plain.opening);
    // A batch whose transactions sum to the entry is a line for each.
    let batch = CAMT
        .replace("<TxDtls><Refs><EndToEndId>A<", "<TxDtls><Amt Ccy=\"EUR\">20.00</Amt><Refs><EndToEndId>A<")
        .replace(
            "<TxDtls><Refs><EndToEndId>B<",
            "<TxDtls><AmtDtls><TxAmt><Amt Ccy=\"EUR\">5.5</Amt></TxAmt></AmtDtls><Refs><EndToEndId>B<",
        );
    // The references come first in the schema; their order does not matter here.
    let file = good(StatementFormat::Camt053, &batch);
    let last: Vec<_> =
        file.entries[3..].iter().map(|one| (one.amount, one.reference.as_deref())).collect();
    assert_eq!(last, [(2_000, Some("A")), (550, Some("B"))]);
    let differs = batch.replace(">20.00<", ">20.01<");
    let file = good(StatementFormat::Camt053, &differs);
    assert_eq!((file.entries.len(), file.entries[3].amount), (4, 2_550));
}

#[test]
fn statements_of_a_camt053_file_follow_one_another_and_one_account_can_be_chosen() {
    let (from, to) =
        (CAMT.find("<Stmt>").expect("a statement"), CAMT.find("</Stmt>").expect("its end") + 7);
    let next = CAMT[from..to].replace("10000.00", "11233.95").replace(
        ">11233.95</Amt>\n        <CdtDbtInd>CRDT</CdtDbtInd>\n        <Dt><DtTm>",
        ">12467.90</Amt>\n        <CdtDbtInd>CRDT</CdtDbtInd>\n        <Dt><DtTm>",
    );
    let two = format!("{}{next}{}", &CAMT[..to], &CAMT[to..]);
    let file = good(StatementFormat::Camt053, &two);
    assert_eq!(
        (file.opening, file.closing, file.entries.len()),
        (Some(1_000_000), Some(1_246_790), 8)
    );
    let other = format!("{}{}{}", &CAMT[..to], next.replace("DE89", "DE90"), &CAMT[to..]);
    assert!(
        refused(StatementFormat::Camt053, &other)
            .contains("expected statements of one account, DE89")
    );
    let named = Source {
        account: Some("DE90 3704 0044 0532 0130 00"),
        ..of(StatementFormat::Camt053, &other)
    };
    assert_eq!(read(&named).map(|file| file.opening), Ok(Some(1_123_395)));
    let unknown = Source { account: Some("4711"), ..of(StatementFormat::Camt053, &other) };
    let mistake = read(&unknown).expect_err("an unknown account").to_string();
    assert!(
        mistake.ends_with(
            "expected the account 4711, but found DE89370400440532013000, DE90370400440532013000"
        ),
        "{mistake}"
    );
}

#[test]
fn balances_are_not_checked_if_the_caller_says_so() {
    let wrong = spoilt(MT940, "C1500,00", "C1500,01");
    assert!(refused(StatementFormat::Mt940, &wrong).contains("expected 11243.96 EUR"));
    let file = read(&Source { check: false, ..of(StatementFormat::Mt940, &wrong) });
    assert_eq!(file.map(|file| file.closing), Ok(Some(1_124_395)));
}

#[test]
fn bytes_are_decoded_by_mark_declaration_or_content() {
    let latin = |text: &[u8]| decode(text).expect("text");
    assert_eq!(latin(b"\xef\xbb\xbfZ\xc3\xbcrich"), "Zürich");
    assert_eq!(latin(b"Z\xfcrich 5 \x80"), "Zürich 5 €");
    assert_eq!(latin("Zürich".as_bytes()), "Zürich");
    assert_eq!(latin(b"\xff\xfeZ\0\xfc\0"), "Zü");
    assert_eq!(latin(b"\xfe\xff\0Z\0\xfc"), "Zü");
    let declared = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xc3\xbc</a>";
    assert!(latin(declared).contains("Ã¼"), "the declaration counts");
    assert!(latin(b"OFXHEADER:100\nCHARSET:1252\n<OFX>\xe9").ends_with('é'));
    let broken = decode(b"\xef\xbb\xbfab\ncd\xff").expect_err("not UTF-8");
    assert_eq!(broken, "line 2, column 3: expected UTF-8");
    let other = decode(b"<?xml version='1.0' encoding='KOI8-R'?>").expect_err("another code page");
    assert_eq!(
        other,
        "line 1, column 1: expected UTF-8, ISO-8859-1 or Windows-1252, but found koi8-r"
    );
}

#[test]
fn the_format_is_detected_by_the_start_of_the_file() {
    let csv = "date,amount\n2025-01-01,1\n";
    for (text, expected) in [
        (CAMT, Some(StatementFormat::Camt053)),
        (MT940, Some(StatementFormat::Mt940)),
        (MT940_BARE, Some(StatementFormat::Mt940)),
        (OFX_SGML, Some(StatementFormat::Ofx)),
        (BAI2, Some(StatementFormat::Bai2)),
        ("\u{1}\r\nABNANL2A\r\n940\r\n:20:A", Some(StatementFormat::Mt940)),
        (csv, None),
        ("", None),
    ] {
        assert_eq!(detect(text), expected, "{text}");
    }
}

#[test]
fn ofx_and_bai2_files_that_end_too_early_are_refused() {
    for (format, text) in [(StatementFormat::Ofx, OFX_SGML), (StatementFormat::Bai2, BAI2)] {
        let whole = text.trim_end().trim_end_matches('/');
        for end in 0..whole.len() {
            assert!(read(&of(format, &whole[..end])).is_err(), "{end} bytes are taken");
        }
    }
}
