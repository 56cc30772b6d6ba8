//! The employer's part of a deduction: a fixed amount, a part of pay, or a match of the employee's amount.

use crate::model::payroll::{Pack, PayPeriod};
use crate::model::prelude::*;

/// What the employer adds to a deduction: one of `amount`, `rate_bp` and `match`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EmployerPart {
    /// Minor units a month, in addition to pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) amount: Option<i64>,
    /// A part of pay, in basis points: 300 is 3 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rate_bp: Option<i64>,
    /// Tiers in which the employer matches the employee's amount.
    #[serde(rename = "match", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tiers: Vec<MatchTier>,
    /// The earnings that count as pay, by their name in the payroll pack; absent for all pay in money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) earnings: Option<String>,
    /// The maximum amount in a tax year, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) annual_limit: Option<i64>,
}

/// A tier of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MatchTier {
    /// The part of the employee's amount that the employer adds, in basis points: 5000 is half.
    pub(crate) rate_bp: i64,
    /// The upper end of the tier, in basis points of pay. The tier begins at the upper end of the previous tier.
    pub(crate) upto_bp: i64,
}

/// The pay to which the rules apply.
#[derive(Clone, Copy)]
pub(super) struct Paid<'a> {
    pub(super) pack: &'a Pack,
    pub(super) period: PayPeriod,
    /// Gross pay.
    pub(super) gross: i64,
    /// Gross pay of earlier pays of the tax period.
    pub(super) before: i64,
}

/// Units of a rate in hundredths of a percent.
const WHOLE: i128 = 10_000;

impl EmployerPart {
    /// The employer's part if the employee contributes `own`; half a unit is rounded up.
    pub(super) fn amount_of(&self, own: i64, paid: Paid<'_>) -> i64 {
        let pay = i128::from(self.pay(paid));
        let units = match (self.amount, self.rate_bp) {
            (Some(amount), _) => return amount,
            (None, Some(rate_bp)) => i128::from(rate_bp) * pay * WHOLE,
            (None, None) => {
                let (own, mut counted) = (i128::from(own.max(0)) * WHOLE, 0);
                let tiers = self.tiers.iter().map(|tier| {
                    let upto = own.min(i128::from(tier.upto_bp) * pay);
                    let part = (upto - counted).max(0);
                    counted += part;
                    part * i128::from(tier.rate_bp)
                });
                tiers.sum()
            }
        };
        let below = WHOLE * WHOLE;
        i64::try_from((units * 2 + below).div_euclid(below * 2)).unwrap_or(i64::MAX)
    }

    /// The earnings of this pay that count. Earlier pays of the tax period use up the limits of their earnings first.
    fn pay(&self, paid: Paid<'_>) -> i64 {
        let band = self.earnings.as_ref().and_then(|name| paid.pack.counted_earnings(name));
        match band {
            Some(band) => {
                let part = |gross: i64| band.part(gross, paid.period);
                part(paid.before + paid.gross) - part(paid.before)
            }
            None => paid.gross,
        }
        .max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::payroll::library;

    fn paid(pack: &str, gross: i64) -> Paid<'static> {
        let pack = library().pack(pack).expect("an embedded pack");
        Paid { pack, period: PayPeriod::Monthly, gross, before: 0 }
    }

    fn matching(tiers: &[(i64, i64)]) -> EmployerPart {
        let tier = |&(rate_bp, upto_bp): &(i64, i64)| MatchTier { rate_bp, upto_bp };
        EmployerPart { tiers: tiers.iter().map(tier).collect(), ..EmployerPart::default() }
    }

    /// 26 USC 401(k)(12)(B): all of the first 3 % of pay and half of the next 2 %.
    #[test]
    fn a_match_counts_each_part_of_pay_once() {
        let safe_harbor = matching(&[(10_000, 300), (5_000, 500)]);
        let of = |own| safe_harbor.amount_of(own, paid("US", 500_000));
        assert_eq!(
            [10_000, 15_000, 20_000, 25_000, 90_000].map(of),
            [10_000, 15_000, 17_500, 20_000, 20_000]
        );
        let half = matching(&[(5_000, 600)]);
        assert_eq!(half.amount_of(1, paid("US", 500_000)), 1, "half a cent up");
        assert_eq!(half.amount_of(0, paid("US", 500_000)), 0);
        assert_eq!(half.amount_of(50_000, paid("US", 0)), 0);
    }

    /// Pensions Act 2008 (GB) s. 13 and 20: at least 3 % of qualifying earnings, 520 to 4,189 a month.
    #[test]
    fn a_part_of_qualifying_earnings_counts_the_pays_of_a_period_together() {
        let part = EmployerPart {
            rate_bp: Some(300),
            earnings: Some("qualifying".to_owned()),
            ..EmployerPart::default()
        };
        let of = |gross| part.amount_of(0, paid("GB", gross));
        assert_eq!(
            [50_000, 52_000, 300_000, 418_900, 900_000].map(of),
            [0, 0, 7_440, 11_007, 11_007]
        );
        let later = Paid { before: 40_000, ..paid("GB", 100_000) };
        assert_eq!(part.amount_of(0, later), 2_640);
    }
}
