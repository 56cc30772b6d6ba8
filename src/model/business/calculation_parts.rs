//! A calculation as a part of the pay of its period.

use crate::model::business::calculation::{Before, Calculation, Terms};
use crate::model::business::earnings::{PayLine, earned};
use crate::model::business::irregular_alone::{LastRegular, is_irregular};
use crate::model::business::same_period::Part;
use crate::model::business::typed_deductions as typed;
use crate::model::business::{Component as PayComponent, Extras};
use crate::model::payroll::{Component, Pack};

impl Calculation {
    /// The part of the pack of the country.
    pub(super) fn part(&self, pack: &Pack, terms: &Terms<'_>) -> Part<'_> {
        Part {
            earned: self.evaluated(pack),
            typed: self.typed(),
            bases: &self.bases,
            amounts: &self.amounts,
            taxable: self.taxable,
            ytd: &self.ytd,
            has_attributes: self.tax_attributes == *terms.attributes,
            may_be_cut: self.left() <= 0,
        }
    }

    /// The part of this pack of a region; none if the employee worked elsewhere.
    pub(super) fn regional_part(&self, pack: &Pack, terms: &Terms<'_>) -> Option<Part<'_>> {
        let regional = self.regional.as_ref().filter(|regional| regional.pack == pack.code)?;
        let (bases, amounts) = (&regional.bases, &regional.amounts);
        let mut national = self.part(pack, terms);
        national.earned.extend(typed::wages(pack, &self.employer_benefit_lines()));
        Some(Part { bases, amounts, taxable: 0, ytd: &regional.ytd, ..national })
    }

    /// Its deductions with a type.
    pub(super) fn typed(&self) -> &[PayLine] {
        self.extras().map_or(&[], |extras| &extras.typed)
    }

    /// The earnings of an earlier pay that the pack was given.
    fn evaluated(&self, pack: &Pack) -> Vec<(Component, i64)> {
        let parts = self
            .earnings
            .iter()
            .map(|(id, amount)| PayComponent { id: id.to_string(), amount: *amount });
        let none = Extras::default();
        let extras = self.extras();
        earned(pack, &parts.collect::<Vec<_>>(), extras.unwrap_or(&none))
    }

    /// Whether it contains pay that is not irregular.
    pub(crate) fn has_regular_pay(&self, pack: &Pack) -> bool {
        self.by_terms() > 0 || is_regular(pack, &self.evaluated(pack))
    }
}

/// Whether there is pay that is not irregular.
fn is_regular(pack: &Pack, earned: &[(Component, i64)]) -> bool {
    earned.iter().any(|(component, amount)| *amount > 0 && !pack.is_irregular(*component))
}

/// Whether a pay of these parts can be taxed on top of the last regular pay, alone or with earlier pays of its
/// period.
pub(crate) fn needs_last_regular(pack: &Pack, parts: &[PayComponent], extras: &Extras) -> bool {
    pack.has_irregular_pay() && !is_regular(pack, &earned(pack, parts, extras))
}

impl<'a> Before<'a> {
    /// The last regular pay, for a pay of these earnings. Empty if the pay period cannot consist of irregular pay
    /// only.
    pub(super) fn last_regular_pay(
        self,
        pack: &Pack,
        earned: &[(Component, i64)],
    ) -> LastRegular<'a> {
        let is_first = self.same_period.is_empty();
        if !pack.has_irregular_pay() || (is_first && !is_irregular(pack, earned)) {
            return LastRegular::default();
        }
        let all = self.last_regular.iter().flat_map(|pay| pay.evaluated(pack));
        LastRegular {
            earned: all.filter(|(component, _)| !pack.is_irregular(*component)).collect(),
            typed: self.last_regular.iter().map(|pay| pay.typed()).collect(),
        }
    }
}
