//! Every cause of a journal entry and its lines. They stand here and nowhere else: grown history and live work post by
//! the same functions.

pub(crate) mod collecting;
mod conversions;
pub(crate) mod deals;
pub(crate) mod lending;
pub(crate) mod payouts;
mod payroll;

pub(crate) use self::conversions::{Conversion, fx_begun, fx_completed, fx_given_back};
pub(crate) use self::payroll::{
    RunCost, net_pay_bounced, net_pay_converted, net_pay_converted_back, net_pay_paid,
    net_pay_recalled, net_pay_returned, net_pay_sent, platform_fee, run_approved, run_mirrored,
};

use crate::model::business::Authority;
use crate::model::prelude::*;
use crate::model::{Account, Direction, EntryLine, JournalEntry};

/// A journal entry before it has a number and a date.
#[derive(Clone, Debug)]
pub(crate) struct Posting {
    pub(crate) memo: Cow<'static, str>,
    pub(crate) source: AnyId,
    pub(crate) lines: Vec<EntryLine>,
}

impl Posting {
    /// An entry whose amounts are all in `currency`; lines of nothing are left out.
    fn new(
        memo: &'static str,
        source: AnyId,
        currency: Currency,
        lines: &[(Account, Direction, i64)],
    ) -> Self {
        let lines = lines
            .iter()
            .filter(|(_, _, amount)| *amount != 0)
            .map(|&(account, direction, amount)| EntryLine { account, direction, amount, currency })
            .map(positive)
            .collect();
        Self { memo: Cow::Borrowed(memo), source, lines }
    }

    /// What a caller wrote, as it was written.
    pub(crate) fn manual(memo: Cow<'static, str>, source: AnyId, lines: Vec<EntryLine>) -> Self {
        Self { memo, source, lines }
    }

    /// The lines of an entry, each on its other side.
    pub(crate) fn mirror(entry: &JournalEntry, memo: Cow<'static, str>, source: AnyId) -> Self {
        let mirrored = entry
            .lines
            .iter()
            .map(|line| EntryLine { direction: line.direction.opposite(), ..*line });
        Self { memo, source, lines: mirrored.collect() }
    }

    /// Whether debits equal credits in every currency, all lines being positive.
    pub(crate) fn balances(&self) -> bool {
        let sum = |currency| -> i128 {
            self.lines
                .iter()
                .filter(|l| l.currency == currency)
                .map(|l| i128::from(l.signed()))
                .sum()
        };
        self.lines.iter().all(|line| line.amount > 0 && sum(line.currency) == 0)
    }
}

/// A negative amount on one side is a positive one on the other: a tax refund in a run is a debit of the authority.
fn positive(line: EntryLine) -> EntryLine {
    if line.amount > 0 {
        return line;
    }
    EntryLine { direction: line.direction.opposite(), amount: -line.amount, ..line }
}

use Direction::{Credit, Debit};

/// The account that holds sales tax.
pub(crate) fn vat_account() -> Account {
    Authority::VAT.account()
}

/// Money is set aside for a run, a filing or a dispute.
pub(crate) fn reserved(
    memo: &'static str,
    source: AnyId,
    currency: Currency,
    amount: i64,
) -> Posting {
    Posting::new(
        memo,
        source,
        currency,
        &[(Account::CashReserved, Debit, amount), (Account::CashAvailable, Credit, amount)],
    )
}

/// What was set aside is available again.
pub(crate) fn released(
    memo: &'static str,
    source: AnyId,
    currency: Currency,
    amount: i64,
) -> Posting {
    reserved(memo, source, currency, -amount)
}

/// A filing is paid out of what was reserved.
pub(crate) fn filing_paid(
    source: AnyId,
    currency: Currency,
    liability: Account,
    amount: i64,
) -> Posting {
    let lines = [(liability, Debit, amount), (Account::CashReserved, Credit, amount)];
    Posting::new("Filing paid", source, currency, &lines)
}

/// An amended return declares another sum than the one that accrued: the difference is the employer's, of sales tax the seller's.
pub(crate) fn filing_adjusted(
    source: AnyId,
    currency: Currency,
    liability: Account,
    amount: i64,
) -> Posting {
    let borne_by =
        if liability == vat_account() { Account::Sales } else { Account::EmployerContributions };
    let lines = [(borne_by, Debit, amount), (liability, Credit, amount)];
    Posting::new("Filing adjusted", source, currency, &lines)
}

/// An invoice is sent: revenue accrues, and the tax on it is owed.
pub(crate) fn invoice_sent(
    invoice: AnyId,
    currency: Currency,
    net: i64,
    vat: Option<(Account, i64)>,
) -> Posting {
    let (vat_account, vat) = vat.unwrap_or((Account::Sales, 0));
    let lines = [
        (Account::AccountsReceivable, Debit, net + vat),
        (Account::Sales, Credit, net),
        (vat_account, Credit, vat),
    ];
    Posting::new("Invoice sent", invoice, currency, &lines)
}

/// A customer has paid, against what was owed or as a sale; the money is on its way.
pub(crate) fn collection_succeeded(
    collection: AnyId,
    currency: Currency,
    against: Account,
    amount: i64,
) -> Posting {
    let lines = [(Account::CollectionsInTransit, Debit, amount), (against, Credit, amount)];
    Posting::new("Collection succeeded", collection, currency, &lines)
}

/// Collected money arrives in the wallet, less what the service keeps.
pub(crate) fn collection_settled(
    collection: AnyId,
    currency: Currency,
    amount: i64,
    fee: i64,
) -> Posting {
    let lines = [
        (Account::CashAvailable, Debit, amount - fee),
        (Account::Fees, Debit, fee),
        (Account::CollectionsInTransit, Credit, amount),
    ];
    Posting::new("Collection settled", collection, currency, &lines)
}

/// A vendor's money leaves with the rail.
pub(crate) fn vendor_payout_sent(payout: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::PayoutsInTransit, Debit, amount), (Account::CashAvailable, Credit, amount)];
    Posting::new("Vendor payout sent", payout, currency, &lines)
}

/// A vendor's money arrives: the expense is `purchases` or `rent`.
pub(crate) fn vendor_payout_paid(
    payout: AnyId,
    currency: Currency,
    expense: Account,
    amount: i64,
) -> Posting {
    let lines = [(expense, Debit, amount), (Account::PayoutsInTransit, Credit, amount)];
    Posting::new("Vendor payout paid", payout, currency, &lines)
}

/// Money arrives in the wallet by itself: the owners', or a customer's.
pub(crate) fn bank_transfer_received(
    wallet: AnyId,
    currency: Currency,
    amount: i64,
    from_customer: bool,
) -> Posting {
    let origin = if from_customer { Account::Sales } else { Account::OwnerEquity };
    let lines = [(Account::CashAvailable, Debit, amount), (origin, Credit, amount)];
    Posting::new("Bank transfer received", wallet, currency, &lines)
}

/// The owners' money with which a company starts.
pub(crate) fn seed_money(company: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::CashAvailable, Debit, amount), (Account::OwnerEquity, Credit, amount)];
    Posting::new("Seed money", company, currency, &lines)
}
