//! Earnings of a run with a type of the payroll pack, and the method by which they are taxed.

use crate::api::business::pay_lines::{AllowanceInput, TypeName, allowances};
use crate::api::prelude::*;
use crate::model::business::PayLine;
use crate::model::payroll::{self, Pack};

/// A taxable addition to one pay.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct EarningInput {
    #[serde(flatten)]
    line: AllowanceInput,
    /// Its type in the payroll pack of the country, such as `bonus`, `overtime`, `commission` or `benefit_in_kind`. The pack states how it is
    /// taxed. Default: regular pay, or the type that the `id` names.
    #[serde(rename = "type")]
    kind: Option<TypeName>,
    /// The method of taxation, if the law allows a choice: `flat` or `aggregate` in the United States. Default: the first method of the pack.
    method: Option<TypeName>,
}

/// Earnings by the law of a country on a pay date; `at` points to the list.
pub(crate) fn earnings(
    (country, day): (&str, Date),
    list: Vec<EarningInput>,
    at: &str,
) -> Result<Vec<PayLine>> {
    let pack = payroll::library().in_force(country, day.civil()).pack;
    let (mut plain, mut types) = (Vec::new(), Vec::new());
    for one in list {
        plain.push(one.line);
        types.push((one.kind.map(|kind| kind.0), one.method.map(|method| method.0)));
    }
    let wrong = (0..).zip(&types).filter_map(|(place, (kind, method))| {
        let (member, detail) = refusal(pack, kind.as_deref(), method.as_deref())?;
        Some(Violation::new(format!("{at}/{place}/{member}"), "unknown_type", detail))
    });
    ApiError::if_any(wrong.collect::<Vec<Violation>>())?;
    let lines = allowances(plain, at)?.into_iter().zip(types);
    let of_type = lines.map(|(line, (kind, method))| PayLine {
        kind,
        method,
        ..PayLine::plain(line.id, line.label, line.amount)
    });
    Ok(of_type.collect())
}

/// The refusal of a type or method that the pack does not have: the member and the reason.
fn refusal(
    pack: &Pack,
    kind: Option<&str>,
    method: Option<&str>,
) -> Option<(&'static str, String)> {
    let Some(kind) = kind else {
        return method.map(|_| ("method", "a `method` needs a `type`".to_owned()));
    };
    if kind == "regular" {
        return method.map(|_| ("method", "`regular` pay has only one method".to_owned()));
    }
    let Some(known) = pack.earning_type(kind) else {
        let types = pack.earning_types.iter().map(|known| known.id.as_str());
        let types: Vec<&str> = ["regular"].into_iter().chain(types).collect();
        let detail = format!(
            "the payroll pack {} has no earnings `{kind}`; expected one of {}",
            pack.code,
            types.join(", ")
        );
        return Some(("type", detail));
    };
    if known.component(method).is_some() {
        return None;
    }
    let methods = if known.methods.is_empty() {
        "it has only one".to_owned()
    } else {
        format!("expected one of {}", known.methods.join(", "))
    };
    let method = method.unwrap_or_default();
    Some(("method", format!("`{kind}` has no method `{method}`: {methods}")))
}
