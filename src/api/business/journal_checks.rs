//! Checks a caller's journal entry: invalid lines, unequal debits and credits, and missing funds are refused.

use core::ops::RangeInclusive;

use crate::api::business::figures::rates;
use crate::api::prelude::*;
use crate::model::{Account, Direction, EntryLine, fx};

/// Whether runs and payments reserve cash on the account, and rely on finding it again.
const fn is_closed(account: Account) -> bool {
    (account.is_cash() && !matches!(account, Account::CashAvailable))
        || matches!(account, Account::WorldFx)
}

/// The mistakes in single lines.
pub(crate) fn wrong_lines(world: &World, company: &Company, lines: &[EntryLine]) -> Vec<Violation> {
    let mut wrong = Vec::new();
    let mut cash: Option<&EntryLine> = None;
    for (place, line) in lines.iter().enumerate() {
        let mut add = |member: &str, code, detail: String| {
            let pointer = format!("/lines/{place}/{member}");
            wrong.push(Violation::new(pointer, code, detail));
        };
        if is_closed(line.account) {
            let detail = format!(
                "{} is changed only by runs and payments, not by manual entries",
                line.account
            );
            add("account", "account_not_open", detail);
        }
        if line.currency != company.currency
            && !(fx::is_known(line.currency) && fx::is_known(company.currency))
        {
            let detail = format!(
                "there is no reference rate between {} and {}, the company's currency",
                line.currency, company.currency
            );
            add("currency", "no_reference_rate", detail);
        }
        if line.account != Account::CashAvailable {
            continue;
        }
        if world.wallet_of(company.id, line.currency).is_none() {
            let detail = format!("the company has no wallet in {}", line.currency);
            add("currency", "no_wallet", detail);
        }
        let before = *cash.get_or_insert(line);
        if (before.currency, before.direction) != (line.currency, line.direction) {
            let detail = "an entry can change only one wallet, and only in one direction";
            add("account", "moves_twice", detail.to_owned());
        }
    }
    wrong
}

/// The mistake of a day on which the books are not open.
pub(crate) fn wrong_day(day: Date, open: &RangeInclusive<Date>) -> Option<Violation> {
    let detail = format!("expected a day from {} to {}", open.start(), open.end());
    (!open.contains(&day)).then(|| Violation::new("/effective_on", "range", detail))
}

/// Refuses lines whose debits and credits differ, with the difference in each currency.
pub(crate) fn balanced(lines: &[EntryLine]) -> Result<()> {
    let mut sums: BTreeMap<Currency, (i128, i128)> = BTreeMap::new();
    for line in lines {
        let (debits, credits) = sums.entry(line.currency).or_default();
        match line.direction {
            Direction::Debit => *debits += i128::from(line.amount),
            Direction::Credit => *credits += i128::from(line.amount),
        }
    }
    let differs = sums.into_iter().filter(|(_, (debits, credits))| debits != credits);
    let wrong: Vec<Violation> = differs
        .map(|(currency, (debits, credits))| {
            let (more, less) = if debits > credits {
                ("debits", "credits")
            } else {
                ("credits", "debits")
            };
            let difference = (debits - credits).abs();
            let detail = format!(
                "in {currency}, the debits are {debits} minor units and the credits are {credits}: {more} exceed {less} by {difference}"
            );
            Violation::new("/lines", "unbalanced", detail)
        })
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let details: Vec<&str> = wrong.iter().map(|violation| violation.detail.as_str()).collect();
    let detail = details.join("; ");
    Err(ApiError::new(ErrorCode::UnbalancedEntry, detail).with_errors(wrong))
}

/// The maximum turnover of an account, in its own currency and the company's: far below the limit of 64 bits.
const MOST: i128 = i64::MAX as i128 / 1_000;

/// Refuses lines that would overdraw a wallet, or exceed the maximum turnover of an account.
pub(crate) fn affordable(world: &World, company: &Company, lines: &[EntryLine]) -> Result<()> {
    for line in lines {
        let totals = world.totals(company.id, line.currency, line.account);
        let same = lines
            .iter()
            .filter(|other| (other.account, other.currency) == (line.account, line.currency));
        let (mut debits, mut credits) = (totals.debits, totals.credits);
        let (mut moved, before) = (0, totals.net());
        for other in same {
            moved += i128::from(other.signed());
            match other.direction {
                Direction::Debit => debits += i128::from(other.amount),
                Direction::Credit => credits += i128::from(other.amount),
            }
        }
        if line.account == Account::CashAvailable && before + moved < 0 {
            return Err(overdrawn(world, company, line.currency, before, -moved));
        }
        let turnover = debits.max(credits);
        let (mut rates, today) = (rates(world), world.today());
        let own = rates.translate(turnover, line.currency, company.currency, today);
        if turnover.max(own.unwrap_or_default()) > MOST {
            let detail = format!(
                "the debits and the credits of an account are limited to 9223372036854775 minor units each, and {} \
                    would exceed it",
                line.account
            );
            return Err(ApiError::new(ErrorCode::LimitExceeded, detail).about(company.id));
        }
    }
    Ok(())
}

fn overdrawn(
    world: &World,
    company: &Company,
    currency: Currency,
    available: i128,
    wanted: i128,
) -> ApiError {
    let detail =
        format!("the available balance is {available} minor units, but the entry takes {wanted}");
    let error = ApiError::new(ErrorCode::InsufficientFunds, detail);
    match world.wallet_of(company.id, currency) {
        Some(wallet) => error.about(wallet.id),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(code: &str, direction: Direction, amount: i64, currency: &str) -> EntryLine {
        EntryLine {
            account: Account::find(code).expect("an account"),
            direction,
            amount,
            currency: Currency::new(currency).expect("a currency"),
        }
    }

    #[test]
    fn each_currency_balances_by_itself() {
        use Direction::{Credit, Debit};
        let even = [
            line("rent", Debit, 5, "USD"),
            line("fees", Debit, 5, "EUR"),
            line("sales", Credit, 5, "USD"),
            line("sales", Credit, 5, "EUR"),
        ];
        assert!(balanced(&even).is_ok());
        let odd = [
            line("rent", Debit, 7, "USD"),
            line("sales", Credit, 5, "USD"),
            line("sales", Credit, 2, "EUR"),
        ];
        let refused = balanced(&odd).expect_err("neither balances");
        let details: Vec<&str> = refused.errors.iter().map(|one| one.detail.as_str()).collect();
        assert_eq!(
            details,
            [
                "in EUR, the debits are 0 minor units and the credits are 2: credits exceed debits by 2",
                "in USD, the debits are 7 minor units and the credits are 5: debits exceed credits by 2",
            ]
        );
    }

    #[test]
    fn accounts_of_reserved_cash_refuse_manual_entries() {
        let closed: Vec<String> = Account::FIXED
            .iter()
            .filter(|account| is_closed(**account))
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            closed,
            [
                "cash_reserved",
                "payouts_in_transit",
                "collections_in_transit",
                "escrow_held",
                "world:fx"
            ]
        );
    }
}
