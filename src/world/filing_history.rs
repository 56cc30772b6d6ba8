//! The tax returns of the months before the world's start: one for each month and company, for all its
//! liabilities. The last one is often not sent yet when the world
//! begins.

use crate::model::business::tax_filing::MONTHLY;
use crate::model::business::tax_return::code_of;
use crate::model::business::{FilingLine, FilingStatus, TaxFiling};
use crate::model::{Kind, Object, StatusChange, posting};
use crate::value::Metadata;
use crate::world::history::{POSTING_HOUR, filing_day};
use crate::world::{Base, Grow};

impl Grow for TaxFiling {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let (month, company) =
            (index < base.count(Kind::TaxFiling)).then(|| base.run_place(index))?;
        let (plan, history, period) =
            (base.plan(company), base.history_at(company), base.period(month));
        let due_on = filing_day(base, month);
        let sent = due_on < base.shape().start.date();
        let place = usize::try_from(month).ok()?;
        let vat = (posting::vat_account(), history.vat[place]);
        let owed = history.payroll.months[place].cost.owed_by_account().into_iter().chain([vat]);
        let lines: Vec<FilingLine> = owed
            .filter(|(_, amount)| *amount != 0)
            .map(|(account, amount)| FilingLine {
                authority: code_of(account).to_owned(),
                amount,
                amount_paid: if sent { amount } else { 0 },
            })
            .collect();
        let amount = lines.iter().map(|line| line.amount).sum();
        let nth = i64::try_from(company).ok()?;
        let created_at = period.last_day().at_hour(18).plus_millis(nth);
        let submitted = due_on.at_hour(POSTING_HOUR);
        let acknowledged = due_on.at_hour(POSTING_HOUR + 1);
        let accepted = due_on.at_hour(POSTING_HOUR + 2);
        let mut steps = vec![(FilingStatus::Pending, created_at)];
        if sent {
            steps.extend([(FilingStatus::Submitted, submitted), (FilingStatus::Filed, accepted)]);
        }
        let (status, updated_at) = *steps.last()?;
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(company),
            jurisdiction: plan.country.code.to_owned(),
            tax_type: MONTHLY.to_owned(),
            period,
            form: None,
            status,
            amount,
            amount_paid: if sent { amount } else { 0 },
            credit_used: 0,
            currency: plan.currency,
            lines,
            due_on: Some(due_on),
            late: false,
            tax_liability_ids: Vec::new(),
            blocked_reasons: Vec::new(),
            declaration: None,
            acknowledged_at: sent.then_some(acknowledged),
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
}
