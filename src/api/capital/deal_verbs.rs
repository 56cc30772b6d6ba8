//! Steps of a deal: the next stage and its requirements, the end, and the investor's reply.

use crate::api::business::payroll_people::may_pay;
use crate::api::capital::due_diligence;
use crate::api::capital::readiness;
use crate::api::identity::alert_facts;
use crate::api::identity::subjects::kyb_approved;
use crate::api::payments::wallets::room;
use crate::api::prelude::*;
use crate::model::capital::deal::{Guard, Reply};
use crate::model::capital::{CaseStatus, Deal, DealStage, DealStatus};
use crate::model::decision::INVESTOR;
use crate::model::posting::deals;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/deals/{deal_id}/advance",
        summary: "Advance a deal",
        description: "Moves a deal to the next stage; `to_stage`, if given, must be that stage. \
            Every stage after `sourced` requires a verified business (`kyb_approved`). \
            `term_sheet` also requires that no alert is confirmed (`aml_clear`) and that the due \
            diligence case is completed (`due_diligence_completed`). `closing` also requires a \
            readiness assessment that is sufficient for the instrument (`readiness`). A 409 \
            `stage_guard_failed` names each missing requirement and how to meet it. At `screening` \
            the investor is asked, and replies within two business days. At `due_diligence` a case \
            is opened, unless the deal has one.",
        example: r#"{"to_stage":"screening","note":"A first call went well"}"#,
        errors: &[ErrorCode::InvalidStateTransition, ErrorCode::StageGuardFailed],
        emits: &[
            "deal.stage_changed",
            "due_diligence_case.opened",
            "due_diligence_request.created",
        ],
        starts: &[TaskKind::ReplyToDeal, TaskKind::MissRequest],
        ..operation!(write advance_deal)
    },
    Operation {
        path: "/api/capital/deals/{deal_id}/close",
        summary: "Close a deal",
        description: "Closes a deal. `won` is possible only at the stage `closing`. The `amount` \
            is credited to the company's wallet at once, as equity (`equity`, `safe`) or as debt \
            (`debt`, `revenue_share`). `lost` and `withdrawn` are possible at any stage, without \
            an amount.",
        example: r#"{"outcome":"withdrawn","reason":"The owners changed their minds"}"#,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::LimitExceeded,
        ],
        emits: &["deal.won", "deal.lost", "deal.withdrawn", "wallet.credited"],
        ..operation!(write close_deal)
    },
]);

/// From the question to the investor's reply.
const CONSIDERATION: Span = Span::BusinessDays(2);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AdvanceDeal {
    /// The deal.
    deal_id: Id<Deal>,
    /// The stage that the deal must enter. It must be the next stage, which is the default.
    to_stage: Option<DealStage>,
    /// A note, stored in `stage_history`.
    note: Option<Text<500>>,
}

fn advance_deal(world: &mut World, input: AdvanceDeal) -> Result<Single<Deal>> {
    let deal = world.get(input.deal_id)?;
    still_open(&deal)?;
    let Some(next) = deal.stage.next() else {
        let detail =
            "closing is the last stage: close the deal as won, lost or withdrawn".to_owned();
        return Err(refused(deal.id, deal.stage, detail));
    };
    if let Some(to) = input.to_stage.filter(|to| *to != next) {
        let (at, to, next) = (deal.stage.name(), to.name(), next.name());
        let detail = format!("the deal is at {at}: the next stage is {next}, not {to}");
        return Err(refused(deal.id, deal.stage, detail));
    }
    guarded(world, &deal, next)?;
    let deal = advance(world, &deal, next, input.note.map(Text::into_string));
    Ok(Data(Shown(deal)))
}

fn still_open(deal: &Deal) -> Result<()> {
    if deal.status == DealStatus::Open {
        return Ok(());
    }
    let detail = format!("the deal is {}: it must be open", deal.status.name());
    Err(refused(deal.id, deal.status, detail))
}

/// Refuses a stage with missing requirements, and names all of them.
fn guarded(world: &World, deal: &Deal, to: DealStage) -> Result<()> {
    let guards = to.guards().iter();
    let unmet = guards.filter_map(|guard| {
        let why = unmet(world, deal, *guard)?;
        Some(Violation::new("", guard.name(), why))
    });
    let unmet: Vec<Violation> = unmet.collect();
    if unmet.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = unmet.iter().map(|one| one.code).collect();
    let detail = format!("the stage {} requires {}", to.name(), names.join(", "));
    let mut error = ApiError::new(ErrorCode::StageGuardFailed, detail).about(deal.id);
    error.current = Some(deal.stage.name());
    Err(error.with_errors(unmet))
}

/// The reason why a requirement is not met, and how to meet it; `None` if it is met.
fn unmet(world: &World, deal: &Deal, guard: Guard) -> Option<String> {
    let company = deal.company_id;
    match guard {
        Guard::KybApproved => (!kyb_approved(world, company)).then(|| {
            format!(
                "no business subject of {company} is approved: use createSubject (business, with \
                    the company_id), createVerification (kyb) and submitVerification"
            )
        }),
        Guard::AmlClear => alert_facts::confirmed_alert(world, company).then(|| {
            format!(
                "{company} has a confirmed alert, which cannot be undone: close the deal as \
                lost or withdrawn"
            )
        }),
        Guard::DueDiligenceCompleted => {
            let case = deal.due_diligence_case_id.and_then(|id| world.find(id));
            let Some(case) = case else {
                return Some(
                    "the deal has no due diligence case: open one with \
                    openDueDiligenceCase and its deal_id"
                        .to_owned(),
                );
            };
            let open = case.progress.mandatory - case.progress.mandatory_settled;
            (case.status != CaseStatus::Completed).then(|| {
                format!(
                    "{} has {open} of {} mandatory requests open: use submitDueDiligenceRequest \
                        and reviewDueDiligenceRequest (accept or waive)",
                    case.id, case.progress.mandatory
                )
            })
        }
        Guard::Readiness => {
            let least = deal.instrument.terms().readiness;
            let latest = readiness::latest(world, company);
            let score = latest.as_ref().and_then(|latest| latest.score);
            match latest.zip(score) {
                Some((_, score)) if score >= least => None,
                Some((latest, score)) => Some(format!(
                    "{} has a score of {score}, but {least} is required: follow its next_steps, \
                        then use createReadinessAssessment again",
                    latest.id
                )),
                None => Some(format!(
                    "the company has no readiness assessment: use createReadinessAssessment; a \
                        score of {least} is required"
                )),
            }
        }
    }
}

/// Enters the next stage with its effects. The caller has checked the requirements or skips them on purpose.
pub(crate) fn advance(
    world: &mut World,
    deal: &Deal,
    to: DealStage,
    note: Option<String>,
) -> Arc<Deal> {
    let mut deal = deal.clone();
    deal.enter_stage(to, world.now(), note);
    let begins = to == DealStage::DueDiligence && deal.due_diligence_case_id.is_none();
    let case = begins.then(|| {
        let template = deal.instrument.terms().template;
        let mut case = due_diligence::drawn_up_for(world, deal.company_id, template);
        case.deal_id = Some(deal.id);
        deal.due_diligence_case_id = Some(case.id);
        case
    });
    let deal = world.record("deal.stage_changed", deal);
    if let Some(case) = case {
        due_diligence::open(world, case);
    }
    let unasked = deal.investor.as_ref().is_some_and(|it| it.reply.is_none());
    if to == DealStage::Screening && unasked {
        let reply = world.decide(&INVESTOR, AnyId::of(deal.id), None);
        let passes = reply.choice == "passes";
        world.settle_when(CONSIDERATION, reply.after, Task::ReplyToDeal(deal.id, passes));
    }
    deal
}

/// The investor's reply arrives.
pub(crate) fn reply_later(world: &mut World, id: Id<Deal>, passes: bool) {
    let said = if passes { Reply::Passes } else { Reply::Interested };
    reply(world, id, said, None);
}

/// The investor replies. Declining ends the deal.
pub(crate) fn reply(world: &mut World, id: Id<Deal>, reply: Reply, note: Option<String>) {
    let open = world.find(id).filter(|deal| deal.status == DealStatus::Open);
    let Some(mut deal) = open.map(Arc::unwrap_or_clone) else { return };
    let now = world.now();
    let Some(investor) = &mut deal.investor else { return };
    investor.reply = Some(reply);
    investor.replied_at = Some(now);
    let why = note.unwrap_or_else(|| format!("{} passes", investor.name));
    deal.updated_at = now;
    let deal = world.record("deal.investor_replied", deal);
    if reply == Reply::Passes {
        end(world, &deal, DealStatus::Lost, Some(why));
    } else {
        world.forget_timers(AnyId::of(id));
    }
}

/// How a deal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DealOutcome")]
pub(crate) enum DealOutcome {
    Won,
    Lost,
    Withdrawn,
}

impl DealOutcome {
    const fn verb(self) -> &'static str {
        match self {
            Self::Won => "win",
            Self::Lost => "lose",
            Self::Withdrawn => "withdraw",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CloseDeal {
    /// The deal.
    deal_id: Id<Deal>,
    /// Whether the deal is won, lost or withdrawn.
    outcome: DealOutcome,
    /// Amount received in the wallet, in minor units. Required for `won`; must be absent otherwise.
    amount: Option<Amount>,
    /// The reason, stored in `status_history`.
    reason: Option<Text<500>>,
}

fn close_deal(world: &mut World, input: CloseDeal) -> Result<Single<Deal>> {
    let deal = world.get(input.deal_id)?;
    let reason = input.reason.map(Text::into_string);
    let deal = match (input.outcome, input.amount) {
        (DealOutcome::Won, None) => {
            let detail = "amount is required for won";
            return Err(ApiError::of_member("/amount", "required", detail));
        }
        (DealOutcome::Lost | DealOutcome::Withdrawn, Some(_)) => {
            let detail = "amount is allowed only for won";
            return Err(ApiError::of_member("/amount", "not_taken", detail));
        }
        (DealOutcome::Won, Some(amount)) => win(world, &deal, amount.minor(), reason)?,
        (outcome, None) => {
            let status = step(outcome.verb(), "the deal", deal.id, deal.status)?;
            end(world, &deal, status, reason)
        }
    };
    Ok(Data(Shown(deal)))
}

/// The money arrives. It is refused if the company may not pay, before the last stage, and if the wallet cannot hold it.
pub(crate) fn win(
    world: &mut World,
    deal: &Deal,
    amount: i64,
    reason: Option<String>,
) -> Result<Arc<Deal>> {
    may_pay(world, &*world.get(deal.company_id)?)?;
    let status = step(DealOutcome::Won.verb(), "the deal", deal.id, deal.status)?;
    if deal.stage != DealStage::Closing {
        let at = deal.stage.name();
        let detail = format!("the deal is at {at}: it can be won only from closing");
        return Err(refused(deal.id, deal.stage, detail));
    }
    let wallet = world.wallet_of(deal.company_id, deal.currency);
    let wallet: Arc<Wallet> = wallet.expect("a deal is in a wallet's currency, and no wallet goes");
    room(world, &wallet, amount)?;
    let mut deal = deal.clone();
    deal.amount = Some(amount);
    deal.wallet_id = Some(wallet.id);
    deal.enter_because(status, world.now(), reason);
    let deal = world.stage(deal);
    let is_owed = deal.instrument.is_owed();
    let won = deals::deal_won(AnyId::of(deal.id), deal.currency, amount, is_owed);
    world.post(deal.company_id, won);
    world.emit("deal.won", &deal);
    world.emit_wallet("wallet.credited", &wallet);
    world.forget_timers(AnyId::of(deal.id));
    Ok(deal)
}

/// The deal ends without money.
pub(crate) fn end(
    world: &mut World,
    deal: &Deal,
    status: DealStatus,
    reason: Option<String>,
) -> Arc<Deal> {
    let mut deal = deal.clone();
    deal.enter_because(status, world.now(), reason);
    let event = match status {
        DealStatus::Lost => "deal.lost",
        _ => "deal.withdrawn",
    };
    let deal = world.record(event, deal);
    world.forget_timers(AnyId::of(deal.id));
    deal
}

/// The reply of an investor.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct InvestorReply {
    /// The deal: it must be open and have an investor.
    deal_id: Id<Deal>,
    /// The investor's reply: `interested` or `passes`.
    reply: Reply,
    /// A note. If the investor passes, it is the reason for the loss of the deal.
    note: Option<Text<500>>,
}

/// The investor replies now.
pub(crate) fn simulate_investor_reply(
    world: &mut World,
    input: InvestorReply,
) -> Result<Single<Deal>> {
    let deal = existing(world, input.deal_id, "/deal_id")?;
    if deal.investor.is_none() {
        let detail = format!("{} has no investor", deal.id);
        return Err(ApiError::of_member("/deal_id", "no_investor", detail));
    }
    still_open(&deal)?;
    reply(world, deal.id, input.reply, input.note.map(Text::into_string));
    Ok(Data(Shown(world.get(deal.id)?)))
}
