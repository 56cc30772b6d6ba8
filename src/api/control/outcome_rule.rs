//! The outcome of a rule that is added at run time, checked against its decision.

use serde_json::Value;

use crate::api::control::intervene::{Answered, Matched};
use crate::api::prelude::*;
use crate::model::decision::{DECISIONS, Decision};
use crate::world::facts::kind_named;
use crate::world::script::{self, OutcomeRule, RailFault, Selector, When};

/// The row for a rule, or all mistakes in it.
pub(super) fn row(matched: &Matched, wanted: &Answered, source: String) -> Result<OutcomeRule> {
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
    let select = selectors(matched, decision, &mut wrong);
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

/// A member of `where`, or one more mistake.
pub(super) fn selector(
    field: &str,
    wanted: &Value,
    wrong: &mut Vec<Violation>,
) -> Option<Selector> {
    let read = Selector::of(field, kind_named(field).is_some(), wanted);
    let refuse = |expected| {
        wrong.push(Violation::new(format!("/match/where/{field}"), "type", expected));
    };
    read.map_err(refuse).ok()
}

fn selectors(
    matched: &Matched,
    decision: &'static Decision,
    wrong: &mut Vec<Violation>,
) -> Vec<Selector> {
    let mut select = Vec::new();
    for (field, wanted) in &matched.r#where {
        select.extend(selector(field, wanted, wrong));
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
            let detail = format!("{} is not about resources of this kind", decision.name);
            wrong.push(Violation::new("/match/resource", "unexpected", detail));
        }
    }
    select
}
