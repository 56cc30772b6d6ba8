//! The steps of situations, performed in the world of one key: calls, with references to earlier replies and to the world.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::business::accounting_periods::is_open;
use crate::api::business::pay_periods::{first_free_month, paid_until, schedules};
use crate::api::check::Checker;
use crate::api::operation::Call;
use crate::api::prelude::*;
use crate::api::system;
use crate::model::business::{CompanyStatus, Employee, EmployeeStatus};
use crate::model::payments::Invoice;
use crate::world::RequestRef;
use crate::world::script::OutcomeRule;

/// The control operation in which an override can choose the resource by the name of its kind.
const TRANSITION: &str = "transition_resource";

/// Replies that earlier steps have saved.
#[derive(Default)]
pub(crate) struct Saves {
    replies: BTreeMap<String, Value>,
    /// Cached checkers of the called operations, because compiling one takes longer than most calls.
    checkers: BTreeMap<&'static str, Checker>,
}

impl Saves {
    /// Performs one step, a call of that row: its input, and the name under which its reply is stored. `own` replaces
    /// members of the input, `outcomes` are the answers of the outside world.
    pub(crate) fn perform(
        &mut self,
        world: &mut World,
        row: &'static Operation,
        (with, save): (&Value, Option<&str>),
        own: &Map<String, Value>,
        outcomes: &[OutcomeRule],
        origin: &Arc<RequestRef>,
    ) -> Result<(), ApiError> {
        let mut input = with.clone();
        let own = if row.name == TRANSITION { moved(own)? } else { own.clone() };
        let company = company_of(world, &own);
        if let Some(members) = input.as_object_mut() {
            members.extend(own);
        }
        self.fill_in(world, &mut input, company)?;
        let resolved = world.resolve(&mut input);
        resolved.map_err(|detail| ApiError::new(ErrorCode::ResourceNotFound, detail))?;
        let checker = self.checkers.entry(row.name).or_insert_with(|| row.checker());
        ApiError::if_any(checker.check(&input))?;
        let reply = match row.call {
            Call::Read(call) => call(world, input)?,
            _ => system::perform(world, row, Arc::clone(origin), outcomes.to_vec(), input)?,
        };
        if let Some(name) = save {
            let body = serde_json::from_slice(&reply.into_bytes());
            self.replies.insert(name.to_owned(), body.expect("a reply is JSON"));
        }
        Ok(())
    }

    /// Replaces `@name.member` by the saved value, and `@world.name` by a value of the world or of that company.
    fn fill_in(
        &self,
        world: &World,
        value: &mut Value,
        company: Option<Id<Company>>,
    ) -> Result<(), ApiError> {
        match value {
            Value::String(text) => {
                let mut parts = text.strip_prefix('@').unwrap_or_default().split('.');
                let root = match parts.next().unwrap_or_default() {
                    "world" => of_world(world, parts.next().unwrap_or_default(), company)?,
                    // Text of an override without a known name is unchanged.
                    name => match self.replies.get(name) {
                        Some(saved) => Some(saved.clone()),
                        None => return Ok(()),
                    },
                };
                let found = parts.try_fold(root, |value, part| Some(inside(&value?, part)));
                *value = found.flatten().ok_or_else(|| missing(text))?;
                Ok(())
            }
            Value::Object(members) => {
                let mut members = members.values_mut();
                members.try_for_each(|member| self.fill_in(world, member, company))
            }
            Value::Array(items) => {
                items.iter_mut().try_for_each(|item| self.fill_in(world, item, company))
            }
            _ => Ok(()),
        }
    }
}

/// The company that an override names: its employees are in the call, too.
fn company_of(world: &World, own: &Map<String, Value>) -> Option<Id<Company>> {
    let mut named = own.get("company_id")?.clone();
    world.resolve(&mut named).ok()?;
    serde_json::from_value(named).ok().filter(|id| *id != Id::UNKNOWN)
}

fn inside(value: &Value, part: &str) -> Option<Value> {
    match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?).cloned(),
        other => other.get(part).cloned(),
    }
}

/// An earlier call had another result than the situation needs, because of the state of the world, an override or a rule.
fn missing(reference: &str) -> ApiError {
    let detail = format!(
        "no earlier call returned {reference}: the override, a rule or the state of the world prevented it"
    );
    ApiError::of_member("/type", NOT_CAUSED, detail)
}

/// The violation of an event that did not happen although all calls were accepted.
pub(crate) const NOT_CAUSED: &str = "not_caused";

/// Members that choose the resource of a transition, under the name of the transition's own member.
fn moved(own: &Map<String, Value>) -> Result<Map<String, Value>, ApiError> {
    let mut chosen = Map::new();
    let mut wrong = Vec::new();
    for (name, value) in own {
        match name.as_str() {
            "employee_id" | "company_id" | "resource_id" if value.is_string() => {
                chosen.insert("resource_id".to_owned(), value.clone());
            }
            "employee_id" | "company_id" | "resource_id" => {
                let pointer = format!("/override/{name}");
                wrong.push(Violation::new(pointer, "type", "expected an id"));
            }
            _ => {
                let detail =
                    "only the resource can be chosen here: employee_id, company_id or resource_id";
                let name = name.replace('~', "~0").replace('/', "~1");
                wrong.push(Violation::new(format!("/override/{name}"), "unknown", detail));
            }
        }
    }
    if wrong.is_empty() { Ok(chosen) } else { Err(ApiError::invalid(wrong)) }
}

/// A value of the world by its name, or of that company; none if there is no such name.
fn of_world(
    world: &World,
    name: &str,
    company: Option<Id<Company>>,
) -> Result<Option<Value>, ApiError> {
    let found = match name {
        "today" => world.today().to_string().into(),
        "month" => world.today().period().to_string().into(),
        "open_month" => open_month(world).to_string().into(),
        // Different for each situation, since each adds to the log.
        "count" => world.log_length().to_string().into(),
        "reference" => format!("TRIGGERED-{}", world.log_length()).into(),
        "free_day" => free_day(world).to_string().into(),
        // The currency of the named company, or of the new company of `companies.toml`.
        "currency" => match company {
            Some(company) => json!(world.get(company)?.currency),
            None => "GBP".into(),
        },
        "foreign_currency" => {
            let first = world.at::<Company>(0);
            let is_euro = first.is_some_and(|company| company.currency.code() == "EUR");
            if is_euro { "USD" } else { "EUR" }.into()
        }
        "payable" => {
            let (company, employees) = payable(world, 1, company, false)?;
            json!({ "id": employees[0], "currency": world.get(company)?.currency })
        }
        "payroll" | "payroll_to_approve" | "payroll_of_two" => {
            let is_approved = name == "payroll_to_approve";
            let two = payable(world, 2, company, is_approved);
            let one = |error| match name {
                "payroll_of_two" => Err(error),
                _ => payable(world, 1, company, is_approved),
            };
            let (company, employees) = two.or_else(one)?;
            let period = first_free_month(world, &*world.get(company)?, &employees)?;
            json!({ "company_id": company, "employees": employees, "period": period })
        }
        "pay_schedule" => {
            let (company, first_day) = schedulable(world)?;
            json!({ "company_id": company, "first_day": first_day })
        }
        "overdue_invoice" => overdue_invoice(world)?.to_string().into(),
        _ => return Ok(None),
    };
    Ok(Some(found))
}

/// The latest ended month that the first company has not closed.
fn open_month(world: &World) -> Period {
    let ended = (1..).map(|back| world.today().period().plus_months(-back));
    let company = world.base().id_at(0);
    let mut open = ended.filter(|month| is_open(world, company, month.first_day()));
    open.next().expect("a company closes a finite number of months")
}

/// Grown invoices that are tried.
const TRIED_INVOICES: u64 = 10_000;

/// An unpaid invoice of the history whose due date has passed.
fn overdue_invoice(world: &World) -> Result<Id<Invoice>, ApiError> {
    let grown = 0..world.base().count(Kind::Invoice).min(TRIED_INVOICES);
    let mut overdue = grown.filter_map(|index| world.at::<Invoice>(index));
    let overdue = overdue.find(|invoice| invoice.overdue && invoice.status.is_owed());
    overdue.map(|invoice| invoice.id).ok_or_else(|| {
        let detail = "no invoice of the history is overdue: reset the world";
        ApiError::new(ErrorCode::InvalidStateTransition, detail)
    })
}

/// Number of future days to choose from.
const DAYS: u64 = 10_000;

/// A future day that no earlier situation has used, while the log has fewer than [`DAYS`] events.
fn free_day(world: &World) -> Date {
    let ahead = i32::try_from(world.log_length() % DAYS + 1).unwrap_or(1);
    world.today().plus_days(ahead)
}

/// Companies and employees of each company that are tried.
const TRIED: u64 = 100;

/// A company that can pay, and the first of the month from which a new pay schedule can begin.
fn schedulable(world: &World) -> Result<(Id<Company>, Date), ApiError> {
    let companies = (0..world.base().shape().companies.min(TRIED))
        .filter_map(|index| world.at::<Company>(index))
        .filter(|company| company.status == CompanyStatus::Active);
    let mut last_days = companies.filter_map(|company| {
        let ended = schedules(world, company.id).into_iter().filter_map(|known| known.last_day);
        Some((company.id, ended.chain(paid_until(world, &company)).max()?))
    });
    let (company, last) = last_days.next().ok_or_else(|| {
        let detail = "no company is active: reset the world";
        ApiError::new(ErrorCode::InvalidStateTransition, detail)
    })?;
    let next = last.plus_days(1);
    let month = next.period().plus_months(i32::from(next != next.period().first_day()));
    Ok((company, month.first_day()))
}

/// The named company, or a company with or without approvals, and that number of its payable employees.
fn payable(
    world: &World,
    people: usize,
    named: Option<Id<Company>>,
    is_approved: bool,
) -> Result<(Id<Company>, Vec<Id<Employee>>), ApiError> {
    let size = world.base().shape().employees_per_company;
    let tried = match named.and_then(|id| world.base().index_of(id)) {
        Some(index) => index..index + 1,
        None => 0..world.base().shape().companies.min(TRIED),
    };
    for index in tried {
        let active = world.at::<Company>(index).filter(|company| {
            company.status == CompanyStatus::Active
                && (named.is_some() || company.payroll_settings.approval_required == is_approved)
        });
        let Some(company) = active else { continue };
        let employees: Vec<Id<Employee>> = (0..size.min(TRIED))
            .filter_map(|number| world.at::<Employee>(index * size + number))
            .filter(|employee| {
                employee.status == EmployeeStatus::Active && employee.not_payable().is_none()
            })
            .map(|employee| employee.id)
            .take(people)
            .collect();
        if employees.len() == people {
            return Ok((company.id, employees));
        }
    }
    let needs = if people == 1 { "1 employee" } else { "2 employees" };
    let detail = if size < people as u64 {
        format!(
            "this event requires {needs} of one company, and the companies of this world have \
                {size}: `POST /_sandbox/reset` with `{{\"employees_per_company\":{people}}}` \
                replaces the world"
        )
    } else {
        format!("no company has {needs} who can be paid: reset the world, or verify employees")
    };
    Err(ApiError::new(ErrorCode::EmployeeNotPayable, detail))
}

/// The request of a step: its number, and the length of the log before the first step.
pub(crate) fn origin(
    world: &World,
    (purpose, operation): (&str, &'static str),
    logged: u64,
    place: u64,
) -> Arc<RequestRef> {
    let key = world.base().key().with(purpose).at(logged).at(place);
    Arc::new(RequestRef {
        id: Id::from_bits(key.hash()),
        operation: operation.into(),
        idempotency_key: None,
        trace: None,
    })
}
