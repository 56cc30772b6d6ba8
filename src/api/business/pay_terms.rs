//! An employee's pay terms: the first day, the amount, and monthly allowances and deductions.

use std::collections::BTreeSet;

use crate::api::prelude::*;
use crate::model::business::{
    Allowance, Compensation, Component, Deduction, DeductionTiming, EmployeeStatus, PayInterval,
};
use crate::model::fx;
use crate::model::growth::{countries, people};
use crate::model::payroll::{self, Pack};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
Operation {
    method: Method::Put,
    path: "/api/business/employees/{employee_id}/compensation",
    summary: "Set an employee's pay terms",
    description: "Sets the pay terms from `effective_from` up to the next terms. Terms with the \
        same first day are replaced. `compensation` shows the terms in force today, and \
        `compensation_history` all terms if there are several. Future terms wait for their first \
        day. Runs calculated from now on use the new terms; earlier calculations stay.",
    example: r#"{"amount":52000000,"currency":"NGN","interval":"month","allowances":[{"label":"Fuel","amount":1500000}]}"#,
    errors: &[ErrorCode::CurrencyMismatch, ErrorCode::InvalidStateTransition],
    emits: &["employee.compensation_changed"],
    starts: &[TaskKind::ChangePay],
    ..operation!(write set_employee_compensation)
}]);

/// Pay terms.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CompensationInput {
    /// Gross pay for one interval, in minor units.
    amount: Amount,
    /// Its currency: the company's, or that of the country of employment.
    currency: Currency,
    /// The interval. A yearly amount is paid in twelfths. A month has a twelfth of 52 weeks of 40 hours.
    interval: PayInterval,
    /// Monthly additions to gross pay, which are taxable. Replaces the whole list; none if absent.
    #[serde(default)]
    #[schemars(length(max = 20))]
    allowances: Vec<AllowanceInput>,
    /// Monthly deductions. Replaces the whole list; none if absent.
    #[serde(default)]
    #[schemars(length(max = 20))]
    deductions: Vec<DeductionInput>,
}

/// Paid every month in addition to gross pay.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AllowanceInput {
    /// Its identifier, unique in the list. Default: derived from the label.
    id: Option<LineId>,
    /// Its name on the payslip.
    label: Text<100>,
    /// Minor units a month.
    amount: MonthlySum,
}

/// Deducted every month.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct DeductionInput {
    /// Its identifier, unique in the list. Default: derived from the label.
    id: Option<LineId>,
    /// Its name on the payslip.
    label: Text<100>,
    /// Minor units per month. An amount above the available pay is not deducted.
    amount: MonthlySum,
    /// Before or after taxes. A deduction with a `type` follows the law of its type instead.
    timing: Option<DeductionTiming>,
    /// Its type in the payroll pack of the country, such as `401k`, `pension_net_pay` or `rrsp`. The pack states what it reduces.
    #[serde(rename = "type")]
    kind: Option<TypeName>,
}

/// The name of a type in a payroll pack.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct TypeName(
    #[schemars(length(min = 1, max = 40), regex(pattern = "^[a-z0-9][a-z0-9_]*$"))]
    pub(crate)  String,
);

/// Maximum length of a line's id.
const LONGEST_ID: usize = 40;

/// Lower-case letters, digits, `_` and `-`; the first is a letter.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct LineId(
    #[schemars(length(max = 40), regex(pattern = "^[a-z][a-z0-9_-]*$"))] String,
);

/// Minor units, from 0.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct MonthlySum(#[schemars(range(min = 0, max = 1_000_000_000_000_000_i64))] i64);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SetCompensation {
    /// The employee.
    employee_id: Id<Employee>,
    #[serde(flatten)]
    terms: CompensationInput,
    /// The first day on which the terms apply, in the past or the future. Default: today, or the first day of work of a `pending` employee.
    effective_from: Option<Date>,
}

/// Maximum number of terms of one employee. Every event about the employee contains them.
const MOST_TERMS: usize = 100;

fn set_employee_compensation(
    world: &mut World,
    input: SetCompensation,
) -> Result<Single<Employee>> {
    let mut employee = (*world.get(input.employee_id)?).clone();
    let today = world.today();
    let company = world.get(employee.company_id)?;
    let usual = match employee.status {
        EmployeeStatus::Pending => employee.start_date.max(today),
        _ => today,
    };
    let from = input.effective_from.unwrap_or(usual);
    let payee =
        Payee { company: &company, country: &employee.country, paid_in: employee.paid_in() };
    let terms = compensation(&payee, input.terms, from, today, "")?;
    if employee.status == EmployeeStatus::Terminated {
        let detail = "the employment has ended, so its pay terms cannot change".to_owned();
        return Err(refused(employee.id, employee.status, detail));
    }
    let end = employee.end_date.unwrap_or(Timestamp::MAX.date());
    if from > end {
        let detail = format!("must be on or before the last day of work, {end}");
        return Err(ApiError::of_member("/effective_from", "after_employment", detail));
    }
    employee.set_terms(terms, today);
    if employee.terms().len() > MOST_TERMS {
        let detail = format!(
            "an employee can have at most {MOST_TERMS} terms: replace the terms of an \
                existing day"
        );
        return Err(ApiError::of_member("/effective_from", "too_many", detail));
    }
    employee.updated_at = world.now();
    let employee = world.record("employee.compensation_changed", employee);
    wait_for_changes(world, &employee);
    Ok(Data(Shown(employee)))
}

/// Waits for the first days of future terms and tax attributes.
pub(crate) fn wait_for_changes(world: &mut World, employee: &Employee) {
    let today = world.today();
    let waiting = Task::ChangePay(employee.id);
    world.drop_timers(|task| task == waiting);
    let days: BTreeSet<Date> = employee
        .terms_to_come(today)
        .into_iter()
        .chain(employee.tax_attributes_to_come(today))
        .collect();
    for day in days {
        world.remind_at(day.midnight(), waiting);
    }
}

/// The first day of pay terms or of tax attributes has arrived.
pub(crate) fn change_pay(world: &mut World, id: Id<Employee>) {
    let Some(employee) = world.find(id) else { return };
    let mut employee = (*employee).clone();
    let over = employee.status == EmployeeStatus::Terminated;
    if over {
        return;
    }
    let taxed = employee.follow_tax_attributes(world.today());
    if employee.follow_terms(world.today()) {
        employee.updated_at = world.now();
        world.record("employee.compensation_changed", employee);
    } else if taxed {
        employee.updated_at = world.now();
        world.record("employee.updated", employee);
    }
}

/// The employee to be paid: the country, and the currency so far.
pub(crate) struct Payee<'a> {
    pub(crate) company: &'a Company,
    /// Country of employment, whose law taxes the pay.
    pub(crate) country: &'a str,
    /// The currency of the existing terms.
    pub(crate) paid_in: Option<Currency>,
}

impl Payee<'_> {
    /// Allowed currencies: the country's, which its tax tables use, and at home the company's. If they differ, both need a reference rate.
    fn currencies(&self) -> Vec<Currency> {
        let company = self.company.currency;
        if let Some(currency) = self.paid_in {
            return vec![currency]; // a year's pay adds up in one currency
        }
        let local = countries::find(self.country).and_then(|it| Currency::new(it.currency));
        let convertible = |it: &Currency| fx::is_known(*it) && fx::is_known(company);
        let local = local.filter(|it| *it == company || convertible(it));
        let at_home = Some(company).filter(|_| self.country == self.company.country);
        let mut currencies: Vec<Currency> = at_home.into_iter().chain(local).collect();
        currencies.dedup();
        currencies
    }
}

/// Pay terms with a month's pay split into the country's usual parts; `at` points to the object that contains them.
pub(crate) fn compensation(
    payee: &Payee<'_>,
    terms: CompensationInput,
    effective_from: Date,
    today: Date,
    at: &str,
) -> Result<Compensation> {
    let currencies = payee.currencies();
    if !currencies.contains(&terms.currency) {
        let known: Vec<&str> = currencies.iter().map(Currency::code).collect();
        let detail =
            format!("the employee is paid in {}, not in {}", known.join(" or "), terms.currency);
        let pointer = format!("{at}/currency");
        return Err(
            ApiError::new(ErrorCode::CurrencyMismatch, detail).at(pointer, "currency_mismatch")
        );
    }
    let amount = terms.amount.minor();
    let month = Compensation::monthly(amount, terms.interval);
    let components = match countries::find(payee.country) {
        Some(country) => people::parts(country, month),
        None => vec![Component { id: "basic".to_owned(), amount: month }],
    };
    let allowances = allowances(terms.allowances, &format!("{at}/allowances"))?;
    let deductions =
        deductions(payee.country, effective_from, terms.deductions, &format!("{at}/deductions"))?;
    Ok(Compensation {
        amount,
        currency: terms.currency,
        interval: terms.interval,
        components,
        effective_from,
        recorded: Some(today),
        allowances,
        deductions,
    })
}

/// Additions to the salary; `at` points to the list.
pub(crate) fn allowances(list: Vec<AllowanceInput>, at: &str) -> Result<Vec<Allowance>> {
    let lines = list.iter().map(|one| (one.id.as_ref(), one.label.as_str()));
    let ids = ids(lines, "allowance", at)?;
    let named = list.into_iter().zip(ids).map(|(one, id)| Allowance {
        id,
        label: one.label.into_string(),
        amount: one.amount.0,
    });
    Ok(named.collect())
}

/// Deductions by the law of a country; `at` points to the list.
pub(crate) fn deductions(
    country: &str,
    day: Date,
    list: Vec<DeductionInput>,
    at: &str,
) -> Result<Vec<Deduction>> {
    let pack = payroll::library().in_force(country, day.civil()).pack;
    let mut wrong = Vec::new();
    let mut timings = Vec::with_capacity(list.len());
    for (place, one) in list.iter().enumerate() {
        match timing(pack, one) {
            Ok(timing) => timings.push(timing),
            Err((member, code, detail)) => {
                wrong.push(Violation::new(format!("{at}/{place}/{member}"), code, detail));
            }
        }
    }
    ApiError::if_any(wrong)?;
    let lines = list.iter().map(|one| (one.id.as_ref(), one.label.as_str()));
    let ids = ids(lines, "deduction", at)?;
    let named = list.into_iter().zip(ids).zip(timings).map(|((one, id), timing)| {
        let kind = one.kind.map(|kind| kind.0);
        let law = kind.as_ref().and_then(|kind| pack.deduction_type(kind));
        let amount = law.and_then(|law| law.taken_of(one.amount.0)).unwrap_or(one.amount.0);
        Deduction { id, label: one.label.into_string(), amount, timing, kind }
    });
    Ok(named.collect())
}

/// When a deduction is taken: by the law of its type, or as the caller says. The error has the member, the code and the reason.
fn timing(
    pack: &Pack,
    one: &DeductionInput,
) -> core::result::Result<DeductionTiming, (&'static str, &'static str, String)> {
    let Some(TypeName(kind)) = &one.kind else {
        let missing = || ("timing", "required", "a deduction needs `timing` or `type`".to_owned());
        return one.timing.ok_or_else(missing);
    };
    match pack.deduction_type(kind) {
        Some(kind) if kind.is_before_tax() => Ok(DeductionTiming::PreTax),
        Some(_) => Ok(DeductionTiming::PostTax),
        None => {
            let known: Vec<&str> =
                pack.deduction_types.iter().map(|known| known.id.as_str()).collect();
            let detail = format!(
                "the payroll pack {} has no deduction `{kind}`; expected one of {}",
                pack.code,
                known.join(", ")
            );
            Err(("type", "unknown_type", detail))
        }
    }
}

/// The ids of a list's lines: the given ones, which must be unique, and derived ones for the others.
fn ids<'a>(
    lines: impl Iterator<Item = (Option<&'a LineId>, &'a str)>,
    kind: &str,
    at: &str,
) -> Result<Vec<String>> {
    let lines: Vec<_> = lines.collect();
    let (mut taken, mut wrong) = (BTreeSet::new(), Vec::new());
    for (place, (id, _)) in lines.iter().enumerate() {
        let Some(LineId(id)) = id else { continue };
        if !taken.insert(id.clone()) {
            let detail = format!("another {kind} in this list has the id {id}");
            wrong.push(Violation::new(format!("{at}/{place}/id"), "duplicate", detail));
        }
    }
    ApiError::if_any(wrong)?;
    let named = lines.into_iter().map(|(id, label)| match id {
        Some(LineId(id)) => id.clone(),
        None => unlike(&mut taken, &made_of(label, kind)),
    });
    Ok(named.collect())
}

/// `night_shift` for `Night shift`; the kind if the label has no letter that an id may start with.
fn made_of(label: &str, kind: &str) -> String {
    let words = label.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    let mut id = words.join("_");
    id.truncate(LONGEST_ID - "_20".len());
    if id.starts_with(|c: char| c.is_ascii_lowercase()) { id } else { kind.to_owned() }
}

/// The id, with a number appended if it is already used.
fn unlike(taken: &mut BTreeSet<String>, id: &str) -> String {
    let numbered = (2..).map(|number| format!("{id}_{number}"));
    let free = std::iter::once(id.to_owned())
        .chain(numbered)
        .find(|id| !taken.contains(id))
        .expect("a list is finite");
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_id_is_called_after_its_label_and_unlike_the_others() {
        let given = LineId("meal".to_owned());
        let long = "x".repeat(100);
        let lines = [
            (None, "Night shift"),
            (None, "Meal"),
            (Some(&given), "Lunch"),
            (None, "night  SHIFT!"),
            (None, "2nd car"),
            (None, "飯"),
            (None, long.as_str()),
        ];
        let ids = ids(lines.into_iter(), "allowance", "").expect("none is given twice");
        let expected = [
            "night_shift",
            "meal_2",
            "meal",
            "night_shift_2",
            "allowance",
            "allowance_2",
            &long[..37],
        ];
        assert_eq!(ids, expected);
    }

    #[test]
    fn ids_that_are_given_twice_are_pointed_at() {
        let given = [LineId("meal".to_owned()), LineId("meal".to_owned())];
        let lines = given.iter().map(|id| (Some(id), "Meal"));
        let refused = ids(lines, "allowance", "/allowances").expect_err("they are alike");
        assert_eq!(refused.errors[0].pointer, "/allowances/1/id");
        assert_eq!(refused.errors[0].code, "duplicate");
    }
}
