//! Tax on sales: what invoices charge becomes a liability of the return period in which it is booked.
//!
//! A voided or refunded sale lowers the liability of the period in which that happens, not the one of the sale: a credit note (United
//! Kingdom: Value Added Tax Regulations 1995, regulation 38; South Africa: Value-Added Tax Act, section 21).

use crate::api::business::payroll_clock::get;
use crate::api::business::tax_clock;
use crate::api::prelude::*;
use crate::model::business::{Authority, LiabilityStatus, TaxLiability};
use crate::model::payments::Invoice;
use crate::model::payments::vat::Return;

/// Adds tax on sales to the open liability of the current period, or opens one. A negative amount lowers it.
pub(crate) fn book(world: &mut World, company: Id<Company>, currency: Currency, amount: i64) {
    if amount == 0 {
        return;
    }
    let (now, company) = (world.now(), get(world, company));
    let filed = Return::of(&company.country);
    let period = filed.period_of(world.today().period());
    if let Some(open) = open(world, &company, period, currency) {
        let mut liability = (*open).clone();
        liability.amount += amount;
        liability.updated_at = now;
        let liability = world.record("tax_liability.updated", liability);
        if open.amount <= 0 {
            tax_clock::watch(world, &liability);
        }
        return;
    }
    let liability = TaxLiability {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        payroll_run_id: None,
        authority: Authority::VAT.code().to_owned(),
        due_on: Some(filed.due_on(&company.country, period)),
        jurisdiction: company.country.clone(),
        period,
        status: LiabilityStatus::Accrued,
        tax_filing_id: None,
        amount,
        currency,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: vec![StatusChange::plain(LiabilityStatus::Accrued, now)],
    };
    let liability = world.record("tax_liability.created", liability);
    tax_clock::watch(world, &liability);
}

/// The liability of the period that no filing contains yet.
fn open(
    world: &World,
    company: &Company,
    period: Period,
    currency: Currency,
) -> Option<Arc<TaxLiability>> {
    of_company(world, company.id).find(|liability| {
        liability.status == LiabilityStatus::Accrued
            && liability.tax_filing_id.is_none()
            && liability.period == period
            && liability.currency == currency
    })
}

/// All liabilities for tax on sales of a company.
pub(crate) fn of_company(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<TaxLiability>> {
    world.children::<TaxLiability>(company.bits()).filter_map(|id| world.find(id))
}

/// The tax in a part of an invoice's total, so that all parts together contain all of it.
pub(crate) fn within(invoice: &Invoice, before: i64, amount: i64) -> i64 {
    let until = |paid: i64| {
        let tax = i128::from(invoice.tax_total) * i128::from(paid);
        i64::try_from(tax / i128::from(invoice.total.max(1))).expect("a part of the tax")
    };
    until(before + amount) - until(before)
}
