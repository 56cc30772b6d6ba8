//! Accounting periods: months and years of a company's books are closed and reopened.
//!
//! Only ended periods can be closed, so every effect of the clock has an open day: the current one.

use crate::api::business::figures::{Reading, minor};
use crate::api::prelude::*;
use crate::model::business::{AccountingPeriod, PeriodStatus, PeriodType};
use crate::model::posting::closing;
use crate::model::{Account, AccountType, JournalEntry};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/accounting-periods",
        summary: "List accounting periods",
        description: "Lists the months and years that a company has closed at least once, in the \
            order of the first closing. Reopened periods are included. All other periods are open.",
        ..operation!(read list_accounting_periods)
    },
    Operation {
        path: "/api/business/accounting-periods",
        summary: "Close a month",
        description: "Closes an ended month of a company's books. After that, a journal entry that \
            is dated in the month is refused with 409 until the month is reopened. The current \
            month and future months cannot be closed. Months can be closed in any order.",
        example: r#"{"company_id":"@company:1","period":"2025-11"}"#,
        success: 201,
        errors: &[ErrorCode::AccountingPeriodClosed],
        emits: &["accounting_period.closed"],
        long: true,
        ..operation!(write close_accounting_period)
    },
    Operation {
        path: "/api/business/accounting-periods/{accounting_period_id}",
        summary: "Read an accounting period",
        description: "Returns a month or year that was closed, with its closing entries.",
        ..operation!(get get_accounting_period: AccountingPeriod)
    },
    Operation {
        path: "/api/business/accounting-years",
        summary: "Close a year",
        description: "Closes an ended calendar year of a company's books. The call posts one \
            closing entry for each currency, dated on the last day of the year. The closing \
            entries move the balances of revenue and expenses to `retained_earnings`. The profit \
            and loss report ignores the closing entries, so its figures for the year do not \
            change. Years must be closed in order. Later entries with a date in the year are \
            refused with 409.",
        example: r#"{"company_id":"@company:1","year":2025}"#,
        success: 201,
        errors: &[ErrorCode::AccountingPeriodClosed],
        emits: &["accounting_period.closed", "journal_entry.posted"],
        long: true,
        ..operation!(write close_accounting_year)
    },
    Operation {
        path: "/api/business/accounting-periods/{accounting_period_id}/reopen",
        summary: "Reopen an accounting period",
        description: "Reopens a closed month or year. The closing entries of a year are reversed \
            on the last day of the year. To reopen a month of a closed year, reopen the year \
            first. To reopen a year, first reopen all closed months and years after it.",
        example: r#"{"reason":"An invoice was missing"}"#,
        errors: &[ErrorCode::InvalidStateTransition, ErrorCode::AccountingPeriodClosed],
        emits: &["accounting_period.reopened", "journal_entry.reversed"],
        ..operation!(write reopen_accounting_period)
    },
]);

list! {
    fn list_accounting_periods(ListAccountingPeriods) -> AccountingPeriod, of company_id;
    filter
        company_id: Id<Company>,
        /// Filter by length.
        kind as "type": PeriodType,
        status: PeriodStatus;
    sort created_at, first_day;
}

/// Every period that the company ever closed.
fn periods(world: &World, company: Id<Company>) -> impl Iterator<Item = Arc<AccountingPeriod>> {
    world.children::<AccountingPeriod>(company.bits()).filter_map(|id| world.find(id))
}

/// Whether the company's books are open for entries dated on that day.
pub(crate) fn is_open(world: &World, company: Id<Company>, day: Date) -> bool {
    !periods(world, company).any(|period| period.closes(day))
}

/// Refuses an entry that is dated in a closed period.
pub(crate) fn open_on(world: &World, company: Id<Company>, day: Date) -> Result<()> {
    match periods(world, company).find(|period| period.closes(day)) {
        None => Ok(()),
        Some(period) => {
            let (first, last) = (period.first_day, period.last_day);
            let detail = format!(
                "the books are closed from {first} to {last}, and the entry is dated {day}: use \
                    an open day, or reopen the period"
            );
            Err(closed(&period, &detail))
        }
    }
}

fn closed(period: &AccountingPeriod, detail: &str) -> ApiError {
    ApiError::new(ErrorCode::AccountingPeriodClosed, detail).about(period.id)
}

/// The last day of the latest closed year that ends on or before `day`.
pub(crate) fn last_closed(world: &World, company: Id<Company>, as_of: Date) -> Option<Date> {
    let years = periods(world, company).filter(|period| period.is_closed_year());
    years.map(|year| year.last_day).filter(|day| *day <= as_of).max()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseAccountingPeriod {
    /// The company whose month is closed.
    company_id: Id<Company>,
    /// The month to close. It has ended, and is not before the start of the books.
    period: Period,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn close_accounting_period(
    world: &mut World,
    input: CloseAccountingPeriod,
) -> Result<Single<AccountingPeriod>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let days = (input.period.first_day(), input.period.last_day());
    ended(world, &company, days, "/period")?;
    if let Some(period) = periods(world, company.id).find(|period| period.closes(days.0)) {
        let detail = format!(
            "the books are closed from {} to {} already",
            period.first_day, period.last_day
        );
        return Err(closed(&period, &detail));
    }
    let mut period = begun(world, &company, PeriodType::Month, days);
    if let Some(metadata) = input.metadata {
        period.metadata = metadata;
    }
    Ok(Data(Shown(world.record("accounting_period.closed", period))))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseAccountingYear {
    /// The company whose year is closed.
    company_id: Id<Company>,
    /// The calendar year to close. It has ended, and is not before the start of the books.
    #[schemars(range(min = 1970, max = 2199))]
    year: i16,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn close_accounting_year(
    world: &mut World,
    input: CloseAccountingYear,
) -> Result<Single<AccountingPeriod>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let days = year(input.year);
    ended(world, &company, days, "/year")?;
    let years: Vec<_> =
        periods(world, company.id).filter(|period| period.is_closed_year()).collect();
    if let Some(year) = years.iter().find(|year| year.first_day == days.0) {
        return Err(closed(year, &format!("the year {} is closed already", input.year)));
    }
    let before = days.0.plus_days(-1);
    if start_of_books(world, &company) <= before
        && !years.iter().any(|year| year.last_day == before)
    {
        let detail = format!("close the year {} first", input.year - 1);
        return Err(ApiError::of_member("/year", "earlier_year_open", detail));
    }
    let mut period = begun(world, &company, PeriodType::Year, days);
    if let Some(metadata) = input.metadata {
        period.metadata = metadata;
    }
    let entries = move_result(world, &company, &period);
    period.closing_entry_ids = entries.iter().map(|entry| entry.id).collect();
    let period = world.record("accounting_period.closed", period);
    for entry in &entries {
        world.emit("journal_entry.posted", entry);
    }
    Ok(Data(Shown(period)))
}

fn year(year: i16) -> (Date, Date) {
    let day = |month, day| Date::new(year, month, day).expect("a year of four digits");
    (day(1, 1), day(12, 31))
}

/// The first day of the company's books.
pub(crate) fn start_of_books(world: &World, company: &Company) -> Date {
    let opened = company.created_at.date();
    let history = world.base().history(company.id);
    let first = history.and_then(|history| history.days.iter().next().map(|(day, _)| day));
    first.map_or(opened, |first| first.min(opened))
}

/// Refuses a period that has not ended, or that ended before the start of the books.
fn ended(world: &World, company: &Company, days: (Date, Date), member: &str) -> Result<()> {
    let (begin, today) = (start_of_books(world, company), world.today());
    if days.1 >= today {
        let detail =
            format!("ends on {}: it can be closed after that day (today is {today})", days.1);
        return Err(ApiError::of_member(member, "not_ended", detail));
    }
    if days.1 < begin {
        return Err(ApiError::of_member(member, "range", format!("the books start on {begin}")));
    }
    Ok(())
}

/// The period as closed now: new, or the one that was reopened.
fn begun(
    world: &World,
    company: &Company,
    kind: PeriodType,
    (first_day, last_day): (Date, Date),
) -> AccountingPeriod {
    let now = world.now();
    let same =
        |period: &Arc<AccountingPeriod>| period.kind == kind && period.first_day == first_day;
    if let Some(period) = periods(world, company.id).find(same) {
        let mut period = (*period).clone();
        period.enter(PeriodStatus::Closed, now);
        return period;
    }
    AccountingPeriod {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        kind,
        status: PeriodStatus::Closed,
        first_day,
        last_day,
        closing_entry_ids: Vec::new(),
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(PeriodStatus::Closed, now)].into(),
    }
}

/// Moves the balances of revenue and expenses to retained earnings, by currency.
fn move_result(
    world: &mut World,
    company: &Company,
    period: &AccountingPeriod,
) -> Vec<Arc<JournalEntry>> {
    let totals = Reading::of(world, company).totals(period.last_day);
    let mut results: BTreeMap<Currency, Vec<(Account, i64)>> = BTreeMap::new();
    for (currency, account, sums) in totals.iter() {
        let is_result =
            matches!(account.account_type(), AccountType::Revenue | AccountType::Expense);
        if is_result && sums.net() != 0 {
            results.entry(currency).or_default().push((account, minor(sums.net())));
        }
    }
    let mut entries = Vec::with_capacity(results.len());
    for (currency, balances) in results {
        let posting = closing::year_closed(AnyId::of(period.id), currency, &balances);
        entries.extend(world.post_on(company.id, posting, period.last_day));
    }
    entries
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReopenAccountingPeriod {
    /// The accounting period.
    accounting_period_id: Id<AccountingPeriod>,
    /// The reason, for the status history.
    reason: Text<500>,
}

fn reopen_accounting_period(
    world: &mut World,
    input: ReopenAccountingPeriod,
) -> Result<Single<AccountingPeriod>> {
    let mut period = (*world.get(input.accounting_period_id)?).clone();
    let status = step("reopen", "the accounting period", period.id, period.status)?;
    if let Some(later) = blocking(world, &period) {
        let kind = match later.kind {
            PeriodType::Month => "month",
            PeriodType::Year => "year",
        };
        let (first, last) = (later.first_day, later.last_day);
        let detail = format!("the {kind} from {first} to {last} is closed: reopen it first");
        return Err(closed(&later, &detail));
    }
    let entries = core::mem::take(&mut period.closing_entry_ids);
    period.enter_because(status, world.now(), Some(input.reason.into_string()));
    let period = world.record("accounting_period.reopened", period);
    for id in entries {
        let entry = world.entry(id).expect("a closed year names its entries");
        let memo = Cow::Borrowed("Year reopened");
        let source = AnyId::of(period.id);
        let (_, reversed) = world.reverse(&entry, memo, source, period.last_day);
        world.emit("journal_entry.reversed", &reversed);
    }
    Ok(Data(Shown(period)))
}

/// The latest closed period whose figures would change. This can be a year that contains the period or follows it or,
/// if the period is a year, a month after it.
fn blocking(world: &World, period: &AccountingPeriod) -> Option<Arc<AccountingPeriod>> {
    let blocks = |other: &Arc<AccountingPeriod>| match other.kind {
        _ if other.id == period.id || other.status != PeriodStatus::Closed => false,
        PeriodType::Year => other.last_day >= period.last_day,
        PeriodType::Month => period.kind == PeriodType::Year && other.first_day > period.last_day,
    };
    let found = periods(world, period.company_id).filter(blocks);
    found.max_by_key(|other| (other.last_day, other.kind == PeriodType::Year))
}
