//! Paid leave that accrues: a number of days a year, a twelfth with each whole month. Days are counted in hundredths.
//!
//! Deliberately absent: stored balances. A balance follows from the setting and the leave taken.

use crate::model::business::{Compensation, Employee, EmploymentType};
use crate::model::prelude::*;

/// Days of paid leave that accrue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaidLeave {
    /// Working days a year.
    pub(crate) days_per_year: i64,
    /// The first day of the accrual. An employee who starts later accrues from the first day of work.
    pub(crate) accrues_from: Date,
    /// Days that an employee had on that day, in hundredths of a day.
    pub(crate) opening_hundredths: i64,
}

/// Working days of a year: 52 weeks of five days.
const WORKING_DAYS: i128 = 52 * 5;

impl PaidLeave {
    /// The employee's own setting, or else the company's. The company's opening days do not apply to employees who
    /// start later.
    pub(crate) fn of(company: &Company, employee: &Employee) -> Option<Self> {
        if employee.employment_type == EmploymentType::Contractor {
            return None;
        }
        let own = employee.paid_leave;
        let plan = own.or(company.payroll_settings.paid_leave)?;
        let begins = plan.accrues_from.max(employee.start_date);
        let counts = own.is_some() || begins == plan.accrues_from;
        let opening = if counts { plan.opening_hundredths } else { 0 };
        Some(Self { accrues_from: begins, opening_hundredths: opening, ..plan })
    }

    /// The leave accrued by the end of a day, in hundredths of a day, rounded down.
    pub(crate) fn accrued(&self, day: Date) -> i64 {
        let (begins, ends) = (self.accrues_from, day.plus_days(1));
        let months = ends.period().months_since(begins.period());
        let whole = begins.period().plus_months(months).day(begins.civil().day());
        let months = i64::from(if whole <= ends { months } else { months - 1 }).max(0);
        self.days_per_year * 100 * months / 12
    }
}

/// The pay for unused days of leave. A day is paid as a year's pay divided by 260; half a unit is rounded up.
pub(crate) fn pay_of(terms: &Compensation, hundredths: i64) -> i64 {
    let allowances: i64 = terms.allowances.iter().map(|it| it.amount).sum();
    let month = Compensation::monthly(terms.amount, terms.interval) + allowances;
    let below = WORKING_DAYS * 100;
    let twice = i128::from(month) * 12 * i128::from(hundredths) * 2 + below;
    i64::try_from(twice.div_euclid(below * 2)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accrued(days_per_year: i64, from: &str, day: &str) -> i64 {
        let accrues_from = from.parse().expect("a day");
        let leave = PaidLeave { days_per_year, accrues_from, opening_hundredths: 0 };
        leave.accrued(day.parse().expect("a day"))
    }

    #[test]
    fn a_twelfth_accrues_with_each_whole_month() {
        assert_eq!(accrued(20, "2026-01-01", "2026-01-30"), 0);
        assert_eq!(accrued(20, "2026-01-01", "2026-01-31"), 166);
        assert_eq!(accrued(20, "2026-01-01", "2026-12-31"), 2_000);
        assert_eq!(accrued(28, "2026-01-15", "2026-02-13"), 0);
        assert_eq!(accrued(28, "2026-01-15", "2026-02-14"), 233);
        assert_eq!(accrued(12, "2026-01-31", "2026-02-27"), 100);
        assert_eq!(accrued(12, "2026-06-01", "2026-01-01"), 0);
    }
}
