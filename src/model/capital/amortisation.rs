//! Amortisation in whole minor units. The instalment is equal every month, and each month's interest is rounded half
//! to even. The last instalment takes the remainder, so that the principal sums exactly.

use crate::model::capital::natural::Natural;
use crate::model::fx::half_even;
use crate::value::Date;

/// Basis points in 100 %, times twelve months.
const YEAR: i128 = 120_000;

/// One month of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Month {
    pub(crate) due_on: Date,
    pub(crate) principal: i64,
    pub(crate) interest: i64,
    /// The balance after it.
    pub(crate) balance: i64,
}

/// The monthly payment: the annuity P·r·gⁿ ÷ (gⁿ − 1), rounded down. The last instalment is slightly larger.
pub(crate) fn instalment(principal: i64, rate_bp: i64, months: usize) -> i64 {
    let [principal, rate, year] = [principal.into(), rate_bp.into(), YEAR].map(unsigned);
    if rate == 0 {
        return narrow(i128::from(principal) / months.max(1) as i128);
    }
    let power = |of: u64| (0..months).fold(Natural::from(1), |power, _| power.times(of));
    let (grown, whole) = (power(year + rate), power(year));
    // The largest payment for which payment × (grown − whole) × year ≤ principal × rate × grown.
    let most = grown.times(principal).times(rate);
    let unit = grown.minus(&whole).times(year);
    let (mut paid, mut too_much) = (0, principal * 2 + 1);
    while too_much - paid > 1 {
        let middle = paid.midpoint(too_much);
        if unit.times(middle) <= most { paid = middle } else { too_much = middle }
    }
    narrow(paid.into())
}

fn unsigned(number: i128) -> u64 {
    u64::try_from(number).expect("amounts and rates of a loan are not negative")
}

/// One month's interest on a balance.
pub(crate) fn interest(balance: i64, rate_bp: i64) -> i64 {
    narrow(half_even(i128::from(balance) * i128::from(rate_bp), YEAR))
}

/// The part of a month's interest that has accrued after a number of its days.
pub(crate) fn accrued(interest: i64, days: i32, of: i32) -> i64 {
    if of <= 0 || days >= of {
        return interest;
    }
    let days = i128::from(days.max(0));
    narrow(half_even(i128::from(interest) * days, i128::from(of)))
}

/// The months of a loan that is repaid on those days.
pub(crate) fn schedule(principal: i64, rate_bp: i64, days: &[Date]) -> Vec<Month> {
    let instalment = instalment(principal, rate_bp, days.len());
    let mut balance = principal;
    let last = days.len();
    let months = (1..).zip(days).map(|(number, &due_on)| {
        let interest = interest(balance, rate_bp);
        let principal =
            if number == last { balance } else { (instalment - interest).clamp(0, balance) };
        balance -= principal;
        Month { due_on, principal, interest, balance }
    });
    months.collect()
}

/// The same day of each month after `start`, or the last day of a shorter month.
pub(crate) fn due_days(start: Date, months: u32) -> Vec<Date> {
    let day = start.civil().day();
    let months = i32::try_from(months).unwrap_or(i32::MAX);
    let of_month = |ahead| start.period().plus_months(ahead).day(day);
    (1..=months).map(of_month).collect()
}

fn narrow(amount: i128) -> i64 {
    i64::try_from(amount).expect("a loan is at most 10^15, and a month of it is less")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Amount, Key};

    fn days(months: u32) -> Vec<Date> {
        due_days(Date::new(2026, 1, 31).expect("a day"), months)
    }

    #[test]
    fn an_annuity_matches_the_published_formula() {
        // 10,000.00 at 12 % over 12 months: 888.48 per month by the standard formula.
        assert_eq!(instalment(1_000_000, 1_200, 12), 88_848);
        let months = schedule(1_000_000, 1_200, &days(12));
        assert_eq!((months[0].interest, months[0].principal), (10_000, 78_848));
        assert_eq!(months[11].balance, 0);
        let interest: i64 = months.iter().map(|month| month.interest).sum();
        assert_eq!(interest, 66_186);
    }

    #[test]
    fn the_annuity_of_a_large_loan_is_exact() {
        // Computed with fractions.
        assert_eq!(instalment(397_978_458_840_600, 900, 5), 81_395_515_719_927);
        assert_eq!(instalment(Amount::MAX, 1, 60), 16_670_903_124_902);
        assert_eq!(instalment(Amount::MAX, 3_100, 60), 32_970_317_144_774);
        assert_eq!(instalment(120_000, 1_200, 1), 121_200, "an exact payment is not rounded");
        assert_eq!(instalment(1, 3_100, 60), 0);
    }

    #[test]
    fn instalments_fall_on_the_same_day_or_the_last_of_a_shorter_month() {
        let shown: Vec<String> = days(3).iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["2026-02-28", "2026-03-31", "2026-04-30"]);
    }

    #[test]
    fn principal_sums_exactly_for_every_amount_and_rate() {
        let key = Key::new(7);
        for case in 0..2_000 {
            let key = key.at(case);
            let size = 10_u64.pow(u32::try_from(key.with("size").below(16)).expect("small"));
            let amount = i64::try_from(key.with("amount").below(size) + 1).expect("small");
            let rate = i64::try_from(key.with("rate").below(3_200)).expect("small");
            let months = u32::try_from(key.with("months").below(60) + 1).expect("small");
            let rows = schedule(amount, rate, &days(months));
            let principal: i64 = rows.iter().map(|row| row.principal).sum();
            assert_eq!(principal, amount, "case {case}");
            assert_eq!(rows.last().map(|row| row.balance), Some(0), "case {case}");
            assert!(rows.iter().all(|row| row.principal >= 0 && row.interest >= 0));
        }
    }

    #[test]
    fn the_largest_loan_is_calculated_without_overflow() {
        let rows = schedule(Amount::MAX, 3_100, &days(60));
        let principal: i64 = rows.iter().map(|row| row.principal).sum();
        assert_eq!(principal, Amount::MAX);
        let (first, last) = (&rows[0], &rows[59]);
        let drift = last.principal + last.interest - first.principal - first.interest;
        assert!(drift.abs() < 10_000, "{drift}");
    }

    #[test]
    fn interest_accrues_by_the_day_and_is_whole_at_the_end() {
        assert_eq!(accrued(310, 0, 31), 0);
        assert_eq!(accrued(310, 10, 31), 100);
        assert_eq!(accrued(310, 31, 31), 310);
        assert_eq!(accrued(310, 5, 0), 310);
    }
}
