//! The checks and documents that each verification level requires (`fixtures/verification_levels.toml`).

use std::sync::LazyLock;

use crate::model::identity::DocumentType;
use crate::model::prelude::*;

/// The type of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VerificationType {
    /// Verification of a person.
    Kyc,
    /// Verification of a business.
    Kyb,
}

/// The verification level.
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

/// A check of a verification.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CaseCheckName {
    /// Name, date of birth and id numbers match a population register.
    IdentityData,
    /// The business is in the company register.
    Registry,
    /// The documents are readable, valid and genuine.
    Document,
    /// The address belongs to the subject.
    Address,
    /// The owners of the business are known.
    Ownership,
    /// No watchlist contains the subject.
    Aml,
}

/// The requirements of one level.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelRow {
    #[serde(rename = "type")]
    pub(crate) kind: VerificationType,
    pub(crate) level: Level,
    pub(crate) checks: Vec<CaseCheckName>,
    /// One document of each group is required.
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

/// The requirements of that level for that type of verification.
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
