//! Regulatory reports: compiled from a company's records of one month, submitted to the regulator, and answered.

use crate::api::business::report_contents::compile;
use crate::api::prelude::*;
use crate::model::business::{RegulatoryReport, ReportStatus, ReportType};
use crate::model::decision::REGULATOR;

/// From the submission to the regulator's answer.
const ANSWER: Span = Span::BusinessDays(1);

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/regulatory-reports",
        summary: "List regulatory reports",
        description: "Lists regulatory reports in creation order, each with its contents and the \
            regulator's answer.",
        ..operation!(read list_regulatory_reports)
    },
    Operation {
        path: "/api/business/regulatory-reports",
        summary: "Compile a regulatory report",
        description: "Compiles a report from the company's current records of a month that has \
            started. `payroll_summary` and `pension_schedule` contain the amounts that the \
            company's runs have paid. `large_transactions` contains wallet transactions at or \
            above the currency's threshold. `suspicious_activity` contains the findings of simple \
            rules, and can be empty.",
        example: r#"{"company_id":"@company:1","type":"payroll_summary","period":"2025-12"}"#,
        success: 201,
        emits: &["regulatory_report.compiled"],
        long: true,
        ..operation!(write create_regulatory_report)
    },
    Operation {
        path: "/api/business/regulatory-reports/{regulatory_report_id}/submit",
        summary: "Submit a regulatory report",
        description: "Submits a report. The regulator answers on the next business day. A rejected \
            report can be submitted again unchanged; to correct it, compile another one.",
        example: r#"{"declaration":"Ada Obi, compliance officer"}"#,
        success: 202,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["regulatory_report.submitted"],
        starts: &[TaskKind::AcknowledgeReport, TaskKind::RejectReport],
        ..operation!(write submit_regulatory_report)
    },
]);

list! {
    fn list_regulatory_reports(ListRegulatoryReports) -> RegulatoryReport;
    filter
        company_id: Id<Company>,
        kind as "type": ReportType,
        /// Filter by month.
        period: Period,
        status: ReportStatus;
    sort created_at, period;
}

/// A report to compile.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateRegulatoryReport {
    /// The company that the report is about.
    company_id: Id<Company>,
    /// The type of report.
    r#type: ReportType,
    /// The month; it must have started.
    period: Period,
}

fn create_regulatory_report(
    world: &mut World,
    input: CreateRegulatoryReport,
) -> Result<Single<RegulatoryReport>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let (today, period) = (world.today(), input.period);
    if period.first_day() > today {
        let detail = format!("must not be a future month (today is {today})");
        return Err(ApiError::of_member("/period", "in_the_future", detail));
    }
    let contents = compile(world, &company, input.r#type, period)?;
    let now = world.now();
    let report = RegulatoryReport {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        kind: input.r#type,
        period,
        status: ReportStatus::Compiled,
        currency: company.currency,
        contents,
        declaration: None,
        acknowledged_at: None,
        rejection_reason: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(ReportStatus::Compiled, now)].into(),
    };
    let report = world.record("regulatory_report.compiled", report);
    Ok(Data(Shown(report)))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SubmitRegulatoryReport {
    /// The report.
    regulatory_report_id: Id<RegulatoryReport>,
    /// Name of the person who declares the report correct.
    declaration: Text<200>,
}

fn submit_regulatory_report(
    world: &mut World,
    input: SubmitRegulatoryReport,
) -> Result<Single<RegulatoryReport>> {
    let mut report = (*world.get(input.regulatory_report_id)?).clone();
    let status = step("submit", "the report", report.id, report.status)?;
    report.declaration = Some(input.declaration.into_string());
    report.rejection_reason = None;
    report.enter(status, world.now());
    let report = world.record("regulatory_report.submitted", report);
    let reply = world.decide(&REGULATOR, AnyId::of(report.id), None);
    let answer = match reply.choice {
        "rejected" => Task::RejectReport(report.id),
        _ => Task::AcknowledgeReport(report.id),
    };
    world.settle_when(ANSWER, reply.after, answer);
    Ok(Data(Shown(report)))
}

fn sent(world: &World, id: Id<RegulatoryReport>) -> RegulatoryReport {
    let report = world.find(id);
    (*report.expect("a task is set for what exists, and nothing is deleted")).clone()
}

/// The regulator accepts the report.
pub(crate) fn acknowledge(world: &mut World, id: Id<RegulatoryReport>) {
    let mut report = sent(world, id);
    report.acknowledged_at = Some(world.now());
    report.enter(ReportStatus::Acknowledged, world.now());
    world.record("regulatory_report.acknowledged", report);
}

/// The regulator rejects the report.
pub(crate) fn reject(world: &mut World, id: Id<RegulatoryReport>) {
    let mut report = sent(world, id);
    let reason = "the regulator rejected the report: submit it again, or compile another";
    report.rejection_reason = Some(reason.to_owned());
    report.enter(ReportStatus::Rejected, world.now());
    world.record("regulatory_report.rejected", report);
}
