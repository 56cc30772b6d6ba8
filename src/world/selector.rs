//! When a row of a scenario acts: conditions on the subject, counted matches, chance.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// When a row acts: all conditions must match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct When {
    /// The conditions on the subject.
    pub(crate) select: Vec<Selector>,
    /// Only these matches, counted from 1 among the matches of the selectors; every match if empty.
    pub(crate) nth: Vec<Range>,
    /// The most times that it acts.
    pub(crate) times: Option<u64>,
    /// The number of cases in a million in which it acts, drawn by (seed, decision, subject).
    pub(crate) chance_ppm: Option<u32>,
}

impl When {
    /// The conditions as a `where` gives them.
    pub(crate) fn conditions(&self) -> Map<String, Value> {
        self.select.iter().map(|selector| (selector.field.clone(), selector.as_given())).collect()
    }
}

/// Positions from `first` to `last`; without an end if `last` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) last: Option<u64>,
}

impl Range {
    /// This position alone.
    pub(crate) const fn only(place: u64) -> Self {
        Self { first: place, last: Some(place) }
    }
}

/// One condition on a field of the subject or of a related resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Selector {
    /// `department`, `amount`, `period`, or a kind such as `employee`, `company`, `payroll_run`.
    pub(crate) field: String,
    pub(crate) wanted: Wanted,
}

/// The value that a selector requires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    /// Exactly this value; for a kind, this id.
    Is(Value),
    /// A number with this relation to the given one.
    Compare(Comparison, i64),
    /// For a kind: the resource at this position in its parent, from 1: the third of the run.
    Ordinal(u64),
    /// For a kind: `@employee:3`, the resource grown at this position of the world, from 1.
    Reference(u64),
}

/// A relation between numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Selector {
    /// Parses a condition of a row: `department = "Engineering"`, `amount = ">= 500000"`, `employee = 3`,
    /// `employee = "@employee:3"`. `is_kind` says whether the
    /// field is a kind of resource.
    pub(crate) fn of(field: &str, is_kind: bool, wanted: &Value) -> Result<Self, &'static str> {
        let wanted = match wanted {
            Value::Number(number) if is_kind => {
                let place = number.as_u64().filter(|place| *place > 0);
                Wanted::Ordinal(place.ok_or("expected a position from 1")?)
            }
            Value::String(text) if is_kind && text.starts_with("@ext:") => {
                Wanted::Is(wanted.clone())
            }
            Value::String(text) if is_kind => match text.strip_prefix('@') {
                Some(reference) => {
                    let place = reference.split_once(':').map(|(_, place)| place.parse());
                    let place = place.and_then(Result::ok).filter(|place| *place > 0);
                    Wanted::Reference(place.ok_or("expected a reference such as @employee:3")?)
                }
                None => Wanted::Is(Value::String(text.clone())),
            },
            _ if is_kind => return Err("expected a position from 1, an id, or a reference"),
            Value::String(text) => match Comparison::split(text) {
                Some((relation, number)) => {
                    let number = number.parse();
                    Wanted::Compare(
                        relation,
                        number.map_err(|_| "expected a whole number to compare with")?,
                    )
                }
                None => Wanted::Is(Value::String(text.clone())),
            },
            Value::Number(number) if number.as_i64().is_none() => {
                return Err("expected a whole number");
            }
            Value::Bool(_) | Value::Number(_) => Wanted::Is(wanted.clone()),
            _ => return Err("expected a text, a whole number, or true or false"),
        };
        Ok(Self { field: field.to_owned(), wanted })
    }
}

impl Selector {
    /// The value as `where` gives it.
    fn as_given(&self) -> Value {
        match &self.wanted {
            Wanted::Is(value) => value.clone(),
            Wanted::Compare(relation, number) => format!("{} {number}", relation.sign()).into(),
            Wanted::Ordinal(place) => (*place).into(),
            Wanted::Reference(place) => format!("@{}:{place}", self.field).into(),
        }
    }
}

impl Comparison {
    const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::GreaterOrEqual => ">=",
            Self::Greater => ">",
        }
    }

    /// The relation at the start of a text, and the rest.
    fn split(text: &str) -> Option<(Self, &str)> {
        const RELATIONS: [(&str, Comparison); 7] = [
            (">=", Comparison::GreaterOrEqual),
            ("<=", Comparison::LessOrEqual),
            ("!=", Comparison::NotEqual),
            ("==", Comparison::Equal),
            (">", Comparison::Greater),
            ("<", Comparison::Less),
            ("=", Comparison::Equal),
        ];
        RELATIONS
            .iter()
            .find_map(|(sign, relation)| Some((*relation, text.strip_prefix(sign)?.trim())))
    }
}
