//! Aged receivables and payables: the outstanding amounts at the end of a day, by the number of days since they were
//! due.
//!
//! The amounts are sums of journal entries by invoice or bill, so they agree with the ledger on every past day.

use crate::api::business::figures::{Reading, behind, minor};
use crate::api::business::reports::reports;
use crate::api::prelude::*;
use crate::model::payments::{Bill, Invoice};
use crate::model::{Account, AccountType};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/reports/aged-receivables",
        summary: "Read the aged receivables",
        description: "Returns the unpaid amounts of invoices at the end of a day, by customer and \
            by days overdue. For each currency, the total equals the balance of \
            `accounts_receivable`; entries that belong to no invoice are in `unallocated`.",
        example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
        long: true,
        ..operation!(read get_aged_receivables)
    },
    Operation {
        path: "/api/business/reports/aged-payables",
        summary: "Read the aged payables",
        description: "Returns the unpaid amounts of approved bills at the end of a day, by supplier \
            and by days overdue. For each currency, the total equals the balance of \
            `accounts_payable`; entries that belong to no bill are in `unallocated`.",
        example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
        long: true,
        ..operation!(read get_aged_payables)
    },
]);

reports!(AgedReport);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetAgedReport {
    /// The company to report on.
    company_id: Id<Company>,
    /// The day of the report, which shows the amounts at its end. For a future day, the report
    /// shows the current amounts and the days overdue on that day.
    as_of: Date,
}

/// Outstanding amounts by days overdue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgedReport {
    /// The company of the report.
    company_id: Id<Company>,
    /// The day of the report. Amounts are those at the end of the day.
    as_of: Date,
    /// The account: `accounts_receivable` or `accounts_payable`.
    account: Account,
    /// One row for each customer or supplier and currency, ordered by name.
    parties: Vec<AgedParty>,
    /// The totals, one row for each currency.
    totals: Vec<AgedTotal>,
}

/// Amounts by the number of days since the due date, in minor units.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "AgedAmounts")]
pub(crate) struct Buckets {
    /// The amount that is not overdue, in minor units.
    not_due: i64,
    /// The amount that is 1 to 30 days overdue, in minor units.
    days_1_to_30: i64,
    /// The amount that is 31 to 60 days overdue, in minor units.
    days_31_to_60: i64,
    /// The amount that is 61 to 90 days overdue, in minor units.
    days_61_to_90: i64,
    /// The amount that is more than 90 days overdue, in minor units.
    days_over_90: i64,
    /// The sum of these five amounts, in minor units.
    outstanding: i64,
}

impl Buckets {
    fn add(&mut self, item: &AgedItem) {
        let bucket = match item.days_overdue {
            0 => &mut self.not_due,
            1..=30 => &mut self.days_1_to_30,
            31..=60 => &mut self.days_31_to_60,
            61..=90 => &mut self.days_61_to_90,
            _ => &mut self.days_over_90,
        };
        *bucket += item.amount;
        self.outstanding += item.amount;
    }
}

/// A customer or a supplier, in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgedParty {
    /// The name of the customer or supplier.
    name: String,
    /// The currency of all amounts in the row.
    currency: Currency,
    #[serde(flatten)]
    amounts: Buckets,
    /// The invoices or bills, by due date.
    items: Vec<AgedItem>,
}

/// An invoice or a bill with an outstanding amount.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgedItem {
    /// The type and the id of the invoice or bill.
    source: AnyId,
    /// The number of the invoice or bill; null if there is none.
    number: Option<String>,
    /// The last day to pay.
    due_date: Date,
    /// Days since the due date; 0 if the due date has not passed.
    days_overdue: i32,
    /// The outstanding amount, in minor units.
    amount: i64,
}

/// The sums in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgedTotal {
    /// The currency of all amounts in the row.
    currency: Currency,
    #[serde(flatten)]
    amounts: Buckets,
    /// The part of the balance that belongs to no invoice or bill: manual entries. In minor units.
    unallocated: i64,
    /// The balance of the account in the ledger, in minor units.
    balance: i64,
}

fn get_aged_receivables(world: &World, input: GetAgedReport) -> Result<Data<AgedReport>> {
    aged(world, &input, Account::AccountsReceivable)
}

fn get_aged_payables(world: &World, input: GetAgedReport) -> Result<Data<AgedReport>> {
    aged(world, &input, Account::AccountsPayable)
}

fn aged(world: &World, input: &GetAgedReport, account: Account) -> Result<Data<AgedReport>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let side = if account.account_type() == AccountType::Asset { 1 } else { -1 };
    let mut parties: BTreeMap<(String, Currency), AgedParty> = BTreeMap::new();
    for ((bits, currency), net) in outstanding(world, company.id, account, input.as_of) {
        let Some((name, mut item)) = document(world, account, bits).filter(|_| net != 0) else {
            continue;
        };
        item.amount = minor(side * net);
        item.days_overdue = input.as_of.days_since(item.due_date).max(0);
        let party = parties.entry((name.clone(), currency)).or_insert_with(|| AgedParty {
            name,
            currency,
            amounts: Buckets::default(),
            items: Vec::new(),
        });
        party.amounts.add(&item);
        party.items.push(item);
    }
    let mut parties: Vec<AgedParty> = parties.into_values().collect();
    for party in &mut parties {
        party.items.sort_by_key(|item| item.due_date);
    }
    let sums = Reading::of(world, &company).totals(input.as_of);
    let totals = sums.iter().filter(|(_, of, _)| *of == account).map(|(currency, _, sum)| {
        let mut amounts = Buckets::default();
        let own = parties.iter().filter(|party| party.currency == currency);
        own.flat_map(|party| &party.items).for_each(|item| amounts.add(item));
        let balance = minor(side * sum.net());
        AgedTotal { currency, unallocated: balance - amounts.outstanding, amounts, balance }
    });
    let totals = totals.filter(|total| total.balance != 0 || total.amounts.outstanding != 0);
    let totals = totals.collect();
    Ok(Data(AgedReport { company_id: company.id, as_of: input.as_of, account, parties, totals }))
}

/// Debits less credits of the account until the end of a day, by invoice or bill, and currency.
fn outstanding(
    world: &World,
    company: Id<Company>,
    account: Account,
    as_of: Date,
) -> BTreeMap<(u64, Currency), i128> {
    let history = world.base().history(company);
    let grown = history.as_ref().map_or(&[][..], |history| &history.entries);
    let since = world.book(company).map(|book| &book.entries);
    let entries = grown.iter().chain(since.into_iter().flatten());
    let mut sums = BTreeMap::new();
    for entry in entries.filter(|entry| entry.effective_on <= as_of) {
        for line in entry.lines.iter().filter(|line| line.account == account) {
            if let Some(of) = behind(world, entry.source) {
                let signed = i128::from(line.signed());
                *sums.entry((of, line.currency)).or_default() += signed;
            }
        }
    }
    sums
}

/// The other party's name, and the invoice or bill without its amount and age.
fn document(world: &World, account: Account, bits: u64) -> Option<(String, AgedItem)> {
    let (name, source, number, due_date) = if account == Account::AccountsReceivable {
        let invoice = world.find(Id::<Invoice>::from_bits(bits))?;
        let name = invoice.customer.name.clone();
        (name, AnyId::of(invoice.id), invoice.number.clone(), invoice.due_date)
    } else {
        let bill = world.find(Id::<Bill>::from_bits(bits))?;
        (bill.vendor.name.clone(), AnyId::of(bill.id), bill.number.clone(), bill.due_date)
    };
    Some((name, AgedItem { source, number, due_date, days_overdue: 0, amount: 0 }))
}
