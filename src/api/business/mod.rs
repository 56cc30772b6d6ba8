//! The Business domain's operations.

pub(crate) mod accounting;
pub(crate) mod audit_logs;
pub(crate) mod brought_in;
pub(crate) mod cash_flow;
pub(crate) mod companies;
pub(crate) mod compliance;
pub(crate) mod employee_list;
pub(crate) mod employee_merge;
pub(crate) mod employee_page;
pub(crate) mod employee_pay;
pub(crate) mod employee_verbs;
pub(crate) mod employees;
pub(crate) mod figures;
mod journal_checks;
pub(crate) mod journal_entries;
pub(crate) mod leave;
pub(crate) mod leave_clock;
pub(crate) mod pay_terms;
pub(crate) mod payment_account;
pub(crate) mod payroll;
pub(crate) mod payroll_clock;
pub(crate) mod payroll_draft;
pub(crate) mod payroll_earlier;
pub(crate) mod payroll_funding;
pub(crate) mod payroll_pay;
pub(crate) mod payroll_payouts;
pub(crate) mod payroll_people;
pub(crate) mod payroll_retry;
pub(crate) mod payroll_reverse;
pub(crate) mod payroll_undo;
pub(crate) mod payroll_verbs;
pub(crate) mod payslip_pdf;
pub(crate) mod payslips;
pub(crate) mod regulatory_reports;
pub(crate) mod report_contents;
pub(crate) mod reports;
pub(crate) mod sales_tax;
pub(crate) mod tax_amend;
pub(crate) mod tax_clock;
pub(crate) mod tax_filings;
pub(crate) mod tax_liabilities;
pub(crate) mod tax_payment;
pub(crate) mod tax_submit;

#[cfg(test)]
mod tests;
