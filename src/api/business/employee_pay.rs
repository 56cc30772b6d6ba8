//! What has to stand before wages are paid to somebody: pay terms, an account, and the checks of both.
//!
//! The bank is asked when a check begins and answers half a minute later. Deliberately absent: allowances and deductions of
//! one employee, and pay terms that begin on a day that lies ahead.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::business::employee_verbs::{enter_payroll, not_ahead};
use crate::api::business::employees::{CompensationInput, compensation};
use crate::api::business::payment_account::{PaymentMethodInput, payment_method};
use crate::api::crud::show;
use crate::api::operation::{Contract, Domain, Method, Operation, operation};
use crate::api::reply::{Data, Shown};
use crate::model::AnyId;
use crate::model::business::employee::{Employee, EmployeeStatus, PayrollStatus};
use crate::model::business::payroll_verification::{
    BankAnswer, Check, CheckName, PayrollVerification, VerificationStatus,
};
use crate::model::decision::BANK_ACCOUNT_CHECK;
use crate::model::lifecycle::{Stateful, StatusChange, refused, step};
use crate::model::task::Task;
use crate::value::error::{ApiError, ErrorCode};
use crate::value::id::Id;
use crate::value::time::{Date, Span};
use crate::world::World;
use crate::world::decide::Answer;

/// From the request to the answers, unless the outside world takes longer.
const CHECKS: Span = Span::seconds(30);

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Put,
        path: "/api/business/employees/{employee_id}/compensation",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Set an employee's pay terms",
        description: "Replaces them. Runs calculated from now on use them; what was calculated stays.",
        example: r#"{"amount":52000000,"currency":"NGN","interval":"month"}"#,
        errors: &[
            ErrorCode::CurrencyMismatch,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &["employee.compensation_changed"],
        ..operation!(write set_employee_compensation)
    },
    Operation {
        method: Method::Put,
        path: "/api/business/employees/{employee_id}/payment-method",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Set the account that wages go to",
        description: "Code and number are held to the rules of the employee's country. `payroll_status` is `pending` and the checks \
            begin by themselves, as by `verifyEmployeePayroll`. The reserved numbers `9999999900` to `9999999999` are taken \
            everywhere: they pass the check, and choose what becomes of a payout.",
        example: r#"{"type":"bank","bank_code":"058","account_number":"9999999900"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &[
            "employee.payment_method_updated",
            "employee.payroll_status_changed",
        ],
        starts: &["finish_verification"],
        ..operation!(write set_employee_payment_method)
    },
    Operation {
        method: Method::Post,
        path: "/api/business/employees/{employee_id}/verify-payroll",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Verify an employee for payroll",
        description: "Asks the bank whether the account is open and its holder's name is the employee's, and looks for a tax number \
            and pay terms. The answers come after 30 seconds: `payroll_status` is `verified` if every check passed, else `failed`.",
        success: 202,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["employee.payroll_status_changed"],
        starts: &["finish_verification"],
        ..operation!(write verify_employee_payroll)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/payroll-verifications/{payroll_verification_id}",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Read a payroll verification",
        description: "Each check, and why it failed if so.",
        ..operation!(read get_payroll_verification)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SetCompensation {
    /// The employee.
    employee_id: Id<Employee>,
    #[serde(flatten)]
    terms: CompensationInput,
    /// The first day it applies to, not after today; today if absent. Nothing is paid in arrears for days before.
    effective_from: Option<Date>,
}

fn set_employee_compensation(
    world: &mut World,
    input: SetCompensation,
) -> Result<Data<Shown<Employee>>, ApiError> {
    let mut employee = (*world.get(input.employee_id)?).clone();
    let effective_from = input.effective_from.unwrap_or_else(|| world.today());
    not_ahead(world, "/effective_from", effective_from)?;
    let company = world.get(employee.company_id)?;
    let terms = compensation(&company, &input.terms, effective_from, "/currency")?;
    if employee.status == EmployeeStatus::Terminated {
        let detail = "the employment has ended: its pay terms stay as they were".to_owned();
        return Err(refused(employee.id, employee.status, detail));
    }
    employee.compensation = Some(terms);
    employee.updated_at = world.now();
    let employee = world.record("employee.compensation_changed", employee);
    Ok(Data(Shown(employee)))
}

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
) -> Result<Data<Shown<Employee>>, ApiError> {
    let mut employee = (*world.get(input.employee_id)?).clone();
    let method = payment_method(&employee.country, input.method, &employee.name, "")?;
    next(&employee, "set_payment_method")?;
    employee.payment_method = Some(method);
    employee.updated_at = world.now();
    let employee = Arc::new(employee);
    cancel_check(world, employee.id);
    world.put(&employee);
    let (employee, _) = if employee.payroll_status == PayrollStatus::Pending {
        let verification = begin_check(world, &employee);
        world.emit("employee.payment_method_updated", &employee);
        (employee, verification)
    } else {
        world.emit("employee.payment_method_updated", &employee);
        begin(world, &employee)
    };
    Ok(Data(Shown(employee)))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct VerifyPayroll {
    /// The employee.
    employee_id: Id<Employee>,
}

fn verify_employee_payroll(
    world: &mut World,
    input: VerifyPayroll,
) -> Result<Data<Shown<PayrollVerification>>, ApiError> {
    let employee = world.get(input.employee_id)?;
    next(&employee, "verify")?;
    Ok(Data(Shown(begin(world, &employee).1)))
}

fn next(employee: &Employee, verb: &str) -> Result<PayrollStatus, ApiError> {
    step(
        verb,
        "payroll of the employee",
        employee.id,
        employee.payroll_status,
    )
}

/// The employee is `pending`, and the checks run.
fn begin(world: &mut World, employee: &Arc<Employee>) -> (Arc<Employee>, Arc<PayrollVerification>) {
    let verification = begin_check(world, employee);
    let employee = enter_payroll(world, employee, PayrollStatus::Pending, None);
    (employee, verification)
}

/// Stages the checks: the event of whoever calls seals them.
fn begin_check(world: &mut World, employee: &Employee) -> Arc<PayrollVerification> {
    let (answer, after) = match ask_bank(world, employee) {
        Some(answer) => (Some(BankAnswer::of(answer.choice)), answer.after),
        None => (None, None),
    };
    let now = world.now();
    let checks = [
        CheckName::BankAccount,
        CheckName::TaxId,
        CheckName::Compensation,
    ];
    let verification = Arc::new(PayrollVerification {
        id: world.next_id(employee.id.bits()),
        company_id: employee.company_id,
        employee_id: employee.id,
        status: VerificationStatus::Pending,
        checks: checks.map(Check::pending).to_vec(),
        answer,
        created_at: now,
        status_history: vec![StatusChange::plain(VerificationStatus::Pending, now)],
    });
    world.put(&verification);
    world.settle_after(
        after.unwrap_or(CHECKS),
        Task::FinishVerification(verification.id),
    );
    verification
}

/// The bank's answer, if there is an account to ask about. It compares names, so another holder than the employee is a
/// mismatch unless somebody says otherwise.
fn ask_bank(world: &mut World, employee: &Employee) -> Option<Answer> {
    let account = employee.payment_method.as_ref()?;
    let stranger = folded(&account.account_name) != folded(&employee.name);
    let by_name = stranger.then(|| {
        let answer = Answer::plain(&BANK_ACCOUNT_CHECK, "name_mismatch");
        (answer, "account_name".to_owned())
    });
    Some(world.decide(&BANK_ACCOUNT_CHECK, AnyId::of(employee.id), by_name))
}

/// A name as banks compare it: without case, punctuation and double spaces.
fn folded(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Stages the end of the employee's running check, if there is one: its answer no longer matters.
pub(crate) fn cancel_check(world: &mut World, employee: Id<Employee>) {
    let last = world
        .children::<PayrollVerification>(employee.bits())
        .next_back()
        .and_then(|id| world.find(id));
    let Some(last) = last.filter(|last| last.status == VerificationStatus::Pending) else {
        return;
    };
    let mut last = (*last).clone();
    last.enter(VerificationStatus::Cancelled, world.now());
    world.keep(last);
}

/// The answers have come: the employee is verified, or not.
pub(crate) fn finish_verification(world: &mut World, id: Id<PayrollVerification>) {
    let found = "a check is set for what exists, and nothing is deleted";
    let mut verification = (*world.find(id).expect(found)).clone();
    if verification.status != VerificationStatus::Pending {
        return; // overtaken meanwhile
    }
    let employee = world.find(verification.employee_id).expect(found);
    let missing = |present: bool, detail| {
        if present {
            Ok(())
        } else {
            Err(("missing", detail))
        }
    };
    let account = match verification.answer {
        Some(answer) => answer.result(),
        None => missing(
            false,
            "no payment method is set: setEmployeePaymentMethod sets one",
        ),
    };
    let tax_id = missing(
        employee.tax_id.is_some(),
        "no tax number is on record: updateEmployee takes a tax_id",
    );
    let pay = missing(
        employee.compensation.is_some(),
        "no pay terms are set: setEmployeeCompensation sets them",
    );
    let passed = account.is_ok() && tax_id.is_ok() && pay.is_ok();
    verification.checks = vec![
        Check::finished(CheckName::BankAccount, account),
        Check::finished(CheckName::TaxId, tax_id),
        Check::finished(CheckName::Compensation, pay),
    ];
    let (status, payroll) = if passed {
        (VerificationStatus::Verified, PayrollStatus::Verified)
    } else {
        (VerificationStatus::Failed, PayrollStatus::Failed)
    };
    verification.enter(status, world.now());
    world.record("bank_account_verification.completed", verification);
    enter_payroll(world, &employee, payroll, None);
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneVerification {
    /// The verification.
    payroll_verification_id: Id<PayrollVerification>,
}

fn get_payroll_verification(
    world: &World,
    input: OneVerification,
) -> Result<Data<Shown<PayrollVerification>>, ApiError> {
    show(world, input.payroll_verification_id)
}
