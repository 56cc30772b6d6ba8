//! The employer's parts of the deductions of a pay. They are a cost of the employer, and due to the same third parties as the deductions.

use std::collections::BTreeMap;

use crate::model::business::calculation::{Before, Calculation};
use crate::model::business::earnings::PayLine;
use crate::model::business::employer_part::Paid;
use crate::model::business::pay_extras::{Extras, PartRule};
use crate::model::business::typed_deductions as typed;

/// The amounts taken earlier in the tax year.
#[derive(Default)]
pub(super) struct Taken {
    /// The employer's parts by id.
    parts: BTreeMap<String, i64>,
    /// Deductions by type, this pay's too, with the parts that count towards their limits.
    by_type: BTreeMap<String, i64>,
}

/// The employer's parts of the deductions that the pay covered.
pub(super) fn of(
    rules: Vec<PartRule>,
    extras: &Extras,
    (paid, before): (Paid<'_>, Before<'_>),
    taken: Taken,
) -> Vec<PayLine> {
    let Taken { parts, mut by_type } = taken;
    let lines = rules.into_iter().map(|PartRule { line, part }| {
        let own = [&extras.typed, &extras.after_tax];
        let own = own.into_iter().flatten().filter(|it| it.id == line.id && it.kind == line.kind);
        let own: i64 = own.map(|it| it.amount).sum();
        let amount = part.amount_of(own, Paid { before: before.gross_with(&line), ..paid });
        let earlier = parts.get(&line.id).copied().unwrap_or_default();
        let room = part.annual_limit.map_or(i64::MAX, |limit| (limit - earlier).max(0));
        let amount = amount.min(room).min(typed::employer_room(paid.pack, &line, &by_type));
        let label = format!("{} (employer)", line.label);
        let line = PayLine { amount, label, annual_limit: None, ..line };
        typed::count_employer(paid.pack, core::slice::from_ref(&line), 1, &mut by_type);
        line
    });
    lines.filter(|line| line.amount != 0).collect()
}

impl Before<'_> {
    /// The employer's parts of a pay with these deductions.
    pub(super) fn employer_parts(self, paid: Paid<'_>, extras: &Extras) -> Vec<PayLine> {
        if extras.employer_rules.is_empty() {
            return Vec::new();
        }
        let mut taken = Taken::default();
        if let Some(year) = self.year {
            taken = Taken { parts: year.employer_parts.clone(), by_type: year.typed.clone() };
        }
        for earlier in self.same_period.iter().filter_map(|pay| pay.extras()) {
            earlier.count_employer_parts(1, &mut taken.parts);
            typed::count(&earlier.typed, 1, &mut taken.by_type);
            typed::count_employer(paid.pack, &earlier.employer_parts, 1, &mut taken.by_type);
        }
        typed::count(&extras.typed, 1, &mut taken.by_type);
        of(extras.employer_rules.clone(), extras, (paid, self), taken)
    }

    /// Gross pay of the earlier pays of the pay period on which the deduction was taken. Only they use up the limits of its earnings.
    pub(super) fn gross_with(&self, line: &PayLine) -> i64 {
        let taken_on = self.same_period.iter().filter(|pay| pay.has_deduction(line));
        taken_on.map(|pay| pay.gross).sum()
    }
}

impl Calculation {
    /// The employer's parts of the deductions of this pay.
    pub(super) fn employer_parts(&self, extras: &mut Extras, before: Before<'_>) -> Vec<PayLine> {
        let paid = Paid { pack: self.pack(), period: self.frequency, gross: self.gross, before: 0 };
        let parts = before.employer_parts(paid, extras);
        extras.employer_rules.clear();
        parts
    }

    /// Whether the deduction was taken on this pay. A pay by pay terms counts as having every deduction of the terms,
    /// even if its amount was zero.
    fn has_deduction(&self, line: &PayLine) -> bool {
        let is_same = |it: &&PayLine| it.id == line.id && it.kind == line.kind;
        let lines = self.extras().into_iter();
        let mut lines =
            lines.flat_map(|it| it.typed.iter().chain(&it.after_tax).chain(&it.employer_parts));
        self.pays_terms() || lines.any(|it| is_same(&it))
    }

    /// The employer's part of each deduction.
    pub(crate) fn employer_benefit_lines(&self) -> Vec<PayLine> {
        self.extras().map(|extras| extras.employer_parts.clone()).unwrap_or_default()
    }

    /// The sum of the employer's parts.
    pub(crate) fn employer_benefits(&self) -> i64 {
        self.extras().map_or(0, Extras::employer_benefits)
    }

    /// Amounts that the employer pays in addition: taxes, contributions and benefits.
    pub(crate) fn on_top(&self) -> i64 {
        self.employer_contributions + self.employer_benefits()
    }

    /// The employer's cost: gross pay, employer contributions and reimbursed expenses.
    pub(crate) fn employer_cost(&self) -> i64 {
        self.gross + self.on_top() + self.reimbursed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::business::employer_part::EmployerPart;
    use crate::model::payroll::{PayPeriod, library};

    #[test]
    fn a_limit_of_the_year_ends_the_part() {
        let rule = PartRule {
            line: PayLine::plain("plan".to_owned(), "Plan".to_owned(), 0),
            part: EmployerPart {
                amount: Some(300),
                annual_limit: Some(1_000),
                ..EmployerPart::default()
            },
        };
        let amount = |earlier: i64| {
            let parts = BTreeMap::from([("plan".to_owned(), earlier)]);
            let taken = Taken { parts, ..Taken::default() };
            let pay = (paid(), Before::default());
            let lines = of(vec![rule.clone()], &Extras::default(), pay, taken);
            lines.first().map(|line| line.amount)
        };
        assert_eq!([0, 900, 1_000].map(amount), [Some(300), Some(100), None]);
    }

    /// 26 USC 223(b)(4) and 106(d): the limit of an HSA counts both parts. 8,750.00 less 8,400.00 to date less 200.00 of this pay.
    #[test]
    fn the_limit_of_a_health_savings_account_counts_the_employers_part() {
        let kind = Some("hsa_s125".to_owned());
        let plan = PayLine { kind, ..PayLine::plain("hsa".to_owned(), "HSA".to_owned(), 20_000) };
        let part = EmployerPart { amount: Some(50_000), ..EmployerPart::default() };
        let rule = PartRule { line: PayLine { amount: 0, ..plan.clone() }, part };
        let taken = |to_date| Taken {
            by_type: BTreeMap::from([("hsa_s125".to_owned(), to_date + plan.amount)]),
            ..Taken::default()
        };
        let extras = Extras { typed: vec![plan.clone()], ..Extras::default() };
        let amount = |rule: &PartRule, to_date: i64| {
            let lines =
                of(vec![rule.clone()], &extras, (paid(), Before::default()), taken(to_date));
            lines.first().map(|line| (line.amount, line.annual_limit))
        };
        assert_eq!(amount(&rule, 840_000), Some((15_000, None)));
        assert_eq!(amount(&rule, 855_000), None);
        // Self-only cover: the terms set 4,400.00.
        let own = PartRule { line: PayLine { annual_limit: Some(440_000), ..rule.line }, ..rule };
        assert_eq!(amount(&own, 400_000), Some((20_000, None)));
    }

    fn paid() -> Paid<'static> {
        let pack = library().pack("US").expect("an embedded pack");
        Paid { pack, period: PayPeriod::Monthly, gross: 0, before: 0 }
    }
}
