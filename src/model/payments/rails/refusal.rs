//! Why a payment does not arrive: the reason, and the code of its rail.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::payments::Failure;
use crate::model::payments::rails::{
    DETAILS_CORRECTED, PaymentRail, RailCode, RailId, RailRetry, RailStage, Scope, Window,
    corrections, reasons, refusals,
};

/// A refusal or a return of a payment: the reason, and the rail's code for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    rail: RailId,
    /// Position in the table of reasons.
    reason: u8,
    /// Position among the codes of the rail; none if the rail itself gave no answer.
    code: Option<u8>,
}

/// Whether the money had arrived before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Late {
    No,
    Yes,
}

impl Refusal {
    /// A refusal for that reason, with the rail's nearest code. A rail that does not respond gives no code.
    pub(crate) fn because(rail: RailId, reason: &str, late: Late) -> Self {
        let row = rail.rail();
        let known = &reasons()[usize::from(position(reason))];
        let mut named = core::iter::once(reason).chain(known.instead.iter().map(|other| &**other));
        let code = named.find_map(|reason| of_reason(row, reason, late));
        let code = code.or_else(|| {
            if reason == DETAILS_CORRECTED {
                return corrections(row).next();
            }
            let silent = matches!(reason, "rail_unavailable" | "timeout");
            refusals(row).find(|code| !silent && code.code == row.default)
        });
        Self { rail, reason: position(reason), code: code.map(|code| place(row, code)) }
    }

    /// The refusal with a code that a rule, a scenario or a magic value named. A code of another rail is replaced by
    /// this rail's code for the same reason.
    pub(crate) fn with_code(rail: RailId, code: &str, scope: Scope, late: Late) -> Self {
        let row = rail.rail();
        if let Some(own) = scope.codes(row).find(|own| own.code == code) {
            return Self { rail, reason: position(&own.reason), code: Some(place(row, own)) };
        }
        let reason = scope.reason(code).expect("checked when it was read");
        Self::because(rail, reason, late)
    }

    /// The code of the rail.
    pub(crate) fn code(self) -> Option<&'static RailCode> {
        self.code.map(|code| &self.rail.rail().codes[usize::from(code)])
    }

    /// The time after the settlement in which the code can be reported.
    pub(crate) fn window(self) -> Window {
        let own = self.code().and_then(|code| code.window);
        own.or(self.rail.rail().window).unwrap_or(Window::Unlimited)
    }

    /// Whether the payer denies or withdraws the authorisation.
    pub(crate) fn ends_mandate(self) -> bool {
        let reason = &*reasons()[usize::from(self.reason)].name;
        matches!(reason, "authorization_revoked" | "not_authorized")
    }

    /// Drops the code if its reason differs from the requested reason.
    pub(crate) fn unless_exact(self) -> Self {
        let same = |code: &RailCode| position(&code.reason) == self.reason;
        Self { code: self.code.filter(|_| self.code().is_some_and(same)), ..self }
    }

    /// The failure shown on a payment.
    pub(crate) fn failure(self) -> Failure {
        let reason = &reasons()[usize::from(self.reason)];
        let code = self.code();
        let retry = code.map_or(RailRetry::Later, |code| code.retry);
        Failure {
            code: Cow::Borrowed(&reason.name),
            return_code: code.map(|code| Cow::Borrowed(&*code.code)),
            rail_message: Some(code.map_or(&reason.about, |code| &code.meaning).into()),
            retryable: retry == RailRetry::Later,
            retry: Some(retry),
        }
    }
}

fn position(reason: &str) -> u8 {
    let place = reasons().iter().position(|row| row.name == reason);
    let place = place.expect("reasons are those of the table: a test checks");
    place.try_into().expect("the table is short")
}

fn place(rail: &'static PaymentRail, code: &RailCode) -> u8 {
    let place = rail.codes.iter().position(|own| own.code == code.code);
    place.and_then(|place| place.try_into().ok()).expect("a code of the rail")
}

/// The rail's code for that reason. An instant rail refuses; the others return. Money that had arrived is returned on every rail.
fn of_reason(rail: &'static PaymentRail, reason: &str, late: Late) -> Option<&'static RailCode> {
    let returns = late == Late::Yes || !rail.instant;
    let first = |code: &&RailCode| (code.stage == RailStage::Return) == returns;
    let same = || refusals(rail).filter(|code| code.reason == reason);
    same().find(first).or_else(|| same().next())
}

/// `us_ach_credit/account_closed/R02`.
impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reason = &reasons()[usize::from(self.reason)].name;
        let code = self.code().map_or("", |code| &*code.code);
        serializer.collect_str(&format_args!("{}/{reason}/{code}", self.rail.rail().id))
    }
}

impl<'de> Deserialize<'de> for Refusal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let read = || {
            let (rail, rest) = text.split_once('/')?;
            let (reason, code) = rest.split_once('/')?;
            let rail = RailId::find(rail)?;
            let reason = reasons().iter().position(|row| row.name == reason)?;
            let codes = &rail.rail().codes;
            let code = codes.iter().position(|own| own.code == code);
            let code = code.map(u8::try_from).transpose().ok()?;
            Some(Self { rail, reason: reason.try_into().ok()?, code })
        };
        read().ok_or_else(|| de::Error::custom("expected a rail, a reason and a code"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::payments::rails::{OPEN, all};

    fn rail(name: &str) -> RailId {
        RailId::find(name).expect("a rail")
    }

    fn code(rail_name: &str, reason: &str, late: Late) -> &'static str {
        let code = Refusal::because(rail(rail_name), reason, late).code();
        code.map_or("", |code| &code.code)
    }

    /// ACH: <https://docs.grailpay.com/docs/resources/return-codes/>. Faster Payments: <https://docs.numeral.io/reference/fps-reason-codes>.
    /// Bacs: the ARUCS and ARUDD reports. NIP: <https://docs.vpay.africa/vpay-api-specification-basic-gude/glossary>.
    /// SEPA: EPC135-18. Canada: CPA Standard 005. South Africa: the Bankserv schedule of unpaids. Cards: ISO 8583.
    #[test]
    fn a_reason_has_the_code_of_each_rail() {
        for (rail, reason, expected) in [
            ("us_ach_credit", "account_closed", "R02"),
            ("us_ach_credit", "account_not_found", "R03"),
            ("us_ach_credit", "account_frozen", "R16"),
            ("us_ach_debit", "insufficient_funds", "R01"),
            ("us_rtp", "account_closed", "AC04"),
            ("gb_bacs_credit", "account_closed", "ARUCS B"),
            ("gb_bacs_debit", "insufficient_funds", "ARUDD 0"),
            ("gb_faster_payments", "account_closed", "1160"),
            ("eu_sepa_sct", "account_not_found", "AC01"),
            ("eu_sepa_sct", "account_holder_deceased", "MD07"),
            ("eu_sepa_sdd_core", "insufficient_funds", "AM04"),
            ("ca_eft_credit", "account_closed", "905"),
            ("ca_eft_debit", "insufficient_funds", "901"),
            ("za_eft_credit", "account_closed", "12"),
            ("za_eft_debit", "insufficient_funds", "02"),
            ("ng_nip", "account_closed", "07"),
            ("ng_nip", "rail_unavailable", "91"),
            ("ke_mpesa_c2b", "insufficient_funds", "1"),
            ("card", "insufficient_funds", "51"),
            ("us_ach_debit", "not_authorized", "R10"),
            ("us_ach_credit", "rail_unavailable", ""),
        ] {
            assert_eq!(code(rail, reason, Late::No), expected, "{rail} {reason}");
        }
        assert_eq!(code("gb_faster_payments", "account_closed", Late::Yes), "00000002");
    }

    #[test]
    fn every_rail_has_a_code_for_every_reason_but_silence() {
        for (place, row) in (0..).zip(reasons()) {
            assert_eq!(position(&row.name), place, "{}", row.name);
            assert!(row.instead.iter().all(|other| reasons().iter().any(|it| it.name == *other)));
            if OPEN.contains(&&*row.name) {
                continue;
            }
            for rail in all() {
                let silent = matches!(&*row.name, "rail_unavailable" | "timeout");
                assert!(silent || !code(&rail.id, &row.name, Late::No).is_empty(), "{}", rail.id);
            }
        }
    }

    #[test]
    fn every_code_has_a_reason_and_every_rail_a_default_of_its_own() {
        for rail in all() {
            for code in &rail.codes {
                assert!(reasons().iter().any(|row| row.name == code.reason), "{}", code.code);
            }
            assert!(refusals(rail).any(|code| code.code == rail.default), "{}", rail.id);
        }
    }

    #[test]
    fn a_code_of_another_rail_is_replaced_by_the_code_for_its_reason() {
        let returned = Refusal::with_code(rail("ng_nip"), "R02", Scope::Payouts, Late::No);
        let failure = returned.failure();
        assert_eq!(
            (&*failure.code, failure.return_code.as_deref()),
            ("account_closed", Some("07"))
        );
        let own = Refusal::with_code(rail("us_ach_credit"), "R02", Scope::Payouts, Late::No);
        assert_eq!(own.code().map(|code| &*code.code), Some("R02"));
    }

    #[test]
    fn a_refusal_is_written_and_read_again() {
        for name in ["us_ach_credit", "gb_bacs_credit", "ke_mpesa_c2b"] {
            for reason in ["account_closed", "rail_unavailable"] {
                let refusal = Refusal::because(rail(name), reason, Late::No);
                let text = serde_json::to_string(&refusal).expect("a text");
                assert_eq!(serde_json::from_str::<Refusal>(&text).expect(&text), refusal);
            }
        }
    }
}
