//! Which form an authority requires for a month's pay, and its due date, calculated from the packs' `[[filing]]` rows.
//!
//! Deliberately absent: annual reconciliations and certificates, which declare what monthly filings have paid.

use crate::model::business::Authority;
use crate::model::calendar::Calendar;
use crate::model::payroll::{Day, Due, Filing, Frequency, Pack};
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

/// The country whose law owes money to that authority: the company's own country if it has such an authority, else the country of employees
/// abroad that has one.
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

/// The form for the liabilities under `code` for the pay of `period`, paid on `paid_on`, with its last day to submit and pay. Pay after the
/// end of its month is due for the month of the payment.
pub(crate) fn of(
    country: &str,
    code: &str,
    period: Period,
    paid_on: Date,
) -> Option<(&'static str, Date)> {
    let pack = payroll::library().in_force(country, paid_on.civil()).pack;
    let period = period.max(paid_on.period());
    let wanted = pack
        .filings
        .iter()
        .filter(|filing| code_of(Authority::of_line("", Some(&filing.authority)).account()) == code)
        .filter_map(|filing| Some((rank(filing)?, filing)));
    let (_, filing) = wanted.min_by_key(|(rank, _)| *rank)?;
    let calendar = Calendar::of(country);
    Some((&filing.form, due_on(pack, filing, calendar, period, paid_on)))
}

/// The form that the month's payment belongs to: first one with a payment day, then a monthly one, then one per pay day.
fn rank(filing: &Filing) -> Option<u8> {
    match filing.frequency {
        _ if filing.deposit.is_some() || filing.remit.is_some() => Some(0),
        Frequency::Monthly => Some(1),
        Frequency::EveryPayday | Frequency::Weekly => Some(2),
        Frequency::Quarterly | Frequency::HalfYearly | Frequency::Annual => None,
    }
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
        Due::DayAfterTaxMonth(day) => {
            let day = filing.remit.map_or(day, |remit| remit.day_electronic);
            moved(on(tax_month_end(pack, paid_on), Day::Number(day)))
        }
        Due::DayOfYear { month, day } => {
            let months = i32::from(month) - 1;
            let january = Date::new(period.year() + 1, 1, 1).map_or(period, Date::period);
            moved(on(january.plus_months(months), day))
        }
    }
}

/// The month in which the tax month of that day ends. A tax month begins on the same day of the month as the tax year.
fn tax_month_end(pack: &Pack, day: Date) -> Period {
    let first = pack.effective_from.day();
    let begun = day.civil().day() >= first;
    day.period().plus_months(i32::from(begun && first > 1))
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
            ("NG", "NSITF", "2026-01-23", None),
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
            let found = of(country, code, paid_on.period(), paid_on);
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
            let found = of(country, code, month, month.day(23)).map(|(_, day)| day.to_string());
            assert_eq!(found.as_deref(), Some(due), "{country} {month}");
        }
    }

    #[test]
    fn what_is_paid_after_its_month_is_owed_for_the_month_of_the_payment() {
        let due = |period: &str, paid_on: &str| {
            let (period, paid_on) = (period.parse().expect("a month"), paid_on.parse());
            let found = of("NG", "SIRS", period, paid_on.expect("a date"));
            found.map(|(_, due)| due.to_string())
        };
        assert_eq!(due("2026-01", "2026-03-05").as_deref(), Some("2026-04-10"));
        assert_eq!(due("2026-03", "2026-02-27").as_deref(), Some("2026-04-10"));
    }

    #[test]
    fn codes_and_accounts_are_each_others_inverse() {
        for code in ["HMRC", "pension", "vat", "other"] {
            assert_eq!(account_of(code).map(code_of), Some(code));
        }
        assert_eq!(account_of("nobody"), None);
    }
}
