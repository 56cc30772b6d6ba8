//! Exceptions from coverage, with their reasons.

/// Events that the document declares for an operation, and that cannot follow from it: operation, event, reason. The document adds
/// up everything that the clock may do after a call.
pub(super) const UNSEEN: &[(&str, &str, &str)] = &[
    ("runPayroll", "payslip.corrected", CORRECTIONS_ARE_DRAFTED),
    ("terminateEmployee", "payslip.corrected", CORRECTIONS_ARE_DRAFTED),
    ("createEmployee", "employee.compensation_changed", ONE_TIMER),
    ("createEmployee", "employee.updated", ONE_TIMER),
    ("updateEmployee", "employee.compensation_changed", ONE_TIMER),
    ("setEmployeeCompensation", "employee.updated", ONE_TIMER),
    (
        "createVerification",
        "subject.updated",
        "a case that was never submitted ends without a change of its subject",
    ),
    (
        "terminateEmployee",
        "payroll_run.partially_paid",
        "the run of an employee's last days has one item: it is paid, or it failed",
    ),
    (
        "sendInvoice",
        "collection.returned",
        "its collection is by bank transfer, which does not come back",
    ),
    (
        "sendInvoice",
        "invoice.reopened",
        "its collection is by bank transfer, which does not come back",
    ),
    (
        "sendInvoice",
        "mandate.revoked",
        "its collection is by bank transfer, which does not come back",
    ),
];

const ONE_TIMER: &str =
    "one timer waits for pay terms and tax attributes, and each operation sets only one of them";

const CORRECTIONS_ARE_DRAFTED: &str =
    "only a run of type correction corrects payslips, and only a draft can be one";

/// Arrows that only a tester walks: kind, from, to, reason.
pub(super) const BY_A_TESTER: &[(&str, &str, &str, &str)] = &[
    ("company", "active", "suspended", THE_PROVIDER_DECIDES),
    ("company", "suspended", "active", THE_PROVIDER_DECIDES),
    ("company", "pending", "closed", THE_PROVIDER_DECIDES),
    ("company", "active", "closed", THE_PROVIDER_DECIDES),
    ("company", "suspended", "closed", THE_PROVIDER_DECIDES),
];

const THE_PROVIDER_DECIDES: &str =
    "the provider suspends and closes companies: no call of theirs does";

/// States in which no resource is found between two calls: kind, state, reason.
pub(super) const NEVER_SHOWN: &[(&str, &str, &str)] =
    &[("payroll_run", "funding", "the wallet is debited or refuses in the same step")];

/// States that no situation shows, but a story does: kind, state, reason.
pub(super) const NO_SITUATION: &[(&str, &str, &str)] = &[(
    "payroll_verification",
    "cancelled",
    "a situation waits for the bank's reply, and only a running check is cancelled",
)];
