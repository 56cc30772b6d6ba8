//! From `when` and `alone` of TOML to a [`When`].

use super::line::{Scope, attribute_text};
use super::period::PayPeriod;
use super::rule::When;
use super::schema::RawWhen;

/// Reads a condition: on an attribute, on a value, or `any`, `all`, `not` of other conditions.
pub(super) fn read(raw: RawWhen, scope: &Scope) -> Result<When, String> {
    match raw {
        RawWhen {
            any: Some(parts), attr: None, is: None, of: None, all: None, not: None, ..
        } => Ok(When::Any(read_all(parts, scope)?)),
        RawWhen {
            all: Some(parts), attr: None, is: None, of: None, any: None, not: None, ..
        } => Ok(When::All(read_all(parts, scope)?)),
        RawWhen {
            not: Some(part), attr: None, is: None, of: None, any: None, all: None, ..
        } => Ok(When::Not(Box::new(read(*part, scope)?))),
        RawWhen {
            attr: Some(attr),
            is: Some(is),
            of: None,
            per: None,
            over: None,
            at_least: None,
            ..
        } => on_attribute(&attr, &is, scope),
        RawWhen { attr: None, is: None, of: Some(of), per, over, at_least, .. } => {
            let (limit, or_equal) = match (over, at_least) {
                (Some(over), None) => (over, false),
                (None, Some(at_least)) => (at_least, true),
                _ => return Err("`when` must have exactly one of `over` and `at_least`".to_owned()),
            };
            Ok(When::Value { of: scope.name(&of)?, per: per.unwrap_or_default(), limit, or_equal })
        }
        _ => Err("`when` must be { attr, is } or { of, per, over | at_least }".to_owned()),
    }
}

fn read_all(parts: Vec<RawWhen>, scope: &Scope) -> Result<Vec<When>, String> {
    parts.into_iter().map(|part| read(part, scope)).collect()
}

fn on_attribute(attr: &str, is: &toml::Value, scope: &Scope) -> Result<When, String> {
    let text = attribute_text(is).unwrap_or_default();
    match (attr, text.as_str()) {
        ("period", _) => return text.parse::<PayPeriod>().map(When::PayPeriod),
        ("final", "yes" | "no") => return Ok(When::Final(text == "yes")),
        ("odd_week", "yes" | "no") => return Ok(When::OddWeek(text == "yes")),
        _ => {}
    }
    let found = scope.attributes.iter().position(|attribute| attribute.name == attr);
    let attribute = found.ok_or_else(|| format!("`when`: there is no attribute `{attr}`"))?;
    let value = scope.attributes[attribute].values.iter().position(|value| *value == text);
    let value = value.ok_or_else(|| format!("`when`: `{is}` is not a value of `{attr}`"))?;
    Ok(When::Attribute { attribute, value: u8::try_from(value).expect("at most 255 values") })
}
