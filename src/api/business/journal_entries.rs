//! Journal entries of a company: the list, entries by callers, and reversals.

use core::ops::RangeInclusive;

use crate::api::business::figures::rates;
use crate::api::prelude::*;
use crate::model::posting::Posting;
use crate::model::{Account, Direction, EntryLine, JournalEntry, fx};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/journal-entries",
        summary: "List journal entries",
        description: "Lists a company's journal entries, oldest first. Each entry balances in \
            every currency and names its cause.",
        ..operation!(read list_journal_entries)
    },
    Operation {
        path: "/api/business/journal-entries",
        summary: "Post a journal entry",
        description: "Posts an entry. Debits must equal credits in every currency. A line on \
            `cash_available` changes the wallet in its currency and is shown on its statement. \
            Cash that is reserved, in transit or in escrow cannot be changed by manual entries. \
            `effective_on` is the accounting date: not before the start of the books, not in the \
            future.",
        example: r#"{"company_id":"@company:1","effective_on":"2026-01-01","memo":"Office rent, accrued","lines":[
            {"account":"rent","direction":"debit","amount":45000000,"currency":"NGN"},
            {"account":"refunds_payable","direction":"credit","amount":45000000,"currency":"NGN"}]}"#,
        success: 201,
        errors: &[
            ErrorCode::UnbalancedEntry,
            ErrorCode::InsufficientFunds,
            ErrorCode::LimitExceeded,
        ],
        emits: &["journal_entry.posted", "wallet.credited", "wallet.debited"],
        ..operation!(write create_journal_entry)
    },
    Operation {
        path: "/api/business/journal-entries/{journal_entry_id}/reverse",
        summary: "Reverse a journal entry",
        description: "Reverses an entry that was posted by a call: posts the opposite entry and \
            marks the original `reversed`. Entries are never edited. An entry of a run, a filing \
            or a payment returns 409: reverse that resource instead.",
        success: 201,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::InsufficientFunds,
            ErrorCode::LimitExceeded,
        ],
        example: r#"{"reason":"Posted twice"}"#,
        emits: &["journal_entry.reversed", "wallet.credited", "wallet.debited"],
        ..operation!(write reverse_journal_entry)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListJournalEntries {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<JournalEntry>>,
    /// The company.
    company_id: Id<Company>,
    /// Only entries with a line on this account.
    account: Option<Account>,
    /// Filter by the type of the resource that caused the entry.
    source_type: Option<Text<64>>,
    /// Filter by the resource that caused the entry.
    source_id: Option<Text<64>>,
    /// Only entries on or after this day.
    from: Option<Date>,
    /// Only entries on or before this day.
    to: Option<Date>,
}

sortable!(JournalEntry: created_at, effective_on);

impl ListJournalEntries {
    fn is_unfiltered(&self) -> bool {
        self.account.is_none()
            && self.source_type.is_none()
            && self.source_id.is_none()
            && self.from.is_none()
            && self.to.is_none()
    }

    fn keeps(&self, entry: &JournalEntry) -> bool {
        let on_account = |account| entry.lines.iter().any(|line| line.account == account);
        let of_type = |kind: &Text<64>| entry.source.kind.name() == kind.as_str();
        self.account.is_none_or(on_account)
            && self.source_type.as_ref().is_none_or(of_type)
            && self.from.is_none_or(|from| entry.effective_on >= from)
            && self.to.is_none_or(|to| entry.effective_on <= to)
            // Last, because it writes the id.
            && self
                .source_id
                .as_ref()
                .is_none_or(|id| entry.source.to_string() == id.as_str())
    }
}

fn list_journal_entries(
    world: &World,
    input: ListJournalEntries,
) -> Result<List<Shown<JournalEntry>>, ApiError> {
    let company = existing(world, input.company_id, "/company_id")?;
    if let (Some(from), Some(to)) = (input.from, input.to) {
        in_order(from, to)?;
    }
    let history = world.base().history(company.id);
    let grown = history.as_ref().map_or(&[][..], |history| &history.entries);
    let since = world.book(company.id).map(|book| &book.entries);
    let all = || grown.iter().chain(since.into_iter().flatten());
    let sort = input.sort.as_ref().filter(|sort| !sort.is_own_order());
    let (total, page): (u64, Vec<Arc<JournalEntry>>) = if let Some(sort) = sort {
        let mut rows: Vec<Arc<JournalEntry>> =
            all().filter(|entry| input.keeps(entry)).cloned().collect();
        sort.apply(&mut rows);
        (rows.len() as u64, input.paging.page_of(&rows).to_vec())
    } else if input.is_unfiltered() {
        let total = (grown.len() + since.map_or(0, imbl::Vector::len)) as u64;
        let entry = |place| {
            let since = |place| since.and_then(|since| since.get(place));
            grown.get(place).or_else(|| since(place - grown.len())).cloned()
        };
        let places = input.paging.range(total);
        let places = places.filter_map(|place| usize::try_from(place).ok());
        (total, places.filter_map(entry).collect())
    } else {
        let total = all().filter(|entry| input.keeps(entry)).count() as u64;
        let range = input.paging.range(total);
        let rows = (0..).zip(all().filter(|entry| input.keeps(entry)));
        let rows = rows.filter(|(place, _)| range.contains(place));
        (total, rows.map(|(_, entry)| Arc::clone(entry)).collect())
    };
    let stands = |entry: &Arc<JournalEntry>| Shown(world.as_it_stands(entry));
    Ok(List { data: page.iter().map(stands).collect(), meta: input.paging.meta(total) })
}

/// Refuses a range that ends before it starts.
pub(crate) fn in_order(from: Date, to: Date) -> Result<(), ApiError> {
    if from <= to {
        return Ok(());
    }
    let detail = format!("the last day, {to}, is before the first day, {from}");
    Err(ApiError::of_member("/to", "range", detail))
}

/// One line of an entry by a caller.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EntryLineInput")]
pub(crate) struct WrittenLine {
    /// The account.
    account: Account,
    /// The side.
    direction: Direction,
    /// Minor units, from 1.
    amount: Amount,
    /// Currency of the amount.
    currency: Currency,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateJournalEntry {
    /// The company.
    company_id: Id<Company>,
    /// The accounting date, used in reports.
    effective_on: Date,
    /// A short description.
    memo: Option<Text<500>>,
    /// The lines. Debits must equal credits in every currency.
    #[schemars(length(min = 2, max = 100))]
    lines: Vec<WrittenLine>,
    /// Key-value pairs set by the caller.
    #[serde(default)]
    metadata: Metadata,
}

fn create_journal_entry(
    world: &mut World,
    input: CreateJournalEntry,
) -> Result<Data<Shown<JournalEntry>>, ApiError> {
    let company = world.get(input.company_id)?;
    let lines: Vec<EntryLine> = input.lines.iter().map(line).collect();
    let mut wrong = wrong_lines(world, &company, &lines);
    let open = company.created_at.date()..=world.today();
    wrong.extend(wrong_day(input.effective_on, &open));
    ApiError::if_any(wrong)?;
    balanced(&lines)?;
    affordable(world, &company, &lines)?;
    let memo = input.memo.map(Text::into_string);
    let posting = Posting::manual(
        memo.map_or(Cow::Borrowed("Journal entry"), Cow::Owned),
        AnyId::of(world.next_entry_id(company.id)),
        lines,
    );
    let entry = world.post_manual(company.id, posting, input.effective_on, input.metadata);
    world.emit("journal_entry.posted", &entry);
    tell_wallets(world, &entry);
    Ok(Data(Shown(entry)))
}

fn line(written: &WrittenLine) -> EntryLine {
    EntryLine {
        account: written.account,
        direction: written.direction,
        amount: written.amount.minor(),
        currency: written.currency,
    }
}

/// Whether runs and payments reserve cash on the account, and rely on finding it again.
const fn is_closed(account: Account) -> bool {
    (account.is_cash() && !matches!(account, Account::CashAvailable))
        || matches!(account, Account::WorldFx)
}

/// The mistakes in single lines.
fn wrong_lines(world: &World, company: &Company, lines: &[EntryLine]) -> Vec<Violation> {
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
            let detail = "an entry can change only one wallet, in one direction";
            add("account", "moves_twice", detail.to_owned());
        }
    }
    wrong
}

fn wrong_day(day: Date, open: &RangeInclusive<Date>) -> Option<Violation> {
    let detail = format!("expected a day from {} to {}", open.start(), open.end());
    (!open.contains(&day)).then(|| Violation::new("/effective_on", "range", detail))
}

/// Refuses lines whose debits and credits differ, with the difference in each currency.
fn balanced(lines: &[EntryLine]) -> Result<(), ApiError> {
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
                "in {currency} debits are {debits} and credits {credits}: {more} exceed {less} by {difference}"
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
fn affordable(world: &World, company: &Company, lines: &[EntryLine]) -> Result<(), ApiError> {
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
                "the turnover of an account is limited to nine quadrillion minor units, and {} \
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
    let detail = format!("the wallet has {available} available, and the entry would take {wanted}");
    let error = ApiError::new(ErrorCode::InsufficientFunds, detail);
    match world.wallet_of(company.id, currency) {
        Some(wallet) => error.about(wallet.id),
        None => error,
    }
}

/// Emits the events of the wallets that an entry changed.
fn tell_wallets(world: &mut World, entry: &JournalEntry) {
    let of_wallet = |line: &&EntryLine| line.account == Account::CashAvailable;
    let moved: i128 =
        entry.lines.iter().filter(of_wallet).map(|line| i128::from(line.signed())).sum();
    let line = entry.lines.iter().find(of_wallet);
    let wallet: Option<Arc<Wallet>> =
        line.and_then(|line| world.wallet_of(entry.company_id, line.currency));
    if let Some(wallet) = wallet.filter(|_| moved != 0) {
        let name = if moved > 0 { "wallet.credited" } else { "wallet.debited" };
        world.emit_wallet(name, &wallet);
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReverseJournalEntry {
    /// The entry.
    journal_entry_id: Id<JournalEntry>,
    /// Why.
    reason: Text<500>,
    /// The accounting date of the reversal; not before the entry's own. Default: today.
    effective_on: Option<Date>,
}

fn reverse_journal_entry(
    world: &mut World,
    input: ReverseJournalEntry,
) -> Result<Data<Shown<JournalEntry>>, ApiError> {
    let id = input.journal_entry_id;
    let entry = match world.entry(id) {
        Some(entry) => entry,
        None => world.get(id)?,
    };
    if !entry.is_manual() {
        let detail = format!("it was posted by {}: reverse or cancel that instead", entry.source);
        let mut error = refused(id, entry.status, detail);
        error.allowed = Some(Vec::new());
        return Err(error);
    }
    step("reverse", "the entry", id, entry.status)?;
    let company = world.get(entry.company_id)?;
    let day = input.effective_on.unwrap_or_else(|| world.today());
    if let Some(wrong) = wrong_day(day, &(entry.effective_on..=world.today())) {
        return Err(ApiError::invalid(vec![wrong]));
    }
    let memo = format!("Reversal: {}", input.reason.as_str());
    let mirrored = Posting::mirror(&entry, memo.clone().into(), AnyId::of(id));
    affordable(world, &company, &mirrored.lines)?;
    let (mirror, reversed) = world.reverse(&entry, memo.into(), AnyId::of(id), day);
    world.emit("journal_entry.reversed", &reversed);
    tell_wallets(world, &mirror);
    Ok(Data(Shown(mirror)))
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
                "in EUR debits are 0 and credits 2: credits exceed debits by 2",
                "in USD debits are 7 and credits 5: debits exceed credits by 2",
            ]
        );
    }

    #[test]
    fn cash_put_aside_takes_no_entries_by_hand() {
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
