//! Tax on sales: the tax of an invoice becomes a liability of the return period in which the invoice is sent. Tax on purchases lowers it
//! when a bill is approved: a return declares the difference (Directive 2006/112/EC, article 168; Value Added Tax Act 1994, section 25).
//!
//! There is one return for a period and currency. If it is prepared before the end of its period, later tax of the
//! period is added to it.
//!
//! A void invoice or a refund works like a credit note. It lowers the liability of the period in
//! which it is booked, not of the period of the sale. Sources: Value Added Tax Regulations 1995,
//! regulation 38 (United Kingdom); Value-Added Tax Act, section 21 (South Africa).

use crate::api::business::payroll_clock::get;
use crate::api::business::tax_clock;
use crate::api::business::tax_liabilities::{Accrual, accrue, of_sales};
use crate::api::prelude::*;
use crate::model::business::{Authority, FilingStatus, LiabilityStatus, TaxFiling, TaxLiability};
use crate::model::payments::Invoice;
use crate::model::payments::vat::Return;
use crate::world::filing_history;
use crate::world::layout::HISTORY_MONTHS;

/// Adds tax on sales to the open liability of the current period, or opens one. A negative amount lowers it.
pub(crate) fn book(world: &mut World, company: Id<Company>, currency: Currency, amount: i64) {
    add(world, company, currency, (amount, 0));
}

/// Deducts tax on purchases in the current period. A negative amount takes the deduction back.
pub(crate) fn book_purchase(
    world: &mut World,
    company: Id<Company>,
    currency: Currency,
    amount: i64,
) {
    add(world, company, currency, (-amount, amount));
}

/// Adds to the liability of the current period: to its amount, and to the tax on purchases in it.
fn add(
    world: &mut World,
    company: Id<Company>,
    currency: Currency,
    (amount, input_tax): (i64, i64),
) {
    if amount == 0 {
        return;
    }
    let company = get(world, company);
    let tax_return = Return::of(&company.country);
    let period = tax_return.period_of(world.today().period());
    let prepared = prepared(world, &company, period, currency);
    let filing = prepared.as_ref().map(|filing| filing.id);
    if let Some(open) = open(world, company.id, (period, currency), filing) {
        let now = world.now();
        let mut liability = (*open).clone();
        liability.amount += amount;
        liability.input_tax += input_tax;
        liability.updated_at = now;
        if let Some(filing) = prepared {
            let mut filing = (*filing).clone();
            filing.take_up(amount, now);
            world.stage(filing);
        }
        let liability = world.record("tax_liability.updated", liability);
        if open.amount <= 0 {
            tax_clock::watch(world, &liability);
        }
        return;
    }
    let accrual = Accrual {
        company: company.id,
        run: None,
        authority: Authority::VAT.code(),
        form: tax_return.form.clone(),
        jurisdiction: company.country.to_string(),
        period,
        due_on: Some(tax_return.due_on(&company.country, period)),
        amount,
        input_tax,
        currency,
        filing: prepared,
    };
    accrue(world, accrual);
}

/// The open liability of the period: in its prepared return, or without a return.
fn open(
    world: &World,
    company: Id<Company>,
    (period, currency): (Period, Currency),
    filing: Option<Id<TaxFiling>>,
) -> Option<Arc<TaxLiability>> {
    of_sales(world, company).find(|liability| {
        let is_open = match filing {
            Some(_) => !liability.status.is_closed(),
            None => liability.status == LiabilityStatus::Accrued,
        };
        is_open
            && liability.tax_filing_id == filing
            && liability.period == period
            && liability.currency == currency
    })
}

/// The return of the period that is prepared and not submitted. A period that began before the world's start has the return of the history.
fn prepared(
    world: &World,
    company: &Company,
    period: Period,
    currency: Currency,
) -> Option<Arc<TaxFiling>> {
    let base = world.base();
    let last = base.period(HISTORY_MONTHS - 1);
    let grown = base
        .index_of(company.id)
        .filter(|_| Return::of(&company.country).period_of(last) == period)
        .and_then(|index| filing_history::of_sales(base, index).last())
        .and_then(|index| world.at::<TaxFiling>(index));
    let since = world.children::<TaxFiling>(company.id.bits()).filter_map(|id| world.find(id));
    grown.into_iter().chain(since).find(|filing| {
        matches!(filing.status, FilingStatus::Pending | FilingStatus::Blocked)
            && filing.amends.is_none()
            && filing.tax_type == Authority::VAT.code()
            && (filing.period, filing.currency) == (period, currency)
    })
}

/// The tax in a refund. `earlier` has the amount and tax of each earlier refund of the invoice. All refunds together
/// return the tax in proportion to the total, and the whole tax with the whole total. An earlier refund that is
/// pending counts: if it fails, the next refund corrects the difference of the rounding, because the tax of a booked
/// refund does not change.
pub(crate) fn returned(
    invoice: &Invoice,
    earlier: impl Iterator<Item = (i64, i64)>,
    amount: i64,
) -> i64 {
    let (mut sum, mut tax) = (i128::from(amount), 0);
    for (amount, of_it) in earlier {
        sum += i128::from(amount);
        tax += of_it;
    }
    let total = i128::from(invoice.total.max(1));
    let until = i128::from(invoice.tax_total) * sum.min(total) / total;
    (i64::try_from(until).expect("a part of the tax") - tax).clamp(0, amount)
}
