//! What cannot be seen, with why.

/// Declared to follow from an operation, since what follows is added up over the rows of timers, and cannot: operation, event, why.
pub(super) const UNSEEN: &[(&str, &str, &str)] = &[
    ("run_payroll", "payslip.corrected", CORRECTIONS_ARE_DRAFTED),
    ("terminate_employee", "payslip.corrected", CORRECTIONS_ARE_DRAFTED),
    (
        "terminate_employee",
        "payroll_run.partially_paid",
        "the run of an employee's last days has one item: it is paid, or it failed",
    ),
];

const CORRECTIONS_ARE_DRAFTED: &str =
    "only a run of type correction corrects payslips, and only a draft can be one";
/// Arrows that only a tester's hand walks: kind, from, to, why.
pub(super) const BY_HAND: &[(&str, &str, &str, &str)] = &[
    ("company", "active", "suspended", THE_HOUSE_DECIDES),
    ("company", "suspended", "active", THE_HOUSE_DECIDES),
    ("company", "pending", "closed", THE_HOUSE_DECIDES),
    ("company", "active", "closed", THE_HOUSE_DECIDES),
    ("company", "suspended", "closed", THE_HOUSE_DECIDES),
];

const THE_HOUSE_DECIDES: &str =
    "whoever runs the service suspends and closes companies: no call of theirs does";

/// States that nothing is found in between two calls: kind, state, why.
pub(super) const NEVER_SHOWN: &[(&str, &str, &str)] =
    &[("payroll_run", "funding", "the wallet is asked and answers in one step")];
