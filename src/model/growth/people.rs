//! The pay and tax attributes of a grown employee: functions of the pay class only.

use std::collections::BTreeMap;

use crate::model::business::employer_part::EmployerPart;
use crate::model::business::pay_terms::{
    Compensation, Component, Deduction, DeductionTiming, PayInterval,
};
use crate::model::growth::countries::Country;
use crate::model::growth::industries::Industry;
use crate::model::growth::pick;
use crate::model::growth::workforce::STEPS;
use crate::value::{Currency, Date, Key};

/// Pay of a role slot at a step of its band: a round monthly amount, split into the country's usual parts.
pub(crate) fn compensation(
    country: &Country,
    currency: Currency,
    amount: i64,
    deductions: Vec<Deduction>,
    effective_from: Date,
) -> Compensation {
    let components = parts(country, amount);
    Compensation {
        amount,
        currency,
        interval: PayInterval::Month,
        components,
        effective_from,
        recorded: None,
        allowances: Vec::new(),
        deductions,
    }
}

/// The monthly pay of a pay class before and after its last raise; equal if it had none.
pub(crate) fn monthly_pay(plan: PayPlan<'_>, role: u8, step: u8) -> [i64; 2] {
    let PayPlan { country, industry, currency, company } = plan;
    let band = country.pay.grades[usize::from(industry.roles[usize::from(role)].grade) - 1];
    let year = band.low + (band.high - band.low) * u64::from(step) / (STEPS - 1);
    // Rounded up to a multiple of five major units, so that no salary falls below the band's minimum.
    let rounded = |major: u64| major.next_multiple_of(5);
    let (now, least) = (rounded(year.div_ceil(12)), rounded(band.low.div_ceil(12)));
    let draw = company.with("raise").at(u64::from(role)).at(u64::from(step)).below(8);
    let percent = [0, 2, 3, 3, 4, 4, 5, 7][usize::try_from(draw).unwrap_or_default()];
    let before = rounded((now * 100).div_ceil(100 + percent)).clamp(least, now);
    let hours = hours_percent(plan.industry, plan.company, role, step);
    [before, now].map(|major| rounded((major * hours).div_ceil(100))).map(|major| {
        let minor = major * currency.minor_per_major().unsigned_abs();
        i64::try_from(minor).expect("salary bands are far below the limit")
    })
}

/// The hours of a role slot at a step of its band, in percent of full time.
pub(crate) fn hours_percent(industry: &Industry, company: Key, role: u8, step: u8) -> u64 {
    let key = company.with("hours").at(u64::from(role)).at(u64::from(step));
    let part_time = industry.part_time;
    let may = industry.roles[usize::from(role)].grade <= part_time.grades;
    if may && key.below(10) < part_time.of_ten {
        *pick(key.with("share"), &[50, 60, 80])
    } else {
        100
    }
}

/// The country's pension for people of a pay class; `None` if the class has opted out.
pub(crate) fn pension(plan: PayPlan<'_>, (role, step): (u8, u8)) -> Option<Deduction> {
    let enrolled = plan.country.pay.pension.as_ref()?;
    let draw = plan.company.with("pension").at(u64::from(role)).at(u64::from(step)).below(10);
    (draw >= enrolled.opted_out).then(|| Deduction {
        id: "pension".to_owned(),
        label: enrolled.label.to_owned(),
        amount: 0,
        rate_bp: Some(enrolled.worker_bp),
        earnings: Some(enrolled.earnings.to_owned()),
        timing: DeductionTiming::PreTax,
        kind: Some(enrolled.kind.to_owned()),
        protected: None,
        annual_limit: None,
        employer: Some(EmployerPart {
            rate_bp: Some(enrolled.employer_bp),
            earnings: Some(enrolled.earnings.to_owned()),
            ..EmployerPart::default()
        }),
    })
}

/// The inputs of the pay in a company.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayPlan<'a> {
    pub(crate) country: &'a Country,
    pub(crate) industry: &'a Industry,
    pub(crate) currency: Currency,
    pub(crate) company: Key,
}

/// The bonus of an employee who has worked for some months of the last year, at most 12.
pub(crate) fn bonus(industry: &Industry, month_pay: i64, months: u64) -> i64 {
    let share = i128::from(industry.bonus.percent) * i128::from(months.min(12));
    i64::try_from(i128::from(month_pay) * share / 1_200).expect("a bonus is a part of a salary")
}

/// A month's gross pay in the country's usual parts; the last part takes the remainder.
pub(crate) fn parts(country: &Country, amount: i64) -> Vec<Component> {
    let shares = &country.pay.components;
    let mut left = amount;
    let mut parts: Vec<Component> = shares
        .iter()
        .map(|share| {
            let part = i128::from(amount) * i128::from(share.percent) / 100;
            let part = i64::try_from(part).expect("a part is less than the whole");
            left -= part;
            Component { id: share.name.to_owned(), amount: part }
        })
        .collect();
    if let Some(last) = parts.last_mut() {
        last.amount += left;
    }
    parts
}

/// Values for the attributes of the country's pack, as the tax office has them on record.
pub(crate) fn tax_attributes(
    country: &Country,
    company: Key,
    role: u8,
    step: u8,
) -> BTreeMap<String, String> {
    let mut attributes = BTreeMap::new();
    for (name, values) in &country.pay.attributes {
        let mut draw = company.with(name).at(u64::from(role)).at(u64::from(step)).below(10);
        for (value, share) in values {
            if draw < *share {
                attributes.insert((*name).to_owned(), (*value).to_owned());
                break;
            }
            draw -= share;
        }
    }
    attributes
}
