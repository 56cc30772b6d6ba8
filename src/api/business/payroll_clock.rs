//! What the clock does to a payroll run: calculate, approve, fund. Its payouts are `payroll_payouts`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::business::payroll_payouts::finish;
use crate::model::business::calculation::{Calculation, Terms};
use crate::model::business::company::Company;
use crate::model::business::employee::Employee;
use crate::model::business::payroll_item::{ItemStatus, PayrollItem};
use crate::model::business::payroll_run::{Funding, PayrollRun, RunStatus, RunTotals, Settlement};
use crate::model::business::tax_liability::{LiabilityStatus, TaxLiability};
use crate::model::business::tax_return::code_of;
use crate::model::decision::RUN_FUND;
use crate::model::lifecycle::{Stateful, StatusChange};
use crate::model::payments::payout::{Payout, PayoutStatus, Recipient};
use crate::model::payments::wallet::Wallet;
use crate::model::posting::{self, RunCost};
use crate::model::task::Task;
use crate::model::{AnyId, Object};
use crate::value::id::Id;
use crate::value::text::Metadata;
use crate::value::time::{Date, Span, Timestamp};
use crate::world::World;

/// Hour of the pay date at which wages are handed to the rail.
const SEND_HOUR: i64 = 9;

/// How late late money is.
const LATE_FUNDS: Span = Span::BusinessDays(1);

/// What must stand, because the task was set by what put it there.
pub(crate) fn get<T: crate::world::grow::Grow>(world: &World, id: Id<T>) -> Arc<T> {
    world
        .find(id)
        .expect("a task is set for what exists, and nothing is deleted")
}

/// Gross to net of everybody in the run; then approval, unless somebody has to be asked.
pub(crate) fn calculate_run(world: &mut World, id: Id<PayrollRun>) {
    let mut run = (*get(world, id)).clone();
    if run.status != RunStatus::Calculating {
        return; // cancelled meanwhile
    }
    let mut totals = RunTotals::default();
    let earlier = EarlierPay::of(world, &run);
    for employee in run.employees.clone() {
        let before = earlier.last(world, employee);
        let item = calculate_item(world, &run, &get(world, employee), before.as_deref());
        let item = Arc::new(item);
        add(&mut totals, &item.calculation);
        world.put(&item);
    }
    run.totals = Some(totals);
    run.settlement = Settlement {
        pending: run.employee_count,
        ..Settlement::default()
    };
    run.enter(RunStatus::Calculated, world.now());
    let run = world.record("payroll_run.calculated", run);
    if get(world, run.company_id)
        .payroll_settings
        .approval_required
    {
        let mut run = (*run).clone();
        run.enter(RunStatus::PendingApproval, world.now());
        world.record("payroll_run.pending_approval", run);
    } else {
        approve_run(world, &run, None);
    }
}

fn calculate_item(
    world: &World,
    run: &PayrollRun,
    employee: &Employee,
    before: Option<&Calculation>,
) -> PayrollItem {
    let compensation = employee
        .compensation
        .as_ref()
        .expect("a payable employee has compensation");
    let terms = Terms {
        country: &employee.country,
        compensation,
        attributes: &employee.tax_attributes,
    };
    let calculation = Calculation::of(&terms, run.pay_date, before);
    let calculation =
        calculation.expect("pay is bounded where it is set, so that no year of it leaves 64 bits");
    PayrollItem {
        id: world.next_id(run.id.bits()),
        payroll_run_id: run.id,
        company_id: run.company_id,
        employee_id: employee.id,
        employee_name: employee.name.as_str().into(),
        period: run.period,
        status: ItemStatus::Ready,
        currency: run.currency,
        calculation: Arc::new(calculation),
        payout_id: None,
        payslip_id: None,
        failure: None,
        created_at: world.now(),
        status_history: vec![StatusChange::plain(ItemStatus::Ready, world.now())],
    }
}

/// What a run's employees were paid before in its tax year, by the company's other runs: as they were reckoned, for the year
/// to date counts what was really paid, in whatever order.
struct EarlierPay {
    country: String,
    pay_date: Date,
    last: BTreeMap<Id<Employee>, Arc<Calculation>>,
}

impl EarlierPay {
    fn of(world: &World, run: &PayrollRun) -> Self {
        let country = get(world, run.company_id).country.clone();
        let mut last = BTreeMap::new();
        for id in world.children::<PayrollRun>(run.company_id.bits()) {
            let other = get(world, id);
            let apart = other.pay_date.days_since(run.pay_date).abs();
            let void = matches!(
                other.status,
                RunStatus::Cancelled | RunStatus::Failed | RunStatus::Reversed
            );
            if id == run.id || apart > 366 || void {
                continue;
            }
            for item in items(world, id) {
                if item.calculation.counts_with(&country, run.pay_date) {
                    last.insert(item.employee_id, Arc::clone(&item.calculation));
                }
            }
        }
        Self {
            country,
            pay_date: run.pay_date,
            last,
        }
    }

    /// The last pay of that employee: by a run, or else in the months before the world's start.
    fn last(&self, world: &World, employee: Id<Employee>) -> Option<Arc<Calculation>> {
        let in_history = || {
            let base = world.base();
            let counts = |pay: &Calculation| pay.counts_with(&self.country, self.pay_date);
            base.last_paid(base.index_of(employee)?, counts)
        };
        self.last.get(&employee).cloned().or_else(in_history)
    }
}

fn add(totals: &mut RunTotals, pay: &Calculation) {
    totals.gross += pay.gross;
    totals.taxes += pay.taxes;
    totals.employee_contributions += pay.employee_contributions;
    totals.employer_contributions += pay.employer_contributions;
    totals.net += pay.net;
    totals.employer_cost = totals.gross + totals.employer_contributions;
}

pub(crate) fn items(world: &World, run: Id<PayrollRun>) -> Vec<Arc<PayrollItem>> {
    world
        .children::<PayrollItem>(run.bits())
        .map(|id| get(world, id))
        .collect()
}

/// Wages and withholdings accrue; the money is reserved at the cut-off of the business day before the pay date.
pub(crate) fn approve_run(world: &mut World, run: &PayrollRun, reason: Option<String>) {
    let mut cost = RunCost::default();
    for item in items(world, run.id) {
        cost.add(&item.calculation, 1);
    }
    let wallet = world
        .wallet_of(run.company_id, run.currency)
        .expect("a company has a wallet of its currency");
    let totals = run.totals.unwrap_or_default();
    let mut run = run.clone();
    run.funding = Some(Funding {
        wallet_id: wallet.id,
        required: totals.employer_cost,
        reserved: 0,
        shortfall: 0,
    });
    run.enter_because(RunStatus::Approved, world.now(), reason);
    let run = world.keep(run);
    world.post(
        run.company_id,
        posting::run_approved(AnyId::of(run.id), run.currency, &cost),
    );
    world.emit("payroll_run.approved", &run);
    owe(world, &run, &cost);
    let calendar = world.calendar_of(run.company_id);
    let day_before = calendar.minus_business_days(run.pay_date, 1);
    world.settle_at(calendar.cut_off(day_before), Task::FundRun(run.id));
}

/// One liability for each account that the run owes.
fn owe(world: &mut World, run: &PayrollRun, cost: &RunCost) {
    let company: Arc<Company> = get(world, run.company_id);
    for &(account, amount) in cost.owed.iter().filter(|(_, amount)| *amount != 0) {
        let now = world.now();
        let liability = Arc::new(TaxLiability {
            id: world.next_id(run.id.bits()),
            object: Object::NAME,
            company_id: run.company_id,
            payroll_run_id: run.id,
            authority: code_of(account).to_owned(),
            jurisdiction: company.country.clone(),
            period: run.period,
            status: LiabilityStatus::Accrued,
            tax_filing_id: None,
            amount,
            currency: run.currency,
            created_at: now,
            updated_at: now,
            metadata: Metadata::default(),
            status_history: vec![StatusChange::plain(LiabilityStatus::Accrued, now)],
        });
        world.put(&liability);
        world.emit("tax_liability.created", &liability);
    }
}

/// Reserves the run's money and opens its payouts; a short wallet is a fact, and the run says so.
pub(crate) fn fund_run(world: &mut World, id: Id<PayrollRun>, late: bool) {
    let mut run = (*get(world, id)).clone();
    if !matches!(run.status, RunStatus::Approved | RunStatus::FundingFailed) {
        return; // cancelled meanwhile
    }
    let mut funding = run.funding.expect("an approved run knows what it needs");
    let wallet = get(world, funding.wallet_id);
    let available = world.balances(run.company_id, run.currency).available;
    let short = (available < funding.required).then(|| funding.required - available);
    let refused = match short {
        Some(shortfall) => {
            funding.shortfall = shortfall;
            let short = run.currency.display(shortfall);
            Some(format!("the wallet {} is short of {short}", wallet.id))
        }
        None if late => None, // the bank was asked, and this is its answer
        None => match ask_bank(world, id) {
            BankReply::Yes => None,
            BankReply::No => {
                funding.shortfall = funding.required;
                Some("the company's bank says that its account is short".to_owned())
            }
            BankReply::Later(due) => {
                world.remind_at(due, Task::FundRunLate(id));
                return;
            }
        },
    };
    run.enter(RunStatus::Funding, world.now());
    if let Some(blocker) = refused {
        run.funding = Some(funding);
        run.blockers = vec![blocker];
        run.enter(RunStatus::FundingFailed, world.now());
        world.record("payroll_run.funding_failed", run);
        return;
    }
    funding.reserved = funding.required;
    funding.shortfall = 0;
    run.funding = Some(funding);
    run.blockers.clear();
    let run = world.keep(run);
    let reserve = posting::reserved(
        "Payroll funded",
        AnyId::of(run.id),
        run.currency,
        funding.required,
    );
    world.post(run.company_id, reserve);
    world.emit("payroll_run.funded", &run);
    world.emit_wallet("wallet.debited", &wallet);
    open_payouts(world, &run, &wallet);
}

/// What the company's bank says when a run asks for its money.
enum BankReply {
    Yes,
    No,
    Later(Timestamp),
}

fn ask_bank(world: &mut World, run: Id<PayrollRun>) -> BankReply {
    let answer = world.decide(&RUN_FUND, AnyId::of(run), None);
    match answer.choice {
        "insufficient_funds" => BankReply::No,
        "delayed" => {
            let late = answer.after.unwrap_or(LATE_FUNDS);
            BankReply::Later(world.after(late, Some(AnyId::of(run))))
        }
        _ => BankReply::Yes,
    }
}

/// One payout an employee. Pay of nothing needs none: such an item is skipped, and counts as paid.
fn open_payouts(world: &mut World, run: &PayrollRun, wallet: &Wallet) {
    let rail = get(world, run.company_id).payroll_settings.speed;
    let (mut run, mut skipped) = (run.clone(), 0);
    for item in items(world, run.id) {
        let mut item = (*item).clone();
        if item.calculation.net <= 0 {
            item.enter(ItemStatus::Skipped, world.now());
            world.keep(item);
            skipped += 1;
            continue;
        }
        let employee = get(world, item.employee_id);
        let account = employee
            .payment_method
            .as_ref()
            .expect("a payable employee has a payment method");
        let now = world.now();
        let payout = Arc::new(Payout {
            id: world.next_id(run.company_id.bits()),
            object: Object::NAME,
            company_id: run.company_id,
            wallet_id: wallet.id,
            beneficiary_id: None,
            status: PayoutStatus::Queued,
            amount: item.calculation.net,
            currency: run.currency,
            rail,
            recipient: Arc::new(Recipient::new(
                &account.account_name,
                &account.bank_code,
                &account.account_number,
            )),
            reference: format!("Salary {}", run.period),
            source: Some(AnyId::of(item.id)),
            failure: None,
            created_at: now,
            updated_at: now,
            metadata: Metadata::default(),
            status_history: vec![StatusChange::plain(PayoutStatus::Queued, now)],
        });
        item.payout_id = Some(payout.id);
        item.enter(ItemStatus::Processing, now);
        world.keep(item);
        world.put(&payout);
        world.emit("payout.created", &payout);
    }
    run.settlement.pending -= skipped;
    run.settlement.paid += skipped;
    run.enter(RunStatus::Processing, world.now());
    let run = world.record("payroll_run.processing", run);
    if run.settlement.pending == 0 {
        finish(world, &run);
    } else {
        world.settle_at(
            run.pay_date.at_hour(SEND_HOUR),
            Task::SendRunPayouts(run.id),
        );
    }
}
