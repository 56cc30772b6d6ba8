//! Totals of this tax year so far, for cumulative lines and yearly caps.

use std::collections::BTreeMap;

use super::error::PayError;
use super::evaluate::Pay;
use super::pack::Pack;
use crate::model::prelude::*;

/// Totals before a pay period, in minor units, in the pack's order of bases and role lines.
///
/// It belongs to one pack: a new tax year, and so another pack, starts again at [`YearToDate::start`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct YearToDate {
    bases: Vec<i64>,
    lines: Vec<i64>,
    /// `None` if the totals came from outside without it; it is then not shown.
    taxable: Option<i64>,
    /// Whether pays of the year were reversed, so that later pays were calculated with totals that are now wrong.
    #[serde(skip)]
    taken_back: bool,
}

impl Default for YearToDate {
    fn default() -> Self {
        Self::start()
    }
}

impl YearToDate {
    /// Zero totals, without allocation.
    #[must_use]
    pub const fn start() -> Self {
        Self { bases: Vec::new(), lines: Vec::new(), taxable: Some(0), taken_back: false }
    }

    /// Reads totals by name: bases, role lines, and `taxable` if no line has that name. Missing ones are zero;
    /// a missing base of all components has the total of all pay.
    pub fn from_names(pack: &Pack, totals: &BTreeMap<String, i64>) -> Result<Self, PayError> {
        let mut read = Self {
            bases: vec![0; pack.base_names().len()],
            lines: vec![0; pack.lines().len()],
            taxable: totals.is_empty().then_some(0),
            taken_back: false,
        };
        let mut given = vec![false; read.bases.len()];
        for (name, &total) in totals {
            if let Some(base) = pack.base_names().position(|base| base == name) {
                read.bases[base] = total;
                given[base] = true;
            } else if let Some(line) = pack.lines().iter().position(|line| line.id == *name) {
                read.lines[line] = total;
            } else if name == "taxable" {
                read.taxable = Some(total);
            } else {
                let lines = pack.lines().iter().map(|line| line.id.as_str());
                return Err(PayError::UnknownName {
                    what: "year-to-date total",
                    name: name.clone(),
                    known: pack.base_names().chain(lines).map(str::to_owned).collect(),
                });
            }
        }
        for (index, base) in pack.bases.iter().enumerate().filter(|(index, _)| !given[*index]) {
            if let Some(all) = base.follows {
                read.bases[index] = read.bases[all];
            }
        }
        Ok(read)
    }

    /// The totals by name, as [`Self::from_names`] reads them.
    #[must_use]
    pub fn to_names(&self, pack: &Pack) -> BTreeMap<String, i64> {
        let bases = pack.base_names().enumerate().map(|(i, name)| (name.to_owned(), self.base(i)));
        let lines =
            pack.lines().iter().enumerate().map(|(i, line)| (line.id.clone(), self.line(i)));
        let taxable = self.taxable.map(|taxable| ("taxable".to_owned(), taxable));
        taxable.into_iter().chain(bases).chain(lines).collect()
    }

    /// Sets the totals of other bases and lines to zero.
    pub(crate) fn retain(&mut self, pack: &Pack, counts: impl Fn(&str) -> bool) {
        let none_if_not = |(total, name): (&mut i64, &str)| {
            if !counts(name) {
                *total = 0;
            }
        };
        self.bases.iter_mut().zip(pack.base_names()).for_each(none_if_not);
        let names = pack.lines().iter().map(|line| line.id.as_str());
        self.lines.iter_mut().zip(names).for_each(none_if_not);
    }

    /// Total of the base at `index` of the pack.
    #[must_use]
    pub fn base(&self, index: usize) -> i64 {
        self.bases.get(index).copied().unwrap_or(0)
    }

    /// Total of the role line at `index` of [`Pack::lines`].
    #[must_use]
    pub fn line(&self, index: usize) -> i64 {
        self.lines.get(index).copied().unwrap_or(0)
    }

    /// Taxable pay so far, if known.
    #[must_use]
    pub const fn taxable(&self) -> Option<i64> {
        self.taxable
    }

    /// Records that pays of the year were reversed. Lines with an annual limit then take the amount missing from the
    /// year's total.
    pub(crate) const fn note_taken_back(&mut self) {
        self.taken_back = true;
    }

    pub(crate) const fn is_taken_back(&self) -> bool {
        self.taken_back
    }

    /// Whether any base has a larger total than in `other`.
    pub(crate) fn has_more_pay_than(&self, other: &Self) -> bool {
        self.bases.iter().enumerate().any(|(index, total)| *total > other.base(index))
    }

    /// Adds amounts that the same pack calculated (`times` 1), or subtracts them (`times` −1). Sums that fitted into 64 bits still do.
    pub(crate) fn add_parts(&mut self, bases: &[i64], amounts: &[i64], taxable: i64, times: i64) {
        let add = |totals: &mut Vec<i64>, parts: &[i64]| {
            totals.resize(totals.len().max(parts.len()), 0);
            for (total, part) in totals.iter_mut().zip(parts) {
                *total += times * part;
            }
        };
        add(&mut self.bases, bases);
        add(&mut self.lines, amounts);
        self.taxable = self.taxable.map(|before| before + times * taxable);
    }

    /// Adds totals of the same pack (`times` 1), or subtracts them (`times` −1).
    pub(crate) fn add_totals(&mut self, other: &Self, times: i64) {
        self.add_parts(&other.bases, &other.lines, other.taxable.unwrap_or(0), times);
    }

    /// Adds one more pay to the totals. Refuses a sum beyond 64 bits without changing anything.
    pub fn add(&mut self, pay: &Pay) -> Result<(), PayError> {
        let overflow = || PayError::Overflow { at: "year to date".to_owned() };
        let bases = sums(&self.bases, &pay.bases).ok_or_else(overflow)?;
        let lines = sums(&self.lines, &pay.amounts).ok_or_else(overflow)?;
        let taxable = match (self.taxable, pay.taxable) {
            (Some(before), Some(now)) => Some(before.checked_add(now).ok_or_else(overflow)?),
            _ => None,
        };
        *self = Self { bases, lines, taxable, taken_back: self.taken_back };
        Ok(())
    }
}

fn sums(before: &[i64], now: &[i64]) -> Option<Vec<i64>> {
    let before = before.iter().copied().chain(std::iter::repeat(0));
    now.iter().zip(before).map(|(now, before)| before.checked_add(*now)).collect()
}
