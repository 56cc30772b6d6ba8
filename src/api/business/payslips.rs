//! Payslips: list and read.

use crate::api::business::payroll::Months;
use crate::api::business::payslip_pdf::payslip_pdf;
use crate::api::operation::decode;
use crate::api::pay_history::GrownPayments;
use crate::api::prelude::*;
use crate::model::business::{Employee, PayrollRun, Payslip};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/business/payslips",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "List payslips",
        description: "In creation order; the first are those of the twelve months before the world's start.",
        ..operation!(read list_payslips)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/payslips/{payslip_id}",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Read a payslip",
        description: "Earnings, deductions line by line, employer's cost, and the totals of the tax year. With `Accept: application/pdf` \
            the same as a page to print.",
        pdf: Some(|world, input| payslip_pdf(world, decode::<OnePayslip>(input)?.payslip_id)),
        ..operation!(read get_payslip)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListPayslips {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Payslip>>,
    /// Only that employee's.
    employee_id: Option<Id<Employee>>,
    /// Only those of that month.
    period: Option<Period>,
    /// Only those of that run.
    payroll_run_id: Option<Id<PayrollRun>>,
}

impl Sortable for Payslip {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |payslip| SortKey::Number(payslip.created_at.millis())),
        ("period", |payslip| SortKey::Text(payslip.period.to_string())),
        ("pay_date", |payslip| SortKey::Text(payslip.pay_date.to_string())),
        ("net", |payslip| SortKey::Number(payslip.calculation.net)),
    ];
}

fn list_payslips(world: &World, input: ListPayslips) -> Result<List<Shown<Payslip>>, ApiError> {
    let months = Months::of(world, input.period);
    let people = GrownPayments::new(world, months, None, input.payroll_run_id, input.employee_id);
    let (base, grown) = (world.base(), people.count());
    let item = move |rank| {
        people.find(rank).map(|paid| base.item(base.run(paid.month, paid.company), paid.employee))
    };
    let created: Box<dyn Iterator<Item = Id<Payslip>>> = match input.employee_id {
        Some(employee) => Box::new(world.children::<Payslip>(employee.bits())),
        None => Box::new(world.created::<Payslip>()),
    };
    // Of the grown ones the filters are answered by arithmetic; only those since are looked at.
    let keep = |payslip: &Payslip| {
        is(input.period.as_ref(), &payslip.period)
            && is(input.payroll_run_id.as_ref(), &payslip.payroll_run_id)
    };
    let created = created.filter(|id| world.find(*id).is_some_and(|payslip| keep(&payslip)));
    let candidates = Candidates::new(grown, item, created);
    candidates.page(world, input.paging, input.sort.as_ref())
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OnePayslip {
    /// The payslip.
    payslip_id: Id<Payslip>,
}

fn get_payslip(world: &World, input: OnePayslip) -> Result<Data<Shown<Payslip>>, ApiError> {
    show(world, input.payslip_id)
}
