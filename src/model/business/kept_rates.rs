//! Attributes whose earlier values keep their rates, such as a director's National Insurance letter. A new letter
//! does not recalculate contributions on pay under an earlier letter.

use std::collections::BTreeMap;

use crate::model::business::same_period::Own;
use crate::model::payroll::{Pack, PayError, YearToDate};

/// The values of the attribute over the tax year.
#[derive(Clone, Debug)]
pub(crate) struct KeptRates {
    name: &'static str,
    value: Option<String>,
    /// Totals of the year, with the last pay.
    totals: YearToDate,
    /// Totals at each change, with the value before it and after it.
    changes: Vec<(YearToDate, [String; 2])>,
}

impl KeptRates {
    /// Starts with these totals and the attributes of the last pay in them. `None` if the pack has no such attribute.
    pub(crate) fn of(
        pack: &'static Pack,
        totals: &YearToDate,
        last: Option<&BTreeMap<String, String>>,
    ) -> Option<Self> {
        let name = pack.keeps.as_deref()?;
        let value = last.and_then(|set| value_in(pack, name, set));
        Some(Self { name, value, totals: totals.clone(), changes: Vec::new() })
    }

    /// Adds the next pay: its attributes, and its bases, amounts and taxable pay.
    pub(crate) fn add(
        &mut self,
        pack: &Pack,
        set: &BTreeMap<String, String>,
        (bases, amounts, taxable): (&[i64], &[i64], i64),
    ) {
        self.turn_to(value_in(pack, self.name, set));
        self.totals.add_parts(bases, amounts, taxable, 1);
    }

    fn turn_to(&mut self, value: Option<String>) {
        if let (Some(before), Some(after)) = (&self.value, &value)
            && before != after
        {
            self.changes.push((self.totals.clone(), [before.clone(), after.clone()]));
        }
        self.value = value;
    }

    /// By line, the excess of the present value's rates over the earlier values' rates, for the pay under the earlier
    /// values.
    pub(super) fn excess(
        &self,
        pack: &Pack,
        own: &Own<'_>,
        set: &BTreeMap<String, String>,
    ) -> Result<Vec<i64>, PayError> {
        let mut all = self.clone();
        all.turn_to(value_in(pack, self.name, set));
        let mut excess = vec![0; if all.changes.is_empty() { 0 } else { pack.lines().len() }];
        for (totals, [before, after]) in &all.changes {
            let before = own.settled(pack, (self.name, before), totals)?;
            let after = own.settled(pack, (self.name, after), totals)?;
            let lines = excess.iter_mut().zip(after.iter().zip(&before));
            lines.for_each(|(sum, (after, before))| *sum += after - before);
        }
        Ok(excess)
    }
}

fn value_in(pack: &Pack, name: &str, set: &BTreeMap<String, String>) -> Option<String> {
    set.get(name).cloned().or_else(|| pack.default_of(name))
}
