//! Types of earnings and deductions of a pack, and their effect on the bases.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::exact::{Ratio, Rounder, Rounding};
use super::period::{PayPeriod, clamped};

/// An earnings period of the tax year that an attribute begins, such as that of a director.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnualEarnings {
    /// The attribute. A value other than its default begins the period, and stays in force to its end.
    pub attribute: String,
    /// Attributes and inputs that stay in force with it.
    #[serde(default)]
    pub with: Vec<String>,
    /// Totals to date that contain only pay of the period.
    pub totals: Vec<String>,
}

/// An `[[earning]]`: a type of earnings and the methods by which the pack taxes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarningType {
    /// Its name, which is also its component.
    pub id: String,
    /// The display name.
    pub label: String,
    /// Whether it is paid in money. Other benefits count only in bases that name them.
    #[serde(default = "yes")]
    pub cash: bool,
    /// The methods that may be chosen, the usual one first. Empty: there is one.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The pay of an hour of it, in percent of the hourly rate. `None`: the law has no rate.
    #[serde(default)]
    pub rate_percent: Option<u32>,
    /// Whether it is the type of pay for leave that was not taken when an employment ends.
    #[serde(default)]
    pub pays_unused_leave: bool,
    /// Whether it is the type of pay for earlier pay periods, from pay terms that were set late.
    #[serde(default)]
    pub pays_arrears: bool,
    /// A remark for readers.
    #[serde(default)]
    pub note: Option<String>,
}

const fn yes() -> bool {
    true
}

impl EarningType {
    /// The component of pay by one of its methods: the type itself for the usual one, or else `bonus.aggregate`.
    #[must_use]
    pub fn component(&self, method: Option<&str>) -> Option<String> {
        match method {
            None => Some(self.id.clone()),
            Some(method) if self.methods.first().is_some_and(|usual| usual == method) => {
                Some(self.id.clone())
            }
            Some(method) => {
                let known = self.methods.iter().any(|known| known == method);
                known.then(|| format!("{}.{method}", self.id))
            }
        }
    }
}

/// A `[counted_earnings]`: the part of pay on which a contribution to a benefit counts, by pay period in minor units.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedEarnings {
    pub(super) over: BTreeMap<PayPeriod, i64>,
    pub(super) upto: BTreeMap<PayPeriod, i64>,
}

impl CountedEarnings {
    /// The part of a period's pay.
    #[must_use]
    pub fn part(&self, pay: i64, period: PayPeriod) -> i64 {
        let over = self.over.get(&period).copied().unwrap_or(0);
        let upto = self.upto.get(&period).copied().unwrap_or(i64::MAX);
        pay.clamp(over, upto.max(over)) - over
    }
}

/// What happens to a deduction that the pay does not cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Short {
    /// The excess is carried to later pays.
    #[default]
    Carry,
    /// The excess is left out.
    Drop,
    /// The whole pay is refused.
    Refuse,
}

/// The last day of a value of an attribute, in the year after the one in which it was set. From then on, the default applies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    pub(super) month: i8,
    pub(super) day: i8,
    /// Other attributes and numbers of the same form, which end with it.
    pub with: Vec<String>,
}

impl Ends {
    /// Whether a value that was set on one day has ended on another one.
    #[must_use]
    pub fn is_over(&self, set: Date, on: Date) -> bool {
        on > clamped(set.year().saturating_add(1), self.month, self.day)
    }
}

/// A `[[deduction]]`: a type of deduction from pay.
#[derive(Debug)]
pub struct DeductionType {
    /// Its name; the input of a pay is `deduction.` and this name.
    pub id: String,
    /// The display name.
    pub label: String,
    /// Whether a base or a line of the pack is lower because of it.
    pub(super) counts: bool,
    /// The input that holds its amount.
    pub(super) input: usize,
    pub(super) taken: Option<Ratio>,
    /// Its place in the order in which the law takes deductions; lower ones come first.
    pub order: u8,
    /// What happens if the pay does not cover it.
    pub short: Short,
    /// The most that is taken in a tax year, in minor units.
    pub annual_limit: Option<i64>,
    /// Other types that count towards the same annual limit.
    pub annual_limit_with: Vec<String>,
    /// Whether what the employer adds counts towards the annual limit, too.
    pub annual_limit_with_employer: bool,
    /// The part of disposable pay that the law lets it take.
    pub most: Option<MostOfPay>,
    /// Whether it reduces the contractual pay, so that the amount does not count towards the minimum wage.
    pub contract_pay: bool,
}

/// The pay of which an order takes at most a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MostOf {
    /// Gross pay after taxes and contributions required by law.
    #[default]
    Disposable,
    /// Gross pay in money.
    Gross,
    /// The parts of the salary, without allowances, overtime and bonuses.
    Basic,
}

/// A pay of which an order takes a part.
#[derive(Clone, Copy, Debug, Default)]
pub struct PayForOrders {
    /// Gross pay in money.
    pub gross: i64,
    /// The parts of the salary.
    pub basic: i64,
    /// Gross pay after taxes and contributions required by law.
    pub disposable: i64,
}

impl PayForOrders {
    /// Both pays together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            gross: self.gross + other.gross,
            basic: self.basic + other.basic,
            disposable: self.disposable + other.disposable,
        }
    }
}

/// The most that an order takes from pay.
#[derive(Debug)]
pub struct MostOfPay {
    pub(super) rate: Ratio,
    pub(super) of: MostOf,
    pub(super) above: BTreeMap<PayPeriod, i64>,
    pub(super) above_rate: Ratio,
    /// Other types whose amounts count towards it.
    pub with: Vec<String>,
    /// Types whose amounts reduce disposable pay, such as contributions to a pension.
    pub less: Vec<String>,
}

impl MostOfPay {
    /// The amount for that pay, rounded down; 0 if it is too large to calculate.
    #[must_use]
    pub fn of(&self, pay: PayForOrders, period: PayPeriod) -> i64 {
        let disposable = pay.disposable.max(0);
        let share = match self.of {
            MostOf::Disposable => part_of(disposable, self.rate),
            MostOf::Gross => part_of(pay.gross, self.rate),
            MostOf::Basic => part_of(pay.basic, self.rate),
        };
        match self.above.get(&period) {
            Some(kept) => share.min(part_of(disposable - kept, self.above_rate)),
            None => share,
        }
    }
}

/// A part of an amount, rounded down; 0 if it is too large to calculate.
pub(super) fn part_of(amount: i64, rate: Ratio) -> i64 {
    let part = || {
        let part = Ratio::whole(i128::from(amount.max(0))).times(rate)?;
        i64::try_from(part.over(part.denominator())?.div_euclid(part.denominator())).ok()
    };
    part().unwrap_or(0)
}

/// The part of an amount, rounded up.
pub(super) fn part_of_up(amount: i64, rate: Ratio) -> i64 {
    Ratio::ONE.minus(rate).map_or(0, |rest| amount.max(0) - part_of(amount, rest))
}

impl DeductionType {
    /// Whether it lowers a base, or a line of the pack uses it.
    #[must_use]
    pub const fn is_before_tax(&self) -> bool {
        self.counts
    }

    /// The input of [`super::PayInput`] that holds its amount.
    #[must_use]
    pub const fn input(&self) -> usize {
        self.input
    }

    /// The part of an amount that is taken from pay, half a unit up. `None` if it is too large to calculate.
    #[must_use]
    pub fn taken_of(&self, amount: i64) -> Option<i64> {
        let Some(rate) = self.taken else { return Some(amount) };
        let part = Ratio::whole(i128::from(amount)).times(rate)?;
        let below = part.denominator();
        let rounded = Rounder::new(Rounding::HALF_UP, below)?.round(part.over(below)?)?;
        i64::try_from(rounded).ok()
    }
}
