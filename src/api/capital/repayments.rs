//! Repayments of loans: debited at once, and allotted by the loan.

use crate::api::capital::loan_clock;
use crate::api::payments::wallet_level;
use crate::api::payments::wallets::{belongs, short};
use crate::api::prelude::*;
use crate::model::capital::loan::RepaymentMethod;
use crate::model::capital::{Loan, LoanRepayment, LoanStatus, RepaymentStatus};
use crate::model::payments::Collection;
use crate::model::posting::lending;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/loans/{loan_id}/repayments",
        summary: "List the repayments of a loan",
        description: "Lists the repayments of a loan in creation order, each with the interest \
            and the principal that it paid.",
        ..operation!(read list_loan_repayments)
    },
    Operation {
        path: "/api/capital/loans/{loan_id}/repayments",
        summary: "Repay a loan",
        description: "Repays a loan; the amount is debited at once. The amount pays the due \
            instalments and the instalment of the current month, in order, interest first. The \
            remainder lowers the balance and the later instalments. The `settlement_amount` of \
            `getLoan` repays the loan completely; a larger amount is refused. Without this call, \
            only the methods `autopay` and `revenue_share` of the loan's `repayment` debit the \
            wallet.",
        example: r#"{"amount":4000000,"wallet_id":"@wallet:1"}"#,
        success: 201,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::CurrencyMismatch,
            ErrorCode::InsufficientFunds,
        ],
        emits: &["loan.repayment_received", "loan.repaid", "wallet.debited", "wallet.low_balance"],
        ..operation!(write create_loan_repayment)
    },
    Operation {
        path: "/api/capital/loan-repayments/{loan_repayment_id}",
        summary: "Read a repayment",
        description: "Returns a repayment of a loan. Journal entries name it as their source.",
        ..operation!(get get_loan_repayment: LoanRepayment)
    },
]);

list! {
    struct ListLoanRepayments of LoanRepayment;
    in
        /// The loan.
        loan_id: Id<Loan>;
    filter wallet_id: Id<Wallet>;
    sort created_at, amount;
}

fn list_loan_repayments(
    world: &World,
    input: ListLoanRepayments,
) -> Result<List<Shown<LoanRepayment>>> {
    world.get(input.loan_id)?;
    select(world, &input, Candidates::created(world, Some(input.loan_id.bits())))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateLoanRepayment {
    /// The loan.
    loan_id: Id<Loan>,
    /// Amount in minor units of the loan's currency, at most its `settlement_amount`.
    amount: Amount,
    /// The wallet to debit: it must belong to the company and have the loan's currency.
    wallet_id: Id<Wallet>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_loan_repayment(
    world: &mut World,
    input: CreateLoanRepayment,
) -> Result<Single<LoanRepayment>> {
    let loan = world.get(input.loan_id)?;
    let wallet = existing(world, input.wallet_id, "/wallet_id")?;
    belongs(&wallet, loan.company_id, loan.currency)?;
    step("repay", "the loan", loan.id, loan.status)?;
    let amount = input.amount.minor();
    let settlement = loan.settlement(world.today());
    if amount > settlement {
        let detail = format!(
            "must be at most {}, which repays the loan completely today",
            loan.currency.display(settlement)
        );
        return Err(ApiError::of_member("/amount", "beyond_balance", detail));
    }
    short(world, &wallet, amount)?;
    let made = Made { method: RepaymentMethod::Manual, collection: None };
    let repayment = receive(world, &loan, &wallet, (amount, made), input.metadata);
    Ok(Data(Shown(repayment)))
}

/// The method and source of a repayment.
struct Made {
    method: RepaymentMethod,
    collection: Option<Id<Collection>>,
}

/// Debits a repayment, at most the settlement amount and the available balance, and allots it.
fn receive(
    world: &mut World,
    loan: &Loan,
    wallet: &Wallet,
    (amount, made): (i64, Made),
    metadata: Option<Metadata>,
) -> Arc<LoanRepayment> {
    let mut loan = loan.clone();
    let (now, today) = (world.now(), world.today());
    let whole = amount == loan.settlement(today);
    let before = world.balances(loan.company_id, loan.currency).available;
    let allotted = loan.repay(amount, today);
    loan.updated_at = now;
    if whole {
        loan.enter(LoanStatus::Repaid, now);
    } else if loan.status == LoanStatus::Late && !loan.is_behind() {
        loan.enter(LoanStatus::Active, now);
    }
    let repayment = LoanRepayment {
        id: world.next_id(loan.id.bits()),
        object: Object::NAME,
        company_id: loan.company_id,
        loan_id: loan.id,
        wallet_id: wallet.id,
        method: made.method,
        collection_id: made.collection,
        status: RepaymentStatus::Received,
        amount,
        currency: loan.currency,
        interest: allotted.interest,
        principal: allotted.principal,
        balance_after: loan.balances.principal_outstanding,
        created_at: now,
        updated_at: now,
        metadata: metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(RepaymentStatus::Received, now)].into(),
    };
    let repayment = world.stage(repayment);
    let posting = lending::loan_repaid(
        AnyId::of(repayment.id),
        loan.currency,
        allotted.principal,
        allotted.interest,
    );
    loan_clock::post_interest(world, &mut loan, today);
    let loan = world.stage(loan);
    world.post(loan.company_id, posting);
    world.emit("loan.repayment_received", &loan);
    if let Some(company) = world.find(loan.company_id) {
        wallet_level::debited(world, &company, wallet, before);
    }
    if whole {
        world.emit("loan.repaid", &loan);
        world.forget_timers(AnyId::of(loan.id));
    }
    repayment
}

/// Debits an instalment on its due day, if the loan has autopay and the wallet covers the full amount.
pub(super) fn autopay(world: &mut World, loan: &Loan) {
    let amount = loan.owed();
    let is_due = loan.repayment.method == RepaymentMethod::Autopay && amount > 0;
    let wallet = world.find(loan.wallet_id).filter(|_| is_due);
    let available = world.balances(loan.company_id, loan.currency).available;
    if let Some(wallet) = wallet.filter(|_| amount <= available) {
        let made = Made { method: RepaymentMethod::Autopay, collection: None };
        receive(world, loan, &wallet, (amount, made), None);
    }
}

/// Takes the share of a collection that has settled, for each loan of the company that is repaid by shares, the oldest first.
pub(crate) fn share(world: &mut World, collection: &Collection) {
    let (company, currency) = (collection.company_id, collection.currency);
    let loans: Vec<Id<Loan>> = world.children(company.bits()).collect();
    for id in loans {
        let loan = world.find(id).filter(|loan| loan.currency == currency);
        let Some(loan) = loan else { continue };
        let Some(share) = loan.share_of(collection.amount_received) else { continue };
        let available = world.balances(company, currency).available;
        let amount = share.min(loan.settlement(world.today())).min(available);
        if let Some(wallet) = world.find(loan.wallet_id).filter(|_| amount > 0) {
            let made =
                Made { method: RepaymentMethod::RevenueShare, collection: Some(collection.id) };
            receive(world, &loan, &wallet, (amount, made), None);
        }
    }
}
