//! The lines of a pack with every name resolved: `line` creates them and `compile` compiles them.

use serde::Deserialize;

use super::exact::{Ratio, Rounding};
use super::pack::Attributes;
use super::period::PayPeriod;

/// The period that a line's numbers apply to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Frame {
    #[default]
    Pay,
    Month,
    Year,
    /// From the start of the tax year to the end of this period.
    Ytd,
}

/// What a line may refer to, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Base(usize),
    Input(usize),
    Line(usize),
}

/// A `[[line]]`, with every name resolved.
#[derive(Debug)]
pub(super) struct RuleLine {
    pub(super) id: String,
    /// Index among the role lines; `None` is a memo.
    pub(super) role: Option<usize>,
    pub(super) per: Frame,
    pub(super) formula: Formula,
    pub(super) min: Option<Lookup<i64>>,
    pub(super) max: Option<Lookup<i64>>,
    pub(super) max_year: Option<Lookup<i64>>,
    pub(super) when: Option<When>,
    pub(super) round: Rounding,
}

#[derive(Debug)]
pub(super) enum Formula {
    Const { amount: Lookup<i64> },
    Sum { args: Vec<Arg>, rate: Lookup<Ratio> },
    Least { args: Vec<Arg> },
    Greatest { args: Vec<Arg> },
    Bands { of: Name, bands: Lookup<Vec<Band>>, select: Option<Name>, edge: Rounding },
    Slice { of: Name, rate: Lookup<Ratio>, over: Lookup<i64>, upto: Option<Lookup<i64>> },
    Taper { of: Name, amount: Lookup<i64>, rate: Lookup<Ratio>, over: Lookup<i64> },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    Number(i64),
    Value { name: Name, negative: bool },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Band {
    pub(super) from: i64,
    pub(super) rate: Ratio,
    /// The constant of a K-table.
    pub(super) less: Option<i64>,
}

#[derive(Debug)]
pub(super) enum When {
    Attribute { attribute: usize, value: u8 },
    PayPeriod(PayPeriod),
    Value { of: Name, per: Frame, limit: i64, or_equal: bool },
}

/// A value, or a table of values by an attribute or the pay period.
#[derive(Debug)]
pub(super) enum Lookup<T> {
    One(T),
    By { axis: Axis, entries: Vec<Lookup<T>> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Attribute(usize),
    /// By index in the pack's `periods`.
    Period,
}

impl<T> Lookup<T> {
    /// The value for one case; `period` is an index in the pack's `periods`.
    pub(super) fn at(&self, period: usize, attributes: Attributes) -> &T {
        match self {
            Self::One(value) => value,
            Self::By { axis: Axis::Period, entries } => entries[period].at(period, attributes),
            Self::By { axis: Axis::Attribute(i), entries } => {
                entries[usize::from(attributes.0[*i])].at(period, attributes)
            }
        }
    }
}
