//! The twelve months of books of a grown company, posted by the same rules as live calls.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a company's months, invoices and suppliers are a dozen each"
)]

use std::sync::Arc;

use crate::model::business::company::Company;
use crate::model::ledger::{Account, EntryStatus, JournalEntry, WalletTransaction};
use crate::model::lifecycle::StatusChange;
use crate::model::payments::vat;
use crate::model::payments::wallet::{Balances, Wallet, WalletStatus};
use crate::model::posting::{self, Posting};
use crate::model::{Kind, Object};
use crate::value::id::Id;
use crate::value::text::Metadata;
use crate::value::time::Date;
use crate::world::days::Days;
use crate::world::layout::{
    ENTRIES_A_COMPANY, HISTORY_MONTHS, INVOICES_A_MONTH, Layout, Plan, VENDORS_A_MONTH,
};
use crate::world::payroll_history::PayrollHistory;
use crate::world::sums::Sums;

/// The months of payroll that the owners paid in as capital.
const SEED_MONTHS: i64 = 6;
/// The hour of the day at which history posts.
pub(crate) const POSTING_HOUR: i64 = 10;
/// The day of the month by which the last month's withholdings and sales tax must be paid.
const FILING_DAY: i8 = 9;
/// The day of the month on which suppliers are paid.
pub(crate) const VENDOR_DAY: i8 = 26;

/// The twelve months of a grown company's books.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) sums: Sums,
    pub(crate) days: Days,
    pub(crate) entries: Vec<Arc<JournalEntry>>,
    pub(crate) statement: Vec<Arc<WalletTransaction>>,
    pub(crate) payroll: PayrollHistory,
    /// Sales tax on each month's invoices.
    pub(crate) vat: Vec<i64>,
    /// The amount of each invoice of a month: without tax, and the tax.
    pub(crate) invoices: Vec<[(i64, i64); INVOICES_A_MONTH as usize]>,
    /// The amounts paid to each supplier, by month.
    vendors: Vec<[i64; VENDORS_A_MONTH as usize]>,
}

impl History {
    /// Grows the books of the company of this plan.
    pub(crate) fn grow(layout: &Layout, plan: &Plan) -> Self {
        let payroll = PayrollHistory::grow(layout, plan);
        let mut journal = Journal {
            layout,
            plan,
            postings: Vec::new(),
            vat: Vec::new(),
            invoices: Vec::new(),
            vendors: Vec::new(),
        };
        journal.owners(&payroll);
        for month in 0..HISTORY_MONTHS {
            journal.payroll(&payroll, month);
            let sales = journal.sales(&payroll, month);
            journal.vendors(sales, month);
        }
        journal.close(payroll)
    }

    /// The amount paid to a supplier in this month.
    pub(crate) fn vendor(&self, month: u64, vendor: u64) -> Option<i64> {
        self.vendors.get(usize::try_from(month).ok()?)?.get(usize::try_from(vendor).ok()?).copied()
    }
}

/// The books while they are built.
struct Journal<'a> {
    layout: &'a Layout,
    plan: &'a Plan,
    /// In any order; sorted by day at the end.
    postings: Vec<(Date, Posting)>,
    vat: Vec<i64>,
    invoices: Vec<[(i64, i64); INVOICES_A_MONTH as usize]>,
    vendors: Vec<[i64; VENDORS_A_MONTH as usize]>,
}

impl Journal<'_> {
    /// Posts on a past day. Postings after the world's start are left out.
    fn post(&mut self, day: Date, posting: Posting) -> bool {
        let past = day < self.layout.shape().start.date();
        if past && !posting.lines.is_empty() {
            self.postings.push((day, posting));
        }
        past
    }

    fn owners(&mut self, payroll: &PayrollHistory) {
        let month =
            payroll.months.iter().map(|month| month.totals.employer_cost).max().unwrap_or(0);
        let unit = 1_000 * self.plan.currency.minor_per_major();
        let amount = ((month * SEED_MONTHS) / unit + 1) * unit;
        let company = self.layout.any_at(Kind::Company, self.plan.index);
        self.post(
            self.layout.first_day(),
            posting::seed_money(company, self.plan.currency, amount),
        );
    }

    /// One run: approved, funded, sent and paid; its withholdings are paid in the next month.
    fn payroll(&mut self, payroll: &PayrollHistory, month: u64) {
        let paid = &payroll.months[month as usize];
        let (currency, totals) = (self.plan.currency, &paid.totals);
        let run = self.layout.any_at(Kind::PayrollRun, self.layout.run(month, self.plan.index));
        let day = paid.pay_date;
        self.post(day.minus_business_days(2), posting::run_approved(run, currency, &paid.cost));
        self.post(
            day.minus_business_days(1),
            posting::reserved("Payroll funded", run, currency, totals.employer_cost),
        );
        self.post(day, posting::net_pay_sent(run, currency, totals.net));
        self.post(arrival(day), posting::net_pay_paid(run, currency, totals.net));

        let filing = self.layout.any_at(Kind::TaxFiling, self.layout.run(month, self.plan.index));
        for &(account, amount) in &paid.cost.owed_by_account() {
            self.post(
                filing_day(self.layout, month),
                posting::filing_paid(filing, currency, account, amount),
            );
        }
    }

    /// A month's invoices, most of them paid within weeks. Returns the month's sales without tax.
    fn sales(&mut self, payroll: &PayrollHistory, month: u64) -> i64 {
        let industry = self.plan.industry;
        let cost = payroll.months[month as usize].totals.employer_cost;
        let key = self.plan.key.with("sales").at(month);
        let season = 85 + key.below(31);
        let month_sales = scale(cost, industry.revenue_percent * season, 10_000);
        let (vat_account, vat_rate) =
            (posting::vat_account(), vat::standard(self.plan.country.code));
        let (mut sales, mut vat_owed) = (0, 0);
        let mut invoices = [(0, 0); INVOICES_A_MONTH as usize];
        for (number, sums) in (0_u64..).zip(&mut invoices) {
            let key = key.at(number);
            let net = scale(month_sales, 80 + key.with("share").below(41), 100 * INVOICES_A_MONTH);
            let vat = vat::on(net, vat_rate);
            *sums = (net, vat);
            self.invoice(month, number, net, (vat_account, vat));
            sales += net;
            vat_owed += vat;
        }
        self.invoices.push(invoices);
        let filing = self.layout.any_at(Kind::TaxFiling, self.layout.run(month, self.plan.index));
        let (day, currency) = (filing_day(self.layout, month), self.plan.currency);
        self.post(day, posting::reserved("Sales tax set aside", filing, currency, vat_owed));
        self.post(day, posting::filing_paid(filing, currency, vat_account, vat_owed));
        self.vat.push(vat_owed);
        sales
    }

    fn invoice(&mut self, month: u64, number: u64, net: i64, vat: (Account, i64)) {
        let currency = self.plan.currency;
        let index = self.layout.invoice(month, self.plan.index, number);
        let invoice = self.layout.any_at(Kind::Invoice, index);
        let collection = self.layout.any_at(Kind::Collection, index);
        let days = InvoiceDays::of(self.layout, self.plan, month, number);
        let amount = net + vat.1;
        self.post(days.sent, posting::invoice_sent(invoice, currency, net, Some(vat)));
        let owed = Account::AccountsReceivable;
        self.post(days.paid, posting::collection_succeeded(collection, currency, owed, amount));
        self.post(days.settled, posting::collection_settled(collection, currency, amount, 0));
    }

    /// Rent and purchases.
    fn vendors(&mut self, sales: i64, month: u64) {
        let industry = self.plan.industry;
        let currency = self.plan.currency;
        let mut amounts = [0; VENDORS_A_MONTH as usize];
        for (number, amount) in (0_u64..).zip(&mut amounts) {
            let share = self.plan.key.with("purchases").at(month).at(number).below(41) + 80;
            let (expense, sum) = match number {
                0 => (Account::Rent, scale(sales, industry.rent_percent, 100)),
                _ => (
                    Account::Purchases,
                    scale(
                        sales,
                        industry.purchases_percent * share,
                        10_000 * (VENDORS_A_MONTH - 1),
                    ),
                ),
            };
            *amount = sum;
            let payout = self
                .layout
                .any_at(Kind::Payout, self.layout.vendor_payout(month, self.plan.index, number));
            let day = self.layout.period(month).day(VENDOR_DAY);
            self.post(day, posting::vendor_payout_sent(payout, currency, sum));
            self.post(day, posting::vendor_payout_paid(payout, currency, expense, sum));
        }
        self.vendors.push(amounts);
    }

    /// Sorts the postings and writes them into the books.
    fn close(mut self, payroll: PayrollHistory) -> History {
        self.postings.sort_by_key(|(day, _)| *day); // stable: keeps the order of postings within a day
        let company: Id<Company> = self.layout.id_at(self.plan.index);
        let wallet = wallet(self.layout, self.plan.index);
        let wallet = wallet.expect("a company is grown with a wallet");
        let (mut sums, mut days) = (Sums::default(), Days::default());
        let (mut entries, mut statement) = (Vec::new(), Vec::new());
        for (number, (day, posting)) in (0_u64..).zip(self.postings) {
            assert!(posting.balances(), "an entry of history does not balance: {posting:?}");
            assert!(number < ENTRIES_A_COMPANY, "a history outgrew its ids");
            let id = self.layout.id_at(self.plan.index * ENTRIES_A_COMPANY + number);
            let entry = entry(id, company, day, posting);
            if entry.lines.iter().any(|line| line.account == Account::CashAvailable) {
                let before = sums.get(self.plan.currency, Account::CashAvailable).net();
                let id = Id::from_bits(self.plan.key.with("statement").at(number).hash());
                statement.push(Arc::new(WalletTransaction::of(&entry, &wallet, id, before)));
            }
            sums.add(&entry.lines);
            days.add(&entry);
            entries.push(Arc::new(entry));
        }
        History {
            sums,
            days,
            entries,
            statement,
            payroll,
            vat: self.vat,
            invoices: self.invoices,
            vendors: self.vendors,
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
        status_history: vec![StatusChange::plain(WalletStatus::Active, created_at)],
    })
}

/// The day on which the liabilities of a month of history are filed and paid.
pub(crate) fn filing_day(layout: &Layout, month: u64) -> Date {
    let next = layout.period(month).plus_months(1);
    next.day(FILING_DAY).or_business_day_before()
}

/// The day on which wages sent on `day` arrive: two business days later, but within the month, so that every
/// run of history has ended when the world starts.
pub(crate) fn arrival(day: Date) -> Date {
    day.plus_business_days(2).min(day.period().last_day())
}

/// `amount` × `numerator` / `denominator`, rounded down.
fn scale(amount: i64, numerator: u64, denominator: u64) -> i64 {
    let scaled = i128::from(amount) * i128::from(numerator) / i128::from(denominator);
    i64::try_from(scaled).expect("sales and purchases are small multiples of a payroll")
}

/// The times of the steps of an invoice, past or future.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InvoiceDays {
    pub(crate) sent: Date,
    pub(crate) paid: Date,
    pub(crate) settled: Date,
}

impl InvoiceDays {
    /// The times for an invoice of history.
    pub(crate) fn of(layout: &Layout, plan: &Plan, month: u64, number: u64) -> Self {
        let key = plan.key.with("payer").at(month).at(number);
        let sent = layout.period(month).day(3 + 7 * number as i8).or_business_day_after();
        let paid = sent.plus_days(10 + key.below(31) as i32).or_business_day_after();
        Self { sent, paid, settled: paid.plus_business_days(1) }
    }
}
