//! Lines with a quantity, a price and a tax rate, as invoices and bills have them.

use crate::api::prelude::*;
use crate::model::payments::InvoiceLine;
use crate::model::payments::invoice::Sums;
use crate::model::payments::vat;

/// One item with its price.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "InvoiceLineInput")]
pub(crate) struct NewPricedLine {
    /// What the line is for, in a few words.
    description: Text<200>,
    /// The number of units.
    #[schemars(range(min = 1, max = 1_000_000))]
    quantity: i64,
    /// Price of one unit in minor units, without tax.
    unit_amount: Amount,
    /// Tax rate in basis points, 750 for 7.5 %. Default: the standard rate of the company's country, or of its region if the region has its
    /// own rate.
    #[schemars(range(min = 0, max = 10_000))]
    tax_rate: Option<u32>,
}

/// The lines and their sums; none if there is a mistake, also an earlier one. `document` is "an invoice" or "a bill".
pub(crate) fn priced(
    company: &Company,
    lines: Vec<NewPricedLine>,
    document: &str,
    wrong: &mut Vec<Violation>,
) -> Option<(Vec<InvoiceLine>, Sums)> {
    let standard = vat::Place::of(company).standard();
    let rate = |line: &NewPricedLine| line.tax_rate.unwrap_or(standard);
    let amount =
        |line: &NewPricedLine| i128::from(line.quantity) * i128::from(line.unit_amount.minor());
    let sums = Sums::of(lines.iter().map(|line| (rate(line), amount(line))));
    if sums.is_none() {
        let detail = format!("the total of {document} is limited to {} minor units", Amount::MAX);
        wrong.push(Violation::new("/lines", "too_large", detail));
    }
    let sums = sums.filter(|_| wrong.is_empty())?;
    let line = |line: NewPricedLine| InvoiceLine {
        tax_rate: rate(&line),
        amount: line.quantity * line.unit_amount.minor(), // the sum of them all is bounded
        description: line.description.into_string(),
        quantity: line.quantity,
        unit_amount: line.unit_amount.minor(),
    };
    Some((lines.into_iter().map(line).collect(), sums))
}
