//! The account for wages as sent by a caller, checked against its country's rules.

use crate::api::prelude::*;
use crate::model::business::{PaymentMethod, PaymentMethodType};
use crate::model::growth::accounts::AccountFault;
use crate::model::growth::countries::Country;
use crate::model::growth::{accounts, countries};
use crate::model::payments::Scope;

/// Number of digits of a mobile money number, including the country code (E.164).
const PHONE_DIGITS: core::ops::RangeInclusive<usize> = 7..=15;

/// A bank account or a mobile money wallet.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PaymentMethodInput {
    /// Bank account or mobile money.
    #[serde(rename = "type")]
    kind: PaymentMethodType,
    /// The bank's code in its country; for mobile money, the name of the operator.
    bank_code: Text<34>,
    /// The account number; for mobile money, the telephone number.
    account_number: Text<34>,
    /// The holder's name. Default: the employee's. The bank compares the two.
    account_name: Option<Text<200>>,
}

/// The account, or the mistakes in it; `at` points to the object that contains it.
pub(crate) fn payment_method(
    country: &str,
    method: PaymentMethodInput,
    employee: &str,
    at: &str,
) -> Result<PaymentMethod> {
    let (code, number) = (method.bank_code.as_str(), method.account_number.as_str());
    let country = countries::find(country);
    // Reserved numbers choose a result and are not real accounts, so no country's rule applies.
    let fault = match (method.kind, country) {
        _ if accounts::is_reserved(number) => {
            let wrong = Scope::Payouts.check_account(number).err();
            wrong.map(|detail| ("account_number", "code_of_another_rail", detail))
        }
        (PaymentMethodType::MobileMoney, _) => mobile_fault(number),
        (PaymentMethodType::Bank, None) => None,
        (PaymentMethodType::Bank, Some(country)) => bank_fault(country, code, number),
    };
    if let Some((member, kind, detail)) = fault {
        let violation = Violation::new(format!("{at}/{member}"), kind, detail);
        return Err(ApiError::invalid(vec![violation]));
    }
    let mut banks = country.into_iter().flat_map(|country| &country.banks);
    let bank = banks.find(|bank| bank.code == code && method.kind == PaymentMethodType::Bank);
    Ok(PaymentMethod {
        kind: method.kind,
        bank_name: bank.map(|bank| bank.name.to_owned()),
        bank_code: method.bank_code.into_string(),
        account_number: method.account_number.into_string(),
        iban: None,
        account_name: method.account_name.map_or_else(|| employee.to_owned(), Text::into_string),
    })
}

type Fault = (&'static str, &'static str, String);

fn mobile_fault(number: &str) -> Option<Fault> {
    let digits = number.strip_prefix('+').unwrap_or(number);
    let fits = PHONE_DIGITS.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let detail = "expected a telephone number: 7 to 15 digits, with or without a plus sign";
    (!fits).then(|| ("account_number", "shape", detail.to_owned()))
}

fn bank_fault(country: &Country, code: &str, number: &str) -> Option<Fault> {
    let fault = accounts::check(country, code, number).err()?;
    let (name, scheme) = (country.name, country.account.scheme);
    let [shortest, longest] = country.account.lengths;
    let length = if shortest == longest {
        format!("{shortest}")
    } else {
        format!("{shortest} to {longest}")
    };
    Some(match fault {
        AccountFault::BankCodeShape => {
            ("bank_code", "shape", format!("expected a bank code of {name} ({scheme})"))
        }
        AccountFault::BankCodeCheckDigit => {
            ("bank_code", "check_digit", format!("the check digit of this {scheme} is wrong"))
        }
        AccountFault::NumberCheckDigit => (
            "account_number",
            "check_digit",
            format!("the check digit of this account number of {name} is wrong"),
        ),
        AccountFault::NumberShape
        | AccountFault::IbanShape
        | AccountFault::IbanCheckDigits
        | AccountFault::NationalCheckDigits => (
            "account_number",
            "shape",
            format!("expected an account number of {name}: {length} characters"),
        ),
    })
}
