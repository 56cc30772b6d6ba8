//! The rail of a payment, from the service, the country of the account, and the currency.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::payments::rails::{PaymentRail, all};
use crate::value::{Currency, Span};

/// The rail that a payment travels by: one row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RailId(u8);

impl RailId {
    /// The rail of that name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let place = all().iter().position(|rail| rail.id == name)?;
        Some(Self(place.try_into().ok()?))
    }

    /// Its row.
    pub(crate) fn rail(self) -> &'static PaymentRail {
        &all()[usize::from(self.0)]
    }

    /// The largest amount of a payment by that service, in minor units; none if there is no limit.
    pub(crate) fn limit(self, service: Service) -> Option<i64> {
        let limits = &self.rail().limits;
        let named = |service: Service| limits.get(service.name()).copied();
        let wallet = || named(Service::MobileWallet);
        if self.rail().serves.time(service).is_some() { named(service) } else { wallet() }
    }

    /// The time from sending to the result.
    pub(crate) fn time(self, service: Service) -> Span {
        let serves = &self.rail().serves;
        let time = serves.time(service).or(serves.mobile_wallet);
        time.expect("a payment is routed to a rail that serves it")
    }
}

impl Serialize for RailId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.rail().id)
    }
}

impl<'de> Deserialize<'de> for RailId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        Self::find(&name).ok_or_else(|| de::Error::custom("there is no such rail"))
    }
}

impl JsonSchema for RailId {
    fn schema_name() -> Cow<'static, str> {
        "PaymentRailId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = all().iter().map(|rail| &*rail.id).collect();
        json_schema!({
            "type": "string",
            "description": "A payment rail: `GET /_sandbox/rails` lists them.",
            "enum": names
        })
    }
}

/// The service that a payment requires from its rail: the speed of a payout, or the payer's payment
/// method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Instant,
    SameDay,
    Standard,
    Card,
    DirectDebit,
    BankTransfer,
    MobileMoney,
    /// A payout to a mobile money wallet, at any speed.
    MobileWallet,
}

impl Service {
    #[cfg(test)]
    const ALL: [Self; 8] = [
        Self::Instant,
        Self::SameDay,
        Self::Standard,
        Self::Card,
        Self::DirectDebit,
        Self::BankTransfer,
        Self::MobileMoney,
        Self::MobileWallet,
    ];

    /// The name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::SameDay => "same_day",
            Self::Standard => "standard",
            Self::Card => "card",
            Self::DirectDebit => "direct_debit",
            Self::BankTransfer => "bank_transfer",
            Self::MobileMoney => "mobile_money",
            Self::MobileWallet => "mobile_wallet",
        }
    }
}

/// The services of a rail, with the time from sending to the result.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RailServices")]
pub(crate) struct Services {
    /// Payouts with `rail` `instant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instant: Option<Span>,
    /// Payouts with `rail` `same_day`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    same_day: Option<Span>,
    /// Payouts with `rail` `standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    standard: Option<Span>,
    /// Collections by card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    card: Option<Span>,
    /// Collections by direct debit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    direct_debit: Option<Span>,
    /// Collections by bank transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bank_transfer: Option<Span>,
    /// Collections by mobile money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mobile_money: Option<Span>,
    /// Payouts to mobile money wallets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mobile_wallet: Option<Span>,
}

impl Services {
    /// The time of that service, if the rail serves it.
    pub(crate) const fn time(&self, service: Service) -> Option<Span> {
        match service {
            Service::Instant => self.instant,
            Service::SameDay => self.same_day,
            Service::Standard => self.standard,
            Service::Card => self.card,
            Service::DirectDebit => self.direct_debit,
            Service::BankTransfer => self.bank_transfer,
            Service::MobileMoney => self.mobile_money,
            Service::MobileWallet => self.mobile_wallet,
        }
    }

    /// The names of the services that it has.
    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        Service::ALL.into_iter().filter(|it| self.time(*it).is_some()).map(Service::name)
    }

    /// Whether it collects by direct debit.
    pub(crate) const fn debits(&self) -> bool {
        self.direct_debit.is_some()
    }

    /// Whether payers of collections use the rail.
    pub(crate) const fn collects(&self) -> bool {
        let by_bank = self.direct_debit.is_some() || self.bank_transfer.is_some();
        by_bank || self.card.is_some() || self.mobile_money.is_some()
    }
}

/// The first rail of the table that serves an account of that country and currency.
pub(crate) fn route(service: Service, country: &str, currency: Currency) -> RailId {
    // The cheapest question first: this runs for each payment.
    let serves = |rail: &PaymentRail| {
        let there = || rail.country == country || rail.area.iter().any(|other| other == country);
        rail.serves.time(service).is_some()
            && (rail.currency == "*" || rail.currency == currency.code())
            && (rail.country == "*" || there())
    };
    let place = all().iter().position(serves);
    let place = place.expect("a rail of every country serves each service: a test checks");
    RailId(place.try_into().expect("the table is short"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(service: Service, country: &str, currency: &str) -> &'static str {
        let currency = Currency::new(currency).expect("a currency");
        &route(service, country, currency).rail().id
    }

    #[test]
    fn an_account_decides_the_rail() {
        for (service, country, currency, rail) in [
            (Service::Standard, "US", "USD", "us_ach_credit"),
            (Service::SameDay, "US", "USD", "us_ach_credit"),
            (Service::Instant, "US", "USD", "us_rtp"),
            (Service::Standard, "GB", "GBP", "gb_bacs_credit"),
            (Service::SameDay, "GB", "GBP", "gb_chaps"),
            (Service::Instant, "GB", "GBP", "gb_faster_payments"),
            (Service::Standard, "DE", "EUR", "eu_sepa_sct"),
            (Service::Instant, "FR", "EUR", "eu_sepa_inst"),
            (Service::Standard, "GB", "EUR", "eu_sepa_sct"),
            (Service::Standard, "NG", "NGN", "ng_nip"),
            (Service::Instant, "NG", "NGN", "ng_nip"),
            (Service::Standard, "NG", "USD", "cross_border_credit"),
            (Service::Standard, "GH", "GHS", "cross_border_credit"),
            (Service::DirectDebit, "US", "USD", "us_ach_debit"),
            (Service::DirectDebit, "GB", "GBP", "gb_bacs_debit"),
            (Service::DirectDebit, "IE", "EUR", "eu_sepa_sdd_core"),
            (Service::DirectDebit, "CA", "CAD", "ca_eft_debit"),
            (Service::DirectDebit, "ZA", "ZAR", "za_eft_debit"),
            (Service::DirectDebit, "NG", "NGN", "direct_debit"),
            (Service::Card, "JP", "JPY", "card"),
            (Service::MobileMoney, "KE", "KES", "ke_mpesa_c2b"),
            (Service::MobileMoney, "GH", "GHS", "mobile_money"),
            (Service::MobileWallet, "KE", "KES", "ke_mpesa_b2c"),
            (Service::MobileWallet, "UG", "UGX", "mobile_wallet"),
        ] {
            assert_eq!(name(service, country, currency), rail, "{service:?} {country} {currency}");
        }
    }

    #[test]
    fn every_service_has_a_rail_everywhere() {
        for service in Service::ALL {
            let rail = route(service, "ZZ", Currency::new("XPF").expect("a currency"));
            assert_eq!(rail.rail().country, "*", "{service:?}");
            assert!(rail.time(service) != Span::seconds(0), "{service:?}");
        }
    }

    #[test]
    fn a_rail_is_written_by_its_name() {
        let rail = RailId::find("ng_nip").expect("a rail");
        let text = serde_json::to_string(&rail).expect("a name");
        assert_eq!(text, r#""ng_nip""#);
        assert_eq!(serde_json::from_str::<RailId>(&text).expect("the name of a rail"), rail);
        assert!(serde_json::from_str::<RailId>(r#""nip""#).is_err());
    }
}
