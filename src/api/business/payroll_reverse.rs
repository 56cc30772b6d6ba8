//! Reversing a paid run, fully or for some employees: a separate run with the opposite entries.

use std::collections::BTreeSet;

use crate::api::business::payroll::new_run;
use crate::api::business::payroll_clock::{get, items, owe};
use crate::api::business::payroll_months::take_back;
use crate::api::business::payroll_people::Wanted;
use crate::api::business::tax_clock;
use crate::api::business::tax_liabilities::of_run;
use crate::api::prelude::*;
use crate::model::business::tax_return::{DueTo, code_of};
use crate::model::business::{
    FilingStatus, ItemStatus, LiabilityStatus, PayConversion, PayrollItem, PayrollRun,
    PayslipStatus, RunStatus, RunTotals, RunType, Settlement, TaxFiling, TaxLiability,
};
use crate::model::payments::PayoutStatus;
use crate::model::posting;
use crate::model::posting::RunCost;
use crate::model::task::Fate;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/payroll-runs/{payroll_run_id}/reverse",
    summary: "Reverse a payroll run",
    description: "Reverses the run, or only the items of `employee_ids`. Returns a new run of type \
        `correction`. The wages return to the wallet once: no payout of them is returned later. \
        The payslips become `voided`, and the tax liabilities are reduced, also in prepared \
        returns. An amount that was already paid to an authority becomes a credit: a liability \
        with a negative amount. The employees can then be in another regular run of the period. A \
        run of more than 10,000 items cannot be reversed.",
    example: r#"{"reason":"Paid by mistake"}"#,
    errors: &[ErrorCode::InvalidStateTransition],
    emits: &[
        "payroll_run.created",
        "payroll_run.reversed",
        "payslip.voided",
        "journal_entry.posted",
        "tax_liability.created",
        "tax_liability.updated",
        "compliance_requirement.resolved",
        "wallet.credited",
    ],
    starts: &[TaskKind::LiabilityDue],
    long: true,
    ..operation!(write reverse_payroll_run)
}]);

/// Maximum number of items reversed in one call.
const MOST_ITEMS: u64 = 10_000;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReversePayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// The reason, for the status history.
    reason: Text<500>,
    /// The employees whose items are reversed. Default: all.
    #[schemars(length(min = 1, max = MOST_ITEMS), extend("uniqueItems" = true))]
    employee_ids: Option<Vec<Id<Employee>>>,
}

fn reverse_payroll_run(world: &mut World, input: ReversePayrollRun) -> Result<Single<PayrollRun>> {
    let run = world.get(input.payroll_run_id)?;
    let status = step("reverse", "the run", run.id, run.status)?;
    if run.reverses.is_some() {
        let detail =
            "this run is itself a reversal: create a new run for its employees instead".to_owned();
        return Err(refused(run.id, run.status, detail));
    }
    if run.settlement.pending > 0 {
        let detail =
            "payouts of this run are in progress: wait until they settle or fail".to_owned();
        return Err(refused(run.id, run.status, detail));
    }
    if run.employee_count > MOST_ITEMS {
        let detail = format!(
            "the run has {} items: a run of more than {MOST_ITEMS} items cannot be reversed",
            run.employee_count
        );
        return Err(ApiError::of_member("/employee_ids", "too_many", detail));
    }
    let standing = unreversed_items(world, &run);
    let chosen = chosen(&run, &standing, input.employee_ids.as_deref())?;
    if let Some(item) = chosen.iter().find(|item| has_arrived_in_part(world, item)) {
        let detail =
            format!("a part of the net pay of {} has arrived: send the rest again first", item.id);
        return Err(refused(run.id, run.status, detail));
    }
    let whole = chosen.len() == standing.len();
    let reason = input.reason.into_string();
    let (reversal, cost) = reversal(world, &run, &chosen, &reason)?;
    let reversal = world.record("payroll_run.created", reversal);
    let mut original = (*run).clone();
    let mut reversed_by = original.reversed_by.clone();
    reversed_by.push(reversal.id);
    original.reversed_by = reversed_by;
    original.updated_at = world.now();
    if whole {
        original.enter_because(status, world.now(), Some(reason));
    }
    for item in &chosen {
        let mut item = (**item).clone();
        item.enter(ItemStatus::Reversed, world.now());
        expect_no_return(world, &item);
        world.stage(item);
    }
    world.record("payroll_run.reversed", original);
    let taken: BTreeSet<_> = chosen.iter().map(|item| item.id).collect();
    let stay = standing.into_iter().filter(|item| !taken.contains(&item.id));
    let void = give_back(world, (&run, &reversal), (&chosen, &stay.collect::<Vec<_>>()), &cost);
    tax_clock::relieve(world, &void);
    void_payslips(world, &chosen);
    let wallet = world.wallet_of(run.company_id, run.currency);
    world.emit_wallet("wallet.credited", &wallet.expect("the run was paid from one"));
    Ok(Data(Shown(reversal)))
}

/// Items of the run that are not reversed yet, including grown ones.
fn unreversed_items(world: &World, run: &PayrollRun) -> Vec<Arc<PayrollItem>> {
    let base = world.base();
    let grown = base.index_of(run.id).map(|index| {
        let (pay, company) = base.run_place(index);
        let paid = base.plan(company).paid_in(pay);
        (0..paid.count())
            .filter_map(move |rank| world.at::<PayrollItem>(base.item(index, paid.find(rank)?)))
    });
    let all = grown.into_iter().flatten().chain(items(world, run.id));
    all.filter(|item| item.status.may_become(ItemStatus::Reversed) && !is_left_out(item)).collect()
}

/// Whether the run left the employee out. Pay of zero has no payment either, but it has a payslip.
fn is_left_out(item: &PayrollItem) -> bool {
    item.status == ItemStatus::Skipped && item.payslip_id.is_none()
}

fn has_arrived_in_part(world: &World, item: &PayrollItem) -> bool {
    let is_unpaid = matches!(item.status, ItemStatus::Failed | ItemStatus::Returned);
    is_unpaid && item.payouts().any(|id| get(world, id).status == PayoutStatus::Paid)
}

/// The items of the named employees.
fn chosen(
    run: &PayrollRun,
    standing: &[Arc<PayrollItem>],
    ids: Option<&[Id<Employee>]>,
) -> Result<Vec<Arc<PayrollItem>>> {
    let Some(ids) = ids else { return Ok(standing.to_vec()) };
    let paid: BTreeSet<_> = standing.iter().map(|item| item.employee_id).collect();
    let strangers = ids.iter().enumerate().filter(|(_, id)| !paid.contains(id));
    let wrong: Vec<_> = strangers
        .map(|(place, id)| {
            let detail = format!("{id} has no item of {} that can be reversed", run.id);
            Violation::new(format!("/employee_ids/{place}"), "not_in_run", detail)
        })
        .collect();
    ApiError::if_any(wrong)?;
    let wanted: BTreeSet<_> = ids.iter().collect();
    let items = standing.iter().filter(|item| wanted.contains(&item.employee_id));
    Ok(items.cloned().collect())
}

/// The run that reverses the others: the same amounts with reversed signs, completed at once.
fn reversal(
    world: &mut World,
    run: &PayrollRun,
    chosen: &[Arc<PayrollItem>],
    reason: &str,
) -> Result<(PayrollRun, RunCost)> {
    let company = existing(world, run.company_id, "/company_id")?;
    let now = world.now();
    let wanted = Wanted {
        company: &company,
        span: run.span(),
        kind: RunType::Correction,
        member: "employee_ids",
    };
    let employees = chosen.iter().map(|item| item.employee_id).collect();
    let mut reversal = new_run(world, &wanted, employees);
    reversal.pay_date = world.today();
    reversal.reverses = Some(run.id);
    reversal.notes = Some(reason.to_owned());
    reversal.status = RunStatus::Paid;
    reversal.status_history = [StatusChange::plain(RunStatus::Paid, now)].into();
    let needed_payment = |item: &&Arc<PayrollItem>| item.status != ItemStatus::Skipped;
    let paid = chosen.iter().filter(needed_payment).count() as u64;
    reversal.settlement = Settlement { paid, ..Settlement::default() };
    let mut totals = RunTotals::default();
    let cost = RunCost::of(chosen.iter().map(AsRef::as_ref));
    for item in chosen {
        totals.add_item(item, -1);
        let status = match item.status {
            ItemStatus::Skipped => ItemStatus::Skipped,
            _ => ItemStatus::Paid,
        };
        let negated = PayrollItem {
            id: world.next_id(reversal.id.bits()),
            payroll_run_id: reversal.id,
            status,
            calculation: Arc::new(item.calculation.negated()),
            fx: item.fx.map(PayConversion::negated),
            payout_id: None,
            payout_ids: Vec::new(),
            payslip_id: None,
            failure: None,
            created_at: now,
            status_history: [StatusChange::plain(status, now)].into(),
            ..(**item).clone()
        };
        world.stage(negated);
    }
    reversal.totals = Some(totals);
    Ok((reversal, cost))
}

/// Cancels pending returns of the item's payouts: the wages are recalled, so a return would credit the same money
/// twice.
fn expect_no_return(world: &mut World, item: &PayrollItem) {
    let comes_back = |task| matches!(task, Task::SettlePayout(_, Fate::Returned(_)));
    for id in item.payouts() {
        world.drop_timers_about(AnyId::of(id), comes_back);
    }
}

/// Posts the reversal: the opposite of the accrual by month, the recalled wages, and reserved amounts that are no longer due to authorities.
fn give_back(
    world: &mut World,
    (run, reversal): (&PayrollRun, &PayrollRun),
    (chosen, stay): (&[Arc<PayrollItem>], &[Arc<PayrollItem>]),
    cost: &RunCost,
) -> Vec<Arc<TaxLiability>> {
    let (source, currency) = (AnyId::of(reversal.id), run.currency);
    let entries = take_back(world, (run, reversal), chosen, stay);
    let arrived = chosen.iter().filter(|item| item.status == ItemStatus::Paid);
    let arrived = RunCost::of(arrived.map(AsRef::as_ref));
    // Nothing was reserved for items that the wallet did not cover.
    let uncovered = chosen.iter().filter(|item| !item.is_covered());
    let uncovered = RunCost::of(uncovered.map(AsRef::as_ref)).to_send();
    let (mut freed, mut void) = (cost.to_send() - arrived.to_send() - uncovered, Vec::new());
    let covered = |items: &mut dyn Iterator<Item = &Arc<PayrollItem>>| {
        RunCost::of(items.filter(|item| item.is_covered()).map(AsRef::as_ref))
    };
    let before = covered(&mut chosen.iter().chain(stay));
    let after = covered(&mut stay.iter());
    for &(party, amount) in cost.owed.iter().filter(|(_, amount)| *amount != 0) {
        if let Some(lowered) = lower(world, run, reversal, (party, amount)) {
            freed += before.owed_to(party).max(0) - after.owed_to(party).max(0);
            void.push(lowered);
        }
    }
    for recalled in posting::net_pay_recalled(source, currency, &arrived) {
        world.post(run.company_id, recalled);
    }
    let released = posting::released("Payroll money released", source, currency, freed);
    world.post(run.company_id, released);
    for entry in entries {
        world.emit("journal_entry.posted", &entry);
    }
    void
}

/// Reduces the liability to one party: the old liability becomes void, and a new one has the remainder. Amounts that
/// were already paid become a credit.
fn lower(
    world: &mut World,
    run: &PayrollRun,
    reversal: &PayrollRun,
    (DueTo { account, form }, amount): (DueTo, i64),
) -> Option<Arc<TaxLiability>> {
    let code = code_of(account);
    let unpaid = of_run(world, run.id).find(|liability| {
        liability.authority == code
            && liability.form.as_deref() == form
            && liability.status.may_become(LiabilityStatus::Void)
    });
    let Some(unpaid) = unpaid else {
        owe(world, reversal, (account, form), -amount);
        return None;
    };
    let left = unpaid.amount - amount;
    let mut void = (*unpaid).clone();
    void.enter(LiabilityStatus::Void, world.now());
    let void = world.record("tax_liability.updated", void);
    if left != 0 {
        let rest = owe(world, run, (account, form), left);
        declare_rest(world, &void, rest);
    }
    Some(void)
}

/// In a prepared return that is not submitted, the remainder replaces the void liability.
fn declare_rest(world: &mut World, void: &TaxLiability, rest: Id<TaxLiability>) {
    let filing = void.tax_filing_id.and_then(|id| world.find(id));
    let is_open =
        |it: &Arc<TaxFiling>| matches!(it.status, FilingStatus::Pending | FilingStatus::Blocked);
    let Some(filing) = filing.filter(is_open) else { return };
    let (mut filing, mut rest) = ((*filing).clone(), (*get(world, rest)).clone());
    let change = rest.amount - void.amount;
    for id in filing.tax_liability_ids.iter_mut().filter(|id| **id == void.id) {
        *id = rest.id;
    }
    for line in filing.lines.iter_mut().filter(|line| line.authority == void.authority) {
        line.amount += change;
    }
    filing.amount += change;
    filing.updated_at = world.now();
    rest.tax_filing_id = Some(filing.id);
    world.stage(filing);
    world.stage(rest);
}

fn void_payslips(world: &mut World, chosen: &[Arc<PayrollItem>]) {
    for id in chosen.iter().filter_map(|item| item.payslip_id) {
        let mut payslip = (*get(world, id)).clone();
        if payslip.status.may_become(PayslipStatus::Voided) {
            payslip.enter(PayslipStatus::Voided, world.now());
            world.record("payslip.voided", payslip);
        }
    }
}
