//! Calculates the amounts of one pay from earnings, attributes and totals to date. With a reused [`Pay`] it allocates
//! no memory, and it compares no strings. The plan of a case is compiled at first use and cached in the pack.

use std::mem;

use jiff::civil::Date;

use super::cache::{Compiled, Key};
use super::compile::{Case, compile};
use super::error::PayError;
use super::number::Number;
use super::pack::{Attributes, Component, Pack, Role, byte};
use super::period::PayPeriod;
use super::plan::{Fault, Finish, Layout, Plan, Step, Taxable};
use super::usual::Usual;
use super::ytd::YearToDate;

/// The input for one pay.
#[derive(Clone, Copy, Debug)]
pub struct PayInput<'a> {
    /// How often the employee is paid.
    pub period: PayPeriod,
    /// k: the number of the tax period in the tax year, from 1.
    pub number: u32,
    /// The employee's attributes, made by the same pack.
    pub attributes: Attributes,
    /// In the order of [`Pack::inputs`]; missing ones at the end use their defaults.
    pub inputs: &'a [i64],
    /// The pay date, for a pack whose lines change within the year. Without it, the last version applies.
    pub on: Option<Date>,
    /// Minor units from zero, by component. A salary without parts is component `basic`.
    pub earnings: &'a [(Component, i64)],
    /// Totals before this pay.
    pub ytd: &'a YearToDate,
}

/// A calculated pay, in minor units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pay {
    /// All earnings.
    pub gross: i64,
    /// Earnings by base, in the pack's order.
    pub bases: Vec<i64>,
    /// One amount per line, in the order of [`Pack::lines`]. Negative for a refund.
    pub amounts: Vec<i64>,
    /// Σ of role `employee_tax`.
    pub tax: i64,
    /// Σ of role `employee_social`.
    pub employee: i64,
    /// Σ of the two employer roles.
    pub employer: i64,
    /// Σ of role `employee_deduction`.
    pub withheld: i64,
    /// gross − tax − employee − withheld.
    pub net: i64,
    /// The amount that the first employee tax is charged on, for this pay: the base of its nearest `bands` (or else `slice`) line. If that
    /// is a total to date, its growth. `None` if the pack has no such line, or if the totals to date came without it.
    pub taxable: Option<i64>,
    /// The memos that the pack prints, in the order of [`Pack::shown_names`].
    pub shown: Vec<i64>,
    /// Working memory, kept so that the next evaluation does not allocate.
    slots: Vec<i64>,
}

/// The parts of a pay that are calculated from totals to date.
pub(crate) struct Cumulative {
    /// Positions in [`Pack::lines`].
    pub(crate) lines: Vec<usize>,
    /// Whether taxable pay is the growth of a total.
    pub(crate) taxable: bool,
}

impl Pack {
    /// Calculates a pay.
    pub fn evaluate(&self, input: &PayInput) -> Result<Pay, PayError> {
        let mut pay = Pay::default();
        self.evaluate_into(input, &mut pay)?;
        Ok(pay)
    }

    /// Calculates a pay into existing memory. After an error, its contents are undefined.
    pub fn evaluate_into(&self, input: &PayInput, pay: &mut Pay) -> Result<(), PayError> {
        let key = self.key(input)?;
        self.sum_earnings(input, pay)?;
        self.fill_slots(input, pay);
        let layout = self.layout();
        let usual = Usual::inputs(layout, &self.default_inputs, input.inputs);
        let key = Key { usual: usual.and_bases(layout, &pay.slots), ..key };
        let plan = self.plan(key, input)?;
        if let Some(narrow) = &plan.narrow {
            let mut slots = mem::take(&mut pay.slots);
            let done = self.run(narrow, &mut slots, input.ytd, pay);
            pay.slots = slots;
            if !matches!(done, Err(PayError::Overflow { .. })) {
                return done;
            }
        }
        let wide = if let Some(wide) = plan.wide.get() {
            wide
        } else {
            let wide = self.compile(plan.key, input)?;
            plan.wide.get_or_init(|| wide)
        };
        let mut slots = pay.slots[..layout.end()].iter().map(|slot| i128::from(*slot)).collect();
        self.run(wide, &mut slots, input.ytd, pay)
    }

    /// The lines that are calculated from totals to date for this input.
    pub(crate) fn cumulative(&self, input: &PayInput) -> Result<Cumulative, PayError> {
        let plan = self.compile(self.key(input)?, input)?;
        let line = |step: &Step| match step.finish {
            Finish::Money { role, cumulative: true, .. } => Some(role),
            _ => None,
        };
        let lines = plan.steps.iter().filter_map(line).collect();
        Ok(Cumulative { lines, taxable: plan.taxable.is_some_and(|it| it.cumulative) })
    }

    /// Calculates the amounts from the known numbers of the pay, which the first slots contain.
    fn run<N: Number>(
        &self,
        plan: &Plan<N>,
        slots: &mut Vec<N>,
        ytd: &YearToDate,
        pay: &mut Pay,
    ) -> Result<(), PayError> {
        slots.resize(plan.slots, N::ZERO);
        pay.amounts.clear();
        pay.amounts.resize(self.role_lines.len(), 0);
        for step in &plan.steps {
            step.run(slots, &mut pay.amounts).map_err(|fault| self.fault(fault, step.line))?;
        }
        pay.taxable = match &plan.taxable {
            Some(taxable) => taxable_of(taxable, slots, ytd)?,
            None => None,
        };
        pay.shown.clear();
        for (shown, line) in plan.shown.iter().zip(&self.shown) {
            let value = shown.value(slots).and_then(N::amount);
            pay.shown.push(value.ok_or_else(|| self.fault(Fault::Overflow, *line))?);
        }
        self.sum_roles(pay).ok_or_else(|| PayError::Overflow { at: "net".to_owned() })
    }

    pub(super) fn layout(&self) -> Layout {
        Layout { bases: self.bases.len(), roles: self.role_lines.len(), inputs: self.inputs.len() }
    }

    /// The case, before the values of the pay are known.
    fn key(&self, input: &PayInput) -> Result<Key, PayError> {
        let PayInput { period, number, attributes, on, .. } = *input;
        let last = period.last_number();
        if !(1..=last).contains(&number) {
            return Err(PayError::PeriodNumber { number, last });
        }
        let unsupported = || PayError::UnsupportedPeriod { period, known: self.periods.clone() };
        let period_index = self.periods.iter().position(|known| *known == period);
        let period_index = period_index.ok_or_else(unsupported)?;
        let number = if self.counts_periods { number } else { 1 };
        let until = |day: Date| self.versions.iter().position(|(until, _)| day <= *until);
        let version = on.and_then(until).unwrap_or(self.versions.len());
        Ok(Key {
            period: byte(period_index),
            version: byte(version),
            number,
            attributes: attributes.0,
            usual: Usual::NOTHING,
            taken_back: input.ytd.is_taken_back(),
        })
    }

    /// The plan of this case.
    fn plan(&self, key: Key, input: &PayInput) -> Result<&Compiled, PayError> {
        if let Some(plan) = self.plans.get(&key) {
            return Ok(plan);
        }
        if !input.attributes.belong_to(&self.attributes) {
            return Err(PayError::ForeignAttributes);
        }
        let key = self.plans.bounded(key);
        if let Some(plan) = self.plans.get(&key) {
            return Ok(plan);
        }
        Ok(self.plans.add(key, self.compile(key, input)?))
    }

    fn compile(&self, key: Key, input: &PayInput) -> Result<Plan, PayError> {
        let version = self.versions.get(usize::from(key.version));
        let lines = version.map_or(&self.lines, |(_, lines)| lines);
        let case = Case {
            period: input.period,
            period_index: usize::from(key.period),
            number: key.number,
            attributes: input.attributes,
            usual: key.usual,
            taken_back: key.taken_back,
        };
        compile(self, lines, case).map_err(|at| PayError::Overflow { at })
    }

    fn sum_earnings(&self, input: &PayInput, pay: &mut Pay) -> Result<(), PayError> {
        pay.gross = 0;
        pay.bases.clear();
        pay.bases.resize(self.bases.len(), 0);
        let overflow = || PayError::Overflow { at: "gross".to_owned() };
        for &(component, amount) in input.earnings {
            if amount < 0 {
                return Err(PayError::NegativeEarnings(amount));
            }
            if self.not_cash >> component.0 & 1 == 0 {
                pay.gross = pay.gross.checked_add(amount).ok_or_else(overflow)?;
            }
            for (sum, base) in pay.bases.iter_mut().zip(&self.bases) {
                if base.counts(component, input.attributes) {
                    *sum = sum.checked_add(amount).ok_or_else(overflow)?;
                }
            }
        }
        let may_be_less = !input.inputs.is_empty();
        for (sum, base) in pay.bases.iter_mut().zip(&self.bases).filter(|_| may_be_less) {
            for &deduction in &base.less {
                let taken = input.inputs.get(deduction).copied().unwrap_or(0);
                *sum = sum.saturating_sub(taken).max(0);
            }
        }
        Ok(())
    }

    fn fill_slots(&self, input: &PayInput, pay: &mut Pay) {
        let layout = self.layout();
        pay.slots.resize(layout.end(), 0);
        let bases = 0..self.bases.len();
        for base in bases {
            pay.slots[layout.now(base)] = pay.bases[base];
            pay.slots[layout.before(base)] = input.ytd.base(base);
        }
        for role in 0..self.role_lines.len() {
            pay.slots[layout.taken(role)] = input.ytd.line(role);
        }
        for (index, default) in self.default_inputs.iter().enumerate() {
            pay.slots[layout.input(index)] = *input.inputs.get(index).unwrap_or(default);
        }
    }

    fn sum_roles(&self, pay: &mut Pay) -> Option<()> {
        (pay.tax, pay.employee, pay.employer, pay.withheld) = (0, 0, 0, 0);
        for (line, amount) in self.role_lines.iter().zip(&pay.amounts) {
            let sum = match line.role {
                Role::EmployeeTax => &mut pay.tax,
                Role::EmployeeSocial => &mut pay.employee,
                Role::EmployeeDeduction => &mut pay.withheld,
                Role::EmployerTax | Role::EmployerSocial => &mut pay.employer,
            };
            *sum = sum.checked_add(*amount)?;
        }
        let left = pay.gross.checked_sub(pay.tax)?.checked_sub(pay.employee)?;
        pay.net = left.checked_sub(pay.withheld)?;
        Some(())
    }

    fn fault(&self, fault: Fault, line: usize) -> PayError {
        let id = self.lines[line].id.clone();
        match fault {
            Fault::Overflow => PayError::Overflow { at: id },
            Fault::Fraction => PayError::Fraction { line: id },
        }
    }
}

fn taxable_of<N: Number>(
    taxable: &Taxable<N>,
    slots: &[N],
    ytd: &YearToDate,
) -> Result<Option<i64>, PayError> {
    let before = match (taxable.cumulative, ytd.taxable()) {
        (false, _) => 0,
        (true, Some(before)) => before,
        (true, None) => return Ok(None),
    };
    let this_pay = taxable.value(slots).and_then(|value| value.minus(N::of(before))?.amount());
    this_pay.map(Some).ok_or_else(|| PayError::Overflow { at: "taxable".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::payroll::library;

    const GROSSES: [i64; 6] = [0, 1, 99_999, 400_000, 1_234_567, 98_765_432];

    /// Evaluates one pay, and then the same with the wide plan.
    fn both(pack: &Pack, gross: i64, ytd: &YearToDate) -> (Pay, Pay) {
        let input = PayInput {
            period: pack.periods[0],
            number: 3,
            attributes: pack.default_attributes(),
            inputs: &[],
            on: None,
            earnings: &[(pack.component("basic"), gross)],
            ytd,
        };
        let pay = pack.evaluate(&input).expect("128 bits calculate this pay");
        let (layout, key) = (pack.layout(), pack.key(&input).expect("a known period"));
        let usual = Usual::inputs(layout, &pack.default_inputs, &[]);
        let key = Key { usual: usual.and_bases(layout, &pay.slots), ..key };
        let plan = pack.compile(key, &input).expect("a compiled pack");
        let mut wide = Pay::default();
        pack.sum_earnings(&input, &mut wide).expect("a small sum");
        let known = &pay.slots[..layout.end()];
        let mut slots = known.iter().map(|slot| i128::from(*slot)).collect();
        pack.run(&plan, &mut slots, ytd, &mut wide).expect("128 bits calculate this pay");
        wide.slots.clone_from(&pay.slots);
        (pay, wide)
    }

    #[test]
    fn plans_of_64_and_128_bits_calculate_the_same() {
        for pack in library().packs() {
            let mut ytd = YearToDate::start();
            for gross in GROSSES {
                let (narrow, wide) = both(pack, gross, &ytd);
                assert_eq!(narrow, wide, "{} {gross}", pack.code);
                ytd.add(&narrow).expect("small totals");
            }
        }
    }

    #[test]
    fn a_pay_that_overflows_64_bits_is_calculated_in_128() {
        let pack = library().pack("CA").expect("a pack of this name");
        let (pay, wide) = both(pack, 2_000_000_000_000_000, &YearToDate::start());
        assert_eq!(pay, wide);
        let share = pay.tax / (pay.gross / 1_000);
        assert!((400..600).contains(&share), "{share} of 1,000");
    }
}
