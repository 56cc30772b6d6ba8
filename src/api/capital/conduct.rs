//! How a company has behaved: payroll and taxes of the last 365 days, and its loans. Runs, returns and liabilities are counted; no
//! payout, payslip or entry is looked at.

use std::sync::Arc;

use crate::model::business::company::Company;
use crate::model::business::payroll_run::{PayrollRun, RunStatus, RunType};
use crate::model::business::tax_filing::{FilingStatus, TaxFiling};
use crate::model::business::tax_liability::{LiabilityStatus, TaxLiability};
use crate::model::capital::loan::{Loan, LoanStatus};
use crate::value::time::{Date, Period};
use crate::world::World;
use crate::world::base::HISTORY_MONTHS;
use crate::world::grow::Grow;

/// Business days after the pay date within which wages have to arrive.
const PAY_DAYS: u32 = 2;
/// What a loan that defaulted counts as, in late instalments.
const DEFAULT_COUNTS: i64 = 10;

/// How regular payroll went, by id; missed months by their period.
#[derive(Debug, Default)]
pub(crate) struct PayrollConduct {
    /// Runs that were paid in time.
    pub(crate) in_time: i64,
    /// Runs that were late or whose funding failed, and months without one.
    pub(crate) late: Vec<String>,
}

/// How taxes were dealt with, by id.
#[derive(Debug, Default)]
pub(crate) struct TaxConduct {
    /// Returns that were accepted and in time.
    pub(crate) filed: i64,
    /// What was late, or is overdue.
    pub(crate) late: Vec<String>,
    /// What is overdue.
    pub(crate) overdue: Vec<String>,
}

/// How loans were paid back.
#[derive(Debug, Default)]
pub(crate) struct LoanConduct {
    /// Late instalments, and ten for every default.
    pub(crate) late: i64,
    pub(crate) repaid: i64,
    /// Loans that were late, by id.
    pub(crate) late_loans: Vec<String>,
    pub(crate) is_late: bool,
    pub(crate) has_defaulted: bool,
}

/// Those of a company that were grown, one a month, and those made since.
fn of_company<T: Grow>(world: &World, company: &Company) -> Vec<Arc<T>> {
    let base = world.base();
    let grown = base.index_of(company.id).into_iter().flat_map(|index| {
        (0..HISTORY_MONTHS).filter_map(move |month| world.at::<T>(base.run(month, index)))
    });
    let since = world.children::<T>(company.id.bits());
    grown
        .chain(since.filter_map(|id| world.find(id)))
        .filter(|one| one.company() == company.id)
        .collect()
}

/// How the regular payroll that fell due from `since` on went.
pub(crate) fn payroll(world: &World, company: &Company, since: Date) -> PayrollConduct {
    let today = world.today();
    let calendar = world.calendar_of(company.id);
    let limit = |pay_date| calendar.plus_business_days(pay_date, PAY_DAYS);
    let runs: Vec<Arc<PayrollRun>> = of_company(world, company);
    let regular = runs.iter().filter(|run| {
        let never = matches!(run.status, RunStatus::Cancelled | RunStatus::Reversed);
        run.kind == RunType::Regular && run.reverses.is_none() && !never
    });
    let regular: Vec<&Arc<PayrollRun>> = regular.collect();
    let mut conduct = PayrollConduct::default();
    for run in regular.iter().filter(|run| run.pay_date >= since) {
        let entered = |status| {
            let mut history = run.status_history.iter();
            history.find(move |change| change.status == status)
        };
        let paid = entered(RunStatus::Paid).map(|change| change.at.date());
        let over = paid.unwrap_or(today) > limit(run.pay_date);
        if over || run.status == RunStatus::Failed || entered(RunStatus::FundingFailed).is_some() {
            conduct.late.push(run.id.to_string());
        } else if paid.is_some() {
            conduct.in_time += 1;
        }
    }
    let first = regular.iter().map(|run| run.period).min();
    let Some(first) = first else {
        return conduct;
    };
    let pay_day = |period: Period| {
        calendar.or_business_day_before(period.day(company.payroll_settings.pay_day))
    };
    let mut period = first
        .max(since.period())
        .plus_months(i32::from(first >= since.period()));
    while limit(pay_day(period)) < today {
        let day = pay_day(period);
        if day >= since && !regular.iter().any(|run| run.period == period) {
            conduct.late.push(period.to_string());
        }
        period = period.plus_months(1);
    }
    conduct
}

/// How the taxes that fell due from `since` on were dealt with.
pub(crate) fn taxes(world: &World, company: &Company, since: Date) -> TaxConduct {
    let today = world.today();
    let in_window = |due_on: Option<Date>| due_on.is_some_and(|day| day >= since);
    let mut conduct = TaxConduct::default();
    let filings: Vec<Arc<TaxFiling>> = of_company(world, company);
    for filing in filings.iter().filter(|filing| in_window(filing.due_on)) {
        let sent = !matches!(filing.status, FilingStatus::Pending | FilingStatus::Blocked);
        // What runs owe is counted by liability.
        let alone = filing.tax_liability_ids.is_empty();
        if !sent && alone && filing.due_on.is_some_and(|day| day < today) {
            conduct.late.push(filing.id.to_string());
            conduct.overdue.push(filing.id.to_string());
        } else if filing.status == FilingStatus::Filed && !filing.late {
            conduct.filed += 1;
        }
    }
    let runs = world.children::<PayrollRun>(company.id.bits());
    let liabilities = runs.flat_map(|run| world.children::<TaxLiability>(run.bits()));
    for liability in liabilities.filter_map(|id| world.find(id)) {
        let mut history = liability.status_history.iter();
        let was_late = history.any(|change| change.status == LiabilityStatus::Late);
        if !was_late || liability.status == LiabilityStatus::Void || !in_window(liability.due_on) {
            continue;
        }
        conduct.late.push(liability.id.to_string());
        if liability.status == LiabilityStatus::Late {
            conduct.overdue.push(liability.id.to_string());
        }
    }
    conduct
}

/// How the company's loans were paid back.
pub(crate) fn loans(world: &World, company: &Company) -> LoanConduct {
    let mut conduct = LoanConduct::default();
    let loans = world.children::<Loan>(company.id.bits());
    for loan in loans.filter_map(|id| world.find(id)) {
        let defaulted = loan.status == LoanStatus::Defaulted;
        let late = i64::from(loan.late_instalments) + i64::from(defaulted) * DEFAULT_COUNTS;
        conduct.late += late;
        conduct.repaid += i64::from(loan.status == LoanStatus::Repaid);
        conduct.is_late |= loan.status == LoanStatus::Late;
        conduct.has_defaulted |= defaulted;
        if late > 0 {
            conduct.late_loans.push(loan.id.to_string());
        }
    }
    conduct
}
