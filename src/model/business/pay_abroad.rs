//! Pay in another currency than the company's: its value in the run's currency, and the cost of sending it.
//!
//! Earnings and deductions are valued at the reference rate of the calculation day. The net pay is converted at a quoted rate; the
//! difference in cost is a fee.

use crate::model::business::Calculation;
use crate::model::business::tax_return::DueTo;
use crate::model::fx_quoting::Rate;
use crate::model::prelude::*;

/// The currency conversion of pay that is not in the company's currency. The rates are the rates of the calculation day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PayConversion {
    /// The company's currency.
    pub(crate) source_currency: Currency,
    /// Amount debited from the company's wallet to send the net pay, in minor units.
    pub(crate) source_amount: i64,
    /// The net pay, in minor units of the employee's currency.
    pub(crate) target_amount: i64,
    /// Units of the employee's currency for one unit of the company's: the reference rate that the run uses.
    pub(crate) mid_rate: Rate,
    /// The reference rate less the spread. The net pay is converted at this rate.
    pub(crate) rate: Rate,
    /// The part of the source amount that is a fee, in minor units: the cost of the spread.
    pub(crate) fee_amount: i64,
}

impl PayConversion {
    /// Converts a net pay in that currency.
    pub(crate) fn of(
        net: i64,
        pays_in: Currency,
        company: Currency,
        mid_rate: Rate,
        spread_bp: u32,
    ) -> Self {
        let rate = mid_rate.less(spread_bp);
        let value = minor(mid_rate.needed(net, company, pays_in));
        let source_amount = if net > 0 {
            minor(rate.needed(net, company, pays_in)).max(value)
        } else {
            value // no payment is made
        };
        Self {
            source_currency: company,
            source_amount,
            target_amount: net,
            mid_rate,
            rate,
            fee_amount: source_amount - value,
        }
    }

    /// The conversion of one part of the net pay; `before` is the sum of the earlier parts. The parts add up to the
    /// whole conversion.
    pub(crate) fn part(&self, before: i64, amount: i64) -> Self {
        let share = |total: i64, of: i64| {
            let product = i128::from(total) * i128::from(of);
            minor(product / i128::from(self.target_amount.max(1)))
        };
        let between = |total| share(total, before + amount) - share(total, before);
        Self {
            source_amount: between(self.source_amount),
            target_amount: amount,
            fee_amount: between(self.fee_amount),
            ..*self
        }
    }

    /// The net pay in the run's currency.
    pub(crate) const fn value(&self) -> i64 {
        self.source_amount - self.fee_amount
    }

    /// The same conversion with signs reversed. It cancels the original.
    pub(crate) const fn negated(self) -> Self {
        Self {
            source_amount: -self.source_amount,
            target_amount: -self.target_amount,
            fee_amount: -self.fee_amount,
            ..self
        }
    }

    /// A part of the pay in the run's currency.
    pub(crate) fn valued(&self, amount: i64, pays_in: Currency) -> i64 {
        minor(self.mid_rate.needed(amount, self.source_currency, pays_in))
    }
}

/// The amounts payable to third parties, converted if the run has another currency.
pub(super) fn owed(
    pay: &Calculation,
    pays_in: Currency,
    by: Option<&PayConversion>,
) -> impl Iterator<Item = (DueTo, i64)> {
    let valued = move |amount| by.map_or(amount, |by| by.valued(amount, pays_in));
    pay.owed().map(move |(party, amount)| (party, valued(amount)))
}

fn minor(amount: i128) -> i64 {
    i64::try_from(amount).expect("pay is bounded where it is set, in every currency with a rate")
}

/// One employee's pay in the run's currency.
#[derive(Clone, Debug)]
pub(crate) struct PayValue {
    pub(crate) gross: i64,
    pub(crate) taxes: i64,
    pub(crate) employee_contributions: i64,
    /// Taxes, contributions and benefits.
    pub(crate) employer_contributions: i64,
    pub(crate) employer_benefits: i64,
    pub(crate) deductions: i64,
    pub(crate) reimbursed: i64,
    pub(crate) net: i64,
}

impl PayValue {
    /// The pay in the run's currency. Each part is rounded on its own. Taxes and gross pay then follow from the
    /// parts, so that earnings equal payments plus deductions.
    pub(crate) fn of(pay: &Calculation, pays_in: Currency, by: Option<&PayConversion>) -> Self {
        let valued = |amount| by.map_or(amount, |by| by.valued(amount, pays_in));
        let by_law = valued(pay.employer_contributions);
        let employer_benefits = valued(pay.employer_benefits());
        let mut value = Self {
            gross: pay.gross,
            taxes: pay.taxes,
            employee_contributions: valued(pay.employee_contributions),
            employer_contributions: by_law + employer_benefits,
            employer_benefits,
            deductions: valued(pay.deductions()),
            reimbursed: valued(pay.reimbursed()),
            net: valued(pay.net),
        };
        if by.is_some() {
            let withheld: i64 = owed(pay, pays_in, by).map(|(_, amount)| amount).sum();
            value.taxes = withheld - value.employee_contributions - by_law;
            value.gross = value.net + value.deductions - value.reimbursed
                + value.taxes
                + value.employee_contributions;
        }
        value
    }
}
