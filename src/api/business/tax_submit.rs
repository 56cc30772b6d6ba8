//! Submitting a filing. The payment is made at the same time. The authority keeps it even if it rejects the filing.

use crate::api::business::tax_clock;
use crate::api::business::tax_payment::Payment;
use crate::api::prelude::*;
use crate::model::business::{
    Authority, FilingStatus, Funding, LiabilityStatus, PayrollRun, TaxFiling, TaxLiability,
};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/tax-filings/{tax_filing_id}/submit",
    summary: "Submit a tax filing",
    description: "Pays and submits the filing. The taxes of runs are paid from the money that the \
        runs reserved. Sales tax and amendments are paid from the available balance. A credit with \
        the authority is used first. The authority acknowledges the filing within an hour, and \
        answers two business days later. If the filing is `blocked`, the call checks again whether \
        it can be submitted. A return of tax on sales is refused with 409 until its period is \
        over.",
    example: r#"{"declaration":"Ada Obi, finance manager"}"#,
    success: 202,
    errors: &[ErrorCode::InvalidStateTransition, ErrorCode::InsufficientFunds],
    emits: &[
        "tax_filing.submitted",
        "tax_liability.paid",
        "wallet.debited",
        "wallet.credited",
        "compliance_requirement.resolved",
    ],
    starts: &[TaskKind::AcknowledgeFiling, TaskKind::AcceptFiling, TaskKind::RejectFiling],
    long: true,
    ..operation!(write submit_tax_filing)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SubmitTaxFiling {
    /// The filing.
    tax_filing_id: Id<TaxFiling>,
    /// Name of the person who declares the report correct.
    declaration: Text<200>,
    /// The wallet to debit. Only the company's wallet in the filing's currency is accepted, and it is the default. A filing that pays nothing
    /// needs no wallet.
    wallet_id: Option<Id<Wallet>>,
}

fn submit_tax_filing(world: &mut World, input: SubmitTaxFiling) -> Result<Single<TaxFiling>> {
    let mut filing = (*world.get(input.tax_filing_id)?).clone();
    let named = input.wallet_id.map(|wallet| existing(world, wallet, "/wallet_id")).transpose()?;
    let now = world.now();
    if filing.status == FilingStatus::Blocked {
        let reasons = unfunded(world, &filing);
        if !reasons.is_empty() {
            let detail = format!("the filing is blocked: {}", reasons.join("; "));
            return Err(refused(filing.id, filing.status, detail));
        }
        filing.blocked_reasons.clear();
        filing.enter(FilingStatus::Pending, now);
    }
    let status = step("submit", "the filing", filing.id, filing.status)?;
    period_is_over(world, &filing)?;
    let liabilities = still_owed(world, &mut filing)?;
    let payment = Payment::of(world, &filing);
    let wallet = paid_from(world, &filing, &payment, named.as_deref())?;
    payment.is_covered(world, &filing)?;
    let moved = payment.make(world, &mut filing);
    let credits = payment.credits(world, &filing).into_iter();
    let (used_up, rest): (Vec<_>, Vec<_>) =
        credits.partition(|credit| credit.status == LiabilityStatus::Paid);
    for credit in rest {
        world.stage(credit);
    }
    filing.late |= filing.due_on.is_some_and(|day| day < world.today());
    filing.declaration = Some(input.declaration.into_string());
    filing.enter(status, now);
    let filing = world.record("tax_filing.submitted", filing);
    if let Some(wallet) = wallet.filter(|_| moved != 0) {
        let name = if moved > 0 { "wallet.credited" } else { "wallet.debited" };
        world.emit_wallet(name, &wallet);
    }
    for liability in &liabilities {
        let mut liability = (**liability).clone();
        liability.enter(LiabilityStatus::Paid, now);
        world.record("tax_liability.paid", liability);
    }
    for credit in used_up {
        world.record("tax_liability.paid", credit);
    }
    tax_clock::relieve(world, &liabilities);
    tax_clock::send(world, filing.id);
    Ok(Data(Shown(filing)))
}

/// The company's wallet in the filing's currency. A filing that moves no money, such as one of less than zero, needs none.
fn paid_from(
    world: &World,
    filing: &TaxFiling,
    payment: &Payment,
    named: Option<&Wallet>,
) -> Result<Option<Arc<Wallet>>> {
    let (company, currency) = (filing.company_id, filing.currency);
    let wallet = world.wallet_of(company, currency);
    if wallet.is_none() && payment.moves() {
        let detail = format!("the company has no {currency} wallet");
        return Err(ApiError::new(ErrorCode::InsufficientFunds, detail).about(filing.id));
    }
    let own = wallet.as_ref().map(|wallet| wallet.id);
    if named.is_some_and(|named| Some(named.id) != own) {
        let detail = match own {
            Some(own) => {
                format!("the filing must be paid from {own}, the {currency} wallet of {company}")
            }
            None => format!(
                "{company} has no {currency} wallet, and this filing needs no wallet: omit wallet_id"
            ),
        };
        return Err(ApiError::of_member("/wallet_id", "foreign_wallet", detail));
    }
    Ok(wallet)
}

/// A return of tax on sales declares a whole period: Value Added Tax Regulations 1995, regulation 25 (GB),
/// Value-Added Tax Act 89 of 1991, section 28 (ZA). Otherwise later sales of the period would be in no return.
fn period_is_over(world: &World, filing: &TaxFiling) -> Result<()> {
    let last = filing.period.last_day();
    if filing.tax_type != Authority::VAT.code() || last < world.today() {
        return Ok(());
    }
    let detail = format!(
        "the return period ends on {last}: submit the return after that day (today is {})",
        world.today()
    );
    Err(refused(filing.id, filing.status, detail))
}

/// The filing's unpaid liabilities. Those of a cancelled or reversed run are void and removed, with their amounts.
fn still_owed(world: &World, filing: &mut TaxFiling) -> Result<Vec<Arc<TaxLiability>>> {
    let all = filing.tax_liability_ids.iter().filter_map(|id| world.find(*id));
    let (void, owed): (Vec<_>, Vec<_>) =
        all.partition(|liability| liability.status == LiabilityStatus::Void);
    if !void.is_empty() && owed.is_empty() {
        let detail = "nothing is due any more: the runs of this filing were cancelled or reversed"
            .to_owned();
        return Err(refused(filing.id, filing.status, detail));
    }
    for liability in &void {
        filing.amount -= liability.amount;
        let line = filing.lines.iter_mut().find(|line| line.authority == liability.authority);
        line.expect("a filing declares its liabilities").amount -= liability.amount;
    }
    filing.tax_liability_ids = owed.iter().map(|liability| liability.id).collect();
    let unpaid = owed.into_iter().filter(|l| l.status != LiabilityStatus::Paid);
    Ok(unpaid.collect())
}

/// The reasons why the money of a filing is not available yet: its runs that have not ended and have not reserved the
/// full amount. In a partly funded run, the taxes of unfunded items have no money. A negative amount needs none.
pub(crate) fn unfunded(world: &World, filing: &TaxFiling) -> Vec<String> {
    let liabilities = filing.tax_liability_ids.iter().filter_map(|id| world.find(*id));
    let owed = liabilities
        .filter(|liability| liability.status != LiabilityStatus::Void && liability.amount > 0);
    let runs = owed.filter_map(|liability| world.find(liability.payroll_run_id?));
    let short = |run: &Arc<PayrollRun>| {
        let covers = |funding: Funding| funding.reserved >= funding.required;
        !run.is_void() && !run.funding.is_some_and(covers)
    };
    let mut reasons: Vec<String> = runs
        .filter(short)
        .map(|run| format!("the money of run {} is not reserved yet", run.id))
        .collect();
    reasons.dedup();
    reasons
}
