//! An invoice: a customer's debt for goods or services, with tax.

use std::collections::BTreeMap;

use crate::model::payments::{Collection, vat};
use crate::model::prelude::*;

states! {
    /// Status of an invoice. Whether it is overdue is a separate member.
    InvoiceStatus {
        Draft "draft", Open "open", PartiallyPaid "partially_paid", Paid "paid", WrittenOff "written_off", Void "void",
    }
    "send": Draft => Open;
    "pay_part": Open => PartiallyPaid;
    "pay": Open | PartiallyPaid | WrittenOff => Paid;
    "reopen": Paid | PartiallyPaid => Open;
    "reopen_part": Paid | PartiallyPaid => PartiallyPaid;
    "lose_again": Paid => WrittenOff;
    "write_off": Open | PartiallyPaid => WrittenOff;
    "void": Draft | Open => Void;
}

impl InvoiceStatus {
    /// Whether an amount is outstanding.
    pub(crate) const fn is_owed(self) -> bool {
        matches!(self, Self::Open | Self::PartiallyPaid)
    }
}

/// The customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Customer {
    /// The company's own id of the customer.
    pub(crate) id: Option<String>,
    /// The name of the customer.
    pub(crate) name: String,
    /// The e-mail address of the customer.
    pub(crate) email: Option<String>,
    /// The account number that the customer pays from.
    pub(crate) account_number: Option<String>,
}

/// One item sold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InvoiceLine {
    /// The item sold.
    pub(crate) description: String,
    /// The number of units.
    pub(crate) quantity: i64,
    /// Price of one unit in minor units, without tax.
    pub(crate) unit_amount: i64,
    /// Tax rate in basis points: 750 is 7.5 %.
    pub(crate) tax_rate: u32,
    /// Total of the line in minor units, without tax.
    pub(crate) amount: i64,
}

/// The tax at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TaxOfRate {
    /// The tax rate in basis points.
    pub(crate) rate: u32,
    /// Sum of the lines at that rate in minor units, without tax.
    pub(crate) net: i64,
    /// The tax on that sum, in minor units; halves are rounded to even.
    pub(crate) tax: i64,
}

/// The write-off of an unpaid amount as a bad debt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WriteOff {
    /// The day on which the write-off was booked.
    pub(crate) on: Date,
    /// The amount written off, tax included, in minor units.
    pub(crate) amount: i64,
    /// The tax in that amount, in minor units.
    pub(crate) tax: i64,
    /// The part of the amount that the customer paid later, in minor units.
    pub(crate) recovered: i64,
    /// The day from which the authority returns the tax; null if the country's law does not allow it.
    pub(crate) tax_relief_on: Option<Date>,
    /// The tax taken back from the authority, less the part that later payments returned to it, in minor units.
    pub(crate) tax_relieved: i64,
}

impl WriteOff {
    /// The part that is still unpaid.
    pub(crate) const fn left(&self) -> i64 {
        self.amount - self.recovered
    }
}

resource! {
    /// A customer's debt for goods or services.
    Invoice: InvoiceStatus {
        /// The company that sends the invoice.
        company_id: Id<Company>,
        /// Current status.
        status: InvoiceStatus,
        /// The invoice number, assigned when it is sent. Numbers are consecutive for each company and year.
        number: Option<String>,
        /// The customer who owes the invoice.
        customer: Customer,
        /// The items sold.
        lines: Vec<InvoiceLine>,
        /// The tax by rate, lowest rate first.
        taxes: Vec<TaxOfRate>,
        /// Total without tax, in minor units.
        net_total: i64,
        /// Total tax, in minor units.
        tax_total: i64,
        /// Total including tax, in minor units.
        total: i64,
        /// Currency of all amounts.
        currency: Currency,
        /// Amount paid, in minor units.
        amount_paid: i64,
        /// Amount outstanding, in minor units; 0 for an invoice that is void or written off.
        amount_due: i64,
        /// The last day to pay.
        due_date: Date,
        /// Whether the due date has passed and an amount is outstanding.
        overdue: bool,
        /// The day on which the invoice was sent.
        issued_on: Option<Date>,
        /// The latest collection for the invoice.
        collection_id: Option<Id<Collection>>,
        /// The write-off as a bad debt; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        write_off: Option<WriteOff>,
    }
}

impl Invoice {
    /// The amount that a collection may request: the outstanding one, or what remains of a bad debt. None in other states.
    pub(crate) fn collectable(&self) -> Option<i64> {
        let bad = self.write_off.filter(|_| self.status == InvoiceStatus::WrittenOff);
        let owed = self.status.is_owed().then_some(self.amount_due);
        bad.map(|bad| bad.left()).or(owed)
    }

    /// The lookup key: its number, in a form that sorts as text.
    pub(crate) fn names(&self) -> Vec<String> {
        let number = self.number.as_deref().and_then(read_number);
        number.map(|(year, number)| by_number(year, number)).into_iter().collect()
    }
}

/// `INV-2026-0001`.
pub(crate) fn number(year: i16, number: u64) -> String {
    format!("INV-{year}-{number:04}")
}

/// Parses the year and sequence from an invoice number written by [`number`].
pub(crate) fn read_number(text: &str) -> Option<(i16, u64)> {
    let (year, place) = text.strip_prefix("INV-")?.split_once('-')?;
    let (year, place) = (year.parse().ok()?, place.parse().ok()?);
    (number(year, place) == text).then_some((year, place))
}

/// The lookup key of an invoice with that number.
pub(crate) fn by_number(year: i16, number: u64) -> String {
    format!("{}{number:020}", of_year(year))
}

/// The common prefix of the lookup keys of that year.
pub(crate) fn of_year(year: i16) -> String {
    format!("number:{year}:")
}

/// Sums of lines; none if they exceed the maximum of an invoice.
pub(crate) struct Sums {
    pub(crate) taxes: Vec<TaxOfRate>,
    pub(crate) net: i64,
    pub(crate) tax: i64,
    pub(crate) total: i64,
}

impl Sums {
    /// Adds up amounts without tax by rate. Tax is calculated once per rate.
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
    fn tax_is_calculated_once_per_rate_and_rounded_half_to_even() {
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
