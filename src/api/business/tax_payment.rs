//! The payment of a filing.
//!
//! Withheld amounts were reserved with their runs. Sales tax, and the additional amount of an amendment, come from
//! the available balance. An overpayment remains with the authority as a credit for the next filing in that currency;
//! the amount reserved for that part becomes available again. Tax on purchases in excess of the tax on sales is
//! repaid if the law requires it.

use std::collections::BTreeSet;

use crate::api::business::tax_liabilities;
use crate::api::prelude::*;
use crate::model::business::tax_return::account_of;
use crate::model::business::{FilingLine, FilingStatus, LiabilityStatus, TaxFiling, TaxLiability};
use crate::model::payments::vat::Return;
use crate::model::{Account, posting};
use crate::world::filing_history;

/// The payment of a filing.
pub(crate) struct Payment {
    lines: Vec<LinePayment>,
}

/// The payment to one authority.
struct LinePayment {
    account: Account,
    /// Declared but not paid; negative if more was paid than is declared now.
    owed: i64,
    /// The amount paid to the authority.
    money: i64,
    /// The part that was reserved.
    from_reserve: i64,
    /// Reserved, but not needed.
    released: i64,
}

impl Payment {
    /// The payment of a filing that is about to be submitted.
    pub(crate) fn of(world: &World, filing: &TaxFiling) -> Self {
        let lines = filing.lines.iter();
        Self { lines: lines.map(|line| LinePayment::of(world, filing, line)).collect() }
    }

    fn sum(&self, part: fn(&LinePayment) -> i64) -> i64 {
        self.lines.iter().map(part).sum()
    }

    /// The amount moved from the available balance to the reserve; negative if more is released.
    fn set_aside(&self) -> i64 {
        self.sum(|line| line.money - line.from_reserve - line.released)
    }

    /// Whether it changes a balance of the wallet.
    pub(crate) fn moves(&self) -> bool {
        self.lines.iter().any(|line| line.money != 0 || line.released != 0)
    }

    /// The 402 if the wallet is short.
    pub(crate) fn is_covered(&self, world: &World, filing: &TaxFiling) -> Result<()> {
        let balances = world.balances(filing.company_id, filing.currency);
        let short = |what: &str, balance: i64, needed: i64| {
            let shown = |minor| filing.currency.display(minor);
            let detail = format!(
                "the {what} balance is {}, but {} is required",
                shown(balance),
                shown(needed)
            );
            Err(ApiError::new(ErrorCode::InsufficientFunds, detail).about(filing.id))
        };
        let reserved = self.sum(|line| line.from_reserve + line.released);
        if balances.reserved < reserved {
            return short("reserved", balances.reserved, reserved);
        }
        if balances.available < self.set_aside() {
            return short("available", balances.available, self.set_aside());
        }
        Ok(())
    }

    /// Posts the payment, and records it in the filing. Returns the change of the available balance.
    pub(crate) fn make(&self, world: &mut World, filing: &mut TaxFiling) -> i64 {
        let (company, currency) = (filing.company_id, filing.currency);
        let source = AnyId::of(filing.id);
        for adjustment in &filing.adjustments {
            let account = account(&adjustment.authority);
            let adjusted = posting::filing_adjusted(source, currency, account, adjustment.amount);
            world.post(company, adjusted);
        }
        for (account, amount) in deducted(world, filing) {
            let deducted =
                posting::purchasing::input_tax_deducted(source, currency, account, amount);
            world.post(company, deducted);
        }
        let aside = self.set_aside();
        let memo = if aside < 0 { "Tax credit used" } else { "Tax set aside" };
        world.post(company, posting::reserved(memo, source, currency, aside));
        filing.credit_used = 0;
        for (line, payment) in filing.lines.iter_mut().zip(&self.lines) {
            let paid = posting::filing_paid(source, currency, payment.account, payment.money);
            world.post(company, paid);
            line.amount_paid += payment.money;
            if payment.owed > 0 || payment.money > 0 {
                filing.credit_used += payment.owed - payment.money;
            }
        }
        filing.amount_paid = filing.lines.iter().map(|line| line.amount_paid).sum();
        -aside
    }

    /// The credits of failed and reversed runs that the filing uses, in order. A credit that is used up becomes
    /// `paid`, and no filing declares it.
    pub(crate) fn credits(&self, world: &World, filing: &TaxFiling) -> Vec<TaxLiability> {
        let mut changed = Vec::new();
        for (line, payment) in filing.lines.iter().zip(&self.lines) {
            let mut left = (payment.owed - payment.money).max(0);
            for credit in given_back(world, filing, &line.authority) {
                let open = -credit.amount - credit.credit_used.unwrap_or(0);
                let used = left.min(open);
                if used == 0 || credit.status.is_closed() {
                    continue;
                }
                left -= used;
                let mut credit = (*credit).clone();
                *credit.credit_used.get_or_insert(0) += used;
                credit.updated_at = world.now();
                if used == open {
                    credit.enter(LiabilityStatus::Paid, world.now());
                }
                changed.push(credit);
            }
        }
        changed
    }
}

/// The authority repays tax on sales that it has received beyond the declared amounts. It does not if the law carries
/// the excess to the next return (`excess` of `fixtures/vat.toml`), or if a later filing has used it. A company
/// without a wallet in that currency gets one. Returns the amount.
pub(crate) fn repay(world: &mut World, filing: &mut TaxFiling) -> i64 {
    let mut repaid = 0;
    for place in 0..filing.lines.len() {
        let line = &filing.lines[place];
        let account = account(&line.authority);
        if !is_of_sales(&line.authority) || Return::of(&filing.jurisdiction).carries_excess() {
            continue;
        }
        let overpaid = line.amount_paid - line.amount;
        let unused = credit(world, filing, &line.authority) + i128::from(overpaid);
        let amount = overpaid.min(i64::try_from(unused).unwrap_or(i64::MAX));
        if amount > 0 {
            world.wallet_for(filing.company_id, filing.currency);
            let source = AnyId::of(filing.id);
            let posting = posting::filing_repaid(source, filing.currency, account, amount);
            world.post(filing.company_id, posting);
            filing.lines[place].amount_paid -= amount;
            filing.amount_paid -= amount;
            repaid += amount;
        }
    }
    repaid
}

/// Negative liabilities of runs in the filing's currency that no filing declares, including those that later filings
/// have used.
fn given_back(world: &World, filing: &TaxFiling, authority: &str) -> Vec<Arc<TaxLiability>> {
    let company = filing.company_id;
    let negative = tax_liabilities::of_company(world, company).filter(|liability| {
        liability.payroll_run_id.is_some()
            && liability.currency == filing.currency
            && liability.status != LiabilityStatus::Void
            && liability.amount < 0
            && liability.authority == authority
    });
    let negative: Vec<_> = negative.collect();
    if negative.is_empty() {
        return negative;
    }
    let filings = world.children::<TaxFiling>(company.bits()).filter_map(|id| world.find(id));
    let declared: BTreeSet<_> =
        filings.flat_map(|filing| filing.tax_liability_ids.clone()).collect();
    negative.into_iter().filter(|liability| !declared.contains(&liability.id)).collect()
}

impl LinePayment {
    fn of(world: &World, filing: &TaxFiling, line: &FilingLine) -> Self {
        let account = account(&line.authority);
        let owed = line.amount - line.amount_paid;
        let money = (i128::from(owed) - credit(world, filing, &line.authority)).max(0);
        let money = i64::try_from(money).expect("what returns declare is bounded");
        let reserved = if is_of_sales(&line.authority) { 0 } else { reserved(world, filing, line) };
        let from_reserve = money.min(reserved);
        Self { account, owed, money, from_reserve, released: reserved - from_reserve }
    }
}

/// The amount that the runs of a filing reserved for one of its lines and that is not used yet.
fn reserved(world: &World, filing: &TaxFiling, line: &FilingLine) -> i64 {
    if filing.amends.is_some() {
        return 0; // the amended return has paid the reserved amount, and nothing is reserved for the increase
    }
    if filing.tax_liability_ids.is_empty() {
        return (line.amount - line.amount_paid).max(0); // of the months before the world's start
    }
    let liabilities = filing.tax_liability_ids.iter().filter_map(|id| world.find(*id));
    let owed = liabilities.filter(|liability| {
        !liability.status.is_closed()
            && liability.authority == line.authority
            && liability.amount > 0
    });
    owed.map(|liability| liability.amount).sum()
}

/// The tax on purchases that a return deducts, by account. An amended return has deducted it already.
fn deducted(world: &World, filing: &TaxFiling) -> Vec<(Account, i64)> {
    let ids = filing.tax_liability_ids.iter().filter(|_| filing.amends.is_none());
    let liabilities = ids.filter_map(|id| world.find(*id));
    let deducted = liabilities.filter(|liability| liability.input_tax != 0);
    deducted.map(|liability| (account(&liability.authority), liability.input_tax)).collect()
}

fn account(authority: &str) -> Account {
    account_of(authority).expect("a filing declares what liabilities name")
}

fn is_of_sales(authority: &str) -> bool {
    account(authority) == posting::vat_account()
}

/// The credit with an authority in the filing's currency: payments minus declared amounts of the other submitted
/// filings, plus paid taxes of failed and reversed runs that no filing contains. The filing itself and the one that
/// it amends are left out. Negative if another filing has used the overpayment of the amended one.
fn credit(world: &World, filing: &TaxFiling, authority: &str) -> i128 {
    // A grown return of tax on sales can have a payment below its declared amount. Other grown returns are fully
    // paid, unless a call changed them.
    let of_sales = world.base().index_of(filing.company_id).filter(|_| is_of_sales(authority));
    let of_sales = of_sales.into_iter().flat_map(|it| filing_history::of_sales(world.base(), it));
    let changed = world.changed::<TaxFiling>().filter(|_| !is_of_sales(authority));
    let grown = of_sales
        .chain(changed)
        .filter_map(|index| world.at::<TaxFiling>(index))
        .filter(|other| other.company_id == filing.company_id);
    let since =
        world.children::<TaxFiling>(filing.company_id.bits()).filter_map(|id| world.find(id));
    let all = grown.chain(since);
    let filings: Vec<_> = all.filter(|other| other.currency == filing.currency).collect();
    let sent = |filing: &TaxFiling| {
        !matches!(filing.status, FilingStatus::Pending | FilingStatus::Blocked)
    };
    let mut superseded: Vec<Id<TaxFiling>> =
        filings.iter().filter(|other| sent(other)).filter_map(|other| other.amends).collect();
    superseded.extend(filing.amends);
    superseded.push(filing.id);
    let live = filings.iter().filter(|other| sent(other) && !superseded.contains(&other.id));
    let declared: i128 = live
        .flat_map(|other| &other.lines)
        .filter(|line| line.authority == authority)
        .map(|line| i128::from(line.amount_paid) - i128::from(line.amount))
        .sum();
    let given_back = given_back(world, filing, authority);
    declared - given_back.iter().map(|liability| i128::from(liability.amount)).sum::<i128>()
}
