//! The cost and the maximum amount of a loan, by band and product (`fixtures/lending.toml`).

use std::sync::LazyLock;

use crate::model::capital::Band;
use crate::model::prelude::*;

/// A capital product.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CapitalProduct")]
pub(crate) enum Product {
    /// A loan that is repaid over years.
    TermLoan,
    /// An advance on future sales.
    RevenueAdvance,
    /// An advance on open invoices.
    InvoiceFinance,
    /// A loan until the next pay day.
    PayrollBridge,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProductTerms {
    product: Product,
    /// Basis points per year, added to the band's rate.
    surcharge_bp: i64,
    /// The default term.
    pub(crate) usual_months: u32,
    /// The maximum term.
    pub(crate) most_months: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BandTerms {
    band: Band,
    rate_bp: i64,
    capacity_percent: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    bands: Vec<BandTerms>,
    products: Vec<ProductTerms>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fixtures/lending.toml"))
        .expect("the embedded terms are whole: a test reads them")
});

impl Product {
    pub(crate) fn terms(self) -> &'static ProductTerms {
        let mut rows = TABLES.products.iter();
        rows.find(|row| row.product == self).expect("the table has a row for every product")
    }
}

fn band_terms(band: Band) -> &'static BandTerms {
    let mut rows = TABLES.bands.iter();
    rows.find(|row| row.band == band).expect("the table has a row for every band")
}

/// The yearly rate, in basis points.
pub(crate) fn rate_bp(product: Product, band: Band) -> i64 {
    band_terms(band).rate_bp + product.terms().surcharge_bp
}

/// The maximum debt of a company in that credit band, from its sales of one year.
pub(crate) fn capacity(band: Band, yearly_sales: i128) -> i128 {
    yearly_sales.max(0) * i128::from(band_terms(band).capacity_percent) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    const BANDS: [Band; 5] = [Band::Poor, Band::Fair, Band::Good, Band::VeryGood, Band::Excellent];

    #[test]
    fn a_better_band_pays_less_and_may_owe_more() {
        for product in [
            Product::TermLoan,
            Product::RevenueAdvance,
            Product::InvoiceFinance,
            Product::PayrollBridge,
        ] {
            let rates: Vec<i64> = BANDS.iter().map(|band| rate_bp(product, *band)).collect();
            assert!(rates.is_sorted_by(|one, other| one > other), "{rates:?}");
            let terms = product.terms();
            assert!((1..=terms.most_months).contains(&terms.usual_months));
        }
        let owed: Vec<i128> = BANDS.iter().map(|band| capacity(*band, 1_000)).collect();
        assert_eq!(owed, [0, 150, 250, 350, 500]);
        assert_eq!(capacity(Band::Excellent, -5), 0);
    }
}
