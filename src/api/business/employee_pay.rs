//! Requirements for paying wages other than pay terms: the account, and the payroll verification.
//!
//! The request to the bank is sent when a check starts, and the answer arrives half a minute later.

use crate::api::business::employee_verbs::{enter_payroll, verify_payroll};
use crate::api::business::payment_account::{PaymentMethodInput, payment_method};
use crate::api::identity::alert_facts;
use crate::api::prelude::*;
use crate::model::business::payroll_verification::{Check, CheckName, CheckStatus};
use crate::model::business::{BankAnswer, PayrollStatus, PayrollVerification, VerificationStatus};
use crate::model::decision::BANK_ACCOUNT_CHECK;
use crate::model::task::Task;
use crate::world::decided::DecisionAnswer;

/// From the request to the answers, unless the decision sets another delay.
const CHECKS: Span = Span::seconds(30);

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        method: Method::Put,
        path: "/api/business/employees/{employee_id}/payment-method",
        summary: "Set the account for wages",
        description: "Sets the account that receives the employee's wages. Bank code and number \
            must be valid in the employee's country. `payroll_status` becomes `pending`, and the \
            checks of `verifyEmployeePayroll` start automatically. With `splits`, other accounts \
            receive a part of each net pay, and this account receives the rest. The reserved numbers \
            `9999999900` to `9999999999` are accepted in every country: they pass the check, and \
            choose the result of a payout.",
        example: r#"{"type":"bank","bank_code":"058","account_number":"9999999900"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["employee.payment_method_updated", "employee.payroll_status_changed"],
        starts: &[TaskKind::FinishVerification],
        ..operation!(write set_employee_payment_method)
    },
    Operation {
        path: "/api/business/employees/{employee_id}/verify-payroll",
        summary: "Verify an employee for payroll",
        description: "Starts three checks: the bank account is open and belongs to the employee, a \
            tax number exists, and pay terms exist. `checks` selects some of them. After 30 \
            seconds `payroll_status` is `verified` if every check passed, otherwise `failed`. A \
            confirmed alert about the employee prevents the verification (409).",
        success: 202,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["employee.payroll_status_changed"],
        starts: &[TaskKind::FinishVerification],
        ..operation!(write verify_employee_payroll)
    },
    Operation {
        path: "/api/business/payroll-verifications/{payroll_verification_id}",
        summary: "Read a payroll verification",
        description: "Returns the result of each check, with the reason for a failure.",
        ..operation!(get get_payroll_verification: PayrollVerification)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SetPaymentMethod {
    /// The employee.
    employee_id: Id<Employee>,
    #[serde(flatten)]
    method: PaymentMethodInput,
}

fn set_employee_payment_method(
    world: &mut World,
    input: SetPaymentMethod,
) -> Result<Single<Employee>> {
    let mut employee = (*world.get(input.employee_id)?).clone();
    let method = payment_method(&employee.country, input.method, &employee.name, "")?;
    next(&employee, "set_payment_method")?;
    employee.payment_method = Some(Arc::new(method));
    employee.updated_at = world.now();
    let employee = Arc::new(employee);
    cancel_check(world, employee.id);
    world.put(&employee);
    let (employee, _) = if employee.payroll_status == PayrollStatus::Pending {
        let verification = begin_check(world, &employee, &CheckName::ALL);
        world.emit("employee.payment_method_updated", &employee);
        (employee, verification)
    } else {
        world.emit("employee.payment_method_updated", &employee);
        begin(world, &employee, &CheckName::ALL)
    };
    Ok(Data(Shown(employee)))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct VerifyPayroll {
    /// The employee.
    employee_id: Id<Employee>,
    /// The checks to run, each at most once. Default: all. A check that is not run does not prevent `verified`.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    checks: Option<Vec<CheckName>>,
}

fn verify_employee_payroll(
    world: &mut World,
    input: VerifyPayroll,
) -> Result<Single<PayrollVerification>> {
    let employee = world.get(input.employee_id)?;
    next(&employee, "verify")?;
    let checks = input.checks.as_deref().unwrap_or(&CheckName::ALL);
    Ok(Data(Shown(verify(world, &employee, checks)?)))
}

/// Starts those checks, unless a confirmed alert keeps the employee's wages on hold.
pub(crate) fn verify(
    world: &mut World,
    employee: &Arc<Employee>,
    checks: &[CheckName],
) -> Result<Arc<PayrollVerification>> {
    if let Some(alert) = alert_facts::holding_pay(world, employee) {
        let detail = format!("{} about the employee is confirmed: wages stay on hold", alert.id);
        return Err(refused(employee.id, employee.payroll_status, detail));
    }
    Ok(begin(world, employee, checks).1)
}

fn next(employee: &Employee, verb: &str) -> Result<PayrollStatus> {
    step(verb, "the payroll_status of the employee", employee.id, employee.payroll_status)
}

/// Sets the employee to `pending` and starts the checks.
fn begin(
    world: &mut World,
    employee: &Arc<Employee>,
    checks: &[CheckName],
) -> (Arc<Employee>, Arc<PayrollVerification>) {
    let verification = begin_check(world, employee, checks);
    let employee = enter_payroll(world, employee, PayrollStatus::Pending, None);
    (employee, verification)
}

/// Stages the checks. The caller's event seals them.
fn begin_check(
    world: &mut World,
    employee: &Employee,
    checks: &[CheckName],
) -> Arc<PayrollVerification> {
    let asked = checks.contains(&CheckName::BankAccount);
    let answer = asked.then(|| ask_bank(world, employee)).flatten();
    let (answer, after) = match answer {
        Some(answer) => (Some(BankAnswer::of(answer.choice)), answer.after),
        None => (None, None),
    };
    let now = world.now();
    let checks = CheckName::ALL.iter().filter(|name| checks.contains(name));
    let verification = Arc::new(PayrollVerification {
        id: world.next_id(employee.id.bits()),
        company_id: employee.company_id,
        employee_id: employee.id,
        status: VerificationStatus::Pending,
        checks: checks.map(|name| Check::pending(*name)).collect(),
        answer,
        created_at: now,
        status_history: [StatusChange::plain(VerificationStatus::Pending, now)].into(),
    });
    world.put(&verification);
    world.settle_after(after.unwrap_or(CHECKS), Task::FinishVerification(verification.id));
    verification
}

/// The bank's answer; `None` without an account to check. Without a decision, a holder name that differs from the
/// employee's is a mismatch.
fn ask_bank(world: &mut World, employee: &Employee) -> Option<DecisionAnswer> {
    let mut accounts = employee.payment_method.as_ref()?.accounts();
    let own = folded(&employee.name);
    let stranger = accounts.any(|account| folded(&account.account_name) != own);
    let by_name = stranger.then(|| {
        let answer = DecisionAnswer::plain(&BANK_ACCOUNT_CHECK, "name_mismatch");
        (answer, "account_name".to_owned())
    });
    Some(world.decide(&BANK_ACCOUNT_CHECK, AnyId::of(employee.id), by_name))
}

/// A name as banks compare it: without case, punctuation and double spaces.
fn folded(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Stages the end of the employee's running check, if any: its answer no longer matters.
pub(crate) fn cancel_check(world: &mut World, employee: Id<Employee>) {
    let last = world
        .children::<PayrollVerification>(employee.bits())
        .next_back()
        .and_then(|id| world.find(id));
    let Some(last) = last.filter(|last| last.status == VerificationStatus::Pending) else { return };
    let mut last = (*last).clone();
    last.enter(VerificationStatus::Cancelled, world.now());
    world.stage(last);
}

/// The answers have arrived: the employee is verified, or not.
pub(crate) fn finish_verification(world: &mut World, id: Id<PayrollVerification>) {
    let found = "timers are set for existing checks, and nothing is deleted";
    let mut verification = (*world.find(id).expect(found)).clone();
    if verification.status != VerificationStatus::Pending {
        return; // another check has replaced it in the meantime
    }
    let employee = world.find(verification.employee_id).expect(found);
    let results = verification.checks.iter().map(|check| {
        let result = result_of(check.name, verification.answer, &employee);
        Check::finished(check.name, result)
    });
    verification.checks = results.collect();
    let mut checks = verification.checks.iter();
    let passed = checks.all(|check| check.status == CheckStatus::Passed);
    let status = if passed { VerificationStatus::Verified } else { VerificationStatus::Failed };
    verification.enter(status, world.now());
    world.record("bank_account_verification.completed", verification);
    if passed {
        verify_payroll(world, &employee);
    } else {
        enter_payroll(world, &employee, PayrollStatus::Failed, None);
    }
}

/// Finishes a check with a result: by the bank's answer that waits, if it leads there, or by another answer. Without a bank account no
/// answer passes.
pub(crate) fn finish_as(world: &mut World, id: Id<PayrollVerification>, passes: bool) {
    let Some(verification) = world.find(id) else { return };
    let Some(employee) = world.find(verification.employee_id) else { return };
    if would_pass(&verification, &employee) != passes {
        let mut verification = (*verification).clone();
        let answer = if passes { BankAnswer::Match } else { BankAnswer::NameMismatch };
        verification.answer = verification.answer.map(|_| answer);
        world.stage(verification);
    }
    finish_verification(world, id);
}

fn would_pass(verification: &PayrollVerification, employee: &Employee) -> bool {
    let mut checks = verification.checks.iter();
    checks.all(|check| result_of(check.name, verification.answer, employee).is_ok())
}

/// The result of a check: an error is its code and its sentence.
fn result_of(
    check: CheckName,
    answer: Option<BankAnswer>,
    employee: &Employee,
) -> Result<(), (&'static str, &'static str)> {
    let (present, detail) = match (check, answer) {
        (CheckName::BankAccount, Some(answer)) => return answer.result(),
        (CheckName::BankAccount, None) => {
            (false, "no payment method is set: set one with setEmployeePaymentMethod")
        }
        (CheckName::TaxId, _) => (
            employee.tax_id.is_some(),
            "no tax number is on record: set tax_id with \
                updateEmployee",
        ),
        (CheckName::Compensation, _) => (
            employee.compensation.is_some(),
            "no pay terms are set: set them with setEmployeeCompensation",
        ),
    };
    if present { Ok(()) } else { Err(("missing", detail)) }
}
