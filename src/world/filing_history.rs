//! The tax returns of the months before the world's start: one for each authority, month and company. The last ones are often not sent
//! yet when the world begins.

use crate::model::business::tax_return::code_of;
use crate::model::business::{FilingLine, FilingStatus, TaxFiling};
use crate::model::{Kind, Object, StatusChange};
use crate::value::{Date, Metadata};
use crate::world::history::{POSTING_HOUR, PaidReturn};
use crate::world::layout::HISTORY_MONTHS;
use crate::world::obligations::{self, Obligation};
use crate::world::{Base, Grow};

/// The return with this index, with its company and the number of its month.
pub(crate) fn obligation(base: &Base, index: u64) -> Option<(Obligation, u64, u64)> {
    let index = (index < base.count(Kind::TaxFiling)).then_some(index)?;
    let (month, company, number) = base.filing_place(index);
    let plan = base.plan(company);
    let returns = obligations::returns(base, &plan, month);
    let due = *returns.get(usize::try_from(number).ok()?)?;
    Some((obligations::obligation(base, &plan, month, due), company, month))
}

/// The returns of a company for tax on sales.
pub(crate) fn of_sales(base: &Base, company: u64) -> impl Iterator<Item = u64> + use<'_> {
    let plan = base.plan(company);
    (0..HISTORY_MONTHS).filter_map(move |month| {
        let returns = obligations::returns(base, &plan, month);
        let place = returns.iter().position(|due| *due == obligations::SALES_TAX)?;
        Some(base.filing(month, company, place as u64))
    })
}

impl Grow for TaxFiling {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let (obligation, company, month) = obligation(base, index)?;
        let (plan, history) = (base.plan(company), base.history_at(company));
        let amount = history.declared(base, &plan, month, obligation.due);
        let sent = obligation.paid_on < base.shape().start.date();
        let paid = history.paid(base, &plan, month, obligation.due);
        let paid = if sent { paid } else { PaidReturn::default() };
        let amount_paid = paid.money;
        let authority = code_of(obligation.due.account).to_owned();
        let nth = i64::try_from(company).ok()?;
        // On the last pay day, because some returns are due before the end of the month. It is not before the monthly
        // pay day, so that a list is in the order of time.
        let month_paid = base.pay(month).pay_date;
        let last_paid = obligations::last_paid_on(base, &plan, month).max(month_paid);
        let created_at = last_paid.at_hour(plan.pays.later_hours() + 18).plus_millis(nth);
        let at = |hour| obligation.paid_on.at_hour(hour);
        let mut steps = vec![(FilingStatus::Pending, created_at)];
        if sent {
            steps.push((FilingStatus::Submitted, at(POSTING_HOUR)));
            steps.push((FilingStatus::Filed, at(POSTING_HOUR + 2)));
        }
        let (status, updated_at) = *steps.last()?;
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(company),
            jurisdiction: plan.country.code.to_owned(),
            tax_type: authority.clone(),
            period: obligation.period,
            form: obligation.form.map(str::to_owned),
            status,
            amount,
            amount_paid,
            credit_used: paid.credit_used,
            currency: plan.currency,
            lines: vec![FilingLine { authority, amount, amount_paid }],
            due_on: obligation.due_on,
            late: false,
            tax_liability_ids: Vec::new(),
            blocked_reasons: Vec::new(),
            declaration: None,
            acknowledged_at: sent.then(|| at(POSTING_HOUR + 1)),
            rejection_reason: None,
            amends: None,
            adjustments: Vec::new(),
            created_at,
            updated_at,
            metadata: Metadata::default(),
            status_history: steps
                .into_iter()
                .map(|(status, at)| StatusChange::plain(status, at))
                .collect(),
        })
    }

    /// A return that was not sent becomes late after its day.
    fn aged(&self, today: Date) -> Option<Self> {
        let is_missed = self.status == FilingStatus::Pending && self.due_on? < today;
        (is_missed && !self.late).then(|| Self { late: true, ..self.clone() })
    }
}
