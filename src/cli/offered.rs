//! Values that a shell completes, although other values are also accepted.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::api::check::near_events;
use crate::api::system;
use crate::model::growth::countries;
use crate::scenario;

/// Takes every text, and offers some to completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offered(fn() -> Vec<&'static str>);

impl Offered {
    /// Types of events.
    pub(super) const EVENTS: Self = Self(system::event_types);
    /// Names of shipped scenarios.
    pub(super) const SCENARIOS: Self = Self(|| scenario::names().collect());
    /// Codes of countries.
    pub(super) const COUNTRIES: Self = Self(|| countries::codes().collect());
}

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// The message for a text that is no event type, with the nearest types.
pub(super) fn unknown_event(name: &str) -> String {
    let types = system::event_types();
    let near = match near_events(name, &types).as_slice() {
        [] => String::new(),
        [near] => format!("; did you mean {near}?"),
        near => format!("; did you mean one of {}?", near.join(", ")),
    };
    format!("no event has the type {name:?}{near} (`sandbox trigger --list` prints all types)")
}
