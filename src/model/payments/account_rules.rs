//! Checks that an account number is valid for its country: IBAN, NUBAN, routing number, sort code, or length only.
//!
//! Check digits and patterns come from `model::growth::accounts`. This module selects the rule for a caller's account and words the error.
//! Deliberately absent: whether the account exists, which only the bank knows.

use crate::model::growth::accounts::AccountFault;
use crate::model::growth::countries::Country;
use crate::model::growth::{accounts, countries};

/// Allowed lengths of an account number in a country without its own rule.
const LENGTHS: core::ops::RangeInclusive<usize> = 4..=34;
/// Allowed lengths of a bank code in such a country.
const CODE_LENGTHS: core::ops::RangeInclusive<usize> = 1..=34;

/// The fault of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The member that breaks the rule: `bank_code`, `account_number`, `country`.
    pub(crate) member: &'static str,
    /// Error code: `shape`, `check_digit`, `required`, `country`.
    pub(crate) code: &'static str,
    /// The rule in one sentence.
    pub(crate) detail: String,
}

impl Fault {
    fn new(member: &'static str, code: &'static str, detail: impl Into<String>) -> Self {
        Self { member, code, detail: detail.into() }
    }
}

/// The first rule of its country that an account breaks. Reserved numbers choose a result and are not checked.
pub(crate) fn check(country: &str, bank_code: Option<&str>, number: &str) -> Result<(), Fault> {
    if accounts::is_reserved(number) {
        return Ok(());
    }
    if looks_like_iban(number) {
        return iban(country, number);
    }
    let Some(bank_code) = bank_code else {
        let detail = "the number is not an IBAN, so bank_code is required";
        return Err(Fault::new("bank_code", "required", detail));
    };
    match countries::find(country) {
        Some(country) => {
            accounts::check(country, bank_code, number).map_err(|fault| named(country, fault))
        }
        None if accounts::has_ibans(country) => Err(Fault::new(
            "account_number",
            "shape",
            format!("accounts of {country} are identified by their IBAN"),
        )),
        None => plain(bank_code, number),
    }
}

/// The name of a bank, if its country's table contains it.
pub(crate) fn bank_name(country: &str, bank_code: &str) -> Option<&'static str> {
    let banks = &countries::find(country)?.banks;
    let bank = banks.iter().find(|bank| bank_code.starts_with(bank.code))?;
    Some(bank.name)
}

/// Starts with two letters and two digits, as every IBAN does and no known national number does.
fn looks_like_iban(number: &str) -> bool {
    let head = number.as_bytes();
    head.len() >= 4
        && head[..2].iter().all(u8::is_ascii_uppercase)
        && head[2..4].iter().all(u8::is_ascii_digit)
}

fn iban(country: &str, number: &str) -> Result<(), Fault> {
    let wrong = |code, detail: String| Err(Fault::new("account_number", code, detail));
    let of = &number[..2];
    if of != country {
        return wrong(
            "country",
            format!("this is an IBAN of {of}, but the account's country is {country}"),
        );
    }
    match accounts::check_iban(number) {
        Ok(()) => Ok(()),
        Err(AccountFault::IbanCheckDigits) => {
            wrong("check_digit", "the check digits of this IBAN are wrong (mod 97)".to_owned())
        }
        Err(AccountFault::NationalCheckDigits) => wrong(
            "check_digit",
            format!("the national check digits in this IBAN of {country} are wrong"),
        ),
        Err(_) => wrong("shape", format!("expected an IBAN of {country}")),
    }
}

fn named(country: &Country, fault: AccountFault) -> Fault {
    let (name, scheme) = (country.name, country.account.scheme);
    let [shortest, longest] = country.account.lengths;
    match fault {
        AccountFault::BankCodeShape => {
            Fault::new("bank_code", "shape", format!("expected a bank code of {name} ({scheme})"))
        }
        AccountFault::BankCodeCheckDigit => Fault::new(
            "bank_code",
            "check_digit",
            format!("the check digit of this {scheme} is wrong"),
        ),
        AccountFault::NumberCheckDigit => Fault::new(
            "account_number",
            "check_digit",
            format!("the check digit of this account number of {name} ({scheme}) is wrong"),
        ),
        _ => {
            let length = if shortest == longest {
                format!("{shortest}")
            } else {
                format!("{shortest} to {longest}")
            };
            let detail = format!("expected an account number of {name}: {length} characters");
            Fault::new("account_number", "shape", detail)
        }
    }
}

/// A country with neither a table nor IBANs: letters and digits of a plausible length.
fn plain(bank_code: &str, number: &str) -> Result<(), Fault> {
    let fits = |text: &str, lengths: core::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if !fits(bank_code, CODE_LENGTHS) {
        let detail = "expected a bank code: up to 34 letters and digits";
        return Err(Fault::new("bank_code", "shape", detail));
    }
    if !fits(number, LENGTHS) {
        let detail = "expected an account number: 4 to 34 letters and digits";
        return Err(Fault::new("account_number", "shape", detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(country: &str, code: Option<&str>, number: &str) -> (&'static str, &'static str) {
        let fault = check(country, code, number).expect_err(number);
        assert!(!fault.detail.is_empty());
        (fault.member, fault.code)
    }

    #[test]
    fn published_accounts_pass() {
        for (country, code, number) in [
            ("DE", None, "DE89370400440532013000"),
            ("FR", None, "FR1420041010050500013M02606"),
            ("NO", None, "NO9386011117947"),
            ("MT", None, "MT84MALT011000012345MTLCAST001S"),
            ("GB", None, "GB29NWBK60161331926819"),
            ("GB", Some("601613"), "31926819"),
            ("US", Some("021000021"), "123456789"),
            ("NG", Some("011"), "0000014579"),
            ("ZM", Some("010123"), "0123456789"),
        ] {
            assert_eq!(check(country, code, number), Ok(()), "{country} {number}");
        }
    }

    #[test]
    fn every_rule_names_the_member_that_breaks_it() {
        let number = "account_number";
        let wrong = "DE88370400440532013000";
        assert_eq!(fault("DE", None, wrong), (number, "check_digit"));
        let long = "DE893704004405320130000";
        assert_eq!(fault("DE", None, long), (number, "shape"));
        let german = "DE89370400440532013000";
        assert_eq!(fault("FR", None, german), (number, "country"));
        assert_eq!(fault("NO", Some("8601"), "11117947"), (number, "shape"));
        assert_eq!(fault("GB", Some("60161"), "31926819"), ("bank_code", "shape"));
        assert_eq!(fault("GB", Some("601613"), "3192681"), (number, "shape"));
        let routing = fault("US", Some("021000022"), "123456789");
        assert_eq!(routing, ("bank_code", "check_digit"));
        let nuban = fault("NG", Some("011"), "0000014578");
        assert_eq!(nuban, (number, "check_digit"));
        assert_eq!(fault("NG", Some("011"), "000001457"), (number, "shape"));
        assert_eq!(fault("NG", None, "0000014579"), ("bank_code", "required"));
        assert_eq!(fault("ZM", Some("010123"), "12 4"), (number, "shape"));
        assert_eq!(fault("ZM", Some("-"), "0123456789"), ("bank_code", "shape"));
    }

    #[test]
    fn reserved_numbers_are_held_to_no_rule() {
        for country in ["NG", "DE", "US", "ZM"] {
            assert_eq!(check(country, None, "9999999902"), Ok(()));
        }
    }
}
