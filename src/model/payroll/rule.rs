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

/// A value that a line can refer to, by index.
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
    /// If true, the line is calculated as period 1 without totals to date. The condition never
    /// depends on a value.
    pub(super) alone: Option<When>,
    pub(super) cap: Option<Cap>,
    /// The frame that the result counts in, if not `per`.
    pub(super) counts_as: Option<Frame>,
}

/// The maximum of a line for one pay: a part of a value.
#[derive(Debug)]
pub(super) struct Cap {
    pub(super) of: Name,
    pub(super) rate: Ratio,
    pub(super) round: Rounding,
}

#[derive(Debug)]
pub(super) enum Formula {
    Const {
        amount: Lookup<i64>,
    },
    Sum {
        args: Vec<Arg>,
        rate: Lookup<Ratio>,
    },
    Least {
        args: Vec<Arg>,
    },
    Greatest {
        args: Vec<Arg>,
    },
    Bands {
        of: Name,
        bands: Lookup<Vec<Band>>,
        select: Option<Name>,
        edge: Rounding,
    },
    Slice {
        of: Name,
        rate: Lookup<Ratio>,
        over: Bound,
        upto: Option<Bound>,
    },
    Taper {
        of: Name,
        amount: Lookup<i64>,
        rate: Lookup<Ratio>,
        over: Lookup<i64>,
    },
    /// Totals to date less the amounts taken before this pay.
    Left {
        args: Vec<Arg>,
        taken: Taken,
        rate: Lookup<Ratio>,
    },
    /// `of` × `part` / `whole`, rounded; 0 if `whole` is not positive.
    Share {
        of: Name,
        part: Name,
        whole: Name,
        round: Rounding,
    },
}

/// An end of a slice: a number, or the value of an earlier line.
#[derive(Debug)]
pub(super) enum Bound {
    Number(Lookup<i64>),
    Value(Name),
}

/// A total before this pay.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    Base(usize),
    Role(usize),
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
    pub(super) less: Option<Ratio>,
}

#[derive(Debug)]
pub(super) enum When {
    Attribute {
        attribute: usize,
        value: u8,
    },
    PayPeriod(PayPeriod),
    Value {
        of: Name,
        per: Frame,
        limit: i64,
        or_equal: bool,
    },
    /// Whether it is the last pay of the tax year, or a pay after the year's usual number.
    Final(bool),
    /// Whether it is a pay after the year's usual number, such as week 53.
    OddWeek(bool),
    Any(Vec<When>),
    All(Vec<When>),
    Not(Box<When>),
}

impl When {
    /// Whether the condition depends on the number of the period.
    pub(super) fn counts_periods(&self) -> bool {
        match self {
            Self::Final(_) | Self::OddWeek(_) => true,
            Self::Attribute { .. } | Self::PayPeriod(_) | Self::Value { .. } => false,
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::counts_periods),
            Self::Not(part) => part.counts_periods(),
        }
    }

    /// The values that the condition compares.
    pub(super) fn values(&self) -> Vec<(Name, Frame)> {
        match self {
            Self::Value { of, per, .. } => vec![(*of, *per)],
            Self::Any(parts) | Self::All(parts) => parts.iter().flat_map(Self::values).collect(),
            Self::Not(part) => part.values(),
            _ => Vec::new(),
        }
    }
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
