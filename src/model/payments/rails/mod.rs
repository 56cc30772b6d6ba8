//! Payment rails (`fixtures/rails.toml`): country, direction, cut-off, settlement, and the codes of refusals and returns.
//!
//! `route` selects the rail of a payment, `refusal` the code of a refusal or return. Deliberately absent: the
//! decision whether a payment fails.

mod codes;
mod refusal;
mod route;
mod window;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::model::prelude::*;

pub(crate) use self::codes::Scope;
pub(crate) use self::refusal::{Late, Refusal};
pub(crate) use self::route::{RailId, Service, Services, route};
pub(crate) use self::window::{MandateRule, Window, later};

/// Whether a rail moves money to an account or collects it from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RailDirection {
    /// A payment to an account.
    Credit,
    /// A collection from an account.
    Debit,
}

/// When a code is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RailStage {
    /// Refused before money moves.
    Submit,
    /// Refused when it should settle.
    Settle,
    /// The money comes back.
    Return,
    /// Collected money is taken back later.
    Claim,
    /// Information; the money stays.
    Advice,
}

/// Whether another attempt makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RailRetry {
    /// Another attempt fails, too.
    No,
    /// The same payment can succeed later.
    Later,
    /// Another payment can succeed, with other details or with a new mandate.
    AfterFix,
    /// The result is unknown: read the status of the payment first.
    QueryFirst,
}

/// One code of a rail.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RailCode {
    /// The code, as the rail writes it.
    pub(crate) code: String,
    /// The meaning of the code, in a few words.
    pub(crate) meaning: String,
    /// In which step of the payment the code is given.
    pub(crate) stage: RailStage,
    /// Whether another attempt makes sense.
    pub(crate) retry: RailRetry,
    /// The meaning, independent of the rail: the `code` of a payment's `failure`.
    pub(crate) reason: String,
    /// The time after the settlement in which it can be given, if it is not that of the rail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<Window>,
    /// What the receiving bank reports with the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) corrects: Vec<AccountDetail>,
}

/// A detail of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountDetail {
    BankCode,
    AccountNumber,
}

/// A rail.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaymentRail {
    /// The rail's name in this table.
    pub(crate) id: String,
    /// The rail's own name.
    pub(crate) title: String,
    /// ISO 3166-1 alpha-2; `EU` is the SEPA area, and `*` is every country.
    pub(crate) country: String,
    /// ISO 4217; `*` is every currency.
    pub(crate) currency: String,
    /// Whether the rail moves money to an account or collects it.
    pub(crate) direction: RailDirection,
    /// Whether the receiver answers at once.
    pub(crate) instant: bool,
    /// Until when a payment is accepted.
    pub(crate) cut_off: String,
    /// When a payment settles.
    pub(crate) settlement: String,
    /// The services that use the rail, with the time from sending to the result.
    pub(crate) serves: Services,
    /// The code of a refusal if the rail has no code for the reason.
    pub(crate) default: String,
    /// The time from sending to a return. Absent if the rail refuses at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) returns: Option<Span>,
    /// The time after the settlement in which a collection can come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<Window>,
    /// The rules of mandates, if the rail collects by mandate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mandate: Option<MandateRule>,
    /// The largest amounts of one payment in minor units of its currency, by service.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) limits: BTreeMap<String, i64>,
    /// The countries that the rail serves, if it serves an area.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) area: Vec<String>,
    /// Whether a refund travels back by the rail of the payment.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(crate) refunds: bool,
    /// The sources of these facts. One that starts with `unverified` has no document behind it.
    pub(crate) sources: Vec<String>,
    /// The codes with which a payment is refused or comes back.
    pub(crate) codes: Vec<RailCode>,
}

/// Why a payment does not arrive, independent of the rail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    name: String,
    about: String,
    /// The most similar reasons, for a rail without a code for this reason.
    #[serde(default)]
    instead: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rail: Vec<PaymentRail>,
    reason: Vec<Reason>,
}

static FILE: LazyLock<File> = LazyLock::new(|| {
    let file: Result<File, _> = toml::from_str(include_str!("../../../../fixtures/rails.toml"));
    file.expect("the embedded rails are whole: a test reads them")
});

/// All rails, in the order of the table.
pub(crate) fn all() -> &'static [PaymentRail] {
    &FILE.rail
}

fn reasons() -> &'static [Reason] {
    &FILE.reason
}

/// The codes of failed and returned payments. Codes of success, information and later claims are left out.
pub(crate) fn refusals(rail: &'static PaymentRail) -> impl Iterator<Item = &'static RailCode> {
    let at = [RailStage::Submit, RailStage::Settle, RailStage::Return];
    rail.codes.iter().filter(move |code| at.contains(&code.stage) && !OPEN.contains(&&*code.reason))
}

/// The codes of returned collections: returns and later claims.
pub(crate) fn returns(rail: &'static PaymentRail) -> impl Iterator<Item = &'static RailCode> {
    let at = [RailStage::Return, RailStage::Claim];
    rail.codes.iter().filter(move |code| at.contains(&code.stage) && !OPEN.contains(&&*code.reason))
}

/// The codes with which the receiving bank corrects the account details of a payment that arrived.
pub(crate) fn corrections(rail: &'static PaymentRail) -> impl Iterator<Item = &'static RailCode> {
    let is_one =
        |code: &&RailCode| code.stage == RailStage::Advice && code.reason == DETAILS_CORRECTED;
    rail.codes.iter().filter(is_one)
}

/// The reason of the codes that correct account details.
pub(crate) const DETAILS_CORRECTED: &str = "details_corrected";

/// Reasons of codes with which no payment is refused.
const OPEN: [&str; 3] = ["done", "status_unknown", DETAILS_CORRECTED];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rail(id: &str) -> &'static PaymentRail {
        all().iter().find(|rail| rail.id == id).unwrap_or_else(|| panic!("no rail {id}"))
    }

    fn codes(id: &str) -> BTreeSet<&'static str> {
        rail(id).codes.iter().map(|code| code.code.as_str()).collect()
    }

    #[test]
    fn every_rail_has_a_source_and_codes_without_duplicates() {
        let ids: BTreeSet<&str> = all().iter().map(|rail| rail.id.as_str()).collect();
        assert_eq!(ids.len(), all().len());
        for rail in all() {
            assert!(!rail.sources.is_empty() && !rail.codes.is_empty(), "{}", rail.id);
            assert_eq!(codes(&rail.id).len(), rail.codes.len(), "{}", rail.id);
            assert!(rail.currency == "*" || Currency::new(&rail.currency).is_some(), "{}", rail.id);
            for (service, limit) in &rail.limits {
                assert!(*limit > 0 && rail.serves.names().any(|it| it == service), "{}", rail.id);
            }
        }
    }

    /// Nacha return codes: <https://docs.grailpay.com/docs/resources/return-codes/>, account type and time frame.
    #[test]
    fn ach_credits_are_not_returned_for_missing_funds_or_authorisation() {
        let (credit, debit) = (codes("us_ach_credit"), codes("us_ach_debit"));
        for code in ["R02", "R03", "R04", "R16", "R20", "R23"] {
            assert!(credit.contains(code), "{code}");
        }
        for code in ["R01", "R29"] {
            assert!(!credit.contains(code) && debit.contains(code), "{code}");
        }
    }

    /// Faster Payments: <https://docs.numeral.io/reference/fps-reason-codes>. SEPA: EPC135-18, guidance on reason codes.
    #[test]
    fn codes_have_the_form_of_their_rail() {
        assert!(codes("gb_faster_payments").contains("1160"));
        assert!(codes("gb_bacs_credit").contains("ARUCS B"));
        assert!(codes("eu_sepa_sct").is_superset(&BTreeSet::from(["AC01", "AC04", "MD07"])));
        let nip = codes("ng_nip");
        assert!(nip.iter().all(|code| code.len() == 2), "{nip:?}");
    }

    /// The receiver of an instant payment answers at once, so a code is a refusal. Three rails can send the money back later: SCT Inst
    /// (EPC135-18), Interac, and Faster Payments (<https://docs.lhv.com/connect/overview/code-reference-tables/payment-schemes/faster-fast-payment-return-codes>).
    #[test]
    fn instant_rails_refuse_at_once_and_three_can_return_later() {
        let has = |rail: &PaymentRail, stages: &[RailStage]| {
            rail.codes.iter().any(|code| stages.contains(&code.stage))
        };
        let instant: Vec<_> = all().iter().filter(|rail| rail.instant).collect();
        let refused = [RailStage::Submit, RailStage::Settle];
        assert!(instant.len() > 5 && instant.iter().all(|rail| has(rail, &refused)));
        let returned = instant.iter().filter(|rail| has(rail, &[RailStage::Return]));
        let returned: Vec<&str> = returned.map(|rail| rail.id.as_str()).collect();
        assert_eq!(returned, ["eu_sepa_inst", "ca_interac", "gb_faster_payments"]);
    }
}
