//! The possible contents of a box: a sum of payslip amounts, a fact, a tax attribute, a count or a text.

use crate::model::payroll;
use crate::model::prelude::*;

/// A box of a form.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RawBox")]
pub(crate) struct FormBox {
    /// Its official number or, if it has none, its name.
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) content: Content,
    /// A tax attribute of the last payslip and the value that it must have: otherwise the box stays blank.
    pub(crate) when: Option<(String, String)>,
    /// A tax attribute and the value that each payslip must have: otherwise the box stays blank.
    pub(super) every: Option<(String, String)>,
    /// A tax attribute and the value of the payslips whose amounts count.
    pub(super) only: Option<(String, String)>,
    /// Whether the box counts only pays with the row's value of the attribute that splits the rows.
    pub(super) split: bool,
}

/// The content of a box.
#[derive(Debug)]
pub(crate) enum Content {
    /// A sum of amounts of the payslips.
    Sum { terms: Vec<Term>, window: Option<Window> },
    /// A text about the employer, the employee or the period.
    Fact(Fact),
    /// A tax attribute of the last payslip.
    Attribute(String),
    /// A number of something.
    Count(Count),
    /// The same text on each document.
    Text(String),
}

/// An amount of a payslip, added or subtracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) is_negative: bool,
    pub(crate) amount: TermAmount,
}

/// An amount of a payslip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TermAmount {
    Gross,
    Net,
    Taxable,
    /// A line of the payroll pack, or of that of the employee's region.
    Line(String),
    /// A base of the payroll pack.
    Base(String),
    /// A base of the payroll pack of the employee's region.
    RegionalBase(String),
    /// Earnings of a type; without a type, with an id.
    Earning(String),
    /// Deductions of a type; without a type, with an id.
    Deduction(String),
    /// The employer's parts of deductions of a type.
    Employer(String),
    /// The line's total of the tax year on the last payslip.
    LineToDate(String),
    /// The base's total of the tax year on the last payslip.
    BaseToDate(String),
    /// Opening totals: those of the tax year before the first payslip.
    Opening {
        total: Total,
        of_employment: bool,
    },
}

/// A total of a tax year.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    Line(String),
    Base(String),
}

/// A part of an employee's year: amounts count from `over` to `upto`.
#[derive(Debug)]
pub(crate) struct Window {
    pub(super) over: Option<Limit>,
    pub(super) upto: Option<Limit>,
}

/// An end of a window.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Limit {
    /// In minor units; for a figure that no line of the payroll pack has.
    Amount(i64),
    /// An end of a slice of the payroll pack, such as `social_security.upto`.
    Slice(String),
}

impl Window {
    /// The part of a total to date that is in the window.
    pub(super) fn part(&self, pack: &str, total: i64) -> i64 {
        let limit = |limit: &Limit| match limit {
            Limit::Amount(amount) => Some(*amount),
            Limit::Slice(name) => payroll::library().pack(pack)?.limit(name),
        };
        let over = self.over.as_ref().and_then(limit).unwrap_or(0);
        let upto = self.upto.as_ref().and_then(limit).unwrap_or(i64::MAX);
        total.clamp(over, upto) - over
    }
}

/// A text about the employer, the employee or the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fact {
    EmployerName,
    EmployerNameAndAddress,
    EmployerTaxId,
    EmployeeName,
    EmployeeTaxId,
    EmployeeRole,
    EmployeeStartDate,
    EmployeeEndDate,
    /// The first day of the employment in the period.
    EmployedFrom,
    /// The last day of the employment in the period.
    EmployedTo,
    LastPayDate,
    /// The number of the tax month of the last pay date.
    TaxMonth,
    /// The month number of the last payslip, for pay by the month.
    MonthNumber,
    /// The week number of the last payslip, for pay by the week.
    WeekNumber,
    /// The number of pay periods of a year, by the last payslip.
    PayPeriodsOfYear,
    YearOfLastDay,
}

/// A number of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Count {
    Employees,
    /// Employees with pay for the pay period that contains the 12th of the last month, whenever it is paid.
    EmployeesOnTheTwelfth,
    /// Employees with pay for the last pay period.
    EmployeesOfLastPayPeriod,
    /// Months with a payslip.
    Months,
    /// Pay periods with a payslip.
    PayPeriods,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBox {
    id: String,
    label: String,
    sum: Option<Vec<String>>,
    fact: Option<Fact>,
    attribute: Option<String>,
    count: Option<Count>,
    text: Option<String>,
    over: Option<Limit>,
    upto: Option<Limit>,
    when: Option<(String, String)>,
    every: Option<(String, String)>,
    only: Option<(String, String)>,
    #[serde(default)]
    split: bool,
}

impl TryFrom<RawBox> for FormBox {
    type Error = String;

    fn try_from(raw: RawBox) -> Result<Self, String> {
        let contents = [
            raw.sum.map(|terms| -> Result<Content, String> {
                let terms = terms.iter().map(|term| read_term(term)).collect::<Result<_, _>>()?;
                let window = Window { over: raw.over, upto: raw.upto };
                let has_window = window.over.is_some() || window.upto.is_some();
                Ok(Content::Sum { terms, window: has_window.then_some(window) })
            }),
            raw.fact.map(|fact| Ok(Content::Fact(fact))),
            raw.attribute.map(|name| Ok(Content::Attribute(name))),
            raw.count.map(|count| Ok(Content::Count(count))),
            raw.text.map(|text| Ok(Content::Text(text))),
        ];
        let mut contents = contents.into_iter().flatten();
        match (contents.next(), contents.next()) {
            (Some(content), None) => Ok(Self {
                id: raw.id,
                label: raw.label,
                content: content?,
                when: raw.when,
                every: raw.every,
                only: raw.only,
                split: raw.split,
            }),
            _ => Err(format!(
                "box `{}` must have one of `sum`, `fact`, `attribute`, `count`, `text`",
                raw.id
            )),
        }
    }
}

fn read_term(text: &str) -> Result<Term, String> {
    let (is_negative, name) = text.strip_prefix('-').map_or((false, text), |name| (true, name));
    let amount = match name.split_once('.') {
        None if name == "gross" => TermAmount::Gross,
        None if name == "net" => TermAmount::Net,
        None if name == "taxable" => TermAmount::Taxable,
        Some(("line", id)) => TermAmount::Line(id.to_owned()),
        Some(("base", id)) => TermAmount::Base(id.to_owned()),
        Some(("regional_base", id)) => TermAmount::RegionalBase(id.to_owned()),
        Some(("earning", id)) => TermAmount::Earning(id.to_owned()),
        Some(("deduction", id)) => TermAmount::Deduction(id.to_owned()),
        Some(("employer", id)) => TermAmount::Employer(id.to_owned()),
        Some(("to_date", rest)) => match rest.split_once('.') {
            Some(("line", id)) => TermAmount::LineToDate(id.to_owned()),
            Some(("base", id)) => TermAmount::BaseToDate(id.to_owned()),
            _ => return Err(format!("`{text}` is not a total to date of a line or a base")),
        },
        Some((opening @ ("opening" | "opening_here"), rest)) => {
            let total = match rest.split_once('.') {
                Some(("line", id)) => Total::Line(id.to_owned()),
                Some(("base", id)) => Total::Base(id.to_owned()),
                _ => return Err(format!("`{text}` is not an opening total of a line or a base")),
            };
            TermAmount::Opening { total, of_employment: opening == "opening_here" }
        }
        _ => return Err(format!("`{text}` is not an amount of a payslip")),
    };
    Ok(Term { is_negative, amount })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_with_a_mistake_is_refused() {
        let rows = [
            ("sum = [\"pay\"]", "not an amount"),
            ("sum = [\"to_date.net\"]", "not a total"),
            ("sum = [\"opening.net\"]", "not an opening total"),
            ("", "one of"),
            ("text = \"12\"\ncount = \"months\"", "one of"),
        ];
        for (content, expected) in rows {
            let text = format!("id = \"1\"\nlabel = \"Wages\"\n{content}");
            let refused = toml::from_str::<FormBox>(&text).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
