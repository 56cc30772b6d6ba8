//! What a return pays, and out of what.
//!
//! What its runs withheld was reserved with them; sales tax, and what an amended return adds, comes out of the available balance.
//! An authority that has more of a company than its returns declare keeps it as a credit, which the next return uses: what was
//! reserved for that part goes back to the available balance.

use crate::api::prelude::*;
use crate::model::business::tax_return::account_of;
use crate::model::business::{FilingLine, FilingStatus, LiabilityStatus, TaxFiling};
use crate::model::{Account, posting};

/// What a return pays.
pub(crate) struct Payment {
    lines: Vec<LinePayment>,
}

/// What it pays to one authority.
struct LinePayment {
    account: Account,
    /// Declared and not paid; negative where more was paid than is declared now.
    owed: i64,
    /// Money that goes to the authority.
    money: i64,
    /// What of it was reserved.
    from_reserve: i64,
    /// What was reserved, and is not needed.
    released: i64,
}

impl Payment {
    /// What that return, which is about to be submitted, pays.
    pub(crate) fn of(world: &World, filing: &TaxFiling) -> Self {
        let lines = filing.lines.iter();
        Self { lines: lines.map(|line| LinePayment::of(world, filing, line)).collect() }
    }

    fn sum(&self, part: fn(&LinePayment) -> i64) -> i64 {
        self.lines.iter().map(part).sum()
    }

    /// What leaves the available balance for the reserve; negative where more comes back.
    fn set_aside(&self) -> i64 {
        self.sum(|line| line.money - line.from_reserve - line.released)
    }

    /// 402 where the wallet is short of it.
    pub(crate) fn is_covered(&self, world: &World, filing: &TaxFiling) -> Result<(), ApiError> {
        let balances = world.balances(filing.company_id, filing.currency);
        let short = |what: &str, balance: i64, needed: i64| {
            let shown = |minor| filing.currency.display(minor);
            let detail = format!(
                "the {what} balance is {}, and {} is needed",
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

    /// Posts it, and notes in the return what is paid. What came into the available balance; negative where it went out.
    pub(crate) fn make(&self, world: &mut World, filing: &mut TaxFiling) -> i64 {
        let (company, currency) = (filing.company_id, filing.currency);
        let source = AnyId::of(filing.id);
        for adjustment in &filing.adjustments {
            let account = account(&adjustment.authority);
            let adjusted = posting::filing_adjusted(source, currency, account, adjustment.amount);
            world.post(company, adjusted);
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
}

impl LinePayment {
    fn of(world: &World, filing: &TaxFiling, line: &FilingLine) -> Self {
        let account = account(&line.authority);
        let owed = line.amount - line.amount_paid;
        let money = (i128::from(owed) - credit(world, filing, &line.authority)).max(0);
        let money = i64::try_from(money).expect("what returns declare is bounded");
        let reserved =
            if account == posting::vat_account() { 0 } else { reserved(world, filing, line) };
        let from_reserve = money.min(reserved);
        Self { account, owed, money, from_reserve, released: reserved - from_reserve }
    }
}

/// What the runs of a return have reserved for one of its lines, and nothing has paid yet.
fn reserved(world: &World, filing: &TaxFiling, line: &FilingLine) -> i64 {
    if filing.amends.is_some() {
        return 0; // the return that it amends has paid it; what this one adds nobody has reserved
    }
    if filing.tax_liability_ids.is_empty() {
        return (line.amount - line.amount_paid).max(0); // of the months before the world's start
    }
    let liabilities = filing.tax_liability_ids.iter().filter_map(|id| world.find(*id));
    let owed = liabilities.filter(|liability| {
        let over = matches!(liability.status, LiabilityStatus::Paid | LiabilityStatus::Void);
        !over && liability.authority == line.authority && liability.amount > 0
    });
    owed.map(|liability| liability.amount).sum()
}

fn account(authority: &str) -> Account {
    account_of(authority).expect("a filing declares what liabilities name")
}

/// What an authority has more of the company than the returns that it was sent declare, but for that return and the one that it
/// amends. Negative where another return has used up what that one had paid too much.
fn credit(world: &World, filing: &TaxFiling, authority: &str) -> i128 {
    let grown = world
        .changed::<TaxFiling>()
        .filter_map(|index| world.at::<TaxFiling>(index))
        .filter(|other| other.company_id == filing.company_id);
    let since =
        world.children::<TaxFiling>(filing.company_id.bits()).filter_map(|id| world.find(id));
    let filings: Vec<_> = grown.chain(since).collect();
    let sent = |filing: &TaxFiling| {
        !matches!(filing.status, FilingStatus::Pending | FilingStatus::Blocked)
    };
    let mut superseded: Vec<Id<TaxFiling>> =
        filings.iter().filter(|other| sent(other)).filter_map(|other| other.amends).collect();
    superseded.extend(filing.amends);
    superseded.push(filing.id);
    let live = filings.iter().filter(|other| sent(other) && !superseded.contains(&other.id));
    live.flat_map(|other| &other.lines)
        .filter(|line| line.authority == authority)
        .map(|line| i128::from(line.amount_paid) - i128::from(line.amount))
        .sum()
}
