//! A company's conduct: payroll and taxes of the last 365 days, and its loans. Only runs, filings and liabilities are read; no payouts,
//! payslips or entries.

use std::collections::BTreeSet;

use crate::api::business::pay_periods::{due_by, schedules};
use crate::api::business::payroll::grown_runs;
use crate::api::business::{filing_history, tax_liabilities};
use crate::api::prelude::*;
use crate::model::business::pay_schedule::ending_in;
use crate::model::business::{
    FilingStatus, LiabilityStatus, PaySchedule, PaySpan, PayrollRun, RunStatus, RunType, TaxFiling,
    TaxLiability, tax_return,
};
use crate::model::calendar::Calendar;
use crate::model::capital::{Loan, LoanStatus};

/// Number of business days after the pay date within which wages must arrive.
const PAY_DAYS: u32 = 2;
/// The number of late instalments that a default counts as.
const DEFAULT_COUNTS: i64 = 10;

/// The company's regular payroll; late ones by id, missing pay periods by their days.
#[derive(Debug, Default)]
pub(crate) struct PayrollConduct {
    /// Number of runs that were paid in time.
    pub(crate) in_time: i64,
    /// Runs that were late or whose funding failed, and pay periods without a run.
    pub(crate) late: Vec<String>,
    /// Past pay days without wages in the books.
    pub(crate) unbooked: Vec<Date>,
    /// The cost of the most expensive pay period.
    pub(crate) cost: i128,
}

/// The company's taxes; late ones by id.
#[derive(Debug, Default)]
pub(crate) struct TaxConduct {
    /// Number of filings that were accepted and in time.
    pub(crate) filed: i64,
    /// Filings and liabilities that were late or are overdue.
    pub(crate) late: Vec<String>,
    /// Filings and liabilities that are overdue.
    pub(crate) overdue: Vec<String>,
}

/// The repayment of the company's loans.
#[derive(Debug, Default)]
pub(crate) struct LoanConduct {
    /// Number of late instalments, plus ten for every default.
    pub(crate) late: i64,
    pub(crate) repaid: i64,
    /// Loans that were late, by id.
    pub(crate) late_loans: Vec<String>,
    pub(crate) is_late: bool,
    pub(crate) has_defaulted: bool,
}

/// The runs of a company, those before the world's start first.
fn runs_of(world: &World, company: &Company) -> Vec<Arc<PayrollRun>> {
    let since = world.children::<PayrollRun>(company.id.bits());
    grown_runs(world, company.id).chain(since.filter_map(|id| world.find(id))).collect()
}

/// A pay period whose wages were due.
struct Payday {
    span: PaySpan,
    /// The day on which they were due.
    on: Date,
    /// Whether a run of that pay period is in the books.
    is_booked: bool,
}

/// The days on which regular wages were due, by the company's settings.
struct Paydays<'a> {
    calendar: &'static Calendar,
    company: &'a Company,
    schedules: Vec<Arc<PaySchedule>>,
    /// Regular runs that were not reversed.
    runs: Vec<Arc<PayrollRun>>,
    /// The first month that was paid.
    first: Option<Period>,
    /// The day on which the world started.
    start: Date,
}

impl<'a> Paydays<'a> {
    fn of(world: &World, company: &'a Company) -> Self {
        let mut runs = runs_of(world, company);
        runs.retain(|run| {
            let never = matches!(run.status, RunStatus::Cancelled | RunStatus::Reversed);
            run.kind == RunType::Regular && run.reverses.is_none() && !never
        });
        Self {
            calendar: world.calendar_of(company.id),
            company,
            schedules: schedules(world, company.id),
            first: runs.iter().map(|run| run.period).min(),
            start: world.base().shape().start.date(),
            runs,
        }
    }

    /// The last possible due day of a month's wages.
    fn last(&self, period: Period) -> Date {
        self.calendar.or_business_day_before(period.last_day())
    }

    /// The last possible due day of a pay period. Its agreed pay date can be after its month.
    fn last_of(&self, span: PaySpan) -> Date {
        let agreed = due_by(&self.schedules, self.calendar, self.company, span);
        self.last(span.period()).max(agreed)
    }

    /// Whether the deadline of a pay period had passed when the world started: no call could pay it in time. A
    /// history ends with whole months, and a world can start later in a month.
    fn began_late(&self, span: PaySpan) -> bool {
        self.limit(self.last_of(span)) < self.start
    }

    /// The due date of a run's wages: its pay date. A run created after the last possible day cannot make it later,
    /// and no run can move it beyond the following month. The first month had no agreed day, and a deadline that had
    /// passed at the start is not late.
    fn due(&self, run: &PayrollRun) -> Date {
        let last = self.last_of(run.span());
        let is_since = run.created_at.date() >= self.start;
        if Some(run.period) == self.first || (is_since && self.began_late(run.span())) {
            run.pay_date
        } else if run.created_at.date() <= last {
            run.pay_date.min(self.last(run.period.plus_months(1)))
        } else {
            run.pay_date.min(last)
        }
    }

    /// The deadline for wages that are due on a day.
    fn limit(&self, due: Date) -> Date {
        self.calendar.plus_business_days(due, PAY_DAYS)
    }

    /// The pay periods of the months after the first one whose pay day has passed.
    fn since(&self, since: Date, today: Date) -> Vec<Payday> {
        let next = self.first.map(|first| first.plus_months(1));
        let start = next.map(|next| next.max(since.period()));
        let months = (0..).map_while(|ahead| Some(start?.plus_months(ahead)));
        let spans = months.flat_map(|month| ending_in(&self.schedules, self.calendar, month));
        let paydays = spans.map(|span| {
            let mut runs = self.runs.iter();
            Payday {
                span,
                on: due_by(&self.schedules, self.calendar, self.company, span),
                is_booked: runs.any(|run| run.span() == span && is_booked(run)),
            }
        });
        let come = paydays.take_while(|payday| payday.on <= today);
        come.filter(|payday| payday.on >= since).collect()
    }
}

/// Whether a run's wages are in the books.
fn is_booked(run: &PayrollRun) -> bool {
    !matches!(
        run.status,
        RunStatus::Draft
            | RunStatus::Calculating
            | RunStatus::Calculated
            | RunStatus::PendingApproval
    )
}

/// When a run first entered a status.
fn entered(run: &PayrollRun, status: RunStatus) -> Option<Date> {
    let mut history = run.status_history.iter();
    let change = history.find(|change| change.status == status);
    change.map(|change| change.at.date())
}

/// The regular payroll due since `since`.
fn payroll(paydays: &Paydays<'_>, since: Date, today: Date) -> PayrollConduct {
    let mut conduct = PayrollConduct::default();
    let mut costs: BTreeMap<PaySpan, i128> = BTreeMap::new();
    for run in &paydays.runs {
        let due = paydays.due(run);
        if due < since {
            continue;
        }
        if let Some(totals) = run.totals.filter(|_| is_booked(run)) {
            *costs.entry(run.span()).or_default() += i128::from(totals.employer_cost);
        }
        let paid = entered(run, RunStatus::Paid);
        let over = paid.unwrap_or(today) > paydays.limit(due);
        let failed =
            run.status == RunStatus::Failed || entered(run, RunStatus::FundingFailed).is_some();
        if over || failed {
            conduct.late.push(run.id.to_string());
        } else if paid.is_some() {
            conduct.in_time += 1;
        }
    }
    conduct.cost = costs.into_values().max().unwrap_or(0);
    for payday in paydays.since(since, today) {
        let mut runs = paydays.runs.iter();
        let limit = paydays.limit(paydays.last_of(payday.span));
        let is_over = limit < today && !paydays.began_late(payday.span);
        if is_over && !runs.any(|run| run.span() == payday.span) {
            conduct.late.push(payday.span.to_string());
        }
        if !payday.is_booked {
            conduct.unbooked.push(payday.on);
        }
    }
    conduct
}

/// Payroll and taxes due since `since`.
pub(crate) fn payroll_and_taxes(
    world: &World,
    company: &Company,
    since: Date,
) -> (PayrollConduct, TaxConduct) {
    let paydays = Paydays::of(world, company);
    let payroll = payroll(&paydays, since, world.today());
    (payroll, taxes(world, &paydays, since))
}

/// The taxes due since `since`.
fn taxes(world: &World, paydays: &Paydays<'_>, since: Date) -> TaxConduct {
    let (today, company) = (world.today(), paydays.company);
    let in_window = |due_on: Option<Date>| due_on.is_some_and(|day| day >= since);
    let mut conduct = TaxConduct::default();
    let mut authorities = BTreeSet::new();
    let filings = filing_history::every(world, company.id);
    for filing in filings.iter().filter(|filing| in_window(filing.due_on)) {
        let sent = !matches!(filing.status, FilingStatus::Pending | FilingStatus::Blocked);
        // Liabilities of runs are counted one by one, and an amendment by the due date of the amended filing.
        let alone = filing.tax_liability_ids.is_empty() && filing.amends.is_none();
        if !sent && alone && filing.due_on.is_some_and(|day| day < today) {
            conduct.late.push(filing.id.to_string());
            conduct.overdue.push(filing.id.to_string());
        } else if was_filed(filing) && !filing.late {
            let amended = filing.amends.and_then(|amended| world.find(amended));
            conduct.filed += i64::from(!amended.is_some_and(|amended| was_filed(&amended)));
        }
        let lines = filing.lines.iter().map(|line| line.authority.clone());
        authorities.extend(lines.map(|authority| (filing.jurisdiction.clone(), authority)));
    }
    for owed in tax_liabilities::of_company(world, company.id) {
        let void = owed.status == LiabilityStatus::Void;
        if void || owed.amount <= 0 || !in_window(owed.due_on) {
            continue;
        }
        authorities.insert((owed.jurisdiction.clone(), owed.authority.clone()));
        let run = owed.payroll_run_id.and_then(|run| world.find(run));
        if was_late(paydays, run.as_deref(), &owed, today) {
            conduct.late.push(owed.id.to_string());
        }
        if owed.status == LiabilityStatus::Late {
            conduct.overdue.push(owed.id.to_string());
        }
    }
    // Missing wages in the books count as missing taxes, too, so that the result for taxes is not better than for
    // payroll.
    let missing = |it: &&Payday| !it.is_booked && !paydays.began_late(it.span);
    for payday in paydays.since(since, today).iter().filter(missing) {
        for (country, authority) in &authorities {
            let due = due_on((country, authority), None, payday.on);
            if due.is_some_and(|due| due < today) {
                conduct.late.push(format!("{} {authority}", payday.span));
            }
        }
    }
    conduct
}

/// Whether the authority accepted a filing, even if it was amended later.
fn was_filed(filing: &TaxFiling) -> bool {
    let mut history = filing.status_history.iter();
    history.any(|change| change.status == FilingStatus::Filed)
}

/// Whether a tax was late. The tax on late wages was due according to their pay day.
fn was_late(
    paydays: &Paydays<'_>,
    run: Option<&PayrollRun>,
    owed: &TaxLiability,
    today: Date,
) -> bool {
    let mut history = owed.status_history.iter();
    let change = history.find(|change| change.status == LiabilityStatus::Late);
    let Some(run) = run else { return change.is_some() };
    let due = paydays.due(run);
    if change.is_some()
        || run.kind != RunType::Regular
        || run.reverses.is_some()
        || due >= run.pay_date
    {
        return change.is_some();
    }
    let mut history = owed.status_history.iter();
    let paid = history.find(|change| change.status == LiabilityStatus::Paid);
    let paid = paid.map_or(today, |change| change.at.date());
    let due = due_on((&owed.jurisdiction, &owed.authority), owed.form.as_deref(), due);
    due.is_some_and(|due| paid > due)
}

/// The due date of a tax on wages that were due on a day.
fn due_on((country, authority): (&str, &str), form: Option<&str>, payday: Date) -> Option<Date> {
    tax_return::of(country, authority, form, payday).map(|(_, due_on)| due_on)
}

/// The repayment of the company's loans.
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
