//! The calculation of a trust score (`fixtures/trust_score.toml`). Pure; integers only.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::identity::trust_score::TrustBand;
use crate::model::identity::{TrustContext, TrustFactorName};

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustWeights {
    context: Vec<ContextWeights>,
    pub(crate) kyc: KycPercent,
    pub(crate) aml: AmlPercent,
    pub(crate) payments: PaymentsPercent,
    pub(crate) payroll: PayrollPercent,
    pub(crate) profile: ProfilePercent,
    pub(crate) signals: SignalsPercent,
    bands: Bands,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextWeights {
    id: TrustContext,
    kyc: i32,
    aml: i32,
    payments: i32,
    payroll: i32,
    profile: i32,
    signals: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KycPercent {
    pub(crate) enhanced: i32,
    pub(crate) standard: i32,
    pub(crate) basic: i32,
    pub(crate) reverify_required: i32,
    pub(crate) in_review: i32,
    pub(crate) pending: i32,
    pub(crate) unverified: i32,
    pub(crate) declined: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AmlPercent {
    pub(crate) clear: i32,
    pub(crate) not_screened: i32,
    pub(crate) needs_review: i32,
    pub(crate) confirmed: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaymentsPercent {
    pub(crate) none: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PayrollPercent {
    pub(crate) none: i32,
    pub(crate) pending: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfilePercent {
    pub(crate) email: i32,
    pub(crate) phone: i32,
    pub(crate) address: i32,
    pub(crate) id_number: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalsPercent {
    pub(crate) email_verified: i32,
    pub(crate) phone_verified: i32,
    pub(crate) device_known: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bands {
    low: i32,
    medium: i32,
    high: i32,
    very_high: i32,
}

pub(crate) static WEIGHTS: LazyLock<TrustWeights> = LazyLock::new(|| {
    let text = include_str!("../../../fixtures/trust_score.toml");
    toml::from_str(text).unwrap_or_else(|error| panic!("fixtures/trust_score.toml: {error}"))
});

impl TrustWeights {
    /// Maximum points of a factor in that context.
    pub(crate) fn weight(&self, context: TrustContext, factor: TrustFactorName) -> i32 {
        let row = self.context.iter().find(|row| row.id == context);
        let row = row.expect("a test reads a row for each context");
        match factor {
            TrustFactorName::Kyc => row.kyc,
            TrustFactorName::Aml => row.aml,
            TrustFactorName::Payments => row.payments,
            TrustFactorName::Payroll => row.payroll,
            TrustFactorName::Profile => row.profile,
            TrustFactorName::Signals => row.signals,
        }
    }

    /// The band that contains a score.
    pub(crate) const fn band(&self, score: i32) -> TrustBand {
        let bands = &self.bands;
        if score >= bands.very_high {
            TrustBand::VeryHigh
        } else if score >= bands.high {
            TrustBand::High
        } else if score >= bands.medium {
            TrustBand::Medium
        } else if score >= bands.low {
            TrustBand::Low
        } else {
            TrustBand::VeryLow
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_each_context_sum_to_a_thousand() {
        for context in TrustContext::ALL {
            let weights = TrustFactorName::ALL.map(|factor| WEIGHTS.weight(context, factor));
            assert_eq!(weights.iter().sum::<i32>(), 1_000, "{context:?}");
        }
    }

    #[test]
    fn a_score_lies_in_the_band_that_begins_at_or_below_it() {
        assert_eq!(WEIGHTS.band(0), TrustBand::VeryLow);
        assert_eq!(WEIGHTS.band(249), TrustBand::VeryLow);
        assert_eq!(WEIGHTS.band(250), TrustBand::Low);
        assert_eq!(WEIGHTS.band(1_000), TrustBand::VeryHigh);
    }
}
