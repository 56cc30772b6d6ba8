//! Interventions at run time: rules, and moving a resource along its lifecycle.

use serde_json::{Map, Value};

use crate::api::control::faults::{Removed, RuleFault};
use crate::api::control::{faults, hand_move, outcome_rule, shaping, transitions};
use crate::api::prelude::*;
use crate::model::payments::Scope;
use crate::tester::wire::Armed;
use crate::value::id::encode_to_string;
use crate::world::script::{Range, Shaping};
use crate::world::script_state::OutcomeState;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/rules",
        summary: "List rules",
        description: "Lists the rules added at run time, with their counters: outcomes, then faults, each in the \
            order of evaluation.",
        ..operation!(tester list_rules)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/rules",
        summary: "Add a rule",
        description: "Adds a rule at run time, like a row of a scenario. A rule sets an outcome \
            for a decision, a fault for an operation, or a change of webhook deliveries. It has \
            priority over rows of scenarios. A key can have at most 1,000 rules and faults.",
        example: r#"{"match":{"decision":"payout.settle"},"times":1,"outcome":{"then":"returned","code":"R02"}}"#,
        success: 201,
        ..operation!(tester create_rule)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/rules",
        summary: "Remove every rule",
        description: "Removes all rules added at run time. Faults and rows of scenarios stay.",
        ..operation!(tester delete_rules)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/rules/{rule_id}",
        summary: "Remove a rule",
        description: "Removes one rule that was added at run time.",
        ..operation!(tester delete_rule)
    },
    Operation {
        path: "/_sandbox/resources/{resource_id}/transition",
        summary: "Move a resource along its lifecycle",
        description: "Moves a resource to another status, with all effects (postings, items, \
            payslips, events). The timer that waits for the resource runs now, with the decision \
            that it carries if that leads to the status. Otherwise the operation of the same \
            transition runs, with its checks. Then the outside world goes on from the new status.\n\n\
            A transition that the lifecycle does not allow, or that only an operation makes, \
            returns 409. `allowed` lists the transitions that are possible here, and `detail` names \
            the operations. If the data of the resource leads to another status, the 409 says why. \
            Only their own operations can move invoices, bills, journal entries and accounting \
            periods. Payroll items, payslips, payroll verifications and subjects follow other \
            resources.",
        example: r#"{"resource_id":"@employee:1","to":"suspended","reason":"asked by a test"}"#,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::CompanySuspended,
            ErrorCode::ComplianceBlocked,
            ErrorCode::InsufficientFunds,
            ErrorCode::LimitExceeded,
        ],
        runs: transitions::RUNS,
        long: true,
        ..operation!(write transition_resource)
    },
]);

/// What a rule matches.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RuleMatch")]
pub(crate) struct Matched {
    /// The name of a decision, for an outcome. `GET /_sandbox/magic-values` lists them.
    pub(super) decision: Option<Text<64>>,
    /// An operationId such as `runPayroll`, a domain such as `payments.*`, or `*`, for a fault.
    operation: Option<Text<80>>,
    /// An event type such as `payout.paid`, all types of a resource such as `payout.*`, or `*`, for a change of deliveries.
    event: Option<Text<64>>,
    /// Only decisions about this resource or a related one: an employee, a run, a company.
    pub(super) resource: Option<Text<64>>,
    /// Only if these fields of the subject or a related resource have these values, like `where` in a scenario. For a fault: members of the path
    /// or body of the call.
    #[serde(default)]
    pub(super) r#where: Map<String, Value>,
}

/// The outcome of a rule.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RuleOutcome")]
pub(crate) struct Answered {
    /// The name of the choice.
    pub(super) then: Text<64>,
    /// A code of the payment's rail, if the choice can have one. A code of another rail of the same direction is replaced by the payment's own
    /// code for the same reason.
    pub(super) code: Option<Text<32>>,
    /// Replaces the normal delay, if the choice can have one.
    pub(super) after: Option<Span>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateRule {
    /// What the rule matches.
    r#match: Matched,
    /// The rule acts only on this match, counted from 1. Default: on every match.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    nth: Option<u64>,
    /// Maximum number of times; unlimited if absent.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    times: Option<u64>,
    /// The outcome; requires `match.decision`.
    outcome: Option<Answered>,
    /// The fault; requires `match.operation`.
    fault: Option<RuleFault>,
    /// The change of deliveries; requires `match.event`. For `duplicate`, `times` is the number of additional copies, at most 100.
    shape: Option<Shaping>,
    /// The delay of a duplicate's copy, of a delayed delivery, or of a reordered one, in virtual time.
    delay: Option<Span>,
}

/// A rule added at run time.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "AddedRule")]
pub(crate) struct Rule {
    /// The rule's id.
    pub(super) id: String,
    /// The decision that it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<String>,
    /// The name of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) then: Option<String>,
    /// The return code of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    /// The delay that replaces the normal one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Span>,
    /// The operation that the fault applies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation: Option<String>,
    /// The fault, in the format of the `Sandbox-Fault` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    /// The event type whose deliveries it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<String>,
    /// The change of deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shape: Option<Shaping>,
    /// The delay of a duplicate's copy, of a delayed delivery, or of a reordered one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delay: Option<Span>,
    /// The conditions on the subject or the call. A `match.resource` is the condition on its kind.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) r#where: Map<String, Value>,
    /// Maximum number of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<u64>,
    /// Number of decisions, calls or events that it matches, also those on which another row acted.
    pub(super) asked: u64,
    /// Number of times that it acted.
    pub(super) hits: u64,
}

impl Rule {
    fn of(world: &World, state: &OutcomeState) -> Option<Self> {
        let row = &state.row;
        Some(Self {
            id: rule_id(world, state.rule?),
            decision: Some(row.on.to_string()),
            then: Some(row.then.to_string()),
            code: row.code.clone(),
            after: row.after,
            r#where: row.when.conditions(),
            times: row.when.times,
            asked: state.asked,
            hits: state.hits,
            ..Self::default()
        })
    }

    fn of_fault(armed: &Armed) -> Self {
        Self {
            id: armed.id.clone(),
            operation: Some(armed.row.on.clone()),
            fault: Some(armed.row.fault.to_string()),
            r#where: armed.row.when.conditions(),
            times: armed.row.when.times,
            asked: armed.asked,
            hits: armed.hits,
            ..Self::default()
        }
    }
}

fn rule_id(world: &World, number: u64) -> String {
    let key = world.base().key().with("rule").at(number);
    format!("rul_{}", encode_to_string(key.hash()))
}

/// The id of the latest rule.
pub(crate) fn newest_rule(world: &World) -> Option<String> {
    let rules = (world.script().outcomes.iter()).filter_map(|state| state.rule);
    rules.max().map(|number| rule_id(world, number))
}

/// Outcomes, then faults, then changes of deliveries, each in the order of evaluation.
fn list_rules(session: &mut Session<'_>, _: Nothing) -> Result<List<Rule>> {
    let world = &*session.world;
    let outcomes = world.script().outcomes.iter();
    let outcomes = outcomes.filter_map(|state| Rule::of(world, state));
    let faults = session.tester.wire.rows().iter();
    let faults = faults.filter(|armed| armed.is_rule).map(Rule::of_fault);
    let shapes = shaping::rules(session);
    Ok(List::whole(outcomes.chain(faults).chain(shapes).collect()))
}

fn create_rule(session: &mut Session<'_>, input: CreateRule) -> Result<Plain<Rule>> {
    faults::check_room(session)?;
    let CreateRule { r#match: matched, nth, times, outcome, fault, shape, delay } = input;
    if let (None, None, Some(shape), Some(event)) = (&outcome, &fault, shape, &matched.event)
        && matched.decision.is_none()
        && matched.operation.is_none()
        && matched.resource.is_none()
    {
        let (event, conditions) = (event.as_str(), &matched.r#where);
        let wanted = shaping::Wanted { event, conditions, shape, delay, nth, times };
        return shaping::add(session, wanted).map(Plain);
    }
    if shape.is_some() && matched.event.is_some() && matched.resource.is_some() {
        let detail = "not allowed with match.event: select the resource with where and its kind, such as company";
        return Err(ApiError::of_member("/match/resource", "unexpected", detail));
    }
    if shape.is_some() || delay.is_some() || matched.event.is_some() {
        return Err(wrong_parts());
    }
    match (outcome, fault, &matched.decision, &matched.operation) {
        (Some(outcome), None, Some(_), None) => {
            let operations = session.host.operations();
            let world = &mut *session.world;
            let source = format!("rule {}", rule_id(world, world.script().rules + 1));
            let mut row = outcome_rule::row(&matched, &outcome, source, &operations)?;
            row.when.times = times;
            row.when.nth = nth.into_iter().map(Range::only).collect();
            world.add_rule(row);
            let states = world.script().outcomes.iter();
            let mut made = states.filter_map(|state| Rule::of(world, state));
            Ok(Plain(made.next().expect("a new rule is the first")))
        }
        (None, Some(fault), None, Some(operation)) => {
            if matched.resource.is_some() {
                let detail =
                    "not allowed with a fault: select the calls with where and members of the call";
                return Err(ApiError::of_member("/match/resource", "unexpected", detail));
            }
            let fault = fault.on(operation.clone(), matched.r#where.clone(), nth, times);
            let row = faults::row(fault, &session.host.operations()).map_err(in_rule)?;
            let key = session.world.base().key();
            Ok(Plain(Rule::of_fault(session.tester.wire.add_rule(row, key))))
        }
        _ => Err(wrong_parts()),
    }
}

/// The error of a fault with pointers into the rule.
fn in_rule(error: ApiError) -> ApiError {
    let mut errors = error.errors;
    for violation in &mut errors {
        let pointer = &mut violation.pointer;
        match pointer.split('/').nth(1) {
            Some("on") => "/match/operation".clone_into(pointer),
            Some("where") => pointer.insert_str(0, "/match"),
            Some("nth" | "times") => {}
            _ => pointer.insert_str(0, "/fault"),
        }
    }
    ApiError::invalid(errors)
}

fn wrong_parts() -> ApiError {
    let detail = "expected match.decision with an outcome, match.operation with a fault, or \
        match.event with a shape";
    ApiError::of_member("", "one_of", detail)
}

fn delete_rules(session: &mut Session<'_>, _: Nothing) -> Result<Plain<Removed>> {
    Ok(Removed::of(remove_rules(session, |fault| fault.is_rule)))
}

/// Removes all rules and faults that were added at run time.
pub(crate) fn remove_added(session: &mut Session<'_>) {
    remove_rules(session, |fault| fault.at_run_time);
}

/// Removes all rules that were added at run time, with these faults. Returns how many there were.
fn remove_rules(session: &mut Session<'_>, is_meant: impl Fn(&Armed) -> bool) -> usize {
    let wire = &mut session.tester.wire;
    let faults = wire.rows().iter().filter(|armed| is_meant(armed));
    let faults: Vec<String> = faults.map(|armed| armed.id.clone()).collect();
    let faults = faults.iter().filter(|id| wire.remove(id)).count();
    let shapes = session.tester.outbox.shaping_mut().remove(None);
    session.world.remove_rules(None) + faults + shapes
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct DeleteRule {
    /// The rule.
    rule_id: Text<64>,
}

fn delete_rule(session: &mut Session<'_>, input: DeleteRule) -> Result<Plain<Removed>> {
    let id = input.rule_id.as_str();
    let wire = &mut session.tester.wire;
    let is_rule = wire.rows().iter().any(|armed| armed.id == id && armed.is_rule);
    let is_removed = (is_rule && wire.remove(id)) || shaping::remove(session, id);
    let world = &mut *session.world;
    if is_removed {
        return Ok(Removed::of(1));
    }
    let mut numbers = (world.script().outcomes.iter()).filter_map(|state| state.rule);
    let number = numbers.find(|number| rule_id(world, *number) == id);
    let number = number.ok_or_else(|| ApiError::not_found("rule").about(id))?;
    Ok(Removed::of(world.remove_rules(Some(number))))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TransitionResource {
    /// The resource.
    resource_id: Text<64>,
    /// The status to enter.
    to: Text<64>,
    /// The reason. It is stored where the operation of the same transition stores its `reason` or `note`. For a company, an employee on leave
    /// without a request, a dispute and a loan in default, it is in `status_history`. For a payout that fails or is returned, it is
    /// `failure.rail_message`. For a beneficiary that is rejected, `name_mismatch`, `account_closed` and `account_not_found` choose the failure.
    /// All other transitions ignore it.
    reason: Option<Text<200>>,
    /// The code of a payout or collection that becomes `failed` or `returned`, or of a refund that
    /// becomes `failed`. Other transitions refuse a code (422). A code of another rail of the same
    /// direction is replaced by the payment's own code for the same reason. Default: the code that
    /// waits for the payment. If there is none: the rail's code for an account that does not exist,
    /// for missing money, or for a closed account.
    return_code: Option<Text<32>>,
}

/// The resource after its transition, in the form of its kind.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TransitionedResource")]
pub(crate) struct Moved(Map<String, Value>);

fn transition_resource(world: &mut World, input: TransitionResource) -> Result<Plain<Moved>> {
    let code = input.return_code.map(Text::into_string);
    if let Some(code) = &code {
        let wrong = |code, detail| ApiError::of_member("/return_code", code, detail);
        let scope = scope(input.resource_id.as_str(), input.to.as_str()).ok_or_else(|| {
            let detail = "only a payout or collection that becomes failed or returned, and a \
                refund that becomes failed, has a code";
            wrong("unexpected", detail.to_owned())
        })?;
        scope.check(None, code).map_err(|detail| wrong("code_of_another_rail", detail))?;
    }
    let reason = input.reason.map(Text::into_string);
    let wanted = hand_move::Wanted { reason, code };
    match transitions::go(world, input.resource_id.as_str(), input.to.as_str(), wanted)? {
        Value::Object(resource) => Ok(Plain(Moved(resource))),
        other => unreachable!("a resource is an object, not {other}"),
    }
}

/// The codes of a payment that moves to that status; none if the transition takes no code.
fn scope(id: &str, to: &str) -> Option<Scope> {
    let prefix = id.split_once('_').map_or("", |(prefix, _)| prefix);
    match (Kind::ALL.iter().find(|kind| kind.prefix() == prefix)?, to) {
        (Kind::Payout, "failed" | "returned") => Some(Scope::Payouts),
        (Kind::Collection, "returned") => Some(Scope::Returns),
        (Kind::Collection, "failed") => Some(Scope::Collections),
        (Kind::Refund, "failed") => Some(Scope::Refunds),
        _ => None,
    }
}
