//! The platform fee for moving money, based on a company's volume in a month.
//!
//! Fee and volume are measured at the same time: an amount counts as volume when its fee is
//! charged. It no longer counts when that fee is refunded.

use crate::api::prelude::*;
use crate::model::payments::{FeeSchedule, Payout, PayoutStatus, Pays};

/// A company's account with the service in one month and currency.
#[derive(Clone, Copy)]
pub(crate) struct FeeMonth {
    pub(crate) company: Id<Company>,
    pub(crate) currency: Currency,
    pub(crate) month: Period,
}

impl FeeMonth {
    /// The account for money that moves now.
    pub(crate) fn now(world: &World, company: Id<Company>, currency: Currency) -> Self {
        Self { company, currency, month: world.today().period() }
    }

    /// The prices for the next amount.
    pub(crate) fn meter(self, world: &World) -> Meter<'_> {
        let script = world.script();
        let is_paid = world.fixed_fee(self.company, self.month).is_some();
        Meter {
            schedule: &script.platform_fee,
            currency: self.currency,
            volume: world.volume(self.company, self.month, self.currency).into(),
            fixed: if is_paid { 0 } else { script.monthly_fee },
        }
    }

    /// Counts an amount as volume.
    pub(crate) fn count(self, world: &mut World, amount: i64) {
        world.add_volume(self.company, self.month, self.currency, amount);
    }

    /// Records that the fixed fee came with a fee of this source, if it did.
    pub(crate) fn charged(self, world: &mut World, source: AnyId, fee: Fee) {
        if fee.with_fixed {
            world.set_fixed_fee(self.company, self.month, Some(source));
        }
    }

    /// Removes an amount from the volume, because the fee of this source was refunded. The fixed fee was refunded,
    /// too, if it was charged with that fee.
    pub(crate) fn take_back(self, world: &mut World, source: AnyId, amount: i64) {
        self.count(world, -amount);
        if world.fixed_fee(self.company, self.month) == Some(source) {
            world.set_fixed_fee(self.company, self.month, None);
        }
    }
}

/// The fee for an amount.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fee {
    /// In minor units.
    pub(crate) amount: i64,
    /// Whether the fixed fee of the month is a part of it.
    with_fixed: bool,
}

/// The price of one amount, before that amount counts.
pub(crate) struct Meter<'a> {
    schedule: &'a FeeSchedule,
    currency: Currency,
    volume: i128,
    /// The fixed fee, if the company has paid none this month.
    fixed: i64,
}

impl Meter<'_> {
    /// The fee for moving that amount. Without a fixed fee, it is never more than the amount.
    pub(crate) fn charge(&self, amount: i64) -> Fee {
        self.charge_at_most(amount, i64::MAX)
    }

    /// The fee for moving that amount, at most `most`. A fixed fee that exceeds the limit is charged with a later
    /// fee.
    pub(crate) fn charge_at_most(&self, amount: i64, most: i64) -> Fee {
        let share = self.schedule.charge(self.currency, self.volume, amount);
        let whole = share.saturating_add(self.fixed);
        if self.fixed > 0 && amount > 0 && whole <= most {
            return Fee { amount: whole, with_fixed: true };
        }
        Fee { amount: share.min(most), with_fixed: false }
    }
}

/// The money of a payout is returned. If it was never sent, or the rail refused it, its fee was refunded, and its
/// amount no longer counts as volume. Wages are counted by their run.
pub(crate) fn refunded(world: &mut World, payout: &Payout) {
    if payout.pays() == Pays::Wages || payout.status == PayoutStatus::Returned {
        return;
    }
    let (company, currency) = (payout.company_id, payout.currency);
    let fee_month = FeeMonth { company, currency, month: payout.created_at.date().period() };
    fee_month.take_back(world, AnyId::of(payout.id), payout.amount);
}
