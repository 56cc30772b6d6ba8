//! Simulates the bank: generates a statement from a wallet's transactions.
//!
//! Every line has its own random key, so that an additional transaction changes no other line. The changes to a line
//! are recorded, so that a matcher can be measured.

use crate::model::calendar::Calendar;
use crate::model::payments::{Noise, Truth, Truths};
use crate::model::prelude::*;
use crate::model::{TransactionType, WalletTransaction};
use crate::value::Key;

/// How much the bank changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Clean,
    Usual,
    Heavy,
}

/// Frequency of each change, per thousand.
struct Rates {
    left_out: u64,
    merged: u64,
    shifted: u64,
    cut: u64,
    garbled: u64,
    without_reference: u64,
    duplicate: u64,
    fee: u64,
}

impl Level {
    const fn rates(self) -> Rates {
        match self {
            Self::Clean => Rates {
                left_out: 0,
                merged: 0,
                shifted: 0,
                cut: 0,
                garbled: 0,
                without_reference: 0,
                duplicate: 0,
                fee: 0,
            },
            Self::Usual => Rates {
                left_out: 30,
                merged: 80,
                shifted: 200,
                cut: 100,
                garbled: 40,
                without_reference: 60,
                duplicate: 20,
                fee: 50,
            },
            Self::Heavy => Rates {
                left_out: 60,
                merged: 160,
                shifted: 350,
                cut: 200,
                garbled: 100,
                without_reference: 150,
                duplicate: 60,
                fee: 100,
            },
        }
    }
}

/// A transaction with the data that the bank has.
#[derive(Clone, Debug)]
pub(crate) struct Sent<'a> {
    pub(crate) id: Id<WalletTransaction>,
    pub(crate) date: Date,
    pub(crate) amount: i64,
    pub(crate) direction: TransactionType,
    pub(crate) description: &'a str,
    pub(crate) reference: String,
}

/// A line without a position and an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) date: Date,
    pub(crate) amount: i64,
    pub(crate) direction: TransactionType,
    pub(crate) description: Option<String>,
    pub(crate) reference: Option<String>,
}

/// Number of letters of a description that banks keep.
const DESCRIPTION: usize = 27;
/// Maximum number of transactions that a bank merges.
const MOST_MERGED: u64 = 4;
/// Words that banks use for their fees.
const FEES: &[&str] =
    &["ACCOUNT MAINTENANCE FEE", "TRANSFER CHARGE", "SMS ALERT FEE", "STAMP DUTY"];

/// A statement for some days of a wallet.
pub(crate) struct Bank<'a> {
    pub(crate) key: Key,
    pub(crate) level: Level,
    pub(crate) calendar: &'a Calendar,
    pub(crate) currency: Currency,
    pub(crate) from: Date,
    pub(crate) to: Date,
}

impl Bank<'_> {
    /// Generates the lines for transactions, which must be in booking order.
    pub(crate) fn write(&self, sent: &[Sent<'_>]) -> (Vec<Draft>, Truths) {
        let rates = self.level.rates();
        let mut written: Vec<(Draft, Truth)> = Vec::new();
        let mut left_out = Vec::new();
        let mut place = 0;
        while let Some(first) = sent.get(place) {
            let key = self.key.at(first.id.bits());
            if hits(key, "left_out", rates.left_out) {
                left_out.push(first.id);
                place += 1;
                continue;
            }
            let count = merged(&sent[place..], key, rates.merged);
            let (draft, truth) = self.line(&sent[place..place + count], key, &rates);
            place += count;
            let copy = hits(key, "duplicate", rates.duplicate).then(|| {
                let truth = Truth { transactions: Vec::new(), noise: vec![Noise::Duplicate] };
                (draft.clone(), truth)
            });
            written.push((draft, truth));
            written.extend(copy);
            if hits(key, "fee", rates.fee) {
                written.push(self.fee(first.date, key));
            }
        }
        if self.level != Level::Clean {
            let fees = self.month_ends().map(|day| {
                let key = self.key.with("month").at(day.midnight().millis().unsigned_abs());
                self.fee(day, key)
            });
            written.extend(fees);
        }
        written.sort_by_key(|(draft, _)| draft.date); // stable: a copy stays behind its line
        let (drafts, lines) = written.into_iter().unzip();
        (drafts, Truths { lines, left_out })
    }

    fn line(&self, sent: &[Sent<'_>], key: Key, rates: &Rates) -> (Draft, Truth) {
        let (first, last) = (&sent[0], &sent[sent.len() - 1]);
        let mut noise = Vec::new();
        let mut description = first.description.to_owned();
        if self.level != Level::Clean {
            description = description.to_uppercase();
            description = description.chars().take(DESCRIPTION).collect();
        }
        if sent.len() > 1 {
            noise.push(Noise::Merged);
            // Some banks state the number of transactions, others do not.
            if key.with("says").below(3) > 0 {
                description = format!("{description} {} ITEMS", sent.len());
            }
        }
        let mut date = last.date;
        if hits(key, "shifted", rates.shifted) {
            date = self.shifted(date, key.with("days"));
            if date != last.date {
                noise.push(Noise::Shifted);
            }
        }
        let draft = Draft {
            date,
            amount: sent.iter().map(|one| one.amount).sum(),
            direction: first.direction,
            description: Some(description),
            reference: reference(&first.reference, key, rates, &mut noise),
        };
        let transactions = sent.iter().map(|one| one.id).collect();
        (draft, Truth { transactions, noise })
    }

    /// One or two business days later, or one earlier, within the statement's days.
    fn shifted(&self, day: Date, key: Key) -> Date {
        let to = match key.below(4) {
            0 => self.calendar.minus_business_days(day, 1),
            1 => self.calendar.plus_business_days(day, 2),
            _ => self.calendar.plus_business_days(day, 1),
        };
        to.clamp(self.from, self.to)
    }

    /// The last days of months, when banks charge account fees.
    fn month_ends(&self) -> impl Iterator<Item = Date> {
        let (first, to) = (self.from.period(), self.to);
        let ends = (0..).map(move |months| first.plus_months(months).last_day());
        ends.take_while(move |day| *day <= to)
    }

    fn fee(&self, date: Date, key: Key) -> (Draft, Truth) {
        let key = key.with("which_fee");
        let unit = self.currency.minor_per_major();
        let amount = (1 + i64::try_from(key.with("amount").below(60)).unwrap_or(0)) * unit / 2;
        let place = usize::try_from(key.below(FEES.len() as u64)).unwrap_or(0);
        let draft = Draft {
            date,
            amount: amount.max(1),
            direction: TransactionType::Debit,
            description: Some(FEES[place].to_owned()),
            reference: None,
        };
        let truth = Truth { transactions: Vec::new(), noise: vec![Noise::Fee] };
        (draft, truth)
    }
}

/// The number of transactions in the next line: consecutive ones of one direction, within a day or two.
fn merged(sent: &[Sent<'_>], key: Key, rate: u64) -> usize {
    if !hits(key, "merged", rate) {
        return 1;
    }
    let wanted = 2 + key.with("how_many").below(MOST_MERGED - 1);
    let first = &sent[0];
    let like = |one: &&Sent<'_>| {
        let days = one.date.days_since(first.date).abs();
        one.direction == first.direction && days <= 2
    };
    let run = sent.iter().zip(0..wanted).map(|(one, _)| one);
    run.take_while(like).count()
}

/// Whether an event with that frequency per thousand happens at that position.
fn hits(key: Key, purpose: &str, rate: u64) -> bool {
    key.with(purpose).below(1_000) < rate
}

/// The part of a reference that remains.
fn reference(whole: &str, key: Key, rates: &Rates, noise: &mut Vec<Noise>) -> Option<String> {
    let key = key.with("reference");
    let roll = key.below(1_000);
    if roll < rates.without_reference {
        noise.push(Noise::ReferenceMissing);
        return None;
    }
    if roll < rates.without_reference + rates.cut {
        noise.push(Noise::ReferenceCut);
        let kept = 8 + usize::try_from(key.with("kept").below(5)).unwrap_or(0);
        return Some(whole.chars().take(kept).collect());
    }
    if roll < rates.without_reference + rates.cut + rates.garbled {
        noise.push(Noise::ReferenceGarbled);
        return Some(garbled(whole, key));
    }
    Some(whole.to_owned())
}

/// Changes one to three letters.
fn garbled(whole: &str, key: Key) -> String {
    const LETTERS: &[u8] = b"XQ0O1I8B5S";
    let mut letters: Vec<char> = whole.chars().collect();
    for wrong in 0..=key.with("how_many").below(3) {
        let key = key.with("letter").at(wrong);
        let place = usize::try_from(key.below(letters.len().max(1) as u64)).unwrap_or(0);
        let other = usize::try_from(key.with("other").below(LETTERS.len() as u64)).unwrap_or(0);
        if let Some(letter) = letters.get_mut(place) {
            *letter = char::from(LETTERS[other]);
        }
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    fn sent(count: u64) -> Vec<Sent<'static>> {
        let one = |number: u64| Sent {
            id: Id::from_bits(Key::new(7).at(number).hash()),
            date: day("2026-01-05").plus_days(i32::try_from(number / 12).expect("few days")),
            amount: 1_000 + i64::try_from(number).expect("small"),
            direction: if number.is_multiple_of(5) {
                TransactionType::Credit
            } else {
                TransactionType::Debit
            },
            description: "Vendor payout sent",
            reference: format!("pyo_{number:013}"),
        };
        (0..count).map(one).collect()
    }

    fn written(level: Level, seed: u64) -> (Vec<Draft>, Truths) {
        let bank = Bank {
            key: Key::new(seed),
            level,
            calendar: Calendar::of("NG"),
            currency: Currency::new("NGN").expect("a currency"),
            from: day("2026-01-05"),
            to: day("2026-01-31"),
        };
        bank.write(&sent(300))
    }

    #[test]
    fn a_clean_statement_has_every_transaction_unchanged() {
        let (drafts, truths) = written(Level::Clean, 1);
        assert_eq!(drafts.len(), 300);
        assert!(truths.left_out.is_empty());
        assert!(truths.lines.iter().all(|line| line.noise.is_empty()));
        for (draft, sent) in drafts.iter().zip(sent(300)) {
            assert_eq!(draft.reference.as_ref(), Some(&sent.reference));
            assert_eq!((draft.date, draft.amount), (sent.date, sent.amount));
        }
    }

    #[test]
    fn heavy_noise_makes_every_kind_of_change_and_records_it() {
        let (drafts, truths) = written(Level::Heavy, 3);
        assert_eq!(drafts.len(), truths.lines.len());
        let did = |noise| truths.lines.iter().any(|line| line.noise.contains(&noise));
        for noise in [
            Noise::Merged,
            Noise::Shifted,
            Noise::ReferenceCut,
            Noise::ReferenceGarbled,
            Noise::ReferenceMissing,
            Noise::Duplicate,
            Noise::Fee,
        ] {
            assert!(did(noise), "{noise:?}");
        }
        let mut told: Vec<Id<WalletTransaction>> = truths
            .lines
            .iter()
            .flat_map(|line| line.transactions.clone())
            .chain(truths.left_out.clone())
            .collect();
        let mut all: Vec<Id<WalletTransaction>> = sent(300).iter().map(|one| one.id).collect();
        told.sort_unstable();
        all.sort_unstable();
        assert_eq!(told, all, "every transaction is told of once, or left out");
        for (draft, truth) in drafts.iter().zip(&truths.lines) {
            if truth.transactions.is_empty() {
                continue;
            }
            let of = |id| sent(300).into_iter().find(|one| one.id == id);
            let sum: i64 =
                truth.transactions.iter().filter_map(|&id| of(id)).map(|one| one.amount).sum();
            assert_eq!(draft.amount, sum);
        }
    }

    #[test]
    fn the_same_place_writes_the_same_statement() {
        assert_eq!(written(Level::Usual, 9), written(Level::Usual, 9));
        assert_ne!(written(Level::Usual, 9).0, written(Level::Usual, 10).0);
    }
}
