//! Payslips: list and read.

use serde_json::Value;

use crate::api::business::payslip_pdf::payslip_pdf;
use crate::api::operation::decode;
use crate::api::pay_history::{GrownPayments, pays};
use crate::api::pdf::PdfDocument;
use crate::api::prelude::*;
use crate::model::business::{PayrollRun, Payslip};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/payslips",
        summary: "List payslips",
        description: "Lists payslips, newest first, including those of the twelve months before the \
            world's start.",
        long: true,
        ..operation!(read list_payslips)
    },
    Operation {
        path: "/api/business/payslips/{payslip_id}",
        summary: "Read a payslip",
        description: "Returns a payslip with earnings, deductions, the employer's cost, and totals \
            of the tax year. With `Accept: application/pdf` it returns a PDF.",
        pdf: Some(page),
        ..operation!(get get_payslip: Payslip)
    },
    Operation {
        path: "/api/business/payslips/{payslip_id}/pdf",
        summary: "Read a payslip as PDF",
        description: "Returns the PDF of a payslip, like `getPayslip` with `Accept: \
            application/pdf`.",
        pdf: Some(page),
        only_pdf: true,
        ..operation!(get get_payslip_pdf: Payslip)
    },
]);

fn page(world: &World, input: Value) -> Result<PdfDocument> {
    payslip_pdf(world, decode::<One<Payslip>>(input)?.id)
}

list! {
    struct ListPayslips of Payslip, of employee_id;
    filter
        employee_id: Id<Employee>,
        company_id: Id<Company>,
        /// Filter by month.
        period: Period,
        /// Filter by run.
        payroll_run_id: Id<PayrollRun>;
    sort created_at, period, pay_date, net = calculation.net;
    newest first;
}

fn list_payslips(world: &World, input: ListPayslips) -> Result<List<Shown<Payslip>>> {
    let pays = pays(world, input.period, |times| times.paid);
    let people =
        GrownPayments::new(world, pays, input.company_id, input.payroll_run_id, input.employee_id);
    let (base, grown) = (world.base(), people.count());
    let item = move |rank| {
        people.find(rank).map(|paid| base.item(base.run(paid.pay, paid.company), paid.employee))
    };
    let created: Box<dyn Iterator<Item = Id<Payslip>>> = match input.employee_id {
        Some(employee) => Box::new(world.children::<Payslip>(employee.bits())),
        None => Box::new(world.created::<Payslip>()),
    };
    // Arithmetic answers the filters for grown payslips; only created ones are read.
    let accepts = |payslip: Arc<Payslip>| input.accepts(&payslip);
    let created = created.filter(|id| world.find(*id).is_some_and(accepts));
    let candidates = Candidates::new(grown, item, created);
    candidates.page(world, input.paging, input.sort.as_ref())
}
