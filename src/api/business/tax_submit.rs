//! Submitting a return and amending one. The money goes with the return and stays with the authority, whatever it answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::business::tax_clock;
use crate::api::operation::{Contract, Domain, Method, Operation, operation};
use crate::api::reply::{Data, Shown};
use crate::model::AnyId;
use crate::model::business::payroll_run::PayrollRun;
use crate::model::business::tax_filing::{FilingLine, FilingStatus, TaxFiling};
use crate::model::business::tax_liability::{LiabilityStatus, TaxLiability};
use crate::model::business::tax_return::account_of;
use crate::model::ledger::Account;
use crate::model::lifecycle::{Stateful, StatusChange, refused, step};
use crate::model::posting;
use crate::value::error::{ApiError, ErrorCode};
use crate::value::id::Id;
use crate::value::text::Text;
use crate::world::World;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Post,
        path: "/api/business/tax-filings/{tax_filing_id}/submit",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Submit a tax filing",
        description: "Pays what it declares out of what the runs reserved (sales tax out of the available balance) and sends the return. \
            The authority acknowledges it within the hour and answers two business days later. A `blocked` one is looked at again.",
        example: r#"{"declaration":"Ada Obi, finance manager"}"#,
        success: 202,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::InsufficientFunds,
        ],
        emits: &[
            "tax_filing.submitted",
            "tax_liability.paid",
            "wallet.debited",
        ],
        starts: &["acknowledge_filing", "accept_filing", "reject_filing"],
        ..operation!(write submit_tax_filing)
    },
    Operation {
        method: Method::Post,
        path: "/api/business/tax-filings/{tax_filing_id}/amend",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Amend a tax filing",
        description: "Opens a new return for the same sums in the place of one that was filed or rejected. What was paid counts for it: \
            submitting it pays nothing twice.",
        example: r#"{"reason":"The authority rejected the return"}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["tax_filing.amended", "tax_filing.created"],
        ..operation!(write amend_tax_filing)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SubmitTaxFiling {
    /// The filing.
    tax_filing_id: Id<TaxFiling>,
    /// Who declares that it is right.
    declaration: Text<200>,
}

fn submit_tax_filing(
    world: &mut World,
    input: SubmitTaxFiling,
) -> Result<Data<Shown<TaxFiling>>, ApiError> {
    let mut filing = (*world.get(input.tax_filing_id)?).clone();
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
    let liabilities = still_owed(world, &mut filing)?;
    let set_aside = pay(world, &filing)?;
    filing.amount_paid = filing.amount;
    filing.declaration = Some(input.declaration.into_string());
    filing.enter(status, now);
    let filing = world.record("tax_filing.submitted", filing);
    if set_aside {
        let wallet = world.wallet_of(filing.company_id, filing.currency);
        world.emit_wallet("wallet.debited", &wallet.expect("it has paid"));
    }
    for liability in liabilities {
        let mut liability = (*liability).clone();
        liability.enter(LiabilityStatus::Paid, now);
        world.record("tax_liability.paid", liability);
    }
    tax_clock::send(world, filing.id);
    Ok(Data(Shown(filing)))
}

/// The filing's liabilities that are not paid yet. Those of a run that was cancelled meanwhile are void and drop out, and with
/// them what they added.
fn still_owed(world: &World, filing: &mut TaxFiling) -> Result<Vec<Arc<TaxLiability>>, ApiError> {
    let all = filing
        .tax_liability_ids
        .iter()
        .filter_map(|id| world.find(*id));
    let (void, owed): (Vec<_>, Vec<_>) =
        all.partition(|liability| liability.status == LiabilityStatus::Void);
    if !void.is_empty() && owed.is_empty() {
        let detail = "nothing is owed any more: the runs of this filing were cancelled".to_owned();
        return Err(refused(filing.id, filing.status, detail));
    }
    for liability in &void {
        filing.amount -= liability.amount;
        let line = filing
            .lines
            .iter_mut()
            .find(|line| line.authority == liability.authority);
        line.expect("a filing declares its liabilities").amount -= liability.amount;
    }
    filing.tax_liability_ids = owed.iter().map(|liability| liability.id).collect();
    let unpaid = owed
        .into_iter()
        .filter(|l| l.status != LiabilityStatus::Paid);
    Ok(unpaid.collect())
}

/// Pays what is declared and not paid; whether available money moved. Withholdings were reserved with their run; sales tax is
/// set aside now.
fn pay(world: &mut World, filing: &TaxFiling) -> Result<bool, ApiError> {
    if filing.amount_paid == filing.amount {
        return Ok(false);
    }
    let account = |line: &FilingLine| {
        account_of(&line.authority).expect("a filing declares what liabilities name")
    };
    let vat = posting::vat_account();
    let sum = |wanted: &dyn Fn(Account) -> bool| -> i64 {
        let lines = filing.lines.iter().filter(|line| wanted(account(line)));
        lines.map(|line| line.amount).sum()
    };
    let (sales_tax, withheld) = (
        sum(&|account| account == vat),
        sum(&|account| account != vat),
    );
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
    if balances.available < sales_tax {
        return short("available", balances.available, sales_tax);
    }
    if balances.reserved < withheld {
        return short("reserved", balances.reserved, withheld);
    }
    let source = AnyId::of(filing.id);
    let aside = posting::reserved("Sales tax set aside", source, filing.currency, sales_tax);
    world.post(filing.company_id, aside);
    for line in &filing.lines {
        let paid = posting::filing_paid(source, filing.currency, account(line), line.amount);
        world.post(filing.company_id, paid);
    }
    Ok(sales_tax != 0)
}

/// Why the money of a return is not there yet: each run of it that has reserved nothing, and is not over.
pub(crate) fn unfunded(world: &World, filing: &TaxFiling) -> Vec<String> {
    let liabilities = filing
        .tax_liability_ids
        .iter()
        .filter_map(|id| world.find(*id));
    let owed = liabilities.filter(|liability| liability.status != LiabilityStatus::Void);
    let runs = owed.filter_map(|liability| world.find(liability.payroll_run_id));
    let short = |run: &Arc<PayrollRun>| run.funding.is_none_or(|funding| funding.reserved == 0);
    let mut reasons: Vec<String> = runs
        .filter(short)
        .map(|run| format!("the money of run {} is not reserved yet", run.id))
        .collect();
    reasons.dedup();
    reasons
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AmendTaxFiling {
    /// The filing.
    tax_filing_id: Id<TaxFiling>,
    /// Why, for the history of statuses.
    reason: Text<500>,
}

fn amend_tax_filing(
    world: &mut World,
    input: AmendTaxFiling,
) -> Result<Data<Shown<TaxFiling>>, ApiError> {
    let mut old = (*world.get(input.tax_filing_id)?).clone();
    let status = step("amend", "the filing", old.id, old.status)?;
    let now = world.now();
    old.enter_because(status, now, Some(input.reason.into_string()));
    let old = world.record("tax_filing.amended", old);
    let new = TaxFiling {
        id: world.next_id(old.company_id.bits()),
        status: FilingStatus::Pending,
        amends: Some(old.id),
        declaration: None,
        acknowledged_at: None,
        rejection_reason: None,
        created_at: now,
        updated_at: now,
        status_history: vec![StatusChange::plain(FilingStatus::Pending, now)],
        ..(*old).clone()
    };
    for id in &new.tax_liability_ids {
        let mut liability = (*world.get(*id)?).clone();
        liability.tax_filing_id = Some(new.id);
        liability.updated_at = now;
        world.keep(liability);
    }
    Ok(Data(Shown(world.record("tax_filing.created", new))))
}
