//! The forms that an employer makes from payslips, as data: `fixtures/tax_documents/XX.toml`. `tax_document_content`
//! has the possible contents of a box, and `tax_document_boxes` calculates the sums.
//!
//! Deliberately absent: stored documents. A document follows from the payslips whenever it is read.

use std::sync::LazyLock;

use crate::model::business::tax_document_content::{Content, Count, FormBox};
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
    /// Whether only employees who are employed on the last day of the period receive it.
    #[serde(default)]
    pub(crate) employed_on_last_day: bool,
    /// The totals from which the form must be filed, if smaller ones need not be.
    pub(crate) threshold: Option<Threshold>,
    /// Ids of the file's sources.
    source: Vec<String>,
    #[serde(rename = "box")]
    pub(crate) boxes: Vec<FormBox>,
    /// The subject of each row, if the form has rows.
    pub(crate) rows: Option<RowsBy>,
    /// The tax attribute that splits the rows: pays with another value have a row of their own.
    pub(super) split: Option<String>,
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

impl FormPeriod {
    /// Whether the form declares the pay of a tax year, up to its end or the end of the employment.
    pub(crate) const fn is_of_tax_year(self) -> bool {
        matches!(self, Self::TaxYear | Self::Employment)
    }
}

/// The subject of the rows of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowsBy {
    Employee,
    Month,
    Quarter,
    /// The values of the attribute that splits the rows.
    Split,
    /// The regions of the country whose taxes were withheld.
    State,
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
                pay.is_fee() && *company.country == *country && is_there
            }
        }
    }

    /// Whether it needs payslips of other days than its own: earlier ones of the tax year, or a pay period that is paid later.
    pub(crate) fn needs_other_days(&self) -> bool {
        let counts =
            |it: &FormBox| matches!(it.content, Content::Count(Count::EmployeesOnTheTwelfth));
        let by_employee = self.rows == Some(RowsBy::Employee) && self.split.is_some();
        by_employee || self.boxes.iter().any(counts)
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
    use crate::model::business::tax_document_content::{Limit, TermAmount, Total};
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
            TermAmount::Deduction(id) | TermAmount::Employer(id) => {
                pack.deduction_type(id).is_some()
            }
            TermAmount::Opening { total: Total::Line(id), .. } => {
                is_known(pack, &TermAmount::Line(id.clone()))
            }
            TermAmount::Opening { total: Total::Base(id), .. } => {
                is_known(pack, &TermAmount::Base(id.clone()))
            }
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
                assert!(!it.split || form.split.is_some(), "{at}");
                for (name, _) in [&it.when, &it.every, &it.only].into_iter().flatten() {
                    let known = |pack: &Pack| pack.profile_names().any(|known| known == name);
                    assert!(packs(country).any(known), "{at}: {name}");
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

    /// Guide RC4120, boxes 24 and 26: contributions reach their maximum of the year exactly at the maximum pay of the
    /// box.
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
}
