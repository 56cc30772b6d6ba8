//! The form of the file of an import, as `scenario::form` describes scenarios.
//!
//! The members of a company, a customer and an employee are those of the operation that creates one, so this module does not list them.

use crate::scenario::form::{Table, Takes, key, required};

/// The value of a cell whose mistake is reported: a reference, because the check leaves references out.
pub(super) const REPORTED: &str = "@ext:reported";

/// A file of an import.
pub(crate) static FILE: Table = Table {
    name: "an import",
    about: "Companies, people, customers and wallets of your own.",
    keys: &[
        key("title", Takes::Text, "A short title."),
        key("about", Takes::Text, "A description in sentences."),
        key(
            "scenario",
            Takes::List(&Takes::Text),
            "Shipped scenarios by name, or files relative to this one, whose rows decide for the outside world.",
        ),
        key("company", Takes::List(&Takes::Members), COMPANY.about),
        key("wallet", Takes::List(&Takes::Members), WALLET.about),
        key("customer", Takes::List(&Takes::Members), CUSTOMER.about),
        key("employee", Takes::List(&Takes::Members), EMPLOYEE.about),
        key("people", Takes::Rows(&PEOPLE), PEOPLE.about),
    ],
};

/// `[[people]]`.
pub(crate) static PEOPLE: Table = Table {
    name: "[[people]]",
    about: "Employees of a CSV file.",
    keys: &[
        required(
            "file",
            Takes::Text,
            "The CSV file, relative to this one. Its first line names the columns.",
        ),
        required(
            "columns",
            Takes::Each(&Takes::Text),
            "The column of each member, such as `name = \"Full name\"` or `\"compensation.amount\" = \"Salary\"`.",
        ),
        key("values", Takes::Members, "Members that are the same for all people of the file."),
        key("separator", Takes::Text, "The character between two cells. Default: a comma."),
        key(
            "amounts",
            Takes::Name(amounts),
            "Whether amounts are in `minor` units (default) or in `major` units such as 4500.00.",
        ),
    ],
};

/// How amounts of a CSV file are written.
pub(crate) const AMOUNTS: [&str; 2] = ["minor", "major"];

fn amounts() -> Vec<String> {
    AMOUNTS.map(str::to_owned).to_vec()
}

/// A kind of rows.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its key in the file.
    pub(crate) key: &'static str,
    /// Its name in messages.
    pub(crate) head: &'static str,
    pub(crate) about: &'static str,
    /// The operation whose members it has.
    pub(crate) operation: Option<&'static str>,
    /// The keys that it has in addition to these members.
    pub(crate) own: &'static [&'static str],
    /// The members of the operation that the import sets.
    pub(crate) set: &'static [&'static str],
}

/// `[[company]]`.
pub(crate) const COMPANY: Kind = Kind {
    key: "company",
    head: "[[company]]",
    about: "A company: `id`, and the members of `createCompany`.",
    operation: Some("createCompany"),
    own: &["id", "status", "address", "contact"],
    set: &[],
};

/// `[[wallet]]`.
pub(crate) const WALLET: Kind = Kind {
    key: "wallet",
    head: "[[wallet]]",
    about: "The opening balance of a company in one currency, in minor units.",
    operation: None,
    own: &["company", "currency", "balance"],
    set: &[],
};

/// `[[customer]]`.
pub(crate) const CUSTOMER: Kind = Kind {
    key: "customer",
    head: "[[customer]]",
    about: "A customer: `id`, and the members of `createSubject`.",
    operation: Some("createSubject"),
    own: &["id"],
    set: &["external_id"],
};

/// `[[employee]]`.
pub(crate) const EMPLOYEE: Kind = Kind {
    key: "employee",
    head: "[[employee]]",
    about: "An employee: `id`, `company`, and the members of `createEmployee`.",
    operation: Some("createEmployee"),
    own: &["id", "company", "status", "payroll_status"],
    set: &["company_id"],
};
