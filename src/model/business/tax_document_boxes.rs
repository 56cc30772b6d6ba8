//! The contents of a form's boxes, added up from payslips.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::business::tax_document::{Form, RowsBy};
use crate::model::business::tax_document_content::{
    Content, Count, Fact, FormBox, Term, TermAmount, Total, Window,
};
use crate::model::business::tax_document_split as split;
use crate::model::business::{Employee, PayLine, PaySpan, Payslip};
use crate::model::payroll::{Pack, YearToDate};
use crate::model::prelude::*;

/// A box of a document. It has an amount, a number or a text; a text that is not known is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "TaxDocumentBox")]
pub(crate) struct FilledBox {
    /// The official number of the box or, if it has none, its name.
    #[serde(rename = "box")]
    pub(crate) id: String,
    /// What is in the box.
    pub(crate) label: String,
    /// An amount in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) amount: Option<i64>,
    /// A number, for example of employees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u64>,
    /// A text, for example a name or a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// A row of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "TaxDocumentRow")]
pub(crate) struct FilledRow {
    /// The employee, if each row is about an employee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) employee_id: Option<Id<Employee>>,
    /// The month (`2026-01`) or the quarter (`2026-Q1`), if each row is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) period: Option<String>,
    /// The boxes of the row.
    pub(crate) boxes: Vec<FilledBox>,
}

/// Whether a form must be filed for that total.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "TaxDocumentReporting")]
pub(crate) struct Reporting {
    /// The total of the period, in minor units.
    pub(crate) total: i64,
    /// The minimum total that must be filed, in minor units.
    pub(crate) threshold: i64,
    /// Whether the total reaches the threshold.
    pub(crate) required: bool,
}

/// The subject of a document.
pub(crate) struct Subject<'a> {
    pub(crate) company: &'a Company,
    /// The employees of the payslips.
    pub(crate) employees: &'a BTreeMap<Id<Employee>, Arc<Employee>>,
    /// The totals with which the tax year of the payslips began.
    pub(crate) openings: &'a BTreeMap<Id<Employee>, Opening>,
    /// Payslips of other days, if the form needs them ([`Form::needs_other_days`]).
    pub(crate) other_days: &'a [Arc<Payslip>],
    pub(crate) first_day: Date,
    pub(crate) last_day: Date,
}

/// Totals of a tax year that an employee brought in.
pub(crate) struct Opening {
    pub(crate) pack: &'static Pack,
    pub(crate) totals: YearToDate,
    /// Whether the totals are from this employment, and not from an earlier employer.
    pub(crate) of_employment: bool,
}

/// The boxes of the form for these payslips, which are in the order of their pay dates.
pub(crate) fn boxes(
    form: &Form,
    subject: &Subject<'_>,
    payslips: &[Arc<Payslip>],
) -> Vec<FilledBox> {
    form.boxes.iter().map(|it| filled(it, subject, payslips)).collect()
}

/// Whether the form must be filed for these payslips; absent if the form has no threshold.
pub(crate) fn reporting(
    form: &Form,
    last_day: Date,
    payslips: &[Arc<Payslip>],
) -> Option<Reporting> {
    let threshold = form.threshold.as_ref()?;
    let of = form.boxes.iter().find(|it| it.id == threshold.of)?;
    let Content::Sum { terms, window } = &of.content else { return None };
    let of_none = Openings { totals: &BTreeMap::new(), first_day: None };
    let total = terms.iter().map(|term| sum(term, window.as_ref(), of_none, payslips)).sum();
    let threshold = threshold.amount_on(last_day);
    Some(Reporting { total, threshold, required: total >= threshold })
}

/// The rows of the form for these payslips.
pub(crate) fn rows(
    form: &Form,
    subject: &Subject<'_>,
    payslips: &[Arc<Payslip>],
) -> Vec<FilledRow> {
    let Some(by) = form.rows else { return Vec::new() };
    if let Some(attribute) = &form.split {
        return split::rows((form, by, attribute), subject, payslips);
    }
    let mut groups: BTreeMap<(usize, String), Vec<Arc<Payslip>>> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for payslip in payslips {
        let next = places.len();
        let region = payslip.calculation.region();
        let key = match by {
            RowsBy::State => match region {
                Some(region) => (0, region),
                None => continue,
            },
            RowsBy::Employee => (*places.entry(payslip.employee_id).or_insert(next), String::new()),
            RowsBy::Split => continue, // above
            RowsBy::Month => (0, payslip.counts_on().period().to_string()),
            RowsBy::Quarter => (0, quarter(payslip.counts_on())),
        };
        groups.entry(key).or_default().push(Arc::clone(payslip));
    }
    let row = |((_, period), payslips): ((usize, String), Vec<Arc<Payslip>>)| FilledRow {
        employee_id: (by == RowsBy::Employee).then(|| payslips[0].employee_id),
        period: matches!(by, RowsBy::Month | RowsBy::Quarter).then_some(period),
        boxes: form.columns.iter().map(|it| filled(it, subject, &payslips)).collect(),
    };
    groups.into_iter().map(row).collect()
}

/// `2026-Q1`.
pub(crate) fn quarter(day: Date) -> String {
    format!("{}-Q{}", day.period().year(), (day.civil().month() + 2) / 3)
}

pub(super) fn filled(
    form_box: &FormBox,
    subject: &Subject<'_>,
    payslips: &[Arc<Payslip>],
) -> FilledBox {
    let mut it = FilledBox {
        id: form_box.id.clone(),
        label: form_box.label.clone(),
        amount: None,
        count: None,
        text: None,
    };
    let attribute = |name: &str| payslips.last().and_then(|it| it.calculation.attribute(name));
    let is_other = |(name, value): &(String, String)| attribute(name).as_ref() != Some(value);
    let differs = |wanted: &(String, String)| payslips.iter().any(|it| !has(it, wanted));
    if form_box.when.as_ref().is_some_and(is_other) || form_box.every.as_ref().is_some_and(differs)
    {
        return it;
    }
    match &form_box.content {
        Content::Sum { terms, window } => {
            let window = window.as_ref();
            let openings =
                Openings { totals: subject.openings, first_day: Some(subject.first_day) };
            let counted: Vec<Arc<Payslip>>;
            let payslips = match &form_box.only {
                Some(wanted) => {
                    counted = payslips.iter().filter(|it| has(it, wanted)).cloned().collect();
                    &counted
                }
                None => payslips,
            };
            let term = |term| sum(term, window, openings, payslips);
            it.amount = Some(terms.iter().map(term).sum());
        }
        Content::Fact(fact) => it.text = known(*fact, subject, payslips),
        Content::Attribute(name) => it.text = attribute(name),
        Content::Count(Count::Employees) => it.count = Some(employees(payslips.iter())),
        Content::Count(Count::EmployeesOnTheTwelfth) => {
            let day = subject.last_day.period().day(12);
            let contains = |it: &&Arc<Payslip>| {
                let span = span(it);
                it.calculation.gross > 0 && (span.start..=span.end).contains(&day)
            };
            it.count = Some(employees(subject.other_days.iter().filter(contains)));
        }
        Content::Count(Count::EmployeesOfLastPayPeriod) => {
            let with_pay = || payslips.iter().filter(|it| it.calculation.gross > 0);
            let last = with_pay().map(|it| span(it).end).max();
            it.count = Some(employees(with_pay().filter(|it| Some(span(it).end) == last)));
        }
        Content::Count(Count::Months) => {
            let months: BTreeSet<_> = payslips.iter().map(|it| it.period).collect();
            it.count = Some(months.len() as u64);
        }
        Content::Count(Count::PayPeriods) => {
            let first_day = |it: &Payslip| it.pay_period.map(|days| days.start);
            let periods: BTreeSet<_> =
                payslips.iter().map(|it| (it.period, first_day(it))).collect();
            it.count = Some(periods.len() as u64);
        }
        Content::Text(text) => it.text = Some(text.clone()),
    }
    it
}

/// Whether a tax attribute of the payslip has that value.
fn has(payslip: &Payslip, (name, value): &(String, String)) -> bool {
    payslip.calculation.attribute(name).as_ref() == Some(value)
}

/// The days that it pays.
fn span(payslip: &Payslip) -> PaySpan {
    payslip.pay_period.unwrap_or_else(|| PaySpan::month(payslip.period))
}

fn employees<'a>(payslips: impl Iterator<Item = &'a Arc<Payslip>>) -> u64 {
    payslips.map(|it| it.employee_id).collect::<BTreeSet<_>>().len() as u64
}

fn sum(
    term: &Term,
    window: Option<&Window>,
    openings: Openings<'_>,
    payslips: &[Arc<Payslip>],
) -> i64 {
    if let TermAmount::Opening { total, of_employment } = &term.amount {
        let people: BTreeSet<_> = payslips.iter().map(|it| it.employee_id).collect();
        let openings = people.iter().filter_map(|id| openings.totals.get(id));
        let wanted = openings.filter(|opening| opening.of_employment || !of_employment);
        let sum: i64 = wanted.map(|opening| opening.amount(total, window)).sum();
        return if term.is_negative { -sum } else { sum };
    }
    let to_date = matches!(term.amount, TermAmount::LineToDate(_) | TermAmount::BaseToDate(_));
    let amount = |payslip: &Arc<Payslip>| amount(&term.amount, payslip);
    let sum: i64 = if let (TermAmount::Base(id), Some(window)) = (&term.amount, window) {
        part_of_year(id, window, openings, payslips)
    } else if to_date {
        let last: BTreeMap<_, _> = payslips.iter().map(|it| (it.employee_id, it)).collect();
        last.into_values().map(amount).sum()
    } else {
        payslips.iter().map(amount).sum()
    };
    if term.is_negative { -sum } else { sum }
}

/// Totals at the start of the payslips' tax years.
#[derive(Clone, Copy)]
struct Openings<'a> {
    totals: &'a BTreeMap<Id<Employee>, Opening>,
    /// The first day of the form's period. If a tax year begins on it, the form has all payslips of that year.
    first_day: Option<Date>,
}

/// The part of a base that is in the window. The limits apply to the total of each employee's year. The totals to
/// date on payslips cannot be used: they are too high if an earlier pay was reversed later.
fn part_of_year(
    id: &str,
    window: &Window,
    openings: Openings<'_>,
    payslips: &[Arc<Payslip>],
) -> i64 {
    let mut years: BTreeMap<(Id<Employee>, Date, &str), (i64, i64)> = BTreeMap::new();
    for payslip in payslips {
        let pay = &payslip.calculation;
        let (now, to_date) = pay.base(id);
        let year =
            years.entry((payslip.employee_id, pay.tax_year, &pay.pack)).or_insert_with(|| {
                let before = if openings.first_day == Some(pay.tax_year) {
                    let opening = openings.totals.get(&payslip.employee_id);
                    opening.map_or(0, |opening| opening.amount(&Total::Base(id.to_owned()), None))
                } else {
                    to_date - now
                };
                (before, before)
            });
        year.1 += now;
    }
    let part = |((_, _, pack), (before, end)): ((_, _, &str), (i64, i64))| {
        window.part(pack, end) - window.part(pack, before)
    };
    years.into_iter().map(part).sum()
}

pub(super) fn amount(term: &TermAmount, payslip: &Payslip) -> i64 {
    let pay = &payslip.calculation;
    let of_kind = |lines: Vec<PayLine>, kind: &str| -> i64 {
        let wanted = lines.iter().filter(|line| line.kind.as_deref().unwrap_or(&line.id) == kind);
        wanted.map(|line| line.amount).sum()
    };
    match term {
        TermAmount::Gross => pay.gross,
        TermAmount::Net => pay.net,
        TermAmount::Taxable => pay.taxable,
        TermAmount::Line(id) => pay.line(id).0,
        TermAmount::LineToDate(id) => pay.line(id).1,
        TermAmount::Base(id) => pay.base(id).0,
        TermAmount::RegionalBase(id) => pay.regional_base(id),
        TermAmount::BaseToDate(id) => pay.base(id).1,
        TermAmount::Earning(kind) => {
            of_kind(pay.earnings(), kind) + of_kind(pay.benefit_lines(), kind)
        }
        TermAmount::Deduction(kind) => of_kind(pay.deduction_lines(), kind),
        TermAmount::Employer(kind) => of_kind(pay.employer_benefit_lines(), kind),
        TermAmount::Opening { .. } => 0, // of no payslip
    }
}

impl Opening {
    /// The total, or the part of it that is in the window.
    fn amount(&self, total: &Total, window: Option<&Window>) -> i64 {
        let amount = match total {
            Total::Line(id) => {
                let place = self.pack.lines().iter().position(|line| line.id == *id);
                place.map_or(0, |place| self.totals.line(place))
            }
            Total::Base(name) => {
                let place = self.pack.base_names().position(|base| base == name);
                place.map_or(0, |place| self.totals.base(place))
            }
        };
        window.map_or(amount, |window| window.part(&self.pack.code, amount))
    }
}

/// A text about the employer, the employee or the period.
fn known(fact: Fact, subject: &Subject<'_>, payslips: &[Arc<Payslip>]) -> Option<String> {
    let last = payslips.last()?;
    let company = subject.company;
    let employee = subject.employees.get(&last.employee_id);
    match fact {
        Fact::EmployerName => Some(company.legal_name.to_string()),
        Fact::EmployerNameAndAddress => {
            let address = company.address.as_ref();
            let mut parts = vec![&*company.legal_name];
            parts.extend(address.map(|it| it.line1.as_str()));
            parts.extend(address.map(|it| it.city.as_str()));
            parts.extend(address.and_then(|it| it.region.as_deref()));
            parts.extend(address.and_then(|it| it.postal_code.as_deref()));
            Some(parts.join(", "))
        }
        Fact::EmployerTaxId => company.tax_id.as_deref().map(str::to_owned),
        Fact::EmployeeName => Some(last.employee_name.to_string()),
        Fact::EmployeeTaxId => employee?.tax_id.clone(),
        Fact::EmployeeRole => Some(employee?.role.clone()),
        Fact::EmployeeStartDate => Some(employee?.start_date.to_string()),
        Fact::EmployeeEndDate => employee?.end_date.map(|day| day.to_string()),
        Fact::EmployedFrom => Some(employee?.start_date.max(subject.first_day).to_string()),
        Fact::EmployedTo => {
            let end = employee?.end_date.map_or(subject.last_day, |end| end.min(subject.last_day));
            Some(end.to_string())
        }
        Fact::LastPayDate => Some(last.counts_on().to_string()),
        Fact::TaxMonth => Some(last.calculation.tax_month(last.counts_on()).to_string()),
        Fact::MonthNumber => last.calculation.month_number().map(|number| number.to_string()),
        Fact::WeekNumber => last.calculation.week_number().map(|number| number.to_string()),
        Fact::PayPeriodsOfYear => Some(last.calculation.frequency.per_year().to_string()),
        Fact::YearOfLastDay => Some(subject.last_day.period().year().to_string()),
    }
}
