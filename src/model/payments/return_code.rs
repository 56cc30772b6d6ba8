//! Return codes: why a bank returned a payment, by the rails' own numbers, with a reason that is independent of the rail.
//!
//! `R01` to `R85` are the return reason codes of the automated clearing house of the United States; other rails are mapped to them. An
//! unassigned number means a plain refusal.

use core::fmt;
use core::str::FromStr;

use serde::{Deserializer, Serializer, de};

use crate::model::payments::Failure;
use crate::model::prelude::*;

/// A return code, `R01` to `R85`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReturnCode(u8);

impl ReturnCode {
    /// The code with that number, if it exists.
    pub(crate) const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 85 { Some(Self(number)) } else { None }
    }

    /// The failure shown on a payout.
    pub(crate) fn failure(self) -> Failure {
        let row = ROWS.iter().find(|row| row.0 == self.0);
        let &(_, code, message, retryable) = row.unwrap_or(&UNASSIGNED);
        Failure {
            code: Cow::Borrowed(code),
            return_code: Some(self.to_string().into()),
            rail_message: Some(Cow::Borrowed(message)),
            retryable,
        }
    }
}

/// Number, reason, the rail's message, whether another attempt can succeed.
type Row = (u8, &'static str, &'static str, bool);

const UNASSIGNED: Row = (0, "refused_by_receiver", "Returned by the receiving bank", false);

const ROWS: &[Row] = &[
    (1, "insufficient_funds", "Insufficient funds", true),
    (2, "account_closed", "Account closed", false),
    (3, "account_not_found", "No account, or unable to locate the account", false),
    (4, "invalid_account_number", "Invalid account number", false),
    (5, "authorization_revoked", "Unauthorized entry to a consumer account", false),
    (6, "refused_by_receiver", "Returned at the sending bank's request", false),
    (7, "authorization_revoked", "Authorization revoked by the customer", false),
    (8, "refused_by_receiver", "Payment stopped", false),
    (9, "insufficient_funds", "Uncollected funds", true),
    (10, "authorization_revoked", "Originator not known, or not authorized", false),
    (11, "refused_by_receiver", "Entry not in accordance with the authorization", false),
    (12, "account_not_found", "Branch sold to another bank", false),
    (13, "rail_unavailable", "Receiving bank not qualified to participate", false),
    (14, "account_closed", "Representative payee deceased or unable to continue", false),
    (15, "account_closed", "Beneficiary or account holder deceased", false),
    (16, "account_frozen", "Account frozen, or entry returned per sanctions instruction", false),
    (17, "invalid_account_number", "File record edit criteria, or doubtful account number", false),
    (18, "refused_by_receiver", "Improper effective entry date", true),
    (19, "refused_by_receiver", "Amount field error", false),
    (20, "refused_by_receiver", "Non-transaction account", false),
    (21, "refused_by_receiver", "Invalid company identification", false),
    (22, "refused_by_receiver", "Invalid individual id number", false),
    (23, "refused_by_receiver", "Credit entry refused by the receiver", false),
    (24, "refused_by_receiver", "Duplicate entry", false),
    (29, "authorization_revoked", "Corporate customer advises not authorized", false),
    (31, "refused_by_receiver", "Permissible return entry", false),
    (34, "compliance_rejected", "Limited participation of the receiving bank", false),
    (61, "rail_unavailable", "Misrouted return", true),
    (67, "refused_by_receiver", "Duplicate return", false),
    (68, "refused_by_receiver", "Untimely return", false),
    (80, "rail_unavailable", "Cross-border entry coding error", false),
    (81, "rail_unavailable", "Non-participant in the cross-border programme", false),
    (82, "account_not_found", "Invalid foreign receiving bank identification", false),
    (83, "rail_unavailable", "Foreign receiving bank unable to settle", true),
    (84, "rail_unavailable", "Entry not processed by the gateway", true),
    (85, "rail_unavailable", "Incorrectly coded outbound international payment", true),
];

impl fmt::Display for ReturnCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "R{:02}", self.0)
    }
}

impl FromStr for ReturnCode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('R').filter(|digits| digits.len() == 2);
        let number = number.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        number
            .and_then(|digits| Self::new(digits.parse().ok()?))
            .ok_or("expected a return code from R01 to R85")
    }
}

impl Serialize for ReturnCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ReturnCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn return_codes_are_two_digits_from_01_to_85() {
        for good in ["R01", "R02", "R85"] {
            let code: ReturnCode = good.parse().expect("a return code");
            assert_eq!(code.to_string(), good);
        }
        for bad in ["R00", "R86", "R1", "r02", "02", "R+1", "R021", ""] {
            assert!(bad.parse::<ReturnCode>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_code_has_a_neutral_reason() {
        const REASONS: [&str; 9] = [
            "insufficient_funds",
            "account_closed",
            "account_not_found",
            "invalid_account_number",
            "authorization_revoked",
            "account_frozen",
            "refused_by_receiver",
            "compliance_rejected",
            "rail_unavailable",
        ];
        for number in 1..=85 {
            let code = ReturnCode::new(number).expect("in range");
            assert!(REASONS.contains(&&*code.failure().code), "{code}");
        }
    }
}
