//! Wallets and their statements.

use core::ops::Range;

use crate::api::prelude::*;
use crate::model::{TransactionType, WalletTransaction};
use crate::world::statement::Statement;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/wallets",
        summary: "List wallets",
        description: "Lists wallets, one per company and currency. Balances are calculated from \
            the ledger.",
        ..operation!(read list_wallets)
    },
    Operation {
        path: "/api/payments/wallets/{wallet_id}",
        summary: "Read a wallet",
        description: "Returns a wallet with its available, pending, reserved and escrow balances.",
        ..operation!(read get_wallet)
    },
    Operation {
        path: "/api/payments/wallets/{wallet_id}/transactions",
        summary: "List a wallet's transactions",
        description: "Lists changes of the available balance, oldest first, with the balance after \
            each.",
        ..operation!(read list_wallet_transactions)
    },
]);

list! {
    struct ListWallets of Wallet, of company_id;
    filter company_id: Id<Company>, currency: Currency;
    sort created_at, currency;
}

fn list_wallets(world: &World, input: ListWallets) -> Result<List<Shown<Wallet>>> {
    let candidates = match input.company_id {
        Some(company) => {
            let index = world.base().index_of(company);
            let grown = u64::from(index.is_some());
            Candidates::new(grown, move |_| index, world.children(company.bits()))
        }
        None => Candidates::all(world),
    };
    let mut page = select(world, &input, candidates)?;
    for wallet in &mut page.data {
        wallet.0 = Arc::new(world.with_balances(&wallet.0));
    }
    Ok(page)
}

fn get_wallet(world: &World, input: One<Wallet>) -> Result<Single<Wallet>> {
    let wallet = world.get(input.id)?;
    Ok(Data(Shown(Arc::new(world.with_balances(&wallet)))))
}

/// The maximum balance of a wallet: far below the limit of 64 bits, so that no credit can reach it.
const MOST: i64 = i64::MAX / 1_000;

/// Refuses an amount that the wallet could not hold.
pub(crate) fn fits(
    world: &World,
    company: Id<Company>,
    currency: Currency,
    amount: i64,
) -> Result<()> {
    // Paid collections that are not settled yet will be credited, too.
    let pending = world.balances(company, currency).pending;
    let amount = amount.saturating_add(pending);
    if let Some(wallet) = world.wallet_of(company, currency) {
        return room(world, &wallet, amount);
    }
    let opened = Wallet::open(Id::UNKNOWN, company, currency, world.now());
    room(world, &opened, amount).map_err(|error| ApiError { resource_id: None, ..error })
}

/// Whether the amount fits into the wallet; checked before every credit. It must also fit in the company's currency, in which reports add
/// up all wallets.
pub(crate) fn room(world: &World, wallet: &Wallet, amount: i64) -> Result<()> {
    let (company, currency) = (wallet.company_id, wallet.currency);
    let available = world.balances(company, currency).available;
    let holds = i128::from(available) + i128::from(amount);
    let own = world.find(company).map_or(currency, |it| it.currency);
    let rate = world.base().mid_rate(currency, own, world.today());
    let worth = |holds| rate.map_or(0, |rate| rate.convert(holds, currency, own));
    let fits =
        i64::try_from(holds).is_ok_and(|holds| holds.max(0) <= MOST && worth(holds) <= MOST_WORTH);
    if fits {
        return Ok(());
    }
    let detail = "a wallet can hold at most 9223372036854775 minor units, in its own currency and \
        in the company's";
    Err(ApiError::new(ErrorCode::LimitExceeded, detail).about(wallet.id))
}

/// The maximum balance in the company's currency.
const MOST_WORTH: i128 = MOST as i128;

/// Refuses to debit more than the available balance.
pub(crate) fn short(world: &World, wallet: &Wallet, amount: i64) -> Result<()> {
    let available = world.balances(wallet.company_id, wallet.currency).available;
    if available >= amount {
        return Ok(());
    }
    let shown = |minor| wallet.currency.display(minor);
    let detail =
        format!("the available balance is {}, but {} is required", shown(available), shown(amount));
    Err(ApiError::new(ErrorCode::InsufficientFunds, detail).about(wallet.id))
}

/// Refuses a wallet that does not belong to the company, or has another currency.
pub(crate) fn belongs(wallet: &Wallet, company: Id<Company>, currency: Currency) -> Result<()> {
    if wallet.company_id != company {
        let detail =
            format!("{} is a wallet of {}, not of {company}", wallet.id, wallet.company_id);
        return Err(ApiError::of_member("/wallet_id", "foreign_wallet", detail));
    }
    if wallet.currency != currency {
        let detail = format!("{} has the currency {}, not {currency}", wallet.id, wallet.currency);
        return Err(ApiError::new(ErrorCode::CurrencyMismatch, detail)
            .at("/wallet_id", "currency_mismatch"));
    }
    Ok(())
}

list! {
    struct ListWalletTransactions of WalletTransaction;
    in
        /// The wallet.
        wallet_id: Id<Wallet>;
    filter
        /// Filter by direction: in or out.
        kind as "type": TransactionType,
        /// Only entries on or after this day.
        from: Date => |from, line| line.effective_on >= *from,
        /// Only entries on or before this day.
        to: Date => |to, line| line.effective_on <= *to,
        /// Filter by the resource that caused the transaction.
        source_id: Text<64> = source;
    sort created_at, amount;
}

fn list_wallet_transactions(
    world: &World,
    input: ListWalletTransactions,
) -> Result<List<Shown<WalletTransaction>>> {
    let wallet = world.get(input.wallet_id)?;
    let statement = world.statement(&wallet);
    let by_day = statement.is_by_day();
    let places = if by_day { statement.between(input.from, input.to) } else { 0..statement.len() };
    let by_time = input.sort.as_ref().is_none_or(Sort::is_by_time);
    let dated = input.from.is_some() || input.to.is_some();
    if by_time && (by_day || !dated) && input.kind.is_none() && input.source_id.is_none() {
        let newest_first = input.sort.is_some_and(|sort| !sort.is_own_order());
        return Ok(page_by_place(&statement, places, input.paging, newest_first));
    }
    may_scan(places.len() as u64, input.pointer())?;
    let lines = places.filter_map(|place| statement.get(place));
    let lines = lines.filter(|line| input.accepts(line));
    let mut lines: Vec<Arc<WalletTransaction>> = lines.cloned().collect();
    if let Some(sort) = input.sort {
        sort.apply(&mut lines);
    }
    Ok(page_of(&lines, input.paging))
}

/// A page of lines at given positions, without reading others. If sorted newest first, lines of one instant stay in creation order, as in
/// every sorted list.
fn page_by_place(
    statement: &Statement<'_>,
    places: Range<usize>,
    paging: Paging,
    newest_first: bool,
) -> List<Shown<WalletTransaction>> {
    let total = places.len() as u64;
    let ranks = paging.range(total);
    let rows = ranks.filter_map(|rank| {
        let rank = usize::try_from(rank).ok()?;
        if !newest_first {
            return statement.get(places.start + rank);
        }
        let mirrored = places.end - 1 - rank;
        let group = statement.made_at(statement.get(mirrored)?.created_at);
        let group = group.start.max(places.start)..group.end.min(places.end);
        statement.get(group.start + (group.end - 1 - mirrored))
    });
    List { data: rows.map(|line| Shown(Arc::clone(line))).collect(), meta: paging.meta(total) }
}
