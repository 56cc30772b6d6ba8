//! Compiles a pack into a [`Plan`]: resolves look-ups, folds constants, replaces frames by factors, and brings every
//! value over one denominator. Everywhere in this module, `None` means that the pack's own constants overflow.

use super::exact::{Ratio, Rounder, Rounding};
use super::form::Form;
use super::pack::{Attributes, Pack};
use super::passes::only_read;
use super::period::PayPeriod;
use super::plan::{Cap, Clamp, Finish, Gate, Layout, Operation, Plan, Step, Taxable};
use super::rule::{self, Formula, Frame, Lookup, Name, RuleLine, When};
use super::usual::Usual;

/// The maximum number of slots of a sum that is calculated where it is used, without a step of its own.
const SHORT_SUM: usize = 2;

/// One case of a pack.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) period: PayPeriod,
    /// Position of `period` in the pack's list.
    pub(super) period_index: usize,
    /// k; any number if the pack does not count periods.
    pub(super) number: u32,
    pub(super) attributes: Attributes,
    pub(super) usual: Usual,
    /// Whether pays of the year were taken back.
    pub(super) taken_back: bool,
}

/// The value of a condition in one case.
enum Truth {
    /// By the case.
    Known(bool),
    /// By the usual values of the pay.
    Assumed(bool),
    Decided(Gate),
}

/// Compiles one case. The error is the id of the line whose constants overflow.
pub(super) fn compile(pack: &Pack, lines: &[RuleLine], case: Case) -> Result<Plan, String> {
    let layout = pack.layout();
    let values = Vec::with_capacity(lines.len());
    let slots = layout.end();
    let steps = Vec::with_capacity(lines.len());
    let mut compiler = Compiler { pack, case, layout, values, steps, slots, alone: false };
    for (index, line) in lines.iter().enumerate() {
        let value = compiler.line(index, line).ok_or_else(|| line.id.clone())?;
        compiler.values.push(value);
    }
    compiler.alone = false;
    let taxable = match pack.taxable {
        Some(name) => Some(compiler.taxable(name).ok_or("taxable")?),
        None => None,
    };
    let shown = pack.shown.iter().map(|line| {
        let shown = compiler.taxable(Name::Line(*line));
        shown.ok_or_else(|| lines[*line].id.clone())
    });
    let shown = shown.collect::<Result<Box<[Taxable]>, _>>()?;
    let steps = compiler.steps.into_iter().map(|(step, _)| step).collect();
    let steps = only_read(steps, compiler.slots, shown.iter().chain(&taxable));
    Ok(Plan { steps, slots: compiler.slots, taxable, shown })
}

pub(super) struct Compiler<'a> {
    pack: &'a Pack,
    pub(super) case: Case,
    layout: Layout,
    /// The lines compiled so far.
    values: Vec<Value>,
    /// The steps so far, each with the denominator of its value.
    steps: Vec<(Step, i128)>,
    /// Number of slots in use.
    slots: usize,
    /// Whether the line being compiled is calculated as period 1 with nothing to date.
    pub(super) alone: bool,
}

/// How later lines read a compiled line.
enum Value {
    /// A memo that is equal for every pay of this case.
    Constant {
        amount: Ratio,
        frame: Frame,
    },
    Memo {
        form: Form,
        frame: Frame,
    },
    /// A memo `ytd` slice: of this pay, and to date.
    Window {
        now: Form,
        to_date: Form,
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
            Frame::Ytd if self.alone => (per_year, 1),
            Frame::Ytd => (per_year, i128::from(self.case.number)),
        };
        let ((from, from_below), (to, to_below)) = (frames(from), frames(to));
        Ratio::new(from * to_below, from_below * to)
    }

    /// The term for a slot: its usual value as a constant, or else the slot.
    pub(super) fn read(&self, slot: usize, factor: Ratio) -> Option<Form> {
        Some(match self.case.usual.constant(self.layout, self.pack.default_inputs(), slot) {
            Some(value) => Form::constant(factor.times(Ratio::whole(value))?),
            None => Form::slot(slot, factor),
        })
    }

    /// `name` moved into `frame`.
    pub(super) fn form(&self, name: Name, frame: Frame) -> Option<Form> {
        if frame == Frame::Ytd
            && let Some((now, before)) = self.accumulates(name)
        {
            let now = self.read(now, Ratio::ONE)?;
            return if self.alone { Some(now) } else { now.plus(self.read(before, Ratio::ONE)?) };
        }
        let (form, from) = match name {
            Name::Base(base) => (self.read(self.layout.now(base), Ratio::ONE)?, Frame::Pay),
            Name::Input(input) => {
                let form = self.read(self.layout.input(input), Ratio::ONE)?;
                (form, self.pack.inputs[input].per)
            }
            Name::Line(line) => match &self.values[line] {
                Value::Constant { amount, frame } => (Form::constant(*amount), *frame),
                Value::Memo { form, frame } => (form.clone(), *frame),
                Value::Window { to_date, .. } if frame == Frame::Ytd => {
                    return Some(to_date.clone());
                }
                Value::Window { now, .. } => (now.clone(), Frame::Pay),
                Value::Money { slot, .. } => (Form::slot(*slot, Ratio::ONE), Frame::Pay),
            },
        };
        form.times(self.conversion(from, frame)?)
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

    /// The total of `name` before this pay. A value without totals is assumed to be equal in every period.
    pub(super) fn before(&self, name: Name) -> Option<Form> {
        if self.alone {
            return Some(Form::constant(Ratio::ZERO));
        }
        if let Some((_, before)) = self.accumulates(name) {
            return self.read(before, Ratio::ONE);
        }
        let earlier = i128::from(self.case.number) - 1;
        self.form(name, Frame::Pay)?.times(Ratio::whole(earlier))
    }

    /// Compiles a line: adds its step, if it needs one.
    fn line(&mut self, index: usize, line: &RuleLine) -> Option<Value> {
        self.alone = match &line.alone {
            Some(alone) => matches!(self.truth(alone)?, Truth::Known(true)),
            None => false,
        };
        let truth = line.when.as_ref().map_or(Some(Truth::Known(true)), |when| self.truth(when))?;
        let closed = matches!(truth, Truth::Known(false) | Truth::Assumed(false));
        let is_const = closed || matches!(line.formula, Formula::Const { .. });
        if matches!(truth, Truth::Known(_)) && is_const && line.role.is_none() {
            let amount = self.constant(line, closed)?;
            return Some(Value::Constant { amount, frame: self.frame(line) });
        }
        let (operation, denominator) =
            if closed { (Operation::zero(), 1) } else { self.operation(line)? };
        let clamp = if closed { Clamp::NONE } else { self.clamp(line, denominator)? };
        let gate = match truth {
            Truth::Decided(gate) => Some(gate),
            Truth::Known(_) | Truth::Assumed(_) => None,
        };
        let slot = self.slots;
        if let Some(role) = line.role {
            self.slots += 1;
            let finish = self.money_finish(line, role, denominator, closed)?;
            let step = Step { line: index, slot, gate, operation, clamp, finish };
            self.steps.push((step, denominator));
            return Some(Value::Money { slot, role });
        }
        let (rounder, denominator) = match line.round {
            Rounding::EXACT => (None, denominator),
            rounding => (Some(Rounder::new(rounding, denominator)?), 1),
        };
        let is_window = line.per == Frame::Ytd && matches!(line.formula, Formula::Slice { .. });
        let finish = Finish::Memo { rounder, to_date: is_window.then_some(slot + 1) };
        let step = Step { line: index, slot, gate, operation, clamp, finish };
        let (now, to_date) = self.memo(step, denominator)?;
        Some(match to_date {
            Some(to_date) => Value::Window { now, to_date },
            None => Value::Memo { form: now, frame: self.frame(line) },
        })
    }

    /// The value of a memo of this pay and, for a window, to date: a constant, a short sum of other slots, the slot of an equal step, or
    /// that of a new one.
    fn memo(&mut self, step: Step, denominator: i128) -> Option<(Form, Option<Form>)> {
        let Finish::Memo { rounder, to_date } = &step.finish else { return None };
        if step.is_constant() {
            let mut slots = vec![0; step.slot + 2];
            step.run(&mut slots, &mut []).ok()?;
            let value = |slot: usize| Some(Form::constant(Ratio::new(slots[slot], denominator)?));
            let to_date = match to_date {
                Some(slot) => Some(value(*slot)?),
                None => None,
            };
            return Some((value(step.slot)?, to_date));
        }
        if let (Operation::Linear(sum), None, None, None) =
            (&step.operation, &step.gate, rounder, to_date)
            && step.clamp == Clamp::NONE
            && sum.terms.len() <= SHORT_SUM
        {
            return Some((Form::of(sum, denominator)?, None));
        }
        let equal =
            |(earlier, below): &&(Step, i128)| *below == denominator && step.repeats(earlier);
        let known = self.steps.iter().find(equal).map(|(step, _)| step);
        let (slot, to_date) =
            if let Some(Step { slot, finish: Finish::Memo { to_date, .. }, .. }) = known {
                (*slot, *to_date)
            } else {
                let new = (step.slot, *to_date);
                self.slots += 1 + usize::from(to_date.is_some());
                self.steps.push((step, denominator));
                new
            };
        let factor = Ratio::new(1, denominator)?;
        Some((Form::slot(slot, factor), to_date.map(|slot| Form::slot(slot, factor))))
    }

    pub(super) const fn layout(&self) -> Layout {
        self.layout
    }

    /// The frame of a memo for later lines. In a line calculated alone, the year to date is this pay.
    fn frame(&self, line: &RuleLine) -> Frame {
        match line.counts_as {
            Some(frame) => frame,
            None if matches!(line.formula, Formula::Left { .. }) => Frame::Pay,
            None if line.per == Frame::Ytd && self.alone => Frame::Pay,
            None => line.per,
        }
    }

    /// Whether a condition is true in this case, or else the gate that decides it for each pay.
    fn truth(&self, when: &When) -> Option<Truth> {
        Some(match when {
            When::PayPeriod(period) => Truth::Known(*period == self.case.period),
            When::Attribute { attribute, value } => {
                Truth::Known(self.case.attributes.0[*attribute] == *value)
            }
            When::Final(is) => {
                Truth::Known((self.case.number >= self.case.period.per_year()) == *is)
            }
            When::OddWeek(is) => {
                Truth::Known((self.case.number > self.case.period.per_year()) == *is)
            }
            When::Value { of, per, limit, or_equal } => {
                let form = self.form(*of, *per)?;
                if form.is_constant() {
                    let value = form.over(form.denominator(1)?)?.constant;
                    let limit = i128::from(*limit).checked_mul(form.denominator(1)?)?;
                    return Some(Truth::Assumed(value > limit || (*or_equal && value == limit)));
                }
                let denominator = form.denominator(1)?;
                let limit = i128::from(*limit).checked_mul(denominator)?;
                let of = form.over(denominator)?;
                Truth::Decided(Gate::Over { of, limit, or_equal: *or_equal })
            }
            When::Not(part) => match self.truth(part)? {
                Truth::Known(holds) => Truth::Known(!holds),
                Truth::Assumed(holds) => Truth::Assumed(!holds),
                Truth::Decided(gate) => Truth::Decided(Gate::Not(Box::new(gate))),
            },
            When::Any(parts) => self.truths(parts, true)?,
            When::All(parts) => self.truths(parts, false)?,
        })
    }

    /// A single part with the value `decisive` decides the result. Otherwise the undecided parts remain as gates.
    fn truths(&self, parts: &[When], decisive: bool) -> Option<Truth> {
        let mut gates = Vec::new();
        let (mut is_decided, mut is_assumed) = (false, false);
        for part in parts {
            match self.truth(part)? {
                Truth::Known(holds) if holds == decisive => return Some(Truth::Known(decisive)),
                Truth::Known(_) => {}
                Truth::Assumed(holds) => {
                    is_assumed = true;
                    is_decided |= holds == decisive;
                }
                Truth::Decided(gate) => gates.push(gate),
            }
        }
        Some(match gates.is_empty() {
            _ if is_decided => Truth::Assumed(decisive),
            true if is_assumed => Truth::Assumed(!decisive),
            true => Truth::Known(!decisive),
            false if decisive => Truth::Decided(Gate::Any(gates.into())),
            false => Truth::Decided(Gate::All(gates.into())),
        })
    }

    fn cap(&self, cap: &rule::Cap) -> Option<Box<Cap>> {
        let form = self.form(cap.of, Frame::Pay)?.times(cap.rate)?;
        let denominator = form.denominator(1)?;
        let rounder = Rounder::new(cap.round, denominator)?;
        Some(Box::new(Cap { of: form.over(denominator)?, rounder }))
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

    fn money_finish(
        &self,
        line: &RuleLine,
        role: usize,
        denominator: i128,
        closed: bool,
    ) -> Option<Finish> {
        // A slice to date is already the difference made by this pay, and so is the 0 of a closed line.
        let is_slice = matches!(line.formula, Formula::Slice { .. }) && !self.catches_up(line);
        let of_this_pay = closed || is_slice;
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
            cumulative: line.per == Frame::Ytd && !of_this_pay && !self.alone,
            max_year: self.money(line.max_year.as_ref()).map(i128::from),
            cap: match &line.cap {
                Some(cap) => Some(self.cap(cap)?),
                None => None,
            },
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
