//! Pay in another currency than the company's: what it comes to in the run's, and what it takes to send it.
//!
//! What is earned and withheld is valued at the reference rate of the day on which it was calculated. The net pay is converted at
//! the rate of a quote; what that costs more is a fee.

use crate::model::Account;
use crate::model::business::Calculation;
use crate::model::fx_quoting::Rate;
use crate::model::prelude::*;

/// The conversion behind pay in another currency than the company's. Its rates are those of the day of the calculation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PayConversion {
    /// The company's currency.
    pub(crate) source_currency: Currency,
    /// What sending the net pay takes out of the company's wallet, in minor units.
    pub(crate) source_amount: i64,
    /// The net pay, in minor units of the employee's currency.
    pub(crate) target_amount: i64,
    /// Units of the employee's currency for one of the company's: the reference rate, at which the run counts this pay.
    pub(crate) mid_rate: Rate,
    /// The same less the spread: the rate at which the net pay is converted.
    pub(crate) rate: Rate,
    /// The part of the source amount that is a fee: what the spread comes to.
    pub(crate) fee_amount: i64,
}

impl PayConversion {
    /// The conversion of a net pay in that currency.
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
            value // nothing is sent
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

    /// The net pay as the run counts it.
    pub(crate) const fn value(&self) -> i64 {
        self.source_amount - self.fee_amount
    }

    /// The same the other way round: what takes it back.
    pub(crate) const fn negated(self) -> Self {
        Self {
            source_amount: -self.source_amount,
            target_amount: -self.target_amount,
            fee_amount: -self.fee_amount,
            ..self
        }
    }

    /// A part of the pay as the run counts it.
    pub(crate) fn valued(&self, amount: i64, pays_in: Currency) -> i64 {
        minor(self.mid_rate.needed(amount, self.source_currency, pays_in))
    }
}

fn minor(amount: i128) -> i64 {
    i64::try_from(amount).expect("pay is bounded where it is set, in every currency with a rate")
}

/// One employee's pay in the currency of the run.
#[derive(Clone, Debug)]
pub(crate) struct PayValue {
    pub(crate) gross: i64,
    pub(crate) taxes: i64,
    pub(crate) employee_contributions: i64,
    pub(crate) employer_contributions: i64,
    pub(crate) deductions: i64,
    pub(crate) reimbursed: i64,
    pub(crate) net: i64,
    /// By account: what others than the employee are owed.
    pub(crate) owed: Vec<(Account, i64)>,
}

impl PayValue {
    /// The pay as it is, or valued. Each part is rounded by itself; taxes and gross pay then follow from the others, so that what
    /// is earned still equals what is paid out and withheld.
    pub(crate) fn of(pay: &Calculation, pays_in: Currency, by: Option<&PayConversion>) -> Self {
        let valued = |amount| by.map_or(amount, |by| by.valued(amount, pays_in));
        let owed: Vec<(Account, i64)> =
            pay.owed().map(|(account, amount)| (account, valued(amount))).collect();
        let mut value = Self {
            gross: pay.gross,
            taxes: pay.taxes,
            employee_contributions: valued(pay.employee_contributions),
            employer_contributions: valued(pay.employer_contributions),
            deductions: valued(pay.deductions()),
            reimbursed: valued(pay.reimbursed()),
            net: valued(pay.net),
            owed,
        };
        if by.is_some() {
            let withheld: i64 = value.owed.iter().map(|(_, amount)| amount).sum();
            value.taxes = withheld - value.employee_contributions - value.employer_contributions;
            value.gross = value.net + value.deductions - value.reimbursed
                + value.taxes
                + value.employee_contributions;
        }
        value
    }
}
