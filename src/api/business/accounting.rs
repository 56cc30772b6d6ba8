//! The chart of accounts, with balances.

use serde_json::Value;

use crate::api::business::figures::{Reading, minor};
use crate::api::prelude::*;
use crate::model::payments::vat;
use crate::model::{Account, AccountType, Direction, Wire};
use crate::value::id::encode_to_string;
use crate::world::sums::Totals;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/ledger-accounts",
    summary: "List ledger accounts",
    description: "Lists a company's accounts with their balances. Accounts in the base currency \
        are included even without entries.",
    long: true,
    ..operation!(read list_ledger_accounts)
}]);

list! {
    struct ListLedgerAccounts of LedgerAccount;
    in
        /// The company that owns the accounts.
        company_id: Id<Company>;
    with
        /// Balances at the end of this day. Default: now.
        as_of: Date;
    filter
        /// Filter by account type.
        kind as "type": AccountType,
        currency: Currency;
    sort code, balance;
}

/// An account of a company's chart.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LedgerAccount {
    /// The account's id.
    id: String,
    /// Always `ledger_account`.
    object: LedgerAccountObject,
    /// The company that owns the account.
    company_id: Id<Company>,
    /// Always `active`.
    status: LedgerAccountStatus,
    /// The code of the account, such as `cash_available`.
    code: Account,
    /// The name of the account, for people.
    name: String,
    /// The type of the account.
    #[serde(rename = "type")]
    kind: AccountType,
    /// The side that increases the account.
    normal_side: Direction,
    /// The currency of the account.
    currency: Currency,
    /// Sum of all debits, in minor units.
    debits: i64,
    /// Sum of all credits, in minor units.
    credits: i64,
    /// The balance on the account's normal side, in minor units.
    balance: i64,
    /// When it was opened, in virtual time.
    created_at: Timestamp,
    /// Equal to `created_at`: accounts never change.
    updated_at: Timestamp,
    /// Always empty.
    metadata: Metadata,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LedgerAccountObject {
    LedgerAccount,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LedgerAccountStatus {
    Active,
}

impl Wire for LedgerAccount {
    type Shape<'a> = &'a Self;

    fn wire(&self) -> &Self {
        self
    }
}

fn list_ledger_accounts(
    world: &World,
    input: ListLedgerAccounts,
) -> Result<List<Shown<LedgerAccount>>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let reading = Reading::of(world, &company);
    let sums = input.as_of.map_or_else(|| reading.all_totals(), |day| reading.totals(day));
    let mut rows: Vec<(Currency, Account)> =
        Account::FIXED.iter().map(|&account| (company.currency, account)).collect();
    let posted: Vec<(Currency, Account)> =
        sums.iter().map(|(currency, account, _)| (currency, account)).collect();
    rows.extend(posted.into_iter().filter(|row| !rows.contains(row)).collect::<Vec<_>>());
    let accounts = rows.into_iter().map(|(currency, account)| {
        ledger_account(world, &company, account, currency, sums.get(currency, account))
    });
    let accounts = accounts.filter(|account| input.accepts(account));
    let mut accounts: Vec<Arc<LedgerAccount>> = accounts.map(Arc::new).collect();
    if let Some(sort) = input.sort {
        sort.apply(&mut accounts);
    }
    Ok(page_of(&accounts, input.paging))
}

/// The account of a company with this id, and as the list shows it.
pub(crate) fn ledger_account_of(
    world: &World,
    company: &Company,
    id: &str,
) -> Option<(Account, Currency, Value)> {
    let sums = Reading::of(world, company).all_totals();
    let fixed = Account::FIXED.iter().map(|&account| (company.currency, account));
    let posted: Vec<_> = sums.iter().map(|(currency, account, _)| (currency, account)).collect();
    fixed.chain(posted).find_map(|(currency, account)| {
        let totals = sums.get(currency, account);
        let found = ledger_account(world, company, account, currency, totals);
        let wire = (found.id == id).then(|| serde_json::to_value(&found).ok())??;
        Some((account, currency, wire))
    })
}

fn ledger_account(
    world: &World,
    company: &Company,
    account: Account,
    currency: Currency,
    totals: Totals,
) -> LedgerAccount {
    let code = account.to_string();
    let key =
        world.base().key().with("account").at(company.id.bits()).with(&code).with(currency.code());
    let kind = account.account_type();
    let net = minor(totals.net());
    LedgerAccount {
        id: format!("{}_{}", Kind::LedgerAccount.prefix(), encode_to_string(key.hash())),
        object: LedgerAccountObject::LedgerAccount,
        company_id: company.id,
        status: LedgerAccountStatus::Active,
        code: account,
        name: account.name(vat::Place::of(company)).into_owned(),
        kind,
        normal_side: kind.normal_side(),
        currency,
        debits: minor(totals.debits),
        credits: minor(totals.credits),
        balance: if kind.normal_side() == Direction::Debit { net } else { -net },
        created_at: company.created_at,
        updated_at: company.created_at,
        metadata: Metadata::default(),
    }
}
