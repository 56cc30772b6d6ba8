//! The tax returns of a grown company for a month of its history: one for each authority, each with its own due day.

use crate::model::Account;
use crate::model::business::tax_return::DueTo;
use crate::model::business::{Authority, tax_return};
use crate::model::calendar::Calendar;
use crate::model::payments::vat::{self, Return};
use crate::model::payroll::{self, Role};
use crate::value::{Date, Period};
use crate::world::layout::{FILINGS_A_MONTH, HISTORY_MONTHS, Layout, Plan};

/// The day of the next month for payments without a due date in the pack.
const USUAL_DAY: i8 = 9;
/// Companies file and pay some business days before the due day.
const BEFORE_DUE: u32 = 2;

/// One return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obligation {
    pub(crate) due: DueTo,
    pub(crate) form: Option<&'static str>,
    /// The month of the pay, or the last month of a longer return period.
    pub(crate) period: Period,
    /// The last day to file and pay, if the pack has one.
    pub(crate) due_on: Option<Date>,
    /// The day on which the company files and pays.
    pub(crate) paid_on: Date,
}

/// The returns of a company of that country for a month of history: the forms of its payroll pack whose period ends
/// with the month, then tax on sales.
pub(crate) fn returns(layout: &Layout, plan: &Plan, month: u64) -> Vec<DueTo> {
    let (country, paid_on) = (plan.country.code, last_paid_on(layout, plan, month));
    let pack = payroll::library().in_force(country, paid_on.civil()).pack;
    let lines = pack.lines().iter().filter(|line| line.role != Role::EmployeeDeduction);
    let of_payroll = lines.map(|line| DueTo {
        account: Authority::of_line(&line.id, line.authority.as_deref()).account(),
        form: line.form.as_deref(),
    });
    let mut returns: Vec<DueTo> = Vec::new();
    for due in of_payroll.chain([SALES_TAX]) {
        if !returns.contains(&due) && months(layout, country, month, due).is_some() {
            returns.push(due);
        }
    }
    assert!(returns.len() as u64 <= FILINGS_A_MONTH, "{country} has too many authorities");
    returns
}

/// Tax on sales. Its form is that of the country's return.
pub(crate) const SALES_TAX: DueTo =
    DueTo { account: Account::TaxPayable(Authority::VAT), form: None };

/// One of the returns.
pub(crate) fn obligation(layout: &Layout, plan: &Plan, month: u64, due: DueTo) -> Obligation {
    let country = plan.country.code;
    let period = last_month(layout, country, month, due);
    let pay_date = last_paid_on(layout, plan, month);
    let (form, due_on) = if due == SALES_TAX {
        let filed = Return::of(country);
        (filed.form.as_deref(), Some(filed.due_on(country, period)))
    } else {
        let code = tax_return::code_of(due.account);
        tax_return::of(country, code, due.form, pay_date).unzip()
    };
    let paid_on = match due_on {
        Some(day) => Calendar::of(country).minus_business_days(day, BEFORE_DUE),
        None => period.plus_months(1).day(USUAL_DAY).or_business_day_before(),
    };
    Obligation { due, form, period, due_on, paid_on }
}

/// The last pay date of a company in a month of history.
pub(crate) fn last_paid_on(layout: &Layout, plan: &Plan, month: u64) -> Date {
    let month = layout.period(month);
    let paid = plan.pays.pays().rev().map(|pay| layout.pay(pay).pay_date);
    let mut of_month = paid.filter(|day| day.period() == month);
    of_month.next().unwrap_or_else(|| layout.pay_date(month))
}

/// The last month of the period that a return with this month covers.
fn last_month(layout: &Layout, country: &str, month: u64, due: DueTo) -> Period {
    let month = layout.period(month);
    if due == SALES_TAX {
        return Return::of(country).period_of(month);
    }
    tax_return::last_month(country, tax_return::code_of(due.account), due.form, month)
}

/// The months of history that a return for this month declares; `None` if the month is not the last of its period.
/// The last return of a history can cover a part of its period; later calls declare the rest.
pub(crate) fn months(
    layout: &Layout,
    country: &str,
    month: u64,
    due: DueTo,
) -> Option<core::ops::RangeInclusive<u64>> {
    if due == SALES_TAX && vat::standard(country) == 0 {
        return None;
    }
    let end = |month| last_month(layout, country, month, due);
    let closes = end(month) == layout.period(month) || month == HISTORY_MONTHS - 1;
    let first = (0..=month).rev().take_while(|earlier| end(*earlier) == end(month)).last();
    first.filter(|_| closes).map(|first| first..=month)
}
