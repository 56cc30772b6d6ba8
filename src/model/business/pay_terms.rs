//! Pay terms over time: the terms in force on a day, monthly allowances and deductions, and totals from earlier in the tax year.

use std::collections::BTreeMap;

use crate::model::business::Proration;
use crate::model::business::employer_part::{EmployerPart, Paid};
use crate::model::payroll::{Pack, PayPeriod};
use crate::model::prelude::*;

/// The interval that an amount of pay covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PayInterval {
    Month,
    Year,
    Hour,
}

/// Pay terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Compensation {
    /// Gross pay for one interval, in minor units.
    pub(crate) amount: i64,
    /// The currency of every amount in the terms.
    pub(crate) currency: Currency,
    /// The interval. A yearly amount is paid in twelve equal parts. For an hourly amount, a month has one twelfth of 52 weeks of 40 hours.
    pub(crate) interval: PayInterval,
    /// The parts of a month's gross pay, in minor units. Their sum is the gross pay.
    pub(crate) components: Vec<Component>,
    /// The first day on which the terms apply.
    pub(crate) effective_from: Date,
    /// The day on which the terms were set; absent if unknown, as for employees hired before the world's start.
    #[serde(rename = "recorded_on", default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<Date>,
    /// Taxable additions to gross pay; each amount is for one month.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowances: Vec<Allowance>,
    /// Deductions from pay; each amount is for one month.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) deductions: Vec<Deduction>,
}

/// One part of a month's gross pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PayComponent")]
pub(crate) struct Component {
    /// The payroll pack's name for the part: `basic`, `housing`, `transport` …
    pub(crate) id: String,
    /// Amount in minor units for one month.
    pub(crate) amount: i64,
}

impl Compensation {
    /// A month's gross pay in minor units; half a unit is rounded up.
    pub(crate) fn monthly(amount: i64, interval: PayInterval) -> i64 {
        let (times, divisor) = match interval {
            PayInterval::Month => (1, 1),
            PayInterval::Year => (1, 12),
            PayInterval::Hour => (52 * 40, 12),
        };
        let twice = i128::from(amount) * times * 2 + divisor;
        i64::try_from(twice / (divisor * 2)).unwrap_or(i64::MAX)
    }
}

/// The amount of a month for some days of a pay period, with `per_year` pay periods in a year. Half a minor unit is
/// rounded up.
pub(crate) fn part_of(amount: i64, (share, per_year): (Proration, u32)) -> i64 {
    if share.paid_days == share.days && per_year == 12 {
        return amount;
    }
    let paid = i128::from(share.paid_days) * 12;
    let days = i128::from(share.days.max(1)) * i128::from(per_year);
    let twice = i128::from(amount) * paid * 2 + days;
    i64::try_from(twice.div_euclid(days * 2)).expect("a part is no more than the whole")
}

/// A monthly amount in addition to gross pay. It is taxable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Allowance {
    /// The id of the line, unique in the list.
    pub(crate) id: String,
    /// The name of the line on the payslip.
    pub(crate) label: String,
    /// Amount in minor units for one month.
    pub(crate) amount: i64,
}

/// Whether a deduction is taken before or after taxes are calculated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeductionTiming {
    PreTax,
    PostTax,
}

/// An amount or a rate that is deducted from pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Deduction {
    /// The id of the line, unique in the list.
    pub(crate) id: String,
    /// The name of the line on the payslip.
    pub(crate) label: String,
    /// Amount in minor units for one month; 0 if `rate_bp` sets the amount.
    pub(crate) amount: i64,
    /// A part of the pay of each pay period, in basis points, instead of an amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rate_bp: Option<i64>,
    /// The earnings to which the rate applies, by their name in the payroll pack; absent for all pay in money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) earnings: Option<String>,
    /// Whether the deduction is taken before or after taxes.
    pub(crate) timing: DeductionTiming,
    /// The type of the deduction in the payroll pack, which decides what it reduces.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// The minimum net pay, in minor units, that the deduction leaves to the employee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) protected: Option<i64>,
    /// The maximum sum of deductions of this type in a tax year, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) annual_limit: Option<i64>,
    /// What the employer adds to the deduction; absent if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) employer: Option<EmployerPart>,
}

impl Deduction {
    /// The percentage rule of the deduction, if it has a rate.
    pub(crate) fn rate(&self) -> Option<EmployerPart> {
        let (rate_bp, earnings) = (self.rate_bp, self.earnings.clone());
        rate_bp.is_some().then(|| EmployerPart { rate_bp, earnings, ..EmployerPart::default() })
    }

    /// The amount deducted from a month's pay.
    pub(crate) fn of_month(&self, pack: &'static Pack, gross: i64) -> i64 {
        let paid = Paid { pack, period: PayPeriod::Monthly, gross, before: 0 };
        self.rate().map_or(self.amount, |part| part.amount_of(0, paid))
    }
}

/// What an employee was paid in a tax year before this employer's payroll started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EarlierPayTotals")]
pub(crate) struct BroughtIn {
    /// The first day of the tax year that the totals belong to. They have no effect in another year.
    pub(crate) tax_year_start: Date,
    /// Totals in minor units, by the names used in a payslip's `ytd`. `net` is absent because it follows from the others.
    pub(crate) totals: BTreeMap<String, i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_month_rounds_half_up_and_all_of_it_is_exact() {
        let share = |paid_days, days| Proration { paid_days, days };
        assert_eq!(part_of(100, (share(1, 8), 12)), 13);
        assert_eq!(part_of(300_001, (share(22, 22), 12)), 300_001);
        assert_eq!(part_of(300_000, (share(0, 22), 12)), 0);
        assert_eq!(part_of(i64::MAX, (share(21, 22), 12)), 8_804_127_853_361_376_907);
        assert_eq!(part_of(433_333, (share(10, 10), 26)), 200_000);
        assert_eq!(part_of(433_333, (share(1, 5), 52)), 20_000);
    }

    #[test]
    fn a_months_pay_rounds_half_up() {
        assert_eq!(Compensation::monthly(100, PayInterval::Month), 100);
        assert_eq!(Compensation::monthly(1_000, PayInterval::Year), 83);
        assert_eq!(Compensation::monthly(1_002, PayInterval::Year), 84);
        assert_eq!(Compensation::monthly(1_271, PayInterval::Hour), 220_307);
    }
}
