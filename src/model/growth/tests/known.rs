//! Published numbers, and the same numbers with one digit changed.

use crate::model::growth::accounts::{AccountFault, check, check_iban};
use crate::model::growth::countries::{self, Country};
use crate::model::growth::identity::{check_company_tax_id, check_personal_tax_id};

/// Examples of the IBAN registry and of banks' own documentation.
const IBANS: &[&str] = &[
    "GB29 NWBK 6016 1331 9268 19",
    "GB82 WEST 1234 5698 7654 32",
    "DE89 3704 0044 0532 0130 00",
    "FR14 2004 1010 0505 0001 3M02 606",
    "IE29 AIBK 9311 5212 3456 78",
    "NL91 ABNA 0417 1643 00",
    "ES91 2100 0418 4502 0005 1332",
    "IT60 X054 2811 1010 0000 0123 456",
    "PT50 0002 0123 1234 5678 9015 4",
    "PL61 1090 1014 0000 0712 1981 2874",
    "TR33 0006 1005 1978 6457 8413 26",
    "CH93 0076 2011 6238 5295 7",
    "AE07 0331 2345 6789 0123 456",
    "BR18 0036 0305 0000 1000 9795 493C 1",
    "BE68 5390 0754 7034",
    "SE45 5000 0000 0583 9825 7466",
    "NO93 8601 1117 947",
];

fn country(code: &str) -> &'static Country {
    countries::find(code).expect("a country of the table")
}

/// Copies of the text, each with one digit increased by one.
fn one_digit_changed(text: &str) -> impl Iterator<Item = String> + '_ {
    text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, c)| {
        let other = char::from(b'0' + (c as u8 - b'0' + 1) % 10);
        format!("{}{other}{}", &text[..at], &text[at + 1..])
    })
}

#[test]
fn published_ibans_pass_and_fail_with_any_digit_changed() {
    for iban in IBANS {
        assert_eq!(check_iban(iban), Ok(()), "{iban}");
        for wrong in one_digit_changed(iban) {
            assert_eq!(check_iban(&wrong), Err(AccountFault::IbanCheckDigits), "{wrong}");
        }
    }
}

#[test]
fn an_iban_of_the_wrong_length_or_country_is_refused() {
    for wrong in
        ["", "GB29", "GB29NWBK601613319268190", "ZZ29NWBK60161331926819", "gb29NWBK60161331926819"]
    {
        assert_eq!(check_iban(wrong), Err(AccountFault::IbanShape), "{wrong}");
    }
    assert_eq!(
        check_iban("KE29NWBK60161331926819"),
        Err(AccountFault::IbanShape),
        "no IBANs there"
    );
}

#[test]
fn right_iban_digits_over_wrong_national_ones_are_refused() {
    // The registry's Spanish and French examples with another national key and the IBAN digits that fit it.
    for bban in
        ["ES|21000418440200051332", "FR|20041010050500013M02607", "IT|Y0542811101000000123456"]
    {
        let (code, bban) = bban.split_once('|').expect("two parts");
        let right = (2..=98).map(|digits| format!("{code}{digits:02}{bban}"));
        let results: Vec<_> = right.map(|iban| check_iban(&iban)).collect();
        assert!(results.contains(&Err(AccountFault::NationalCheckDigits)), "{code}: {results:?}");
        assert!(!results.contains(&Ok(())), "{code}");
    }
}

#[test]
fn the_central_banks_nuban_example_passes_and_fails_with_any_digit_changed() {
    // CBN, Nigerian Uniform Bank Account Number: bank 011, serial 000001457 has check digit 9.
    assert_eq!(check(country("NG"), "011", "0000014579"), Ok(()));
    for wrong in one_digit_changed("0000014579") {
        let fault = Err(AccountFault::NumberCheckDigit);
        assert_eq!(check(country("NG"), "011", &wrong), fault, "{wrong}");
    }
    assert_eq!(check(country("NG"), "058", "0000014579"), Err(AccountFault::NumberCheckDigit));
    assert_eq!(check(country("NG"), "011", "000001457"), Err(AccountFault::NumberShape));
    assert_eq!(check(country("NG"), "11", "0000014579"), Err(AccountFault::BankCodeShape));
}

#[test]
fn published_routing_numbers_pass_and_fail_with_any_digit_changed() {
    for routing in ["021000021", "111000025", "011401533", "122105155", "091000019"] {
        assert_eq!(check(country("US"), routing, "123456789"), Ok(()), "{routing}");
        for wrong in one_digit_changed(routing) {
            let fault = Err(AccountFault::BankCodeCheckDigit);
            assert_eq!(check(country("US"), &wrong, "123456789"), fault, "{wrong}");
        }
    }
    assert_eq!(check(country("US"), "021000021", "123"), Err(AccountFault::NumberShape));
}

#[test]
fn a_published_clabe_passes_and_fails_with_any_digit_of_the_account_changed() {
    assert_eq!(check(country("MX"), "032", "032180000118359719"), Ok(()));
    let account = "032180000118359719";
    for wrong in one_digit_changed(account).skip(3) {
        let fault = Err(AccountFault::NumberCheckDigit);
        assert_eq!(check(country("MX"), "032", &wrong), fault, "{wrong}");
    }
    assert_eq!(
        check(country("MX"), "002", account),
        Err(AccountFault::NumberShape),
        "another bank"
    );
}

#[test]
fn codes_without_check_digits_are_held_to_their_shape() {
    let cases = [
        ("GB", "601613", "31926819", true),
        ("GB", "60-16-13", "31926819", false),
        ("GB", "601613", "3192681", false),
        ("ZA", "250655", "62000000001", true),
        ("ZA", "25065", "62000000001", false),
        ("CA", "000300042", "1234567", true),
        ("CA", "000300042", "12345", false),
        ("KE", "68058", "0580123456789", true),
        ("KE", "6805X", "0580123456789", false),
        ("IN", "HDFC0000123", "50100123456789", true),
        ("AU", "062000", "12345678", true),
    ];
    for (code, bank, number, right) in cases {
        assert_eq!(check(country(code), bank, number).is_ok(), right, "{code} {bank} {number}");
    }
}

#[test]
fn magic_accounts_may_be_sent_where_their_check_digit_would_be_wrong() {
    for code in 0..100 {
        let magic = format!("99999999{code:02}");
        assert_eq!(check(country("NG"), "044", &magic), Ok(()), "{magic}");
    }
}

/// Published company numbers, or examples of the authority.
#[test]
fn published_tax_numbers_pass_and_fail_with_the_last_digit_changed() {
    let companies = [
        ("AU", "51 824 753 556"),
        ("FR", "FR40303265045"),
        ("DE", "DE136695976"),
        ("IT", "IT00743110157"),
        ("BR", "33.000.167/0001-01"),
        ("CH", "CHE-100.155.212"),
        ("IN", "27AAPFU0939F1ZV"),
        ("JP", "7000012050002"),
        ("ES", "A58818501"),
        ("PL", "5260001246"),
        ("PT", "500100144"),
        ("GB", "1955839661"),
    ];
    for (code, number) in companies {
        assert_eq!(check_company_tax_id(country(code), number), Ok(()), "{code} {number}");
        let last = number.chars().last().expect("not empty");
        let other =
            if last.is_ascii_digit() { (b'0' + (last as u8 - b'0' + 1) % 10) as char } else { 'Q' };
        let wrong = format!("{}{other}", &number[..number.len() - 1]);
        assert!(check_company_tax_id(country(code), &wrong).is_err(), "{code} {wrong}");
    }
    let people = [
        ("ES", "12345678Z"),
        ("CN", "11010519491231002X"),
        ("PL", "44051401359"),
        ("CH", "756.9217.0769.85"),
        ("IT", "RSSMRA85T10A562S"),
        ("TR", "10000000146"),
        ("SG", "S0000001I"),
        ("ZA", "0001339050"),
    ];
    for (code, number) in people {
        assert_eq!(check_personal_tax_id(country(code), number), Ok(()), "{code} {number}");
    }
}
