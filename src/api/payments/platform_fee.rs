//! The service's fee for moving money, based on a company's volume this month.

use crate::api::prelude::*;
use crate::model::Account;
use crate::model::payments::FeeSchedule;

/// The fee for moving an amount now, from the company's volume in that currency this month: sent out and collected. Returned money counts,
/// too. Months before the world's start do not count. Without a fixed fee of the month, the fee is never more than the amount.
pub(crate) fn platform_fee(
    world: &World,
    company: Id<Company>,
    currency: Currency,
    amount: i64,
) -> i64 {
    Meter::of(world, company, currency).charge(amount)
}

/// The same for several amounts at once.
pub(crate) struct Meter<'a> {
    schedule: &'a FeeSchedule,
    currency: Currency,
    volume: i128,
    /// The fixed fee, if the company has paid none this month.
    fixed: i64,
}

impl<'a> Meter<'a> {
    /// The company's volume in that currency this month.
    pub(crate) fn of(world: &'a World, company: Id<Company>, currency: Currency) -> Self {
        let month = world.today().period();
        let book = world.book(company).into_iter();
        let days = book.flat_map(|book| book.days.between(month.first_day(), month.last_day()));
        let (mut volume, mut fees) = (0, 0);
        for (_, day) in days {
            let debits = |account| day.sums.get(currency, account).debits;
            volume += debits(Account::PayoutsInTransit) + debits(Account::CollectionsInTransit);
            fees += debits(Account::Fees);
        }
        let script = world.script();
        let fixed = if volume == 0 && fees == 0 { script.monthly_fee } else { 0 };
        Self { schedule: &script.platform_fee, currency, volume, fixed }
    }

    /// The fee for moving that amount now.
    pub(crate) fn charge(&self, amount: i64) -> i64 {
        let fixed = if amount > 0 { self.fixed } else { 0 };
        fixed + self.schedule.charge(self.currency, self.volume, amount)
    }
}
