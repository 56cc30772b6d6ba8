//! Rows of a form that a tax attribute splits, such as the letters of National Insurance: each value has its own figures.

use std::collections::BTreeMap;

use crate::model::business::tax_document::{Form, RowsBy};
use crate::model::business::tax_document_boxes::{FilledBox, FilledRow, Subject, amount, filled};
use crate::model::business::tax_document_content::{Content, FormBox, TermAmount};
use crate::model::business::{Employee, Payslip};
use crate::model::prelude::*;

/// Payslips by the value of the attribute, in the order in which the values first applied.
type ByValue = Vec<(String, Vec<Arc<Payslip>>)>;

fn by_value<'a>(attribute: &str, payslips: impl IntoIterator<Item = &'a Arc<Payslip>>) -> ByValue {
    let mut groups = ByValue::new();
    for payslip in payslips {
        let value = payslip.calculation.attribute(attribute).unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, group)) => group.push(Arc::clone(payslip)),
            None => groups.push((value, vec![Arc::clone(payslip)])),
        }
    }
    groups
}

/// The rows for each value, or for each employee and value.
pub(super) fn rows(
    (form, by, attribute): (&Form, RowsBy, &str),
    subject: &Subject<'_>,
    payslips: &[Arc<Payslip>],
) -> Vec<FilledRow> {
    if by == RowsBy::Employee {
        return of_employees(form, attribute, subject, payslips);
    }
    let nothing = BTreeMap::new();
    let later = Subject { openings: &nothing, ..*subject };
    let groups = by_value(attribute, payslips).into_iter().enumerate();
    let row = |(place, (_, group)): (usize, (String, Vec<Arc<Payslip>>))| {
        let subject = if place == 0 { subject } else { &later };
        let boxes = form.columns.iter().map(|it| filled(it, subject, &group)).collect();
        FilledRow { employee_id: None, period: None, boxes }
    };
    groups.map(row).collect()
}

/// For each employee, a row with the value of the last payslip, followed by a row for each other value of the tax
/// year.
fn of_employees(
    form: &Form,
    attribute: &str,
    subject: &Subject<'_>,
    payslips: &[Arc<Payslip>],
) -> Vec<FilledRow> {
    let mut people: Vec<(Id<Employee>, Vec<Arc<Payslip>>)> = Vec::new();
    for payslip in payslips {
        match people.iter_mut().find(|(id, _)| *id == payslip.employee_id) {
            Some((_, paid)) => paid.push(Arc::clone(payslip)),
            None => people.push((payslip.employee_id, vec![Arc::clone(payslip)])),
        }
    }
    let mut rows = Vec::new();
    for (id, paid) in people {
        let Some(last) = paid.last() else { continue };
        let is_of_year = |it: &&Arc<Payslip>| {
            it.employee_id == id
                && it.pay_date <= subject.last_day
                && it.calculation.tax_year == last.calculation.tax_year
        };
        let year = by_value(attribute, subject.other_days.iter().filter(is_of_year));
        let now = last.calculation.attribute(attribute).unwrap_or_default();
        let others = year.iter().map(|(value, _)| value).filter(|value| **value != now);
        for value in core::iter::once(&now).chain(others) {
            let columns = form.columns.iter();
            let wanted = columns
                .filter(|it| *value == now || it.split || matches!(it.content, Content::Fact(_)));
            let boxes = wanted.map(|it| match (&it.content, it.split) {
                (Content::Attribute(_), true) => {
                    FilledBox { text: Some(value.clone()), ..filled(it, subject, &paid) }
                }
                (Content::Sum { .. }, true) => {
                    let amount = Some(sum(it, (attribute, value), &paid, &year));
                    FilledBox { amount, ..filled(it, subject, &paid) }
                }
                _ => filled(it, subject, &paid),
            });
            let boxes = boxes.collect();
            rows.push(FilledRow { employee_id: Some(id), period: None, boxes });
        }
    }
    rows
}

/// The sum of a box for the pays with the value. A total to date is the sum of the year's pays with the value. The
/// first value of the year gets the rest of the employee's total, such as totals from before the start.
fn sum(
    form_box: &FormBox,
    (attribute, value): (&str, &str),
    paid: &[Arc<Payslip>],
    year: &ByValue,
) -> i64 {
    let Content::Sum { terms, .. } = &form_box.content else { return 0 };
    let of = |what: &TermAmount, group: &[Arc<Payslip>]| -> i64 {
        group.iter().map(|it| amount(what, it)).sum()
    };
    let terms = terms.iter().map(|term| {
        let now = match &term.amount {
            TermAmount::LineToDate(id) => TermAmount::Line(id.clone()),
            TermAmount::BaseToDate(id) => TermAmount::Base(id.clone()),
            plain => {
                let counted = paid
                    .iter()
                    .filter(|it| it.calculation.attribute(attribute).as_deref() == Some(value));
                let sum: i64 = counted.map(|it| amount(plain, it)).sum();
                return if term.is_negative { -sum } else { sum };
            }
        };
        let sum = match year.first() {
            Some((first, _)) if first == value => {
                let total = paid.last().map_or(0, |it| amount(&term.amount, it));
                total - year[1..].iter().map(|(_, group)| of(&now, group)).sum::<i64>()
            }
            _ => year.iter().filter(|(it, _)| it == value).map(|(_, group)| of(&now, group)).sum(),
        };
        if term.is_negative { -sum } else { sum }
    });
    terms.sum()
}
