//! From a pack to a [`Plan`]: resolves look-ups, folds constants, turns frames into factors, and brings every value over one denominator.
//! `None` means that the pack's own constants overflow, everywhere in this module.

use super::exact::{Ratio, Rounder, Rounding};
use super::form::Form;
use super::pack::{Attributes, Pack};
use super::period::PayPeriod;
use super::plan::{Clamp, Finish, Gate, Layout, Operation, Plan, Step, Taxable};
use super::rule::{Formula, Frame, Lookup, Name, RuleLine, When};

/// One case of a pack.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) period: PayPeriod,
    /// Position of `period` in the pack's list.
    pub(super) period_index: usize,
    /// k; any number if the pack does not count periods.
    pub(super) number: u32,
    pub(super) attributes: Attributes,
}

/// Compiles one case. The error is the id of the line whose constants overflow.
pub(super) fn compile(pack: &Pack, case: Case) -> Result<Plan, String> {
    let layout = pack.layout();
    let values = Vec::with_capacity(pack.lines.len());
    let mut compiler = Compiler { pack, case, layout, values, slots: layout.end() };
    let mut steps = Vec::with_capacity(pack.lines.len());
    for (index, line) in pack.lines.iter().enumerate() {
        let (value, step) = compiler.line(index, line).ok_or_else(|| line.id.clone())?;
        compiler.values.push(value);
        steps.extend(step);
    }
    let taxable = match pack.taxable {
        Some(name) => Some(compiler.taxable(name).ok_or("taxable")?),
        None => None,
    };
    Ok(Plan { steps: steps.into(), slots: compiler.slots, taxable })
}

pub(super) struct Compiler<'a> {
    pack: &'a Pack,
    case: Case,
    layout: Layout,
    /// The lines compiled so far.
    values: Vec<Value>,
    /// Number of slots in use.
    slots: usize,
}

/// How later lines read a compiled line.
enum Value {
    /// A memo that is equal for every pay of this case.
    Constant {
        amount: Ratio,
        frame: Frame,
    },
    Memo {
        slot: usize,
        denominator: i128,
        frame: Frame,
    },
    /// A memo `ytd` slice: of this pay, and to date.
    Window {
        slot: usize,
        to_date: usize,
        denominator: i128,
    },
    /// Whole minor units of this pay.
    Money {
        slot: usize,
        role: usize,
    },
}

impl Compiler<'_> {
    pub(super) fn at<'b, T>(&self, lookup: &'b Lookup<T>) -> &'b T {
        lookup.at(self.case.period_index, self.case.attributes)
    }

    pub(super) fn money(&self, lookup: Option<&Lookup<i64>>) -> Option<i64> {
        lookup.map(|lookup| *self.at(lookup))
    }

    /// A value in `from` times this is the value in `to`: n(from) / n(to).
    pub(super) fn conversion(&self, from: Frame, to: Frame) -> Option<Ratio> {
        let per_year = i128::from(self.case.period.per_year());
        let frames = |frame| match frame {
            Frame::Pay => (per_year, 1),
            Frame::Month => (12, 1),
            Frame::Year => (1, 1),
            Frame::Ytd => (per_year, i128::from(self.case.number)),
        };
        let ((from, from_below), (to, to_below)) = (frames(from), frames(to));
        Ratio::new(from * to_below, from_below * to)
    }

    /// `name` moved into `frame`.
    pub(super) fn form(&self, name: Name, frame: Frame) -> Option<Form> {
        if frame == Frame::Ytd
            && let Some((now, before)) = self.accumulates(name)
        {
            return Form::slot(now, Ratio::ONE).plus(Form::slot(before, Ratio::ONE));
        }
        let converted = |slot, below, from| {
            let factor = self.conversion(from, frame)?.times(Ratio::new(1, below)?)?;
            Some(Form::slot(slot, factor))
        };
        match name {
            Name::Base(base) => converted(self.layout.now(base), 1, Frame::Pay),
            Name::Input(input) => {
                converted(self.layout.input(input), 1, self.pack.inputs[input].per)
            }
            Name::Line(line) => match self.values[line] {
                Value::Constant { amount, frame: from } => {
                    Form::constant(amount).times(self.conversion(from, frame)?)
                }
                Value::Memo { slot, denominator, frame: from } => {
                    converted(slot, denominator, from)
                }
                Value::Window { to_date, denominator, .. } if frame == Frame::Ytd => {
                    Some(Form::slot(to_date, Ratio::new(1, denominator)?))
                }
                Value::Window { slot, denominator, .. } => converted(slot, denominator, Frame::Pay),
                Value::Money { slot, .. } => converted(slot, 1, Frame::Pay),
            },
        }
    }

    /// The slots of this pay and of the year before it, for values with a year to date.
    fn accumulates(&self, name: Name) -> Option<(usize, usize)> {
        match name {
            Name::Base(base) => Some((self.layout.now(base), self.layout.before(base))),
            Name::Input(_) => None,
            Name::Line(line) => match self.values[line] {
                Value::Money { slot, role } => Some((slot, self.layout.taken(role))),
                _ => None,
            },
        }
    }

    /// `name` to date, before this pay. A value without a year to date is assumed to be equal in every period.
    pub(super) fn before(&self, name: Name) -> Option<Form> {
        if let Some((_, before)) = self.accumulates(name) {
            return Some(Form::slot(before, Ratio::ONE));
        }
        let earlier = i128::from(self.case.number) - 1;
        self.form(name, Frame::Pay)?.times(Ratio::whole(earlier))
    }

    fn line(&mut self, index: usize, line: &RuleLine) -> Option<(Value, Option<Step>)> {
        let (closed, gate) = self.gate(line)?;
        let same_for_all =
            gate.is_none() && (closed || matches!(line.formula, Formula::Const { .. }));
        if same_for_all && line.role.is_none() {
            let value = Value::Constant { amount: self.constant(line, closed)?, frame: line.per };
            return Some((value, None));
        }
        let (operation, denominator) =
            if closed { (Operation::zero(), 1) } else { self.operation(line)? };
        let clamp = if closed { Clamp::NONE } else { self.clamp(line, denominator)? };
        let slot = self.take_slot();
        let (finish, value) = match line.role {
            Some(role) => {
                let finish = self.money_finish(line, role, denominator, closed)?;
                (finish, Value::Money { slot, role })
            }
            None => self.memo_finish(line, slot, denominator)?,
        };
        Some((value, Some(Step { line: index, slot, gate, operation, clamp, finish })))
    }

    fn take_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Whether the case itself closes the line, or else the condition to check for each pay.
    fn gate(&self, line: &RuleLine) -> Option<(bool, Option<Gate>)> {
        Some(match line.when {
            None => (false, None),
            Some(When::PayPeriod(period)) => (period != self.case.period, None),
            Some(When::Attribute { attribute, value }) => {
                (self.case.attributes.0[attribute] != value, None)
            }
            Some(When::Value { of, per, limit, or_equal }) => {
                let form = self.form(of, per)?;
                let denominator = form.denominator(1)?;
                let limit = i128::from(limit).checked_mul(denominator)?;
                (false, Some(Gate { of: form.over(denominator)?, limit, or_equal }))
            }
        })
    }

    /// The value of a memo that does not depend on the pay.
    fn constant(&self, line: &RuleLine, closed: bool) -> Option<Ratio> {
        let Formula::Const { amount } = &line.formula else { return Some(Ratio::ZERO) };
        if closed {
            return Some(Ratio::ZERO);
        }
        let floored = (*self.at(amount)).max(self.money(line.min.as_ref()).unwrap_or(i64::MIN));
        let clamped = floored.min(self.money(line.max.as_ref()).unwrap_or(i64::MAX));
        Ratio::whole(i128::from(clamped)).rounded(line.round)
    }

    fn memo_finish(
        &mut self,
        line: &RuleLine,
        slot: usize,
        denominator: i128,
    ) -> Option<(Finish, Value)> {
        let (rounder, denominator) = match line.round {
            Rounding::EXACT => (None, denominator),
            rounding => (Some(Rounder::new(rounding, denominator)?), 1),
        };
        if line.per == Frame::Ytd && matches!(line.formula, Formula::Slice { .. }) {
            let to_date = self.take_slot();
            let finish = Finish::Memo { rounder, to_date: Some(to_date) };
            return Some((finish, Value::Window { slot, to_date, denominator }));
        }
        let value = Value::Memo { slot, denominator, frame: line.per };
        Some((Finish::Memo { rounder, to_date: None }, value))
    }

    fn money_finish(
        &self,
        line: &RuleLine,
        role: usize,
        denominator: i128,
        closed: bool,
    ) -> Option<Finish> {
        // A slice to date is already the difference made by this pay, and so is the 0 of a closed line.
        let of_this_pay = closed || matches!(line.formula, Formula::Slice { .. });
        let to_pay = match line.per {
            Frame::Ytd => Ratio::ONE,
            frame => self.conversion(frame, Frame::Pay)?,
        };
        let unit = denominator.checked_mul(to_pay.denominator())?;
        Some(Finish::Money {
            role,
            factor: to_pay.over(to_pay.denominator())?,
            rounder: Rounder::new(line.round, unit)?,
            unit,
            taken: self.layout.taken(role),
            cumulative: line.per == Frame::Ytd && !of_this_pay,
            max_year: self.money(line.max_year.as_ref()).map(i128::from),
        })
    }

    fn taxable(&self, name: Name) -> Option<Taxable> {
        let cumulative = match name {
            Name::Line(line) => matches!(self.values[line], Value::Memo { frame: Frame::Ytd, .. }),
            Name::Base(_) | Name::Input(_) => false,
        };
        let form = self.form(name, if cumulative { Frame::Ytd } else { Frame::Pay })?;
        let denominator = form.denominator(1)?;
        let rounder = Rounder::new(Rounding::HALF_UP, denominator)?;
        Some(Taxable { of: form.over(denominator)?, rounder, cumulative })
    }
}
