//! The forms that an employer makes from payslips, as data: `fixtures/tax_documents/XX.toml`. What a box of a payslip adds up is in
//! `tax_document_boxes`.
//!
//! Deliberately absent: stored documents. A document follows from the payslips whenever it is read.

use std::sync::LazyLock;

use crate::model::business::tax_document_threshold::Threshold;
use crate::model::business::{Calculation, Employee};
use crate::model::payroll;
use crate::model::prelude::*;

/// A form of an authority.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    /// Its short name, such as `W-2`.
    #[serde(rename = "form")]
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) recipient: Recipient,
    pub(crate) period: FormPeriod,
    /// Whether only those receive it who are employed on the last day of the period.
    #[serde(default)]
    pub(crate) employed_on_last_day: bool,
    /// The totals from which the form must be filed, if smaller ones need not be.
    pub(crate) threshold: Option<Threshold>,
    /// Ids of the file's sources.
    source: Vec<String>,
    #[serde(rename = "box")]
    pub(crate) boxes: Vec<FormBox>,
    /// What each row of the form is about, if it has rows.
    pub(crate) rows: Option<RowsBy>,
    /// The boxes of each row.
    #[serde(default, rename = "column")]
    pub(crate) columns: Vec<FormBox>,
}

/// Who receives a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TaxDocumentRecipient")]
pub(crate) enum Recipient {
    /// One for each employee, who receives it.
    Employee,
    /// One for each contractor in the country of the company, who receives it.
    Contractor,
    /// One for the company, which files it.
    Employer,
}

impl Recipient {
    /// Whether there is one document for each person.
    pub(crate) const fn is_person(self) -> bool {
        matches!(self, Self::Employee | Self::Contractor)
    }
}

/// The days whose pay a form declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TaxDocumentPeriod")]
pub(crate) enum FormPeriod {
    /// A day on which wages were due.
    PayDay,
    /// A calendar month.
    Month,
    /// A month that begins on the day of the month on which the tax year begins.
    TaxMonth,
    /// A quarter of the calendar year.
    Quarter,
    /// A tax year of the country.
    TaxYear,
    /// The tax year in which the employment ended.
    Employment,
}

/// What each row of a form is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowsBy {
    Employee,
    Month,
    Quarter,
}

/// A box of a form.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RawBox")]
pub(crate) struct FormBox {
    /// Its official number or, if it has none, its name.
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) content: Content,
}

/// What is in a box.
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
    /// The line's total of the tax year on the last payslip.
    LineToDate(String),
    /// The base's total of the tax year on the last payslip.
    BaseToDate(String),
}

/// A part of an employee's year: amounts count from `over` to `upto`.
#[derive(Debug)]
pub(crate) struct Window {
    over: Option<Limit>,
    upto: Option<Limit>,
}

/// An end of a window.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Limit {
    /// In minor units, where no line of the payroll pack has the figure.
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
    /// The number of the tax month of the last payslip.
    TaxPeriod,
    YearOfLastDay,
}

/// A number of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Count {
    Employees,
    /// Months with a payslip.
    Months,
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
            (Some(content), None) => Ok(Self { id: raw.id, label: raw.label, content: content? }),
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
        Some(("to_date", rest)) => match rest.split_once('.') {
            Some(("line", id)) => TermAmount::LineToDate(id.to_owned()),
            Some(("base", id)) => TermAmount::BaseToDate(id.to_owned()),
            _ => return Err(format!("`{text}` is not a total to date of a line or a base")),
        },
        _ => return Err(format!("`{text}` is not an amount of a payslip")),
    };
    Ok(Term { is_negative, amount })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    country: String,
    document: Vec<Form>,
    source: Vec<payroll::Source>,
}

macro_rules! embedded {
    ($($code:literal),+ $(,)?) => {
        [$(LazyLock::new(|| {
            let text = include_str!(concat!("../../../fixtures/tax_documents/", $code, ".toml"));
            toml::from_str(text).expect("a test reads every embedded file")
        })),+]
    };
}

static FILES: [LazyLock<File>; 6] = embedded!["CA", "GB", "KE", "NG", "US", "ZA"];

/// Every form with its country.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static Form)> {
    FILES.iter().flat_map(|file| file.document.iter().map(|form| (file.country.as_str(), form)))
}

impl Form {
    /// The form of that name, with its country.
    pub(crate) fn find(name: &str) -> Option<(&'static str, &'static Self)> {
        all().find(|(_, form)| form.name == name)
    }

    /// Whether the form declares a pay: that of the country's employees or, for a form of contractors, the fee that a company of the
    /// country paid to a contractor in it.
    pub(crate) fn declares(
        &self,
        country: &str,
        company: &Company,
        employee: Option<&Employee>,
        pay: &Calculation,
    ) -> bool {
        match self.recipient {
            Recipient::Employee | Recipient::Employer => pay.country() == country,
            Recipient::Contractor => {
                let is_there = employee.is_some_and(|it| it.country == country);
                pay.is_fee() && company.country == country && is_there
            }
        }
    }

    /// Titles of the sources.
    pub(crate) fn sources(&'static self) -> Vec<&'static str> {
        let sources = FILES.iter().flat_map(|file| &file.source);
        let of_form = sources.filter(|source| self.source.contains(&source.id));
        of_form.map(|source| source.title.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::payroll::Pack;

    fn packs(country: &str) -> impl Iterator<Item = &'static Pack> {
        payroll::library().packs().filter(move |pack| pack.country == country)
    }

    fn is_known(pack: &Pack, amount: &TermAmount) -> bool {
        match amount {
            TermAmount::Gross | TermAmount::Net | TermAmount::Taxable => true,
            TermAmount::Line(id) | TermAmount::LineToDate(id) => {
                pack.lines().iter().any(|line| line.id == *id)
            }
            TermAmount::Base(id) | TermAmount::RegionalBase(id) | TermAmount::BaseToDate(id) => {
                pack.base_names().any(|base| base == id)
            }
            TermAmount::Earning(id) => {
                pack.earning_type(id).is_some()
                    || ["basic", "housing", "transport"].contains(&&**id)
            }
            TermAmount::Deduction(id) => pack.deduction_type(id).is_some(),
        }
    }

    #[test]
    fn every_box_names_what_a_pack_of_its_country_has() {
        for (country, form) in all() {
            for it in form.boxes.iter().chain(&form.columns) {
                let at = format!("{country} {} box {}", form.name, it.id);
                match &it.content {
                    Content::Sum { terms, window } => {
                        for term in terms {
                            let known = packs(country).any(|pack| is_known(pack, &term.amount));
                            assert!(known, "{at}: {:?}", term.amount);
                        }
                        for limit in window.iter().flat_map(|it| it.over.iter().chain(&it.upto)) {
                            let Limit::Slice(name) = limit else { continue };
                            let mut packs = packs(country).filter(|pack| pack.region.is_none());
                            assert!(packs.all(|pack| pack.limit(name).is_some()), "{at}: {name}");
                        }
                    }
                    Content::Attribute(name) => {
                        let known = |pack: &Pack| pack.profile_names().any(|known| known == name);
                        assert!(packs(country).any(known), "{at}: {name}");
                    }
                    Content::Fact(_) | Content::Count(_) | Content::Text(_) => {}
                }
            }
        }
    }

    #[test]
    fn forms_boxes_and_sources_are_named_once_and_each_form_has_a_source() {
        let names: Vec<&str> = all().map(|(_, form)| form.name.as_str()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        for (_, form) in all() {
            assert_eq!(form.sources().len(), form.source.len(), "{}", form.name);
            assert!(!form.source.is_empty(), "{}", form.name);
            assert_eq!(form.rows.is_some(), !form.columns.is_empty(), "{}", form.name);
            if let Some(threshold) = &form.threshold {
                assert!(form.boxes.iter().any(|it| it.id == threshold.of), "{}", form.name);
                assert!(threshold.is_in_order(), "{}", form.name);
            }
            for boxes in [&form.boxes, &form.columns] {
                let ids: BTreeSet<&str> = boxes.iter().map(|it| it.id.as_str()).collect();
                assert_eq!(ids.len(), boxes.len(), "{}", form.name);
            }
        }
    }

    /// Guide RC4120, boxes 24 and 26: pay up to the maximum of a box bears the maximum contributions of the year, and pay below it less.
    #[test]
    fn the_limits_of_the_t4_are_those_of_the_contributions() {
        let pack = payroll::library().pack("CA").expect("an embedded pack");
        let contribution = |line: &str, amount: i64| {
            let pay = pack.evaluate(&payroll::PayInput {
                period: payroll::PayPeriod::Monthly,
                number: 1,
                attributes: pack.default_attributes(),
                inputs: &[],
                on: None,
                earnings: &[(pack.component("basic"), amount)],
                ytd: &payroll::YearToDate::start(),
            });
            let place = pack.lines().iter().position(|it| it.id == line).expect("a line");
            pay.expect("a pay").amounts[place]
        };
        let boxes = &Form::find("T4").expect("a form").1.boxes;
        for (id, line, limit) in [("24", "ei", 6_890_000), ("26", "cpp2", 8_500_000)] {
            let content = &boxes.iter().find(|it| it.id == id).expect("a box").content;
            let Content::Sum { window: Some(window), .. } = content else { panic!("{id}") };
            assert_eq!(window.part("CA", i64::MAX), limit);
            assert_eq!(contribution(line, limit), contribution(line, 100 * limit));
            assert!(contribution(line, limit - 100) < contribution(line, limit));
        }
    }

    #[test]
    fn a_box_with_a_mistake_is_refused() {
        let rows = [
            ("sum = [\"pay\"]", "not an amount"),
            ("sum = [\"to_date.net\"]", "not a total"),
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
