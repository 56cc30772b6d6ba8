//! Schema 1 as TOML: exactly the keys of every table. `check` checks the values.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Deserialize;

use super::filing::{Filing, MinimumWage, Payslip, Source, civil_date};
use super::pack::{CompanyFact, InputScope, Role};
use super::period::{CountsOn, PayPeriod};
use super::rule::Frame;
use super::types::{AnnualEarnings, CountedEarnings, EarningType, Ends, MostOf, Short};

/// A whole pack.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPack {
    pub(super) schema: u32,
    pub(super) country: String,
    /// The part of the country that the pack is for, beside the country's own pack.
    #[serde(default)]
    pub(super) region: Option<String>,
    pub(super) name: String,
    pub(super) currency: String,
    pub(super) minor_digits: u8,
    pub(super) tax_year: String,
    #[serde(deserialize_with = "civil_date")]
    pub(super) effective_from: Date,
    #[serde(deserialize_with = "civil_date")]
    pub(super) effective_to: Date,
    pub(super) periods: Vec<PayPeriod>,
    /// The base or line that is the taxable pay; by default, the amount that the first tax is
    /// charged on.
    pub(super) taxable: Option<String>,
    pub(super) bases: BTreeMap<String, RawBase>,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, RawAttribute>,
    #[serde(default)]
    pub(super) inputs: BTreeMap<String, RawInput>,
    /// Parts of pay on which contributions to benefits count, by name.
    #[serde(default)]
    pub(super) counted_earnings: BTreeMap<String, CountedEarnings>,
    /// The base of irregular pay.
    #[serde(default)]
    pub(super) irregular: Option<String>,
    #[serde(default)]
    pub(super) regions: Option<RawRegions>,
    /// The attribute whose earlier values keep their rates.
    #[serde(default)]
    pub(super) keeps: Option<String>,
    /// Totals to date that do not contain pay by earlier employers; `*` is all of them.
    #[serde(default)]
    pub(super) each_employer: Vec<String>,
    pub(super) annual_earnings: Option<AnnualEarnings>,
    /// The day on which pay counts that is paid before its regular day.
    #[serde(default)]
    pub(super) early_pay_counts_on: CountsOn,
    #[serde(default)]
    pub(super) presets: BTreeMap<String, BTreeMap<String, BTreeMap<String, toml::Value>>>,
    #[serde(default)]
    pub(super) earning: Vec<EarningType>,
    #[serde(default)]
    pub(super) deduction: Vec<RawDeduction>,
    /// The part of gross pay in money that all deductions together leave to the employee.
    pub(super) least_net: Option<String>,
    #[serde(default)]
    pub(super) version: Vec<RawVersion>,
    #[serde(default)]
    pub(super) line: Vec<RawLine>,
    #[serde(default)]
    pub(super) filing: Vec<Filing>,
    #[serde(default)]
    pub(super) payslip: Option<Payslip>,
    #[serde(default)]
    pub(super) minimum_wage: Vec<MinimumWage>,
    #[serde(default)]
    pub(super) source: Vec<Source>,
}

/// `[regions]`: the attribute that names the part of the country whose pack applies, too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRegions {
    pub(super) attribute: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAttribute {
    #[serde(default)]
    pub(super) values: Vec<toml::Value>,
    /// The forms of a code that has parts, instead of `values`.
    #[serde(default)]
    pub(super) forms: Vec<String>,
    pub(super) default: toml::Value,
    pub(super) ends: Option<Ends>,
}

/// A list of components, or a table.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawBase {
    Of(Vec<String>),
    Table(RawBaseTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBaseTable {
    pub(super) of: Vec<String>,
    /// Components that count beside `of`, such as benefits that are not paid in cash.
    #[serde(default)]
    pub(super) plus: Vec<String>,
    /// The value that an attribute must have. Otherwise the base is 0.
    pub(super) when: Option<RawBaseWhen>,
}

/// `when` of a base.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBaseWhen {
    pub(super) attr: String,
    pub(super) is: toml::Value,
}

/// A `[[deduction]]`: a type of deduction and the bases that it reduces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDeduction {
    pub(super) id: String,
    pub(super) label: String,
    #[serde(default)]
    pub(super) reduces: Vec<String>,
    pub(super) taken: Option<String>,
    #[serde(default)]
    pub(super) order: u8,
    #[serde(default)]
    pub(super) short: Short,
    /// The most that is taken in a tax year.
    pub(super) annual_limit: Option<i64>,
    /// Other types that count towards the same annual limit.
    #[serde(default)]
    pub(super) annual_limit_with: Vec<String>,
    /// Whether the employer's part counts towards the annual limit, too.
    #[serde(default)]
    pub(super) annual_limit_with_employer: bool,
    pub(super) most: Option<RawMost>,
    /// Whether the pay by contract is lower by it.
    #[serde(default)]
    pub(super) contract_pay: bool,
    #[expect(
        dead_code,
        reason = "a remark for readers of the TOML, accepted so that it is not an unknown key"
    )]
    pub(super) note: Option<String>,
}

/// `most`: the part of disposable pay that an order may take.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMost {
    pub(super) rate: String,
    #[serde(default)]
    pub(super) of: MostOf,
    /// The amount that the order always leaves to the employee, by pay period.
    #[serde(default)]
    pub(super) above: BTreeMap<PayPeriod, i64>,
    /// The part of the pay above `above` that the order may take. Default: all of it.
    pub(super) above_rate: Option<String>,
    /// Other types whose amounts count.
    #[serde(default)]
    pub(super) with: Vec<String>,
    /// Types that disposable pay is less by.
    #[serde(default)]
    pub(super) less: Vec<String>,
}

/// A `[[version]]`: other figures of some lines, for pay dates until a day of the tax year.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVersion {
    #[serde(deserialize_with = "civil_date")]
    pub(super) until: Date,
    pub(super) lines: BTreeMap<String, RawFigures>,
}

/// The figures of a line that a version replaces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFigures {
    pub(super) amount: Option<toml::Value>,
    pub(super) bands: Option<toml::Value>,
    pub(super) rate: Option<toml::Value>,
    pub(super) over: Option<toml::Value>,
    pub(super) upto: Option<toml::Value>,
    pub(super) min: Option<toml::Value>,
    pub(super) max: Option<toml::Value>,
    pub(super) max_year: Option<toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawInput {
    pub(super) per: Frame,
    #[serde(default)]
    pub(super) default: i64,
    #[serde(default)]
    pub(super) scope: InputScope,
    pub(super) company: Option<CompanyFact>,
    /// Whether it holds in the tax year in which it was set, and then its default again.
    #[serde(default)]
    pub(super) one_year: bool,
    pub(super) min: Option<i64>,
    pub(super) max: Option<i64>,
}

/// A `[[line]]`. Values that may be tables by attribute are read as any value here.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLine {
    pub(super) id: String,
    pub(super) label: Option<String>,
    #[expect(
        dead_code,
        reason = "a remark for readers of the TOML, accepted so that it is not an unknown key"
    )]
    pub(super) note: Option<String>,
    pub(super) role: Option<Role>,
    #[serde(default)]
    pub(super) per: Frame,
    pub(super) kind: Kind,
    pub(super) of: Option<String>,
    pub(super) args: Option<Vec<RawArg>>,
    #[serde(default)]
    pub(super) by: Vec<String>,
    pub(super) amount: Option<toml::Value>,
    pub(super) bands: Option<toml::Value>,
    pub(super) rate: Option<toml::Value>,
    pub(super) over: Option<toml::Value>,
    pub(super) upto: Option<toml::Value>,
    pub(super) min: Option<toml::Value>,
    pub(super) max: Option<toml::Value>,
    pub(super) max_year: Option<toml::Value>,
    pub(super) select: Option<String>,
    pub(super) edge: Option<String>,
    pub(super) when: Option<RawWhen>,
    pub(super) round: Option<String>,
    /// If true, a `ytd` line is calculated as period 1 without totals to date.
    pub(super) alone: Option<RawWhen>,
    pub(super) cap: Option<RawCap>,
    /// The frame that the result counts in, if not `per`.
    #[serde(rename = "as")]
    pub(super) counts_as: Option<Frame>,
    /// For `left`: the line or base whose amount before this pay is subtracted.
    pub(super) taken: Option<String>,
    /// For an `employee_deduction`: its place among the deductions by type.
    #[serde(default)]
    pub(super) order: u8,
    /// For `share`: the line is `of` × `part` / `whole`.
    pub(super) part: Option<String>,
    pub(super) whole: Option<String>,
    /// Whether `gross-to-net` prints this memo.
    #[serde(default)]
    pub(super) show: bool,
}

/// The maximum of a line for one pay.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCap {
    pub(super) of: String,
    pub(super) rate: Option<String>,
    pub(super) round: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Const,
    Sum,
    Least,
    Greatest,
    Bands,
    Slice,
    Slab,
    Taper,
    Left,
    Share,
}

/// `"gross"`, `"-pension"` or `60000`.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum RawArg {
    Number(i64),
    Name(String),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWhen {
    pub(super) attr: Option<String>,
    pub(super) is: Option<toml::Value>,
    pub(super) of: Option<String>,
    pub(super) per: Option<Frame>,
    pub(super) over: Option<i64>,
    pub(super) at_least: Option<i64>,
    pub(super) any: Option<Vec<RawWhen>>,
    pub(super) all: Option<Vec<RawWhen>>,
    pub(super) not: Option<Box<RawWhen>>,
}
