//! What the service charges for moving money: reckoned from what a company has moved this month.

use crate::api::prelude::*;
use crate::model::Account;
use crate::model::payments::FeeSchedule;

/// The fee on moving that amount now: by tiers of what the company has moved in that currency since the first of the month,
/// out (handed over to a rail) and in (collected). What came back was moved all the same; the months before the world's start
/// count for nothing, because the company joined at it. It is never more than the amount.
pub(crate) fn platform_fee(
    world: &World,
    company: Id<Company>,
    currency: Currency,
    amount: i64,
) -> i64 {
    Meter::of(world, company, currency).charge(amount)
}

/// The same for several amounts that are asked about at once.
pub(crate) struct Meter<'a> {
    schedule: &'a FeeSchedule,
    currency: Currency,
    volume: i128,
}

impl<'a> Meter<'a> {
    /// What the company has moved in that currency since the first of the month.
    pub(crate) fn of(world: &'a World, company: Id<Company>, currency: Currency) -> Self {
        let today = world.today();
        let book = world.book(company).into_iter();
        let days = book.flat_map(|book| book.days.between(today.period().first_day(), today));
        let volume = days.map(|(_, day)| {
            let debits = |account| day.sums.get(currency, account).debits;
            debits(Account::PayoutsInTransit) + debits(Account::CollectionsInTransit)
        });
        Self { schedule: &world.script().platform_fee, currency, volume: volume.sum() }
    }

    /// The fee on moving that amount now.
    pub(crate) fn charge(&self, amount: i64) -> i64 {
        self.schedule.charge(self.currency, self.volume, amount)
    }
}
