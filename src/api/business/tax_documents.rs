//! Tax documents: the forms that a company makes from its payslips, such as W-2, P60 and EMP201.
//!
//! Deliberately absent: stored documents. Each document is calculated from the payslips when it is read, so the two
//! cannot differ.

use serde_json::Value;

use crate::api::business::reports::reports;
use crate::api::business::tax_document_payslips::{
    employees, is_before_history, openings, other_days, payslips,
};
use crate::api::business::tax_document_pdf::tax_document_pdf;
use crate::api::business::tax_document_periods::Days;
use crate::api::operation::decode;
use crate::api::pdf::PdfDocument;
use crate::api::prelude::*;
use crate::model::business::Payslip;
use crate::model::business::tax_document::{self, Form, FormPeriod, Recipient};
use crate::model::business::tax_document_boxes::{
    FilledBox, FilledRow, Reporting, Subject, boxes, reporting, rows,
};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/tax-documents",
        summary: "List tax documents",
        description: "Lists the forms that can be made from a company's payslips, ordered by form, \
            period and employee. A form for employees or contractors has one document for each \
            person. Voided payslips are not included. Fees of contractors are included when they \
            are paid.",
        example: r#"{"company_id":"@company:1"}"#,
        long: true,
        ..operation!(read list_tax_documents)
    },
    Operation {
        path: "/api/business/tax-documents/{form}",
        summary: "Read a tax document",
        description: "Returns a form with its boxes. The amounts are sums of the payslips of the \
            period, without voided payslips. The form is not stored: it changes with the payslips \
            until the period is over. Amounts are in the currency of the payslips. With `Accept: \
            application/pdf` it returns a PDF.",
        example: r#"{"form":"H1","company_id":"@company:1","period":"2025"}"#,
        pdf: Some(page),
        long: true,
        ..operation!(read get_tax_document)
    },
    Operation {
        name: "get_tax_document_pdf",
        path: "/api/business/tax-documents/{form}/pdf",
        summary: "Read a tax document as PDF",
        description: "Returns the PDF of a form, like `getTaxDocument` with `Accept: \
            application/pdf`.",
        example: r#"{"form":"H1","company_id":"@company:1","period":"2025"}"#,
        pdf: Some(page),
        only_pdf: true,
        long: true,
        ..operation!(read get_tax_document)
    },
]);

fn page(world: &World, input: Value) -> Result<PdfDocument> {
    let document = get_tax_document(world, decode(input)?)?.0;
    tax_document_pdf(world, &document)
}

/// Input of `listTaxDocuments`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListTaxDocuments {
    #[serde(flatten)]
    paging: Paging,
    /// The company whose payslips the forms contain.
    company_id: Id<Company>,
    /// Filter by form, such as `W-2`.
    form: Option<Text<16>>,
    /// Filter by period, as the list shows it.
    period: Option<Text<10>>,
    /// Filter by employee. Forms of the employer are then left out.
    employee_id: Option<Id<Employee>>,
}

/// Input of `getTaxDocument`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetTaxDocument {
    /// The name of the form, such as `W-2`, `941`, `P60`.
    form: Text<16>,
    /// The company whose payslips the form contains.
    company_id: Id<Company>,
    /// The period: a tax year by the calendar year in which it begins (`2025`), a quarter (`2026-Q1`), a month (`2026-01`), a pay date
    /// (`2026-01-23`). Optional for a form about the end of an employment, whose period is the last day of work.
    period: Option<Text<10>>,
    /// The employee; required for a form of the employee.
    employee_id: Option<Id<Employee>>,
}

/// A form that can be made from payslips.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TaxDocumentEntry {
    /// The name of the form.
    form: &'static str,
    /// The title of the form.
    title: &'static str,
    /// The country, ISO 3166-1 alpha-2.
    jurisdiction: &'static str,
    /// Who receives the form.
    recipient: Recipient,
    /// The period, as `getTaxDocument` takes it.
    period: String,
    /// The first day of the period.
    starts_on: Date,
    /// The last day of the period.
    ends_on: Date,
    /// The company whose payslips the form contains.
    company_id: Id<Company>,
    /// The employee, for a form of the employee or contractor.
    employee_id: Option<Id<Employee>>,
    /// The number of payslips, including the pays of the tax year before the world's history.
    payslip_count: u64,
    /// Whether the form must be filed; only for a form that is not required for small totals.
    #[serde(skip_serializing_if = "Option::is_none")]
    reporting: Option<Reporting>,
}

/// A form with its boxes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TaxDocument {
    #[serde(flatten)]
    pub(crate) entry: TaxDocumentEntry,
    /// Whether the period is over. Until then, more payslips can follow.
    complete: bool,
    /// The currency of every amount.
    pub(crate) currency: Currency,
    /// The boxes.
    pub(crate) boxes: Vec<FilledBox>,
    /// The rows, for a form with one row for each employee, month or quarter.
    pub(crate) rows: Vec<FilledRow>,
    /// Where the boxes are described.
    sources: Vec<&'static str>,
}

reports!(TaxDocument);

impl TaxDocument {
    pub(crate) const fn form(&self) -> &'static str {
        self.entry.form
    }

    pub(crate) const fn title(&self) -> &'static str {
        self.entry.title
    }

    pub(crate) fn period(&self) -> &str {
        &self.entry.period
    }

    pub(crate) const fn days(&self) -> (Date, Date) {
        (self.entry.starts_on, self.entry.ends_on)
    }

    pub(crate) const fn company_id(&self) -> Id<Company> {
        self.entry.company_id
    }

    pub(crate) const fn payslip_count(&self) -> u64 {
        self.entry.payslip_count
    }

    pub(crate) const fn employee_id(&self) -> Option<Id<Employee>> {
        self.entry.employee_id
    }

    pub(crate) const fn reporting(&self) -> Option<&Reporting> {
        self.entry.reporting.as_ref()
    }
}

fn list_tax_documents(world: &World, input: ListTaxDocuments) -> Result<List<TaxDocumentEntry>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let employee = of_company(world, &company, input.employee_id)?;
    let form = input.form.as_ref().map(|form| form_of(form.as_str())).transpose()?;
    let payslips = payslips(world, &company, None, employee.as_deref())?;
    let employees = employees(world, &payslips);
    let wanted = tax_document::all().enumerate().filter(|(_, (_, known))| {
        let is_form = form.is_none_or(|(_, form)| form.name == known.name);
        is_form && (input.employee_id.is_none() || known.recipient.is_person())
    });
    let mut entries = BTreeMap::new();
    for (place, (country, form)) in wanted {
        for payslip in &payslips {
            let person = employees.get(&payslip.employee_id);
            let pay = &payslip.calculation;
            if !form.declares(country, &company, person.map(AsRef::as_ref), pay)
                || (is_before_history(payslip) && !form.period.is_of_tax_year())
            {
                continue;
            }
            let ended = person.and_then(|it| it.end_date).filter(|day| *day <= world.today());
            let Some(days) = Days::of_pay(country, form, payslip, ended) else {
                continue;
            };
            let about = person.filter(|_| form.recipient.is_person());
            if left_before(form, &days, about) {
                continue;
            }
            let id = about.map(|it| it.id);
            let key = (place, days.first, days.last, id);
            let found = entries
                .entry(key)
                .or_insert_with(|| (form, entry(country, form, &company, days, id), Vec::new()));
            found.2.push(Arc::clone(payslip));
        }
    }
    let mut entries: Vec<TaxDocumentEntry> =
        entries.into_values().map(|(form, entry, paid)| entry.of(form, &paid)).collect();
    entries.retain(|it| input.period.as_ref().is_none_or(|name| it.period == name.as_str()));
    Ok(input.paging.list(&entries, Clone::clone))
}

fn get_tax_document(world: &World, input: GetTaxDocument) -> Result<Data<TaxDocument>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let (country, form) = form_of(input.form.as_str())?;
    let employee = of_company(world, &company, input.employee_id)?;
    let employee = match (form.recipient, employee) {
        (Recipient::Employer, Some(_)) => {
            let detail = format!("form {} is about the company: omit employee_id", form.name);
            return Err(ApiError::of_member("/employee_id", "not_allowed", detail));
        }
        (Recipient::Employee | Recipient::Contractor, None) => {
            let detail = format!("form {} is about one person: give an employee_id", form.name);
            return Err(ApiError::of_member("/employee_id", "required", detail));
        }
        (_, employee) => employee,
    };
    let days = days(world, (country, form), input.period.as_ref(), employee.as_deref())?;
    if left_before(form, &days, employee.as_ref()) {
        let detail = format!(
            "form {} is only for employees who are still employed on {}, the last day of the period",
            form.name, days.last
        );
        return Err(ApiError::of_member("/employee_id", "employment_ended", detail));
    }
    let mut found = payslips(world, &company, Some(&days), employee.as_deref())?;
    let employees = employees(world, &found);
    found.retain(|payslip| {
        let person = employees.get(&payslip.employee_id).map(AsRef::as_ref);
        let is_known = form.period.is_of_tax_year() || !is_before_history(payslip);
        is_known && form.declares(country, &company, person, &payslip.calculation)
    });
    let Some(first) = found.first() else {
        return Err(no_payslips(world, &company, country, form, &days, employee.as_deref()));
    };
    let currency = first.currency;
    let other_days = other_days(world, &company, (country, form), &days)?;
    let subject = Subject {
        company: &company,
        other_days: &other_days,
        employees: &employees,
        openings: &openings(world, &employees, &found),
        first_day: days.first,
        last_day: days.last,
    };
    let (complete, id) = (days.last < world.today(), employee.map(|it| it.id));
    let entry = entry(country, form, &company, days, id).of(form, &found);
    Ok(Data(TaxDocument {
        entry,
        complete,
        currency,
        boxes: boxes(form, &subject, &found),
        rows: rows(form, &subject, &found),
        sources: form.sources(),
    }))
}

fn entry(
    jurisdiction: &'static str,
    form: &'static Form,
    company: &Company,
    days: Days,
    employee_id: Option<Id<Employee>>,
) -> TaxDocumentEntry {
    TaxDocumentEntry {
        form: &form.name,
        title: &form.title,
        jurisdiction,
        recipient: form.recipient,
        period: days.name,
        starts_on: days.first,
        ends_on: days.last,
        company_id: company.id,
        employee_id,
        payslip_count: 0,
        reporting: None,
    }
}

impl TaxDocumentEntry {
    /// The document of these payslips.
    fn of(self, form: &Form, payslips: &[Arc<Payslip>]) -> Self {
        let reporting = reporting(form, self.ends_on, payslips);
        Self { payslip_count: payslips.len() as u64, reporting, ..self }
    }
}

/// The form of that name, or the 422 that lists all forms.
fn form_of(name: &str) -> Result<(&'static str, &'static Form)> {
    Form::find(name).ok_or_else(|| {
        let known: Vec<&str> = tax_document::all().map(|(_, form)| form.name.as_str()).collect();
        let detail = format!("there is no form {name}; the forms are {}", known.join(", "));
        ApiError::of_member("/form", "unknown_form", detail)
    })
}

/// The employee, or the 422 if another company employs them.
fn of_company(
    world: &World,
    company: &Company,
    employee: Option<Id<Employee>>,
) -> Result<Option<Arc<Employee>>> {
    let employee = employee.map(|id| existing(world, id, "/employee_id")).transpose()?;
    if employee.as_ref().is_some_and(|it| it.company_id != company.id) {
        let detail = format!("the employee does not work for {}", company.id);
        return Err(ApiError::of_member("/employee_id", "foreign_employee", detail));
    }
    Ok(employee)
}

/// Whether an employee has left before the end of the period, for a form that requires employment on its last day.
fn left_before(form: &Form, days: &Days, employee: Option<&Arc<Employee>>) -> bool {
    let ended = employee.and_then(|employee| employee.end_date);
    form.employed_on_last_day && ended.is_some_and(|day| day < days.last)
}

/// The days of the period, or the 422 for one that the form does not have.
fn days(
    world: &World,
    (country, form): (&str, &Form),
    period: Option<&Text<10>>,
    employee: Option<&Employee>,
) -> Result<Days> {
    let ended = employee.and_then(|it| it.end_date).filter(|day| *day <= world.today());
    if form.period != FormPeriod::Employment {
        let Some(name) = period else {
            let detail = format!("form {} requires a period", form.name);
            return Err(ApiError::of_member("/period", "required", detail));
        };
        return Days::read(country, form, name.as_str());
    }
    let Some(ended) = ended else {
        let detail = "the employment has not ended".to_owned();
        return Err(ApiError::of_member("/employee_id", "still_employed", detail));
    };
    let days = Days::read(country, form, &ended.to_string())?;
    if period.is_some_and(|name| name.as_str() != days.name) {
        let detail = format!("the employment ended on {ended}");
        return Err(ApiError::of_member("/period", "invalid_value", detail));
    }
    Ok(days)
}

/// The 422 for a document without payslips: it names the member that is wrong.
fn no_payslips(
    world: &World,
    company: &Company,
    country: &str,
    form: &Form,
    days: &Days,
    employee: Option<&Employee>,
) -> ApiError {
    let paid = |days, employee| {
        let found = payslips(world, company, days, employee).unwrap_or_default();
        let people = employees(world, &found);
        found.iter().any(|payslip| {
            let person = people.get(&payslip.employee_id).map(AsRef::as_ref);
            form.declares(country, company, person, &payslip.calculation)
        })
    };
    if !paid(None, None) {
        let whose = match form.recipient {
            Recipient::Contractor => {
                "is not a company of that country that has paid a contractor there"
            }
            _ => "has no payslip of that country",
        };
        let detail = format!("{} is a form of {country}, and the company {whose}", form.name);
        return ApiError::of_member("/form", "foreign_form", detail);
    }
    let range = format!("from {} to {}", days.first, days.last);
    if employee.is_some() && paid(Some(days), None) {
        let detail = format!("the employee has no payslip with a pay date {range}");
        return ApiError::of_member("/employee_id", "no_payslips", detail);
    }
    let detail = format!("there is no payslip with a pay date {range}");
    ApiError::of_member("/period", "no_payslips", detail)
}
