//! Growth: calculates every resource of a fresh world from its index.
//!
//! `created_at` increases by a millisecond with the index, so that the order of creation is the order of the
//! index.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a shape bounds every index to 10^9 by twelve months; draws are below small bounds"
)]

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::business::{
    Address, Company, CompanyStatus, ComplianceRequirement, Contact, Employee, EmployeeStatus,
    EmploymentType, Funding, ItemStatus, LeaveRequest, PaymentMethod, PaymentMethodType,
    PayrollItem, PayrollRun, PayrollSettings, PayrollStatus, PayrollVerification, Payslip,
    PayslipStatus, RegulatoryReport, RunStatus, RunType, Settlement, TaxLiability,
};
use crate::model::capital::{
    Application, CreditScore, Deal, DueDiligenceCase, DueDiligenceRequest, InsuranceRiskScore,
    Loan, LoanRepayment, Offer, ReadinessAssessment,
};
use crate::model::growth::workforce::{Place, Selection};
use crate::model::growth::{accounts, identity, names, people};
use crate::model::identity::{
    AmlAlert, AmlScreening, BankAccountVerification, Document, Subject, TrustScore, Verification,
    WatchlistEntry,
};
use crate::model::payments::{
    Balances, BankStatement, Beneficiary, Dispute, Escrow, FxQuote, FxTransfer, Payout,
    PayoutStatus, Rail, Recipient, ReconciliationMatch, Refund, Wallet, WalletStatus,
};
use crate::model::{AnyId, Entity, Kind, Object, StatusChange, WalletTransaction};
use crate::value::{Date, Key, Metadata, Timestamp};
use crate::world::base::PayoutPlace;
use crate::world::history::{VENDOR_DAY, arrival};
use crate::world::payroll_history::pay_date;
use crate::world::{Base, Plan};

/// A resource that a fresh world may contain.
pub(crate) trait Grow: Entity {
    /// The resource with this index, if the fresh world has it.
    fn grow(base: &Base, index: u64) -> Option<Self>;
}

/// Kinds that only calls create.
macro_rules! never_grown {
    ($($kind:ty),* $(,)?) => {
        $(impl Grow for $kind {
            fn grow(_: &Base, _: u64) -> Option<Self> {
                None
            }
        })*
    };
}

never_grown!(
    LeaveRequest,
    PayrollVerification,
    TaxLiability,
    ComplianceRequirement,
    RegulatoryReport,
    WalletTransaction,
    Dispute,
    Refund,
    FxQuote,
    FxTransfer,
    Beneficiary,
    Subject,
    Document,
    Verification,
    AmlScreening,
    AmlAlert,
    TrustScore,
    BankAccountVerification,
    WatchlistEntry,
    BankStatement,
    ReconciliationMatch,
    Escrow,
    CreditScore,
    ReadinessAssessment,
    InsuranceRiskScore,
    Application,
    Offer,
    Loan,
    LoanRepayment,
    Deal,
    DueDiligenceCase,
    DueDiligenceRequest,
);

/// The six members of the published list, without an allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    pub(crate) first: &'static str,
    pub(crate) last: &'static str,
    pub(crate) role: &'static str,
    pub(crate) department: &'static str,
    pub(crate) place: Place,
}

/// The name of the person with this number in the company of this plan.
pub(crate) fn person(plan: &Plan, number: u64) -> names::Person {
    names::person(plan.country, person_key(plan, number))
}

/// The published members of the person with this number in the company of this plan.
pub(crate) fn face(plan: &Plan, number: u64) -> Face {
    let place = plan.workforce.place(number);
    let role = &plan.industry.roles[usize::from(place.role)];
    let person = person(plan, number);
    let title = if place.role == 0 && number > 0 { plan.industry.lead } else { role.title };
    Face { first: person.first, last: person.last, role: title, department: role.department, place }
}

fn person_key(plan: &Plan, number: u64) -> Key {
    plan.people.at(number)
}

impl Grow for Company {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let plan = (index < base.shape().companies).then(|| base.plan(index))?;
        let known = identity::company(plan.country, plan.industry, plan.key);
        let created_at = base.first_day().midnight().plus_millis(index as i64);
        let address = known.address;
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            status: CompanyStatus::Active,
            legal_name: known.legal_name,
            country: plan.country.code.to_owned(),
            currency: plan.currency,
            industry: Some(plan.industry.id.to_owned()),
            registration_number: Some(known.registration_number),
            tax_id: Some(known.tax_id),
            address: Some(Address {
                line1: address.line1,
                city: address.city.to_owned(),
                region: address.region.map(str::to_owned),
                postal_code: address.postal_code,
                country: address.country.to_owned(),
            }),
            contact: Some(Contact {
                email: Some(known.email),
                phone: Some(known.phone),
                website: Some(known.website),
            }),
            payroll_settings: PayrollSettings::default(),
            payment_settings: None,
            created_at,
            updated_at: created_at,
            metadata: Metadata::default(),
            status_history: vec![StatusChange::plain(CompanyStatus::Active, created_at)],
        })
    }
}

impl Grow for Employee {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let size = base.shape().employees_per_company;
        if index >= base.count(Kind::Employee) {
            return None;
        }
        let (company, number) = (index / size, index % size);
        let plan = base.plan(company);
        let (face, key) = (face(&plan, number), person_key(&plan, number));
        let place = face.place;
        let name = format!("{} {}", face.first, face.last);
        let account = accounts::bank_account(plan.country, key);
        let (status, payroll_status) = (place.status(), place.payroll_status());
        let start_date = start_date(base, key, status, payroll_status);
        let created_at = base.first_day().midnight().plus_millis(index as i64);
        let domain = identity::company(plan.country, plan.industry, plan.key).domain;
        let effective_from = start_date.max(base.first_day());
        let status_history = status_history(base, key, status, start_date, created_at);
        let updated_at = status_history.last().map_or(created_at, |change| change.at);
        let left = (status == EmployeeStatus::Terminated).then(|| updated_at.date());
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(company),
            role: face.role.to_owned(),
            department: face.department.to_owned(),
            status,
            payroll_status,
            payroll_hold: None,
            email: Some(identity::email(face.first, face.last, &domain)),
            employment_type: EmploymentType::FullTime,
            country: plan.country.code.to_owned(),
            start_date,
            end_date: left,
            end_reason: None,
            final_pay: None,
            compensation: Some(people::compensation(
                plan.country,
                plan.industry,
                plan.currency,
                place.role,
                place.step,
                effective_from,
            )),
            compensation_history: Vec::new(),
            brought_in: None,
            payment_method: (payroll_status != PayrollStatus::NotEnrolled).then(|| PaymentMethod {
                kind: PaymentMethodType::Bank,
                bank_name: Some(account.bank_name.to_owned()),
                bank_code: account.bank_code,
                account_number: account.account_number,
                iban: account.iban,
                account_name: name.clone(),
            }),
            name,
            tax_id: Some(identity::personal_tax_id(plan.country, key)),
            tax_attributes: people::tax_attributes(plan.country, plan.key, place.role, place.step),
            created_at,
            updated_at,
            metadata: Metadata::default(),
            status_history,
        })
    }
}

/// All statuses that a grown person had. A person who is away or has left worked on the last pay day.
fn status_history(
    base: &Base,
    key: Key,
    status: EmployeeStatus,
    start_date: Date,
    created_at: Timestamp,
) -> Vec<StatusChange<EmployeeStatus>> {
    let last_days = base.shape().start.date().plus_days(-1 - key.with("left").below(4) as i32);
    let since = |first, then: Timestamp| {
        vec![StatusChange::plain(first, created_at), StatusChange::plain(status, then)]
    };
    match status {
        EmployeeStatus::Active if start_date > base.first_day() => {
            since(EmployeeStatus::Pending, start_date.at_hour(9))
        }
        EmployeeStatus::Active | EmployeeStatus::Pending => {
            vec![StatusChange::plain(status, created_at)]
        }
        _ => since(EmployeeStatus::Active, last_days.at_hour(17)),
    }
}

/// People who were paid in the history began at least a year before it, so that their year to date is
/// complete. A newcomer began in its last weeks, and a future
/// employee begins after the start.
fn start_date(base: &Base, key: Key, status: EmployeeStatus, payroll: PayrollStatus) -> Date {
    let days = key.with("start_date").below(2_500) as i32;
    let start = base.shape().start.date();
    match (status, payroll) {
        (EmployeeStatus::Pending, _) => start.plus_days(5 + days % 40).or_business_day_after(),
        (EmployeeStatus::Active, PayrollStatus::Pending) => {
            start.plus_days(-3 - days % 5).or_business_day_before()
        }
        _ => base.first_day().plus_days(-366 - days).or_business_day_before(),
    }
}

impl Grow for Wallet {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let plan = (index < base.shape().companies).then(|| base.plan(index))?;
        let created_at = base.first_day().midnight().plus_millis(index as i64);
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(index),
            status: WalletStatus::Active,
            currency: plan.currency,
            balances: Balances::default(),
            created_at,
            updated_at: created_at,
            metadata: Metadata::default(),
            status_history: vec![StatusChange::plain(WalletStatus::Active, created_at)],
        })
    }
}

/// The most employees that a run of history lists: a list of runs could otherwise have a hundred megabytes.
const MOST_NAMED: u64 = 1_000;

/// The times of the steps of a run of history.
struct RunTimes {
    created: Timestamp,
    approved: Timestamp,
    funded: Timestamp,
    paid: Timestamp,
}

impl RunTimes {
    fn of(base: &Base, month: u64, nth: u64) -> Self {
        let later = |day: Date, hour| day.at_hour(hour).plus_millis(nth as i64);
        let pay_date = pay_date(base.period(month));
        Self {
            created: later(base.period(month).first_day(), 9),
            approved: later(pay_date.minus_business_days(2), 9),
            funded: later(pay_date.minus_business_days(1), 9),
            paid: later(arrival(pay_date), 10),
        }
    }
}

impl Grow for PayrollRun {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let (month, company) =
            (index < base.count(Kind::PayrollRun)).then(|| base.run_place(index))?;
        let plan = base.plan(company);
        let history = base.history_at(company);
        let paid = &history.payroll.months[month as usize];
        let times = RunTimes::of(base, month, company);
        let size = base.shape().employees_per_company;
        let named = if history.payroll.head_count > MOST_NAMED { 0 } else { size };
        let paid_people =
            (0..named).filter(|&e| plan.workforce.chooses(Selection::PAID_IN_HISTORY, e));
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
            period: base.period(month),
            kind: RunType::Regular,
            status: RunStatus::Paid,
            employees: Arc::new(paid_people.map(|e| base.id_at(company * size + e)).collect()),
            employee_count: history.payroll.head_count,
            pay_date: paid.pay_date,
            currency: plan.currency,
            totals: Some(paid.totals),
            funding: Some(Funding {
                wallet_id: base.id_at(company),
                required: paid.totals.employer_cost,
                reserved: paid.totals.employer_cost,
                platform_fee: 0,
                shortfall: 0,
            }),
            settlement: Settlement { paid: history.payroll.head_count, failed: 0, pending: 0 },
            blockers: Vec::new(),
            warnings: Arc::default(),
            inputs: Arc::default(),
            notes: None,
            reverses: None,
            reversed_by: Vec::new(),
            created_at: times.created,
            updated_at: times.paid,
            metadata: Metadata::default(),
            status_history: steps.map(|(status, at)| StatusChange::plain(status, at)).to_vec(),
        })
    }
}

/// The common data of items, payslips and salary payouts of history.
struct PaidPerson {
    month: u64,
    company: u64,
    employee: u64,
    run: u64,
    plan: Plan,
    face: Face,
    calculation: Arc<crate::model::business::calculation::Calculation>,
    times: RunTimes,
}

impl PaidPerson {
    fn find(base: &Base, month: u64, company: u64, employee: u64) -> Option<Self> {
        let plan = base.plan(company);
        if !plan.workforce.chooses(Selection::PAID_IN_HISTORY, employee) {
            return None;
        }
        let face = face(&plan, employee);
        let history = base.history_at(company);
        let calculation = Arc::clone(history.payroll.calculation(face.place, month)?);
        let times =
            RunTimes::of(base, month, company * base.shape().employees_per_company + employee);
        Some(Self {
            month,
            company,
            employee,
            run: base.run(month, company),
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
        let (month, company) = base.run_place(run);
        Self::find(base, month, company, employee)
    }

    fn name(&self) -> String {
        format!("{} {}", self.face.first, self.face.last)
    }
}

impl Grow for PayrollItem {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let paid = PaidPerson::of_item(base, index)?;
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
            period: base.period(paid.month),
            status: ItemStatus::Paid,
            currency: paid.plan.currency,
            fx: None,
            payout_id: Some(base.id_at(base.salary_payout(
                paid.month,
                paid.company,
                paid.employee,
            ))),
            payslip_id: Some(base.id_at(index)),
            failure: None,
            created_at: paid.times.created,
            status_history: steps.map(|(status, at)| StatusChange::plain(status, at)).to_vec(),
            calculation: paid.calculation,
        })
    }
}

impl Grow for Payslip {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let paid = PaidPerson::of_item(base, index)?;
        Some(Self {
            id: base.id_at(index),
            company_id: base.id_at(paid.company),
            employee_id: base
                .id_at(paid.company * base.shape().employees_per_company + paid.employee),
            employee_name: paid.name().into(),
            payroll_run_id: base.id_at(paid.run),
            payroll_item_id: base.id_at(index),
            status: PayslipStatus::Issued,
            period: base.period(paid.month),
            pay_date: pay_date(base.period(paid.month)),
            currency: paid.plan.currency,
            created_at: paid.times.paid,
            calculation: paid.calculation,
            changes: Vec::new(),
        })
    }
}

impl Grow for Payout {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        if index >= base.count(Kind::Payout) {
            return None;
        }
        match base.payout_place(index) {
            PayoutPlace::Salary { month, company, employee } => {
                Some(salary_payout(base, index, &PaidPerson::find(base, month, company, employee)?))
            }
            PayoutPlace::Vendor { month, company, vendor } => {
                vendor_payout(base, index, month, company, vendor)
            }
        }
    }
}

fn salary_payout(base: &Base, index: u64, paid: &PaidPerson) -> Payout {
    let account = accounts::bank_account(paid.plan.country, person_key(&paid.plan, paid.employee));
    let sent = pay_date(base.period(paid.month)).at_hour(9);
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
        estimated_arrival: None,
        recipient: Arc::new(Recipient::new(
            &paid.name(),
            account.bank_code.as_str(),
            &account.account_number,
        )),
        reference: format!("Salary {}", base.period(paid.month)),
        source: Some(base.any_at(Kind::PayrollItem, base.item(paid.run, paid.employee))),
        maker: None,
        approver: None,
        failure: None,
        supersedes: None,
        superseded_by: None,
        created_at: paid.times.funded,
        updated_at: paid.times.paid,
        metadata: Metadata::default(),
        status_history: steps.map(|(status, at)| StatusChange::plain(status, at)).to_vec(),
    }
}

fn vendor_payout(base: &Base, index: u64, month: u64, company: u64, vendor: u64) -> Option<Payout> {
    let plan = base.plan(company);
    let amount = base.history_at(company).vendor(month, vendor)?;
    let key = plan.key.with("vendor").at(vendor);
    let what: Cow<'static, str> = match vendor {
        0 => "Office rent".into(),
        _ => plan.industry.buys[key.below(plan.industry.buys.len() as u64) as usize].into(),
    };
    let supplier = identity::company(plan.country, plan.industry, key).legal_name;
    let account = accounts::bank_account(plan.country, key);
    let nth = base.run(0, company) as i64;
    let at = base.period(month).day(VENDOR_DAY).at_hour(9).plus_millis(nth);
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
        estimated_arrival: None,
        recipient: Arc::new(Recipient::new(
            &supplier,
            account.bank_code.as_str(),
            &account.account_number,
        )),
        reference: format!("{what} {}", base.period(month)),
        source: None::<AnyId>,
        maker: None,
        approver: None,
        failure: None,
        supersedes: None,
        superseded_by: None,
        created_at: at,
        updated_at: at,
        metadata: Metadata::default(),
        status_history: steps.map(|status| StatusChange::plain(status, at)).to_vec(),
    })
}
