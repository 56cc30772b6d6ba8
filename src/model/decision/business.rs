//! Decisions about payroll runs, bank accounts of employees, tax offices and the regulator.

use crate::model::Kind;
use crate::model::decision::choice::{Decision, choice};

/// The calculation of a run, from request to result.
pub(crate) static RUN_CALCULATE: Decision = Decision {
    name: "payroll_run.calculate",
    about: "How long the calculation of a run takes",
    subject: Kind::PayrollRun,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("on_time", "after two seconds"),
        choice("delayed", "after more than two seconds")
            .after("from the request to the result; default ten minutes"),
    ],
};

/// Whether the company's bank releases the run's money.
pub(crate) static RUN_FUND: Decision = Decision {
    name: "payroll_run.fund",
    about: "Whether the company's bank releases the money for an approved run",
    subject: Kind::PayrollRun,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("funded", "the money is reserved"),
        choice(
            "insufficient_funds",
            "the bank reports insufficient funds; the run waits in funding_failed",
        ),
        choice("delayed", "the money is reserved late")
            .after("from the cut-off to the reservation; default one business day"),
    ],
};

/// Whether an employee's bank account passes the check.
pub(crate) static BANK_ACCOUNT_CHECK: Decision = Decision {
    name: "bank_account.check",
    about: "What the bank answers when an employee's account is checked",
    subject: Kind::Employee,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("match", "the account is open and the name is the employee's")
            .after("from the request to the answer; default 30 seconds"),
        choice("name_mismatch", "the account is open but belongs to another person")
            .after("from the request to the answer; default 30 seconds"),
        choice("account_closed", "the account is closed")
            .after("from the request to the answer; default 30 seconds"),
        choice("account_not_found", "the bank does not know this account")
            .after("from the request to the answer; default 30 seconds"),
    ],
};

/// The tax office's answer to a tax filing.
pub(crate) static TAX_OFFICE: Decision = Decision {
    name: "tax_filing.reply",
    about: "What the tax office answers to a submitted tax filing",
    subject: Kind::TaxFiling,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("accepted", "acknowledged after an hour, accepted two business days later")
            .after("from the acknowledgement to the answer; default two business days"),
        choice("rejected", "the filing must be amended; payments are kept")
            .after("from the acknowledgement to the answer; default two business days"),
        choice("delayed", "acknowledged late, then accepted")
            .after("from the submission to the acknowledgement; default one business day"),
    ],
};

/// A regulator's answer to a report.
pub(crate) static REGULATOR: Decision = Decision {
    name: "regulator.reply",
    about: "What the regulator answers to a submitted report",
    subject: Kind::RegulatoryReport,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("accepted", "acknowledged on the next business day")
            .after("from the submission to the answer; default one business day"),
        choice("rejected", "rejected; the report may be submitted again")
            .after("from the submission to the answer; default one business day"),
    ],
};
