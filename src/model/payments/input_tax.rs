//! The part of the tax on purchases that a company deducts from its tax on sales.
//!
//! Tax on purchases for exempt sales is not deducted. A company with both kinds of sales deducts the share of taxable
//! sales in all its sales (Directive 2006/112/EC, articles 173 and 174; Value Added Tax Act 2013 (Kenya), section
//! 17(6); Value Added Tax Regulations 1995 (GB), regulation 101; Value-Added Tax Act 89 of 1991 (ZA), section 17(1)).
//! A sale at 0 % is taxable.
//!
//! Deliberately absent: limits below which exempt sales do not count, and the yearly adjustment of the part.

use crate::model::Account;
use crate::model::growth::industries;
use crate::model::payments::BillLine;
use crate::model::payments::invoice::TaxOfRate;
use crate::model::payments::vat::{self, Place, WHOLE};
use crate::value::Date;

/// The kind of purchases that are neither for resale nor for production.
const OVERHEAD: &str = "overhead";

/// The deduction of a company on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputTax {
    /// The part in basis points.
    pub(crate) share: u32,
    goods_only: bool,
}

impl InputTax {
    /// Calculated from a company's sales in that country, each with its kind in `fixtures/vat.toml`.
    pub(crate) fn of<'a>(
        place: Place<'_>,
        on: Date,
        sales: impl Iterator<Item = (&'a str, i64)>,
    ) -> Self {
        let (mut taxable, mut all) = (0_i128, 0_i128);
        for (kind, net) in sales {
            all += i128::from(net);
            taxable += i128::from(if place.is_exempt(kind, on) { 0 } else { net });
        }
        let share = if all > 0 { taxable * i128::from(WHOLE) / all } else { i128::from(WHOLE) };
        let share = if place.standard() == 0 { 0 } else { u32::try_from(share).unwrap_or(WHOLE) };
        Self { share, goods_only: vat::goods_only(place.country, on) }
    }

    /// The part of the tax on an expense that is deducted, in basis points. `kind` is the kind of purchase, if known.
    pub(crate) fn of_expense(self, account: Account, kind: &str) -> u32 {
        let for_sale = account == Account::Purchases && kind != OVERHEAD;
        if self.goods_only && !for_sale { 0 } else { self.share }
    }

    /// The part of the tax on a bill that is deducted, in minor units.
    pub(crate) fn of_bill(self, lines: &[BillLine], taxes: &[TaxOfRate]) -> i64 {
        let of_rate = |tax: &TaxOfRate| {
            let lines = lines.iter().filter(|line| line.tax_rate == tax.rate);
            let counted = lines.filter(|line| self.of_expense(line.account, "") > 0);
            let net: i64 = counted.map(|line| line.amount).sum();
            let whole = if net == tax.net { tax.tax } else { vat::on(net, tax.rate) };
            vat::on(whole, self.share)
        };
        taxes.iter().map(of_rate).sum()
    }
}

/// The kinds of sales of the industry with that id, in equal parts; empty for an unknown industry.
pub(crate) fn usual_sales(industry: &str) -> Vec<(&'static str, i64)> {
    let known = industries::all().find(|known| known.id == industry);
    let sells = known.into_iter().flat_map(|known| &known.sells);
    sells.map(|sold| (sold.kind, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input_tax(country: &str, on: &str, sales: &[(&str, i64)]) -> InputTax {
        let place = Place { country, region: None };
        InputTax::of(place, on.parse().expect("a day"), sales.iter().copied())
    }

    /// Value Added Tax Act 2013 (Kenya), section 17(6): parted by turnover. Food is zero-rated, and so taxable.
    #[test]
    fn mixed_sales_part_the_tax_on_purchases_by_turnover() {
        let share = |country, sales| input_tax(country, "2026-01-01", sales).share;
        let mixed: &[(&str, i64)] = &[("health", 700), ("", 200), ("food", 100)];
        assert_eq!(share("KE", mixed), 3_000);
        assert_eq!(share("GB", mixed), 3_000);
        assert_eq!(share("KE", &[("health", 5)]), 0);
        assert_eq!(share("KE", &[("", 5), ("food", 5)]), WHOLE);
        assert_eq!(share("KE", &[]), WHOLE, "sales that are not known are taxable");
        assert_eq!(share("US", &[("", 5)]), 0, "there is no tax to deduct");
        // A New Tax System (Goods and Services Tax) Act 1999, section 38-7: health care is GST-free, and no input-taxed supply.
        assert_eq!(share("AU", &[("health", 5)]), WHOLE);
    }

    /// Nigeria Tax Act 2025, section 187: medical services and tuition are zero-rated since 2026. Before, they were exempt (Value Added Tax Act, First
    /// Schedule).
    #[test]
    fn exempt_sales_in_nigeria_are_zero_rated_since_2026() {
        for kind in ["health", "education"] {
            assert_eq!(input_tax("NG", "2025-12-31", &[(kind, 5)]).share, 0);
            assert_eq!(input_tax("NG", "2026-01-01", &[(kind, 5)]).share, WHOLE);
        }
    }

    /// Value Added Tax Act (Nigeria), section 17: no tax on services and overheads until the Nigeria Tax Act 2025 is in force.
    #[test]
    fn tax_on_services_is_deducted_in_nigeria_since_2026() {
        let bought = [
            (Account::Purchases, ""),
            (Account::Purchases, OVERHEAD),
            (Account::ProfessionalFees, ""),
        ];
        let shares = |country, on| {
            let of = input_tax(country, on, &[]);
            bought.map(|(account, kind)| of.of_expense(account, kind))
        };
        assert_eq!(shares("NG", "2025-12-31"), [WHOLE, 0, 0]);
        assert_eq!(shares("NG", "2026-01-01"), [WHOLE; 3]);
        assert_eq!(shares("KE", "2025-12-31"), [WHOLE; 3]);
    }

    #[test]
    fn a_bill_is_deducted_line_by_line_and_by_the_share() {
        let line = |account, amount| BillLine {
            description: String::new(),
            account,
            quantity: 1,
            unit_amount: amount,
            tax_rate: 750,
            amount,
        };
        let lines = [line(Account::Purchases, 10_000), line(Account::Rent, 30_000)];
        let taxes = [TaxOfRate { rate: 750, net: 40_000, tax: 3_000 }];
        let of = |on| input_tax("NG", on, &[]).of_bill(&lines, &taxes);
        assert_eq!((of("2025-12-31"), of("2026-01-01")), (750, 3_000));
        let half = input_tax("KE", "2026-01-01", &[("health", 1), ("", 1)]);
        assert_eq!(half.of_bill(&lines, &taxes), 1_500);
    }

    #[test]
    fn industries_are_known_by_their_ids() {
        assert!(usual_sales("healthcare").iter().any(|(kind, _)| *kind == "health"));
        assert_eq!(usual_sales("alchemy"), []);
    }
}
