//! A payslip as a PDF.
//!
//! It is made from the payslip's JSON, so that the two cannot differ.

use serde_json::Value;

use crate::api::pdf::{Block, PdfDocument, Row, Table};
use crate::api::prelude::*;
use crate::api::print::{long, month_name, print_of, sender};
use crate::model::Wire;
use crate::model::business::{PaymentMethodType, Payslip, PayslipStatus, PayslipType, WageAccount};
use crate::model::growth::countries::Print;

pub(crate) fn payslip_pdf(world: &World, id: Id<Payslip>) -> Result<PdfDocument> {
    let payslip = world.get(id)?;
    let company = world.get(payslip.company_id)?;
    let employee = world.find(payslip.employee_id);
    Ok(pdf(&payslip, &company, employee.as_deref()))
}

fn pdf(payslip: &Payslip, company: &Company, employee: Option<&Employee>) -> PdfDocument {
    let shown = serde_json::to_value(payslip.wire()).expect("a payslip serialises");
    let withheld = payslip.calculation.withheld_so_far();
    let page = Page { shown: &shown, currency: payslip.currency, withheld };
    let month = month(payslip.period);
    let print = print_of(payslip.calculation.country());
    let title = match PayslipType::of(&payslip.calculation) {
        PayslipType::Payslip => print.payslip,
        PayslipType::ContractorStatement => "Contractor statement",
    };
    PdfDocument {
        name: format!("{title} {month}, {}", payslip.employee_name),
        file: format!("payslip-{}-{}", payslip.period, payslip.id),
        created_at: payslip.created_at,
        paper: print_of(&company.country).paper,
        sender: sender(company),
        title: vec![title.to_owned(), month],
        stamp: match payslip.status {
            PayslipStatus::Issued => None,
            PayslipStatus::Corrected => Some("CORRECTED".to_owned()),
            PayslipStatus::Voided => Some("VOID".to_owned()),
        },
        blocks: vec![
            Block::Facts(facts(payslip, employee, print)),
            Block::Tables(vec![page.earnings(), page.deductions()]),
            Block::Figure {
                label: "Net pay".to_owned(),
                value: page.money("net"),
                remark: paid_to(payslip, employee, print),
            },
            Block::Tables(vec![page.employer(), page.year_to_date()]),
            Block::Note(page.basis()),
        ],
        footer: "Simulated by sandbox: no real person, and no real money".to_owned(),
    }
}

fn facts(payslip: &Payslip, employee: Option<&Employee>, print: &Print) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let known = |of: fn(&Employee) -> String| employee.map_or_else(|| "—".to_owned(), of);
    let mut facts = vec![
        fact("Employee", payslip.employee_name.to_string()),
        fact("Pay date", long(payslip.pay_date, print)),
        fact("Role", known(|employee| employee.role.clone())),
        fact(
            "Period",
            match payslip.pay_period {
                None => between(payslip.period.first_day(), payslip.period.last_day(), print),
                Some(days) => between(days.start, days.end, print),
            },
        ),
        fact("Department", known(|employee| employee.department.clone())),
        fact("Employee no.", payslip.employee_id.to_string()),
        fact(
            print.person,
            known(|employee| employee.tax_id.clone().unwrap_or_else(|| "—".to_owned())),
        ),
        fact("Payslip no.", payslip.id.to_string()),
    ];
    facts.extend(payslip.calculation.printed_attributes());
    facts
}

/// `1 January 2026 to 31 January 2026`.
fn between(first: Date, last: Date, print: &Print) -> String {
    format!("{} to {}", long(first, print), long(last, print))
}

fn paid_to(payslip: &Payslip, employee: Option<&Employee>, print: &Print) -> String {
    let method = employee.and_then(|employee| employee.payment_method.as_ref());
    let day = long(payslip.pay_date, print);
    method.map_or_else(
        || format!("Due on {day}"),
        |method| {
            let accounts: Vec<String> = method.accounts().map(masked).collect();
            format!("Due on {day}, to {}", accounts.join("; "))
        },
    )
}

/// An account for wages, without data that would allow debits.
fn masked(method: &WageAccount) -> String {
    let shown: Vec<char> = method.account_number.chars().collect();
    let last: String = shown[shown.len().saturating_sub(4)..].iter().collect();
    let bank = match (&method.kind, &method.bank_name) {
        (_, Some(name)) => name.clone(),
        (PaymentMethodType::Bank, None) => format!("bank {}", method.bank_code),
        (PaymentMethodType::MobileMoney, None) => "mobile money".to_owned(),
    };
    format!("{bank}, account ending {last}")
}

/// A payslip as callers see it.
struct Page<'a> {
    shown: &'a Value,
    currency: Currency,
    /// Amounts withheld in the tax year, by label.
    withheld: Vec<(&'static str, i64)>,
}

impl Page<'_> {
    fn number(&self, member: &str) -> i64 {
        self.shown[member].as_i64().unwrap_or(0)
    }

    fn money(&self, member: &str) -> String {
        format!("{} {}", self.currency, figure(self.currency, self.number(member)))
    }

    /// Lines of a member with their amounts.
    fn lines(&self, members: &[&str]) -> Vec<(String, i64)> {
        let lines = members.iter().filter_map(|member| self.shown[*member].as_array()).flatten();
        lines
            .map(|line| {
                let label = line["label"].as_str().unwrap_or_default().to_owned();
                (label, line["amount"].as_i64().unwrap_or(0))
            })
            .collect()
    }

    fn table(&self, title: &str, members: &[&str], total: &str) -> Table {
        let lines = self.lines(members);
        let sum = lines.iter().map(|(_, amount)| amount).sum();
        let row =
            |(label, amount): (String, i64)| Row::new(label, vec![figure(self.currency, amount)]);
        Table {
            title: title.to_owned(),
            columns: vec![self.currency.to_string()],
            rows: lines.into_iter().map(row).collect(),
            total: Some(Row::new(total, vec![figure(self.currency, sum)])),
        }
    }

    fn earnings(&self) -> Table {
        self.table("Earnings", &["earnings", "reimbursements"], "Total paid")
    }

    fn deductions(&self) -> Table {
        self.table("Deductions", DEDUCTIONS, "Total deducted")
    }

    fn employer(&self) -> Table {
        let title = "Paid by the employer on top";
        self.table(title, &["employer_contributions"], "Total")
    }

    fn year_to_date(&self) -> Table {
        let year = &self.shown["ytd"];
        let row = |label: &str, amount: Option<i64>| {
            Some(Row::new(label, vec![figure(self.currency, amount?)]))
        };
        let mut rows: Vec<Row> = row("Gross pay", year["gross"].as_i64()).into_iter().collect();
        rows.extend(row("Taxable pay", year["taxable"].as_i64()));
        rows.extend(self.withheld.iter().filter_map(|(label, total)| row(label, Some(*total))));
        rows.extend(row("Other deductions", year["deductions"].as_i64()));
        Table {
            title: "Tax year to date".to_owned(),
            columns: vec![self.currency.to_string()],
            rows,
            total: row("Net pay", year["net"].as_i64()),
        }
    }

    fn basis(&self) -> String {
        let pack = &self.shown["pack"];
        let text = |member: &str| pack[member].as_str().unwrap_or_default();
        let force = if pack["in_force"] == true {
            ""
        } else {
            " (the nearest known: none was in force on the pay date)"
        };
        format!(
            "Calculated by payroll pack {}, tax year {}{force}. Taxable pay of this period: {}.",
            text("code"),
            text("tax_year"),
            self.money("taxable"),
        )
    }
}

/// Members of a payslip that contain deductions.
const DEDUCTIONS: &[&str] = &["taxes", "contributions", "deductions"];

/// `1,234,567.89`, for display.
pub(crate) fn figure(currency: Currency, minor: i64) -> String {
    let plain = currency.display(minor.abs());
    let plain = plain.split(' ').next().unwrap_or_default();
    let (whole, part) =
        plain.split_once('.').map_or((plain, None), |(whole, part)| (whole, Some(part)));
    let mut shown = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    let sign = if minor < 0 { "−" } else { "" };
    match part {
        Some(part) => format!("{sign}{shown}.{part}"),
        None => format!("{sign}{shown}"),
    }
}

fn month(period: Period) -> String {
    format!("{} {}", month_name(period.first_day()), period.year())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::world::{Base, ClockMode, Shape};

    #[test]
    fn figures_are_grouped_by_threes() {
        let shown = |code, minor| Currency::new(code).map(|currency| figure(currency, minor));
        assert_eq!(shown("NGN", 123_456_789).as_deref(), Some("1,234,567.89"));
        assert_eq!(shown("NGN", -100).as_deref(), Some("−1.00"));
        assert_eq!(shown("UGX", 1_000).as_deref(), Some("1,000"));
        assert_eq!(shown("KWD", 999_999).as_deref(), Some("999.999"));
        assert_eq!(shown("USD", 0).as_deref(), Some("0.00"));
    }

    /// Employment Rights Act 1996 s. 8 and HMRC practice: a payslip shows the tax code and taxable pay to date. Basic Conditions of Employment
    /// Act (South Africa) s. 33: each amount has its purpose, by the name that the law gives it.
    #[test]
    fn a_page_shows_the_tax_code_taxable_pay_to_date_and_labels_of_the_pack() {
        let countries = ["GB", "ZA"].map(str::to_owned).to_vec();
        let shape = Shape { countries, companies: 2, ..Shape::default() };
        let world = World::new(Arc::new(Base::new(42, shape)), ClockMode::Instant);
        let (mut british, mut african) = (0, 0);
        for index in 0..world.base().count(crate::model::Kind::Payslip) {
            let Some(payslip) = world.at::<Payslip>(index) else { continue };
            let shown = serde_json::to_value(payslip.wire()).expect("a payslip serialises");
            let withheld = payslip.calculation.withheld_so_far();
            let page = Page { shown: &shown, currency: payslip.currency, withheld };
            let year = page.year_to_date();
            assert!(year.rows.iter().any(|row| row.label == "Taxable pay"), "{shown}");
            let print = print_of(payslip.calculation.country());
            let facts = facts(&payslip, None, print);
            if payslip.calculation.country() == "GB" {
                let code = payslip.calculation.attribute("tax_code").expect("a code");
                assert!(facts.contains(&("Tax code".to_owned(), code)));
                british += 1;
            } else {
                let employer = page.employer();
                assert!(employer.rows.iter().any(|row| row.label == "UIF (employer)"));
                african += 1;
            }
        }
        assert!(british > 100 && african > 100, "{british} {african}");
    }

    #[test]
    fn earnings_less_deductions_on_the_page_are_the_net_pay() {
        let world = World::new(Arc::new(Base::new(42, Shape::default())), ClockMode::Instant);
        let mut seen = 0;
        for index in 0..world.base().count(crate::model::Kind::Payslip) {
            let Some(payslip) = world.at::<Payslip>(index) else { continue };
            let shown = serde_json::to_value(payslip.wire()).expect("a payslip serialises");
            let withheld = Vec::new();
            let page = Page { shown: &shown, currency: payslip.currency, withheld };
            let sum = |members: &[&str]| -> i64 {
                let lines = page.lines(members);
                assert!(lines.iter().all(|(_, amount)| *amount != 0), "{shown}");
                lines.iter().map(|(_, amount)| amount).sum()
            };
            let paid = sum(&["earnings", "reimbursements"]);
            assert_eq!(paid - sum(DEDUCTIONS), page.number("net"), "{}", payslip.id);
            seen += 1;
        }
        assert!(seen > 500, "{seen}");
    }
}
