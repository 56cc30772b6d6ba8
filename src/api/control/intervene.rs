//! The tester's own hand: rules made at run time, and a resource moved along its lifecycle.

use serde_json::{Map, Value};

use crate::api::control::faults::{Removed, RuleFault};
use crate::api::control::{faults, transitions};
use crate::api::prelude::*;
use crate::model::decision::{DECISIONS, Decision};
use crate::model::payments::ReturnCode;
use crate::tester::wire::Armed;
use crate::value::id::encode_to_string;
use crate::world::decide::OutcomeState;
use crate::world::facts::kind_named;
use crate::world::script::{OutcomeRule, Range, Selector, When};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/rules",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "List rules",
        description: "Rules made at run time that are still there, and how often each has decided.",
        ..operation!(tester list_rules)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/rules",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Make a rule",
        description: "A scenario's row at run time: an outcome for a decision, or a fault for an operation. It comes before every row that \
            is there: the last word is the tester's.",
        example: r#"{"match":{"decision":"payout.settle"},"times":1,"outcome":{"then":"returned","code":"R02"}}"#,
        success: 201,
        ..operation!(tester create_rule)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/rules",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Remove every rule",
        description: "Those made at run time; a scenario's rows stay.",
        ..operation!(tester delete_rules)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/rules/{rule_id}",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Remove a rule",
        description: "One that was made at run time.",
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(tester delete_rule)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/resources/{resource_id}/transition",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Move a resource along its lifecycle",
        description: "One verb for every machine: what follows from the new state (postings, items, payslips, events) follows here, \
            too. A move that the lifecycle does not have is a 409 with those it has.",
        example: r#"{"resource_id":"@employee:1","to":"suspended","reason":"asked by a test"}"#,
        errors: &[
            ErrorCode::ResourceNotFound,
            ErrorCode::InvalidStateTransition,
            ErrorCode::LimitExceeded,
        ],
        emits: transitions::EMITS,
        starts: transitions::STARTS,
        ..operation!(write transition_resource)
    },
];

/// What a rule looks for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Matched {
    /// A decision by its name: `GET /_sandbox/magic-values` lists them. For an outcome.
    decision: Option<Text<64>>,
    /// An operationId such as `runPayroll`, a domain such as `payments.*`, or `*`. For a fault.
    operation: Option<Text<80>>,
    /// Only about that resource, or what is related to it: an employee, a run, a company.
    resource: Option<Text<64>>,
    /// Only where these fields of the subject, or of what is related to it, have these values; as `where` of a scenario.
    #[serde(default)]
    r#where: Map<String, Value>,
}

/// What a rule answers.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Answered {
    /// The name of the choice.
    then: Text<64>,
    /// A return code, for a choice that has one.
    code: Option<Text<8>>,
    /// Instead of the normal timing, for a choice that takes a time.
    after: Option<Span>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateRule {
    /// What it looks for.
    r#match: Matched,
    /// Only the so manieth time that it is asked, from 1.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    nth: Option<u64>,
    /// At most so often; without end if absent.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    times: Option<u64>,
    /// What it answers; with `match.decision`.
    outcome: Option<Answered>,
    /// What goes wrong; with `match.operation`.
    fault: Option<RuleFault>,
}

/// A rule made at run time.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Rule {
    /// The rule's id.
    id: String,
    /// The decision that it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<String>,
    /// The choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<String>,
    /// The return code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// Instead of the normal timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Span>,
    /// The operation whose exchanges go wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    /// What goes wrong with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// At most so often.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u64>,
    /// How often it was asked about something that it looks for.
    asked: u64,
    /// How often it has acted.
    hits: u64,
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
            operation: None,
            fault: None,
            times: row.when.times,
            asked: state.asked,
            hits: state.hits,
        })
    }

    fn of_fault(armed: &Armed) -> Self {
        Self {
            id: armed.id.clone(),
            decision: None,
            then: None,
            code: None,
            after: None,
            operation: Some(armed.row.on.clone()),
            fault: Some(armed.row.fault.to_string()),
            times: armed.row.when.times,
            asked: armed.asked,
            hits: armed.hits,
        }
    }
}

fn rule_id(world: &World, number: u64) -> String {
    let key = world.base().key().with("rule").at(number);
    format!("rul_{}", encode_to_string(key.hash()))
}

/// The id of the rule that was made last.
pub(crate) fn newest_rule(world: &World) -> Option<String> {
    let rules = (world.script().outcomes.iter()).filter_map(|state| state.rule);
    rules.max().map(|number| rule_id(world, number))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListRules {}

/// Rules that are there.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Rules {
    /// Outcomes, then faults, each in the order in which they are asked.
    rules: Vec<Rule>,
}

fn list_rules(session: &mut Session<'_>, _: ListRules) -> Result<Plain<Rules>, ApiError> {
    let world = &*session.world;
    let outcomes = world.script().outcomes.iter();
    let outcomes = outcomes.filter_map(|state| Rule::of(world, state));
    let faults = session.tester.wire.rows().iter();
    let faults = faults.filter(|armed| armed.at_run_time).map(Rule::of_fault);
    Ok(Plain(Rules { rules: outcomes.chain(faults).collect() }))
}

fn create_rule(session: &mut Session<'_>, input: CreateRule) -> Result<Plain<Rule>, ApiError> {
    let CreateRule { r#match: matched, nth, times, outcome, fault } = input;
    match (outcome, fault, &matched.decision, &matched.operation) {
        (Some(outcome), None, Some(_), None) => {
            let world = &mut *session.world;
            let source = format!("rule {}", rule_id(world, world.script().rules + 1));
            let mut row = self::outcome(&matched, &outcome, source)?;
            row.when.times = times;
            row.when.nth = nth.into_iter().map(Range::only).collect();
            world.add_rule(row);
            let states = world.script().outcomes.iter();
            let mut made = states.filter_map(|state| Rule::of(world, state));
            Ok(Plain(made.next().expect("a new rule is the first")))
        }
        (None, Some(fault), None, Some(operation)) => {
            if matched.resource.is_some() || !matched.r#where.is_empty() {
                let detail =
                    "a fault looks for an operation alone: nothing is known of its subject yet";
                return Err(ApiError::invalid(vec![Violation::new(
                    "/match",
                    "unexpected",
                    detail,
                )]));
            }
            let row = faults::row(fault.on(operation.clone(), nth, times))?;
            let key = session.world.base().key();
            Ok(Plain(Rule::of_fault(session.tester.wire.add(row, key))))
        }
        _ => {
            let detail = "expected match.decision with an outcome, or match.operation with a fault";
            Err(ApiError::invalid(vec![Violation::new("", "one_of", detail)]))
        }
    }
}

/// The row that a rule is, or everything that is wrong with it.
fn outcome(matched: &Matched, wanted: &Answered, source: String) -> Result<OutcomeRule, ApiError> {
    let mut wrong = Vec::new();
    let name = matched.decision.as_ref().map_or("", Text::as_str);
    let Some(decision) = Decision::find(name) else {
        let known: Vec<&str> = DECISIONS.iter().map(|row| row.name).collect();
        let detail = format!("no decision has this name: expected {}", known.join(", "));
        let unknown = Violation::new("/match/decision", "unknown", detail);
        return Err(ApiError::invalid(vec![unknown]));
    };
    let then = wanted.then.as_str();
    match decision.choice(then) {
        None => {
            let known: Vec<&str> = decision.choices.iter().map(|choice| choice.name).collect();
            let detail = format!("{name} has no such choice: expected {}", known.join(", "));
            wrong.push(Violation::new("/outcome/then", "unknown", detail));
        }
        Some(choice) => {
            if wanted.code.is_some() && choice.code.is_none() {
                let detail = format!("{then} carries no return code");
                wrong.push(Violation::new("/outcome/code", "unexpected", detail));
            }
            if wanted.after.is_some() && choice.after.is_none() {
                let detail = format!("{then} has no time of its own");
                wrong.push(Violation::new("/outcome/after", "unexpected", detail));
            }
        }
    }
    if let Some(code) = &wanted.code
        && let Err(expected) = code.as_str().parse::<ReturnCode>()
    {
        wrong.push(Violation::new("/outcome/code", "pattern", expected));
    }
    let select = selectors(matched, decision, &mut wrong);
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
    Ok(OutcomeRule {
        on: decision.name.into(),
        when: When { select, ..When::default() },
        then: then.to_owned().into(),
        code: wanted.code.as_ref().map(|code| code.as_str().to_owned()),
        after: wanted.after,
        source,
    })
}

fn selectors(
    matched: &Matched,
    decision: &'static Decision,
    wrong: &mut Vec<Violation>,
) -> Vec<Selector> {
    let mut select = Vec::new();
    for (field, wanted) in &matched.r#where {
        match Selector::of(field, kind_named(field).is_some(), wanted) {
            Ok(selector) => select.push(selector),
            Err(expected) => {
                wrong.push(Violation::new(format!("/match/where/{field}"), "type", expected));
            }
        }
    }
    if let Some(id) = matched.resource.as_ref().map(Text::as_str) {
        let prefix = id.split_once('_').map_or("", |(prefix, _)| prefix);
        let mut kinds = core::iter::once(decision.subject).chain(decision.related.iter().copied());
        if let Some(kind) = kinds.find(|kind| kind.prefix() == prefix) {
            select.push(Selector {
                field: kind.name().to_owned(),
                wanted: crate::world::script::Wanted::Is(id.into()),
            });
        } else {
            let detail = format!("{} is not about a resource of this kind", decision.name);
            wrong.push(Violation::new("/match/resource", "unexpected", detail));
        }
    }
    select
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct DeleteRules {}

fn delete_rules(session: &mut Session<'_>, _: DeleteRules) -> Result<Plain<Removed>, ApiError> {
    let wire = &mut session.tester.wire;
    let faults = wire.rows().iter().filter(|armed| armed.at_run_time);
    let faults: Vec<String> = faults.map(|armed| armed.id.clone()).collect();
    let faults = faults.iter().filter(|id| wire.remove(id)).count();
    Ok(Removed::of(session.world.remove_rules(None) + faults))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct DeleteRule {
    /// The rule.
    rule_id: Text<64>,
}

fn delete_rule(session: &mut Session<'_>, input: DeleteRule) -> Result<Plain<Removed>, ApiError> {
    let (id, world) = (input.rule_id.as_str(), &mut *session.world);
    if session.tester.wire.remove(id) {
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
    /// Why; it stands in the status history, or in a payout's failure.
    reason: Option<Text<200>>,
    /// Why a payout fails or comes back: `R01` … `R85`; `R01` if absent.
    return_code: Option<Text<8>>,
}

/// A resource after its move.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Moved {
    /// The resource as it is now.
    resource: Value,
}

fn transition_resource(
    world: &mut World,
    input: TransitionResource,
) -> Result<Plain<Moved>, ApiError> {
    let code = input.return_code.as_ref().map(|code| code.as_str().parse());
    let code: Option<ReturnCode> = code.transpose().map_err(|expected: &str| {
        ApiError::invalid(vec![Violation::new("/return_code", "pattern", expected)])
    })?;
    let reason = input.reason.map(Text::into_string);
    let wanted = transitions::Wanted { reason, code };
    let resource = transitions::go(world, input.resource_id.as_str(), input.to.as_str(), wanted)?;
    Ok(Plain(Moved { resource }))
}
