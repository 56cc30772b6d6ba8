//! What the service charges for moving money: reckoned from what a company has moved this month.

use crate::model::business::company::Company;
use crate::model::ledger::Account;
use crate::value::id::Id;
use crate::value::money::Currency;
use crate::world::World;

/// The fee on moving that amount now: by tiers of what the company has moved in that currency since the first of the month,
/// out (handed over to a rail) and in (collected). What came back was moved all the same; the months before the world's start
/// count for nothing, because the company joined at it. It is never more than the amount.
pub(crate) fn platform_fee(
    world: &World,
    company: Id<Company>,
    currency: Currency,
    amount: i64,
) -> i64 {
    let schedule = &world.script().platform_fee;
    schedule.charge(currency, volume(world, company, currency), amount)
}

/// What the company has moved in that currency since the first of the month.
fn volume(world: &World, company: Id<Company>, currency: Currency) -> i128 {
    let today = world.today();
    let book = world.book(company).into_iter();
    let days = book.flat_map(|book| book.days.between(today.period().first_day(), today));
    days.map(|(_, day)| {
        let debits = |account| day.sums.get(currency, account).debits;
        debits(Account::PayoutsInTransit) + debits(Account::CollectionsInTransit)
    })
    .sum()
}
