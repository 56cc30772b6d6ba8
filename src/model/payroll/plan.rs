//! A plan: one pack partially evaluated for a pay period, its number and an employee's attributes. It is a list of integer steps over
//! numerators whose denominators `compile` fixed, without names, tables or fractions.

use super::exact::{Rounder, Rounding};
use super::number::Number;

/// The steps and their slots: the known numbers of the pay first, then one slot per calculated line.
#[derive(Debug)]
pub(super) struct Plan<N = i128> {
    pub(super) steps: Box<[Step<N>]>,
    pub(super) slots: usize,
    pub(super) taxable: Option<Taxable<N>>,
    /// Memos that are printed, in the pack's order.
    pub(super) shown: Box<[Taxable<N>]>,
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
pub(super) struct Step<N = i128> {
    /// Index of the line in the pack.
    pub(super) line: usize,
    pub(super) slot: usize,
    pub(super) gate: Option<Gate<N>>,
    pub(super) operation: Operation<N>,
    pub(super) clamp: Clamp<N>,
    pub(super) finish: Finish<N>,
}

/// `when` on values: the line is 0 unless the condition holds.
#[derive(Debug, PartialEq)]
pub(super) enum Gate<N = i128> {
    /// The value is above the limit.
    Over {
        of: Linear<N>,
        limit: N,
        or_equal: bool,
    },
    Any(Box<[Gate<N>]>),
    All(Box<[Gate<N>]>),
    Not(Box<Gate<N>>),
}

/// A sum of slots times integer factors, over a denominator that is fixed at compilation.
#[derive(Debug, PartialEq)]
pub(super) struct Linear<N = i128> {
    pub(super) terms: Box<[(usize, N)]>,
    pub(super) constant: N,
}

/// The calculation of a line, before clamps.
#[derive(Debug, PartialEq)]
pub(super) enum Operation<N = i128> {
    Linear(Linear<N>),
    Least(Box<[Linear<N>]>),
    Greatest(Box<[Linear<N>]>),
    Bands { of: Linear<N>, select: Option<Linear<N>>, rows: Box<[Row<N>]> },
    Slice { of: Linear<N>, before: Option<Linear<N>>, window: Window<N> },
    Taper { of: Linear<N>, amount: N, rate: N, over: N },
    Share(Box<Share<N>>),
}

/// `of` × `part` / `whole`, in whole minor units. The last two have one denominator.
#[derive(Debug, PartialEq)]
pub(super) struct Share<N = i128> {
    pub(super) of: Linear<N>,
    pub(super) of_below: N,
    pub(super) part: Linear<N>,
    pub(super) whole: Linear<N>,
    pub(super) round: Rounding,
}

/// A band, marginal or of a K-table, in the common form rate × base − less.
#[derive(Debug, PartialEq)]
pub(super) struct Row<N = i128> {
    /// The selecting value must be above this.
    pub(super) above: N,
    pub(super) rate: N,
    pub(super) less: N,
}

/// The part of a value that counts, and its rate.
#[derive(Debug, PartialEq)]
pub(super) struct Window<N = i128> {
    pub(super) from: End<N>,
    pub(super) to: Option<End<N>>,
    pub(super) rate: N,
}

/// An end of a window.
#[derive(Debug, PartialEq)]
pub(super) enum End<N = i128> {
    Fixed(N),
    Of(Linear<N>),
}

/// The maximum of a money line for one pay.
#[derive(Debug)]
pub(super) struct Cap<N = i128> {
    pub(super) of: Linear<N>,
    pub(super) rounder: Rounder<N>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Clamp<N = i128> {
    pub(super) min: Option<N>,
    pub(super) max: Option<N>,
}

/// How a value is used: as a memo for later lines, or as money on the payslip.
#[derive(Debug)]
pub(super) enum Finish<N = i128> {
    Memo {
        rounder: Option<Rounder<N>>,
        /// The slot for the part of a `ytd` slice that includes earlier pays.
        to_date: Option<usize>,
    },
    Money {
        role: usize,
        /// The factor from the line's frame to the pay.
        factor: N,
        rounder: Rounder<N>,
        /// The numerator of one minor unit.
        unit: N,
        /// Slot of the amount taken before.
        taken: usize,
        /// Whether the value is a total to date, of which the payslip shows the remainder.
        cumulative: bool,
        max_year: Option<N>,
        cap: Option<Box<Cap<N>>>,
    },
}

/// The taxable amount, as in [`super::Pay::taxable`].
#[derive(Debug)]
pub(super) struct Taxable<N = i128> {
    pub(super) of: Linear<N>,
    pub(super) rounder: Rounder<N>,
    pub(super) cumulative: bool,
}

/// Why a step has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Overflow,
    Fraction,
}

impl<N: Number> Linear<N> {
    #[inline]
    pub(super) fn value(&self, slots: &[N]) -> Option<N> {
        let mut total = self.constant;
        for &(slot, factor) in &self.terms {
            total = total.plus(slots[slot].times(factor)?)?;
        }
        Some(total)
    }
}

impl<N: Number> Taxable<N> {
    pub(super) fn value(&self, slots: &[N]) -> Option<N> {
        self.rounder.round(self.of.value(slots)?)
    }
}

impl<N: Number> Step<N> {
    /// Runs the step and writes its slot, and its amount if it is money.
    #[inline]
    pub(super) fn run(&self, slots: &mut [N], amounts: &mut [i64]) -> Result<(), Fault> {
        let open = match &self.gate {
            None => true,
            Some(gate) => gate.is_open(slots).ok_or(Fault::Overflow)?,
        };
        let (value, to_date) =
            if open { self.compute(slots).ok_or(Fault::Overflow)? } else { (N::ZERO, N::ZERO) };
        slots[self.slot] = match &self.finish {
            Finish::Memo { rounder, to_date: to_date_slot } => {
                if let Some(slot) = *to_date_slot {
                    slots[slot] = rounded(rounder.as_ref(), to_date).ok_or(Fault::Overflow)?;
                }
                rounded(rounder.as_ref(), value).ok_or(Fault::Overflow)?
            }
            Finish::Money { role, .. } => {
                // A line whose condition fails is 0 on this payslip; earlier amounts stay.
                let amount = if open { self.finish.money(value, slots)? } else { N::ZERO };
                amounts[*role] = amount.amount().ok_or(Fault::Overflow)?;
                amount
            }
        };
        Ok(())
    }

    /// The value of this pay and, for a `ytd` slice, the one to date.
    #[inline]
    fn compute(&self, slots: &[N]) -> Option<(N, N)> {
        let value = match &self.operation {
            Operation::Linear(linear) => linear.value(slots)?,
            Operation::Least(args) => extreme(args, slots, N::min)?,
            Operation::Greatest(args) => extreme(args, slots, N::max)?,
            Operation::Bands { of, select, rows } => {
                let base = of.value(slots)?;
                let selecting = match select {
                    Some(select) => select.value(slots)?,
                    None => base,
                };
                band_value(rows, base, selecting)?
            }
            Operation::Taper { of, amount, rate, over } => {
                let excess = of.value(slots)?.minus(*over)?.max(N::ZERO);
                amount.minus(excess.times(*rate)?)?
            }
            Operation::Share(share) => share.value(slots)?,
            Operation::Slice { of, before, window } => {
                let to_date = self.slice(window, of.value(slots)?, slots)?;
                let earlier = match before {
                    Some(before) => self.slice(window, before.value(slots)?, slots)?,
                    None => N::ZERO,
                };
                return Some((to_date.minus(earlier)?, to_date));
            }
        };
        Some((self.clamp.apply(value), N::ZERO))
    }

    /// A slice clamps each total, so that the difference of two totals respects clamps to date; its `min` does not charge employees without
    /// a base.
    #[inline]
    fn slice(&self, window: &Window<N>, base: N, slots: &[N]) -> Option<N> {
        let from = window.from.value(slots)?;
        let top = match &window.to {
            Some(to) => base.min(to.value(slots)?),
            None => base,
        };
        let inside = top.max(from).minus(from)?;
        let value = inside.times(window.rate)?;
        let unfloored = Clamp { min: None, max: self.clamp.max };
        Some(if base > N::ZERO { self.clamp.apply(value) } else { unfloored.apply(value) })
    }
}

impl<N: Number> Share<N> {
    fn value(&self, slots: &[N]) -> Option<N> {
        let whole = self.whole.value(slots)?;
        if whole <= N::ZERO {
            return Some(N::ZERO);
        }
        let product = self.of.value(slots)?.times(self.part.value(slots)?)?;
        Rounder::new(self.round, self.of_below.times(whole)?)?.round(product)
    }
}

impl Operation {
    /// For a line that its case closes.
    pub(super) fn zero() -> Self {
        Self::Linear(Linear { terms: Box::default(), constant: 0 })
    }
}

impl<N: Number> Gate<N> {
    #[inline]
    fn is_open(&self, slots: &[N]) -> Option<bool> {
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

impl<N: Number> End<N> {
    #[inline]
    fn value(&self, slots: &[N]) -> Option<N> {
        match self {
            Self::Fixed(value) => Some(*value),
            Self::Of(linear) => linear.value(slots),
        }
    }
}

impl Clamp {
    pub(super) const NONE: Self = Self { min: None, max: None };
}

impl<N: Number> Clamp<N> {
    #[inline]
    fn apply(&self, value: N) -> N {
        let floored = self.min.map_or(value, |min| value.max(min));
        self.max.map_or(floored, |max| floored.min(max))
    }
}

impl<N: Number> Finish<N> {
    /// The order required by law: frame to pay, then the yearly cap, then rounding.
    #[inline]
    fn money(&self, value: N, slots: &[N]) -> Result<N, Fault> {
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
fn payslip_amount<N: Number>(
    value: N,
    factor: N,
    unit: N,
    taken: N,
    cumulative: bool,
    max_year: Option<N>,
) -> Option<N> {
    let mut amount = value.times(factor)?;
    if cumulative {
        amount = amount.minus(taken.times(unit)?)?;
    }
    if let Some(max_year) = max_year {
        amount = amount.min(max_year.minus(taken)?.max(N::ZERO).times(unit)?);
    }
    Some(amount)
}

#[inline]
fn rounded<N: Number>(rounder: Option<&Rounder<N>>, value: N) -> Option<N> {
    rounder.map_or(Some(value), |rounder| rounder.round(value))
}

#[inline]
fn extreme<N: Number>(args: &[Linear<N>], slots: &[N], better: fn(N, N) -> N) -> Option<N> {
    let (first, rest) = args.split_first()?;
    rest.iter().try_fold(first.value(slots)?, |best, arg| Some(better(best, arg.value(slots)?)))
}

/// A value on an edge belongs to the band below it, as in the laws' "up to" and "over". A value at or below the first edge is in no band.
#[inline]
fn band_value<N: Number>(rows: &[Row<N>], base: N, selecting: N) -> Option<N> {
    let above = rows.iter().take_while(|row| selecting > row.above).last();
    above.map_or(Some(N::ZERO), |row| base.times(row.rate)?.minus(row.less))
}
