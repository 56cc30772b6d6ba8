//! Parts of a pay other than the month's salary: allowances, single payments, arrears, deductions, reimbursed expenses.

use std::collections::BTreeMap;

use crate::model::business::employer_part::EmployerPart;
use crate::model::business::{Deduction, DeductionTiming, PayLine, PaySpan};
use crate::model::prelude::*;

/// Parts of a pay other than the month's salary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extras {
    /// Monthly allowances from the pay terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowances: Vec<PayLine>,
    /// Earnings of this pay only, such as bonus and overtime. Negative if an amount is taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earnings: Vec<PayLine>,
    /// Corrections to earlier months, from pay terms that were set with a date in the past.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) arrears: Vec<Arrears>,
    /// Deductions from the amount after taxes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after_tax: Vec<PayLine>,
    /// Deductions of a type of the payroll pack, in the order in which the law takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) typed: Vec<PayLine>,
    /// The employer's parts of deductions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) employer_parts: Vec<PayLine>,
    /// Rules of the employer's parts, until their amounts are calculated.
    #[serde(skip)]
    pub(crate) employer_rules: Vec<PartRule>,
    /// Rules of deductions by percentage of this pay, until their amounts are calculated.
    #[serde(skip)]
    pub(crate) own_rules: Vec<PartRule>,
    /// Deductions that the pay did not cover; later pays take them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) carried: Vec<PayLine>,
    /// Reimbursed expenses, not part of gross pay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reimbursements: Vec<PayLine>,
    /// The part of the month that is paid, if it is not the whole month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proration: Option<Proration>,
    /// The paid working days of each month, if a part of a pay period of several months is paid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) paid_months: Vec<(Period, u32)>,
}

/// The rule of one deduction of a pay, or of the employer's part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartRule {
    /// Id, label and type of the deduction; its amount is not used.
    pub(crate) line: PayLine,
    /// A fixed amount is that of the pay period.
    pub(crate) part: EmployerPart,
}

/// Late pay for an earlier month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Arrears {
    pub(crate) period: Period,
    /// The days, if they are not the whole month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pay_period: Option<PaySpan>,
    pub(crate) amount: i64,
    /// Its type in the payroll pack, if the pack taxes retroactive pay in its own way.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
}

impl Arrears {
    pub(crate) fn new(span: PaySpan, amount: i64) -> Self {
        Self { period: span.period(), pay_period: span.beside_its_month(), amount, kind: None }
    }

    /// The days that it pays.
    pub(crate) fn span(&self) -> PaySpan {
        self.pay_period.unwrap_or_else(|| PaySpan::month(self.period))
    }
}

/// The part of a pay period that is paid, in weekdays of the country. Holidays count as weekdays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Proration {
    /// Days that are paid.
    pub(crate) paid_days: u32,
    /// Days in the pay period.
    pub(crate) days: u32,
}

impl Extras {
    /// The id of lines of late pay.
    pub(super) const ARREARS: &str = "arrears";

    /// Whether a pay contains only the month's salary.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Lines of gross pay other than the parts of the salary.
    pub(crate) fn earning_lines(&self) -> impl Iterator<Item = Cow<'_, PayLine>> {
        let arrears = self.arrears.iter().map(|arrears| {
            let label = format!("Arrears of {}", arrears.span());
            let kind = arrears.kind.clone();
            PayLine { kind, ..PayLine::plain(Self::ARREARS.to_owned(), label, arrears.amount) }
        });
        let plain = self.allowances.iter().chain(&self.earnings).map(Cow::Borrowed);
        plain.chain(arrears.map(Cow::Owned))
    }

    /// Adds deductions of a pay, with the employer's parts.
    pub(crate) fn keep_back(&mut self, deductions: &[Deduction]) {
        for deduction in deductions {
            if let Some(part) = &deduction.employer {
                let (id, label) = (deduction.id.clone(), deduction.label.clone());
                let (kind, annual_limit) = (kind_of(deduction), deduction.annual_limit);
                let line = PayLine { kind, annual_limit, ..PayLine::plain(id, label, 0) };
                self.employer_rules.push(PartRule { line, part: part.clone() });
            }
            let (id, label) = (deduction.id.clone(), deduction.label.clone());
            let line = PayLine {
                kind: kind_of(deduction),
                protected: deduction.protected,
                annual_limit: deduction.annual_limit,
                ..PayLine::plain(id, label, deduction.amount)
            };
            match deduction.rate() {
                Some(part) => self.own_rules.push(PartRule { line, part }),
                None => self.take(line),
            }
        }
    }

    /// Adds a deduction.
    pub(super) fn take(&mut self, line: PayLine) {
        let lines = if line.kind.is_some() { &mut self.typed } else { &mut self.after_tax };
        lines.extend((line.amount != 0).then_some(line));
    }

    /// All deductions other than taxes and contributions.
    pub(crate) fn deductions(&self) -> i64 {
        sum(&self.typed) + sum(&self.after_tax)
    }

    /// The sum of the employer's parts of deductions.
    pub(crate) fn employer_benefits(&self) -> i64 {
        sum(&self.employer_parts)
    }

    /// Adds the employer's parts (`times` 1) to totals by id, or subtracts them (`times` −1).
    pub(super) fn count_employer_parts(&self, times: i64, taken: &mut BTreeMap<String, i64>) {
        for line in &self.employer_parts {
            *taken.entry(line.id.clone()).or_default() += times * line.amount;
        }
    }

    /// All amounts paid in addition to gross pay.
    pub(crate) fn reimbursed(&self) -> i64 {
        sum(&self.reimbursements)
    }

    /// A copy with the sign of each amount reversed.
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
                .map(|arrears| Arrears { amount: -arrears.amount, ..arrears.clone() })
                .collect(),
            after_tax: turned(&self.after_tax),
            typed: turned(&self.typed),
            employer_parts: turned(&self.employer_parts),
            employer_rules: Vec::new(),
            own_rules: Vec::new(),
            carried: Vec::new(),
            reimbursements: turned(&self.reimbursements),
            proration: self.proration,
            paid_months: self.paid_months.clone(),
        }
    }
}

/// The type, present in every pack, of pre-tax deductions without a type of their own.
const PRE_TAX: &str = "pre_tax";

/// The type of a deduction in the payroll pack, if it has one.
fn kind_of(deduction: &Deduction) -> Option<String> {
    let own = deduction.kind.clone();
    match deduction.timing {
        DeductionTiming::PreTax => own.or_else(|| Some(PRE_TAX.to_owned())),
        DeductionTiming::PostTax => own,
    }
}

pub(crate) fn sum(lines: &[PayLine]) -> i64 {
    lines.iter().map(|line| line.amount).sum()
}

/// Lowers lines, starting with the last, until their sum is at most `most`. Returns the amount removed.
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
        PayLine::plain(id.to_owned(), id.to_owned(), amount)
    }

    #[test]
    fn an_excess_over_the_pay_is_cut_from_the_last_line() {
        let mut lines = vec![line("loan", 300), line("union", 50), line("gym", 100)];
        assert_eq!(cap(&mut lines, 320), 130);
        assert_eq!(lines, [line("loan", 300), line("union", 20)]);
        assert_eq!(cap(&mut lines, 1_000), 0);
        assert_eq!(cap(&mut lines, -5), 320);
        assert!(lines.is_empty());
    }

    #[test]
    fn a_pay_and_its_negation_sum_to_zero() {
        let extras = Extras {
            earnings: vec![line("bonus", 500)],
            after_tax: vec![line("loan", 20)],
            arrears: vec![Arrears::new(PaySpan::month("2026-01".parse().expect("a period")), 7)],
            ..Extras::default()
        };
        let negated = extras.negated();
        let of = |extras: &Extras| extras.earning_lines().map(|line| line.amount).sum::<i64>();
        assert_eq!(of(&extras) + of(&negated), 0);
        assert_eq!(extras.deductions() + negated.deductions(), 0);
        assert!(!extras.is_empty() && Extras::default().is_empty());
    }
}
