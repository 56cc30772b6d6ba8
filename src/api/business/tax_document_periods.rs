//! The periods of tax documents: their names in a call, and their days.

use crate::api::prelude::*;
use crate::model::business::Payslip;
use crate::model::business::earnings::tax_year;
use crate::model::business::tax_document::{Form, FormPeriod};
use crate::model::business::tax_document_boxes::quarter;
use crate::model::payroll;

/// The days that a document declares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Days {
    /// The name of the period in a call.
    pub(crate) name: String,
    pub(crate) first: Date,
    pub(crate) last: Date,
    /// Whether they are the pay date of a form, and not the days on which pay counts for taxes.
    pub(crate) is_pay_date: bool,
}

impl Days {
    fn new(name: impl ToString, first: Date, last: Date) -> Self {
        Self { name: name.to_string(), first, last, is_pay_date: false }
    }

    pub(crate) fn contain(&self, day: Date) -> bool {
        (self.first..=self.last).contains(&day)
    }

    /// Whether they contain a pay.
    pub(crate) fn declare(&self, payslip: &Payslip) -> bool {
        self.contain(if self.is_pay_date { payslip.pay_date } else { payslip.counts_on() })
    }

    /// The period of a form that contains a pay.
    pub(crate) fn of_pay(
        country: &str,
        form: &Form,
        payslip: &Payslip,
        ended: Option<Date>,
    ) -> Option<Self> {
        let by_pay_date = form.period == FormPeriod::PayDay;
        let day = if by_pay_date { payslip.pay_date } else { payslip.counts_on() };
        Self::around(country, form, day, ended)
    }

    /// The days from the first day of the tax year to `after` days after the period.
    pub(crate) fn of_year(&self, country: &str, after: i32) -> Self {
        Self::new(&self.name, first_of_year(country, self.last), self.last.plus_days(after))
    }

    /// The period of a form that contains a day of pay. `ended` is the last day of work.
    pub(crate) fn around(
        country: &str,
        form: &Form,
        paid: Date,
        ended: Option<Date>,
    ) -> Option<Self> {
        Some(match form.period {
            FormPeriod::PayDay => Self { is_pay_date: true, ..Self::new(paid, paid, paid) },
            FormPeriod::Month => {
                Self::new(paid.period(), paid.period().first_day(), paid.period().last_day())
            }
            FormPeriod::TaxMonth => {
                let begins = first_of_year(country, paid).civil().day();
                let back = i32::from(paid.civil().day() < begins);
                tax_month(paid.period().plus_months(-back), begins)
            }
            FormPeriod::Quarter => {
                let place = i32::from((paid.civil().month() - 1) % 3);
                let first = paid.period().plus_months(-place);
                Self::new(quarter(paid), first.first_day(), first.plus_months(2).last_day())
            }
            FormPeriod::TaxYear => year_of(country, paid),
            FormPeriod::Employment => {
                let ended = ended?;
                let days = year_of(country, ended);
                return days.contain(paid).then(|| Self { name: ended.to_string(), ..days });
            }
        })
    }

    /// The period of a form by its name; the error lists the valid formats.
    pub(crate) fn read(country: &str, form: &Form, name: &str) -> Result<Self> {
        let day = match form.period {
            FormPeriod::PayDay | FormPeriod::Employment => name.parse().ok(),
            FormPeriod::Month => name.parse().ok().map(Period::first_day),
            FormPeriod::TaxMonth => {
                name.parse().ok().map(|month: Period| last_begin(country, month))
            }
            FormPeriod::Quarter => first_of_quarter(name),
            FormPeriod::TaxYear => first_of(country, name),
        };
        let days = day.and_then(|day| Self::around(country, form, day, Some(day)));
        days.ok_or_else(|| {
            let expected = match form.period {
                FormPeriod::PayDay => "a pay date such as 2026-01-23",
                FormPeriod::Month => "a month such as 2026-01",
                FormPeriod::TaxMonth => "the month in which the tax month begins, such as 2026-01",
                FormPeriod::Quarter => "a quarter such as 2026-Q1",
                FormPeriod::TaxYear => "the year in which the tax year begins, such as 2026",
                FormPeriod::Employment => "the last day of work, such as 2026-01-31",
            };
            let detail = format!("the period of form {} is {expected}", form.name);
            ApiError::of_member("/period", "invalid_value", detail)
        })
    }
}

fn tax_month(begins_in: Period, day: i8) -> Days {
    let first = begins_in.day(day);
    Days::new(begins_in, first, begins_in.plus_months(1).day(day).plus_days(-1))
}

/// The day of that month on which a tax month begins.
fn last_begin(country: &str, month: Period) -> Date {
    month.day(first_of_year(country, month.last_day()).civil().day())
}

/// The first day of the tax year that contains a day.
fn first_of_year(country: &str, day: Date) -> Date {
    tax_year(payroll::library().in_force(country, day.civil()).pack, day)
}

fn year_of(country: &str, day: Date) -> Days {
    let first = first_of_year(country, day);
    Days::new(first.period().year(), first, first.plus_years(1).plus_days(-1))
}

/// The first day of the tax year that begins in that year.
fn first_of(country: &str, name: &str) -> Option<Date> {
    let year = digits(name, 4)?;
    let last_day = Date::new(year, 12, 31)?;
    Some(first_of_year(country, last_day))
}

fn first_of_quarter(name: &str) -> Option<Date> {
    let (year, quarter) = name.split_once("-Q")?;
    let (year, quarter) = (digits(year, 4)?, digits(quarter, 1)?);
    let month = i8::try_from(quarter).ok().filter(|quarter| (1..=4).contains(quarter))? * 3 - 2;
    Date::new(year, month, 1)
}

fn digits(text: &str, length: usize) -> Option<i16> {
    let plain = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(form: &str, name: &str) -> Option<(String, String)> {
        let (country, form) = Form::find(form).expect("a form");
        let days = Days::read(country, form, name).ok()?;
        assert_eq!(days.name, name);
        Some((days.first.to_string(), days.last.to_string()))
    }

    #[test]
    fn the_periods_are_those_of_each_country() {
        let rows = [
            ("W-2", "2025", "2025-01-01", "2025-12-31"),
            ("941", "2026-Q1", "2026-01-01", "2026-03-31"),
            ("941", "2025-Q4", "2025-10-01", "2025-12-31"),
            ("P60", "2025", "2025-04-06", "2026-04-05"),
            ("FPS", "2026-01-23", "2026-01-23", "2026-01-23"),
            ("EPS", "2026-01", "2026-01-06", "2026-02-05"),
            ("EPS", "2026-04", "2026-04-06", "2026-05-05"),
            ("IRP5", "2025", "2025-03-01", "2026-02-28"),
            ("IRP5", "2027", "2027-03-01", "2028-02-29"),
            ("EMP201", "2026-02", "2026-02-01", "2026-02-28"),
            ("P45", "2026-04-05", "2025-04-06", "2026-04-05"),
        ];
        for (form, name, first, last) in rows {
            let found = days(form, name);
            assert_eq!(found, Some((first.to_owned(), last.to_owned())), "{form} {name}");
        }
    }

    #[test]
    fn another_name_is_refused() {
        let rows = [
            ("W-2", "2025-12"),
            ("W-2", "20x5"),
            ("W-2", "+202"),
            ("941", "2026-Q5"),
            ("941", "2026-Q0"),
            ("941", "2026-01"),
            ("EPS", "2026-13"),
            ("FPS", "2026-01"),
            ("P45", "2026"),
        ];
        for (form, name) in rows {
            assert_eq!(days(form, name), None, "{form} {name}");
        }
    }

    #[test]
    fn a_pay_date_is_in_the_period_that_contains_it() {
        let (country, form) = Form::find("EPS").expect("a form");
        let day = |text: &str| text.parse().expect("a date");
        let name = |text| Days::around(country, form, day(text), None).map(|days| days.name);
        assert_eq!(name("2026-02-05").as_deref(), Some("2026-01"));
        assert_eq!(name("2026-02-06").as_deref(), Some("2026-02"));
    }
}
