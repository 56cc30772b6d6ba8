//! Explains sums: by an account's entries, an invoice's lines, a run's people, a loan's instalments, or a year's
//! payslips.

use serde_json::Value;

use crate::api::business::accounting::ledger_account_of;
use crate::api::business::payroll::items_of;
use crate::api::business::tax_document_payslips::payslips;
use crate::api::control::explain::Part;
use crate::api::prelude::*;
use crate::model::business::{PayrollRun, Payslip};
use crate::model::capital::Loan;
use crate::model::payments::Invoice;
use crate::model::{Account, Direction};

/// The most entries of an account that are shown; the balance before them is one part.
const MOST_ENTRIES: usize = 100;

/// The account with this id, as the list shows it, and its entries.
pub(super) fn of_ledger_account(world: &World, id: &str) -> Option<(Value, Vec<Part>)> {
    let companies = Candidates::<Company>::all(world).every(world);
    let (company, account, currency, wire) = companies.into_iter().find_map(|company| {
        let (account, currency, wire) = ledger_account_of(world, &company, id)?;
        Some((company, account, currency, wire))
    })?;
    Some((wire, of_account(world, company.id, account, currency)))
}

/// The latest entries of an account, on its normal side, and the balance before them.
pub(super) fn of_account(
    world: &World,
    company: Id<Company>,
    account: Account,
    currency: Currency,
) -> Vec<Part> {
    let history = world.base().history(company);
    let grown = history.iter().flat_map(|history| history.entries.iter());
    let since = world.book(company).into_iter().flat_map(|book| book.entries.iter());
    let side = account.account_type().normal_side();
    let mut rows: Vec<Part> = Vec::new();
    for entry in grown.chain(since) {
        let own = entry.lines.iter().filter(|it| it.account == account && it.currency == currency);
        let mut own = own.peekable();
        if own.peek().is_none() {
            continue;
        }
        let sign = |direction: Direction| if direction == side { 1 } else { -1 };
        let amount = own.map(|line| sign(line.direction) * line.amount).sum();
        let mut part = Part::new(entry.memo.to_string(), amount);
        part.resource_id = Some(entry.source.to_string());
        part.reason = Some(format!("entry {} of {}", entry.id, entry.effective_on));
        rows.push(part);
    }
    let shown = rows.split_off(rows.len().saturating_sub(MOST_ENTRIES));
    let before = rows.iter().map(|part| part.amount).sum();
    let before = (!rows.is_empty()).then(|| Part::new("balance before these entries", before));
    before.into_iter().chain(shown).collect()
}

/// The lines of an invoice, and its taxes by rate.
pub(super) fn of_invoice(invoice: &Invoice, pointer: &str) -> Option<Vec<Part>> {
    let lines = invoice.lines.iter().enumerate().map(|(place, line)| {
        let mut part = Part::new(line.description.clone(), line.amount);
        part.pointer = Some(format!("/lines/{place}/amount"));
        part.reason = Some(format!("{} at {}", line.quantity, line.unit_amount));
        part
    });
    let taxes = invoice.taxes.iter().enumerate().map(|(place, tax)| {
        let mut part = Part::new("tax", tax.tax);
        part.pointer = Some(format!("/taxes/{place}/tax"));
        part.reason = Some(format!("{} basis points of {}", tax.rate, tax.net));
        part
    });
    Some(match pointer {
        "/total" => lines.chain(taxes).collect(),
        "/net_total" => lines.collect(),
        "/tax_total" => taxes.collect(),
        _ => return None,
    })
}

/// The people of a run, for one of its totals.
pub(super) fn of_run(world: &World, run: &PayrollRun, pointer: &str) -> Option<Vec<Part>> {
    let name = pointer.strip_prefix("/totals/")?;
    run.totals?;
    let mut parts = Vec::new();
    for item in items_of(world, run.id).every(world) {
        let pay = item.value();
        let amount = match name {
            "gross" => pay.gross,
            "taxes" => pay.taxes,
            "employee_contributions" => pay.employee_contributions,
            "employer_contributions" => pay.employer_contributions,
            "deductions" => pay.deductions,
            "reimbursements" => pay.reimbursed,
            "net" => pay.net,
            "employer_cost" => pay.gross + pay.employer_contributions + pay.reimbursed,
            _ => return None,
        };
        let mut part = Part::new(item.employee_name.to_string(), amount);
        part.resource_id = Some(item.payslip_id.map_or(item.id.to_string(), |id| id.to_string()));
        parts.push(part);
    }
    Some(parts)
}

/// The amount lent, and the repaid principal.
pub(super) fn of_loan(loan: &Loan, pointer: &str) -> Option<Vec<Part>> {
    if pointer != "/balances/principal_outstanding" {
        return None;
    }
    let mut lent =
        Part::new("amount lent", if loan.disbursed_at.is_some() { loan.amount } else { 0 });
    lent.pointer = Some("/amount".to_owned());
    let repaid = loan.schedule.iter().enumerate().filter_map(|(place, instalment)| {
        let principal = instalment.principal_paid();
        let mut part =
            Part::new(format!("principal of instalment {}", instalment.number), -principal);
        part.pointer = Some(format!("/schedule/{place}/paid"));
        (principal != 0).then_some(part)
    });
    let mut prepaid = Part::new("principal repaid early", -loan.prepaid_principal);
    prepaid.pointer = Some("/prepaid_principal".to_owned());
    let prepaid = Some(prepaid).filter(|part| part.amount != 0);
    Some(core::iter::once(lent).chain(repaid).chain(prepaid).collect())
}

/// The payslips of a tax year up to this one, for one of its totals of the year.
pub(super) fn of_year(world: &World, payslip: &Payslip, pointer: &str) -> Option<Vec<Part>> {
    let name = pointer.strip_prefix("/ytd/")?;
    let total = |payslip: &Payslip| payslip.calculation.year_to_date().get(name).copied();
    let all = total(payslip)?;
    let (company, employee) = (world.find(payslip.company_id)?, world.find(payslip.employee_id)?);
    let year = |payslip: &Payslip| payslip.calculation.pack_used().tax_year;
    let of_year = payslips(world, &company, None, Some(&employee)).ok()?;
    let place = of_year.iter().position(|it| it.id == payslip.id);
    let until = place.map_or(&[][..], |place| &of_year[..place]);
    let of_year = until.iter().filter(|it| year(it) == year(payslip)).map(AsRef::as_ref);
    let mut parts = Vec::new();
    let mut before = 0;
    for one in of_year.chain(core::iter::once(payslip)) {
        let until = if one.id == payslip.id { all } else { total(one).unwrap_or(before) };
        let own = if parts.is_empty() { own(one, name).unwrap_or(until) } else { until - before };
        if parts.is_empty() && until != own {
            parts.push(Part::new("earlier in the tax year", until - own));
        }
        let mut part = Part::new(format!("payslip of {}, paid {}", one.period, one.pay_date), own);
        part.resource_id = Some(one.id.to_string());
        parts.push(part);
        before = until;
    }
    Some(parts)
}

/// The amount of one payslip that a total of the year counts.
fn own(payslip: &Payslip, name: &str) -> Option<i64> {
    let pay = &payslip.calculation;
    match name {
        "gross" => Some(pay.gross),
        "net" => Some(pay.net),
        "deductions" => Some(pay.deductions()),
        "reimbursements" => Some(pay.reimbursed()),
        line => {
            let lines = [pay.tax_lines(), pay.contribution_lines(), pay.employer_lines()];
            lines.into_iter().flatten().find(|it| it.id == line).map(|it| it.amount)
        }
    }
}

/// Gross pay, and its untaxed parts.
pub(super) fn of_taxable(payslip: &Payslip) -> Vec<Part> {
    let pay = &payslip.calculation;
    let lines = |list: &str, lines: Vec<crate::model::business::PayLine>| {
        let part = |(place, line): (usize, crate::model::business::PayLine)| {
            let mut part = Part::new(line.label, line.amount);
            part.pointer = Some(format!("/{list}/{place}/amount"));
            part
        };
        lines.into_iter().enumerate().map(part).collect::<Vec<_>>()
    };
    let mut parts = lines("earnings", pay.earnings());
    parts.extend(lines("benefits", pay.benefit_lines()));
    let untaxed = pay.taxable - parts.iter().map(|part| part.amount).sum::<i64>();
    if untaxed != 0 {
        let mut part = Part::new("not taxed, or taxed beside pay", untaxed);
        part.reason = Some(format!("by the rules of pack {}", pay.pack_used().code));
        parts.push(part);
    }
    parts
}
