//! Every cause of a journal entry and its lines. They stand here and nowhere else: grown history and live work post by
//! the same functions.

pub(crate) mod payouts;

use std::borrow::Cow;

use crate::model::AnyId;
use crate::model::business::authority::Authority;
use crate::model::business::calculation::Calculation;
use crate::model::business::payroll_item::PayrollItem;
use crate::model::ledger::{Account, Direction, JournalEntry, Line};
use crate::value::money::Currency;

/// A journal entry before it has a number and a date.
#[derive(Clone, Debug)]
pub(crate) struct Posting {
    pub(crate) memo: Cow<'static, str>,
    pub(crate) source: AnyId,
    pub(crate) lines: Vec<Line>,
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
            .map(|&(account, direction, amount)| Line {
                account,
                direction,
                amount,
                currency,
            })
            .map(positive)
            .collect();
        Self {
            memo: Cow::Borrowed(memo),
            source,
            lines,
        }
    }

    /// What a caller wrote, as it was written.
    pub(crate) fn manual(memo: Cow<'static, str>, source: AnyId, lines: Vec<Line>) -> Self {
        Self {
            memo,
            source,
            lines,
        }
    }

    /// The lines of an entry, each on its other side.
    pub(crate) fn mirror(entry: &JournalEntry, memo: Cow<'static, str>, source: AnyId) -> Self {
        let mirrored = entry.lines.iter().map(|line| Line {
            direction: line.direction.opposite(),
            ..*line
        });
        Self {
            memo,
            source,
            lines: mirrored.collect(),
        }
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
        self.lines
            .iter()
            .all(|line| line.amount > 0 && sum(line.currency) == 0)
    }
}

/// A negative amount on one side is a positive one on the other: a tax refund in a run is a debit of the authority.
fn positive(line: Line) -> Line {
    if line.amount > 0 {
        return line;
    }
    Line {
        direction: line.direction.opposite(),
        amount: -line.amount,
        ..line
    }
}

use Direction::{Credit, Debit};

/// What a run owes, and to whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCost {
    pub(crate) gross: i64,
    pub(crate) employer_contributions: i64,
    pub(crate) net: i64,
    /// Kept back beside taxes and contributions.
    pub(crate) deductions: i64,
    /// Expenses paid back.
    pub(crate) reimbursed: i64,
    /// By account: `tax_payable` of each authority, `pension_payable`.
    pub(crate) owed: Vec<(Account, i64)>,
    /// Net pay in other currencies, by currency. It is in no other sum.
    pub(crate) abroad: Vec<Abroad>,
}

/// Net pay that is owed in another currency than the company's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abroad {
    pub(crate) currency: Currency,
    /// What is owed, in that currency.
    pub(crate) owed: i64,
    /// What the run counts it as, in its own.
    pub(crate) value: i64,
    /// What converting it costs on top.
    pub(crate) fee: i64,
}

impl RunCost {
    /// Adds the pay of so many people who earn the same.
    pub(crate) fn add(&mut self, pay: &Calculation, people: i64) {
        self.gross += pay.gross * people;
        self.employer_contributions += pay.employer_contributions * people;
        self.net += pay.net * people;
        self.deductions += pay.deductions() * people;
        self.reimbursed += pay.reimbursed() * people;
        for (account, amount) in pay.owed() {
            match self.owed.iter_mut().find(|(known, _)| *known == account) {
                Some((_, sum)) => *sum += amount * people,
                None => self.owed.push((account, amount * people)),
            }
        }
    }
}

impl RunCost {
    /// What those parts of a run cost.
    pub(crate) fn of<'a>(items: impl IntoIterator<Item = &'a PayrollItem>) -> Self {
        let mut cost = Self::default();
        for item in items {
            cost.add_item(item);
        }
        cost
    }

    fn add_item(&mut self, item: &PayrollItem) {
        let pay = item.value();
        self.gross += pay.gross;
        self.employer_contributions += pay.employer_contributions;
        self.deductions += pay.deductions;
        self.reimbursed += pay.reimbursed;
        for (account, amount) in pay.owed {
            match self.owed.iter_mut().find(|(known, _)| *known == account) {
                Some((_, sum)) => *sum += amount,
                None => self.owed.push((account, amount)),
            }
        }
        let Some(fx) = &item.fx else {
            self.net += pay.net;
            return;
        };
        let new = Abroad {
            currency: item.currency,
            owed: fx.target_amount,
            value: fx.value(),
            fee: fx.fee_amount,
        };
        match self
            .abroad
            .iter_mut()
            .find(|it| it.currency == new.currency)
        {
            Some(known) => {
                known.owed += new.owed;
                known.value += new.value;
                known.fee += new.fee;
            }
            None => self.abroad.push(new),
        }
    }

    /// What sending the wages takes.
    pub(crate) fn to_send(&self) -> i64 {
        let abroad = self.abroad.iter().map(|it| it.value + it.fee);
        self.net + abroad.sum::<i64>()
    }

    /// What the run itself pays: wages, and what it withheld for others. What it kept back for employees' own creditors
    /// stays available and owed.
    pub(crate) fn to_reserve(&self) -> i64 {
        self.to_send() + self.owed.iter().map(|(_, amount)| amount).sum::<i64>()
    }
}

/// The account that holds sales tax.
pub(crate) fn vat_account() -> Account {
    Authority::VAT.account()
}

/// A run is approved: wages and contributions accrue. Net pay in another currency is owed in that one.
pub(crate) fn run_approved(run: AnyId, currency: Currency, cost: &RunCost) -> Posting {
    accrual("Payroll approved", run, currency, cost, 1)
}

/// The mirror of what accrued, where a run is taken back wholly or in part.
pub(crate) fn run_mirrored(
    memo: &'static str,
    run: AnyId,
    currency: Currency,
    cost: &RunCost,
) -> Posting {
    accrual(memo, run, currency, cost, -1)
}

fn accrual(
    memo: &'static str,
    run: AnyId,
    currency: Currency,
    cost: &RunCost,
    sign: i64,
) -> Posting {
    let value: i64 = cost.abroad.iter().map(|it| it.value).sum();
    let mut lines = vec![
        (Account::Wages, Debit, cost.gross),
        (
            Account::EmployerContributions,
            Debit,
            cost.employer_contributions,
        ),
        (Account::Purchases, Debit, cost.reimbursed),
        (Account::WagesPayable, Credit, cost.net),
        (Account::WorldFx, Credit, value),
        (Account::DeductionsPayable, Credit, cost.deductions),
    ];
    let owed = cost.owed.iter();
    lines.extend(owed.map(|&(account, amount)| (account, Credit, amount)));
    for (_, _, amount) in &mut lines {
        *amount *= sign;
    }
    let mut posting = Posting::new(memo, run, currency, &lines);
    for it in &cost.abroad {
        let lines = [
            (Account::WorldFx, Debit, sign * it.owed),
            (Account::WagesPayable, Credit, sign * it.owed),
        ];
        let abroad = Posting::new(memo, run, it.currency, &lines);
        posting.lines.extend(abroad.lines);
    }
    posting
}

/// What the service charges for paying a run. Given back, the amount is negative.
pub(crate) fn platform_fee(
    memo: &'static str,
    source: AnyId,
    currency: Currency,
    amount: i64,
) -> Posting {
    let lines = [
        (Account::Fees, Debit, amount),
        (Account::CashAvailable, Credit, amount),
    ];
    Posting::new(memo, source, currency, &lines)
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
        &[
            (Account::CashReserved, Debit, amount),
            (Account::CashAvailable, Credit, amount),
        ],
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

/// Net pay that had arrived is called back: one entry, and one more for each other currency in which it had.
pub(crate) fn net_pay_recalled(
    source: AnyId,
    currency: Currency,
    arrived: &RunCost,
) -> Vec<Posting> {
    const MEMO: &str = "Net pay called back";
    let lines = [
        (Account::CashAvailable, Debit, arrived.net),
        (Account::WagesPayable, Credit, arrived.net),
    ];
    let mut postings = vec![Posting::new(MEMO, source, currency, &lines)];
    postings.extend(arrived.abroad.iter().map(|it| {
        let of = Conversion {
            source,
            given: it.value + it.fee,
            given_in: currency,
            fee: it.fee,
            got: it.owed,
            got_in: it.currency,
        };
        let (from, into) = (Account::WagesPayable, Account::CashAvailable);
        net_pay_converted_back(MEMO, &of, from, into)
    }));
    postings
}

/// Net pay leaves with the rail.
pub(crate) fn net_pay_sent(source: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::PayoutsInTransit, Debit, amount),
        (Account::CashReserved, Credit, amount),
    ];
    Posting::new("Net pay sent", source, currency, &lines)
}

/// The same in another currency, into which it is converted on the way.
pub(crate) fn net_pay_converted(of: &Conversion) -> Posting {
    of.entry(
        "Net pay sent",
        Account::CashReserved,
        Account::PayoutsInTransit,
    )
}

/// Net pay in another currency is back and converted again, at the rate at which it went: out of what held it, into what holds
/// it now.
pub(crate) fn net_pay_converted_back(
    memo: &'static str,
    of: &Conversion,
    from: Account,
    into: Account,
) -> Posting {
    let mut posting = of.entry(memo, into, from);
    for line in &mut posting.lines {
        line.direction = line.direction.opposite();
    }
    posting
}

/// Net pay arrives.
pub(crate) fn net_pay_paid(source: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::WagesPayable, Debit, amount),
        (Account::PayoutsInTransit, Credit, amount),
    ];
    Posting::new("Net pay paid", source, currency, &lines)
}

/// Net pay comes back before it arrived: the wages are still owed.
pub(crate) fn net_pay_bounced(source: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::CashReserved, Debit, amount),
        (Account::PayoutsInTransit, Credit, amount),
    ];
    Posting::new("Net pay bounced", source, currency, &lines)
}

/// Net pay comes back after it arrived: the wages are owed again.
pub(crate) fn net_pay_returned(source: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::CashReserved, Debit, amount),
        (Account::WagesPayable, Credit, amount),
    ];
    Posting::new("Net pay returned", source, currency, &lines)
}

/// A filing is paid out of what was reserved.
pub(crate) fn filing_paid(
    source: AnyId,
    currency: Currency,
    liability: Account,
    amount: i64,
) -> Posting {
    let lines = [
        (liability, Debit, amount),
        (Account::CashReserved, Credit, amount),
    ];
    Posting::new("Filing paid", source, currency, &lines)
}

/// An amended return declares another sum than the one that accrued: the difference is the employer's, of sales tax the seller's.
pub(crate) fn filing_adjusted(
    source: AnyId,
    currency: Currency,
    liability: Account,
    amount: i64,
) -> Posting {
    let borne_by = if liability == vat_account() {
        Account::Sales
    } else {
        Account::EmployerContributions
    };
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
    let lines = [
        (Account::CollectionsInTransit, Debit, amount),
        (against, Credit, amount),
    ];
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
    let lines = [
        (Account::PayoutsInTransit, Debit, amount),
        (Account::CashAvailable, Credit, amount),
    ];
    Posting::new("Vendor payout sent", payout, currency, &lines)
}

/// A vendor's money arrives: the expense is `purchases` or `rent`.
pub(crate) fn vendor_payout_paid(
    payout: AnyId,
    currency: Currency,
    expense: Account,
    amount: i64,
) -> Posting {
    let lines = [
        (expense, Debit, amount),
        (Account::PayoutsInTransit, Credit, amount),
    ];
    Posting::new("Vendor payout paid", payout, currency, &lines)
}

/// Money of one currency that becomes money of another. What the spread takes is a fee in the first; the rest is what stands
/// against the second on the clearing account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    pub(crate) source: AnyId,
    pub(crate) given: i64,
    pub(crate) given_in: Currency,
    /// The part of `given` that is a fee.
    pub(crate) fee: i64,
    pub(crate) got: i64,
    pub(crate) got_in: Currency,
}

impl Conversion {
    /// An entry in two currencies, each of which balances on its own: `given` out of one account, `got` into another.
    fn entry(&self, memo: &'static str, from: Account, into: Account) -> Posting {
        let given = [
            (Account::WorldFx, Debit, self.given - self.fee),
            (Account::Fees, Debit, self.fee),
            (from, Credit, self.given),
        ];
        let got = [
            (into, Debit, self.got),
            (Account::WorldFx, Credit, self.got),
        ];
        let mut posting = Posting::new(memo, self.source, self.given_in, &given);
        let got = Posting::new(memo, self.source, self.got_in, &got);
        posting.lines.extend(got.lines);
        posting
    }
}

/// Money is taken out of a wallet to be converted.
pub(crate) fn fx_begun(of: &Conversion) -> Posting {
    reserved("Conversion begun", of.source, of.given_in, of.given)
}

/// The conversion is done: the other currency arrives in its wallet.
pub(crate) fn fx_completed(of: &Conversion) -> Posting {
    of.entry(
        "Conversion completed",
        Account::CashReserved,
        Account::CashAvailable,
    )
}

/// The conversion did not come about.
pub(crate) fn fx_given_back(of: &Conversion) -> Posting {
    released("Conversion failed", of.source, of.given_in, of.given)
}

/// Money arrives in the wallet by itself: the owners', or a customer's.
pub(crate) fn bank_transfer_received(
    wallet: AnyId,
    currency: Currency,
    amount: i64,
    from_customer: bool,
) -> Posting {
    let origin = if from_customer {
        Account::Sales
    } else {
        Account::OwnerEquity
    };
    let lines = [
        (Account::CashAvailable, Debit, amount),
        (origin, Credit, amount),
    ];
    Posting::new("Bank transfer received", wallet, currency, &lines)
}

/// The owners' money with which a company starts.
pub(crate) fn seed_money(company: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::CashAvailable, Debit, amount),
        (Account::OwnerEquity, Credit, amount),
    ];
    Posting::new("Seed money", company, currency, &lines)
}

/// A dispute is lost: out of what was withheld and what is still taken from the wallet; the rest is owed.
pub(crate) fn dispute_lost(
    dispute: AnyId,
    currency: Currency,
    amount: i64,
    withheld: i64,
    taken: i64,
) -> Posting {
    let lines = [
        (Account::ChargebackLosses, Debit, amount),
        (Account::CashReserved, Credit, withheld),
        (Account::CashAvailable, Credit, taken),
        (Account::RefundsPayable, Credit, amount - withheld - taken),
    ];
    Posting::new("Dispute lost", dispute, currency, &lines)
}

/// Collected money goes back: it is owed to the payer, and set aside for the way.
pub(crate) fn refund_created(refund: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::Sales, Debit, amount),
        (Account::RefundsPayable, Credit, amount),
        (Account::CashReserved, Debit, amount),
        (Account::CashAvailable, Credit, amount),
    ];
    Posting::new("Refund created", refund, currency, &lines)
}

/// It has arrived.
pub(crate) fn refund_succeeded(refund: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::RefundsPayable, Debit, amount),
        (Account::CashReserved, Credit, amount),
    ];
    Posting::new("Refund succeeded", refund, currency, &lines)
}

/// It did not arrive: the mirror of its creation.
pub(crate) fn refund_failed(refund: AnyId, currency: Currency, amount: i64) -> Posting {
    let mut posting = refund_created(refund, currency, -amount);
    posting.memo = Cow::Borrowed("Refund failed");
    posting
}

/// An invoice is withdrawn: the mirror of its sending.
pub(crate) fn invoice_voided(
    invoice: AnyId,
    currency: Currency,
    net: i64,
    vat: Option<(Account, i64)>,
) -> Posting {
    let vat = vat.map(|(account, tax)| (account, -tax));
    let mut posting = invoice_sent(invoice, currency, -net, vat);
    posting.memo = Cow::Borrowed("Invoice voided");
    posting
}
