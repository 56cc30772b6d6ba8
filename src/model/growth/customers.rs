//! Kinds of customers, and how they pay. Data: `fixtures/growth/customers.toml`.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "tests read some columns that the program does not use")
)]

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, de};

use super::Sections;

/// The customers of an industry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mix {
    pub(crate) id: &'static str,
    pub(crate) kinds: Vec<CustomerKind>,
}

/// Customers that buy and pay in a similar way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CustomerKind {
    pub(crate) id: &'static str,
    /// Invoices of a month.
    pub(crate) invoices: u64,
    /// Their part of the month's sales, in percent.
    pub(crate) share: u64,
    /// The number of customers; 0 if each one buys only once.
    pub(crate) customers: u64,
    /// Fewest and most days from an invoice to its payment.
    pub(crate) pays: [u64; 2],
    /// The number of invoices out of 100 that are paid late.
    pub(crate) late: u64,
    /// The number of invoices out of 100 that are never paid.
    pub(crate) never: u64,
}

impl Mix {
    /// The kind of the customer of a month's invoice, and the customers of the kinds before.
    pub(crate) fn of_invoice(&self, number: u64) -> (&CustomerKind, u64) {
        let (mut invoices, mut customers) = (0, 0);
        for kind in &self.kinds {
            invoices += kind.invoices;
            if number < invoices {
                return (kind, customers);
            }
            customers += kind.customers;
        }
        panic!("mix {} has no invoice {number}", self.id)
    }
}

/// Every mix.
pub(crate) fn all() -> impl Iterator<Item = &'static Mix> {
    (0..MIXES.len()).map(|place| MIXES.at(place))
}

/// Reads the id of a mix.
pub(crate) fn by_id<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Mix, D::Error> {
    let id = <&str>::deserialize(from)?;
    MIXES.find(id).ok_or_else(|| de::Error::custom(format!("there is no mix {id:?}")))
}

static MIXES: LazyLock<Sections<Mix>> = LazyLock::new(|| {
    Sections::of("growth/customers.toml", include!(concat!(env!("OUT_DIR"), "/customers.rs")))
});
