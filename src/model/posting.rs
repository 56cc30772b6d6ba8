//! Every kind of journal entry and its lines. They are defined only here: the grown history and live operations use
//! the same functions.

pub(crate) mod closing;
pub(crate) mod collecting;
mod conversions;
pub(crate) mod deals;
pub(crate) mod holdings;
pub(crate) mod lending;
pub(crate) mod payouts;
mod payroll;
mod payroll_months;
pub(crate) mod purchasing;

pub(crate) use self::conversions::{Conversion, fx_begun, fx_completed, fx_given_back};
pub(crate) use self::payroll::{
    PAYROLL_APPROVED, RunCost, net_pay_bounced, net_pay_converted, net_pay_converted_back,
    net_pay_paid, net_pay_recalled, net_pay_returned, net_pay_sent, payable, platform_fee,
    run_approved, run_mirrored,
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
    /// An entry with all amounts in `currency`; lines with amount zero are left out.
    fn new(
        memo: &'static str,
        source: AnyId,
        currency: Currency,
        lines: &[(Account, Direction, i64)],
    ) -> Self {
        let moved = lines.iter().filter(|(_, _, amount)| *amount != 0);
        // Every entry is stored, so its list gets no more than its size.
        let mut written = Vec::with_capacity(moved.clone().count());
        written.extend(moved.map(|&(account, direction, amount)| {
            positive(EntryLine { account, direction, amount, currency })
        }));
        Self { memo: Cow::Borrowed(memo), source, lines: written }
    }

    /// An entry exactly as a caller wrote it.
    pub(crate) fn manual(memo: Cow<'static, str>, source: AnyId, lines: Vec<EntryLine>) -> Self {
        Self { memo, source, lines }
    }

    /// An entry with the lines of another one, each on the opposite side.
    pub(crate) fn mirror(entry: &JournalEntry, memo: Cow<'static, str>, source: AnyId) -> Self {
        let mirrored = entry
            .lines
            .iter()
            .map(|line| EntryLine { direction: line.direction.opposite(), ..*line });
        Self { memo, source, lines: mirrored.collect() }
    }

    /// Whether debits equal credits in every currency and all amounts are positive.
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

/// A negative amount on one side becomes a positive one on the other: a tax refund in a run debits the authority.
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

/// Money is reserved for a run, a filing or a dispute.
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

/// Reserved money is available again.
pub(crate) fn released(
    memo: &'static str,
    source: AnyId,
    currency: Currency,
    amount: i64,
) -> Posting {
    reserved(memo, source, currency, -amount)
}

/// A filing is paid with reserved money.
pub(crate) fn filing_paid(
    source: AnyId,
    currency: Currency,
    liability: Account,
    amount: i64,
) -> Posting {
    let lines = [(liability, Debit, amount), (Account::CashReserved, Credit, amount)];
    Posting::new("Filing paid", source, currency, &lines)
}

/// An authority repays tax.
pub(crate) fn filing_repaid(
    source: AnyId,
    currency: Currency,
    liability: Account,
    amount: i64,
) -> Posting {
    let lines = [(Account::CashAvailable, Debit, amount), (liability, Credit, amount)];
    Posting::new("Filing repaid", source, currency, &lines)
}

/// An amended filing declares another amount than the accrued one. The employer bears the difference, or for sales tax the seller.
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

/// An invoice is sent: revenue accrues, and the tax on it is payable.
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

/// A customer has paid an invoice or a sale; the money is in transit.
pub(crate) fn collection_succeeded(
    collection: AnyId,
    currency: Currency,
    against: Account,
    amount: i64,
) -> Posting {
    let lines = [(Account::CollectionsInTransit, Debit, amount), (against, Credit, amount)];
    Posting::new("Collection succeeded", collection, currency, &lines)
}

/// Collected money is settled into the wallet, less the platform fee.
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

pub(crate) fn vendor_payout_sent(payout: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::PayoutsInTransit, Debit, amount), (Account::CashAvailable, Credit, amount)];
    Posting::new("Vendor payout sent", payout, currency, &lines)
}

/// A payout to a vendor is paid: the expense is `purchases` or `rent`.
pub(crate) fn vendor_payout_paid(
    payout: AnyId,
    currency: Currency,
    expense: Account,
    amount: i64,
) -> Posting {
    let lines = [(expense, Debit, amount), (Account::PayoutsInTransit, Credit, amount)];
    Posting::new("Vendor payout paid", payout, currency, &lines)
}

/// Money arrives in the wallet without a request, from the owners or a customer.
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

/// The cash with which the books of a company begin: paid in by its owners, or earned before.
pub(crate) fn opening_cash(
    company: AnyId,
    currency: Currency,
    paid_in: i64,
    retained: i64,
) -> Posting {
    let lines = [
        (Account::CashAvailable, Debit, paid_in + retained),
        (Account::OwnerEquity, Credit, paid_in),
        (Account::RetainedEarnings, Credit, retained),
    ];
    Posting::new("Opening balance", company, currency, &lines)
}
