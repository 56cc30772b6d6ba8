//! An invoice: what a customer owes for what was sold, with the tax on it.

use std::collections::BTreeMap;

use crate::model::payments::{Collection, vat};
use crate::model::prelude::*;

states! {
    /// Where an invoice stands. That it is overdue is told by another member.
    InvoiceStatus { Draft "draft", Open "open", PartiallyPaid "partially_paid", Paid "paid", Void "void" }
    "send": Draft => Open;
    "pay_part": Open => PartiallyPaid;
    "pay": Open | PartiallyPaid => Paid;
    "void": Draft | Open => Void;
}

impl InvoiceStatus {
    /// Whether something of it is still to be paid.
    pub(crate) const fn is_owed(self) -> bool {
        matches!(self, Self::Open | Self::PartiallyPaid)
    }
}

/// Who owes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Customer {
    /// The company's own id of the customer.
    pub(crate) id: Option<String>,
    /// The name.
    pub(crate) name: String,
    /// The e-mail address.
    pub(crate) email: Option<String>,
    /// The account that the customer pays from.
    pub(crate) account_number: Option<String>,
}

/// One thing that was sold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InvoiceLine {
    /// What it is.
    pub(crate) description: String,
    /// How many.
    pub(crate) quantity: i64,
    /// Minor units for each, without tax.
    pub(crate) unit_amount: i64,
    /// Basis points of tax: 750 is 7.5 %.
    pub(crate) tax_rate: u32,
    /// Minor units in all, without tax.
    pub(crate) amount: i64,
}

/// The tax of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TaxOfRate {
    /// Basis points.
    pub(crate) rate: u32,
    /// Minor units of the lines with that rate, without tax.
    pub(crate) net: i64,
    /// The tax on them, halves rounded to the even minor unit.
    pub(crate) tax: i64,
}

/// What a customer owes for what was sold.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Invoice {
    /// The invoice's id.
    pub(crate) id: Id<Invoice>,
    /// Always `invoice`.
    pub(crate) object: Object<Invoice>,
    /// The company that sold.
    pub(crate) company_id: Id<Company>,
    /// Where it stands.
    pub(crate) status: InvoiceStatus,
    /// Given when it is sent: by company and year, without gaps.
    pub(crate) number: Option<String>,
    /// Who owes it.
    pub(crate) customer: Customer,
    /// What was sold.
    pub(crate) lines: Vec<InvoiceLine>,
    /// The tax by rate, the lowest first.
    pub(crate) taxes: Vec<TaxOfRate>,
    /// Minor units without tax.
    pub(crate) net_total: i64,
    /// Minor units of tax.
    pub(crate) tax_total: i64,
    /// Minor units in all.
    pub(crate) total: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// Minor units that were paid.
    pub(crate) amount_paid: i64,
    /// Minor units that are still to be paid; nothing of a void invoice.
    pub(crate) amount_due: i64,
    /// The last day to pay.
    pub(crate) due_date: Date,
    /// Whether that day is over and something is still to be paid.
    pub(crate) overdue: bool,
    /// The day on which it was sent.
    pub(crate) issued_on: Option<Date>,
    /// The last request for its money.
    pub(crate) collection_id: Option<Id<Collection>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<InvoiceStatus>>,
}

impl Invoice {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }

    /// What it is found by: its number, in an order that text has, too.
    pub(crate) fn names(&self) -> Vec<String> {
        let number = self.number.as_deref().and_then(read_number);
        number.map(|(year, number)| by_number(year, number)).into_iter().collect()
    }
}

stateful!(Invoice: InvoiceStatus);

/// `INV-2026-0001`.
pub(crate) fn number(year: i16, number: u64) -> String {
    format!("INV-{year}-{number:04}")
}

/// Year and number of an invoice's number, written as [`number`] writes it.
pub(crate) fn read_number(text: &str) -> Option<(i16, u64)> {
    let (year, place) = text.strip_prefix("INV-")?.split_once('-')?;
    let (year, place) = (year.parse().ok()?, place.parse().ok()?);
    (number(year, place) == text).then_some((year, place))
}

/// What an invoice with that number is found by.
pub(crate) fn by_number(year: i16, number: u64) -> String {
    format!("{}{number:020}", of_year(year))
}

/// What every name of an invoice of that year begins with.
pub(crate) fn of_year(year: i16) -> String {
    format!("number:{year}:")
}

/// Sums of lines: none where they are more than an invoice can be about.
pub(crate) struct Sums {
    pub(crate) taxes: Vec<TaxOfRate>,
    pub(crate) net: i64,
    pub(crate) tax: i64,
    pub(crate) total: i64,
}

impl Sums {
    /// Adds up amounts without tax and their rates. The tax is reckoned once a rate.
    pub(crate) fn of(lines: impl Iterator<Item = (u32, i128)>) -> Option<Self> {
        let mut by_rate: BTreeMap<u32, i128> = BTreeMap::new();
        for (rate, amount) in lines {
            *by_rate.entry(rate).or_default() += amount;
        }
        let bounded = |sum: i128| i64::try_from(sum).ok().filter(|sum| *sum <= Amount::MAX);
        let mut taxes = Vec::with_capacity(by_rate.len());
        for (rate, net) in by_rate {
            let net = bounded(net)?;
            let tax = vat::on(net, rate);
            taxes.push(TaxOfRate { rate, net, tax });
        }
        let net = bounded(taxes.iter().map(|row| i128::from(row.net)).sum())?;
        let tax = bounded(taxes.iter().map(|row| i128::from(row.tax)).sum())?;
        let total = bounded(i128::from(net) + i128::from(tax))?;
        Some(Self { taxes, net, tax, total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_invoice_can_be_reached() {
        crate::model::lifecycle::assert_sound(InvoiceStatus::Draft);
    }

    #[test]
    fn numbers_read_back_and_keep_their_order_beyond_four_digits() {
        assert_eq!(number(2026, 7), "INV-2026-0007");
        assert_eq!(read_number("INV-2026-10000"), Some((2026, 10_000)));
        for other in ["INV-2026-7", "INV-2026-00007", "inv-2026-0007", "INV-2026", ""] {
            assert_eq!(read_number(other), None, "{other}");
        }
        assert!(by_number(2026, 9_999) < by_number(2026, 10_000));
        assert!(by_number(2026, 10_000).starts_with(&of_year(2026)));
    }

    #[test]
    fn tax_is_reckoned_once_a_rate_with_halves_to_the_even_unit() {
        let sums = |lines: &[(u32, i128)]| Sums::of(lines.iter().copied());
        let two = sums(&[(750, 10), (0, 5), (750, 10)]).expect("small sums");
        assert_eq!((two.net, two.tax, two.total), (25, 2, 27)); // 1.5 is 2
        assert_eq!(two.taxes.len(), 2);
        let even = sums(&[(500, 10)]).expect("small sums");
        assert_eq!(even.tax, 0); // 0.5 is 0
        assert!(sums(&[(0, i128::from(Amount::MAX))]).is_some());
        assert!(sums(&[(1, i128::from(Amount::MAX))]).is_none());
        assert!(sums(&[(0, i128::from(i64::MAX) * 5)]).is_none());
    }
}
