//! Growth: calculates every resource of a fresh world from its index.
//!
//! `created_at` increases by a millisecond with the index, so that the order of creation is the order of the
//! index.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a shape bounds every index to 10^9 by twelve months; draws are below small bounds"
)]

use std::sync::Arc;

use crate::model::business::{
    Address, Company, CompanyStatus, Compensation, Contact, Employee, EmployeeStatus,
    EmploymentType, PaySchedule, PaymentMethod, PaymentMethodType, PayrollSettings, PayrollStatus,
    ScheduleStatus, WageAccount,
};
use crate::model::growth::industries::ROLES;
use crate::model::growth::names::{self, Numbered};
use crate::model::growth::workforce::Place;
use crate::model::growth::{accounts, identity, people};
use crate::model::kind::{for_each_kind, typed};
use crate::model::ledger::JournalEntry;
use crate::model::payments::Wallet;
use crate::model::{Kind, Object, StatusChange, StatusHistory};
use crate::value::{CountryCode, Date, Key, Metadata, Timestamp};
use crate::world::layout::ENTRIES_A_COMPANY;
use crate::world::pay_calendar::PAY_DAYS_AFTER;
use crate::world::workplace::Workplace;
use crate::world::{Base, Plan, history};

pub(crate) use crate::world::base::Grow;

/// Implements `Grow` for kinds that new worlds do not contain. A `grown` kind without its own `impl` does not
/// compile.
macro_rules! growth {
    (grown $type:ty) => {};
    (created $type:ty) => {
        impl Grow for $type {
            fn grow(_: &Base, _: u64) -> Option<Self> {
                None
            }
        }
    };
}

macro_rules! grow_none {
    (
        kept { $($kind:ident $prefix:literal $name:literal $module:tt $states:tt $growth:ident $wire:ident;)* }
        named $named:tt
    ) => {
        $(growth!($growth typed!($module $kind));)*
    };
}

for_each_kind!(grow_none);

/// The six members of the published list, without an allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    pub(crate) person: Numbered,
    pub(crate) role: &'static str,
    pub(crate) department: &'static str,
    pub(crate) place: Place,
}

/// The name of the person with this number in the company of this plan.
pub(crate) fn person(plan: &Plan, number: u64) -> Numbered {
    names::numbered(plan.country, plan.people, number)
}

/// The title of the person with this number and place in the company of this plan.
pub(crate) fn title(plan: &Plan, number: u64, place: Place) -> &'static str {
    let is_lead = place.role == 0 && number > 0;
    let slot = if is_lead { ROLES } else { usize::from(place.role) };
    plan.country.titles.of(plan.industry_place)[slot]
}

/// The published members of the person with this number in the company of this plan.
pub(crate) fn face(plan: &Plan, number: u64) -> Face {
    let place = plan.workforce.place(number);
    let department = plan.industry.roles[usize::from(place.role)].department;
    Face { person: person(plan, number), role: title(plan, number, place), department, place }
}

pub(super) fn person_key(plan: &Plan, number: u64) -> Key {
    plan.people.at(number)
}

impl Grow for Company {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let plan = (index < base.shape().companies).then(|| base.plan(index))?;
        let known = identity::company(plan.country, plan.industry, plan.origin);
        let created_at = base.first_day().midnight().plus_millis(index as i64);
        let address = known.address;
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            status: CompanyStatus::Active,
            legal_name: known.legal_name.into(),
            country: CountryCode::parse(plan.country.code)?,
            currency: plan.currency,
            industry: Some(plan.industry.id.into()),
            registration_number: Some(known.registration_number.into()),
            founded_on: Some(known.founded_on),
            tax_id: Some(known.tax_id.into()),
            address: Some(Box::new(Address {
                line1: address.line1,
                city: address.city.to_owned(),
                region: address.region.map(str::to_owned),
                postal_code: address.postal_code,
                country: address.country.to_owned(),
            })),
            contact: Some(Box::new(Contact {
                email: Some(known.email),
                phone: Some(known.phone),
                website: Some(known.website),
            })),
            payroll_settings: PayrollSettings::default(),
            payment_settings: None,
            created_at,
            updated_at: created_at,
            metadata: Metadata::default(),
            status_history: [StatusChange::plain(CompanyStatus::Active, created_at)].into(),
        })
    }
}

impl Grow for Employee {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let size = base.shape().employees_per_company;
        if index >= base.count(Kind::Employee) {
            return None;
        }
        let (company, number) = (index / size, index % size);
        let plan = base.plan(company);
        let (face, key) = (face(&plan, number), person_key(&plan, number));
        let place = face.place;
        let name = face.person.to_string();
        let (status, payroll_status) = (place.status(), place.payroll_status());
        let first = Some(plan.tenure.first(place)).filter(|first| *first > 0);
        let joined = first.map(|first| first_day_of(&plan, first).or_business_day_after());
        let workplace = base.workplace(&plan);
        let start_date = start_date(base, &workplace, (number, key), place, joined);
        let created_at = base.first_day().midnight().plus_millis(index as i64);
        let effective_from = start_date.max(base.first_day());
        let left_on = plan.tenure.last(place).map(|last| plan.pays.span(last as i32).end);
        let left_on = left_on.map(Date::or_business_day_before);
        let status_history = status_history(base, key, (status, left_on), start_date, created_at);
        let terms = pay_terms(&plan, place, effective_from);
        let updated_at = status_history.last().map_or(created_at, |change| change.at);
        let left = (status == EmployeeStatus::Terminated).then(|| updated_at.date());
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(company),
            role: face.role.to_owned(),
            department: face.department.to_owned(),
            status,
            payroll_status,
            payroll_hold: None,
            email: Some(identity::email(face.person, &workplace.domain)),
            employment_type: employment_type(&plan, place),
            country: plan.country.code.to_owned(),
            start_date,
            end_date: left,
            end_reason: None,
            final_pay: None,
            compensation: terms.last().cloned(),
            compensation_history: if terms.len() > 1 { terms } else { Vec::new() },
            brought_in: None,
            paid_leave: None,
            payment_method: (payroll_status != PayrollStatus::NotEnrolled)
                .then(|| Arc::new(paid_to(&plan, key, name.clone()))),
            name,
            tax_id: Some(identity::personal_tax_id(plan.country, key)),
            tax_attributes: Arc::new(people::tax_attributes(
                plan.country,
                plan.key,
                place.role,
                place.step,
            )),
            tax_attributes_history: Vec::new(),
            created_at,
            updated_at,
            metadata: Metadata::default(),
            status_history,
        })
    }
}

/// The payment method of the generated employee with this index, if the employee is enrolled. Only this part of the record is calculated.
pub(crate) fn payment_method(base: &Base, index: u64) -> Option<PaymentMethod> {
    let size = base.shape().employees_per_company;
    let (plan, number) = (base.plan(index / size), index % size);
    let is_enrolled = plan.workforce.place(number).payroll_status() != PayrollStatus::NotEnrolled;
    is_enrolled.then(|| {
        let name = person(&plan, number).to_string();
        paid_to(&plan, person_key(&plan, number), name)
    })
}

/// The account of the person with that key and name.
fn paid_to(plan: &Plan, key: Key, account_name: String) -> PaymentMethod {
    let account = accounts::bank_account(plan.country, key);
    PaymentMethod {
        account: WageAccount {
            kind: PaymentMethodType::Bank,
            bank_name: Some(account.bank_name.to_owned()),
            bank_code: account.bank_code,
            account_number: account.account_number,
            iban: account.iban,
            account_name,
        },
        splits: Vec::new(),
    }
}

fn employment_type(plan: &Plan, place: Place) -> EmploymentType {
    let hours = people::hours_percent(plan.industry, plan.key, place.role, place.step);
    if hours < 100 { EmploymentType::PartTime } else { EmploymentType::FullTime }
}

/// The first day of a pay period of history.
fn first_day_of(plan: &Plan, number: u64) -> Date {
    plan.pays.span(number as i32).start
}

/// The pay terms since the first day of history: two after a raise.
fn pay_terms(plan: &Plan, place: Place, effective_from: Date) -> Vec<Compensation> {
    let [before, now] = plan.monthly_pay(place);
    let of = |amount, from| {
        let pension = plan.pension((place.role, place.step)).into_iter().collect();
        people::compensation(plan.country, plan.currency, amount, pension, from)
    };
    let raised = first_day_of(plan, plan.first_raised());
    let has_left = plan.tenure.last(place).is_some_and(|last| last < plan.first_raised());
    if has_left {
        vec![of(before, effective_from)]
    } else if before == now {
        vec![of(now, effective_from)]
    } else {
        vec![of(before, effective_from), of(now, raised)]
    }
}

/// All statuses that a grown person had. A person who is away worked on the last pay day.
fn status_history(
    base: &Base,
    key: Key,
    (status, left_on): (EmployeeStatus, Option<Date>),
    start_date: Date,
    created_at: Timestamp,
) -> StatusHistory<EmployeeStatus> {
    let last_days = base.shape().start.date().plus_days(-1 - key.with("left").below(4) as i32);
    let since = |first, then: Timestamp| {
        [StatusChange::plain(first, created_at), StatusChange::plain(status, then)].into()
    };
    match status {
        EmployeeStatus::Active if start_date > base.first_day() => {
            since(EmployeeStatus::Pending, start_date.at_hour(9))
        }
        EmployeeStatus::Active | EmployeeStatus::Pending => {
            [StatusChange::plain(status, created_at)].into()
        }
        _ => since(EmployeeStatus::Active, left_on.unwrap_or(last_days).at_hour(17)),
    }
}

/// Employees from before the history joined in any year since the foundation: the head at the foundation, most others
/// in later years. Employees who joined during the history did so on the first working day of a pay period. A new
/// employee joined in the last weeks of the history, and a future employee starts after the world's start.
fn start_date(
    base: &Base,
    workplace: &Workplace,
    (number, key): (u64, Key),
    place: Place,
    joined: Option<Date>,
) -> Date {
    let days = key.with("start_date").below(2_500) as i32;
    let start = base.shape().start.date();
    match (place.status(), place.payroll_status()) {
        (EmployeeStatus::Pending, _) => start.plus_days(5 + days % 40).or_business_day_after(),
        (EmployeeStatus::Active, PayrollStatus::Pending) => {
            start.plus_days(-3 - days % 5).or_business_day_before()
        }
        _ => joined.unwrap_or_else(|| {
            let Workplace { founded_on: founded, joined_by: last, .. } = *workplace;
            let all = last.days_since(founded) as u64;
            let draw = |nth| key.with("start_date").at(nth).below(all + 1) as i32;
            let before = if number == 0 { all as i32 } else { draw(0).min(draw(1)) };
            last.plus_days(-before).or_business_day_before()
        }),
    }
}

/// The pay schedule of a company that does not pay monthly, from the first pay period of its history.
impl Grow for PaySchedule {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let plan = (index < base.count(Kind::PaySchedule)).then(|| base.plan(index))?;
        let created_at = base.first_day().midnight().plus_millis(index as i64);
        (!plan.pays.frequency.is_month()).then(|| Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(index),
            frequency: plan.pays.frequency,
            first_day: plan.pays.first_day,
            last_day: None,
            pay_days_after: PAY_DAYS_AFTER,
            draft_days_before: None,
            next_draft: None,
            status: ScheduleStatus::Active,
            created_at,
            updated_at: created_at,
            metadata: Metadata::default(),
            status_history: [StatusChange::plain(ScheduleStatus::Active, created_at)].into(),
        })
    }
}

impl Grow for Wallet {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        history::wallet(base, index)
    }
}

impl Grow for JournalEntry {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let history = base.history_at(index / ENTRIES_A_COMPANY);
        let number = usize::try_from(index % ENTRIES_A_COMPANY).ok()?;
        history.entries.get(number).map(|entry| (**entry).clone())
    }
}
