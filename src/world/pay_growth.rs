//! The payroll runs of the months before the start, with their items, payslips and payouts, as functions of their indexes.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a shape bounds every index to 10^9 by twelve months; draws are below small bounds"
)]

use std::sync::Arc;

use crate::model::business::{
    Funding, ItemStatus, PayrollItem, PayrollRun, Payslip, PayslipStatus, RunStatus, RunType,
    Settlement,
};
use crate::model::growth::accounts;
use crate::model::payments::rails::route;
use crate::model::payments::{Payout, PayoutStatus, Rail, Recipient, Service};
use crate::model::{Kind, Object, StatusChange, StatusHistory};
use crate::value::{Metadata, Timestamp};
use crate::world::base::Grow;
use crate::world::grow::{Face, face, person_key};
use crate::world::indexes::PayoutPlace;
use crate::world::pay_calendar::PayTimes;
use crate::world::purchases::bill_growth::PAYMENT_HOUR;
use crate::world::purchases::{BillOf, vendor_day};
use crate::world::{Base, Plan, suppliers};

/// Maximum number of employees that a run of history lists. Otherwise a list of runs could have a hundred megabytes.
const MOST_NAMED: u64 = 1_000;

/// The times of the steps of a run, for the company or employee with that number.
fn times_of(base: &Base, pay: u64, nth: u64) -> PayTimes {
    let later = |at: Timestamp| at.plus_millis(nth as i64);
    let times = *base.pay(pay);
    PayTimes {
        created: later(times.created),
        approved: later(times.approved),
        funded: later(times.funded),
        paid: later(times.paid),
        ..times
    }
}

impl Grow for PayrollRun {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let (pay, company) =
            (index < base.count(Kind::PayrollRun)).then(|| base.run_place(index))?;
        let plan = base.plan(company);
        let number = plan.pays.number(pay)?;
        let history = base.history_at(company);
        let paid = &history.payroll.runs[number as usize];
        let times = times_of(base, pay, company);
        let size = base.shape().employees_per_company;
        let named = if paid.people > MOST_NAMED { 0 } else { size };
        let is_paid = |e: &u64| plan.tenure.is_paid(plan.workforce.place(*e), number);
        let paid_people = (0..named).filter(is_paid);
        let steps = [
            (RunStatus::Calculating, times.created),
            (RunStatus::Calculated, times.created.plus_millis(2_000)),
            (RunStatus::Approved, times.approved),
            (RunStatus::Funding, times.funded),
            (RunStatus::Processing, times.funded),
            (RunStatus::Paid, times.paid),
        ];
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(company),
            period: times.span.period(),
            pay_period: times.span.beside_its_month(),
            kind: RunType::Regular,
            status: RunStatus::Paid,
            employees: Arc::new(paid_people.map(|e| base.id_at(company * size + e)).collect()),
            employee_count: paid.people,
            pay_date: paid.pay_date,
            currency: plan.currency,
            totals: Some(paid.totals),
            funding: Some(Funding {
                wallet_id: base.id_at(company),
                required: paid.cost.to_reserve(),
                reserved: paid.cost.to_reserve(),
                platform_fee: 0,
                shortfall: 0,
            }),
            settlement: Settlement { paid: paid.people, failed: 0, pending: 0 },
            blockers: Vec::new(),
            warnings: Arc::default(),
            inputs: Arc::default(),
            notes: None,
            reverses: None,
            reversed_by: Vec::new(),
            created_at: times.created,
            updated_at: times.paid,
            metadata: Metadata::default(),
            status_history: steps.map(|(status, at)| StatusChange::plain(status, at)).into(),
        })
    }
}

/// The common data of items, payslips and salary payouts of history.
struct PastPay {
    pay: u64,
    company: u64,
    employee: u64,
    run: u64,
    plan: Plan,
    face: Face,
    calculation: Arc<crate::model::business::calculation::Calculation>,
    times: PayTimes,
}

impl PastPay {
    fn find(base: &Base, pay: u64, company: u64, employee: u64) -> Option<Self> {
        let plan = base.plan(company);
        let face = face(&plan, employee);
        let history = base.history_at(company);
        let calculation = Arc::clone(history.payroll.calculation(&plan, face.place, pay)?);
        let times = times_of(base, pay, company * base.shape().employees_per_company + employee);
        Some(Self {
            pay,
            company,
            employee,
            run: base.run(pay, company),
            plan,
            face,
            calculation,
            times,
        })
    }

    fn of_item(base: &Base, index: u64) -> Option<Self> {
        if index >= base.count(Kind::PayrollItem) {
            return None;
        }
        let (run, employee) = base.item_place(index);
        let (pay, company) = base.run_place(run);
        Self::find(base, pay, company, employee)
    }

    fn name(&self) -> String {
        self.face.person.to_string()
    }
}

impl Grow for PayrollItem {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let paid = PastPay::of_item(base, index)?;
        let steps = [
            (ItemStatus::Ready, paid.times.created),
            (ItemStatus::Processing, paid.times.funded),
            (ItemStatus::Paid, paid.times.paid),
        ];
        Some(Self {
            id: base.id_at(index),
            payroll_run_id: base.id_at(paid.run),
            company_id: base.id_at(paid.company),
            employee_id: base
                .id_at(paid.company * base.shape().employees_per_company + paid.employee),
            employee_name: paid.name().into(),
            period: paid.times.span.period(),
            status: ItemStatus::Paid,
            currency: paid.plan.currency,
            fx: None,
            payout_id: Some(base.id_at(base.salary_payout(paid.pay, paid.company, paid.employee))),
            payout_ids: Vec::new(),
            payslip_id: Some(base.id_at(index)),
            failure: None,
            created_at: paid.times.created,
            status_history: steps.map(|(status, at)| StatusChange::plain(status, at)).into(),
            calculation: paid.calculation,
        })
    }
}

impl Grow for Payslip {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let paid = PastPay::of_item(base, index)?;
        Some(Self {
            id: base.id_at(index),
            company_id: base.id_at(paid.company),
            employee_id: base
                .id_at(paid.company * base.shape().employees_per_company + paid.employee),
            employee_name: paid.name().into(),
            payroll_run_id: base.id_at(paid.run),
            payroll_item_id: base.id_at(index),
            status: PayslipStatus::Issued,
            period: paid.times.span.period(),
            pay_period: paid.times.span.beside_its_month(),
            pay_date: paid.times.pay_date,
            currency: paid.plan.currency,
            created_at: paid.times.paid,
            calculation: paid.calculation,
            changes: StatusHistory::default(),
        })
    }
}

impl Grow for Payout {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        if index >= base.count(Kind::Payout) {
            return None;
        }
        match base.payout_place(index) {
            PayoutPlace::Salary { pay, company, employee } => {
                Some(salary_payout(base, index, &PastPay::find(base, pay, company, employee)?))
            }
            PayoutPlace::Vendor { month, company, vendor } => {
                vendor_payout(base, index, month, company, vendor)
            }
        }
    }
}

fn salary_payout(base: &Base, index: u64, paid: &PastPay) -> Payout {
    let account = accounts::bank_account(paid.plan.country, person_key(&paid.plan, paid.employee));
    let sent = paid.times.sent;
    let steps = [
        (PayoutStatus::Queued, paid.times.funded),
        (PayoutStatus::Processing, sent),
        (PayoutStatus::Sent, sent),
        (PayoutStatus::Paid, paid.times.paid),
    ];
    Payout {
        id: base.id_at(index),
        object: Object::NAME,
        company_id: base.id_at(paid.company),
        wallet_id: base.id_at(paid.company),
        beneficiary_id: None,
        status: PayoutStatus::Paid,
        amount: paid.calculation.net,
        currency: paid.plan.currency,
        fx: None,
        fee: None,
        rail: Rail::Standard,
        payment_rail: route(Service::Standard, paid.plan.country.code, paid.plan.currency),
        estimated_arrival: None,
        recipient: Arc::new(Recipient::new(
            &paid.name(),
            account.bank_code.as_str(),
            &account.account_number,
        )),
        reference: format!("Salary {}", paid.times.span.period()).into(),
        source: Some(base.any_at(Kind::PayrollItem, base.item(paid.run, paid.employee))),
        maker: None,
        approver: None,
        failure: None,
        split: None,
        correction: None,
        supersedes: None,
        superseded_by: None,
        created_at: paid.times.funded,
        updated_at: paid.times.paid,
        metadata: Metadata::default(),
        status_history: steps.map(|(status, at)| StatusChange::plain(status, at)).into(),
    }
}

fn vendor_payout(base: &Base, index: u64, month: u64, company: u64, vendor: u64) -> Option<Payout> {
    let plan = base.plan(company);
    let bill = BillOf::paid_in(month, vendor);
    let amount = base.history_at(company).purchases.of(bill).total();
    let (key, (what, _)) = (suppliers::key(&plan, vendor), suppliers::sells(&plan, vendor));
    let supplier = suppliers::name(&plan, vendor);
    let account = accounts::bank_account(plan.country, key);
    let nth = base.run(0, company) as i64;
    let at = vendor_day(base, month).at_hour(PAYMENT_HOUR).plus_millis(nth);
    let steps =
        [PayoutStatus::Queued, PayoutStatus::Processing, PayoutStatus::Sent, PayoutStatus::Paid];
    (amount > 0).then(|| Payout {
        id: base.id_at(index),
        object: Object::NAME,
        company_id: base.id_at(company),
        wallet_id: base.id_at(company),
        beneficiary_id: None,
        status: PayoutStatus::Paid,
        amount,
        currency: plan.currency,
        fx: None,
        fee: None,
        rail: Rail::Instant,
        payment_rail: route(Service::Instant, plan.country.code, plan.currency),
        estimated_arrival: None,
        recipient: Arc::new(Recipient::new(
            &supplier,
            account.bank_code.as_str(),
            &account.account_number,
        )),
        reference: format!("{what} {}", bill.period(base)).into(),
        source: Some(bill.id(base, company)),
        maker: None,
        approver: None,
        failure: None,
        split: None,
        correction: None,
        supersedes: None,
        superseded_by: None,
        created_at: at,
        updated_at: at,
        metadata: Metadata::default(),
        status_history: steps.map(|status| StatusChange::plain(status, at)).into(),
    })
}
