//! The twelve months of books of a grown company, posted by the same rules as live calls.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a company's months, invoices and suppliers are a dozen each"
)]

use std::sync::Arc;

use crate::model::business::company::Company;
use crate::model::business::tax_return::DueTo;
use crate::model::calendar::Calendar;
use crate::model::ledger::{Account, EntryStatus, JournalEntry, WalletTransaction};
use crate::model::lifecycle::StatusChange;
use crate::model::payments::vat::Return;
use crate::model::payments::wallet::{Balances, Wallet, WalletStatus};
use crate::model::posting::{self, Posting, RunCost};
use crate::model::{Kind, Object};
use crate::value::id::Id;
use crate::value::text::Metadata;
use crate::value::time::Date;
use crate::world::days::Days;
use crate::world::holdings::{self, Holdings, IncomeTax};
use crate::world::layout::{BILLS_A_COMPANY, ENTRIES_A_COMPANY, HISTORY_MONTHS, Layout, Plan};
use crate::world::obligations;
use crate::world::payroll_history::PayrollHistory;
use crate::world::purchases::{BillOf, PurchaseHistory, vendor_day};
use crate::world::sales::{InvoiceDays, SalesHistory};
use crate::world::sums::Sums;
use crate::world::suppliers;

/// The months of payroll that the owners paid in as capital.
const SEED_MONTHS: i64 = 6;
/// The months of payroll that always stay in the wallet.
const LEAST_MONTHS: i64 = 2;
/// The bytes of a usual memo.
const MEMO_BYTES: usize = 24;
/// The hour of the day at which history posts.
pub(crate) const POSTING_HOUR: i64 = 10;

/// The day of the next month on which pension contributions are paid, or the business day before. GB: by the 22nd (Occupational Pension
/// Schemes (Scheme Administration) Regulations 1996, regulation 16).
const PENSION_DAY: i8 = 19;

/// The twelve months of a grown company's books.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) sums: Sums,
    pub(crate) days: Days,
    pub(crate) entries: Vec<Arc<JournalEntry>>,
    pub(crate) statement: Vec<Arc<WalletTransaction>>,
    pub(crate) payroll: PayrollHistory,
    pub(crate) sales: SalesHistory,
    pub(crate) purchases: PurchaseHistory,
}

impl History {
    /// Grows the books of the company of this plan.
    pub(crate) fn grow(layout: &Layout, plan: &Plan) -> Self {
        let Unwritten { payroll, sales, purchases, postings } = Unwritten::grow(layout, plan);
        let Written { sums, days, entries, statement } = Written::of(layout, plan, postings);
        Self { sums, days, entries, statement, payroll, sales, purchases }
    }

    /// Its approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        let of_entry = |entry: &Arc<JournalEntry>| {
            size_of::<JournalEntry>() + entry.memo.len() + size_of_val(entry.lines.as_slice())
        };
        self.days.bytes()
            + self.entries.iter().map(of_entry).sum::<usize>()
            + self.statement.len() * (size_of::<WalletTransaction>() + MEMO_BYTES)
            + self.payroll.bytes()
            + self.purchases.bytes()
    }

    /// The amount that the return of a month declares for an account.
    pub(crate) fn declared(&self, layout: &Layout, plan: &Plan, month: u64, due: DueTo) -> i64 {
        let Self { payroll, sales, purchases, .. } = self;
        declared(layout, plan, Made { payroll, sales, purchases }, (month, due))
    }

    /// The payment for an account by the return of a month.
    pub(crate) fn paid(&self, layout: &Layout, plan: &Plan, month: u64, due: DueTo) -> PaidReturn {
        let Self { payroll, sales, purchases, .. } = self;
        paid(layout, plan, Made { payroll, sales, purchases }, (month, due))
    }
}

/// A history before its entries have ids. Balances need no more of it.
pub(super) struct Unwritten {
    pub(super) payroll: PayrollHistory,
    pub(super) sales: SalesHistory,
    purchases: PurchaseHistory,
    /// In the order of the books.
    pub(super) postings: Vec<(Date, Posting)>,
}

impl Unwritten {
    /// The history of the company of this plan.
    pub(super) fn grow(layout: &Layout, plan: &Plan) -> Self {
        let payroll = PayrollHistory::grow(layout, plan);
        let sales = SalesHistory::grow(layout, plan, &payroll);
        let purchases = PurchaseHistory::grow(layout, plan, &sales);
        let made = Made { payroll: &payroll, sales: &sales, purchases: &purchases };
        let mut journal = Journal { layout, plan, made, postings: Vec::new() };
        journal.bills();
        let holdings = Holdings::of(layout, plan, &sales);
        for month in 0..HISTORY_MONTHS {
            journal.payroll(month);
            journal.sales(month);
            journal.pensions(month);
            journal.filings(month);
            for (day, posting) in holdings.month(layout, plan, month) {
                journal.post(day, posting);
            }
        }
        journal.begin(&holdings);
        let postings = journal.postings;
        Self { payroll, sales, purchases, postings }
    }
}

/// The payment of a return: the declared amount less the credit of earlier returns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PaidReturn {
    pub(crate) credit_used: i64,
    /// Negative if the authority pays.
    pub(crate) money: i64,
}

/// The pays, sales and purchases of a company.
#[derive(Clone, Copy)]
struct Made<'a> {
    payroll: &'a PayrollHistory,
    sales: &'a SalesHistory,
    purchases: &'a PurchaseHistory,
}

/// The amount that a return declares. For tax on sales, the tax on purchases is deducted.
fn declared(layout: &Layout, plan: &Plan, made: Made<'_>, (month, due): (u64, DueTo)) -> i64 {
    let months = obligations::months(layout, plan.country.code, month, due);
    let of_month = |month: u64| {
        if due.account == posting::vat_account() {
            return made.sales.months[month as usize].vat - made.purchases.input_tax(month);
        }
        let paid = made.payroll.paid_in(layout.period(month));
        let owed = paid.flat_map(|run| &run.cost.owed).filter(|(known, _)| *known == due);
        owed.map(|(_, amount)| amount).sum()
    };
    months.into_iter().flatten().map(of_month).sum()
}

/// The amount that a return pays. If the law carries an excess of tax on purchases forward, the return repays nothing, and later returns use
/// the credit.
fn paid(layout: &Layout, plan: &Plan, made: Made<'_>, (month, due): (u64, DueTo)) -> PaidReturn {
    let amount = declared(layout, plan, made, (month, due));
    let code = plan.country.code;
    if due.account != posting::vat_account() || !Return::of(code).carries_excess() {
        return PaidReturn { credit_used: 0, money: amount };
    }
    let returns =
        (0..month).filter(|month| obligations::months(layout, code, *month, due).is_some());
    let credit = returns
        .fold(0, |credit, month| (credit - declared(layout, plan, made, (month, due))).max(0));
    let credit_used = credit.min(amount.max(0));
    PaidReturn { credit_used, money: amount.max(0) - credit_used }
}

/// The books while they are built.
struct Journal<'a> {
    layout: &'a Layout,
    plan: &'a Plan,
    made: Made<'a>,
    /// In any order; sorted by day at the end.
    postings: Vec<(Date, Posting)>,
}

/// The finished books.
struct Written {
    sums: Sums,
    days: Days,
    entries: Vec<Arc<JournalEntry>>,
    statement: Vec<Arc<WalletTransaction>>,
}

impl Written {
    /// The books of these postings.
    fn of(layout: &Layout, plan: &Plan, postings: Vec<(Date, Posting)>) -> Self {
        let company: Id<Company> = layout.id_at(plan.index);
        let wallet = wallet(layout, plan.index);
        let wallet = wallet.expect("a company is grown with a wallet");
        let (mut sums, mut days) = (Sums::default(), Days::default());
        let (mut entries, mut statement) = (Vec::new(), Vec::new());
        for (number, (day, posting)) in (0_u64..).zip(postings) {
            assert!(posting.balances(), "an entry of history does not balance: {posting:?}");
            assert!(number < ENTRIES_A_COMPANY, "a history outgrew its ids");
            let id = layout.id_at(plan.index * ENTRIES_A_COMPANY + number);
            let entry = entry(id, company, day, posting);
            if entry.lines.iter().any(|line| line.account == Account::CashAvailable) {
                let before = sums.get(plan.currency, Account::CashAvailable).net();
                let id = Id::from_bits(plan.key.with("statement").at(number).hash());
                statement.push(Arc::new(WalletTransaction::of(&entry, &wallet, id, before)));
            }
            sums.add(&entry.lines);
            days.add(&entry);
            entries.push(Arc::new(entry));
        }
        Self { sums, days, entries, statement }
    }
}

impl Journal<'_> {
    /// Posts on a past day. Postings after the world's start are left out.
    fn post(&mut self, day: Date, posting: Posting) {
        if day < self.layout.shape().start.date() && !posting.lines.is_empty() {
            self.postings.push((day, posting));
        }
    }

    /// Posts the tax on profit and the opening balances. Opening cash is some months of payroll, or more if the
    /// company needs it.
    fn begin(&mut self, holdings: &Holdings) {
        let profit = holdings::profit(&self.postings);
        let mut tax = IncomeTax::on(self.layout, self.plan, profit);
        for (day, posting) in core::mem::take(&mut tax.postings) {
            self.post(day, posting);
        }
        self.postings.sort_by_key(|(day, _)| *day); // stable: keeps the order of postings within a day
        let (mut cash, mut least) = (0, 0);
        for line in self.postings.iter().flat_map(|(_, posting)| &posting.lines) {
            if line.account == Account::CashAvailable {
                cash += line.signed();
                least = least.min(cash);
            }
        }
        let runs = &self.made.payroll.runs;
        let costs = runs.iter().map(|run| run.totals.employer_cost);
        let month = costs.max().unwrap_or(0) * runs.len() as i64 / HISTORY_MONTHS as i64;
        let unit = 1_000 * self.plan.currency.minor_per_major();
        let needed = (month * SEED_MONTHS).max(month * LEAST_MONTHS - least);
        let cash = (needed / unit + 1) * unit;
        let with = (holdings, &tax, self.made.purchases.open_before());
        let begun = holdings::opening(self.layout, self.plan, with, (cash, profit));
        let begun = begun.map(|posting| (self.layout.first_day(), posting));
        self.postings.splice(0..0, begun.into_iter().filter(|(_, it)| !it.lines.is_empty()));
    }

    /// The runs with a pay date in a month: approved, funded, sent and paid.
    fn payroll(&mut self, month: u64) {
        let payroll = self.made.payroll;
        for paid in payroll.paid_in(self.layout.period(month)) {
            let (currency, totals) = (self.plan.currency, &paid.totals);
            let index = self.layout.run(paid.pay, self.plan.index);
            let run = self.layout.any_at(Kind::PayrollRun, index);
            let times = *self.layout.pay(paid.pay);
            // Wages are accrued in the months in which they were earned (IAS 19, paragraph 11), as in live runs. No
            // month is before the start of the books.
            let days = times.span.working_days_by_month(Calendar::of(self.plan.country.code));
            for (month, earned) in paid.cost.by_month(&days, &RunCost::default()) {
                let day = times.approved.date().clamp(month.first_day(), month.last_day());
                let day = day.max(self.layout.first_day());
                self.post(day, posting::run_approved(run, currency, &earned));
            }
            self.post(
                times.funded.date(),
                posting::reserved("Payroll funded", run, currency, paid.cost.to_reserve()),
            );
            self.post(times.sent.date(), posting::net_pay_sent(run, currency, totals.net));
            self.post(
                times.paid.date(),
                posting::net_pay_paid(run, currency, Account::WagesPayable, totals.net),
            );
        }
    }

    /// The contributions to pensions of a month, paid to the provider in the next one.
    fn pensions(&mut self, month: u64) {
        let period = self.layout.period(month);
        let runs = self.made.payroll.paid_in(period);
        let owed = runs.map(|run| run.cost.deductions).sum();
        let day = period.plus_months(1).day(PENSION_DAY).or_business_day_before();
        let company = self.layout.any_at(Kind::Company, self.plan.index);
        self.post(day, posting::holdings::pension_paid(company, self.plan.currency, owed));
    }

    /// The returns for a month. Withheld amounts were reserved with the run, and tax on sales is set aside now.
    fn filings(&mut self, month: u64) {
        let currency = self.plan.currency;
        let returns = obligations::returns(self.layout, self.plan, month);
        for (number, due) in (0..).zip(returns) {
            let account = due.account;
            let money = paid(self.layout, self.plan, self.made, (month, due)).money;
            let index = self.layout.filing(month, self.plan.index, number);
            let filing = self.layout.any_at(Kind::TaxFiling, index);
            let day = obligations::obligation(self.layout, self.plan, month, due).paid_on;
            if account == posting::vat_account() {
                let months = obligations::months(self.layout, self.plan.country.code, month, due);
                let months = months.into_iter().flatten();
                let input = months.map(|month| self.made.purchases.input_tax(month)).sum();
                let deducted =
                    posting::purchasing::input_tax_deducted(filing, currency, account, input);
                self.post(self.layout.period(month).last_day(), deducted);
                self.post(day, posting::reserved("Sales tax set aside", filing, currency, money));
            }
            self.post(day, posting::filing_paid(filing, currency, account, money));
        }
    }

    /// A month's invoices and their payments.
    fn sales(&mut self, month: u64) {
        let (currency, sales) = (self.plan.currency, self.made.sales);
        for (number, sold) in (0_u64..).zip(&sales.months[month as usize].invoices) {
            let index = self.layout.invoice(month, self.plan.index, number);
            let invoice = self.layout.any_at(Kind::Invoice, index);
            let collection = self.layout.any_at(Kind::Collection, index);
            let days = InvoiceDays::of(self.layout, self.plan, month, number);
            let (tax, amount) = ((posting::vat_account(), sold.tax), sold.net + sold.tax);
            self.post(days.sent, posting::invoice_sent(invoice, currency, sold.net, Some(tax)));
            let Some((paid, settled)) = days.paid.zip(days.settled) else { continue };
            let owed = Account::AccountsReceivable;
            self.post(paid, posting::collection_succeeded(collection, currency, owed, amount));
            self.post(settled, posting::collection_settled(collection, currency, amount, 0));
        }
    }

    /// Purchases, rent and other expenses: the bills of suppliers, and their payments.
    fn bills(&mut self) {
        let (layout, company, currency) = (self.layout, self.plan.index, self.plan.currency);
        for of in (0..BILLS_A_COMPANY).map(BillOf::at) {
            let (billed, bill) = (self.made.purchases.of(of), of.id(layout, company));
            if of.month < 0 {
                let opened = posting::purchasing::bill_opened(bill, currency, billed.total());
                self.post(layout.first_day(), opened);
            } else {
                let expense = [(suppliers::account(of.vendor), billed.cost())];
                let recoverable = billed.recoverable;
                let approved = posting::purchasing::approved(bill, currency, &expense, recoverable);
                self.post(of.issued_on(layout), approved);
            }
            let Some(month) = of.month_paid() else { continue };
            let payout = layout.vendor_payout(month, company, of.vendor);
            let payout = layout.any_at(Kind::Payout, payout);
            let (day, owed) = (vendor_day(layout, month), Account::AccountsPayable);
            let amount = billed.total();
            self.post(day, posting::vendor_payout_sent(payout, currency, amount));
            self.post(day, posting::vendor_payout_paid(payout, currency, owed, amount));
        }
    }
}

fn entry(
    id: Id<JournalEntry>,
    company_id: Id<Company>,
    day: Date,
    posting: Posting,
) -> JournalEntry {
    let posted_at = day.at_hour(POSTING_HOUR);
    JournalEntry {
        id,
        object: Object::NAME,
        company_id,
        status: EntryStatus::Posted,
        effective_on: day,
        posted_at,
        memo: posting.memo,
        source: posting.source,
        lines: posting.lines,
        created_at: posted_at,
        updated_at: posted_at,
        metadata: Metadata::default(),
        reverses: None,
        reversed_by: None,
    }
}

/// The wallet of the grown company with that index.
pub(crate) fn wallet(layout: &Layout, index: u64) -> Option<Wallet> {
    let plan = (index < layout.shape().companies).then(|| layout.plan(index))?;
    let created_at = layout.first_day().midnight().plus_millis(i64::try_from(index).ok()?);
    Some(Wallet {
        id: layout.id_at(index),
        object: Object::NAME,
        company_id: layout.id_at(index),
        status: WalletStatus::Active,
        currency: plan.currency,
        balances: Balances::default(),
        created_at,
        updated_at: created_at,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(WalletStatus::Active, created_at)].into(),
    })
}
