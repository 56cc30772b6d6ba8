//! The check of a value against its nodes. It runs for every request, and allocates nothing before it finds a violation.

use core::ops::RangeInclusive;
use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

use super::words::{came, expected_count, expected_integer, expected_one_of, suggestion};
use super::{Allowed, Array, Checker, Forms, Node, NodeId, Object, Rest, Text, Types};
use crate::api::json::{Place, canonical, quoted};
use crate::value::Violation;

/// Maximum number of violations reported. A body of a megabyte may have half a million, and the reply must stay small.
const MOST: usize = 100;

/// Violations found so far, up to the maximum.
#[derive(Default)]
pub(crate) struct Faults {
    found: Vec<Violation>,
    more: bool,
}

impl Faults {
    /// Adds a violation at that place. The sentence is created only if it will be reported.
    pub(crate) fn add(
        &mut self,
        at: Place<'_>,
        code: &'static str,
        detail: impl FnOnce() -> String,
    ) {
        if self.found.len() < MOST {
            self.found.push(Violation::new(at.pointer(), code, detail()));
        } else {
            self.more = true;
        }
    }

    /// Adds violations of another check, for places without one.
    pub(crate) fn extend(&mut self, others: impl IntoIterator<Item = Violation>) {
        let known = self.found.len();
        for other in others {
            if self.found[..known].iter().any(|known| known.pointer == other.pointer) {
                continue;
            }
            if self.found.len() < MOST {
                self.found.push(other);
            } else {
                self.more = true;
            }
        }
    }

    pub(crate) fn into_violations(mut self) -> Vec<Violation> {
        if self.more {
            self.found.push(Violation::new(
                "",
                "too_many",
                format!("only the first {MOST} violations are listed"),
            ));
        }
        self.found
    }
}

impl Checker {
    /// All violations in document order; missing members come after existing ones. At most 100, with a note if there
    /// are more.
    pub(crate) fn check(&self, value: &Value) -> Vec<Violation> {
        let mut walk = Walk { checker: self, faults: Faults::default() };
        walk.node(self.root, value, Place::Root);
        walk.faults.into_violations()
    }
}

struct Walk<'c> {
    checker: &'c Checker,
    faults: Faults,
}

impl<'c> Walk<'c> {
    fn node(&mut self, id: NodeId, value: &Value, at: Place<'_>) {
        let node = &self.checker.nodes[id];
        if !node.types.contains(Types::of(value)) {
            self.wrong_type(node.types, node.integer.clone(), value, at);
            return;
        }
        if let Some(allowed) = &node.allowed
            && !allowed.contains(value)
        {
            self.faults.add(at, "enum", || allowed.expected(value));
            return;
        }
        match value {
            Value::Number(number) => self.integer(&node.integer, number, at),
            Value::String(text) => {
                if let Some(rules) = &node.text {
                    self.text(rules, text, at);
                }
            }
            Value::Array(items) => {
                if let Some(rules) = &node.array {
                    self.array(rules, items, at);
                }
            }
            Value::Object(members) => {
                if let Some(rules) = &node.object {
                    self.object(rules, members, at);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
        for &also in &node.also {
            self.node(also, value, at);
        }
        self.forms(node, value, at);
    }

    /// An integer too wide for 64 bits arrives as a float: it is reported as out of range, not as a wrong type.
    fn wrong_type(
        &mut self,
        types: Types,
        range: RangeInclusive<i128>,
        value: &Value,
        at: Place<'_>,
    ) {
        const WHOLE_FROM: f64 = 9_007_199_254_740_992.0;
        let wide = value
            .as_f64()
            .filter(|float| types.contains(Types::INTEGER) && float.abs() >= WHOLE_FROM);
        if wide.is_some() {
            self.faults
                .add(at, "range", || format!("{}, got {}", expected_integer(&range), came(value)));
            return;
        }
        self.faults.add(at, "type", || {
            // For an optional member, the message does not mention that null is allowed.
            let expected =
                Types::NAMES.iter().filter(|(one, ..)| types.contains(*one) && *one != Types::NULL);
            let names: Vec<&str> = expected.map(|(_, _, name)| *name).collect();
            let expected =
                if names.is_empty() { "only null".to_owned() } else { names.join(" or ") };
            format!("expected {expected}, got {}", came(value))
        });
    }

    fn integer(&mut self, range: &RangeInclusive<i128>, number: &Number, at: Place<'_>) {
        let value = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        if value.is_some_and(|value| !range.contains(&value)) {
            self.faults.add(at, "range", || format!("{}, got {number}", expected_integer(range)));
        }
    }

    fn text(&mut self, rules: &Text, text: &str, at: Place<'_>) {
        if !is_within(&rules.length, text) {
            let came = text.chars().count();
            self.faults.add(at, "length", || {
                format!("{}, got {came}", expected_count(&rules.length, "character"))
            });
        }
        // A format's parser gives the best message; a pattern beside it only informs clients.
        if let Some(format) = rules.format
            && let Err(expected) = format(text)
        {
            self.faults.add(at, "format", || format!("{expected}, got {}", quoted(text)));
        } else if let Some(pattern) = &rules.pattern
            && !pattern.matcher.is_match(text)
        {
            self.faults.add(at, "pattern", || {
                format!("expected {}, got {}", pattern.expected, quoted(text))
            });
        }
    }

    fn array(&mut self, rules: &Array, items: &[Value], at: Place<'_>) {
        self.count(&rules.length, items.len(), "item", at);
        if let Some(schema) = rules.items {
            // Items beyond the maximum length count as one violation, which is already reported.
            for (index, item) in items.iter().enumerate().take(*rules.length.end()) {
                self.node(schema, item, Place::Item(&at, index));
            }
        }
        if rules.unique {
            self.unique(items, at);
        }
    }

    fn unique(&mut self, items: &[Value], at: Place<'_>) {
        const FEW: usize = 16; // compared in pairs, which allocates nothing
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let repeated = if items.len() <= FEW {
                items[..index].contains(item)
            } else {
                !seen.insert(canonical(item))
            };
            if repeated {
                self.faults.add(Place::Item(&at, index), "duplicate", || {
                    format!("{} is already in the list", came(item))
                });
            }
        }
    }

    fn object(&mut self, rules: &Object, members: &Map<String, Value>, at: Place<'_>) {
        let mut seen = 0;
        for (name, value) in members {
            let place = Place::Member(&at, name);
            if let Some(names) = rules.names {
                self.name(names, name, place);
            }
            if let Some(member) = rules.members.iter().find(|member| *member.name == **name) {
                seen |= member.bit;
                self.node(member.node, value, place);
            } else if let Some((_, schema)) =
                rules.patterns.iter().find(|(pattern, _)| pattern.is_match(name))
            {
                self.node(*schema, value, place);
            } else {
                self.unlisted_member(rules, name, value, place);
            }
        }
        let missing = rules.required & !seen;
        if missing != 0 {
            for member in rules.members.iter().filter(|member| member.bit & missing != 0) {
                let place = Place::Member(&at, &member.name);
                self.faults.add(place, "required", || "this member is required".to_owned());
            }
        }
        self.count(&rules.size, members.len(), "member", at);
    }

    /// A member that is neither listed nor matched by a pattern.
    fn unlisted_member(&mut self, rules: &Object, name: &str, value: &Value, at: Place<'_>) {
        match rules.rest {
            Rest::Free => {}
            Rest::Checked(schema) => self.node(schema, value, at),
            Rest::Unknown => self.faults.add(at, "unknown_member", || {
                let known = rules.members.iter().map(|member| &*member.name);
                format!("unknown member{}", suggestion(name, known))
            }),
        }
    }

    /// Only text rules apply to a name.
    fn name(&mut self, schema: NodeId, name: &str, at: Place<'_>) {
        let checker = self.checker;
        if let Some(rules) = &checker.nodes[schema].text {
            self.text(rules, name, at);
        }
        for &also in &checker.nodes[schema].also {
            self.name(also, name, at);
        }
    }

    fn count(&mut self, range: &RangeInclusive<usize>, count: usize, what: &str, at: Place<'_>) {
        if !range.contains(&count) {
            let code = if count < *range.start() { "too_few" } else { "too_many" };
            self.faults.add(at, code, || format!("{}, got {count}", expected_count(range, what)));
        }
    }

    fn forms(&mut self, node: &'c Node, value: &Value, at: Place<'_>) {
        match &node.forms {
            None => {}
            Some(Forms::Nullable(_)) if value.is_null() => {}
            Some(Forms::Nullable(form)) => self.node(*form, value, at),
            Some(Forms::Tagged { tag, forms }) => self.tagged(tag, forms, value, at),
            Some(Forms::Any { forms, one }) => self.any(forms, *one, value, at),
        }
    }

    fn tagged(&mut self, tag: &str, forms: &[(String, NodeId)], value: &Value, at: Place<'_>) {
        let Some(members) = value.as_object() else {
            return self.wrong_type(Types::OBJECT, i128::MIN..=i128::MAX, value, at);
        };
        let place = Place::Member(&at, tag);
        let names = || forms.iter().map(|(name, _)| name.as_str());
        match members.get(tag) {
            None => self.faults.add(place, "required", || {
                format!("this member is required, {}", expected_one_of(names()))
            }),
            Some(meant) => match forms.iter().find(|(name, _)| meant == name) {
                Some((_, form)) => self.node(*form, value, at),
                None => self.faults.add(place, "enum", || {
                    let near =
                        meant.as_str().map_or_else(String::new, |meant| suggestion(meant, names()));
                    format!("{}, got {}{near}", expected_one_of(names()), came(meant))
                }),
            },
        }
    }

    fn any(&mut self, forms: &[NodeId], one: bool, value: &Value, at: Place<'_>) {
        let of_type = |form: &&NodeId| self.checker.types(**form).contains(Types::of(value));
        let mut candidates = forms.iter().filter(of_type);
        match (candidates.next(), candidates.next()) {
            (None, _) => {
                let types =
                    forms.iter().fold(Types::NONE, |sum, &form| sum.or(self.checker.types(form)));
                self.wrong_type(types, i128::MIN..=i128::MAX, value, at);
            }
            (Some(&only), None) => self.node(only, value, at),
            _ => self.best(forms.iter().filter(of_type), one, value, at),
        }
    }

    /// The violations of the nearest form, if none matches.
    fn best<'f>(
        &mut self,
        forms: impl Iterator<Item = &'f NodeId>,
        one: bool,
        value: &Value,
        at: Place<'_>,
    ) {
        let mut nearest: Option<Faults> = None;
        let mut matching = 0;
        for &form in forms {
            let mut walk = Walk { checker: self.checker, faults: Faults::default() };
            walk.node(form, value, at);
            matching += usize::from(walk.faults.found.is_empty());
            if nearest.as_ref().is_none_or(|best| walk.faults.found.len() < best.found.len()) {
                nearest = Some(walk.faults);
            }
        }
        match nearest {
            _ if matching > 1 && one => {
                self.faults
                    .add(at, "form", || "more than one of the allowed forms matches".to_owned());
            }
            Some(nearest) if matching == 0 => self.faults.extend(nearest.into_violations()),
            _ => {}
        }
    }
}

impl Allowed {
    fn contains(&self, value: &Value) -> bool {
        match value {
            Value::String(text) if self.sorted => {
                self.texts.binary_search_by(|known| (**known).cmp(text)).is_ok()
            }
            Value::String(text) => self.texts.contains(text),
            other => self.others.contains(other),
        }
    }

    fn expected(&self, value: &Value) -> String {
        let known = self.texts.iter().map(String::as_str);
        let near = value.as_str().map_or_else(String::new, |text| suggestion(text, known.clone()));
        let others: Vec<String> = self.others.iter().map(came).collect();
        let all = known.chain(others.iter().map(String::as_str));
        format!("{}, got {}{near}", expected_one_of(all), came(value))
    }
}

/// The byte length is enough except for very long text: the number of characters is between a quarter of the bytes
/// and all of them.
fn is_within(length: &RangeInclusive<usize>, text: &str) -> bool {
    let (most, least) = (text.len(), text.len().div_ceil(4));
    *length.start() <= least && most <= *length.end() || length.contains(&text.chars().count())
}
