//! Totals of accounts: gross debits and credits, by currency.

use serde::{Deserialize, Serialize};

use crate::model::ledger::{Account, Direction, EntryLine};
use crate::value::money::Currency;

/// Gross debits and credits of one account, in minor units. Both are stored, so that the turnover is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) debits: i128,
    pub(crate) credits: i128,
}

impl Totals {
    /// Debits less credits.
    pub(crate) const fn net(self) -> i128 {
        self.debits - self.credits
    }

    /// Both sums.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { debits: self.debits + other.debits, credits: self.credits + other.credits }
    }

    /// Adds a line, or removes it.
    fn apply(&mut self, line: &EntryLine, sign: i128) {
        match line.direction {
            Direction::Debit => self.debits += sign * i128::from(line.amount),
            Direction::Credit => self.credits += sign * i128::from(line.amount),
        }
    }
}

/// Totals by currency and account, sorted. Most have a few rows, which an array holds in a third of the memory of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Currency, Account, Totals)>", into = "Vec<(Currency, Account, Totals)>")]
pub(crate) struct Sums(Vec<(Row, Totals)>);

type Row = (Currency, Account);

impl Sums {
    /// The place of a row, or the place where it would be.
    fn place(&self, row: Row) -> Result<usize, usize> {
        self.0.binary_search_by_key(&row, |(row, _)| *row)
    }

    /// The place of a row, which is added if it is missing.
    fn place_or_add(&mut self, row: Row) -> usize {
        self.place(row).unwrap_or_else(|place| {
            self.0.insert(place, (row, Totals::default()));
            place
        })
    }

    pub(crate) fn add(&mut self, lines: &[EntryLine]) {
        for line in lines {
            let place = self.place_or_add((line.currency, line.account));
            self.0[place].1.apply(line, 1);
        }
    }

    /// Removes every line of an entry.
    pub(crate) fn remove(&mut self, lines: &[EntryLine]) {
        for line in lines {
            let place = self.place_or_add((line.currency, line.account));
            let totals = &mut self.0[place].1;
            totals.apply(line, -1);
            if *totals == Totals::default() {
                self.0.remove(place);
            }
        }
    }

    /// Whether nothing was added, or all of it was removed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds other totals.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (row, totals) in &other.0 {
            let place = self.place_or_add(*row);
            let own = &mut self.0[place].1;
            *own = own.plus(*totals);
        }
    }

    pub(crate) fn get(&self, currency: Currency, account: Account) -> Totals {
        self.place((currency, account)).map_or_else(|_| Totals::default(), |place| self.0[place].1)
    }

    /// Their approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<(Row, Totals)>()
    }

    /// All accounts with entries, ordered by currency and account.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Currency, Account, Totals)> {
        self.0.iter().map(|((currency, account), totals)| (*currency, *account, *totals))
    }
}

impl From<Vec<(Currency, Account, Totals)>> for Sums {
    fn from(rows: Vec<(Currency, Account, Totals)>) -> Self {
        let rows =
            rows.into_iter().map(|(currency, account, totals)| ((currency, account), totals));
        let mut sums = Self(rows.collect());
        sums.0.sort_unstable_by_key(|(row, _)| *row);
        sums
    }
}

impl From<Sums> for Vec<(Currency, Account, Totals)> {
    fn from(sums: Sums) -> Self {
        sums.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(currency: Currency, account: Account, amount: i64) -> EntryLine {
        EntryLine { account, currency, direction: Direction::Debit, amount }
    }

    #[test]
    fn rows_are_sorted_and_a_row_that_becomes_zero_is_removed() {
        let (usd, ngn) = (Currency::new("USD").unwrap(), Currency::new("NGN").unwrap());
        let lines = [
            line(usd, Account::CashAvailable, 5),
            line(ngn, Account::Fees, 3),
            line(ngn, Account::CashAvailable, 2),
            line(usd, Account::CashAvailable, 1),
        ];
        let mut sums = Sums::default();
        sums.add(&lines);
        let rows: Vec<_> = sums.iter().map(|(currency, account, _)| (currency, account)).collect();
        assert!(rows.is_sorted() && rows.len() == 3, "{rows:?}");
        assert_eq!(sums.get(usd, Account::CashAvailable).net(), 6);
        assert_eq!(Sums::from(Vec::from(sums.clone())), sums);
        sums.remove(&lines[1..2]);
        assert_eq!(sums.iter().count(), 2);
        sums.remove(&[lines[0], lines[2], lines[3]]);
        assert!(sums.is_empty());
    }
}
