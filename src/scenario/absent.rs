//! The help for a missing key: its meaning, and its possible values.

use toml::de::DeTable;

use crate::model::decision::Decision;
use crate::scenario::form::{Key, Takes};

/// The maximum number of values that are listed.
const MOST_LISTED: usize = 12;

/// The meaning and the values of a key of this table. Choices are those of the row's decision.
pub(super) fn help(key: &Key, entries: &DeTable<'_>) -> String {
    let Takes::Name(names) = key.takes else { return key.about.to_owned() };
    let on = entries.iter().find(|(name, _)| *name.get_ref() == "on");
    let on = on.and_then(|(_, value)| value.get_ref().as_str()).and_then(Decision::find);
    let names = match on {
        Some(decision) if key.name == "then" => {
            decision.choices.iter().map(|choice| choice.name.to_owned()).collect()
        }
        _ => names(),
    };
    if names.len() > MOST_LISTED {
        return key.about.to_owned();
    }
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{} Its values: {}", key.about, listed.join(", "))
}
