//! A payroll verification: the checks that an employee must pass before wages can be paid.

use crate::model::business::Employee;
use crate::model::prelude::*;

states! {
    /// Result of the checks. `cancelled` means that a newer verification or the end of the employment replaced it.
    VerificationStatus { Pending "pending", Verified "verified", Failed "failed", Cancelled "cancelled" }
    "pass": Pending => Verified;
    "fail": Pending => Failed;
    "cancel": Pending => Cancelled;
}

/// The name of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PayrollCheckName")]
pub(crate) enum CheckName {
    /// The bank confirms that the account exists, is open, and belongs to the employee.
    BankAccount,
    /// The employee's tax number is on record.
    TaxId,
    /// The employee has pay terms.
    Compensation,
}

impl CheckName {
    /// Every check, in display order.
    pub(crate) const ALL: [Self; 3] = [Self::BankAccount, Self::TaxId, Self::Compensation];
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PayrollCheckStatus")]
pub(crate) enum CheckStatus {
    Pending,
    Passed,
    Failed,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PayrollCheck")]
pub(crate) struct Check {
    /// The name of the check.
    pub(crate) name: CheckName,
    /// The result of the check.
    pub(crate) status: CheckStatus,
    /// Error code if the check failed: `name_mismatch`, `account_closed`, `account_not_found`, `missing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<Cow<'static, str>>,
    /// Description of the result in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<Cow<'static, str>>,
}

impl Check {
    /// A check without a result yet.
    pub(crate) const fn pending(name: CheckName) -> Self {
        Self { name, status: CheckStatus::Pending, code: None, detail: None }
    }

    /// A finished check. An error contains its code and a sentence.
    pub(crate) fn finished(
        name: CheckName,
        result: Result<(), (&'static str, &'static str)>,
    ) -> Self {
        let (status, fault) = match result {
            Ok(()) => (CheckStatus::Passed, None),
            Err(fault) => (CheckStatus::Failed, Some(fault)),
        };
        Self {
            name,
            status,
            code: fault.map(|(code, _)| Cow::Borrowed(code)),
            detail: fault.map(|(_, detail)| Cow::Borrowed(detail)),
        }
    }
}

/// The bank's answer about an account. It is decided when the request is sent, and known when the bank answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BankAnswer {
    Match,
    NameMismatch,
    AccountClosed,
    AccountNotFound,
}

impl BankAnswer {
    /// The answer for a choice of `bank_account.check`.
    pub(crate) fn of(choice: &str) -> Self {
        match choice {
            "match" => Self::Match,
            "name_mismatch" => Self::NameMismatch,
            "account_closed" => Self::AccountClosed,
            "account_not_found" => Self::AccountNotFound,
            other => unreachable!("bank_account.check has no choice {other}"),
        }
    }

    /// The result of the check for this answer.
    pub(crate) const fn result(self) -> Result<(), (&'static str, &'static str)> {
        match self {
            Self::Match => Ok(()),
            Self::NameMismatch => Err((
                "name_mismatch",
                "the account is open but the holder's name is not the employee's name",
            )),
            Self::AccountClosed => Err(("account_closed", "the account is closed")),
            Self::AccountNotFound => Err((
                "account_not_found",
                "the bank does not know this \
                account",
            )),
        }
    }
}

/// One employee's checks, as stored in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PayrollVerification {
    pub(crate) id: Id<PayrollVerification>,
    pub(crate) company_id: Id<Company>,
    pub(crate) employee_id: Id<Employee>,
    pub(crate) status: VerificationStatus,
    pub(crate) checks: Vec<Check>,
    /// The bank's answer, which callers see when it arrives. `None` without an account to check.
    pub(crate) answer: Option<BankAnswer>,
    pub(crate) created_at: Timestamp,
    pub(crate) status_history: StatusHistory<VerificationStatus>,
}

stateful!(PayrollVerification: VerificationStatus, without updated_at);

shown! {
    /// The checks that an employee must pass before wages can be paid.
    #[schemars(rename = "PayrollVerification")]
    PayrollVerificationShape<'a> of PayrollVerification, |it| {
        /// The employer.
        company_id: Id<Company>;
        /// The employee.
        employee_id: Id<Employee>;
        /// Result of the checks: `verified` if all passed.
        status: VerificationStatus;
        /// The checks with their results.
        checks: &'a [Check] = &it.checks;
        /// When it was created, in virtual time.
        created_at: Timestamp;
        /// When it last changed, in virtual time.
        updated_at: Timestamp = it.status_history.last().map_or(it.created_at, |change| change.at);
        /// Always empty: calls on the employee create verifications.
        metadata: Cow<'a, Metadata> = Cow::Owned(Metadata::default());
        /// Every status the resource has had, oldest first.
        status_history: &'a [StatusChange<VerificationStatus>] = &it.status_history;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::decision::BANK_ACCOUNT_CHECK;

    #[test]
    fn every_choice_of_the_bank_is_an_answer() {
        let failed = BANK_ACCOUNT_CHECK
            .choices
            .iter()
            .filter(|choice| BankAnswer::of(choice.name).result().is_err());
        assert_eq!(failed.count(), BANK_ACCOUNT_CHECK.choices.len() - 1);
    }
}
