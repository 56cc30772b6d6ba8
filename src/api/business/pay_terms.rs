//! An employee's pay terms: the first day, the amount, and monthly allowances and deductions.

use std::collections::BTreeSet;

use crate::api::business::pay_lines::{AllowanceInput, DeductionInput, allowances, deductions};
use crate::api::prelude::*;
use crate::model::business::{Compensation, Component, EmployeeStatus, PayInterval};
use crate::model::fx;
use crate::model::growth::{countries, people};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
Operation {
    method: Method::Put,
    path: "/api/business/employees/{employee_id}/compensation",
    summary: "Set an employee's pay terms",
    description: "Sets the pay terms from `effective_from` until the next terms begin. Existing \
        terms with the same first day are replaced. `compensation` shows the terms in force today; \
        `compensation_history` shows all terms if there are several. Runs that are calculated from \
        now on use the new terms; earlier calculations do not change.",
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
    /// The currency of the amount: the company's currency, or the currency of the country of employment.
    currency: Currency,
    /// The interval. A yearly amount is paid in twelve equal parts. For an hourly amount, a month has one twelfth of 52 weeks of 40 hours.
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
    if employee.status == EmployeeStatus::Terminated {
        let detail = "the employment has ended, so its pay terms cannot change".to_owned();
        return Err(refused(employee.id, employee.status, detail));
    }
    let today = world.today();
    let company = world.get(employee.company_id)?;
    let usual = match employee.status {
        EmployeeStatus::Pending => employee.start_date.max(today),
        _ => today,
    };
    let from = input.effective_from.unwrap_or(usual);
    let payee = Payee {
        company: &company,
        country: &employee.country,
        law: employee.payroll_country(),
        paid_in: employee.paid_in(),
    };
    let terms = compensation(&payee, input.terms, from, today, "")?;
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
    world.drop_timers(waiting);
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
    /// Country of employment.
    pub(crate) country: &'a str,
    /// The country of the payroll pack.
    pub(crate) law: &'a str,
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
        let at_home = Some(company).filter(|_| *self.country == *self.company.country);
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
    let components = match countries::find(payee.law) {
        Some(country) => people::parts(country, month),
        None => vec![Component { id: "basic".to_owned(), amount: month }],
    };
    let allowances = allowances(terms.allowances, &format!("{at}/allowances"))?;
    let deductions =
        deductions(payee.law, effective_from, terms.deductions, &format!("{at}/deductions"))?;
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
