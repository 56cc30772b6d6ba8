//! Exports: companies of a world in the format of an import.
//!
//! An export contains what an import can create: it has no runs, payments or history. Deliberately absent: a library that writes TOML.
//! A value is written on one line, and the strings of JSON are strings of TOML.

use core::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::api::prelude::*;
use crate::model::business::{CompanyStatus, EmployeeStatus, PayrollStatus};
use crate::model::identity::Subject;
use crate::model::payroll;
use crate::world::external::EXTERNAL_ID;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/export",
    summary: "Export companies",
    description: "Writes companies of this key's world in the format of an import: settings, \
        wallets with their available balances, and employees who have not left. Without \
        `company_id`, it writes every company and every subject created since the start. For a \
        resource without an external id, the export uses the id of the resource.",
    errors: &[ErrorCode::ResourceNotFound],
    long: true,
    ..operation!(read export_companies)
}]);

/// Maximum number of employees whom a company has before the world's start, because an export is in memory as a whole.
const MOST_EMPLOYEES: u64 = 100_000;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ExportCompanies {
    /// Only this company and its subjects: its id, or `@ext:` and your own id.
    company_id: Option<Text<300>>,
}

/// Companies in the format of an import.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExportedCompanies")]
pub(crate) struct Exported {
    /// The text of an import file, in TOML.
    text: String,
    /// Number of companies in the file.
    companies: u64,
    /// Number of employees in the file.
    employees: u64,
    /// Number of customers in the file.
    customers: u64,
    /// Number of employees who have left the company, and are not in the file.
    left_out: u64,
}

fn export_companies(world: &World, input: ExportCompanies) -> Result<Plain<Exported>> {
    let only = input.company_id.map(|company| company_of(world, company.as_str())).transpose()?;
    let companies = match only {
        Some(id) => {
            let people = world.base().shape().employees_per_company;
            if world.base().index_of(id).is_some() && people > MOST_EMPLOYEES {
                let detail = format!(
                    "the company has {people} employees, and an export contains at most {MOST_EMPLOYEES}"
                );
                return Err(ApiError::of_member("/company_id", "too_many", detail));
            }
            vec![world.get(id)?]
        }
        None => world.created::<Company>().filter_map(|id| world.find(id)).collect(),
    };
    let mut export = Exported {
        text: "# Written by `sandbox export`: companies, wallets, employees and customers.\n"
            .to_owned(),
        companies: companies.len() as u64,
        employees: 0,
        customers: 0,
        left_out: 0,
    };
    for company in &companies {
        export.row("company", &of_company(company));
        let id = external(&company.metadata, company.id.to_string());
        for wallet in wallets(world, company) {
            let balance = world.balances(company.id, wallet.currency).available;
            if balance > 0 {
                let row = json!({ "company": id, "currency": wallet.currency, "balance": balance });
                export.row("wallet", &row);
            }
        }
        for employee in employees(world, company) {
            if employee.status == EmployeeStatus::Terminated {
                export.left_out += 1;
            } else {
                export.employees += 1;
                export.row("employee", &of_employee(&employee, &id));
            }
        }
    }
    let all = world.created::<Subject>().filter_map(|id| world.find(id));
    for subject in all.filter(|subject| only.is_none() || subject.company_id == only) {
        export.customers += 1;
        export.row("customer", &of_subject(world, &subject));
    }
    Ok(Plain(export))
}

/// The company of a reference.
fn company_of(world: &World, reference: &str) -> Result<Id<Company>> {
    let mut id = Value::from(reference);
    world.resolve(&mut id).map_err(|why| ApiError::new(ErrorCode::ResourceNotFound, why))?;
    let Ok(id) = id.as_str().unwrap_or_default().parse();
    Ok(id)
}

impl Exported {
    /// Adds a row; members that are null are left out.
    fn row(&mut self, key: &str, row: &Value) {
        let _ = writeln!(self.text, "\n[[{key}]]");
        for (name, value) in row.as_object().into_iter().flatten() {
            if !value.is_null() {
                let _ = writeln!(self.text, "{name} = {}", inline(value));
            }
        }
    }
}

/// The caller's own id of a resource, or its id.
fn external(metadata: &Metadata, id: String) -> String {
    metadata.pairs().get(EXTERNAL_ID).cloned().unwrap_or(id)
}

/// The metadata without the external id; null if there is none.
fn others(metadata: &Metadata) -> Value {
    let mut metadata = metadata.pairs().clone();
    metadata.remove(EXTERNAL_ID);
    if metadata.is_empty() { Value::Null } else { json!(metadata) }
}

fn of_company(company: &Company) -> Value {
    let status = match company.status {
        CompanyStatus::Pending => "pending",
        _ => "active",
    };
    json!({
        "id": external(&company.metadata, company.id.to_string()),
        "legal_name": company.legal_name,
        "country": company.country,
        "currency": company.currency,
        "status": status,
        "registration_number": company.registration_number,
        "tax_id": company.tax_id,
        "industry": company.industry,
        "payroll_settings": company.payroll_settings,
        "payment_settings": company.payment_settings,
        "address": company.address,
        "contact": company.contact,
        "metadata": others(&company.metadata),
    })
}

/// The company's own wallet and those created since the start.
fn wallets(world: &World, company: &Company) -> Vec<Arc<Wallet>> {
    let grown = world.base().index_of(company.id).and_then(|index| world.at::<Wallet>(index));
    let created = world.children::<Wallet>(company.id.bits()).filter_map(|id| world.find(id));
    grown.into_iter().chain(created).collect()
}

/// All employees, those of the start first.
fn employees(world: &World, company: &Company) -> Vec<Arc<Employee>> {
    let size = world.base().shape().employees_per_company;
    let grown = world.base().index_of(company.id).map(|index| index * size..(index + 1) * size);
    let grown = grown.into_iter().flatten().filter_map(|index| world.at::<Employee>(index));
    let created = world.children::<Employee>(company.id.bits()).filter_map(|id| world.find(id));
    grown.chain(created).collect()
}

fn of_employee(employee: &Employee, company: &str) -> Value {
    let status = match employee.status {
        EmployeeStatus::Pending => "pending",
        EmployeeStatus::Suspended => "suspended",
        _ => "active",
    };
    let payroll_status = match employee.payroll_status {
        PayrollStatus::NotEnrolled | PayrollStatus::Closed => "not_enrolled",
        _ => "verified",
    };
    let attributes = match employee.tax_attributes_history.as_slice() {
        [] if employee.tax_attributes.is_empty() => Value::Null,
        [] => json!(employee.tax_attributes),
        all => all
            .iter()
            .map(|dated| {
                let mut values = json!(dated.values);
                values["effective_from"] = json!(dated.effective_from);
                values
            })
            .collect(),
    };
    json!({
        "id": external(&employee.metadata, employee.id.to_string()),
        "company": company,
        "name": employee.name,
        "role": employee.role,
        "department": employee.department,
        "country": employee.country,
        "employment_type": employee.employment_type,
        "start_date": employee.start_date,
        "status": status,
        "payroll_status": payroll_status,
        "email": employee.email,
        "tax_id": employee.tax_id,
        "compensation": pay_terms(employee),
        "payment_method": payment_method(employee),
        "year_to_date": employee.brought_in,
        "tax_attributes": attributes,
        "paid_leave": employee.paid_leave,
        "metadata": others(&employee.metadata),
    })
}

/// The pay terms of today in the form of an input.
fn pay_terms(employee: &Employee) -> Value {
    let Some(terms) = &employee.compensation else { return Value::Null };
    let mut input = json!({
        "amount": terms.amount,
        "currency": terms.currency,
        "interval": terms.interval,
    });
    if !terms.allowances.is_empty() {
        input["allowances"] = json!(terms.allowances);
    }
    if !terms.deductions.is_empty() {
        let law = employee.payroll_country();
        let pack = payroll::library().in_force(law, terms.effective_from.civil()).pack;
        let deductions = terms.deductions.iter().map(|deduction| {
            let mut input = json!(deduction);
            let kind = deduction.kind.as_ref().and_then(|kind| pack.deduction_type(kind));
            if let Some(kind) = kind {
                let taken = |amount| kind.taken_of(amount).unwrap_or(amount);
                input["amount"] = before(deduction.amount, taken).into();
            }
            input
        });
        input["deductions"] = deductions.collect();
    }
    input
}

/// The smallest deduction from which `amount` is taken, because some laws take only a part of a deduction from pay.
fn before(amount: i64, taken: impl Fn(i64) -> i64) -> i64 {
    let (mut least, mut most) = (amount, amount.saturating_mul(8));
    while least < most {
        let middle = least + (most - least) / 2;
        if taken(middle) < amount {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    least
}

/// The accounts for wages in the form of an input: without what follows from the bank's code.
fn payment_method(employee: &Employee) -> Value {
    let mut method = json!(employee.payment_method);
    let plain = |account: &mut Map<String, Value>| {
        account.shift_remove("bank_name");
        account.shift_remove("iban");
    };
    let Some(account) = method.as_object_mut() else { return Value::Null };
    plain(account);
    let splits = account.get_mut("splits").and_then(Value::as_array_mut);
    splits.into_iter().flatten().filter_map(Value::as_object_mut).for_each(plain);
    method
}

fn of_subject(world: &World, subject: &Subject) -> Value {
    let own = subject.external_id.clone().unwrap_or_else(|| subject.id.to_string());
    // A company or an employee is found by the id that the same file gives it.
    let company = subject.company_id.and_then(|id| world.find(id));
    let company = company.map(|it| external(&it.metadata, it.id.to_string()));
    let employee = subject.employee_id.and_then(|id| world.find(id));
    let employee = employee.map(|it| external(&it.metadata, it.id.to_string()));
    let numbers =
        if subject.id_numbers.is_empty() { Value::Null } else { json!(subject.id_numbers) };
    json!({
        "id": external(&subject.metadata, own),
        "type": subject.kind,
        "name": subject.name,
        "legal_name": subject.legal_name,
        "date_of_birth": subject.date_of_birth,
        "country": subject.country,
        "id_numbers": numbers,
        "email": subject.email,
        "phone": subject.phone,
        "address": subject.address,
        "company_id": company.map(|id| format!("@ext:company:{id}")),
        "employee_id": employee.map(|id| format!("@ext:employee:{id}")),
        "metadata": others(&subject.metadata),
    })
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members = members.map(|(name, value)| format!("{} = {}", key(name), inline(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        // The only character that JSON writes unescaped and TOML must escape.
        Value::String(_) => value.to_string().replace('\u{7f}', "\\u007f"),
        other => other.to_string(),
    }
}

/// A key: in quotes unless it is a plain word.
fn key(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(is_plain) {
        return name.to_owned();
    }
    inline(&Value::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_as_they_were() {
        let value = json!({
            "a b": "quote \" back \\ tab \t é \u{7f}",
            "list": [1, true, { "x-y": "z" }],
            "": -5,
        });
        let text = format!("value = {}", inline(&value));
        let read: toml::Value = toml::from_str(&text).expect("TOML");
        assert_eq!(serde_json::to_value(&read["value"]).expect("JSON"), value);
    }
}
