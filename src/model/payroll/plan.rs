//! A plan: one pack partially evaluated for a pay period, its number and an employee's attributes. It is a list of integer steps over
//! numerators whose denominators `compile` fixed, without names, tables or fractions.

use super::exact::{Rounder, Rounding, times};

/// The steps and their slots: the known numbers of the pay first, then one slot per calculated line.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Box<[Step]>,
    pub(super) slots: usize,
    pub(super) taxable: Option<Taxable>,
    /// Memos that are printed, in the pack's order.
    pub(super) shown: Box<[Taxable]>,
}

/// The slots of the known numbers of a pay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) bases: usize,
    pub(super) roles: usize,
    pub(super) inputs: usize,
}

impl Layout {
    /// A base of this pay.
    pub(super) const fn now(self, base: usize) -> usize {
        debug_assert!(base < self.bases, "a base of this pack");
        base
    }

    /// The same base, in this tax year before this pay.
    pub(super) const fn before(self, base: usize) -> usize {
        self.bases + base
    }

    /// The amount of a role line in this tax year before this pay.
    pub(super) const fn taken(self, role: usize) -> usize {
        2 * self.bases + role
    }

    pub(super) const fn input(self, input: usize) -> usize {
        2 * self.bases + self.roles + input
    }

    /// The first slot for results.
    pub(super) const fn end(self) -> usize {
        2 * self.bases + self.roles + self.inputs
    }
}

/// Calculates one line into its slot.
#[derive(Debug)]
pub(super) struct Step {
    /// Index of the line in the pack.
    pub(super) line: usize,
    pub(super) slot: usize,
    pub(super) gate: Option<Gate>,
    pub(super) operation: Operation,
    pub(super) clamp: Clamp,
    pub(super) finish: Finish,
}

/// `when` on values: the line is 0 unless the condition holds.
#[derive(Debug, PartialEq)]
pub(super) enum Gate {
    /// The value is above the limit.
    Over {
        of: Linear,
        limit: i128,
        or_equal: bool,
    },
    Any(Box<[Gate]>),
    All(Box<[Gate]>),
    Not(Box<Gate>),
}

/// A sum of slots times integer factors, over a denominator that the compiler knows.
#[derive(Debug, PartialEq)]
pub(super) struct Linear {
    pub(super) terms: Box<[(usize, i128)]>,
    pub(super) constant: i128,
}

/// The calculation of a line, before clamps.
#[derive(Debug, PartialEq)]
pub(super) enum Operation {
    Linear(Linear),
    Least(Box<[Linear]>),
    Greatest(Box<[Linear]>),
    Bands { of: Linear, select: Option<Linear>, rows: Box<[Row]> },
    Slice { of: Linear, before: Option<Linear>, window: Window },
    Taper { of: Linear, amount: i128, rate: i128, over: i128 },
    Share(Box<Share>),
}

/// `of` × `part` / `whole`, in whole minor units. The last two have one denominator.
#[derive(Debug, PartialEq)]
pub(super) struct Share {
    pub(super) of: Linear,
    pub(super) of_below: i128,
    pub(super) part: Linear,
    pub(super) whole: Linear,
    pub(super) round: Rounding,
}

/// A band, marginal or of a K-table, in the common form rate × base − less.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    /// The selecting value must be above this.
    pub(super) above: i128,
    pub(super) rate: i128,
    pub(super) less: i128,
}

/// The part of a value that counts, and its rate.
#[derive(Debug, PartialEq)]
pub(super) struct Window {
    pub(super) from: End,
    pub(super) to: Option<End>,
    pub(super) rate: i128,
}

/// An end of a window.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    Fixed(i128),
    Of(Linear),
}

/// The most that a money line takes from one pay.
#[derive(Debug)]
pub(super) struct Cap {
    pub(super) of: Linear,
    pub(super) rounder: Rounder,
}

#[derive(Debug, PartialEq)]
pub(super) struct Clamp {
    pub(super) min: Option<i128>,
    pub(super) max: Option<i128>,
}

/// How a value is used: as a memo for later lines, or as money on the payslip.
#[derive(Debug)]
pub(super) enum Finish {
    Memo {
        rounder: Option<Rounder>,
        /// The slot for the part of a `ytd` slice that includes earlier pays.
        to_date: Option<usize>,
    },
    Money {
        role: usize,
        /// The factor from the line's frame to the pay.
        factor: i128,
        rounder: Rounder,
        /// The numerator of one minor unit.
        unit: i128,
        /// Slot of the amount taken before.
        taken: usize,
        /// Whether the value is a total to date, of which the payslip shows the remainder.
        cumulative: bool,
        max_year: Option<i128>,
        cap: Option<Box<Cap>>,
    },
}

/// The taxable amount, as in [`super::Pay::taxable`].
#[derive(Debug)]
pub(super) struct Taxable {
    pub(super) of: Linear,
    pub(super) rounder: Rounder,
    pub(super) cumulative: bool,
}

/// Why a step has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Overflow,
    Fraction,
}

impl Linear {
    #[inline]
    pub(super) fn value(&self, slots: &[i128]) -> Option<i128> {
        let mut total = self.constant;
        for &(slot, factor) in &self.terms {
            total = total.checked_add(times(slots[slot], factor)?)?;
        }
        Some(total)
    }
}

impl Step {
    /// Runs the step and writes its slot, and its amount if it is money.
    #[inline]
    pub(super) fn run(&self, slots: &mut [i128], amounts: &mut [i64]) -> Result<(), Fault> {
        let open = match &self.gate {
            None => true,
            Some(gate) => gate.is_open(slots).ok_or(Fault::Overflow)?,
        };
        let (value, to_date) =
            if open { self.compute(slots).ok_or(Fault::Overflow)? } else { (0, 0) };
        slots[self.slot] = match &self.finish {
            Finish::Memo { rounder, to_date: to_date_slot } => {
                if let Some(slot) = *to_date_slot {
                    slots[slot] = rounded(rounder.as_ref(), to_date).ok_or(Fault::Overflow)?;
                }
                rounded(rounder.as_ref(), value).ok_or(Fault::Overflow)?
            }
            Finish::Money { role, .. } => {
                // A line whose condition fails is 0 on this payslip; earlier amounts stay.
                let amount = if open { self.finish.money(value, slots)? } else { 0 };
                amounts[*role] = i64::try_from(amount).map_err(|_| Fault::Overflow)?;
                amount
            }
        };
        Ok(())
    }

    /// The value of this pay and, for a `ytd` slice, the one to date.
    #[inline]
    fn compute(&self, slots: &[i128]) -> Option<(i128, i128)> {
        let value = match &self.operation {
            Operation::Linear(linear) => linear.value(slots)?,
            Operation::Least(args) => extreme(args, slots, i128::min)?,
            Operation::Greatest(args) => extreme(args, slots, i128::max)?,
            Operation::Bands { of, select, rows } => {
                let base = of.value(slots)?;
                let selecting = match select {
                    Some(select) => select.value(slots)?,
                    None => base,
                };
                band_value(rows, base, selecting)?
            }
            Operation::Taper { of, amount, rate, over } => {
                let excess = of.value(slots)?.checked_sub(*over)?.max(0);
                amount.checked_sub(times(excess, *rate)?)?
            }
            Operation::Share(share) => share.value(slots)?,
            Operation::Slice { of, before, window } => {
                let to_date = self.slice(window, of.value(slots)?, slots)?;
                let earlier = match before {
                    Some(before) => self.slice(window, before.value(slots)?, slots)?,
                    None => 0,
                };
                return Some((to_date.checked_sub(earlier)?, to_date));
            }
        };
        Some((self.clamp.apply(value), 0))
    }

    /// A slice clamps each total, so that the difference of two totals respects clamps to date; its `min` does not charge employees without
    /// a base.
    #[inline]
    fn slice(&self, window: &Window, base: i128, slots: &[i128]) -> Option<i128> {
        let from = window.from.value(slots)?;
        let top = match &window.to {
            Some(to) => base.min(to.value(slots)?),
            None => base,
        };
        let inside = top.max(from).checked_sub(from)?;
        let value = times(inside, window.rate)?;
        let unfloored = Clamp { min: None, max: self.clamp.max };
        Some(if base > 0 { self.clamp.apply(value) } else { unfloored.apply(value) })
    }
}

impl Share {
    fn value(&self, slots: &[i128]) -> Option<i128> {
        let whole = self.whole.value(slots)?;
        if whole <= 0 {
            return Some(0);
        }
        let product = times(self.of.value(slots)?, self.part.value(slots)?)?;
        Rounder::new(self.round, times(self.of_below, whole)?)?.round(product)
    }
}

impl Operation {
    /// For a line that its case closes.
    pub(super) fn zero() -> Self {
        Self::Linear(Linear { terms: Box::default(), constant: 0 })
    }
}

impl Gate {
    #[inline]
    fn is_open(&self, slots: &[i128]) -> Option<bool> {
        let (parts, wanted) = match self {
            Self::Over { of, limit, or_equal } => {
                let value = of.value(slots)?;
                return Some(value > *limit || (*or_equal && value == *limit));
            }
            Self::Not(part) => return part.is_open(slots).map(|open| !open),
            Self::Any(parts) => (parts, true),
            Self::All(parts) => (parts, false),
        };
        for part in parts {
            if part.is_open(slots)? == wanted {
                return Some(wanted);
            }
        }
        Some(!wanted)
    }
}

impl End {
    #[inline]
    fn value(&self, slots: &[i128]) -> Option<i128> {
        match self {
            Self::Fixed(value) => Some(*value),
            Self::Of(linear) => linear.value(slots),
        }
    }
}

impl Clamp {
    pub(super) const NONE: Self = Self { min: None, max: None };

    #[inline]
    fn apply(&self, value: i128) -> i128 {
        let floored = self.min.map_or(value, |min| value.max(min));
        self.max.map_or(floored, |max| floored.min(max))
    }
}

impl Finish {
    /// The order required by law: frame to pay, then the yearly cap, then rounding.
    #[inline]
    fn money(&self, value: i128, slots: &[i128]) -> Result<i128, Fault> {
        let Self::Money { factor, rounder, unit, taken, cumulative, max_year, cap, .. } = self
        else {
            return Ok(value);
        };
        let amount =
            self::payslip_amount(value, *factor, *unit, slots[*taken], *cumulative, *max_year)
                .ok_or(Fault::Overflow)?;
        if rounder.is_exact() && !rounder.is_whole(amount) {
            return Err(Fault::Fraction);
        }
        let amount = rounder.round(amount).ok_or(Fault::Overflow)?;
        let Some(cap) = cap else { return Ok(amount) };
        let most = cap.of.value(slots).and_then(|value| cap.rounder.round(value));
        Ok(amount.min(most.ok_or(Fault::Overflow)?))
    }
}

#[inline]
fn payslip_amount(
    value: i128,
    factor: i128,
    unit: i128,
    taken: i128,
    cumulative: bool,
    max_year: Option<i128>,
) -> Option<i128> {
    let mut amount = times(value, factor)?;
    if cumulative {
        amount = amount.checked_sub(times(taken, unit)?)?;
    }
    if let Some(max_year) = max_year {
        amount = amount.min(times((max_year - taken).max(0), unit)?);
    }
    Some(amount)
}

#[inline]
fn rounded(rounder: Option<&Rounder>, value: i128) -> Option<i128> {
    rounder.map_or(Some(value), |rounder| rounder.round(value))
}

#[inline]
fn extreme(args: &[Linear], slots: &[i128], better: fn(i128, i128) -> i128) -> Option<i128> {
    let (first, rest) = args.split_first()?;
    rest.iter().try_fold(first.value(slots)?, |best, arg| Some(better(best, arg.value(slots)?)))
}

/// A value on an edge belongs to the band below it, as in the laws' "up to" and "over". A value at or below the first edge is in no band.
#[inline]
fn band_value(rows: &[Row], base: i128, selecting: i128) -> Option<i128> {
    let above = rows.iter().take_while(|row| selecting > row.above).last();
    above.map_or(Some(0), |row| times(base, row.rate)?.checked_sub(row.less))
}
