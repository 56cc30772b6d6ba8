//! Calculates one pay: earnings, attributes and totals to date in, a payslip's amounts out. It does not allocate once a [`Pay`] is reused,
//! and compares no strings. The plan of a case is compiled at first use and cached in the pack.

use super::compile::{Case, compile};
use super::error::PayError;
use super::pack::{Attributes, Component, Pack, Role};
use super::period::PayPeriod;
use super::plan::{Fault, Layout, Plan, Taxable};
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
    /// gross − tax − employee.
    pub net: i64,
    /// The amount that the first employee tax is charged on, for this pay: the base of its nearest `bands` (or else `slice`) line. If that
    /// is a total to date, its growth. `None` if the pack has no such line, or if the totals to date came without it.
    pub taxable: Option<i64>,
    /// Working memory, kept so that the next evaluation does not allocate.
    slots: Vec<i128>,
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
        let plan = self.plan(input)?;
        self.sum_earnings(input.earnings, pay)?;
        self.fill_slots(input, plan.slots, pay);
        pay.amounts.clear();
        pay.amounts.resize(self.role_lines.len(), 0);
        for step in &plan.steps {
            step.run(&mut pay.slots, &mut pay.amounts)
                .map_err(|fault| self.fault(fault, step.line))?;
        }
        pay.taxable = match &plan.taxable {
            Some(taxable) => taxable_of(taxable, &pay.slots, input.ytd)?,
            None => None,
        };
        self.sum_roles(pay).ok_or_else(|| PayError::Overflow { at: "net".to_owned() })
    }

    pub(super) fn layout(&self) -> Layout {
        Layout { bases: self.bases.len(), roles: self.role_lines.len(), inputs: self.inputs.len() }
    }

    /// The plan of this case. If two threads compile it at once, the first plan is kept.
    fn plan(&self, input: &PayInput) -> Result<&Plan, PayError> {
        let (case, index) = self.case(input)?;
        let slot = &self.plans[index];
        if let Some(plan) = slot.get() {
            return Ok(plan);
        }
        let plan = compile(self, case).map_err(|at| PayError::Overflow { at })?;
        Ok(slot.get_or_init(|| Box::new(plan)))
    }

    /// The case and the position of its plan: periods (and numbers) in order, attributes within.
    fn case(&self, input: &PayInput) -> Result<(Case, usize), PayError> {
        let PayInput { period, number, attributes, .. } = *input;
        let last = period.last_number();
        if !(1..=last).contains(&number) {
            return Err(PayError::PeriodNumber { number, last });
        }
        let number = if self.counts_periods { number } else { 1 };
        let mut numbers_before = 0;
        for (period_index, &known) in self.periods.iter().enumerate() {
            if known == period {
                let combinations = self.attributes.iter().map(|attribute| attribute.values.len());
                let row = (numbers_before + number - 1) as usize;
                let rank = attributes.rank(&self.attributes).ok_or(PayError::ForeignAttributes)?;
                let index = row * combinations.product::<usize>() + rank;
                return Ok((Case { period, period_index, number, attributes }, index));
            }
            numbers_before += if self.counts_periods { known.last_number() } else { 1 };
        }
        Err(PayError::UnsupportedPeriod { period, known: self.periods.clone() })
    }

    fn sum_earnings(&self, earnings: &[(Component, i64)], pay: &mut Pay) -> Result<(), PayError> {
        pay.gross = 0;
        pay.bases.clear();
        pay.bases.resize(self.bases.len(), 0);
        for &(component, amount) in earnings {
            if amount < 0 {
                return Err(PayError::NegativeEarnings(amount));
            }
            let gross = pay.gross.checked_add(amount);
            pay.gross = gross.ok_or_else(|| PayError::Overflow { at: "gross".to_owned() })?;
            for (sum, base) in pay.bases.iter_mut().zip(&self.bases) {
                if base.mask >> component.0 & 1 == 1 {
                    *sum += amount; // no more than gross, which fits
                }
            }
        }
        Ok(())
    }

    fn fill_slots(&self, input: &PayInput, count: usize, pay: &mut Pay) {
        pay.slots.resize(count, 0);
        let layout = self.layout();
        let bases = 0..self.bases.len();
        for base in bases {
            pay.slots[layout.now(base)] = i128::from(pay.bases[base]);
            pay.slots[layout.before(base)] = i128::from(input.ytd.base(base));
        }
        for role in 0..self.role_lines.len() {
            pay.slots[layout.taken(role)] = i128::from(input.ytd.line(role));
        }
        for (index, default) in self.default_inputs.iter().enumerate() {
            let given = input.inputs.get(index).unwrap_or(default);
            pay.slots[layout.input(index)] = i128::from(*given);
        }
    }

    fn sum_roles(&self, pay: &mut Pay) -> Option<()> {
        (pay.tax, pay.employee, pay.employer) = (0, 0, 0);
        for (line, amount) in self.role_lines.iter().zip(&pay.amounts) {
            let sum = match line.role {
                Role::EmployeeTax => &mut pay.tax,
                Role::EmployeeSocial => &mut pay.employee,
                Role::EmployerTax | Role::EmployerSocial => &mut pay.employer,
            };
            *sum = sum.checked_add(*amount)?;
        }
        pay.net = pay.gross.checked_sub(pay.tax)?.checked_sub(pay.employee)?;
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

fn taxable_of(
    taxable: &Taxable,
    slots: &[i128],
    ytd: &YearToDate,
) -> Result<Option<i64>, PayError> {
    let value = taxable.of.value(slots).and_then(|value| taxable.rounder.round(value));
    let before = match (taxable.cumulative, ytd.taxable()) {
        (false, _) => 0,
        (true, Some(before)) => before,
        (true, None) => return Ok(None),
    };
    let this_pay = value.and_then(|value| i64::try_from(value - i128::from(before)).ok());
    this_pay.map(Some).ok_or_else(|| PayError::Overflow { at: "taxable".to_owned() })
}
