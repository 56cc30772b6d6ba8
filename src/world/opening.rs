//! The opening state of a grown company: its balances and last pays. Live calls need no other part of its history. It
//! is small, so that a base can cache it for thousands of companies.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::business::Calculation;
use crate::model::growth::workforce::Place;
use crate::model::payments::Wallet;
use crate::model::{Account, EntryLine};
use crate::value::{Id, Timestamp};
use crate::world::history::{POSTING_HOUR, Unwritten};
use crate::world::layout::{Layout, Plan};
use crate::world::payroll_history::Class;
use crate::world::sums::Sums;

/// The opening state of a grown company.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) sums: Sums,
    /// The wallet with a history, and the time of its last movement.
    moved: Option<(Id<Wallet>, Timestamp)>,
    /// The sales of the history, without tax, by kind of goods of the industry.
    sold: Vec<i64>,
    /// The last pay of each pay class.
    pays: BTreeMap<Class, Arc<Calculation>>,
}

impl Opening {
    /// Generates the opening of the company of this plan. Its books are not written, because they are larger and few calls read them.
    pub(super) fn grow(layout: &Layout, plan: &Plan) -> Self {
        let Unwritten { payroll, sales, postings, .. } = Unwritten::grow(layout, plan);
        let mut sums = Sums::default();
        for (_, posting) in &postings {
            sums.add(&posting.lines);
        }
        let is_cash = |line: &EntryLine| line.account == Account::CashAvailable;
        let last = postings.iter().rfind(|(_, posting)| posting.lines.iter().any(is_cash));
        let moved = last.map(|(day, _)| (layout.id_at(plan.index), day.at_hour(POSTING_HOUR)));
        Self { sums, moved, sold: sales.sold, pays: payroll.last_pays() }
    }

    /// Its approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        let pays = self.pays.values().map(|pay| pay.bytes() + size_of::<(Class, usize)>());
        let sold = size_of_val(self.sold.as_slice());
        size_of::<Self>() + self.sums.bytes() + sold + pays.sum::<usize>()
    }

    /// The sales of the history, each with its kind of goods for the tax.
    pub(crate) fn sold(&self, plan: &Plan) -> impl Iterator<Item = (&'static str, i64)> {
        plan.industry.sells.iter().map(|sold| sold.kind).zip(self.sold.iter().copied())
    }

    /// The time of the wallet's last movement in history.
    pub(crate) fn moved(&self, wallet: Id<Wallet>) -> Option<Timestamp> {
        self.moved.filter(|(own, _)| *own == wallet).map(|(_, at)| at)
    }

    /// The last pay of people in this place who were paid; `None` for people who have left.
    pub(crate) fn last_paid(&self, plan: &Plan, place: Place) -> Option<&Arc<Calculation>> {
        let stayed = plan.tenure.last(place).is_none();
        let class = (place.role, place.step, plan.tenure.first(place));
        self.pays.get(&class).filter(|_| stayed)
    }
}
