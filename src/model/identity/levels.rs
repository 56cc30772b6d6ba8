//! Which checks a level of verification makes, and which documents it asks for (`fixtures/verification_levels.toml`).

use std::sync::LazyLock;

use crate::model::identity::DocumentType;
use crate::model::prelude::*;

/// What kind of verification it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VerificationType {
    /// Of a person.
    Kyc,
    /// Of a business.
    Kyb,
}

/// How thorough it is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "VerificationLevel")]
pub(crate) enum Level {
    Basic,
    Standard,
    Enhanced,
}

/// One thing that is checked.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CaseCheckName {
    /// Name, birth and numbers are those of a register of people.
    IdentityData,
    /// The business stands in its register.
    Registry,
    /// The papers are readable, valid and genuine.
    Document,
    /// The address is theirs.
    Address,
    /// Who owns the business is known.
    Ownership,
    /// No list has them.
    Aml,
}

/// What one level asks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelRow {
    #[serde(rename = "type")]
    pub(crate) kind: VerificationType,
    pub(crate) level: Level,
    pub(crate) checks: Vec<CaseCheckName>,
    /// Of each group one document.
    pub(crate) documents: Vec<Vec<DocumentType>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    level: Vec<LevelRow>,
}

static LEVELS: LazyLock<Vec<LevelRow>> = LazyLock::new(|| {
    let text = include_str!("../../../fixtures/verification_levels.toml");
    let file: File = toml::from_str(text)
        .unwrap_or_else(|error| panic!("fixtures/verification_levels.toml: {error}"));
    file.level
});

/// What that level of that kind of verification asks.
pub(crate) fn row(kind: VerificationType, level: Level) -> &'static LevelRow {
    let found = LEVELS.iter().find(|row| row.kind == kind && row.level == level);
    found.expect("a test reads a row for each kind and level")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_asks_for_all_that_the_one_below_asks_for() {
        for kind in [VerificationType::Kyc, VerificationType::Kyb] {
            let [basic, standard, enhanced] =
                [Level::Basic, Level::Standard, Level::Enhanced].map(|level| row(kind, level));
            for (less, more) in [(basic, standard), (standard, enhanced)] {
                assert!(less.checks.len() < more.checks.len());
                assert!(less.checks.iter().all(|check| more.checks.contains(check)));
                let kept = |group| more.documents.contains(group);
                assert!(less.documents.iter().all(kept));
            }
        }
    }
}
