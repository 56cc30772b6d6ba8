//! One calculated payslip, as a table and as JSON.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::money;
use super::outcome::Error;
use super::region::Region;
use crate::model::payroll::{
    DeductionType, Match, Pack, Pay, PayPeriod, Role, RoleLine, YearToDate,
};

/// The data of a payslip.
pub(super) struct Slip<'a> {
    pub(super) pack: &'a Pack,
    pub(super) fit: Match,
    pub(super) period: PayPeriod,
    pub(super) number: u32,
    /// Minor units by component.
    pub(super) earnings: &'a [(String, i64)],
    pub(super) pay: &'a Pay,
    /// Totals before this pay.
    pub(super) before: &'a YearToDate,
    /// Deductions that the inputs name.
    pub(super) deductions: Vec<(&'a DeductionType, i64)>,
    /// Pay after taxes, contributions and deductions.
    pub(super) net: i64,
    /// The part by the pack of the region.
    pub(super) region: Option<&'a Region>,
}

/// A row of the table: a heading, an amount or a total.
enum Row {
    Heading(&'static str),
    Amount(String, i64),
    Total(&'static str, i64),
}

const SECTIONS: [(&str, &[Role]); 4] = [
    ("Tax", &[Role::EmployeeTax]),
    ("Contributions", &[Role::EmployeeSocial]),
    ("Deductions", &[Role::EmployeeDeduction]),
    ("Employer's cost on top", &[Role::EmployerTax, Role::EmployerSocial]),
];

impl Slip<'_> {
    /// Writes an aligned table, with amounts in major units.
    pub(super) fn write_table(&self, output: &mut impl Write) -> Result<(), Error> {
        let pack = self.pack;
        writeln!(output, "{}, {} ({})", pack.name, pack.tax_year, pack.code)?;
        if let Some(Region { pack, .. }) = self.region {
            writeln!(output, "{}, {} ({})", pack.name, pack.tax_year, pack.code)?;
        }
        writeln!(output, "{} pay, period {}, {}", self.period, self.number, pack.currency)?;
        if let Some(remark) = self.remark() {
            writeln!(output, "{remark}")?;
        }
        let rows = self.rows();
        let text = |amount: i64| money::format(amount, pack.minor_digits);
        let amounts = rows.iter().filter_map(|row| match row {
            Row::Heading(_) => None,
            Row::Amount(label, amount) => Some((label.chars().count() + 2, text(*amount).len())),
            Row::Total(label, amount) => Some((label.chars().count(), text(*amount).len())),
        });
        let (labels, figures) = amounts.fold((0, 0), |(a, b), (c, d)| (a.max(c), b.max(d)));
        for row in rows {
            match row {
                Row::Heading(heading) => writeln!(output, "\n{heading}")?,
                Row::Amount(label, amount) => {
                    writeln!(
                        output,
                        "  {label:<width$}  {:>figures$}",
                        text(amount),
                        width = labels - 2
                    )?;
                }
                Row::Total(label, amount) => {
                    writeln!(output, "\n{label:<labels$}  {:>figures$}", text(amount))?;
                }
            }
        }
        Ok(())
    }

    /// Writes the result of `--cases` in minor units, with the defaults used and the totals after this pay.
    pub(super) fn write_json(&self, output: &mut impl Write) -> Result<(), Error> {
        let (pack, pay) = (self.pack, self.pay);
        let mut after = self.before.clone();
        after.add(pay)?;
        let lines: Map<String, Value> =
            self.lines().map(|(line, amount)| (line.id.clone(), Value::from(amount))).collect();
        let of_region = |sum: fn(&Pay) -> i64| self.region.map_or(0, |region| sum(&region.pay));
        let mut body = json!({
            "pack": pack.code,
            "country": pack.country,
            "currency": pack.currency,
            "tax_year": pack.tax_year,
            "period": self.period,
            "k": self.number,
            "note": self.remark(),
            "gross": pay.gross,
            "taxable": pay.taxable,
            "lines": lines,
            "tax": pay.tax + of_region(|pay| pay.tax),
            "employee": pay.employee + of_region(|pay| pay.employee),
            "employer": pay.employer + of_region(|pay| pay.employer),
            "net": self.net,
            "ytd": after.to_names(pack),
        });
        if !self.deductions.is_empty() {
            let amounts = self.deductions.iter();
            let amounts = amounts.map(|(kind, amount)| (kind.id.clone(), Value::from(*amount)));
            body["deductions"] = Value::Object(amounts.collect());
        }
        if let Some(region) = self.region {
            body["regional_pack"] = json!(region.pack.code);
        }
        serde_json::to_writer_pretty(&mut *output, &body).map_err(io::Error::from)?;
        writeln!(output)?;
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        let pack = self.pack;
        match self.fit {
            Match::InForce => None,
            Match::Nearest => Some(format!(
                "No pack is in force on that day; the nearest one is used, {} to {}.",
                pack.effective_from, pack.effective_to
            )),
            Match::Placeholder => Some(
                "There is no pack for this country: these are flat placeholder rates, not its law."
                    .to_owned(),
            ),
        }
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = vec![Row::Heading("Earnings")];
        rows.extend(self.earnings.iter().map(|(name, amount)| Row::Amount(name.clone(), *amount)));
        rows.push(Row::Total("Gross", self.pay.gross));
        let [tax, contributions, deductions, cost_on_top] = &SECTIONS;
        for section in [tax, contributions, deductions] {
            self.section(section, &mut rows);
        }
        rows.push(Row::Total("Net", self.net));
        self.section(cost_on_top, &mut rows);
        rows
    }

    fn section(&self, (heading, roles): &(&'static str, &[Role]), rows: &mut Vec<Row>) {
        // Orders and loans are lines of every payslip of the pack; most employees have none.
        let shown = |line: &RoleLine, amount| line.role != Role::EmployeeDeduction || amount != 0;
        let mut lines = self
            .lines()
            .filter(|(line, amount)| roles.contains(&line.role) && shown(line, *amount))
            .peekable();
        let is_of_deductions = roles.contains(&Role::EmployeeDeduction);
        let named = if is_of_deductions { &self.deductions[..] } else { &[] };
        if lines.peek().is_some() || !named.is_empty() {
            rows.push(Row::Heading(heading));
        }
        rows.extend(lines.map(|(line, amount)| Row::Amount(line.label.clone(), amount)));
        rows.extend(named.iter().map(|(kind, amount)| Row::Amount(kind.label.clone(), *amount)));
    }

    /// The lines of the pack, then those of the region's pack.
    fn lines(&self) -> impl Iterator<Item = (&RoleLine, i64)> {
        let region = self.region.into_iter();
        let region = region.flat_map(|it| it.pack.lines().iter().zip(&it.pay.amounts));
        let all = self.pack.lines().iter().zip(&self.pay.amounts).chain(region);
        all.map(|(line, amount)| (line, *amount))
    }
}
