//! Lines that callers add to pay: allowances and deductions, validated by the payroll pack.

use std::collections::BTreeSet;

use crate::api::prelude::*;
use crate::model::business::employer_part::{EmployerPart, MatchTier};
use crate::model::business::{Allowance, Deduction, DeductionTiming};
use crate::model::payroll::{self, Pack};

/// An amount that is added to pay.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AllowanceInput {
    /// The id of the line, unique in the list. Default: derived from the label.
    id: Option<LineId>,
    /// The name of the line on the payslip.
    label: Text<100>,
    /// Amount in minor units: for one month in pay terms, for one pay in a payroll run.
    amount: MonthlySum,
}

/// An amount or a rate that is deducted from pay.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct DeductionInput {
    /// The id of the line, unique in the list. Default: derived from the label.
    id: Option<LineId>,
    /// The name of the line on the payslip.
    label: Text<100>,
    /// Amount in minor units: for one month in pay terms, for one pay in a payroll run. The part
    /// that exceeds the available pay is not deducted. Required without `rate_bp`.
    amount: Option<MonthlySum>,
    /// A part of the pay of each pay period, in basis points, instead of an amount: 500 is 5 %.
    #[schemars(range(min = 1, max = 10_000))]
    rate_bp: Option<i64>,
    /// The earnings to which `rate_bp` applies, by their name in the payroll pack, such as `qualifying` in the United Kingdom. Default: all pay
    /// in money.
    earnings: Option<TypeName>,
    /// Before or after taxes. A deduction with a `type` follows the law of its type instead.
    timing: Option<DeductionTiming>,
    /// Its type in the payroll pack of the country, such as `401k`, `pension_net_pay` or `rrsp`. The pack states what it reduces.
    #[serde(rename = "type")]
    kind: Option<TypeName>,
    /// The minimum net pay, in minor units, that the deduction leaves to the employee, such as the
    /// protected earnings of a court order. In pay terms, the amount is for a month; in a run, it
    /// is for the pay period of the run. Requires a `type`.
    protected: Option<MonthlySum>,
    /// The maximum sum of deductions of this type in a tax year, in minor units. The limit of the payroll pack also applies. Requires a `type`.
    annual_limit: Option<MonthlySum>,
    /// The amount that the employer adds. On the payslip, it is a cost of the employer. It is paid
    /// to the same third party.
    employer: Option<EmployerInput>,
}

/// What the employer adds to a deduction: exactly one of `amount`, `rate_bp` and `match`.
#[derive(Deserialize, JsonSchema)]
struct EmployerInput {
    /// Amount in minor units: for one month in pay terms, for one pay in a payroll run.
    amount: Option<MonthlySum>,
    /// A part of pay in money, in basis points: 300 is 3 %.
    #[schemars(range(min = 1, max = 100_000))]
    rate_bp: Option<i64>,
    /// Tiers in which the employer matches the employee's amount. `[{"rate_bp": 10000, "upto_bp": 300}, {"rate_bp": 5000, "upto_bp": 500}]`
    /// matches all of the first 3 % of pay, and half of the next 2 %.
    #[serde(rename = "match")]
    #[schemars(length(min = 1, max = 5))]
    tiers: Option<Vec<TierInput>>,
    /// The earnings that count as pay, by their name in the payroll pack, such as `qualifying` in the United Kingdom. Default: all pay in
    /// money.
    earnings: Option<TypeName>,
    /// The maximum amount in a tax year, in minor units.
    annual_limit: Option<MonthlySum>,
}

/// A tier of a match.
#[derive(Deserialize, JsonSchema)]
struct TierInput {
    /// The part of the employee's amount, in basis points: 5000 is half.
    #[schemars(range(min = 1, max = 100_000))]
    rate_bp: i64,
    /// The upper end of the tier, in basis points of pay. The tier begins at the upper end of the previous tier.
    #[schemars(range(min = 1, max = 10_000))]
    upto_bp: i64,
}

/// The name of a type in a payroll pack.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct TypeName(
    #[schemars(length(min = 1, max = 40), regex(pattern = "^[a-z0-9][a-z0-9_]*$"))]
    pub(crate)  String,
);

/// Maximum length of a line's id.
const LONGEST_ID: usize = 40;

/// Lower-case letters, digits, `_` and `-`; the first is a letter.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct LineId(
    #[schemars(length(max = 40), regex(pattern = "^[a-z][a-z0-9_-]*$"))] String,
);

/// Minor units, from 0.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct MonthlySum(#[schemars(range(min = 0, max = 1_000_000_000_000_000_i64))] i64);

/// Additions to the salary; `at` points to the list.
pub(crate) fn allowances(list: Vec<AllowanceInput>, at: &str) -> Result<Vec<Allowance>> {
    let lines = list.iter().map(|one| (one.id.as_ref(), one.label.as_str()));
    let ids = ids(lines, "allowance", at)?;
    let named = list.into_iter().zip(ids).map(|(one, id)| Allowance {
        id,
        label: one.label.into_string(),
        amount: one.amount.0,
    });
    Ok(named.collect())
}

/// Deductions by the law of a country; `at` points to the list.
pub(crate) fn deductions(
    country: &str,
    day: Date,
    list: Vec<DeductionInput>,
    at: &str,
) -> Result<Vec<Deduction>> {
    let pack = payroll::library().in_force(country, day.civil()).pack;
    let mut wrong = Vec::new();
    let mut timings = Vec::with_capacity(list.len());
    for (place, one) in list.iter().enumerate() {
        if let Some(employer) = &one.employer
            && let Err((member, code, detail)) = employer.check(pack)
        {
            wrong.push(Violation::new(format!("{at}/{place}/employer{member}"), code, detail));
        }
        if let Err((member, code, detail)) = one.check_amount(pack) {
            wrong.push(Violation::new(format!("{at}/{place}/{member}"), code, detail));
        }
        match timing(pack, one) {
            Ok(timing) => timings.push(timing),
            Err((member, code, detail)) => {
                wrong.push(Violation::new(format!("{at}/{place}/{member}"), code, detail));
            }
        }
    }
    ApiError::if_any(wrong)?;
    let lines = list.iter().map(|one| (one.id.as_ref(), one.label.as_str()));
    let ids = ids(lines, "deduction", at)?;
    let named = list.into_iter().zip(ids).zip(timings).map(|((one, id), timing)| {
        let kind = one.kind.map(|kind| kind.0);
        let law = kind.as_ref().and_then(|kind| pack.deduction_type(kind));
        let amount = one.amount.map_or(0, |amount| amount.0);
        let amount = law.and_then(|law| law.taken_of(amount)).unwrap_or(amount);
        Deduction {
            id,
            label: one.label.into_string(),
            amount,
            rate_bp: one.rate_bp,
            earnings: one.earnings.map(|name| name.0),
            timing,
            kind,
            protected: one.protected.map(|sum| sum.0),
            annual_limit: one.annual_limit.map(|sum| sum.0),
            employer: one.employer.map(EmployerInput::read),
        }
    });
    Ok(named.collect())
}

impl DeductionInput {
    /// Either an amount or a rate. The error has the member, the code and the reason.
    fn check_amount(
        &self,
        pack: &Pack,
    ) -> core::result::Result<(), (&'static str, &'static str, String)> {
        match (self.amount, self.rate_bp) {
            (None, None) => {
                return Err((
                    "amount",
                    "required",
                    "a deduction needs `amount` or `rate_bp`".to_owned(),
                ));
            }
            (Some(MonthlySum(1..)), Some(_)) => {
                let detail = "must be absent or 0 if `rate_bp` is set".to_owned();
                return Err(("amount", "not_allowed", detail));
            }
            _ => {}
        }
        let Some(TypeName(name)) = &self.earnings else { return Ok(()) };
        if self.rate_bp.is_none() {
            let detail = "a fixed amount does not depend on earnings: leave it out".to_owned();
            return Err(("earnings", "not_allowed", detail));
        }
        known_earnings(pack, name).map_err(|detail| ("earnings", "unknown_earnings", detail))
    }
}

/// The error names the counted earnings of the pack.
fn known_earnings(pack: &Pack, name: &str) -> core::result::Result<(), String> {
    if pack.counted_earnings(name).is_some() {
        return Ok(());
    }
    let known = pack.counted_earnings_names().collect::<Vec<_>>().join(", ");
    Err(format!("the payroll pack {} has no counted earnings `{name}`; it has: {known}", pack.code))
}

impl EmployerInput {
    /// The error has the member, the code and the reason.
    fn check(&self, pack: &Pack) -> core::result::Result<(), (String, &'static str, String)> {
        let refuse = |member: &str, code, detail: String| Err((member.to_owned(), code, detail));
        if pack.code == payroll::CONTRACTORS {
            let detail = "a contractor has no benefits of an employer".to_owned();
            return refuse("", "not_allowed", detail);
        }
        let rules = [self.amount.is_some(), self.rate_bp.is_some(), self.tiers.is_some()];
        if rules.iter().filter(|is_set| **is_set).count() != 1 {
            let detail = "must have exactly one of `amount`, `rate_bp` and `match`".to_owned();
            return refuse("", "one_of", detail);
        }
        let tiers = self.tiers.iter().flatten();
        let mut before = 0;
        for (place, tier) in tiers.enumerate() {
            if tier.upto_bp <= before {
                let detail = format!("must be above that of the tier before, {before}");
                return refuse(&format!("/match/{place}/upto_bp"), "out_of_order", detail);
            }
            before = tier.upto_bp;
        }
        let Some(TypeName(name)) = &self.earnings else { return Ok(()) };
        if self.amount.is_some() {
            let detail = "a fixed amount does not depend on earnings: leave it out".to_owned();
            return refuse("/earnings", "not_allowed", detail);
        }
        match known_earnings(pack, name) {
            Ok(()) => Ok(()),
            Err(detail) => refuse("/earnings", "unknown_earnings", detail),
        }
    }

    fn read(self) -> EmployerPart {
        let tier = |tier: TierInput| MatchTier { rate_bp: tier.rate_bp, upto_bp: tier.upto_bp };
        EmployerPart {
            amount: self.amount.map(|sum| sum.0),
            rate_bp: self.rate_bp,
            tiers: self.tiers.into_iter().flatten().map(tier).collect(),
            earnings: self.earnings.map(|name| name.0),
            annual_limit: self.annual_limit.map(|sum| sum.0),
        }
    }
}

/// Whether a deduction is taken before or after tax: by the law of its type, or else as the caller sets it. The error
/// has the member, the code and the reason.
fn timing(
    pack: &Pack,
    one: &DeductionInput,
) -> core::result::Result<DeductionTiming, (&'static str, &'static str, String)> {
    let Some(TypeName(kind)) = &one.kind else {
        let limits = [("protected", one.protected), ("annual_limit", one.annual_limit)];
        if let Some((member, _)) = limits.into_iter().find(|(_, limit)| limit.is_some()) {
            return Err((member, "needs_type", format!("`{member}` requires a `type`")));
        }
        let missing = || ("timing", "required", "a deduction needs `timing` or `type`".to_owned());
        return one.timing.ok_or_else(missing);
    };
    match pack.deduction_type(kind) {
        Some(kind) if kind.is_before_tax() => Ok(DeductionTiming::PreTax),
        Some(_) => Ok(DeductionTiming::PostTax),
        None => {
            let known: Vec<&str> =
                pack.deduction_types.iter().map(|known| known.id.as_str()).collect();
            let detail = format!(
                "the payroll pack {} has no deduction `{kind}`; expected one of {}",
                pack.code,
                known.join(", ")
            );
            Err(("type", "unknown_type", detail))
        }
    }
}

/// The ids of a list's lines: the given ones, which must be unique, and derived ones for the others.
fn ids<'a>(
    lines: impl Iterator<Item = (Option<&'a LineId>, &'a str)>,
    kind: &str,
    at: &str,
) -> Result<Vec<String>> {
    let lines: Vec<_> = lines.collect();
    let (mut taken, mut wrong) = (BTreeSet::new(), Vec::new());
    for (place, (id, _)) in lines.iter().enumerate() {
        let Some(LineId(id)) = id else { continue };
        if !taken.insert(id.clone()) {
            let detail = format!("another {kind} in this list has the id {id}");
            wrong.push(Violation::new(format!("{at}/{place}/id"), "duplicate", detail));
        }
    }
    ApiError::if_any(wrong)?;
    let named = lines.into_iter().map(|(id, label)| match id {
        Some(LineId(id)) => id.clone(),
        None => unlike(&mut taken, &made_of(label, kind)),
    });
    Ok(named.collect())
}

/// `night_shift` for `Night shift`; the kind if the label has no letter that an id may start with.
fn made_of(label: &str, kind: &str) -> String {
    let words = label.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    let mut id = words.join("_");
    id.truncate(LONGEST_ID - "_20".len());
    if id.starts_with(|c: char| c.is_ascii_lowercase()) { id } else { kind.to_owned() }
}

/// The id, with a number appended if it is already used.
fn unlike(taken: &mut BTreeSet<String>, id: &str) -> String {
    let numbered = (2..).map(|number| format!("{id}_{number}"));
    let free = std::iter::once(id.to_owned())
        .chain(numbered)
        .find(|id| !taken.contains(id))
        .expect("a list is finite");
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_id_is_called_after_its_label_and_unlike_the_others() {
        let given = LineId("meal".to_owned());
        let long = "x".repeat(100);
        let lines = [
            (None, "Night shift"),
            (None, "Meal"),
            (Some(&given), "Lunch"),
            (None, "night  SHIFT!"),
            (None, "2nd car"),
            (None, "飯"),
            (None, long.as_str()),
        ];
        let ids = ids(lines.into_iter(), "allowance", "").expect("none is given twice");
        let expected = [
            "night_shift",
            "meal_2",
            "meal",
            "night_shift_2",
            "allowance",
            "allowance_2",
            &long[..37],
        ];
        assert_eq!(ids, expected);
    }

    #[test]
    fn ids_that_are_given_twice_are_pointed_at() {
        let given = [LineId("meal".to_owned()), LineId("meal".to_owned())];
        let lines = given.iter().map(|id| (Some(id), "Meal"));
        let refused = ids(lines, "allowance", "/allowances").expect_err("they are alike");
        assert_eq!(refused.errors[0].pointer, "/allowances/1/id");
        assert_eq!(refused.errors[0].code, "duplicate");
    }
}
