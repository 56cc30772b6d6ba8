//! Timers of loans: the disbursement, due and late instalments, and the default.

use crate::api::business::payroll_people::may_pay;
use crate::api::capital::repayments;
use crate::api::payments::wallets::room;
use crate::api::prelude::*;
use crate::model::capital::loan::{InstalmentStatus, LoanBalances, LoanRepaymentTerms};
use crate::model::capital::{Loan, LoanStatus, Offer};
use crate::model::posting::lending;

/// From the agreement to the disbursement.
const PAYMENT: Span = Span::BusinessDays(1);
/// Number of days after an instalment's due date until the loan defaults.
const DEFAULT_DAYS: i32 = 90;

/// The events of an instalment that is due, and of its payment by autopay.
pub(crate) const DUE: &[&str] = &[
    "loan.repayment_due",
    "loan.repayment_received",
    "loan.repaid",
    "wallet.debited",
    "wallet.low_balance",
];

/// The loan of an offer, before it is created.
pub(super) fn drawn_up(
    world: &World,
    offer: &Offer,
    wallet: &Wallet,
    repayment: LoanRepaymentTerms,
) -> Loan {
    let now = world.now();
    Loan {
        id: world.next_id(offer.company_id.bits()),
        object: Object::NAME,
        company_id: offer.company_id,
        application_id: offer.application_id,
        offer_id: offer.id,
        wallet_id: wallet.id,
        status: LoanStatus::PendingDisbursement,
        product: offer.product,
        amount: offer.amount,
        currency: offer.currency,
        rate_bp: offer.rate_bp,
        term_months: offer.term_months,
        repayment,
        disbursed_at: None,
        schedule: Vec::new(),
        prepaid_principal: 0,
        late_instalments: 0,
        balances: LoanBalances::default(),
        next_due: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(LoanStatus::PendingDisbursement, now)].into(),
    }
}

/// Creates the loan; the money arrives later.
pub(super) fn make(world: &mut World, loan: Loan) {
    let id = loan.id;
    world.record("loan.created", loan);
    world.settle_after(PAYMENT, Task::DisburseLoan(id));
}

fn standing(world: &World, id: Id<Loan>, at: impl Fn(LoanStatus) -> bool) -> Option<Loan> {
    let loan = world.find(id).filter(|loan| at(loan.status));
    loan.map(Arc::unwrap_or_clone)
}

/// Disburses the loan. If the company is blocked or the wallet would exceed its maximum, the disbursement is tried
/// again the next day.
pub(crate) fn disburse(world: &mut World, id: Id<Loan>) {
    let Some(mut loan) = standing(world, id, |at| at == LoanStatus::PendingDisbursement) else {
        return;
    };
    let found = world.find(loan.company_id).zip(world.find(loan.wallet_id));
    let (company, wallet) = found.expect("a loan is made for a wallet, and nothing is deleted");
    if may_pay(world, &company).is_err() || room(world, &wallet, loan.amount).is_err() {
        let tomorrow = world.today().plus_days(1).at_hour(9);
        return world.remind_at(tomorrow, Task::RetryDisbursement(id));
    }
    let now = world.now();
    loan.enter(LoanStatus::Active, now);
    loan.begin(now);
    let loan = world.stage(loan);
    let paid = lending::loan_disbursed(AnyId::of(id), loan.currency, loan.amount);
    world.post(loan.company_id, paid);
    world.emit("loan.disbursed", &loan);
    world.emit_wallet("wallet.credited", &wallet);
    watch(world, &loan, 1);
    watch_interest(world, &loan, 1);
}

/// The interest of a day accrues; days count from the disbursement.
pub(crate) fn accrue_interest(world: &mut World, id: Id<Loan>, day: u32) {
    let Some(mut loan) =
        standing(world, id, |at| matches!(at, LoanStatus::Active | LoanStatus::Late))
    else {
        return;
    };
    watch_interest(world, &loan, day + 1);
    // A timer that a manual transition runs early accrues interest up to its own day.
    let until = loan.day_of_interest(day).unwrap_or_else(|| world.today()).max(world.today());
    if post_interest(world, &mut loan, until) {
        loan.updated_at = world.now();
        world.record("loan.interest_accrued", loan);
    }
}

/// Posts the interest that has accrued until a day and is not posted yet. Returns whether there is any.
pub(super) fn post_interest(world: &mut World, loan: &mut Loan, until: Date) -> bool {
    let interest = loan.accrue(until);
    let accrued = lending::interest_accrued(AnyId::of(loan.id), loan.currency, interest);
    world.post(loan.company_id, accrued).is_some()
}

/// Sets the timer of the interest of a day.
fn watch_interest(world: &mut World, loan: &Loan, day: u32) {
    if let Some(date) = loan.day_of_interest(day) {
        world.remind_at(date.at_hour(0), Task::AccrueInterest(loan.id, day));
    }
}

/// Sets the timers of an instalment.
fn watch(world: &mut World, loan: &Loan, number: u32) {
    let row = loan.schedule.iter().find(|row| row.number == number);
    if let Some(row) = row {
        world.remind_at(row.due_on.at_hour(0), Task::InstalmentDue(loan.id, number));
    }
}

/// The due date of an instalment has arrived.
pub(crate) fn fall_due(world: &mut World, id: Id<Loan>, number: u32) {
    let Some(mut loan) =
        standing(world, id, |at| matches!(at, LoanStatus::Active | LoanStatus::Late))
    else {
        return;
    };
    watch(world, &loan, number + 1);
    if !loan.mark(number, InstalmentStatus::Due) {
        // The instalment was paid before, or a manual transition made it late and it is still unpaid.
        return repayments::autopay(world, &loan);
    }
    let row = loan.schedule.iter().find(|row| row.number == number);
    let over = row.map_or(world.today(), |row| row.due_on).plus_days(1);
    loan.updated_at = world.now();
    let loan = world.record("loan.repayment_due", loan);
    world.remind_at(over.at_hour(0), Task::MissInstalment(id, number));
    repayments::autopay(world, &loan);
}

/// The due date has passed. A loan that is already late gets one more late instalment.
pub(crate) fn miss(world: &mut World, id: Id<Loan>, number: u32) {
    let Some(mut loan) =
        standing(world, id, |at| matches!(at, LoanStatus::Active | LoanStatus::Late))
    else {
        return;
    };
    if !loan.mark(number, InstalmentStatus::Late) {
        return; // paid in the meantime
    }
    let row = loan.schedule.iter().find(|row| row.number == number);
    let given_up = row.map_or(world.today(), |row| row.due_on);
    let given_up = given_up.plus_days(DEFAULT_DAYS).at_hour(0);
    if loan.status == LoanStatus::Active {
        loan.enter(LoanStatus::Late, world.now());
    } else {
        loan.updated_at = world.now();
    }
    world.record("loan.late", loan);
    world.remind_at(given_up, Task::DefaultLoan(id, number));
}

/// An instalment is unpaid for so long that the lender declares the default.
pub(crate) fn default(world: &mut World, id: Id<Loan>, number: u32) {
    let Some(loan) = world.find(id) else { return };
    let mut rows = loan.schedule.iter();
    let due_on = rows.find(|row| row.number == number).map(|row| row.due_on);
    let is_due = due_on.is_some_and(|day| day.plus_days(DEFAULT_DAYS) <= world.today());
    let reason = if is_due {
        format!("instalment {number} was not paid for {DEFAULT_DAYS} days")
    } else {
        format!("instalment {number} is unpaid") // a tester does not wait so long
    };
    default_because(world, id, number, reason);
}

/// The lender declares the default.
pub(crate) fn default_because(world: &mut World, id: Id<Loan>, number: u32, reason: String) {
    let Some(mut loan) = standing(world, id, |at| at == LoanStatus::Late) else { return };
    let unpaid = |row: &crate::model::capital::loan::Instalment| {
        row.number == number && row.status == InstalmentStatus::Late
    };
    if !loan.schedule.iter().any(unpaid) {
        return; // paid up to date in the meantime
    }
    loan.enter_because(LoanStatus::Defaulted, world.now(), Some(reason));
    world.record("loan.defaulted", loan);
    world.forget_timers(AnyId::of(id));
}
