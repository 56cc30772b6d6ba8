//! The Business domain's resources: companies, people, payroll, tax and compliance.

pub(crate) mod authority;
pub(crate) mod calculation;
pub(crate) mod company;
pub(crate) mod compliance_requirement;
pub(crate) mod employee;
pub(crate) mod leave_request;
pub(crate) mod pay_abroad;
pub(crate) mod pay_extras;
pub(crate) mod pay_terms;
pub(crate) mod payroll_item;
pub(crate) mod payroll_run;
pub(crate) mod payroll_verification;
pub(crate) mod payslip;
pub(crate) mod regulatory_report;
pub(crate) mod tax_filing;
pub(crate) mod tax_liability;
pub(crate) mod tax_return;
