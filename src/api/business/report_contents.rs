//! The contents of a regulatory report, from a company's runs, statement and payouts of one month.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::business::payroll::grown_runs;
use crate::api::identity::alert_facts;
use crate::api::prelude::*;
use crate::model::WalletTransaction;
use crate::model::business::regulatory_report::{
    Contents, Finding, LargeTransaction, PaidSums, PensionEntry, Rule, RunSummary, is_pension,
};
use crate::model::business::{
    ItemStatus, PayrollItem, PayrollRun, ReportType, RunStatus, Threshold,
};
use crate::model::identity::AmlAlert;
use crate::model::payments::{Payout, PayoutStatus};

/// Compiles a company's report for that month from its current records.
pub(crate) fn compile(
    world: &World,
    company: &Company,
    kind: ReportType,
    period: Period,
) -> Result<Contents> {
    Ok(match kind {
        ReportType::PayrollSummary => payroll_summary(world, company, period)?,
        ReportType::PensionSchedule => pension_schedule(world, company, period)?,
        ReportType::LargeTransactions => large_transactions(world, company, period),
        ReportType::SuspiciousActivity => suspicious_activity(world, company, period)?,
    })
}

/// The company's runs of a month that are not cancelled: grown ones, then created ones. A reversal is left out: the
/// items that it reverses are no longer `paid` in the other run.
fn runs(world: &World, company: &Company, period: Period) -> Vec<Arc<PayrollRun>> {
    let grown = grown_runs(world, company.id);
    let since = world.children::<PayrollRun>(company.id.bits()).filter_map(|id| world.find(id));
    let runs = grown.chain(since);
    let counts = |run: &Arc<PayrollRun>| {
        run.period == period && run.status != RunStatus::Cancelled && run.reverses.is_none()
    };
    runs.filter(counts).collect()
}

fn paid_items(world: &World, run: &PayrollRun) -> Result<Vec<Arc<PayrollItem>>> {
    may_scan(run.employee_count, "/company_id")?;
    let base = world.base();
    let mut items = Vec::new();
    if let Some(index) = base.index_of(run.id) {
        let (pay, company) = base.run_place(index);
        let paid = base.plan(company).paid_in(pay);
        let people = (0..paid.count()).filter_map(|rank| paid.find(rank));
        items.extend(people.filter_map(|person| world.at::<PayrollItem>(base.item(index, person))));
    }
    let since = world.children::<PayrollItem>(run.id.bits());
    items.extend(since.filter_map(|id| world.find(id)));
    items.retain(|item| item.status == ItemStatus::Paid);
    Ok(items)
}

fn payroll_summary(world: &World, company: &Company, period: Period) -> Result<Contents> {
    let mut totals = PaidSums::default();
    let mut summaries = Vec::new();
    for run in runs(world, company, period) {
        let mut sums = PaidSums::default();
        for item in paid_items(world, &run)? {
            let pay = item.value();
            sums = sums.plus(PaidSums {
                employees_paid: 1,
                gross: pay.gross,
                taxes: pay.taxes,
                employee_contributions: pay.employee_contributions,
                employer_contributions: pay.employer_contributions,
                net: pay.net,
            });
        }
        totals = totals.plus(sums);
        summaries.push(RunSummary {
            payroll_run_id: run.id,
            status: run.status,
            pay_date: run.pay_date,
            sums,
        });
    }
    Ok(Contents::PayrollSummary { totals, runs: summaries })
}

/// One entry per employee over all runs of the month, in order of payment.
fn pension_schedule(world: &World, company: &Company, period: Period) -> Result<Contents> {
    let mut entries: Vec<PensionEntry> = Vec::new();
    let mut places = BTreeMap::new();
    for run in runs(world, company, period) {
        for item in paid_items(world, &run)? {
            let pay = &item.calculation;
            let sum = |lines: Vec<crate::model::business::PayLine>| -> i64 {
                let pension = lines.iter().filter(|line| is_pension(line));
                pension.map(|line| line.amount).sum()
            };
            // Pay in another currency counts in the run's currency.
            let valued = |amount| item.fx.map_or(amount, |fx| fx.valued(amount, item.currency));
            let own = [pay.contribution_lines(), pay.deduction_lines()].concat();
            let withheld = valued(sum(own));
            let on_top = valued(sum(pay.employer_lines()));
            if withheld == 0 && on_top == 0 {
                continue;
            }
            let place = *places.entry(item.employee_id).or_insert_with(|| {
                entries.push(PensionEntry {
                    employee_id: item.employee_id,
                    employee_name: item.employee_name.to_string(),
                    gross: 0,
                    employee_contribution: 0,
                    employer_contribution: 0,
                });
                entries.len() - 1
            });
            let entry = &mut entries[place];
            entry.gross += item.value().gross;
            entry.employee_contribution += withheld;
            entry.employer_contribution += on_top;
        }
    }
    let sum = |part: fn(&PensionEntry) -> i64| entries.iter().map(part).sum();
    Ok(Contents::PensionSchedule {
        employee_contributions: sum(|entry| entry.employee_contribution),
        employer_contributions: sum(|entry| entry.employer_contribution),
        entries,
    })
}

/// Transactions of the company's wallets in that month.
fn statement(world: &World, company: &Company, period: Period) -> Vec<Arc<WalletTransaction>> {
    let history = world.base().history(company.id);
    let grown = history.iter().flat_map(|history| &history.statement);
    let since = world.book(company.id).into_iter().flat_map(|book| &book.statement);
    let lines = grown.chain(since);
    lines.filter(|line| line.effective_on.period() == period).cloned().collect()
}

fn large_transactions(world: &World, company: &Company, period: Period) -> Contents {
    let lines = statement(world, company, period);
    let mut thresholds = vec![Threshold::of(company.currency)];
    for line in &lines {
        if !thresholds.iter().any(|one| one.currency == line.currency) {
            thresholds.push(Threshold::of(line.currency));
        }
    }
    let large = lines.iter().filter(|line| line.amount >= Threshold::of(line.currency).amount);
    let transactions = large.map(|line| LargeTransaction {
        wallet_transaction_id: line.id,
        kind: line.kind,
        amount: line.amount,
        currency: line.currency,
        effective_on: line.effective_on,
        description: line.description.to_string(),
        source: line.source,
    });
    Contents::LargeTransactions { transactions: transactions.collect(), thresholds }
}

fn suspicious_activity(world: &World, company: &Company, period: Period) -> Result<Contents> {
    let mut findings = returned_payouts(world, company, period);
    findings.extend(shared_accounts(world, company)?);
    findings.extend(below_threshold(world, company, period));
    findings.extend(confirmed_alerts(world, company, period));
    Ok(Contents::SuspiciousActivity { findings })
}

/// Alerts about the company or its employees that were confirmed in that month.
fn confirmed_alerts(world: &World, company: &Company, period: Period) -> Vec<Finding> {
    let confirmed = alert_facts::confirmed(world, company.id).filter(|alert| {
        let at = alert.resolved_at;
        at.is_some_and(|at| at.date().period() == period)
    });
    let finding = |alert: Arc<AmlAlert>| {
        let mut resources = vec![AnyId::of(alert.id)];
        resources.extend(alert.subject_id.map(AnyId::of));
        resources.extend(&alert.resources);
        Finding {
            rule: Rule::ConfirmedAlert,
            detail: alert.detail.clone(),
            amount: alert.amount,
            currency: alert.currency.unwrap_or(company.currency),
            resources,
        }
    };
    confirmed.map(finding).collect()
}

/// Payouts that were returned or failed in that month. Grown payouts all settled, unless a call has returned them.
fn returned_payouts(world: &World, company: &Company, period: Period) -> Vec<Finding> {
    let grown = world
        .changed::<Payout>()
        .filter_map(|index| world.at::<Payout>(index))
        .filter(|payout| payout.company_id == company.id);
    let since = world.children::<Payout>(company.id.bits()).filter_map(|id| world.find(id));
    let undone = grown.chain(since).filter(|payout| {
        let undone = matches!(payout.status, PayoutStatus::Returned | PayoutStatus::Failed);
        undone && payout.updated_at.date().period() == period
    });
    let finding = |payout: Arc<Payout>| {
        let why = payout.failure.as_ref();
        let why = why.map_or_else(String::new, |failure| format!(": {}", failure.code));
        let happened =
            if payout.status == PayoutStatus::Returned { "was returned" } else { "failed" };
        let mut resources = vec![AnyId::of(payout.id)];
        resources.extend(payout.source);
        Finding {
            rule: Rule::ReturnedPayout,
            detail: format!("the payout {} {happened}{why}", payout.id),
            amount: Some(payout.amount),
            currency: payout.currency,
            resources,
        }
    };
    undone.map(finding).collect()
}

/// Bank accounts that several employees share now.
fn shared_accounts(world: &World, company: &Company) -> Result<Vec<Finding>> {
    let base = world.base();
    let size = base.shape().employees_per_company;
    let grown = base.index_of(company.id).map_or(0..0, |index| index * size..(index + 1) * size);
    may_scan(grown.end - grown.start, "/company_id")?;
    let grown = grown.filter_map(|index| world.at::<Employee>(index));
    let since = world.children::<Employee>(company.id.bits()).filter_map(|id| world.find(id));
    let mut owners: BTreeMap<(String, String), Vec<AnyId>> = BTreeMap::new();
    for employee in grown.chain(since) {
        let method = employee.payment_method.iter();
        let accounts = method.flat_map(|method| method.accounts());
        let accounts: BTreeSet<_> = accounts
            .map(|account| (account.bank_code.clone(), account.account_number.clone()))
            .collect();
        for account in accounts {
            owners.entry(account).or_default().push(AnyId::of(employee.id));
        }
    }
    let shared = owners.into_values().filter(|owners| owners.len() > 1);
    let finding = |resources: Vec<AnyId>| Finding {
        rule: Rule::SharedAccount,
        detail: format!("{} employees share one bank account", resources.len()),
        amount: None,
        currency: company.currency,
        resources,
    };
    Ok(shared.map(finding).collect())
}

/// Minimum number of amounts on one day that are at most a tenth below the threshold.
const MANY: usize = 3;

fn below_threshold(world: &World, company: &Company, period: Period) -> Vec<Finding> {
    let mut days: BTreeMap<(Date, Currency), Vec<Arc<WalletTransaction>>> = BTreeMap::new();
    for line in statement(world, company, period) {
        let most = Threshold::of(line.currency).amount;
        if line.amount < most && line.amount >= most - most / 10 {
            days.entry((line.effective_on, line.currency)).or_default().push(line);
        }
    }
    let many = days.into_iter().filter(|(_, lines)| lines.len() >= MANY);
    let finding =
        |((day, currency), lines): ((Date, Currency), Vec<Arc<WalletTransaction>>)| Finding {
            rule: Rule::BelowThreshold,
            detail: format!(
                "{} amounts on {day} are just below {}",
                lines.len(),
                currency.display(Threshold::of(currency).amount)
            ),
            amount: Some(lines.iter().map(|line| line.amount).sum()),
            currency,
            resources: lines.iter().map(|line| AnyId::of(line.id)).collect(),
        };
    many.map(finding).collect()
}
