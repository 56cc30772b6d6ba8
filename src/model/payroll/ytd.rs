//! What was paid and taken so far this tax year: the memory of cumulative lines and of yearly caps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::PayError;
use super::evaluate::Pay;
use super::pack::Pack;

/// Totals before a pay period, in minor units, by the pack's own order of bases and role lines.
///
/// It belongs to one pack: a new tax year, hence another pack, starts again at
/// [`YearToDate::start`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct YearToDate {
    bases: Vec<i64>,
    lines: Vec<i64>,
    /// `None` where the totals came from outside without it: it is then not shown.
    taxable: Option<i64>,
}

impl Default for YearToDate {
    fn default() -> Self {
        Self::start()
    }
}

impl YearToDate {
    /// Nothing yet. Allocates nothing.
    #[must_use]
    pub const fn start() -> Self {
        Self { bases: Vec::new(), lines: Vec::new(), taxable: Some(0) }
    }

    /// Reads totals by name: bases, role lines, and `taxable` where no line has that name. What is
    /// missing is zero.
    pub fn from_names(pack: &Pack, totals: &BTreeMap<String, i64>) -> Result<Self, PayError> {
        let mut read = Self {
            bases: vec![0; pack.base_names().len()],
            lines: vec![0; pack.lines().len()],
            taxable: totals.is_empty().then_some(0),
        };
        for (name, &total) in totals {
            if let Some(base) = pack.base_names().position(|base| base == name) {
                read.bases[base] = total;
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

    /// Taxable pay so far, where it is known.
    #[must_use]
    pub const fn taxable(&self) -> Option<i64> {
        self.taxable
    }

    /// Adds amounts that were reckoned before by the same pack, or takes them back: `times` is 1 or −1. Sums that were within 64
    /// bits stay so.
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

    /// These totals and one more pay. Refuses a sum beyond 64 bits and then changes nothing.
    pub fn add(&mut self, pay: &Pay) -> Result<(), PayError> {
        let overflow = || PayError::Overflow { at: "year to date".to_owned() };
        let bases = sums(&self.bases, &pay.bases).ok_or_else(overflow)?;
        let lines = sums(&self.lines, &pay.amounts).ok_or_else(overflow)?;
        let taxable = match (self.taxable, pay.taxable) {
            (Some(before), Some(now)) => Some(before.checked_add(now).ok_or_else(overflow)?),
            _ => None,
        };
        *self = Self { bases, lines, taxable };
        Ok(())
    }
}

fn sums(before: &[i64], now: &[i64]) -> Option<Vec<i64>> {
    let before = before.iter().copied().chain(std::iter::repeat(0));
    now.iter().zip(before).map(|(now, before)| before.checked_add(*now)).collect()
}
