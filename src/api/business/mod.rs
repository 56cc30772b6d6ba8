//! The Business domain's operations.

pub(crate) mod accounting;
pub(crate) mod companies;
pub(crate) mod employee_list;
pub(crate) mod employees;
pub(crate) mod payroll;
pub(crate) mod payroll_clock;
pub(crate) mod payslips;
pub(crate) mod reports;
