//! System rows: the functions that timers call. Each timer runs in its own transaction.

use serde_json::Value;

use crate::api::business::{
    compliance, employee_pay, employee_verbs, leave_clock, pay_terms, payroll_clock,
    payroll_funding, regulatory_reports, tax_clock,
};
use crate::api::capital::{
    credit_scores, deal_verbs, due_diligence_answers, insurance, loan_clock, offers, readiness,
    underwriting,
};
use crate::api::identity::{documents, screenings, trust_scores, verification_clock};
use crate::api::operation::Call;
use crate::api::payments::{
    beneficiaries, collection_clock, dispute_clock, escrow_clock, fx_quotes, fx_transfers,
    invoice_clock, payout_rail, refunds, statement_clock,
};
use crate::api::prelude::*;
use crate::api::reply::Reply;
use crate::api::{self, scripted};
use crate::world::script::OutcomeRule;
use crate::world::timers::Timer;
use crate::world::{ClockMode, Event, RequestRef};

/// Calls a row that may change the world, completely or not at all. `outcomes` are those named by its request.
pub(crate) fn perform(
    world: &mut World,
    operation: &Operation,
    origin: Arc<RequestRef>,
    outcomes: Vec<OutcomeRule>,
    input: Value,
) -> Result<Reply, ApiError> {
    match operation.call {
        Call::Write(call) => {
            let logged = world.log().len();
            world.begin_with(origin, outcomes);
            let reply = call(world, input);
            match &reply {
                Ok(_) => {
                    held_to(world, operation.name, logged, operation.emits, operation.starts);
                    world.commit();
                }
                Err(_) => world.roll_back(),
            }
            reply
        }
        Call::Drive(call) => call(world, input),
        Call::Read(_) | Call::Open(_) | Call::Tester(_) => {
            unreachable!("only a row that acts on a world alone can be called here")
        }
    }
}

/// The row of a task.
pub(crate) const fn row(task: Task) -> SystemRow {
    match task {
        Task::CalculateRun(_) => payroll_clock::CALCULATE_RUN,
        Task::PreviewRun(_) => payroll_clock::PREVIEW_RUN,
        Task::FundRun(_) | Task::FundRunLate(_) => payroll_funding::FUND_RUN,
        Task::SendRunPayouts(_) => payout_rail::SEND_RUN_PAYOUTS,
        Task::ReleasePayout(..) => payout_rail::RELEASE_PAYOUT,
        Task::SettlePayout(..) => payout_rail::SETTLE_PAYOUT,
        Task::LiabilityDue(_) => tax_clock::FALL_DUE,
        Task::LiabilityLate(_) => tax_clock::MISS_LIABILITY,
        Task::RequirementOverdue(_) => compliance::MISS_REQUIREMENT,
        Task::AcknowledgeReport(_) => regulatory_reports::ACKNOWLEDGE_REPORT,
        Task::RejectReport(_) => regulatory_reports::REJECT_REPORT,
        Task::BeginEmployment(_) => employee_verbs::BEGIN_EMPLOYMENT,
        Task::ChangePay(_) => pay_terms::CHANGE_PAY,
        Task::BeginLeave(_) => leave_clock::BEGIN_LEAVE,
        Task::EndLeave(_) => leave_clock::END_LEAVE,
        Task::EndEmployment(_) => employee_verbs::END_EMPLOYMENT,
        Task::ExpireFxQuote(_) => fx_quotes::EXPIRE_FX_QUOTE,
        Task::CompleteFxTransfer(_) => fx_transfers::COMPLETE_FX_TRANSFER,
        Task::FailFxTransfer(_) => fx_transfers::FAIL_FX_TRANSFER,
        Task::DisputeUnanswered(_) => dispute_clock::MISS_EVIDENCE,
        Task::DecideDispute(..) => dispute_clock::DECIDE_DISPUTE,
        Task::EscrowDisputeUnanswered(_) => dispute_clock::MISS_ESCROW_EVIDENCE,
        Task::DecideEscrowDispute(..) => dispute_clock::DECIDE_ESCROW_DISPUTE,
        Task::ExamineDocument(_) => documents::EXAMINE_DOCUMENT,
        Task::ExpireDocument(_) => documents::EXPIRE_DOCUMENT,
        Task::AnswerCase(..) => verification_clock::ANSWER_CASE,
        Task::ExpireCase(_) => verification_clock::EXPIRE_CASE,
        Task::ReviewCase(_) => verification_clock::REVIEW_CASE,
        Task::PromptPayer(_) => collection_clock::PROMPT_PAYER,
        Task::PayCollection(..) => collection_clock::PAY_COLLECTION,
        Task::FinishCollection(..) => collection_clock::FINISH_COLLECTION,
        Task::SettleCollection(_) => collection_clock::SETTLE_COLLECTION,
        Task::ExpireCollection(_) => collection_clock::EXPIRE_COLLECTION,
        Task::ChargeBack(_) => collection_clock::CHARGE_BACK,
        Task::InvoiceOverdue(_) => invoice_clock::MISS_INVOICE,
        Task::SettleRefund(..) => refunds::SETTLE_REFUND,
        Task::ImportStatement(_) => statement_clock::IMPORT_STATEMENT,
        Task::CompleteCreditScore(_) => credit_scores::COMPLETE_CREDIT_SCORE,
        Task::CompleteAssessment(_) => readiness::COMPLETE_ASSESSMENT,
        Task::CompleteRiskScore(_) => insurance::COMPLETE_RISK_SCORE,
        Task::ReviewApplication(_) => underwriting::REVIEW_APPLICATION,
        Task::DecideApplication(..) => underwriting::DECIDE_APPLICATION,
        Task::WithdrawApplication(_) => underwriting::WITHDRAW_APPLICATION,
        Task::ExpireOffer(_) => offers::EXPIRE_OFFER,
        Task::DisburseLoan(_) => loan_clock::DISBURSE_LOAN,
        Task::InstalmentDue(..) => loan_clock::INSTALMENT_DUE,
        Task::MissInstalment(..) => loan_clock::MISS_INSTALMENT,
        Task::DefaultLoan(..) => loan_clock::DEFAULT_LOAN,
        Task::TakeUpRequest(_) => due_diligence_answers::TAKE_UP_REQUEST,
        Task::MissRequest(_) => due_diligence_answers::MISS_REQUEST,
        Task::ReplyToDeal(..) => deal_verbs::REPLY_TO_DEAL,
        Task::CompleteScreening(..) => screenings::COMPLETE_SCREENING,
        Task::ScreenAgain(_) => screenings::SCREEN_AGAIN,
        Task::CompleteTrustScore(_) => trust_scores::COMPLETE_TRUST_SCORE,
        // The operation that it calls declares its own.
        Task::Scripted(_) => SystemRow { name: "scenario_timeline", ..SystemRow::LAST },
        Task::FinishVerification(_) => employee_pay::FINISH_VERIFICATION,
        Task::AcknowledgeFiling(_) => tax_clock::ACKNOWLEDGE_FILING,
        Task::AcceptFiling(_) => tax_clock::ACCEPT_FILING,
        Task::RejectFiling(_) => tax_clock::REJECT_FILING,
        Task::SendPayout(_) => payout_rail::SEND_PAYOUT,
        Task::ReleaseEscrow(_) => escrow_clock::RELEASE_ESCROW,
        Task::ExpireEscrow(_) => escrow_clock::EXPIRE_ESCROW,
        Task::ReleaseVendorPayout(..) => payout_rail::RELEASE_VENDOR_PAYOUT,
        Task::SettleVendorPayout(..) => payout_rail::SETTLE_VENDOR_PAYOUT,
        Task::ResolveBeneficiary(..) => beneficiaries::RESOLVE_BENEFICIARY,
    }
}

/// All events that a call can cause, at once or later: its own and those of every task that it starts.
pub(crate) fn events_of(operation: &Operation) -> Vec<&'static str> {
    let mut events = operation.emits.to_vec();
    let mut tasks = operation.starts.to_vec();
    let mut next = 0;
    while let Some(name) = tasks.get(next) {
        let task = named(name);
        events.extend(
            task.emits.iter().filter(|name| !events.contains(name)).copied().collect::<Vec<_>>(),
        );
        tasks.extend(
            task.starts.iter().filter(|name| !tasks.contains(name)).copied().collect::<Vec<_>>(),
        );
        next += 1;
    }
    events
}

/// The row with that name.
fn named(name: &str) -> SystemRow {
    let mut rows = Task::ONE_OF_EACH.iter().map(|&task| row(task));
    rows.find(|row| row.name == name).unwrap_or_else(|| panic!("no system row is called {name}"))
}

/// Checks that a step emitted and started only what its row declares.
fn held_to(world: &World, name: &str, logged: u64, emits: &[&str], starts: &[&str]) {
    for event in world.log().since(logged) {
        assert!(
            emits.contains(&&*event.name),
            "{name} emitted {}, which its row does not declare",
            event.name
        );
    }
    for task in world.timers_set() {
        let declared = matches!(task, Task::Scripted(_)) || starts.contains(&row(task).name);
        assert!(declared, "{name} set {}, which its row does not declare", row(task).name);
    }
}

/// All event types that a call or a timer can cause, by name.
pub(crate) fn event_types() -> Vec<&'static str> {
    let rows = api::product().chain(api::control());
    let tasks = Task::ONE_OF_EACH.iter().flat_map(|task| row(*task).emits);
    let mut types: Vec<&'static str> =
        rows.flat_map(|row| row.emits).chain(tasks).copied().collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// Whether a deadline causes events of that type.
pub(crate) fn is_by_deadline(event: &str) -> bool {
    let mut deadlines = Task::ONE_OF_EACH.iter().filter(|task| task.is_deadline());
    deadlines.any(|task| row(*task).emits.contains(&event))
}

#[expect(clippy::too_many_lines, reason = "a table: a row a task")]
fn call(world: &mut World, task: Task) {
    match task {
        Task::CalculateRun(run) => payroll_clock::calculate_run(world, run),
        Task::PreviewRun(run) => payroll_clock::preview_run(world, run),
        Task::FundRun(run) => payroll_funding::fund_run(world, run, false),
        Task::FundRunLate(run) => payroll_funding::fund_run(world, run, true),
        Task::SendRunPayouts(run) => payout_rail::send_run_payouts(world, run),
        Task::ReleasePayout(payout, fate) | Task::ReleaseVendorPayout(payout, fate) => {
            payout_rail::release_payout(world, payout, fate);
        }
        Task::SettlePayout(payout, fate) | Task::SettleVendorPayout(payout, fate) => {
            payout_rail::settle_payout(world, payout, fate);
        }
        Task::LiabilityDue(liability) => tax_clock::fall_due(world, liability),
        Task::LiabilityLate(liability) => tax_clock::miss(world, liability),
        Task::RequirementOverdue(requirement) => compliance::miss(world, requirement),
        Task::AcknowledgeReport(report) => regulatory_reports::acknowledge(world, report),
        Task::RejectReport(report) => regulatory_reports::reject(world, report),
        Task::BeginEmployment(employee) => employee_verbs::begin_employment(world, employee),
        Task::ChangePay(employee) => pay_terms::change_pay(world, employee),
        Task::BeginLeave(leave) => leave_clock::begin_leave(world, leave),
        Task::EndLeave(leave) => leave_clock::end_leave(world, leave),
        Task::EndEmployment(employee) => employee_verbs::end_employment(world, employee),
        Task::ExpireFxQuote(quote) => fx_quotes::expire(world, quote),
        Task::CompleteFxTransfer(transfer) => fx_transfers::complete(world, transfer),
        Task::FailFxTransfer(transfer) => fx_transfers::fail(world, transfer),
        Task::DisputeUnanswered(dispute) | Task::EscrowDisputeUnanswered(dispute) => {
            dispute_clock::miss(world, dispute);
        }
        Task::DecideDispute(dispute, won) | Task::DecideEscrowDispute(dispute, won) => {
            dispute_clock::decide(world, dispute, won);
        }
        Task::ExamineDocument(document) => documents::examine(world, document),
        Task::ExpireDocument(document) => documents::expire(world, document),
        Task::AnswerCase(case, answer) => verification_clock::answer(world, case, answer),
        Task::ExpireCase(case) => verification_clock::expire(world, case),
        Task::ReviewCase(case) => verification_clock::review(world, case),
        Task::PromptPayer(collection) => collection_clock::prompt(world, collection),
        Task::PayCollection(collection, payment) => {
            collection_clock::pay(world, collection, payment);
        }
        Task::FinishCollection(collection, payment) => {
            collection_clock::finish(world, collection, payment);
        }
        Task::SettleCollection(collection) => collection_clock::settle(world, collection),
        Task::ExpireCollection(collection) => collection_clock::expire(world, collection),
        Task::ChargeBack(collection) => collection_clock::charge_back(world, collection),
        Task::InvoiceOverdue(invoice) => invoice_clock::miss(world, invoice),
        Task::SettleRefund(refund, failed) => refunds::settle(world, refund, failed),
        Task::ImportStatement(statement) => statement_clock::import(world, statement),
        Task::CompleteCreditScore(score) => credit_scores::complete(world, score),
        Task::CompleteAssessment(assessment) => readiness::complete(world, assessment),
        Task::CompleteRiskScore(score) => insurance::complete(world, score),
        Task::ReviewApplication(id) => underwriting::review(world, id),
        Task::DecideApplication(id, verdict) => underwriting::decide(world, id, verdict),
        Task::WithdrawApplication(id) => underwriting::withdraw(world, id),
        Task::ExpireOffer(offer) => offers::expire(world, offer),
        Task::DisburseLoan(loan) => loan_clock::disburse(world, loan),
        Task::InstalmentDue(loan, number) => loan_clock::fall_due(world, loan, number),
        Task::MissInstalment(loan, number) => loan_clock::miss(world, loan, number),
        Task::DefaultLoan(loan, number) => loan_clock::default(world, loan, number),
        Task::TakeUpRequest(request) => due_diligence_answers::take_up(world, request),
        Task::MissRequest(request) => due_diligence_answers::miss(world, request),
        Task::ReplyToDeal(deal, passes) => deal_verbs::reply_later(world, deal, passes),
        Task::CompleteScreening(screening, answer) => {
            screenings::complete(world, screening, answer);
        }
        Task::ScreenAgain(screening) => screenings::again(world, screening),
        Task::CompleteTrustScore(score) => trust_scores::complete(world, score),
        Task::Scripted(_) => unreachable!("a scenario's row has its own transactions"),
        Task::FinishVerification(id) => employee_pay::finish_verification(world, id),
        Task::AcknowledgeFiling(filing) => tax_clock::acknowledge_filing(world, filing),
        Task::AcceptFiling(filing) => tax_clock::accept_filing(world, filing),
        Task::RejectFiling(filing) => tax_clock::reject_filing(world, filing),
        Task::ReleaseEscrow(escrow) => escrow_clock::release_by_date(world, escrow),
        Task::ExpireEscrow(escrow) => escrow_clock::expire(world, escrow),
        Task::SendPayout(payout) => payout_rail::send_payout(world, payout),
        Task::ResolveBeneficiary(id, answer) => beneficiaries::resolve(world, id, answer),
    }
}

/// Runs the first task that is due by `instant`, if any.
pub(crate) fn run_next(world: &mut World, instant: Timestamp) -> Option<Task> {
    run(world, |world| world.take_due(instant))
}

/// Runs the next task that a request caused, directly or indirectly, before its due time; deadlines only if requested.
pub(crate) fn run_caused(world: &mut World, request: &str, deadlines: bool) -> bool {
    run(world, |world| world.take_caused(request, deadlines)).is_some()
}

fn run(world: &mut World, take: impl FnOnce(&mut World) -> Option<Timer>) -> Option<Task> {
    world.begin(None);
    let Some(timer) = take(world) else {
        world.roll_back();
        return None;
    };
    if let Task::Scripted(place) = timer.task {
        let row = world.scripted(place);
        world.commit();
        if let Some(row) = row {
            scripted::perform(world, place, &row);
        }
        return Some(timer.task);
    }
    let logged = world.log().len();
    call(world, timer.task);
    let row = row(timer.task);
    held_to(world, row.name, logged, row.emits, row.starts);
    world.commit();
    Some(timer.task)
}

/// In an instant world: runs everything that follows from the last request.
pub(crate) fn settle(world: &mut World) {
    if world.mode() == ClockMode::Instant {
        while run_next(world, world.now().plus_millis(1)).is_some() {}
    }
}

/// Moves the clock to an instant, and runs due tasks in order.
pub(crate) fn advance(world: &mut World, to: Timestamp) {
    while run_next(world, to).is_some() {}
    world.begin(None);
    world.move_clock(to);
    world.commit();
}

/// The events after that length of the log, if still in the log.
pub(crate) fn events_since(
    world: &World,
    length: u64,
) -> impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator {
    world.log().since(length)
}

/// Moves a world in `real` mode to the wall clock's time. This alone causes nothing, so the version stays.
pub(crate) fn follow(world: &mut World, to: Timestamp) {
    while run_next(world, to).is_some() {}
    world.follow_clock(to);
}
