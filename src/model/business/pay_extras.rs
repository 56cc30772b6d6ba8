//! What a pay holds beside the parts of a month's salary: allowances, single payments, arrears, deductions, expenses paid back.

use crate::model::business::PayLine;
use crate::model::prelude::*;

/// What a pay holds beside the parts of a month's salary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extras {
    /// Every month's, by the terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowances: Vec<PayLine>,
    /// Of this pay alone: bonus, overtime. Negative where something is taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earnings: Vec<PayLine>,
    /// What terms that were set for days gone by add to earlier months, or take back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) arrears: Vec<Arrears>,
    /// Taken before taxes are reckoned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) before_tax: Vec<PayLine>,
    /// Taken from what taxes leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after_tax: Vec<PayLine>,
    /// Expenses paid back, outside gross pay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reimbursements: Vec<PayLine>,
    /// The part of the month that is paid, where it is not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proration: Option<Proration>,
}

/// What an earlier month is paid late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Arrears {
    pub(crate) period: Period,
    pub(crate) amount: i64,
}

/// The part of a month that is paid: working days of it, weekends left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Proration {
    /// Days that are paid.
    pub(crate) paid_days: u32,
    /// Days that the month has.
    pub(crate) days: u32,
}

impl Extras {
    /// Whether a pay is just a month's salary.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Lines of gross pay beside the salary's parts.
    pub(crate) fn earning_lines(&self) -> Vec<PayLine> {
        let arrears = self.arrears.iter().map(|arrears| PayLine {
            id: "arrears".to_owned(),
            label: format!("Arrears of {}", arrears.period),
            amount: arrears.amount,
        });
        let plain = self.allowances.iter().chain(&self.earnings).cloned();
        plain.chain(arrears).collect()
    }

    /// All that is kept back beside taxes and contributions.
    pub(crate) fn deductions(&self) -> i64 {
        sum(&self.before_tax) + sum(&self.after_tax)
    }

    /// All that is paid beside gross pay.
    pub(crate) fn reimbursed(&self) -> i64 {
        sum(&self.reimbursements)
    }

    /// The same with every amount's sign turned.
    pub(crate) fn negated(&self) -> Self {
        let turned = |lines: &[PayLine]| {
            let turn = |line: &PayLine| PayLine { amount: -line.amount, ..line.clone() };
            lines.iter().map(turn).collect()
        };
        Self {
            allowances: turned(&self.allowances),
            earnings: turned(&self.earnings),
            arrears: self
                .arrears
                .iter()
                .map(|arrears| Arrears { amount: -arrears.amount, ..*arrears })
                .collect(),
            before_tax: turned(&self.before_tax),
            after_tax: turned(&self.after_tax),
            reimbursements: turned(&self.reimbursements),
            proration: self.proration,
        }
    }
}

/// Sum of lines.
pub(crate) fn sum(lines: &[PayLine]) -> i64 {
    lines.iter().map(|line| line.amount).sum()
}

/// Lowers lines from the last one on until they sum to no more than `most`; what is left out is returned.
pub(crate) fn cap(lines: &mut Vec<PayLine>, most: i64) -> i64 {
    let mut over = (sum(lines) - most.max(0)).max(0);
    let left_out = over;
    for line in lines.iter_mut().rev() {
        let cut = over.min(line.amount);
        line.amount -= cut;
        over -= cut;
    }
    lines.retain(|line| line.amount != 0);
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, amount: i64) -> PayLine {
        PayLine { id: id.to_owned(), label: id.to_owned(), amount }
    }

    #[test]
    fn what_exceeds_the_pay_is_cut_from_the_last_line_on() {
        let mut lines = vec![line("loan", 300), line("union", 50), line("gym", 100)];
        assert_eq!(cap(&mut lines, 320), 130);
        assert_eq!(lines, [line("loan", 300), line("union", 20)]);
        assert_eq!(cap(&mut lines, 1_000), 0);
        assert_eq!(cap(&mut lines, -5), 320);
        assert!(lines.is_empty());
    }

    #[test]
    fn a_negated_pay_and_the_pay_are_nothing() {
        let extras = Extras {
            earnings: vec![line("bonus", 500)],
            after_tax: vec![line("loan", 20)],
            arrears: vec![Arrears { period: "2026-01".parse().expect("a period"), amount: 7 }],
            ..Extras::default()
        };
        let negated = extras.negated();
        assert_eq!(sum(&extras.earning_lines()) + sum(&negated.earning_lines()), 0);
        assert_eq!(extras.deductions() + negated.deductions(), 0);
        assert!(!extras.is_empty() && Extras::default().is_empty());
    }
}
