//! The sales of a grown company in the months before the world's start: amounts by month, kinds of customers, and
//! payment dates.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a company's months and invoices are a dozen each; draws are below small bounds"
)]

use crate::model::payments::vat;
use crate::value::time::Date;
use crate::world::layout::{HISTORY_MONTHS, INVOICES_A_MONTH, Layout, Plan};
use crate::world::payroll_history::PayrollHistory;
use crate::world::suppliers::scale;

/// The days within which customers must pay.
pub(crate) const TERMS: i32 = 30;
/// Fewest days from an invoice to a late payment, and their spread.
const LATE: (u64, u64) = (35, 46);

/// Twelve months of sales.
#[derive(Debug)]
pub(crate) struct SalesHistory {
    /// The sales of an average month, without tax.
    pub(crate) average: i64,
    pub(crate) months: Vec<SoldMonth>,
    /// The sales of all months, without tax, by kind of goods of the industry.
    pub(crate) sold: Vec<i64>,
}

/// One month of sales.
#[derive(Debug)]
pub(crate) struct SoldMonth {
    pub(crate) invoices: Vec<Sold>,
    /// The tax on all sales.
    pub(crate) vat: i64,
}

/// The amounts of one invoice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sold {
    pub(crate) net: i64,
    pub(crate) tax: i64,
    /// The rate of the tax, in basis points.
    pub(crate) rate: u32,
    /// The index of the sold goods among the goods of the industry.
    pub(crate) what: usize,
}

impl SalesHistory {
    /// The sales of the company of this plan: a multiple of its payroll, with the growth and the seasons of its industry.
    pub(crate) fn grow(layout: &Layout, plan: &Plan, payroll: &PayrollHistory) -> Self {
        let costs = payroll.runs.iter().map(|run| run.totals.employer_cost);
        let cost = costs.sum::<i64>() / HISTORY_MONTHS as i64;
        let average = scale(cost, plan.industry.revenue_percent, 100);
        let months = (0..HISTORY_MONTHS).map(|month| {
            let (season, year) =
                plan.industry.season(layout.period(month).first_day().civil().month());
            let in_season = scale(average, season, year);
            month_of(plan, month, scale(in_season, trend(plan, month), 12_000))
        });
        let months: Vec<SoldMonth> = months.collect();
        let mut sold = vec![0; plan.industry.sells.len()];
        for invoice in months.iter().flat_map(|month| &month.invoices) {
            sold[invoice.what] += invoice.net;
        }
        Self { average, months, sold }
    }
}

/// Twelve thousand times the sales of a month without seasons, as a part of those of an average month.
fn trend(plan: &Plan, month: u64) -> u64 {
    let growth = plan.industry.growth_percent + plan.key.with("growth").below(7);
    // The average of the year is one: half of the months are below it.
    12_000 + 10 * growth * month - 55 * growth
}

fn month_of(plan: &Plan, month: u64, sales: i64) -> SoldMonth {
    let key = plan.key.with("sales").at(month);
    let (sells, place) = (&plan.industry.sells, plan.tax_place());
    let invoices = (0..INVOICES_A_MONTH).map(|number| {
        let (kind, _) = plan.industry.customers.of_invoice(number);
        let draw = 85 + key.at(number).with("share").below(31);
        let net = scale(sales, kind.share * draw, 10_000 * kind.invoices);
        let what = key.at(number).with("what").below(sells.len() as u64) as usize;
        let rate = place.rate_of(sells[what].kind);
        Sold { net, tax: vat::on(net, rate), rate, what }
    });
    let invoices: Vec<Sold> = invoices.collect();
    SoldMonth { vat: invoices.iter().map(|sold| sold.tax).sum(), invoices }
}

impl SoldMonth {
    /// All sales, without tax.
    pub(crate) fn net(&self) -> i64 {
        self.invoices.iter().map(|sold| sold.net).sum()
    }
}

/// The times of the steps of an invoice, past or future.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InvoiceDays {
    pub(crate) sent: Date,
    /// `None` if the customer never pays.
    pub(crate) paid: Option<Date>,
    pub(crate) settled: Option<Date>,
}

impl InvoiceDays {
    /// The times for an invoice of history.
    pub(crate) fn of(layout: &Layout, plan: &Plan, month: u64, number: u64) -> Self {
        let key = plan.key.with("payer").at(month).at(number);
        let sent = layout.period(month).day(2 + 3 * number as i8).or_business_day_after();
        let (kind, _) = plan.industry.customers.of_invoice(number);
        let draw = key.with("habit").below(100);
        let [soonest, latest] = kind.pays;
        let (from, spread) =
            if draw < kind.never + kind.late { LATE } else { (soonest, latest - soonest + 1) };
        let days = (from + key.below(spread)) as i32;
        let paid = (draw >= kind.never).then(|| sent.plus_days(days).or_business_day_after());
        Self { sent, paid, settled: paid.map(|paid| paid.plus_business_days(1)) }
    }
}
