//! The cost of a run by the months of its pay period.

use super::RunCost;
use crate::value::Period;

impl RunCost {
    /// The cost by month, in proportion to each month's working days: wages, fees and employer costs, rounded towards
    /// zero. The last month gets the remainder and the amounts payable to third parties; earlier months have accrued
    /// wages instead. `rest` is the cost of the run's other items, so that the parts of several reversals add up to
    /// those of the whole run.
    pub(crate) fn by_month(&self, months: &[(Period, u32)], rest: &Self) -> Vec<(Period, Self)> {
        let days = months.iter().map(|(_, days)| days).sum();
        let mut left = self.clone();
        let mut parts = Vec::with_capacity(months.len());
        for (place, &(month, of_month)) in months.iter().enumerate() {
            if place + 1 == months.len() {
                parts.push((month, left));
                break;
            }
            let part = |own: i64, rest: i64| {
                share(own + rest, of_month, days) - share(rest, of_month, days)
            };
            let (gross, fees) = (part(self.gross, rest.gross), part(self.fees, rest.fees));
            let contributions = part(self.employer_contributions, rest.employer_contributions);
            let net = gross + contributions;
            left.gross -= gross;
            left.fees -= fees;
            left.employer_contributions -= contributions;
            left.net -= net;
            left.net_fees -= fees;
            let employer_contributions = contributions;
            let earned = Self {
                gross,
                fees,
                employer_contributions,
                net,
                net_fees: fees,
                ..Self::default()
            };
            parts.push((month, earned));
        }
        parts
    }
}

/// The part of an amount for some of the days, rounded towards zero.
fn share(amount: i64, part: u32, days: u32) -> i64 {
    let share = i128::from(amount) * i128::from(part) / i128::from(days);
    i64::try_from(share).expect("a part is no more than the whole")
}
