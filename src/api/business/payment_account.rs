//! The account for wages as sent by a caller, checked against its country's rules.

use crate::api::prelude::*;
use crate::model::business::payment_method::PaymentSplit;
use crate::model::business::{PaymentMethod, PaymentMethodType, WageAccount};
use crate::model::growth::accounts::AccountFault;
use crate::model::growth::countries::Country;
use crate::model::growth::{accounts, countries};
use crate::model::payments::Scope;

/// Number of digits of a mobile money number, including the country code (E.164).
const PHONE_DIGITS: core::ops::RangeInclusive<usize> = 7..=15;

/// Maximum number of accounts besides the one that receives the rest.
const MOST_SPLITS: u64 = 5;

/// The whole, in hundredths of a percent.
const WHOLE_BP: i64 = 10_000;

/// The account that wages are paid to. Other accounts can receive a part of them.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PaymentMethodInput {
    #[serde(flatten)]
    account: AccountInput,
    /// Other accounts that receive a part of each net pay first, in this order. This account receives the rest.
    #[schemars(length(min = 1, max = MOST_SPLITS))]
    splits: Option<Vec<SplitInput>>,
}

/// An account and its part of each net pay: exactly one of `amount` and `rate_bp`.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PaymentSplitInput")]
struct SplitInput {
    /// A fixed amount, in minor units of the employee's currency. If less net pay remains, the account receives the remaining net pay.
    amount: Option<Amount>,
    /// A part of the net pay, in basis points: 2500 is a quarter. It is rounded down.
    #[schemars(range(min = 1, max = WHOLE_BP))]
    rate_bp: Option<i64>,
    #[serde(flatten)]
    account: AccountInput,
}

/// A bank account or a mobile money wallet.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WageAccountInput")]
struct AccountInput {
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

/// The accounts, or the mistakes in them; `at` points to the object that contains them.
pub(crate) fn payment_method(
    country: &str,
    method: PaymentMethodInput,
    employee: &str,
    at: &str,
) -> Result<PaymentMethod> {
    let rest = account(country, method.account, employee, at);
    let (mut violations, mut rates) = (Vec::new(), 0);
    let mut splits = Vec::new();
    for (place, input) in method.splits.into_iter().flatten().enumerate() {
        let at = format!("{at}/splits/{place}");
        let SplitInput { amount, rate_bp, account: input } = input;
        if amount.is_some() == rate_bp.is_some() {
            let detail = "expected exactly one of amount and rate_bp";
            violations.push(Violation::new(at.clone(), "one_of", detail));
        }
        rates += rate_bp.unwrap_or_default();
        let amount = amount.map(Amount::minor);
        match account(country, input, employee, &at) {
            Ok(account) => splits.push(PaymentSplit { amount, rate_bp, account }),
            Err(error) => violations.extend(error.errors),
        }
    }
    if rates > WHOLE_BP {
        let detail = format!("the rates are {rates} in total: expected at most {WHOLE_BP}");
        violations.push(Violation::new(format!("{at}/splits"), "too_large", detail));
    }
    match rest {
        Ok(account) if violations.is_empty() => Ok(PaymentMethod { account, splits }),
        Ok(_) => Err(ApiError::invalid(violations)),
        Err(mut error) => {
            error.errors.extend(violations);
            Err(error)
        }
    }
}

fn account(country: &str, method: AccountInput, employee: &str, at: &str) -> Result<WageAccount> {
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
    Ok(WageAccount {
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
