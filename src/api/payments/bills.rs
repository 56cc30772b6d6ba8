//! Bills: draft, list, read, approve, void, pay.

use crate::api::business::accounting_periods::{open_on, start_of_books};
use crate::api::business::journal_checks::wrong_day;
use crate::api::business::payroll_people::may_pay;
use crate::api::business::sales_tax;
use crate::api::payments::priced_lines::{NewPricedLine, priced};
use crate::api::payments::wallets::{belongs, fits, short};
use crate::api::payments::{bill_clock, wallet_level};
use crate::api::prelude::*;
use crate::model::payments::input_tax::{InputTax, usual_sales};
use crate::model::payments::{Beneficiary, Bill, BillLine, BillStatus, InvoiceLine, Vendor, vat};
use crate::model::posting::purchasing;
use crate::model::{Account, AccountType};
use crate::world::layout::BILLS_A_COMPANY;

/// Maximum number of days from the date of the bill until its due date: ten years.
const LONGEST_TERMS: i32 = 3_660;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/bills",
        summary: "List bills",
        description: "Lists bills of suppliers in creation order, including those of the months \
            before the world's start.",
        ..operation!(read list_bills)
    },
    Operation {
        path: "/api/payments/bills",
        summary: "Draft a bill",
        description: "Creates a draft of a supplier's bill. A line without `tax_rate` has the \
            standard rate of the company's country. A line without `account` is booked to \
            `purchases`. Tax is calculated once per rate and rounded half to even. A draft has no \
            journal entries.",
        example: r#"{"company_id":"@company:1","vendor":{"name":"Lagos Power Ltd"},"number":"LP-1077","currency":"NGN","lines":[{"description":"Electricity, December","quantity":1,"unit_amount":20000000}],"issued_on":"2026-01-01","due_date":"2026-01-31"}"#,
        success: 201,
        emits: &["bill.created"],
        ..operation!(write create_bill)
    },
    Operation {
        path: "/api/payments/bills/{bill_id}",
        summary: "Read a bill",
        description: "Returns a bill with its lines, tax by rate, and the paid and outstanding \
            amounts.",
        ..operation!(get get_bill: Bill)
    },
    Operation {
        path: "/api/payments/bills/{bill_id}/approve",
        summary: "Approve a bill",
        description: "Approves a draft. The call posts the expense and the recoverable tax against \
            `accounts_payable`, with the date of the bill. The recoverable tax lowers the `vat` \
            liability of the current return period. Tax that cannot be deducted, for example \
            because the company's sales are exempt, is part of the expense. After the due date, a \
            bill with an outstanding amount is `overdue`.",
        example: "{}",
        errors: &[
            ErrorCode::AccountingPeriodClosed,
            ErrorCode::LimitExceeded,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &[
            "bill.approved",
            "journal_entry.posted",
            "tax_liability.created",
            "tax_liability.updated",
        ],
        starts: &[TaskKind::BillOverdue],
        ..operation!(write approve_bill)
    },
    Operation {
        path: "/api/payments/bills/{bill_id}/void",
        summary: "Void a bill",
        description: "Voids a draft, or a bill without payments. A journal entry dated today \
            reverses the entry of the bill, and its tax is no longer deducted.",
        example: r#"{"reason":"The goods were returned"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &[
            "bill.voided",
            "journal_entry.posted",
            "tax_liability.created",
            "tax_liability.updated",
        ],
        starts: &[TaskKind::LiabilityDue],
        ..operation!(write void_bill)
    },
    Operation {
        path: "/api/payments/bills/{bill_id}/pay",
        summary: "Pay a bill",
        description: "Pays an approved bill from a wallet of its currency, completely or partly. \
            The amount is debited at once, against `accounts_payable`.",
        example: r#"{"wallet_id":"@wallet:1"}"#,
        errors: &[
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::CurrencyMismatch,
            ErrorCode::InsufficientFunds,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &["bill.paid", "bill.partially_paid", "wallet.debited", "wallet.low_balance"],
        starts: &[TaskKind::BillOverdue],
        ..operation!(write pay_bill)
    },
]);

list! {
    fn list_bills(ListBills) -> Bill,
        from |world, input| bought(world, input.company_id), of company_id;
    filter
        company_id: Id<Company>,
        status: BillStatus,
        /// Filter by the beneficiary that represents the supplier.
        beneficiary_id: Id<Beneficiary> = vendor.beneficiary_id,
        overdue: bool,
        /// Only bills due before this day.
        due_before: Date => |day, bill| bill.due_date < *day;
    sort created_at, due_date, total, amount_due;
}

/// Bills of all companies or of one: those of the months before the world's start, then those created since.
fn bought(world: &World, company: Option<Id<Company>>) -> Candidates<'_, Bill> {
    let base = world.base();
    let all = base.count(Kind::Bill);
    let Some(company) = company else { return Candidates::new(all, Some, world.created()) };
    let index = base.index_of(company).filter(|_| all > 0);
    let grown = index.map_or(0, |_| BILLS_A_COMPANY);
    let find = move |place| Some(base.bill(index?, place));
    Candidates::new(grown, find, world.children(company.bits()))
}

/// The supplier who sent the bill.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VendorInput")]
pub(crate) struct NewVendor {
    /// The name. Default: that of the beneficiary.
    name: Option<Text<140>>,
    /// The beneficiary that represents the supplier.
    beneficiary_id: Option<Id<Beneficiary>>,
}

/// One item bought.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "BillLineInput")]
pub(crate) struct NewBillLine {
    #[serde(flatten)]
    line: NewPricedLine,
    /// The expense account. Default: `purchases`.
    account: Option<Account>,
}

/// A new bill.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateBill {
    /// The company that owes it.
    company_id: Id<Company>,
    /// The supplier: a name, a beneficiary, or both.
    vendor: NewVendor,
    /// The supplier's number of the bill.
    number: Option<Text<64>>,
    /// The currency of its amounts.
    currency: Currency,
    /// The items bought.
    #[schemars(length(min = 1, max = 100))]
    lines: Vec<NewBillLine>,
    /// The date of the bill; not in the future, and not before the start of the books. Default: today.
    issued_on: Option<Date>,
    /// The last day to pay; not before the date of the bill.
    due_date: Date,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_bill(world: &mut World, input: CreateBill) -> Result<Single<Bill>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let vendor = vendor(world, &company, input.vendor)?;
    let today = world.today();
    let issued_on = input.issued_on.unwrap_or(today);
    let mut wrong = wrong_lines(&input.lines);
    let open = start_of_books(world, &company)..=today;
    wrong.extend(
        wrong_day(issued_on, &open)
            .map(|one| Violation { pointer: "/issued_on".to_owned(), ..one }),
    );
    let latest = issued_on.plus_days(LONGEST_TERMS);
    if !(issued_on..=latest).contains(&input.due_date) {
        let detail = format!("expected a day from {issued_on} to {latest}");
        wrong.push(Violation::new("/due_date", "range", detail));
    }
    let (accounts, lines): (Vec<_>, Vec<_>) =
        input.lines.into_iter().map(|line| (line.account, line.line)).unzip();
    let Some((lines, sums)) = priced(&company, lines, "a bill", &mut wrong) else {
        return Err(ApiError::invalid(wrong));
    };
    let lines = lines.into_iter().zip(accounts);
    let line = |(line, account): (InvoiceLine, Option<Account>)| BillLine {
        description: line.description,
        account: account.unwrap_or(Account::Purchases),
        quantity: line.quantity,
        unit_amount: line.unit_amount,
        tax_rate: line.tax_rate,
        amount: line.amount,
    };
    let lines: Vec<BillLine> = lines.map(line).collect();
    let input_tax = input_tax(world, &company, issued_on);
    let now = world.now();
    let bill = Bill {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: BillStatus::Draft,
        vendor,
        number: input.number.map(Text::into_string),
        tax_recoverable: input_tax.of_bill(&lines, &sums.taxes),
        lines,
        taxes: sums.taxes,
        net_total: sums.net,
        tax_total: sums.tax,
        total: sums.total,
        currency: input.currency,
        amount_paid: 0,
        amount_due: sums.total,
        issued_on,
        due_date: input.due_date,
        overdue: false,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(BillStatus::Draft, now)].into(),
    };
    Ok(Data(Shown(world.record("bill.created", bill))))
}

/// The part of the tax on a bill that a company deducts. It follows from the sales in the history, like the
/// provisional part of a year (Directive 2006/112/EC, article 175(3)). Without a history, the company has the usual
/// sales of its industry.
fn input_tax(world: &World, company: &Company, on: Date) -> InputTax {
    let place = vat::Place::of(company);
    let base = world.base();
    if let Some((index, opening)) = base.index_of(company.id).zip(base.opening(company.id)) {
        return InputTax::of(place, on, opening.sold(&base.plan(index)));
    }
    let usual = company.industry.as_deref().map(usual_sales).unwrap_or_default();
    InputTax::of(place, on, usual.into_iter())
}

/// The supplier, by name, as a beneficiary of the company, or both.
fn vendor(world: &World, company: &Company, input: NewVendor) -> Result<Vendor> {
    let known = input.beneficiary_id.map(|id| existing(world, id, "/vendor/beneficiary_id"));
    let known = known.transpose()?;
    if let Some(other) = known.as_ref().filter(|known| known.company_id != company.id) {
        let detail =
            format!("{} is a beneficiary of {}, not of {}", other.id, other.company_id, company.id);
        let member = "/vendor/beneficiary_id";
        return Err(ApiError::of_member(member, "foreign_beneficiary", detail));
    }
    let name = input.name.map(Text::into_string);
    let name = name.or_else(|| known.as_ref().map(|known| known.recipient.name.clone()));
    let name = name.ok_or_else(|| {
        let detail = "expected the name of the supplier, or a beneficiary".to_owned();
        ApiError::of_member("/vendor/name", "required", detail)
    })?;
    Ok(Vendor { name, beneficiary_id: known.map(|known| known.id) })
}

fn wrong_lines(lines: &[NewBillLine]) -> Vec<Violation> {
    let accounts = lines.iter().map(|line| line.account).enumerate();
    let wrong = accounts.filter_map(|(place, account)| {
        let account = account.filter(|it| it.account_type() != AccountType::Expense)?;
        let detail = format!("{account} is not an expense account");
        Some(Violation::new(format!("/lines/{place}/account"), "not_an_expense", detail))
    });
    wrong.collect()
}

fn approve_bill(world: &mut World, input: One<Bill>) -> Result<Single<Bill>> {
    let bill = world.get(input.id)?;
    let status = step("approve", "the bill", bill.id, bill.status)?;
    open_on(world, bill.company_id, bill.issued_on)?;
    fits(world, bill.company_id, bill.currency, bill.total)?;
    let mut bill = (*bill).clone();
    bill.enter(status, world.now());
    let entry = world.post_on(bill.company_id, purchasing::bill_approved(&bill), bill.issued_on);
    let bill = world.record("bill.approved", bill);
    if let Some(entry) = entry {
        world.emit("journal_entry.posted", &entry);
    }
    sales_tax::book_purchase(world, bill.company_id, bill.currency, bill.tax_recoverable);
    bill_clock::watch(world, &bill);
    show(world, input.id)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoidBill {
    /// The bill.
    bill_id: Id<Bill>,
    /// The reason, for the status history.
    reason: Text<500>,
}

fn void_bill(world: &mut World, input: VoidBill) -> Result<Single<Bill>> {
    let bill = world.get(input.bill_id)?;
    let status = step("void", "the bill", bill.id, bill.status)?;
    let booked = bill.status.is_owed();
    let mut bill = (*bill).clone();
    bill.amount_due = 0;
    bill.overdue = false;
    bill.enter_because(status, world.now(), Some(input.reason.into_string()));
    let voided = purchasing::bill_voided(&bill);
    let mirror = booked.then(|| world.post(bill.company_id, voided)).flatten();
    let bill = world.record("bill.voided", bill);
    world.forget_timers(AnyId::of(bill.id));
    if let Some(mirror) = mirror {
        world.emit("journal_entry.posted", &mirror);
        sales_tax::book_purchase(world, bill.company_id, bill.currency, -bill.tax_recoverable);
    }
    show(world, input.bill_id)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PayBill {
    /// The bill.
    bill_id: Id<Bill>,
    /// The wallet to debit: it must belong to the company and have the bill's currency.
    wallet_id: Id<Wallet>,
    /// Amount in minor units, at most `amount_due`. Default: all of it.
    amount: Option<Amount>,
}

fn pay_bill(world: &mut World, input: PayBill) -> Result<Single<Bill>> {
    let mut bill = (*world.get(input.bill_id)?).clone();
    let wallet = existing(world, input.wallet_id, "/wallet_id")?;
    belongs(&wallet, bill.company_id, bill.currency)?;
    let company = world.get(bill.company_id)?;
    may_pay(world, &company)?;
    let paid = step("pay", "the bill", bill.id, bill.status)?;
    let amount = input.amount.map_or(bill.amount_due, Amount::minor);
    if amount > bill.amount_due {
        let due = bill.currency.display(bill.amount_due);
        let detail = format!("must be at most {due}, the amount due");
        return Err(ApiError::of_member("/amount", "beyond_due", detail));
    }
    short(world, &wallet, amount)?;
    let before = world.balances(bill.company_id, bill.currency).available;
    bill.amount_paid += amount;
    bill.amount_due -= amount;
    let whole = bill.amount_due == 0;
    let status = if whole { paid } else { BillStatus::PartiallyPaid };
    bill.enter(status, world.now());
    bill.overdue &= !whole;
    let (id, currency) = (AnyId::of(bill.id), bill.currency);
    let bill = world.stage(bill);
    world.post(bill.company_id, purchasing::bill_paid(id, currency, amount));
    world.emit(if whole { "bill.paid" } else { "bill.partially_paid" }, &bill);
    if whole {
        world.forget_timers(id);
    }
    bill_clock::watch(world, &bill);
    wallet_level::debited(world, &company, &wallet, before);
    Ok(Data(Shown(bill)))
}
