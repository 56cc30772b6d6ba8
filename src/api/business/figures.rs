//! The basis of reports: sums over the days of a company's books, in its own currency.
//!
//! Amounts in other currencies are translated at reference rates: movements at the rate of their day, balances at the rate of the report's
//! day. The difference between the two is an exchange gain or loss (IAS 21, paragraphs 21, 23 and 28).

use std::collections::BTreeSet;

use crate::api::prelude::*;
use crate::model::fx::Rates;
use crate::model::payments::{Collection, Payout};
use crate::model::{Account, AccountType};
use crate::world::books::Book;
use crate::world::days::{Day, merged};
use crate::world::history::History;
use crate::world::sums::Sums;

/// A sum in JSON.
pub(crate) fn minor(sum: i128) -> i64 {
    i64::try_from(sum)
        .expect("sums of a company's books stay within 64 bits: every amount put in is bounded")
}

/// Debits less credits by day, currency and account.
pub(crate) type ByDay = BTreeMap<Date, BTreeMap<(Currency, Account), i128>>;

/// Debits less credits by account, in the company's own currency.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) by_account: BTreeMap<Account, i128>,
    /// Currencies without a reference rate: their amounts are in no sum.
    pub(crate) untranslated: BTreeSet<Currency>,
}

impl Figures {
    /// Debits less credits of the selected accounts.
    pub(crate) fn sum(&self, wanted: impl Fn(Account) -> bool) -> i128 {
        let rows = self.by_account.iter();
        rows.filter(|(account, _)| wanted(**account)).map(|(_, net)| net).sum()
    }

    /// Adds an exchange gain to earnings, or a loss if it is negative.
    pub(crate) fn gain(&mut self, gain: i128) {
        let account = if gain < 0 { Account::ExchangeLosses } else { Account::ExchangeGains };
        *self.by_account.entry(account).or_default() -= gain;
    }

    fn add(&mut self, sums: &Sums, less: &Sums, into: Currency, rates: &mut Rates, day: Date) {
        for (currency, account, totals) in sums.iter() {
            let net = totals.net() - less.get(currency, account).net();
            self.add_net(account, net, currency, |net| rates.translate(net, currency, into, day));
        }
    }

    fn add_net(
        &mut self,
        account: Account,
        net: i128,
        currency: Currency,
        translate: impl FnOnce(i128) -> Option<i128>,
    ) {
        if net == 0 {
            return;
        }
        match translate(net) {
            Some(net) => *self.by_account.entry(account).or_default() += net,
            None => {
                self.untranslated.insert(currency);
            }
        }
    }
}

/// One company's books, for sums.
pub(crate) struct Reading<'a> {
    currency: Currency,
    /// The currency of figures; the company's own unless a report has another one.
    shown_in: Currency,
    history: Option<Arc<History>>,
    since: Option<&'a Book>,
    rates: Rates,
    today: Date,
}

impl<'a> Reading<'a> {
    /// Opens the books of that company.
    pub(crate) fn of(world: &'a World, company: &Company) -> Self {
        Self {
            currency: company.currency,
            shown_in: company.currency,
            history: world.base().history(company.id),
            since: world.book(company.id),
            rates: rates(world),
            today: world.today(),
        }
    }

    /// The totals of each day of a range, both ends included, in order. Grown and later entries of a day are one sum,
    /// so it is rounded once.
    pub(crate) fn days(
        &self,
        first: Date,
        last: Date,
    ) -> impl Iterator<Item = (Date, Cow<'_, Day>)> {
        let grown = self.history.iter().flat_map(move |history| history.days.between(first, last));
        let since = self.since.into_iter().flat_map(move |book| book.days.between(first, last));
        merged(grown, since)
    }

    /// The first day with a movement on a selected account, up to today.
    pub(crate) fn first_day(&self, counts: impl Fn(Account) -> bool) -> Option<Date> {
        let days = self.days(Date::FIRST, self.today);
        let moved = days.filter(|(_, day)| day.sums.iter().any(|(_, account, _)| counts(account)));
        moved.map(|(date, _)| date).min()
    }

    /// Shows figures in another currency than the company's own (IAS 21.39): balances at the rate of the report's day, movements at the
    /// rates of their own days.
    pub(crate) fn shown_in(mut self, currency: Currency) -> Self {
        self.shown_in = currency;
        self
    }

    /// The exchange gain of a range of days, or the loss if it is negative: the change in value of balances in other
    /// currencies, less the value of their movements on their own days (IAS 21.28).
    pub(crate) fn exchange_gain(&self, first: Date, last: Date) -> i128 {
        if self.all_totals().iter().all(|(currency, _, _)| currency == self.currency) {
            return 0;
        }
        let gain = self.gained_until(last) - self.gained_until(first.plus_days(-1));
        let day = last.min(self.today);
        self.rates.clone().translate(gain, self.currency, self.shown_in, day).unwrap_or_default()
    }

    fn gained_until(&self, day: Date) -> i128 {
        let is_balance = |account: Account| {
            matches!(account.account_type(), AccountType::Asset | AccountType::Liability)
        };
        let worth = self.standing_in(day, self.currency).sum(is_balance);
        // Every entry balances: its other lines are equity or earnings. The clearing account of conversions has no
        // value of its own.
        let moved = self.moved_in(Date::FIRST, day, self.currency);
        worth + moved.sum(|account| !is_balance(account) && account != Account::WorldFx)
    }

    /// Totals by currency and account at the end of a day.
    pub(crate) fn totals(&self, as_of: Date) -> Sums {
        let mut sums = Sums::default();
        for (_, day) in self.days(Date::FIRST, as_of) {
            sums.absorb(&day.sums);
        }
        sums
    }

    /// Totals by currency and account of everything.
    pub(crate) fn all_totals(&self) -> Sums {
        let mut sums =
            self.history.as_ref().map_or_else(Sums::default, |history| history.sums.clone());
        if let Some(book) = self.since {
            sums.absorb(&book.sums);
        }
        sums
    }

    /// Movements of a range of days, both ends included, each at its own day's rate. Entries that close a year are left out.
    pub(crate) fn moved(&self, first: Date, last: Date) -> Figures {
        self.moved_in(first, last, self.shown_in)
    }

    fn moved_in(&self, first: Date, last: Date, into: Currency) -> Figures {
        let (mut figures, mut rates) = (Figures::default(), self.rates.clone());
        for (date, day) in self.days(first, last) {
            figures.add(&day.sums, &day.closing, into, &mut rates, date);
        }
        figures
    }

    /// Like [`Self::moved`], for the accounts opposite cash. Tax on sales that customers paid or got back counts as
    /// sales.
    pub(crate) fn moved_against_cash(&self, first: Date, last: Date) -> Figures {
        let (mut figures, mut rates) = (Figures::default(), self.rates.clone());
        for (date, day) in self.days(first, last) {
            figures.add(&day.against_cash, &day.customers_tax, self.shown_in, &mut rates, date);
            for (currency, _, totals) in day.customers_tax.iter() {
                figures.add_net(Account::Sales, totals.net(), currency, |net| {
                    rates.translate(net, currency, self.shown_in, date)
                });
            }
        }
        figures
    }

    /// Like [`Self::moved`], for given amounts by day, each in its own currency.
    pub(crate) fn of_days(&self, days: &ByDay) -> Figures {
        let (mut figures, mut rates) = (Figures::default(), self.rates.clone());
        for (&date, rows) in days {
            for (&(currency, account), &net) in rows {
                figures.add_net(account, net, currency, |net| {
                    rates.translate(net, currency, self.shown_in, date)
                });
            }
        }
        figures
    }

    /// Balances at the end of a day, at that day's rate; for a future day, at today's.
    pub(crate) fn standing(&self, as_of: Date) -> Figures {
        self.standing_in(as_of, self.shown_in)
    }

    fn standing_in(&self, as_of: Date, into: Currency) -> Figures {
        let (mut figures, mut rates) = (Figures::default(), self.rates.clone());
        let day = as_of.min(self.today);
        figures.add(&self.totals(as_of), &Sums::default(), into, &mut rates, day);
        figures
    }
}

/// The reference rates of a world.
pub(crate) fn rates(world: &World) -> Rates {
    Rates::new(world.base().key())
}

/// The invoice or bill behind the source of an entry.
pub(crate) fn behind(world: &World, source: AnyId) -> Option<u64> {
    let bits = source.bits;
    match source.kind {
        Kind::Invoice | Kind::Bill => Some(bits),
        Kind::Collection => {
            let collection = world.find(Id::<Collection>::from_bits(bits))?;
            collection.invoice_id.map(Id::bits)
        }
        Kind::Payout => {
            let paid = world.find(Id::<Payout>::from_bits(bits))?.source;
            paid.filter(|paid| paid.kind == Kind::Bill).map(|paid| paid.bits)
        }
        _ => None,
    }
}
