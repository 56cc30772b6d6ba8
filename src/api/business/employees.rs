//! Employees: the published list (specification, §4.2), create, read, update.

use schemars::{Schema, SchemaGenerator};

use crate::api::business::brought_in::{YearToDateInput, brought_in};
use crate::api::business::companies::{Country, known_country};
use crate::api::business::employee_list::list;
use crate::api::business::employee_merge::Filter;
use crate::api::business::employee_page::EmployeePage;
use crate::api::business::paid_leave::PaidLeaveInput;
use crate::api::business::pay_terms::{CompensationInput, Payee, compensation, wait_for_changes};
use crate::api::business::payment_account::{PaymentMethodInput, payment_method};
use crate::api::business::tax_attributes::{self, TaxAttributesInput, tax_attributes};
use crate::api::prelude::*;
use crate::api::reply::{IntoReply, Reply, ReplyBody, list_schema};
use crate::model::business::{EmployeeStatus, EmploymentType, PayrollStatus};
use crate::value::Email;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/employees",
        contract: Contract::Published,
        summary: "List employees",
        description: "Lists the employees of all companies in this key's world, in creation order. \
            The members and the envelope are exactly as specified; the query parameters are \
            assumed.",
        ..operation!(read list_employees)
    },
    Operation {
        path: "/api/business/employees",
        summary: "Hire an employee",
        description: "Creates an employee with the status `pending` and the payroll status \
            `not_enrolled`. Payroll runs include the employee after `verifyEmployeePayroll` and \
            activation. If the first day of work is in the future, the clock activates the \
            employee on that day; otherwise call `activateEmployee`.",
        example: r#"{"company_id":"@company:1","name":"Ada Obi","role":"Accountant","department":"Finance","start_date":"2026-02-02","compensation":{"amount":45000000,"currency":"NGN","interval":"month"},"tax_id":"1023456789"}"#,
        success: 201,
        errors: &[ErrorCode::CurrencyMismatch],
        emits: &["employee.created"],
        starts: &[TaskKind::BeginEmployment, TaskKind::ChangePay],
        ..operation!(write create_employee)
    },
    Operation {
        path: "/api/business/employees/{employee_id}",
        summary: "Read an employee",
        description: "Returns the complete record: pay terms, bank account, tax attributes, status \
            history.",
        ..operation!(get get_employee: Employee)
    },
    Operation {
        method: Method::Patch,
        path: "/api/business/employees/{employee_id}",
        summary: "Update an employee",
        description: "Changes only the given members. The status cannot be changed here: other \
            operations change it.",
        example: r#"{"role":"Senior Accountant"}"#,
        emits: &["employee.updated"],
        starts: &[TaskKind::ChangePay],
        ..operation!(write update_employee)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListEmployees {
    // Not flattened from `Paging` as elsewhere: this is the busiest row, and flattening buffers every member.
    /// Page number, from 1. A page after the end is empty.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    page: Option<u64>,
    /// Rows per page, from 1. Values above 100 are treated as 100. Default: 25.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    per_page: Option<u64>,
    sort: Option<Sort<Employee>>,
    /// Filter by company.
    company_id: Option<Id<Company>>,
    /// Filter by employment status.
    status: Option<EmployeeStatus>,
    /// Filter by payroll status.
    payroll_status: Option<PayrollStatus>,
    /// Filter by department.
    department: Option<Text<100>>,
    /// Filter by a part of the name, ignoring case.
    q: Option<Text<100>>,
}

sortable!(Employee: created_at, name, role, department);

/// One row of the published list: six members and no other (specification, §2).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EmployeeSummary")]
pub(crate) struct EmployeeRow {
    /// Employee identifier.
    pub(crate) id: Id<Employee>,
    /// Full name.
    pub(crate) name: String,
    /// Job title.
    pub(crate) role: String,
    /// Department name.
    pub(crate) department: String,
    /// Employment status.
    pub(crate) status: EmployeeStatus,
    /// Payroll verification status.
    pub(crate) payroll_status: PayrollStatus,
}

impl IntoReply for EmployeePage {
    fn into_reply(self) -> Reply {
        Reply { list: true, ..Reply::of(ReplyBody::Bytes(self.into_bytes())) }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        list_schema::<EmployeeRow>(generator)
    }
}

fn list_employees(world: &World, input: ListEmployees) -> Result<EmployeePage> {
    let filter = Filter {
        company: input.company_id,
        status: input.status,
        payroll_status: input.payroll_status,
        department: input.department.map(Text::into_string),
        name: input.q.map(|q| q.as_str().to_lowercase()),
    };
    list(world, &filter, Paging::new(input.page, input.per_page), input.sort.as_ref())
}

/// A new employee.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateEmployee {
    /// The employer.
    company_id: Id<Company>,
    /// Full name.
    name: Text<200>,
    /// Job title.
    role: Text<100>,
    /// Name of the department.
    department: Text<100>,
    /// Country of employment, ISO 3166-1 alpha-2. Its tax law applies, and wages are paid there. Default: the company's country.
    country: Option<Country>,
    /// First day of work.
    start_date: Date,
    /// Work e-mail address.
    email: Option<Email>,
    /// Terms of employment. Default: `full_time`.
    employment_type: Option<EmploymentType>,
    /// The pay terms.
    compensation: Option<CompensationInput>,
    /// The account that wages are paid to.
    payment_method: Option<PaymentMethodInput>,
    /// The employee's number at the tax authority.
    tax_id: Option<Text<64>>,
    /// What the employee was paid earlier in the tax year by any employer. Cumulative taxes and yearly caps continue from these totals.
    year_to_date: Option<YearToDateInput>,
    /// Attributes for the country's payroll pack, such as `tax_code` or `filing_status`, or a list
    /// of attributes with their first days. They apply from `effective_from` on. Default: the first
    /// day of work.
    tax_attributes: Option<TaxAttributesInput>,
    /// Paid leave that accrues, instead of the company's setting.
    paid_leave: Option<PaidLeaveInput>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_employee(world: &mut World, input: CreateEmployee) -> Result<Single<Employee>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let (now, name) = (world.now(), input.name.into_string());
    let (first, today) = (input.start_date, world.today());
    let country = input.country.map(|country| country.0);
    if let Some(country) = &country {
        known_country(country)?;
    }
    let country = &country.unwrap_or_else(|| company.country.to_string());
    let employment_type = input.employment_type.unwrap_or(EmploymentType::FullTime);
    let law = employment_type.payroll_country(country);
    let payee = Payee { company: &company, country, law, paid_in: None };
    let terms =
        input.compensation.map(|terms| compensation(&payee, terms, first, today, "/compensation"));
    let method = input
        .payment_method
        .map(|method| payment_method(country, method, &name, "/payment_method"));
    let totals = input.year_to_date.map(|totals| brought_in(law, first.max(today), totals));
    let attributes = input.tax_attributes.map(|input| tax_attributes(law, first, input));
    let leave = input.paid_leave.map(|leave| leave.of(employment_type, today));
    let mut refusals = Vec::new();
    let compensation = taken(terms, &mut refusals);
    let payment_method = taken(method, &mut refusals);
    let brought_in = taken(totals, &mut refusals).flatten();
    let paid_leave = taken(leave, &mut refusals);
    let attributes = taken(attributes, &mut refusals).unwrap_or_default();
    together(refusals)?;
    let mut employee = Employee {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        role: input.role.into_string(),
        department: input.department.into_string(),
        status: EmployeeStatus::Pending,
        payroll_status: PayrollStatus::NotEnrolled,
        payroll_hold: None,
        email: input.email.map(|email| email.as_str().to_owned()),
        employment_type,
        country: country.clone(),
        start_date: first,
        end_date: None,
        end_reason: None,
        final_pay: None,
        compensation,
        compensation_history: Vec::new(),
        brought_in: brought_in.map(Box::new),
        paid_leave,
        payment_method: payment_method.map(Arc::new),
        name,
        tax_id: input.tax_id.map(Text::into_string),
        tax_attributes: Arc::default(),
        tax_attributes_history: Vec::new(),
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(EmployeeStatus::Pending, now)].into(),
    };
    tax_attributes::set(&mut employee, attributes, today);
    let employee = world.record("employee.created", employee);
    wait_for_changes(world, &employee);
    if first > today {
        world.remind_at(first.midnight(), Task::BeginEmployment(employee.id));
    }
    Ok(Data(Shown(employee)))
}

/// The value of a part of the input, if it is valid; otherwise its error is collected.
fn taken<T>(part: Option<Result<T>>, refusals: &mut Vec<ApiError>) -> Option<T> {
    part?.map_err(|refusal| refusals.push(refusal)).ok()
}

/// One error with the violations of all parts, and the code of the first.
fn together(refusals: Vec<ApiError>) -> Result<()> {
    let mut refusals = refusals.into_iter();
    let Some(first) = refusals.next() else { return Ok(()) };
    let mut errors = first.errors.clone();
    errors.extend(refusals.flat_map(|refusal| refusal.errors));
    if first.code == ErrorCode::ValidationFailed {
        return Err(ApiError::invalid(errors));
    }
    Err(first.with_errors(errors))
}

/// Changes to an employee.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct UpdateEmployee {
    /// The employee.
    employee_id: Id<Employee>,
    /// Full name.
    name: Option<Text<200>>,
    /// Job title.
    role: Option<Text<100>>,
    /// Name of the department.
    department: Option<Text<100>>,
    /// Work e-mail address.
    #[serde(default)]
    email: Change<Email>,
    /// The employee's number at the tax authority.
    #[serde(default)]
    tax_id: Change<Text<64>>,
    /// What the employee was paid earlier in the tax year; replaces the previous totals.
    year_to_date: Option<YearToDateInput>,
    /// Attributes for the country's payroll pack, or a list of attributes with their first days.
    /// They apply from `effective_from` on. Default: today, or the first day of work of a `pending`
    /// employee. Only the given attributes change; null restores the pack's default.
    tax_attributes: Option<TaxAttributesInput>,
    /// Paid leave that accrues, instead of the company's setting.
    paid_leave: Option<PaidLeaveInput>,
    /// Replaces all key-value pairs.
    #[serde(default)]
    metadata: Change<Metadata>,
}

impl UpdateEmployee {
    /// Whether it changes nothing; then there is no event.
    const fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.role.is_none()
            && self.department.is_none()
            && self.email.is_keep()
            && self.tax_id.is_keep()
            && self.year_to_date.is_none()
            && self.tax_attributes.is_none()
            && self.paid_leave.is_none()
            && self.metadata.is_keep()
    }
}

fn update_employee(world: &mut World, input: UpdateEmployee) -> Result<Single<Employee>> {
    let employee = world.get(input.employee_id)?;
    if input.is_empty() {
        return Ok(Data(Shown(employee)));
    }
    let mut employee = (*employee).clone();
    if let Some(name) = input.name {
        employee.name = name.into_string();
    }
    if let Some(role) = input.role {
        employee.role = role.into_string();
    }
    if let Some(department) = input.department {
        employee.department = department.into_string();
    }
    input.email.apply(&mut employee.email, |email| email.as_str().to_owned());
    input.tax_id.apply(&mut employee.tax_id, Text::into_string);
    let today = world.today();
    let day = match employee.status {
        EmployeeStatus::Pending => employee.start_date.max(today),
        _ => today,
    };
    if let Some(totals) = input.year_to_date {
        employee.brought_in = brought_in(employee.payroll_country(), day, totals)?.map(Box::new);
    }
    if let Some(attributes) = input.tax_attributes {
        let changes = tax_attributes(employee.payroll_country(), day, attributes)?;
        tax_attributes::set(&mut employee, changes, today);
    }
    if let Some(leave) = input.paid_leave {
        employee.paid_leave = Some(leave.of(employee.employment_type, today)?);
    }
    input.metadata.apply_or_empty(&mut employee.metadata);
    employee.updated_at = world.now();
    let employee = world.record("employee.updated", employee);
    wait_for_changes(world, &employee);
    Ok(Data(Shown(employee)))
}
