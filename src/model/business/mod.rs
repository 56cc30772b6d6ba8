//! The Business domain's resources: companies, people, payroll, tax and compliance.

pub(crate) mod accounting_period;
mod attributes_of_pay;
pub(crate) mod authority;
pub(crate) mod calculation;
mod calculation_lines;
pub(crate) mod calculation_parts;
pub(crate) mod company;
pub(crate) mod compliance_requirement;
pub(crate) mod earnings;
pub(crate) mod employee;
pub(crate) mod employer_part;
mod employer_parts;
mod ended_claims;
mod irregular_alone;
pub(crate) mod kept_rates;
pub(crate) mod leave_request;
pub(crate) mod paid_leave;
pub(crate) mod pay_abroad;
pub(crate) mod pay_extras;
pub(crate) mod pay_schedule;
pub(crate) mod pay_terms;
pub(crate) mod payment_method;
pub(crate) mod payroll_item;
pub(crate) mod payroll_run;
pub(crate) mod payroll_verification;
pub(crate) mod payslip;
pub(crate) mod regional_pay;
pub(crate) mod regulatory_report;
mod same_period;
pub(crate) mod tax_attributes;
pub(crate) mod tax_document;
pub(crate) mod tax_document_boxes;
mod tax_document_content;
mod tax_document_split;
mod tax_document_threshold;
pub(crate) mod tax_filing;
pub(crate) mod tax_liability;
pub(crate) mod tax_period;
pub(crate) mod tax_return;
mod typed_deductions;
pub(crate) mod year_so_far;

pub(crate) use self::accounting_period::{AccountingPeriod, PeriodStatus, PeriodType};
pub(crate) use self::authority::Authority;
pub(crate) use self::calculation::{Before, Calculation, Terms};
pub(crate) use self::company::{Address, Company, CompanyStatus, Contact, PayrollSettings};
pub(crate) use self::compliance_requirement::{
    ComplianceRequirement, Evidence, RequirementStatus, RequirementType,
};
pub(crate) use self::earnings::PayLine;
pub(crate) use self::employee::{
    Employee, EmployeeStatus, EmploymentType, HoldReason, PayrollStatus,
};
pub(crate) use self::leave_request::{LeaveRequest, LeaveStatus, LeaveType};
pub(crate) use self::pay_abroad::PayConversion;
pub(crate) use self::pay_extras::{Extras, Proration};
pub(crate) use self::pay_schedule::{NextDraft, PaySchedule, PaySpan, ScheduleStatus};
pub(crate) use self::pay_terms::{
    Allowance, BroughtIn, Compensation, Component, Deduction, DeductionTiming, PayInterval,
};
pub(crate) use self::payment_method::{PaymentMethod, PaymentMethodType, WageAccount};
pub(crate) use self::payroll_item::{ItemStatus, PayrollItem};
pub(crate) use self::payroll_run::{
    Funding, HoursWorked, PayrollRun, RunInput, RunStatus, RunTotals, RunType, Settlement,
};
pub(crate) use self::payroll_verification::{BankAnswer, PayrollVerification, VerificationStatus};
pub(crate) use self::payslip::{Payslip, PayslipStatus, PayslipType};
pub(crate) use self::regulatory_report::{RegulatoryReport, ReportStatus, ReportType, Threshold};
pub(crate) use self::tax_filing::{FilingLine, FilingStatus, TaxFiling};
pub(crate) use self::tax_liability::{LiabilityStatus, TaxLiability};
