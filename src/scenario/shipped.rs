//! The scenarios that ship with the binary: one list of files.

use std::sync::{Arc, OnceLock};

use crate::api::json::quoted;
use crate::scenario::file::check_shipped;
use crate::value::diagnostic::nearest;
use crate::value::{ApiError, ErrorCode};
use crate::world::script::Scenario;

/// Embeds `scenarios/NAME.toml` for each name.
macro_rules! embedded {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".toml"))),)*]
    };
}

/// Every shipped file, in the order in which they are listed.
const FILES: &[(&str, &str)] = embedded![
    "happy-path",
    "insufficient-funds",
    "partial-failure",
    "delayed-settlement",
    "late-return",
    "approval-required",
    "payroll-twice",
    "closed-account-then-retry",
    "employee-terminated-mid-period",
    "tax-filing-rejected",
    "chargeback",
    "fx-quote-expired",
    "loan-happy",
    "loan-default",
    "deal-to-wallet",
    "reconciliation-exceptions",
    "webhook-duplicates",
    "webhook-out-of-order",
    "webhook-outage-and-recovery",
    "webhook-bad-signature",
    "lost-reply",
    "flaky-503",
    "rate-limited",
    "slow-network",
    "kyc-declined",
    "kyc-retry-then-approved",
    "aml-hit",
    "aml-false-positive",
    "demo-day",
    "escrow-dispute",
];

/// The scenarios that ship with the binary.
pub(crate) fn shipped() -> Vec<Arc<Scenario>> {
    (0..FILES.len()).map(read).collect()
}

/// A shipped scenario by its place. Its file is read when it is first used, because all files take longer than the rest of the start.
fn read(place: usize) -> Arc<Scenario> {
    static READ: [OnceLock<Arc<Scenario>>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];
    let checked = || check_shipped(FILES[place].0).scenario.expect("a test checks each of them");
    Arc::clone(READ[place].get_or_init(|| Arc::new(checked())))
}

/// The shipped scenario of a name.
pub(crate) fn named(name: &str) -> Option<Arc<Scenario>> {
    FILES.iter().position(|(known, _)| *known == name).map(read)
}

/// Whether a scenario is a shipped one, and not another of the same name.
pub(crate) fn is_shipped(scenario: &Arc<Scenario>) -> bool {
    named(&scenario.name).as_ref() == Some(scenario)
}

/// The shipped scenario of a name, or a refusal with the nearest name.
pub(crate) fn find(name: &str) -> Result<Arc<Scenario>, ApiError> {
    named(name).ok_or_else(|| ApiError::new(ErrorCode::UnknownScenario, unknown(name)))
}

/// The message for an unknown scenario, with the nearest name or all of them.
pub(crate) fn unknown(name: &str) -> String {
    let names = FILES.iter().map(|(name, _)| *name);
    let hint = match nearest(name, names.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the shipped scenarios are {}", names.collect::<Vec<_>>().join(", ")),
    };
    format!("there is no scenario {}; {hint}", quoted(name))
}

/// The name in the list, if it is there.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    FILES.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// Every name.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The text of the file with this name.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, source)| *source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Look;

    #[test]
    fn every_shipped_scenario_is_sound_and_explained() {
        for (name, _) in FILES {
            let checked = check_shipped(name);
            assert_eq!(checked.report(Look::Plain), "", "{name}");
            let scenario = checked.scenario.expect("nothing is wrong with it");
            assert_eq!(scenario.name, *name);
            assert!(!scenario.title.is_empty() && !scenario.about.is_empty(), "{name}");
            assert!(!scenario.steps.is_empty(), "{name} has no steps");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads the repository")]
    fn the_list_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder is part of the repository")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        files.sort();
        let mut listed: Vec<String> = names().map(|name| format!("{name}.toml")).collect();
        listed.sort();
        assert_eq!(files, listed);
    }

    #[test]
    fn the_refusal_of_an_unknown_scenario_names_the_nearest() {
        let refusal = find("hapy-path").expect_err("misspelt");
        assert_eq!(refusal.detail, "there is no scenario \"hapy-path\"; did you mean happy-path?");
        assert!(
            find("x")
                .expect_err("unknown")
                .detail
                .contains("the shipped scenarios are happy-path, ")
        );
    }
}
