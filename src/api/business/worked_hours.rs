//! Hours worked in the input of a run: regular hours of hourly employees, overtime and other typed hours.

use crate::api::business::pay_lines::TypeName;
use crate::api::prelude::*;
use crate::model::business::{
    Compensation, Component, Extras, HoursWorked, PayInterval, PayLine, PayrollRun,
};
use crate::model::payroll::{self, Pack};

/// Hours of one type that an employee worked.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct HoursInput {
    /// `regular`, or a type of earnings of the country's payroll pack such as `overtime`. The pay for regular hours replaces the usual pay by
    /// hourly terms.
    #[serde(rename = "type")]
    kind: TypeName,
    /// The time worked, in minutes: 90 is one hour and a half.
    #[schemars(range(min = 1, max = 45_000))]
    minutes: u32,
    /// The pay of an hour, in percent of the hourly rate. Default: the rate of the payroll pack, such as 150 for overtime in the United
    /// States, otherwise 100.
    #[schemars(range(min = 1, max = 1_000))]
    rate_percent: Option<u32>,
}

/// The hours of one employee, validated; `at` points to the list.
pub(crate) fn worked_hours(
    employee: &Employee,
    run: &PayrollRun,
    list: Vec<HoursInput>,
    at: &str,
) -> Result<Vec<HoursWorked>> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let country = employee.payroll_country();
    let pack = payroll::library().in_force(country, run.pay_date.civil()).pack;
    let terms = employee.terms_on(run.span().end);
    let mut wrong = Vec::new();
    let mut hours: Vec<HoursWorked> = Vec::with_capacity(list.len());
    for (place, one) in list.into_iter().enumerate() {
        let TypeName(kind) = one.kind;
        let twice = hours.iter().any(|known| known.kind == kind);
        if let Some((code, detail)) = refusal(pack, run, terms, &kind, twice) {
            wrong.push(Violation::new(format!("{at}/{place}/type"), code, detail));
        }
        let by_law = pack.earning_type(&kind).and_then(|known| known.rate_percent);
        hours.push(HoursWorked {
            kind,
            minutes: one.minutes,
            rate_percent: one.rate_percent.or(by_law).unwrap_or(100),
        });
    }
    ApiError::if_any(wrong)?;
    Ok(hours)
}

/// The reason why hours of that type cannot be paid, with its code.
fn refusal(
    pack: &Pack,
    run: &PayrollRun,
    terms: Option<&Compensation>,
    kind: &str,
    twice: bool,
) -> Option<(&'static str, String)> {
    let Some(terms) = terms else {
        return Some(("no_terms", "the employee has no pay terms".to_owned()));
    };
    if twice {
        return Some(("duplicate", format!("another entry of this list has the type {kind}")));
    }
    if kind == HoursWorked::REGULAR {
        let hourly = terms.interval == PayInterval::Hour && run.kind.pays_by_terms();
        let detail = "regular hours are for a regular run of an employee with hourly pay terms";
        return (!hourly).then(|| ("not_hourly", detail.to_owned()));
    }
    if pack.earning_type(kind).is_some() {
        return None;
    }
    let known = pack.earning_types.iter().map(|known| known.id.as_str());
    let known: Vec<&str> = core::iter::once(HoursWorked::REGULAR).chain(known).collect();
    let detail = format!(
        "the payroll pack {} has no earnings `{kind}`; expected one of {}",
        pack.code,
        known.join(", ")
    );
    Some(("unknown_type", detail))
}

/// Pays the hours: regular hours replace the pay by terms, other hours are paid in addition.
pub(crate) fn pay_hours(
    terms: Option<&Compensation>,
    pack: &Pack,
    hours: &[HoursWorked],
    parts: &mut Vec<Component>,
    extras: &mut Extras,
) {
    let Some(terms) = terms else { return };
    for worked in hours {
        let amount = amount_of(terms, worked);
        if worked.kind == HoursWorked::REGULAR {
            *parts = vec![Component { id: "basic".to_owned(), amount }];
            extras.proration = None;
            continue;
        }
        let label = pack.earning_type(&worked.kind).map_or("Hours", |known| &known.label);
        let (hours, minutes) = (worked.minutes / 60, worked.minutes % 60);
        let label = format!("{label}, {hours}:{minutes:02} h");
        let kind = Some(worked.kind.clone());
        extras
            .earnings
            .push(PayLine { kind, ..PayLine::plain(worked.kind.clone(), label, amount) });
    }
}

/// The pay of those hours by the hourly rate: the rate of the terms, or a year's pay divided by 52 weeks of 40 hours.
/// Half a minor unit is rounded up.
pub(crate) fn amount_of(terms: &Compensation, worked: &HoursWorked) -> i64 {
    let (times, divisor): (i128, i128) = match terms.interval {
        PayInterval::Hour => (1, 1),
        PayInterval::Month => (12, 52 * 40),
        PayInterval::Year => (1, 52 * 40),
    };
    let percent = i128::from(worked.minutes) * i128::from(worked.rate_percent);
    let (over, under) = (i128::from(terms.amount) * times * percent, divisor * 60 * 100);
    let twice = over * 2 + under;
    i64::try_from(twice.div_euclid(under * 2)).expect("minutes and percent are bounded")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paid(interval: PayInterval, amount: i64, minutes: u32, rate_percent: u32) -> i64 {
        let currency = Currency::new("USD").expect("a currency");
        let terms = Compensation {
            amount,
            currency,
            interval,
            components: Vec::new(),
            effective_from: Date::FIRST,
            recorded: None,
            allowances: Vec::new(),
            deductions: Vec::new(),
        };
        amount_of(
            &terms,
            &HoursWorked { kind: HoursWorked::REGULAR.to_owned(), minutes, rate_percent },
        )
    }

    /// 29 USC 207(a)(1): overtime is paid at one and a half times the regular rate.
    #[test]
    fn hours_are_paid_by_the_hourly_rate_and_overtime_with_its_rate() {
        assert_eq!(paid(PayInterval::Hour, 2_000, 40 * 60, 100), 80_000);
        assert_eq!(paid(PayInterval::Hour, 2_000, 90, 150), 4_500);
        assert_eq!(paid(PayInterval::Year, 5_200_000, 60, 150), 3_750);
        assert_eq!(paid(PayInterval::Month, 433_333, 60, 100), 2_500);
        assert_eq!(paid(PayInterval::Hour, 1, 30, 100), 1);
    }
}
