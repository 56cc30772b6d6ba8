//! Tax filings: prepared from the liabilities of a month's runs, paid with the money that those runs reserved, and answered by the tax
//! office.
//!
//! Deliberately absent: filings before a call prepares them. `listTaxLiabilities` shows unfiled liabilities with
//! their due dates.

use crate::api::business::companies::Country;
use crate::api::business::filing_history::filings;
use crate::api::business::tax_liabilities;
use crate::api::business::tax_submit::unfunded;
use crate::api::prelude::*;
use crate::model::business::{FilingLine, FilingStatus, TaxFiling, TaxLiability, tax_return};
use crate::model::payments::vat::Return;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/tax-filings",
        summary: "List tax filings",
        description: "Lists filings in creation order, starting with the filings of the twelve \
            months before the world's start. The latest of these are `pending`, and become `late` \
            after their due date.",
        ..operation!(read list_tax_filings)
    },
    Operation {
        path: "/api/business/tax-filings",
        summary: "Prepare a tax filing",
        description: "Creates a filing for one `authority` of `listTaxLiabilities`, one form and \
            one month. The filing contains the liabilities that are in no other filing. If the \
            form is paid quarterly or yearly, and for `vat`, the filing contains the liabilities \
            of the whole period that includes the month. Until a filing for `vat` is submitted, \
            later tax of its period is added to it. There is one such filing for each period and \
            currency. The due date follows the country's law. The filing is `blocked` until the \
            money of its runs is reserved. A negative amount is a credit with the authority, which \
            the next filing uses. If a part of the credit remains, later filings use the rest \
            without declaring it again. A negative amount of tax on sales is repaid when the \
            authority accepts the filing, except in Kenya and Nigeria.",
        example: r#"{"company_id":"@company:1","tax_type":"SIRS","period":"2026-01","jurisdiction":"NG"}"#,
        success: 201,
        emits: &["tax_filing.created", "tax_filing.blocked"],
        long: true,
        ..operation!(write create_tax_filing)
    },
    Operation {
        path: "/api/business/tax-filings/{tax_filing_id}",
        summary: "Read a tax filing",
        description: "Returns a filing with the declared and paid amounts, what blocks it, and the \
            authority's answer.",
        ..operation!(get get_tax_filing: TaxFiling)
    },
]);

list! {
    fn list_tax_filings(ListTaxFilings) -> TaxFiling,
        from |world, input| filings(world, input.company_id, input.period), of company_id;
    filter
        company_id: Id<Company>,
        /// Filter by authority.
        tax_type: Text<32>,
        /// Filter by month.
        period: Period,
        status: FilingStatus;
    sort created_at, period, due_on, amount;
}

/// A new filing.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateTaxFiling {
    /// The company that files.
    company_id: Id<Company>,
    /// The authority that the amounts are due to: the `authority` of the liabilities, such as `HMRC`, `SIRS`, `pension`.
    tax_type: Text<32>,
    /// The form of the liabilities. Default: the form of the first such liability in `listTaxLiabilities`.
    form: Option<Text<64>>,
    /// The month in which the wages were paid. If one payment covers several months, give any of these months.
    period: Period,
    /// The country of the authority, ISO 3166-1 alpha-2: the company's country, or the country in which employees work.
    jurisdiction: Country,
}

fn create_tax_filing(world: &mut World, input: CreateTaxFiling) -> Result<Single<TaxFiling>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let (tax_type, period) = (input.tax_type.into_string(), input.period);
    let jurisdiction = input.jurisdiction.0;
    let mut open = unfiled(world, &company, period);
    open.retain(|liability| liability.jurisdiction == jurisdiction);
    if open.is_empty() && *jurisdiction != *company.country {
        let detail = format!(
            "the company is registered in {}, and has nothing due for {period} in {jurisdiction}",
            company.country
        );
        return Err(ApiError::of_member("/jurisdiction", "foreign_jurisdiction", detail));
    }
    let owed = of_one_form(&open, &tax_type, period, input.form.as_ref())?;
    let (form, currency) = (owed[0].form.clone(), owed[0].currency);
    let period = covered(owed[0]);
    let amount = owed.iter().map(|liability| liability.amount).sum();
    let due_on = owed.iter().filter_map(|liability| liability.due_on).min();
    let now = world.now();
    let filing = TaxFiling {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        jurisdiction,
        period,
        form,
        status: FilingStatus::Pending,
        amount,
        amount_paid: 0,
        credit_used: 0,
        currency,
        lines: vec![FilingLine { authority: tax_type.clone(), amount, amount_paid: 0 }],
        tax_type,
        due_on,
        late: due_on.is_some_and(|day| day < world.today()),
        tax_liability_ids: owed.iter().map(|liability| liability.id).collect(),
        blocked_reasons: Vec::new(),
        declaration: None,
        acknowledged_at: None,
        rejection_reason: None,
        amends: None,
        adjustments: Vec::new(),
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(FilingStatus::Pending, now)].into(),
    };
    for liability in &owed {
        let mut liability = (***liability).clone();
        liability.tax_filing_id = Some(filing.id);
        liability.updated_at = now;
        world.stage(liability);
    }
    let filing = world.record("tax_filing.created", filing);
    let reasons = unfunded(world, &filing);
    if reasons.is_empty() {
        return Ok(Data(Shown(filing)));
    }
    let mut filing = (*filing).clone();
    filing.blocked_reasons = reasons;
    filing.enter(FilingStatus::Blocked, now);
    Ok(Data(Shown(world.record("tax_filing.blocked", filing))))
}

/// The liabilities to one authority, of one form and currency: the requested form, or else the form of the first
/// liability. There is at least one.
fn of_one_form<'a>(
    open: &'a [Arc<TaxLiability>],
    tax_type: &str,
    period: Period,
    wanted: Option<&Text<64>>,
) -> Result<Vec<&'a Arc<TaxLiability>>> {
    let mut owed: Vec<_> =
        open.iter().filter(|liability| liability.authority == tax_type).collect();
    if owed.is_empty() {
        return Err(nothing_owed(tax_type, period, open));
    }
    if let Some(form) = wanted.map(Text::as_str) {
        let others = forms(&owed);
        owed.retain(|liability| liability.form.as_deref() == Some(form));
        if owed.is_empty() {
            let detail = format!(
                "nothing is due to {tax_type} for {period} with form {form}; forms are: {others}"
            );
            return Err(ApiError::of_member("/form", "nothing_owed", detail));
        }
    }
    let first = owed[0];
    owed.retain(|it| it.form == first.form && it.currency == first.currency);
    Ok(owed)
}

/// The forms of liabilities, for an error.
fn forms(owed: &[&Arc<TaxLiability>]) -> String {
    let mut forms: Vec<&str> = owed.iter().filter_map(|owed| owed.form.as_deref()).collect();
    forms.sort_unstable();
    forms.dedup();
    if forms.is_empty() { "none".to_owned() } else { forms.join(", ") }
}

/// The last month of the period that the liability's payment covers.
fn covered(owed: &TaxLiability) -> Period {
    match owed.payroll_run_id {
        Some(_) => covering(owed, owed.period),
        None => owed.period,
    }
}

fn covering(owed: &TaxLiability, month: Period) -> Period {
    tax_return::last_month(&owed.jurisdiction, &owed.authority, owed.form.as_deref(), month)
}

/// Liabilities of a month that no filing contains. Tax on sales belongs to each month of its return period, and other
/// taxes to each month of the period that one payment covers. A partly used credit is left out: a filing would
/// declare its full amount, so the used part would count twice.
fn unfiled(world: &World, company: &Company, month: Period) -> Vec<Arc<TaxLiability>> {
    let is_of_month = |liability: &TaxLiability| match liability.payroll_run_id {
        Some(_) => covered(liability) == covering(liability, month),
        None => liability.period == Return::of(&liability.jurisdiction).period_of(month),
    };
    let open = tax_liabilities::of_company(world, company.id).filter(|liability| {
        !liability.status.is_closed()
            && liability.tax_filing_id.is_none()
            && liability.credit_used.is_none()
            && is_of_month(liability)
    });
    open.collect()
}

/// The 422 that lists what can be filed instead.
fn nothing_owed(tax_type: &str, period: Period, open: &[Arc<TaxLiability>]) -> ApiError {
    let mut others: Vec<&str> = open.iter().map(|liability| liability.authority.as_str()).collect();
    others.sort_unstable();
    others.dedup();
    let others = match others.as_slice() {
        [] => "run payroll or send an invoice first, or find the filing that already contains the liability".to_owned(),
        some => format!("amounts are due to {}", some.join(", ")),
    };
    let detail = format!("nothing is due to {tax_type} for {period} without a filing; {others}");
    ApiError::of_member("/tax_type", "nothing_owed", detail)
}
