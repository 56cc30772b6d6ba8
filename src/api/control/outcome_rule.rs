//! The outcome of a rule that is added at run time, checked against its decision.

use serde_json::Value;

use crate::api::check::suggestion;
use crate::api::control::faults::escaped;
use crate::api::control::intervene::{Answered, Matched};
use crate::api::prelude::*;
use crate::api::resource_members::{kinds_of, members_of, named_by, subject_of};
use crate::model::decision::{DECISIONS, Decision};
use crate::value::id::parse;
use crate::world::script::{self, OutcomeRule, RailFault, Selector, When};

/// The resources that the conditions of a rule can be about.
pub(super) struct Subjects<'a> {
    /// Kinds whose members can be named, the nearest first.
    kinds: Vec<Kind>,
    /// Kinds that a condition can match only by id, such as `company = "com_…"`.
    named: Vec<Kind>,
    operations: &'a [&'static Operation],
}

impl<'a> Subjects<'a> {
    fn of_decision(decision: &Decision, operations: &'a [&'static Operation]) -> Self {
        Self { kinds: kinds_of(decision), named: Vec::new(), operations }
    }

    /// None if events of several kinds of resources have that type.
    pub(super) fn of_event(on: &str, operations: &'a [&'static Operation]) -> Option<Self> {
        let kind = subject_of(on)?;
        let named = named_by(kind, operations.iter().copied());
        Some(Self { kinds: vec![kind], named, operations })
    }

    /// A condition of `where`, or one more mistake.
    pub(super) fn selector(
        &self,
        field: &str,
        wanted: &Value,
        wrong: &mut Vec<Violation>,
    ) -> Option<Selector> {
        let mut refuse = |code, detail: String| {
            wrong.push(Violation::new(format!("/match/where/{}", escaped(field)), code, detail));
            None
        };
        let named = || self.kinds.iter().chain(&self.named).map(|kind| kind.name());
        let is_kind = self.kinds.iter().chain(&self.named).find(|kind| kind.name() == field);
        let members = |kind: &Kind| members_of(*kind, self.operations.iter().copied());
        let Some(kind) = is_kind else {
            let Some(member) = self.kinds.iter().find_map(|kind| members(kind).remove(field))
            else {
                let members = self.kinds.iter().flat_map(|kind| members(kind).into_keys());
                let known: Vec<String> = members.chain(named().map(str::to_owned)).collect();
                let near = suggestion(field, known.iter().map(String::as_str));
                let of: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
                let of = of.join(", ");
                let detail =
                    format!("expected a member of one of {of}, or the name of one of them{near}");
                return refuse("unknown", detail);
            };
            return match Selector::of(field, false, wanted) {
                Err(expected) => refuse("type", expected.to_owned()),
                Ok(Selector { field, wanted }) => match member.condition(wanted) {
                    Ok(wanted) => Some(Selector { field, wanted }),
                    Err(expected) => refuse("unexpected", expected),
                },
            };
        };
        match Selector::of(field, true, wanted) {
            Ok(Selector { wanted: script::Wanted::Is(Value::String(id)), .. })
                if !is_id(*kind, &id) =>
            {
                refuse("format", expected_id(*kind))
            }
            Ok(selector) => Some(selector),
            Err(expected) => refuse("type", expected.to_owned()),
        }
    }
}

/// Whether a resource of the kind can have that id. A reference to a caller's own id is one, too.
fn is_id(kind: Kind, id: &str) -> bool {
    id.starts_with('@') || parse(kind.prefix(), id).is_some()
}

fn expected_id(kind: Kind) -> String {
    format!("no {} can have this id: expected {}_ and 13 characters", kind.name(), kind.prefix())
}

/// The row for a rule, or all mistakes in it.
pub(super) fn row(
    matched: &Matched,
    wanted: &Answered,
    source: String,
    operations: &[&'static Operation],
) -> Result<OutcomeRule> {
    let mut wrong = Vec::new();
    let name = matched.decision.as_ref().map_or("", Text::as_str);
    let Some(decision) = Decision::find(name) else {
        let known: Vec<&str> = DECISIONS.iter().map(|row| row.name).collect();
        let detail = format!("unknown decision: expected one of {}", known.join(", "));
        let unknown = Violation::new("/match/decision", "unknown", detail);
        return Err(ApiError::invalid(vec![unknown]));
    };
    let then = wanted.then.as_str();
    match decision.choice(then) {
        None => {
            let known: Vec<&str> = decision.choices.iter().map(|choice| choice.name).collect();
            let detail =
                format!("{name} does not have this choice: expected one of {}", known.join(", "));
            wrong.push(Violation::new("/outcome/then", "unknown", detail));
        }
        Some(choice) => {
            if wanted.code.is_some() && choice.code.is_none() {
                let detail = format!("the choice {then} has no return code");
                wrong.push(Violation::new("/outcome/code", "unexpected", detail));
            }
            if wanted.after.is_some() && choice.after.is_none() {
                let detail = format!("the choice {then} has no delay");
                wrong.push(Violation::new("/outcome/after", "unexpected", detail));
            }
        }
    }
    let select = selectors(matched, decision, operations, &mut wrong);
    let code = wanted.code.as_ref().map(Text::as_str);
    match script::check_rail(decision, then, &select, code) {
        Err(RailFault::Rail(detail)) => {
            wrong.push(Violation::new("/match/where/payment_rail", "unknown", detail));
        }
        Err(RailFault::Code(detail)) => {
            wrong.push(Violation::new("/outcome/code", "code_of_another_rail", detail));
        }
        Ok(()) => {}
    }
    ApiError::if_any(wrong)?;
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
    operations: &[&'static Operation],
    wrong: &mut Vec<Violation>,
) -> Vec<Selector> {
    let subjects = Subjects::of_decision(decision, operations);
    let mut select = Vec::new();
    for (field, wanted) in &matched.r#where {
        select.extend(subjects.selector(field, wanted, wrong));
    }
    if let Some(id) = matched.resource.as_ref().map(Text::as_str) {
        let prefix = id.split_once('_').map_or("", |(prefix, _)| prefix);
        let kind = kinds_of(decision).into_iter().find(|kind| kind.prefix() == prefix);
        if let Some(kind) = kind.filter(|kind| !is_id(*kind, id)) {
            wrong.push(Violation::new("/match/resource", "format", expected_id(kind)));
        } else if let Some(kind) = kind {
            select.push(Selector {
                field: kind.name().to_owned(),
                wanted: crate::world::script::Wanted::Is(id.into()),
            });
        } else {
            let detail = format!("{} is not about resources of this kind", decision.name);
            wrong.push(Violation::new("/match/resource", "unexpected", detail));
        }
    }
    select
}
