//! The bills of the months before the world's start, as functions of their indexes.

#![expect(clippy::cast_possible_wrap, reason = "a shape bounds every index to 10^9")]

use crate::model::payments::invoice::TaxOfRate;
use crate::model::payments::{Bill, BillLine, BillStatus, Vendor};
use crate::model::{Kind, Object, StatusChange, StatusHistory};
use crate::value::{Date, Metadata, Timestamp};
use crate::world::history::POSTING_HOUR;
use crate::world::purchases::{BillOf, vendor_day};
use crate::world::{Base, Grow, Plan, suppliers};

/// The hour at which suppliers are paid.
pub(crate) const PAYMENT_HOUR: i64 = 9;

impl Grow for Bill {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let (company, place) = (index < base.count(Kind::Bill)).then(|| base.bill_place(index))?;
        let (plan, of) = (base.plan(company), BillOf::at(place));
        let billed = base.history_at(company).purchases.of(of);
        let (issued_on, due_date) = (of.issued_on(base), of.due_date(base, &plan));
        let at = |day: Date, hour| day.at_hour(hour).plus_millis(company as i64);
        let paid_on = of.month_paid().map(|month| vendor_day(base, month));
        let steps: [(BillStatus, Option<Timestamp>); 3] = [
            (BillStatus::Draft, Some(at(issued_on, POSTING_HOUR))),
            (BillStatus::Approved, Some(at(issued_on, POSTING_HOUR + 1))),
            (BillStatus::Paid, paid_on.map(|day| at(day, PAYMENT_HOUR))),
        ];
        let past = steps.into_iter().filter_map(|(status, at)| Some((status, at?)));
        let status_history: StatusHistory<_> =
            past.map(|(status, at)| StatusChange::plain(status, at)).collect();
        let last = status_history.last()?;
        let (status, updated_at) = (last.status, last.at);
        let (paid, total) = (paid_on.is_some(), billed.total());
        let (what, _) = suppliers::sells(&plan, of.vendor);
        let name = suppliers::name(&plan, of.vendor);
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(company),
            status,
            number: Some(number(&plan, of, &name)),
            vendor: Vendor { name, beneficiary_id: None },
            lines: vec![BillLine {
                description: format!("{what}, {}", of.period(base)),
                account: suppliers::account(of.vendor),
                quantity: 1,
                unit_amount: billed.net,
                tax_rate: billed.rate,
                amount: billed.net,
            }],
            taxes: vec![TaxOfRate { rate: billed.rate, net: billed.net, tax: billed.tax }],
            net_total: billed.net,
            tax_total: billed.tax,
            tax_recoverable: billed.recoverable,
            total,
            currency: plan.currency,
            amount_paid: if paid { total } else { 0 },
            amount_due: if paid { 0 } else { total },
            issued_on,
            due_date,
            overdue: !paid && due_date < base.shape().start.date(),
            created_at: at(issued_on, POSTING_HOUR),
            updated_at,
            metadata: Metadata::default(),
            status_history,
        })
    }

    /// A bill that is not paid becomes overdue after its day.
    fn aged(&self, today: Date) -> Option<Self> {
        let is_overdue = self.status.is_owed() && self.due_date < today;
        (is_overdue && !self.overdue).then(|| Self { overdue: true, ..self.clone() })
    }
}

/// The supplier's number of a bill: its initials, and a number that increases each month.
fn number(plan: &Plan, of: BillOf, name: &str) -> String {
    let initials = name.split_whitespace().filter_map(|word| word.chars().next());
    let initials: String = initials.filter(char::is_ascii_uppercase).take(2).collect();
    let key = suppliers::key(plan, of.vendor).with("number");
    let (first, step) = (1_000 + key.at(0).below(8_000), 1 + key.at(1).below(60));
    let month = u64::try_from(of.month + 1).unwrap_or_default();
    format!("{initials}-{}", first + month * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Shape;

    #[test]
    fn every_bill_of_history_is_listed_in_order_and_adds_up() {
        for (seed, people) in [(1, 1), (42, 25), (7, 3)] {
            let shape = Shape { employees_per_company: people, companies: 7, ..Shape::default() };
            let base = Base::new(seed, shape);
            let mut last = Timestamp::EPOCH;
            for index in 0..base.count(Kind::Bill) {
                let bill = Bill::grow(&base, index).expect("indexes have no holes");
                assert!(bill.total > 0 && bill.net_total + bill.tax_total == bill.total);
                assert!(bill.created_at > last, "lists are in creation order: {index}");
                last = bill.created_at;
                let costs: i64 = bill.expenses().iter().map(|(_, amount)| amount).sum();
                assert_eq!(costs + bill.tax_recoverable, bill.total);
                assert_eq!(bill.amount_due + bill.amount_paid, bill.total);
                assert_eq!(bill.status.is_owed(), bill.amount_due > 0);
            }
        }
    }
}
