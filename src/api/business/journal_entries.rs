//! Journal entries of a company: the list, entries by callers, and reversals.

use crate::api::business::accounting_periods::open_on;
use crate::api::business::journal_checks::{affordable, balanced, wrong_day, wrong_lines};
use crate::api::prelude::*;
use crate::model::posting::Posting;
use crate::model::{Account, Direction, EntryLine, JournalEntry};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/journal-entries",
        summary: "List journal entries",
        description: "Lists a company's journal entries, oldest first. Each entry balances in \
            every currency and names its cause.",
        long: true,
        ..operation!(read list_journal_entries)
    },
    Operation {
        path: "/api/business/journal-entries",
        summary: "Post a journal entry",
        description: "Posts an entry. Debits must equal credits in every currency. A line on \
            `cash_available` changes the wallet in its currency and is shown on its statement. \
            Cash that is reserved, in transit or in escrow cannot be changed by manual entries. \
            `effective_on` is the accounting date. It must not be before the start of the books, \
            in the future, or in a closed period.",
        example: r#"{"company_id":"@company:1","effective_on":"2026-01-01","memo":"Office rent, accrued","lines":[
            {"account":"rent","direction":"debit","amount":45000000,"currency":"NGN"},
            {"account":"refunds_payable","direction":"credit","amount":45000000,"currency":"NGN"}]}"#,
        success: 201,
        errors: &[
            ErrorCode::AccountingPeriodClosed,
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
            marks the original `reversed`. Entries are never edited. An entry that a run, a filing \
            or a payment caused cannot be reversed (409): reverse or cancel that resource instead.",
        success: 201,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::AccountingPeriodClosed,
            ErrorCode::InsufficientFunds,
            ErrorCode::LimitExceeded,
        ],
        example: r#"{"reason":"Posted twice"}"#,
        emits: &["journal_entry.reversed", "wallet.credited", "wallet.debited"],
        ..operation!(write reverse_journal_entry)
    },
]);

list! {
    struct ListJournalEntries of JournalEntry;
    in
        /// The company that owns the books.
        company_id: Id<Company>;
    filter
        /// Only entries with a line on this account.
        account: Account => |account, entry| entry.lines.iter().any(|line| line.account == *account),
        /// Filter by the type of the resource that caused the entry.
        source_type: Text<64> => |kind, entry| entry.source.kind.name() == kind.as_str(),
        /// Only entries on or after this day.
        from: Date => |from, entry| entry.effective_on >= *from,
        /// Only entries on or before this day.
        to: Date => |to, entry| entry.effective_on <= *to,
        /// Filter by the resource that caused the entry.
        source_id: Text<64> = source;
    sort created_at, effective_on;
}

fn list_journal_entries(
    world: &World,
    input: ListJournalEntries,
) -> Result<List<Shown<JournalEntry>>> {
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
            all().filter(|entry| input.accepts(entry)).cloned().collect();
        sort.apply(&mut rows);
        (rows.len() as u64, input.paging.page_of(&rows).to_vec())
    } else if !input.is_filtered() {
        let total = (grown.len() + since.map_or(0, imbl::Vector::len)) as u64;
        let entry = |place| {
            let since = |place| since.and_then(|since| since.get(place));
            grown.get(place).or_else(|| since(place - grown.len())).cloned()
        };
        let places = input.paging.range(total);
        let places = places.filter_map(|place| usize::try_from(place).ok());
        (total, places.filter_map(entry).collect())
    } else {
        let total = all().filter(|entry| input.accepts(entry)).count() as u64;
        let range = input.paging.range(total);
        let rows = (0..).zip(all().filter(|entry| input.accepts(entry)));
        let rows = rows.filter(|(place, _)| range.contains(place));
        (total, rows.map(|(_, entry)| Arc::clone(entry)).collect())
    };
    let stands = |entry: &Arc<JournalEntry>| Shown(world.as_it_stands(entry));
    Ok(List { data: page.iter().map(stands).collect(), meta: input.paging.meta(total) })
}

/// Refuses a range that ends before it starts.
pub(crate) fn in_order(from: Date, to: Date) -> Result<()> {
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
    /// The code of the account, such as `rent`.
    account: Account,
    /// The side of the line: debit or credit.
    direction: Direction,
    /// Amount in minor units, from 1.
    amount: Amount,
    /// Currency of the amount.
    currency: Currency,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateJournalEntry {
    /// The company that owns the books.
    company_id: Id<Company>,
    /// The accounting date, used in reports.
    effective_on: Date,
    /// What the entry is for, in a few words.
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
) -> Result<Single<JournalEntry>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let lines: Vec<EntryLine> = input.lines.iter().map(line).collect();
    let mut wrong = wrong_lines(world, &company, &lines);
    let open = company.created_at.date()..=world.today();
    wrong.extend(wrong_day(input.effective_on, &open));
    ApiError::if_any(wrong)?;
    balanced(&lines)?;
    open_on(world, company.id, input.effective_on)?;
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
    /// The reason for the reversal.
    reason: Text<500>,
    /// The accounting date of the reversal; not before the entry's own. Default: today.
    effective_on: Option<Date>,
}

fn reverse_journal_entry(
    world: &mut World,
    input: ReverseJournalEntry,
) -> Result<Single<JournalEntry>> {
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
    open_on(world, company.id, day)?;
    let memo = format!("Reversal: {}", input.reason.as_str());
    let mirrored = Posting::mirror(&entry, memo.clone().into(), AnyId::of(id));
    affordable(world, &company, &mirrored.lines)?;
    let (mirror, reversed) = world.reverse(&entry, memo.into(), AnyId::of(id), day);
    world.emit("journal_entry.reversed", &reversed);
    tell_wallets(world, &mirror);
    Ok(Data(Shown(mirror)))
}
