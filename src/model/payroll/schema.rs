//! Schema 1 as TOML: exactly the keys of every table. `check` checks the values.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Deserialize;

use super::filing::{Filing, MinimumWage, Payslip, Source, civil_date};
use super::pack::{InputScope, Role};
use super::period::PayPeriod;
use super::rule::Frame;

/// A whole pack.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPack {
    pub(super) schema: u32,
    pub(super) country: String,
    pub(super) name: String,
    pub(super) currency: String,
    pub(super) minor_digits: u8,
    pub(super) tax_year: String,
    #[serde(deserialize_with = "civil_date")]
    pub(super) effective_from: Date,
    #[serde(deserialize_with = "civil_date")]
    pub(super) effective_to: Date,
    pub(super) periods: Vec<PayPeriod>,
    pub(super) bases: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, RawAttribute>,
    #[serde(default)]
    pub(super) inputs: BTreeMap<String, RawInput>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAttribute {
    pub(super) values: Vec<toml::Value>,
    pub(super) default: toml::Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawInput {
    pub(super) per: Frame,
    #[serde(default)]
    pub(super) default: i64,
    #[serde(default)]
    pub(super) scope: InputScope,
}

/// A `[[line]]`. Values that may be tables by attribute are read as any value here.
#[derive(Deserialize)]
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
    Taper,
}

/// `"gross"`, `"-pension"` or `60000`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawArg {
    Number(i64),
    Name(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWhen {
    pub(super) attr: Option<String>,
    pub(super) is: Option<toml::Value>,
    pub(super) of: Option<String>,
    pub(super) per: Option<Frame>,
    pub(super) over: Option<i64>,
    pub(super) at_least: Option<i64>,
}
