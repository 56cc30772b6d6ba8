//! Checks account numbers by the public rules, implemented a second time.

use super::{employees, printed, text};

/// ISO 13616: the first four characters moved to the end, letters as numbers from 10, the whole modulo 97 is 1.
fn iban_holds(iban: &str) -> bool {
    let (head, tail) = iban.split_at(4);
    let digits = tail.chars().chain(head.chars()).map(|c| c.to_digit(36).unwrap());
    let remainder =
        digits.fold(0, |sum, digit| (if digit > 9 { sum * 100 } else { sum * 10 } + digit) % 97);
    remainder == 1
}

/// The Central Bank of Nigeria's rule for account numbers: weights 3, 7, 3 over bank code and serial number.
fn nuban_holds(bank: &str, account: &str) -> bool {
    let digits: Vec<u32> =
        bank.chars().chain(account.chars()).map(|c| c.to_digit(10).unwrap()).collect();
    let (check, body) = digits.split_last().unwrap();
    let sum: u32 =
        body.iter().zip([3, 7, 3].iter().cycle()).map(|(digit, weight)| digit * weight).sum();
    bank.len() == 3 && account.len() == 10 && (10 - sum % 10) % 10 == *check
}

/// The American Bankers Association's rule for routing numbers: weights 3, 7, 1.
fn routing_holds(number: &str) -> bool {
    let weights = [3, 7, 1].iter().cycle();
    let sum: u32 = number
        .chars()
        .zip(weights)
        .map(|(digit, weight)| digit.to_digit(10).unwrap() * weight)
        .sum();
    number.len() == 9 && sum.is_multiple_of(10)
}

/// The control run of the three rules: published examples pass, and fail with one changed digit.
#[test]
fn the_check_digit_rules_accept_valid_and_refuse_invalid_numbers() {
    assert!(iban_holds("GB82WEST12345698765432") && !iban_holds("GB82WEST12345698765431"));
    assert!(iban_holds("DE89370400440532013000") && !iban_holds("DE98370400440532013000"));
    assert!(nuban_holds("011", "0000014579") && !nuban_holds("011", "0000014578"));
    assert!(routing_holds("021000021") && !routing_holds("021000012"));
}

#[test]
fn account_numbers_have_right_check_digits_and_none_is_a_magic_value() {
    let world =
        printed(&["--companies", "12", "--countries", "NG,GB,US", "--employees-per-company", "40"]);
    let mut seen = (0, 0, 0);
    for employee in employees(&world).filter(|employee| !employee["payment_method"].is_null()) {
        let method = &employee["payment_method"];
        let account = text(method, "account_number");
        assert!(!account.starts_with("99999999"), "{account} is reserved");
        match text(employee, "country") {
            "NG" => {
                assert!(nuban_holds(text(method, "bank_code"), account), "{method}");
                seen.0 += 1;
            }
            "GB" => {
                assert!(iban_holds(text(method, "iban")), "{method}");
                assert!(text(method, "iban").ends_with(account));
                seen.1 += 1;
            }
            _ => {
                assert!(routing_holds(text(method, "bank_code")), "{method}");
                seen.2 += 1;
            }
        }
    }
    assert!(seen.0 > 100 && seen.1 > 100 && seen.2 > 100, "{seen:?}");
}
