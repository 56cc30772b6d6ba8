//! A checked pack: the data for other modules, and the lines for `compile`.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::cache::Plans;
use super::error::PayError;
use super::exact::Ratio;
use super::filing::{Filing, MinimumWage, Payslip, Source};
use super::period::{CountsOn, PayPeriod, period_number};
use super::profile::Code;
use super::rule::{Bound, Formula, Frame, Lookup, Name, RuleLine};
use super::types::{AnnualEarnings, CountedEarnings, DeductionType, EarningType, Ends, part_of_up};

/// The largest input without a limit of its own: the largest amount of the API. A year of such pay still fits into 64 bits.
pub(super) const MOST_INPUT: i64 = 1_000_000_000_000_000;
/// Maximum number of attributes of a pack: [`Attributes`] stores that many inline.
pub(super) const MAX_ATTRIBUTES: usize = 16;
/// Maximum number of components of a pack: one bit each, and one for all others.
pub(super) const MAX_COMPONENTS: usize = 63;

/// The payroll law of one country for one tax year.
#[derive(Debug)]
pub struct Pack {
    /// Name of its file, such as `GB` or `GB-2025`.
    pub code: String,
    /// ISO 3166-1 alpha-2; `XX` for the placeholder.
    pub country: String,
    /// The part of the country that it is for, beside the country's own pack; `CA` of `US-CA`.
    pub region: Option<String>,
    /// The attribute whose value is the region of an employee, if packs of regions apply beside this one.
    pub regions: Option<String>,
    /// The attribute whose earlier values keep their rates: a total to date does not calculate pay under another value again.
    pub keeps: Option<String>,
    /// Components of irregular pay, one bit each. In a pay period without other pay, it is taxed on top of the last regular pay.
    pub(super) irregular: u64,
    /// Totals to date that do not contain pay by earlier employers, because the limits of the year are those of each one; `*` is all of them.
    pub each_employer: Vec<String>,
    /// The annual earnings period that an attribute begins, if the law has one.
    pub annual_earnings: Option<AnnualEarnings>,
    /// The day on which pay counts for taxes that moved to the business day before.
    pub early_pay_counts_on: CountsOn,
    /// The country and, if it matters, the region.
    pub name: String,
    /// ISO 4217.
    pub currency: String,
    /// Decimal places of the currency.
    pub minor_digits: u8,
    /// The tax year as the country writes it, `2026-27`.
    pub tax_year: String,
    /// First pay date.
    pub effective_from: Date,
    /// Last pay date.
    pub effective_to: Date,
    /// The pay periods it has tables for.
    pub periods: Vec<PayPeriod>,
    /// Filings due to authorities.
    pub filings: Vec<Filing>,
    /// Payslip law, if the pack contains it.
    pub payslip: Option<Payslip>,
    /// Minimum wages.
    pub minimum_wages: Vec<MinimumWage>,
    /// Sources of its figures.
    pub sources: Vec<Source>,
    /// The attributes of an employee that select a case.
    pub attributes: Vec<Attribute>,
    /// Numbers other than pay.
    pub inputs: Vec<Input>,
    /// Types of earnings with a label or a method of their own.
    pub earning_types: Vec<EarningType>,
    pub(super) counted_earnings: BTreeMap<String, CountedEarnings>,
    /// Types of deductions.
    pub deduction_types: Vec<DeductionType>,
    pub(super) least_net: Option<Ratio>,
    pub(super) default_inputs: Vec<i64>,
    pub(super) bases: Vec<Base>,
    /// Component names that a base names.
    pub(super) components: Vec<String>,
    /// Codes that are read by their forms, such as a tax code.
    pub(super) codes: Vec<Code>,
    /// Values of other attributes that one value sets, by name and value.
    pub(super) presets: Presets,
    /// Components that are not paid in money, one bit each.
    pub(super) not_cash: u64,
    pub(super) lines: Vec<RuleLine>,
    /// Lines for pay dates until a day, the earliest first. After the last day, `lines` apply.
    pub(super) versions: Vec<(Date, Vec<RuleLine>)>,
    /// Memo lines that are printed.
    pub(super) shown: Vec<usize>,
    pub(super) role_lines: Vec<RoleLine>,
    pub(super) taxable: Option<Name>,
    /// Whether any result depends on the number of the period, apart from the totals to date.
    pub(super) counts_periods: bool,
    pub(super) plans: Plans,
}

/// The attributes that a value of an attribute sets: attribute, value, and the pairs to set.
pub(super) type Presets = Vec<(String, Vec<(String, Vec<(String, String)>)>)>;

/// An attribute of the employee with fixed values, such as `filing_status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its values as text (`true` for a boolean), in the pack's order.
    pub values: Vec<String>,
    /// Index of the default.
    pub default: usize,
    /// When another value ends, if it does.
    pub ends: Option<Ends>,
}

/// A number other than pay, such as `annual_rent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The default; money is in minor units.
    pub default: i64,
    /// Whether it belongs to an employee or an employer.
    pub scope: InputScope,
    /// The fact about the company that a run reads, for an input of the employer.
    pub company: Option<CompanyFact>,
    /// Whether it holds in the tax year in which it was set, and then its default again.
    pub one_year: bool,
    /// The smallest and the largest number that an employee may have.
    pub limits: (i64, i64),
    pub(super) per: Frame,
}

/// Whether an input belongs to an employee or an employer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputScope {
    /// One per employee.
    #[default]
    Employee,
    /// One for all employees of an employer.
    Employer,
}

/// A number that a run reads from the company that pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompanyFact {
    /// The people whom it employs in the pack's country.
    Headcount,
    /// A year of their present pay, in minor units.
    AnnualPayroll,
    /// 1: the pay is one of its runs.
    InRun,
    /// 1: the pay is for the last pay period of the employment.
    LastPay,
}

/// The part of the payslip that a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Tax withheld from the employee.
    EmployeeTax,
    /// Contribution withheld from the employee.
    EmployeeSocial,
    /// Tax that the employer pays in addition.
    EmployerTax,
    /// Another deduction by law or order. It is neither tax nor a contribution, and lowers net pay.
    EmployeeDeduction,
    /// Contribution that the employer pays in addition.
    EmployerSocial,
}

/// A line that is money on the payslip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleLine {
    /// Unique in the pack.
    pub id: String,
    /// The display name.
    pub label: String,
    /// Its part of the payslip.
    pub role: Role,
    /// Its place among the deductions by type: types of a lower order are taken from pay before it.
    pub order: u8,
    /// The recipient: the authority of the first filing that names it.
    pub authority: Option<String>,
    /// The form that its payment belongs to. `None` if no filing of that authority reports it.
    pub form: Option<String>,
}

/// One value for each attribute of a pack. Valid only with that pack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attributes(pub(super) [u8; MAX_ATTRIBUTES]);

/// A kind of earnings in one pack. Valid only with that pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component(pub(super) u8);

/// A sum of earnings.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) name: String,
    /// Bit i: component i counts.
    pub(super) mask: u64,
    /// An attribute and its required value. With another value, the base is 0.
    pub(super) when: Option<(usize, u8)>,
    /// Inputs of the deductions that reduce it.
    pub(super) less: Vec<usize>,
    /// The base of all cash pay. Its total to date is also the default for this base.
    pub(super) follows: Option<usize>,
}

impl Attributes {
    /// Whether every value is one of its attribute.
    pub(super) fn belong_to(self, attributes: &[Attribute]) -> bool {
        let sizes = attributes.iter().map(|known| known.values.len());
        let mut sizes = sizes.chain(std::iter::repeat(1));
        self.0.iter().all(|value| sizes.next().is_some_and(|size| usize::from(*value) < size))
    }
}

impl Pack {
    /// The lines that are money on the payslip, in the pack's order. All lists of amounts use this order.
    #[must_use]
    pub fn lines(&self) -> &[RoleLine] {
        &self.role_lines
    }

    /// The sum of the amounts, one for each of [`Self::lines`], of the lines with these roles.
    #[must_use]
    pub fn sum_of(&self, roles: &[Role], amounts: &[i64]) -> i64 {
        let lines = self.role_lines.iter().zip(amounts);
        lines.filter(|(line, _)| roles.contains(&line.role)).map(|(_, amount)| amount).sum()
    }

    /// The minimum net pay after all deductions, for a gross pay in money.
    #[must_use]
    pub fn least_net_of(&self, gross: i64) -> i64 {
        self.least_net.map_or(0, |rate| part_of_up(gross, rate))
    }

    /// Names of the bases, in the order of [`super::Pay::bases`].
    #[must_use]
    pub fn base_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.bases.iter().map(|base| base.name.as_str())
    }

    /// Component names that matter in this pack.
    #[must_use]
    pub fn component_names(&self) -> &[String] {
        &self.components
    }

    /// The component with this name. A component that no base names still counts in `["*"]`.
    #[must_use]
    pub fn component(&self, name: &str) -> Component {
        let known = self.components.iter().position(|component| component == name);
        Component(byte(known.unwrap_or(MAX_COMPONENTS)))
    }

    /// Every attribute at its default.
    #[must_use]
    pub fn default_attributes(&self) -> Attributes {
        let mut attributes = Attributes::default();
        for (value, attribute) in attributes.0.iter_mut().zip(&self.attributes) {
            *value = byte(attribute.default);
        }
        attributes
    }

    /// `attributes` with one of them set, by name and value.
    pub fn with_attribute(
        &self,
        mut attributes: Attributes,
        name: &str,
        value: &str,
    ) -> Result<Attributes, PayError> {
        let found = self.attributes.iter().position(|attribute| attribute.name == name);
        let index = found.ok_or_else(|| PayError::UnknownName {
            what: "attribute",
            name: name.to_owned(),
            known: self.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
        })?;
        let values = &self.attributes[index].values;
        let chosen = values.iter().position(|known| known == value);
        let chosen = chosen.ok_or_else(|| PayError::UnknownValue {
            attribute: name.to_owned(),
            value: value.to_owned(),
            known: values.clone(),
        })?;
        attributes.0[index] = byte(chosen);
        Ok(attributes)
    }

    /// Inputs at their defaults, in the order of [`Pack::inputs`].
    #[must_use]
    pub fn default_inputs(&self) -> &[i64] {
        &self.default_inputs
    }

    /// Position of the input of this name.
    pub fn input(&self, name: &str) -> Result<usize, PayError> {
        let found = self.inputs.iter().position(|input| input.name == name);
        found.ok_or_else(|| PayError::UnknownName {
            what: "input",
            name: name.to_owned(),
            known: self.inputs.iter().map(|input| input.name.clone()).collect(),
        })
    }

    /// Names of the memo lines that are printed, in the order of [`super::Pay::shown`].
    pub fn shown_names(&self) -> impl Iterator<Item = &str> {
        self.shown.iter().map(|line| self.lines[*line].id.as_str())
    }

    /// An end of a `slice`, such as a wage base: `social_security.upto`. `None` if there is no such line, or if its end is not the same for
    /// every employee.
    #[must_use]
    pub fn limit(&self, name: &str) -> Option<i64> {
        let (id, end) = name.split_once('.')?;
        let line = self.lines.iter().find(|line| line.id == id)?;
        let Formula::Slice { over, upto, .. } = &line.formula else { return None };
        let bound = match end {
            "over" => Some(over),
            "upto" => upto.as_ref(),
            _ => None,
        };
        match bound? {
            Bound::Number(Lookup::One(number)) => Some(*number),
            Bound::Number(Lookup::By { .. }) | Bound::Value(_) => None,
        }
    }

    /// Whether a component is paid in money.
    #[must_use]
    pub const fn is_cash(&self, component: Component) -> bool {
        self.not_cash >> component.0 & 1 == 0
    }

    /// Whether the pack has a method for irregular pay.
    #[must_use]
    pub const fn has_irregular_pay(&self) -> bool {
        self.irregular != 0
    }

    /// Whether a component is irregular pay, such as a bonus.
    #[must_use]
    pub const fn is_irregular(&self, component: Component) -> bool {
        self.irregular >> component.0 & 1 == 1
    }

    /// The type of deduction with this name.
    #[must_use]
    pub fn deduction_type(&self, id: &str) -> Option<&DeductionType> {
        self.deduction_types.iter().find(|known| known.id == id)
    }

    /// The earnings on which contributions to benefits count, by name.
    #[must_use]
    pub fn counted_earnings(&self, name: &str) -> Option<&CountedEarnings> {
        self.counted_earnings.get(name)
    }

    /// Their names.
    pub fn counted_earnings_names(&self) -> impl Iterator<Item = &str> {
        self.counted_earnings.keys().map(String::as_str)
    }

    /// The type of earnings with this name.
    #[must_use]
    pub fn earning_type(&self, id: &str) -> Option<&EarningType> {
        self.earning_types.iter().find(|known| known.id == id)
    }

    /// Whether a pay date is in its tax year.
    #[must_use]
    pub fn covers(&self, pay_date: Date) -> bool {
        (self.effective_from..=self.effective_to).contains(&pay_date)
    }

    /// The number of the tax period that a pay date falls in; see [`period_number`].
    #[must_use]
    pub fn period_number(&self, period: PayPeriod, pay_date: Date) -> u32 {
        period_number(self.effective_from, period, pay_date)
    }
}

/// An index of at most 255, which the checks guarantee.
pub(super) fn byte(index: usize) -> u8 {
    u8::try_from(index).expect("attributes have at most 255 values, packs at most 63 components")
}
