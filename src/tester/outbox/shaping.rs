//! Changes that a scenario makes to deliveries: its rows with counters, evaluated once per event.
//!
//! A change applies to the event, so all endpoints see the same, and an additional endpoint changes nothing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::business::{Company, Employee};
use crate::value::{Id, Prefixed, Timestamp};
use crate::world::envelope::named;
use crate::world::script::{Comparison, Selector, Shaping, Wanted, WebhookRow};
use crate::world::{Event, World};

/// The default delay.
const USUAL_DELAY_MS: i64 = 5 * 60 * 1_000;

/// Maximum number of copies per event.
pub(crate) const MOST_COPIES: u64 = 100;

/// The active rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shapes {
    /// Rows added at run time, then rows of scenarios.
    rows: Vec<Counted>,
    /// Number of rows added at run time so far; it numbers them.
    rules: u64,
}

/// A row with its counters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) row: WebhookRow,
    /// Its number, if it was added at run time.
    pub(crate) rule: Option<u64>,
    /// Number of events that its selectors matched.
    pub(crate) asked: u64,
    /// Number of events that it changed.
    pub(crate) hits: u64,
}

/// The change to an event's deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) does: Shaping,
    /// In virtual time.
    pub(crate) delay_ms: i64,
    /// Number of additional copies.
    pub(crate) copies: u64,
    /// The row that causes it.
    pub(crate) source: String,
}

impl Shapes {
    /// Sets these rows of scenarios, with counters at zero. Rows added at run time stay first.
    pub(crate) fn set(&mut self, rows: Vec<WebhookRow>) {
        let counted = |row| Counted { row, rule: None, asked: 0, hits: 0 };
        self.rows.retain(|counted| counted.rule.is_some());
        self.rows.extend(rows.into_iter().map(counted));
    }

    /// The number of the next row that is added at run time.
    pub(crate) const fn next_rule(&self) -> u64 {
        self.rules + 1
    }

    /// Adds a row at run time, after earlier ones and before those of scenarios.
    pub(crate) fn add(&mut self, row: WebhookRow) -> &Counted {
        self.rules += 1;
        let place = self.rows.partition_point(|counted| counted.rule.is_some());
        let counted = Counted { row, rule: Some(self.rules), asked: 0, hits: 0 };
        self.rows.insert(place, counted);
        &self.rows[place]
    }

    /// Removes the row of that number, or every row added at run time. Returns how many there were.
    pub(crate) fn remove(&mut self, rule: Option<u64>) -> usize {
        let before = self.rows.len();
        self.rows.retain(|counted| {
            counted.rule.is_none() || rule.is_some_and(|rule| counted.rule != Some(rule))
        });
        before - self.rows.len()
    }

    /// Every row, in the order of evaluation.
    pub(crate) fn rows(&self) -> &[Counted] {
        &self.rows
    }

    /// Every row, with the number of events that it changed.
    pub(crate) fn hits(&self) -> impl Iterator<Item = (&WebhookRow, u64)> {
        self.rows.iter().map(|counted| (&counted.row, counted.hits))
    }

    /// The change by the first row that acts. Every row that matches the event counts it, so `nth` of a row does not
    /// depend on other rows.
    pub(crate) fn shape(&mut self, world: &World, event: &Event) -> Option<Shape> {
        let named = |counted: &&mut Counted| named(&counted.row.on, &event.name);
        let (mut object, mut shape) = (None, None);
        for counted in self.rows.iter_mut().filter(named) {
            let when = &counted.row.when;
            let selected = when.select.iter().all(|selector| {
                let object = object.get_or_insert_with(|| event.object.to_wire());
                holds(selector, object, world)
            });
            if !selected {
                continue;
            }
            counted.asked += 1;
            let place = counted.asked;
            let in_turn = when.nth.is_empty()
                || when.nth.iter().any(|range| {
                    place >= range.first && range.last.is_none_or(|last| place <= last)
                });
            let draw = world.base().key().with("webhook").at(event.id);
            let lucky = when.chance_ppm.is_none_or(|ppm| draw.below(1_000_000) < u64::from(ppm));
            // For a duplicate, `times` is the number of copies and does not limit the number of events.
            let again = counted.row.shape == Shaping::Duplicate;
            let acts = shape.is_none() && in_turn && lucky;
            if acts && (again || when.times.is_none_or(|times| counted.hits < times)) {
                counted.hits += 1;
                shape = Some(Shape::of(&counted.row, event.at));
            }
        }
        shape
    }
}

impl Shape {
    fn of(row: &WebhookRow, at: Timestamp) -> Self {
        let delay_ms = match (row.delay, row.shape) {
            (Some(span), _) => at.plus(span).millis() - at.millis(),
            (None, Shaping::Delay | Shaping::Reorder) => USUAL_DELAY_MS,
            (None, _) => 0,
        };
        Self {
            does: row.shape,
            delay_ms,
            // Stored rows of earlier versions can have more.
            copies: row.when.times.unwrap_or(1).min(MOST_COPIES),
            source: row.source.clone(),
        }
    }
}

/// Whether a selector matches the event's object.
fn holds(selector: &Selector, object: &Value, world: &World) -> bool {
    let field = selector.field.as_str();
    let member = || {
        // `employee` is the object itself, or the one in its `employee_id`.
        object.get(field).or_else(|| {
            if object["object"] == field {
                object.get("id")
            } else {
                object.get(format!("{field}_id"))
            }
        })
    };
    match &selector.wanted {
        Wanted::Is(wanted) => member() == Some(wanted),
        Wanted::Compare(comparison, number) => member()
            .and_then(Value::as_i64)
            .is_some_and(|value| compares(*comparison, value, *number)),
        Wanted::Ordinal(place) => {
            let id = member().and_then(Value::as_str);
            id.is_some_and(|id| ordinal(field, id, world) == Some(*place))
        }
        Wanted::Reference(place) => {
            let id = member().and_then(Value::as_str);
            id.is_some_and(|id| grown(field, id, world) == Some(*place))
        }
    }
}

const fn compares(comparison: Comparison, value: i64, than: i64) -> bool {
    match comparison {
        Comparison::Less => value < than,
        Comparison::LessOrEqual => value <= than,
        Comparison::Equal => value == than,
        Comparison::NotEqual => value != than,
        Comparison::GreaterOrEqual => value >= than,
        Comparison::Greater => value > than,
    }
}

/// The position at which a company or an employee was grown, from 1.
fn grown(kind: &str, id: &str, world: &World) -> Option<u64> {
    let index = match kind {
        Company::NAME => world.base().index_of::<Company>(read(id)?),
        Employee::NAME => world.base().index_of::<Employee>(read(id)?),
        _ => None,
    };
    Some(index? + 1)
}

/// The position in its parent: for an employee, in the company.
fn ordinal(kind: &str, id: &str, world: &World) -> Option<u64> {
    let place = grown(kind, id, world)?;
    if kind == Employee::NAME {
        let in_company = world.base().shape().employees_per_company.max(1);
        return Some((place - 1) % in_company + 1);
    }
    Some(place)
}

fn read<T: Prefixed>(id: &str) -> Option<Id<T>> {
    id.parse().ok()
}
