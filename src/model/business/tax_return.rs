//! Which form an authority requires for a month's pay, and its due date, calculated from the packs' `[[filing]]` rows.
//!
//! Deliberately absent: annual reconciliations and certificates, which declare what other filings have paid (`tax_document`).

use core::ops::RangeInclusive;

use crate::model::business::Authority;
use crate::model::calendar::Calendar;
use crate::model::payroll::{Day, Due, Filing, Pack};
use crate::model::{Account, payroll};
use crate::value::{Date, Period};

/// The code of the liabilities that an account holds.
pub(crate) fn code_of(account: Account) -> &'static str {
    match account {
        Account::TaxPayable(authority) => authority.code(),
        _ => PENSION,
    }
}

/// The account that holds the liabilities with that code.
pub(crate) fn account_of(code: &str) -> Option<Account> {
    match code {
        PENSION => Some(Account::PensionPayable),
        code => Authority::find(code).map(Authority::account),
    }
}

/// All pension funds together: the chart has one account for pensions.
const PENSION: &str = "pension";

/// The country whose law requires payments to that authority: the company's own country, or else a country of its
/// employees abroad.
pub(crate) fn jurisdiction<'a>(home: &'a str, code: &str, paid_on: Date) -> &'a str
where
    'static: 'a,
{
    let owes = |pack: &Pack| {
        let mut lines = pack.lines().iter();
        lines.any(|line| {
            let authority = Authority::of_line(&line.id, line.authority.as_deref());
            code_of(authority.account()) == code
        })
    };
    let library = payroll::library();
    if owes(library.in_force(home, paid_on.civil()).pack) {
        return home;
    }
    let mut packs = library.packs();
    packs.find(|pack| pack.country != "XX" && owes(pack)).map_or(home, |pack| &pack.country)
}

/// A payable to an authority: its account, and the form of its payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueTo {
    pub(crate) account: Account,
    /// `None` if no filing of the payroll pack reports it.
    pub(crate) form: Option<&'static str>,
}

/// The form for liabilities under `code` from wages paid on a day, with its last day to submit and pay. Without a
/// form of that name, the form that is paid first.
pub(crate) fn of(
    country: &str,
    code: &str,
    form: Option<&str>,
    paid_on: Date,
) -> Option<(&'static str, Date)> {
    let (pack, filing) = filing(country, code, form, paid_on)?;
    let calendar = Calendar::of(country);
    let period = last_month_of(pack, filing, month_by(pack, filing, paid_on));
    Some((&filing.form, due_on(pack, filing, calendar, period, paid_on)))
}

/// The month whose return declares wages paid on a day: the month of the payment, not of the work. A tax month has
/// the name of the month in which it begins.
pub(crate) fn month_of(country: &str, code: &str, form: Option<&str>, paid_on: Date) -> Period {
    let found = filing(country, code, form, paid_on);
    found.map_or(paid_on.period(), |(pack, filing)| month_by(pack, filing, paid_on))
}

fn month_by(pack: &Pack, filing: &Filing, paid_on: Date) -> Period {
    match filing.due {
        Due::DayAfterTaxMonth(_) => tax_month(pack, paid_on),
        _ => paid_on.period(),
    }
}

/// The last month of the period that one payment with that form covers, such as the last month of a quarter.
pub(crate) fn last_month(country: &str, code: &str, form: Option<&str>, month: Period) -> Period {
    let found = filing(country, code, form, month.last_day());
    found.map_or(month, |(pack, filing)| last_month_of(pack, filing, month))
}

/// The next day to pay an amount that is too small to be paid on its own day.
pub(crate) struct CarriedTo {
    /// The largest amount that is carried.
    pub(crate) upto: i64,
    /// The months of pay that count for the amount.
    pub(crate) months: RangeInclusive<Period>,
    pub(crate) due_on: Date,
}

/// The later date to which the law carries a small amount for the pay of `month` that is due on `today`; none if it must be paid now.
pub(crate) fn carried_to(
    country: &str,
    code: &str,
    form: Option<&str>,
    month: Period,
    today: Date,
) -> Option<CarriedTo> {
    let (pack, filing) = filing(country, code, form, month.last_day())?;
    let deposit = filing.deposit.as_ref()?;
    let upto = deposit.carry_upto?;
    let calendar = Calendar::of(country);
    let year_end = last_month_by(pack, filing.frequency.months(), month);
    let mut counted_to = last_month_of(pack, filing, month);
    loop {
        let next = counted_to.plus_months(i32::from(deposit.schedule.months()));
        if next > year_end {
            return None;
        }
        let due_on = due_on(pack, filing, calendar, next, today);
        if due_on > today {
            let months = year_end.plus_months(-11)..=counted_to;
            return Some(CarriedTo { upto, months, due_on });
        }
        counted_to = next;
    }
}

fn last_month_of(pack: &Pack, filing: &Filing, month: Period) -> Period {
    last_month_by(pack, filing.months_paid(), month)
}

/// The last month of the part of the tax year that contains `month`; each part has `months` months.
fn last_month_by(pack: &Pack, months: u8, month: Period) -> Period {
    let months = i32::from(months);
    let first = Date::from(pack.effective_from).period();
    let place = month.months_since(first).rem_euclid(months);
    month.plus_months(months - 1 - place)
}

/// The filing of liabilities under `code`, with its pack: the country's, or that of one of its regions.
fn filing(
    country: &str,
    code: &str,
    form: Option<&str>,
    paid_on: Date,
) -> Option<(&'static Pack, &'static Filing)> {
    let pack = payroll::library().in_force(country, paid_on.civil()).pack;
    let to_code = |filing: &Filing| {
        code_of(Authority::of_line("", Some(&filing.authority)).account()) == code
    };
    let is_wanted =
        |filing: &Filing| to_code(filing) && form.is_none_or(|form| filing.form == form);
    let regions = payroll::library().regions_of(pack, paid_on.civil()).map(|found| found.pack);
    let packs = core::iter::once(pack).chain(regions);
    let filings = packs.flat_map(|pack| pack.filings.iter().map(move |filing| (pack, filing)));
    let wanted = filings.filter(|(_, filing)| is_wanted(filing));
    wanted.min_by_key(|(_, filing)| filing.payment_rank())
}

fn due_on(
    pack: &Pack,
    filing: &Filing,
    calendar: &'static Calendar,
    period: Period,
    paid_on: Date,
) -> Date {
    let open = filing.calendar.as_deref().map_or(calendar, Calendar::of);
    let moved = |day| open.rolled(day, filing.roll);
    if let Some(deposit) = &filing.deposit {
        return moved(on(period.plus_months(i32::from(deposit.months_after)), deposit.day));
    }
    match filing.due {
        Due::MonthsAfter { months, day } => moved(on(period.plus_months(i32::from(months)), day)),
        Due::OnPayDate => paid_on,
        Due::BusinessDaysAfterPay(days) => calendar.plus_business_days(paid_on, u32::from(days)),
        Due::MonthsAfterPay(months) => {
            let month = paid_on.period().plus_months(i32::from(months));
            moved(month.day(paid_on.civil().day()))
        }
        Due::DayAfterTaxMonth(day) => {
            let day = filing.remit.map_or(day, |remit| remit.day_electronic);
            let ends_later = i32::from(pack.effective_from.day() > 1);
            moved(on(period.plus_months(ends_later), Day::Number(day)))
        }
        Due::DayOfYear { month, day } => {
            let months = i32::from(month) - 1;
            let january = Date::new(period.year() + 1, 1, 1).map_or(period, Date::period);
            moved(on(january.plus_months(months), day))
        }
    }
}

/// The month in which the tax month of that day begins: on the same day of the month as the tax year.
fn tax_month(pack: &Pack, day: Date) -> Period {
    let has_begun = day.civil().day() >= pack.effective_from.day();
    day.period().plus_months(-i32::from(!has_begun))
}

fn on(month: Period, day: Day) -> Date {
    match day {
        Day::Number(day) => month.day(i8::try_from(day).unwrap_or(i8::MAX)),
        Day::Last => month.last_day(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_days_are_those_of_the_packs() {
        let rows = [
            ("NG", "SIRS", "2026-01-23", Some(("PAYE monthly schedule", "2026-02-10"))),
            ("NG", "pension", "2026-01-23", Some(("Pension schedule", "2026-02-03"))),
            ("NG", "NSITF", "2026-01-23", Some(("NSITF contribution", "2026-02-16"))),
            ("NG", "ITF", "2026-01-23", Some(("ITF contribution", "2027-04-01"))),
            ("NG", "FMBN", "2026-01-23", Some(("NHF schedule", "2026-02-23"))),
            ("NG", "SIRS", "2026-04-23", Some(("PAYE monthly schedule", "2026-05-11"))), // the 10th is a Sunday
            ("NG", "SIRS", "2025-12-23", Some(("PAYE monthly schedule", "2026-01-10"))), // a Saturday is no holiday: Interpretation Act s. 15(4)
            ("GB", "HMRC", "2026-01-23", Some(("EPS", "2026-02-20"))),
            ("GB", "HMRC", "2026-01-05", Some(("EPS", "2026-01-22"))),
            ("US", "IRS", "2026-01-23", Some(("941", "2026-02-17"))),
            ("KE", "KRA", "2026-01-23", Some(("P10", "2026-02-09"))),
            ("ZA", "SARS", "2026-01-23", Some(("EMP201", "2026-02-06"))),
            ("CA", "CRA", "2026-01-23", Some(("PD7A", "2026-02-16"))),
            ("FR", "other", "2026-01-23", Some(("Payroll return (placeholder)", "2026-02-15"))),
        ];
        for (country, code, paid_on, expected) in rows {
            let paid_on: Date = paid_on.parse().expect("a date");
            let found = of(country, code, None, paid_on);
            let found = found.map(|(form, due)| (form, due.to_string()));
            let expected = expected.map(|(form, due)| (form, due.to_owned()));
            assert_eq!(found, expected, "{country} {code}");
        }
    }

    /// United States: 26 USC 7503 and 26 CFR 301.7503-1, with the holidays of D.C. Code 28-2701. Canada: the public holidays of the revenue
    /// agency, without Family Day. United Kingdom: an electronic payment arrives on the last working day before (gov.uk/pay-paye-tax).
    /// Kenya: an electronic return keeps its day (Tax Procedures Act, section 77). South Africa: the last business day before.
    #[test]
    fn a_day_on_a_weekend_or_holiday_moves_as_the_law_says() {
        let deposits = [
            ("2025-12", "2026-01-15"),
            ("2026-01", "2026-02-17"),
            ("2026-02", "2026-03-16"),
            ("2026-03", "2026-04-15"),
            ("2026-07", "2026-08-17"),
            ("2026-10", "2026-11-16"),
            ("2028-03", "2028-04-18"), // Saturday the 15th, and Emancipation Day is kept on Monday
        ];
        let others = [
            ("CA", "CRA", "2026-01", "2026-02-16"),
            ("CA", "CRA", "2026-07", "2026-08-17"),
            ("GB", "HMRC", "2026-11", "2026-12-22"),
            ("GB", "HMRC", "2026-10", "2026-11-20"),
            ("KE", "KRA", "2026-04", "2026-05-09"),
            ("ZA", "SARS", "2026-01", "2026-02-06"),
        ];
        let deposits = deposits.map(|(month, due)| ("US", "IRS", month, due));
        for (country, code, month, due) in deposits.into_iter().chain(others) {
            let month: Period = month.parse().expect("a month");
            let found = of(country, code, None, month.day(23));
            let found = found.map(|(_, day)| day.to_string());
            assert_eq!(found.as_deref(), Some(due), "{country} {month}");
        }
    }

    /// 26 CFR 31.6011(a)-3: FUTA is reported on Form 940. 26 CFR 31.6302(c)-3: it is deposited by the last day of the month after the
    /// quarter. 26 USC 7503 moves that day from a weekend.
    #[test]
    fn unemployment_tax_is_paid_by_the_quarter_with_its_own_form() {
        let rows = [
            ("2026-01", "2026-03", "2026-04-30"),
            ("2026-03", "2026-03", "2026-04-30"),
            ("2026-04", "2026-06", "2026-07-31"),
            ("2026-09", "2026-09", "2026-11-02"), // 31 October is a Saturday
            ("2026-12", "2026-12", "2027-02-01"), // 31 January is a Sunday
            ("2025-12", "2025-12", "2026-02-02"),
        ];
        for (month, last, due) in rows {
            let month: Period = month.parse().expect("a month");
            let found = of("US", "IRS", Some("940"), month.day(23));
            let found = found.map(|(form, day)| (form, day.to_string()));
            assert_eq!(found, Some(("940", due.to_owned())), "{month}");
            assert_eq!(last_month("US", "IRS", Some("940"), month).to_string(), last, "{month}");
            assert_eq!(last_month("US", "IRS", Some("941"), month), month);
        }
    }

    /// Wages are taxed in the month of their payment, and not of the work: 26 CFR 31.6011(a)-1 and 31.6302-1 (US), Income Tax (PAYE) Regulations 2003, reg.
    /// 67B and 69 (GB, tax months), Income Tax Regulations, section 108 (CA), Fourth Schedule to the Income Tax Act, paragraph 2 (ZA), Income Tax Act,
    /// section 37 (KE), Nigeria Tax Administration Act 2025 (NG).
    #[test]
    fn wages_belong_to_the_month_of_their_payment() {
        let rows = [
            ("US", "IRS", "2026-04-03", "2026-04", "2026-05-15"),
            ("CA", "CRA", "2026-04-03", "2026-04", "2026-05-15"),
            ("ZA", "SARS", "2026-04-03", "2026-04", "2026-05-07"),
            ("KE", "KRA", "2026-04-03", "2026-04", "2026-05-09"),
            ("NG", "SIRS", "2026-03-05", "2026-03", "2026-04-10"),
            ("GB", "HMRC", "2026-02-05", "2026-01", "2026-02-20"), // the last day of the tax month
            ("GB", "HMRC", "2026-02-06", "2026-02", "2026-03-20"), // the 22nd is a Sunday
        ];
        for (country, code, paid_on, month, due) in rows {
            let paid_on: Date = paid_on.parse().expect("a date");
            assert_eq!(month_of(country, code, None, paid_on).to_string(), month, "{country}");
            let found = of(country, code, None, paid_on).map(|(_, day)| day.to_string());
            assert_eq!(found.as_deref(), Some(due), "{country}");
        }
    }

    #[test]
    fn codes_and_accounts_are_each_others_inverse() {
        for code in ["HMRC", "pension", "vat", "other"] {
            assert_eq!(account_of(code).map(code_of), Some(code));
        }
        assert_eq!(account_of("nobody"), None);
    }
}
