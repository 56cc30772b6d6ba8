//! Bank accounts: generates them with valid check digits, and checks callers' accounts by the same rules.
//!
//! The rules are data (`[country.account]`). Not checked, because the tables cannot be published here: the United Kingdom's sorting-code
//! modulus, South Africa's account check digits, and which banks and branches exist.

use super::countries::Country;
use super::scheme::{Scheme, SchemeFault};
use super::{countries, pick};
use crate::value::Key;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BankAccount {
    pub(crate) bank_name: &'static str,
    /// Routing number, sort code, branch code or BIC: the bank identifier that the country's payments use.
    pub(crate) bank_code: String,
    /// As written in that country. If banks use one long number (CLABE, RIB), it is that number.
    pub(crate) account_number: String,
    /// Without spaces.
    pub(crate) iban: Option<String>,
}

/// Why an account number is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccountFault {
    /// The bank code has the wrong length or characters.
    BankCodeShape,
    /// The bank code's check digit is wrong.
    BankCodeCheckDigit,
    /// The account number has the wrong length or characters, or belongs to another bank.
    NumberShape,
    /// The account number's check digit is wrong.
    NumberCheckDigit,
    /// Not an IBAN of that country: wrong length or characters.
    IbanShape,
    /// The IBAN's check digits are wrong.
    IbanCheckDigits,
    /// The national check digits inside the IBAN are wrong.
    NationalCheckDigits,
}

/// Maximum number of attempts to draw an unreserved account number.
const ATTEMPTS: u64 = 8;

/// Countries without a table, each with the length of its IBANs, so that callers can use such accounts.
const OTHER_IBANS: &str = "AD24 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 CR22 CY28 CZ24 DK18 DO28 EE20 FI18 FO18 GE22 \
    GI23 GL18 GR27 GT28 HR21 HU28 IL23 IS26 JO30 KW30 KZ20 LB28 LI21 LT20 LU20 LV21 MC27 \
    MD24 ME22 MK19 MT31 MU30 NO15 PK24 QA29 RO24 RS22 SA24 SE24 SI19 SK24 SM27 TN24 UA29 \
    XK20";

/// The account for `key`; it is never a reserved number (`is_reserved`).
pub(crate) fn bank_account(country: &Country, key: Key) -> BankAccount {
    let rule = &country.account;
    let bank = pick(key.with("bank"), &country.banks);
    let bank_code = rule.code.grow_with(key.with("bank code"), "", &[("bank", bank.code)]);
    let covered = if rule.number_covers_code { bank_code.as_str() } else { "" };
    let number_key = key.with("account number");
    let account_number = (0..ATTEMPTS)
        .map(|draw| rule.number.grow_with(number_key.at(draw), covered, &[("code", &bank_code)]))
        .find(|number| !is_reserved(number))
        .expect("hardly one number in 100 million is reserved");
    let iban = rule.bban.as_ref().map(|bban| {
        let slots = [("bic", bank.bic), ("code", &bank_code), ("number", &account_number)];
        iban(country.code, &bban.grow_with(key.with("bban"), "", &slots))
    });
    BankAccount { bank_name: bank.name, bank_code, account_number, iban }
}

/// Whether an account number is a magic value: it chooses a result and is not a real account.
pub(crate) fn is_reserved(account_number: &str) -> bool {
    account_number == "99999999"
        || account_number.len() == 10
            && account_number.starts_with("99999999")
            && account_number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks an account of `country` in the country's own format. Magic values pass.
pub(crate) fn check(
    country: &Country,
    bank_code: &str,
    account_number: &str,
) -> Result<(), AccountFault> {
    check_bank_code(country, bank_code)?;
    if is_reserved(account_number) {
        return Ok(());
    }
    let rule = &country.account;
    if rule.number.has_check() {
        let code = rule.number.slot_range("code", |_| bank_code.len());
        if code.is_some_and(|range| account_number.get(range) != Some(bank_code)) {
            return Err(AccountFault::NumberShape);
        }
        let covered = if rule.number_covers_code { bank_code } else { "" };
        return rule.number.verify(covered, account_number, |_| bank_code.len()).map_err(|fault| {
            match fault {
                SchemeFault::Shape => AccountFault::NumberShape,
                SchemeFault::CheckDigit => AccountFault::NumberCheckDigit,
            }
        });
    }
    let [shortest, longest] = rule.lengths;
    let letters = rule.number.has_letters();
    let admitted = |byte: u8| byte.is_ascii_digit() || letters && byte.is_ascii_uppercase();
    if (shortest..=longest).contains(&account_number.len()) && account_number.bytes().all(admitted)
    {
        Ok(())
    } else {
        Err(AccountFault::NumberShape)
    }
}

/// Checks an IBAN (spaces allowed): the country's length and characters, its check digits, then the national ones.
pub(crate) fn check_iban(iban: &str) -> Result<(), AccountFault> {
    let iban: String = iban.chars().filter(|c| *c != ' ').collect();
    if !iban.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        || iban.len() < 15
    {
        return Err(AccountFault::IbanShape);
    }
    let (head, bban) = iban.split_at(4);
    let (code, check_digits) = head.split_at(2);
    if !check_digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AccountFault::IbanShape);
    }
    let national =
        countries::find(code).and_then(|country| Some((country, country.account.bban.as_ref()?)));
    let length = match national {
        Some((country, scheme)) => 4 + scheme.width(|slot| slot_width(country, slot)),
        None => other_length(code).ok_or(AccountFault::IbanShape)?,
    };
    if iban.len() != length {
        return Err(AccountFault::IbanShape);
    }
    if remainder_97(bban.bytes().chain(head.bytes())) != 1 {
        return Err(AccountFault::IbanCheckDigits);
    }
    national.map_or(Ok(()), |(country, scheme)| check_bban(country, scheme, bban))
}

/// Whether that country's accounts have IBANs.
pub(crate) fn has_ibans(country: &str) -> bool {
    let grown = countries::find(country).is_some_and(|country| country.account.bban.is_some());
    grown || other_length(country).is_some()
}

fn check_bank_code(country: &Country, bank_code: &str) -> Result<(), AccountFault> {
    let fault = |fault| match fault {
        SchemeFault::Shape => AccountFault::BankCodeShape,
        SchemeFault::CheckDigit => AccountFault::BankCodeCheckDigit,
    };
    let rule = &country.account;
    rule.code.verify("", bank_code, |_| bank_width(country)).map_err(fault)?;
    let digits = country.banks[0].code.bytes().all(|byte| byte.is_ascii_digit());
    if digits && !bank_code.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AccountFault::BankCodeShape);
    }
    rule.code_rule
        .as_ref()
        .map_or(Ok(()), |whole| whole.verify("", bank_code, |_| 0).map_err(fault))
}

fn check_bban(country: &Country, scheme: &Scheme, bban: &str) -> Result<(), AccountFault> {
    scheme.verify("", bban, |slot| slot_width(country, slot)).map_err(|fault| match fault {
        SchemeFault::Shape => AccountFault::IbanShape,
        SchemeFault::CheckDigit => AccountFault::NationalCheckDigits,
    })?;
    let code = scheme
        .slot_range("code", |slot| slot_width(country, slot))
        .and_then(|range| bban.get(range))
        .expect("every BBAN holds the bank code");
    check_bank_code(country, code).map_err(|fault| match fault {
        AccountFault::BankCodeShape => AccountFault::IbanShape,
        _ => AccountFault::NationalCheckDigits,
    })
}

fn slot_width(country: &Country, slot: &str) -> usize {
    match slot {
        "bic" => 4,
        "code" => country.account.code.width(|_| bank_width(country)),
        "number" => country.account.number.width(|_| 0),
        other => panic!("no slot {other} in a BBAN of {}", country.code),
    }
}

/// All bank codes of a country have the same length; a test checks it.
fn bank_width(country: &Country) -> usize {
    country.banks[0].code.len()
}

fn other_length(code: &str) -> Option<usize> {
    OTHER_IBANS.split(' ').find_map(|row| row.strip_prefix(code)?.parse().ok())
}

fn iban(country: &str, bban: &str) -> String {
    let [first, second] = country.as_bytes() else {
        unreachable!("a country code has two letters")
    };
    let check_digits = 98 - remainder_97(bban.bytes().chain([*first, *second, b'0', b'0']));
    format!("{country}{check_digits:02}{bban}")
}

/// ISO 7064 MOD 97-10 of an IBAN whose first four characters are moved to the end; letters count as 10 to 35.
fn remainder_97(turned: impl Iterator<Item = u8>) -> u32 {
    turned.fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    })
}
