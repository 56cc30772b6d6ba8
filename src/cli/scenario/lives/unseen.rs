//! What cannot be seen, with why.

/// Declared to follow from an operation, since what follows is added up over the system rows, and cannot: operation, event, why.
pub(super) const UNSEEN: &[(&str, &str, &str)] = &[
    ("run_payroll", "payslip.corrected", CORRECTIONS_ARE_DRAFTED),
    (
        "terminate_employee",
        "payslip.corrected",
        CORRECTIONS_ARE_DRAFTED,
    ),
    (
        "terminate_employee",
        "payroll_run.partially_paid",
        "the run of an employee's last days has one item: it is paid, or it failed",
    ),
    ("create_collection", "escrow.released", COLLECTED),
    ("create_collection", "payout.created", COLLECTED),
    ("create_collection", "payout.failed", COLLECTED),
    ("create_collection", "payout.on_hold", COLLECTED),
    ("create_collection", "payout.paid", COLLECTED),
    ("create_collection", "payout.processing", COLLECTED),
    ("create_collection", "payout.returned", COLLECTED),
    ("create_collection", "payout.sent", COLLECTED),
    ("send_invoice", "escrow.released", COLLECTED),
    ("send_invoice", "payout.created", COLLECTED),
    ("send_invoice", "payout.failed", COLLECTED),
    ("send_invoice", "payout.on_hold", COLLECTED),
    ("send_invoice", "payout.paid", COLLECTED),
    ("send_invoice", "payout.processing", COLLECTED),
    ("send_invoice", "payout.returned", COLLECTED),
    ("send_invoice", "payout.sent", COLLECTED),
    (
        "send_invoice",
        "collection.requires_action",
        "an invoice asks for a bank transfer, and only a phone is prompted",
    ),
    ("dispute_escrow", "wallet.debited", HELD),
    ("dispute_escrow", "wallet.low_balance", HELD),
];

const CORRECTIONS_ARE_DRAFTED: &str =
    "only a run of type correction corrects payslips, and only a draft can be one";
const COLLECTED: &str = "what is disputed was collected, and no escrow holds it";
const HELD: &str = "what is disputed is held by the escrow, and not in the wallet";

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

/// Arrows that nothing walks yet: kind, from, to, why.
pub(super) const UNWALKED: &[(&str, &str, &str, &str)] = &[
    ("payroll_run", "funding", "cancelled", NEVER_SEEN_IN_IT),
    ("wallet", "active", "frozen", NOTHING_FREEZES),
    ("wallet", "frozen", "active", NOTHING_FREEZES),
];

const NEVER_SEEN_IN_IT: &str = "funding and its end are one step";
const NOTHING_FREEZES: &str = "nothing freezes a wallet";
