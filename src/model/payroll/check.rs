//! Reads a [`Pack`] from TOML: resolves every name and checks every table. A refusal has a position and a reason.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::cache::Plans;
use super::error::PackError;
use super::filing::{self, Filing, Payslip};
use super::line::{self, Scope};
use super::pack::{Attribute, Input, Pack, Role, RoleLine};
use super::period::PayPeriod;
use super::profile::Code;
use super::rule::{Formula, Frame, Name, RuleLine, When};
use super::schema::{RawLine, RawPack, RawVersion};
use super::types::{AnnualEarnings, DeductionType};
use super::{attributes, bases};

impl Pack {
    /// Parses and checks a pack. The error names the pack, the line and what to do.
    pub fn parse(code: &str, text: &str) -> Result<Self, PackError> {
        let raw: RawPack =
            toml::from_str(text).map_err(|error| refusal(code, error.to_string()))?;
        build(code, raw).map_err(|problem| match problem {
            Problem::Pack(message) => refusal(code, message),
            Problem::Line(line, message) => {
                PackError { pack: code.to_owned(), line: Some(line), message }
            }
        })
    }
}

fn refusal(code: &str, message: String) -> PackError {
    PackError { pack: code.to_owned(), line: None, message }
}

enum Problem {
    Pack(String),
    Line(String, String),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Pack(message)
    }
}

fn build(code: &str, raw: RawPack) -> Result<Pack, Problem> {
    check_header(&raw)?;
    let staff = attributes::read(&raw)?;
    let read = bases::read(&raw, &staff.attributes)?;
    let mut scope = Scope {
        bases: read.sums,
        inputs: staff.inputs,
        attributes: staff.attributes,
        periods: raw.periods,
        roles: Vec::new(),
        lines: Vec::new(),
    };
    bases::name_deductions(&raw.deduction, &mut scope)?;
    let least_net = raw.least_net.as_deref().map(bases::part).transpose()?;
    let mut deduction_types = bases::deductions(raw.deduction, &mut scope)?;
    let role_lines: Vec<RoleLine> =
        raw.line.iter().filter_map(|line| role_line(line, &raw.filing)).collect();
    scope.roles = role_lines.iter().map(|line| line.id.clone()).collect();
    let versions = versions(&raw.version, &raw.line, &mut scope)?;
    let show: Vec<bool> = raw.line.iter().map(|line| line.show).collect();
    let lines = read_lines(raw.line, &mut scope)?;
    check_filings(&raw.filing, &role_lines)?;
    let annual = raw.annual_earnings.as_ref();
    check_years(&raw.each_employer, annual, &scope)?;
    let regions = raw.regions.map(|regions| regions.attribute);
    let named = regions.iter().chain(&raw.keeps).chain(annual.map(|annual| &annual.attribute));
    check_attributes(named, raw.payslip.as_ref(), &scope.attributes, &staff.codes)?;
    count_where_named(&mut deduction_types, &lines);
    let taxable = taxable(raw.taxable.as_deref(), &lines, &role_lines, &scope)?;
    let counts_periods = counts_periods(&lines, &scope.inputs);
    Ok(Pack {
        code: code.to_owned(),
        country: raw.country,
        region: raw.region,
        regions,
        keeps: raw.keeps,
        irregular: bases::irregular(raw.irregular.as_deref(), &scope.bases)?,
        each_employer: raw.each_employer,
        annual_earnings: raw.annual_earnings,
        early_pay_counts_on: raw.early_pay_counts_on,
        name: raw.name,
        currency: raw.currency,
        minor_digits: raw.minor_digits,
        tax_year: raw.tax_year,
        effective_from: raw.effective_from,
        effective_to: raw.effective_to,
        periods: scope.periods,
        filings: raw.filing,
        payslip: raw.payslip,
        minimum_wages: raw.minimum_wage,
        sources: raw.source,
        attributes: scope.attributes,
        earning_types: raw.earning,
        counted_earnings: raw.counted_earnings,
        deduction_types,
        least_net,
        default_inputs: scope.inputs.iter().map(|input| input.default).collect(),
        inputs: scope.inputs,
        bases: scope.bases,
        components: read.components,
        codes: staff.codes,
        presets: staff.presets,
        not_cash: read.not_cash,
        taxable,
        shown: (0..show.len()).filter(|line| show[*line]).collect(),
        lines,
        versions,
        role_lines,
        counts_periods,
        plans: Plans::new(),
    })
}

/// The lines of each version, with the last day on which they apply.
fn versions(
    raw: &[RawVersion],
    lines: &[RawLine],
    scope: &mut Scope,
) -> Result<Vec<(Date, Vec<RuleLine>)>, Problem> {
    let versions = raw.iter().map(|version| {
        let lines = read_lines(version_of(lines, version)?, scope)?;
        Ok((version.until, lines))
    });
    let versions = versions.collect::<Result<Vec<_>, Problem>>()?;
    if versions.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err(Problem::Pack("the `until` days of `[[version]]` must ascend".to_owned()));
    }
    Ok(versions)
}

/// The lines of one version, each checked against what comes before it.
fn read_lines(raw: Vec<RawLine>, scope: &mut Scope) -> Result<Vec<RuleLine>, Problem> {
    scope.lines = Vec::with_capacity(raw.len());
    let mut roles = 0;
    for line in raw {
        let id = line.id.clone();
        let in_line = |message| Problem::Line(id.clone(), message);
        if scope.name(&line.id).is_ok() {
            return Err(in_line(
                "this name is taken: names of bases, inputs and lines are unique".to_owned(),
            ));
        }
        let role = line.role.map(|_| roles);
        roles += usize::from(role.is_some());
        let line = line::read(line, role, scope).map_err(in_line)?;
        scope.lines.push(line);
    }
    Ok(std::mem::take(&mut scope.lines))
}

/// The lines with the figures of an earlier version.
fn version_of(lines: &[RawLine], version: &RawVersion) -> Result<Vec<RawLine>, String> {
    let unknown = version.lines.keys().find(|id| lines.iter().all(|line| line.id != **id));
    if let Some(id) = unknown {
        return Err(format!("`[[version]]` names `{id}`, which is not a line"));
    }
    let mut lines = lines.to_vec();
    for line in &mut lines {
        let Some(figures) = version.lines.get(&line.id) else { continue };
        let pairs = [
            (&mut line.amount, &figures.amount),
            (&mut line.bands, &figures.bands),
            (&mut line.rate, &figures.rate),
            (&mut line.over, &figures.over),
            (&mut line.upto, &figures.upto),
            (&mut line.min, &figures.min),
            (&mut line.max, &figures.max),
            (&mut line.max_year, &figures.max_year),
        ];
        for (present, earlier) in pairs {
            if let Some(earlier) = earlier {
                *present = Some(earlier.clone());
            }
        }
    }
    Ok(lines)
}

fn check_header(raw: &RawPack) -> Result<(), String> {
    let upper =
        |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_uppercase());
    let distinct: BTreeSet<PayPeriod> = raw.periods.iter().copied().collect();
    let checks = [
        (raw.schema == 1, "`schema` must be 1"),
        (upper(&raw.country, 2), "`country` must be two capital letters (ISO 3166-1)"),
        (upper(&raw.currency, 3), "`currency` must be three capital letters (ISO 4217)"),
        (raw.minor_digits <= 4, "`minor_digits` must be 0 to 4"),
        (raw.effective_from <= raw.effective_to, "`effective_to` is before `effective_from`"),
        (!raw.periods.is_empty(), "`periods` is empty"),
        (distinct.len() == raw.periods.len(), "`periods` contains a duplicate"),
        (!raw.bases.is_empty(), "`[bases]` is empty"),
    ];
    match checks.into_iter().find(|(holds, _)| !holds) {
        Some((_, message)) => Err(message.to_owned()),
        None => Ok(()),
    }
}

fn role_line(raw: &RawLine, filings: &[Filing]) -> Option<RoleLine> {
    let filing = filings.iter().find(|filing| filing.lines.contains(&raw.id));
    Some(RoleLine {
        id: raw.id.clone(),
        label: raw.label.clone().unwrap_or_else(|| readable(&raw.id)),
        role: raw.role?,
        order: raw.order,
        authority: filing.map(|filing| filing.authority.clone()),
        form: filing.and_then(|filing| filing::payment_form(filings, &raw.id, &filing.authority)),
    })
}

/// `ei_employer` as a display name: `Ei employer`.
fn readable(id: &str) -> String {
    let spaced = id.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Refuses a name that `[regions]`, `keeps`, `[annual_earnings]` or `[payslip]` uses and no attribute has.
fn check_attributes<'a>(
    named: impl Iterator<Item = &'a String>,
    payslip: Option<&'a Payslip>,
    attributes: &[Attribute],
    codes: &[Code],
) -> Result<(), String> {
    let known = |name: &String| {
        attributes.iter().any(|attribute| attribute.name == *name)
            || codes.iter().any(|code| code.name == *name)
    };
    let printed = payslip.iter().flat_map(|payslip| &payslip.attributes);
    let mut named = named.chain(printed.map(|(name, _)| name));
    match named.find(|name| !known(name)) {
        Some(name) => {
            let of = "`[regions]`, `keeps`, `[annual_earnings]` or `[payslip]`";
            Err(format!("`{name}` of {of} is not an attribute"))
        }
        None => Ok(()),
    }
}

/// Marks the types of deductions that lines name.
fn count_where_named(types: &mut [DeductionType], lines: &[RuleLine]) {
    for kind in types {
        let used =
            |line: &RuleLine| line.formula.names().any(|name| name == Name::Input(kind.input));
        // A type of which only a part is taken gets its tax relief at the provider. It is after tax, even if the base
        // of an order is reduced by it.
        kind.counts |= kind.taken.is_none() && lines.iter().any(used);
    }
}

/// Refuses a name of `each_employer` or `[annual_earnings]` that has no total to date, or that an employee cannot have.
fn check_years(
    each_employer: &[String],
    annual: Option<&AnnualEarnings>,
    scope: &Scope,
) -> Result<(), String> {
    let has_total = |name: &String| {
        scope.bases.iter().any(|base| base.name == *name) || scope.roles.contains(name)
    };
    let named = each_employer.iter().filter(|name| *name != "*");
    let mut named = named.chain(annual.into_iter().flat_map(|annual| &annual.totals));
    if let Some(name) = named.find(|name| !has_total(name)) {
        return Err(format!(
            "`{name}` of `each_employer` or `[annual_earnings]` is not a base or a line with a role"
        ));
    }
    let is_set = |name: &String| {
        scope.attributes.iter().any(|attribute| attribute.name == *name)
            || scope.inputs.iter().any(|input| input.name == *name)
    };
    let mut with = annual.into_iter().flat_map(|annual| &annual.with);
    match with.find(|name| !is_set(name)) {
        Some(name) => {
            Err(format!("`{name}` of `[annual_earnings]` is neither an attribute nor an input"))
        }
        None => Ok(()),
    }
}

fn check_filings(filings: &[Filing], lines: &[RoleLine]) -> Result<(), String> {
    for filing in filings {
        if let Some(name) =
            filing.lines.iter().find(|name| lines.iter().all(|line| line.id != **name))
        {
            return Err(format!("filing `{}`: `{name}` is not a line with a role", filing.form));
        }
    }
    Ok(())
}

/// The base or line with that name, or by default the amount that the first tax is charged on.
fn taxable(
    name: Option<&str>,
    lines: &[RuleLine],
    role_lines: &[RoleLine],
    scope: &Scope,
) -> Result<Option<Name>, String> {
    let Some(name) = name else { return Ok(taxed(lines, role_lines)) };
    match lines.iter().position(|line| line.id == name) {
        Some(line) => Ok(Some(Name::Line(line))),
        None => scope.name(name).map(Some),
    }
}

/// The amount that the first employee tax is charged on: the base of the nearest `bands` among the lines it uses, or else of the nearest
/// `slice`. `None` if the pack has neither.
fn taxed(lines: &[RuleLine], role_lines: &[RoleLine]) -> Option<Name> {
    let is_tax = |role: usize| role_lines[role].role == Role::EmployeeTax;
    let tax = lines.iter().position(|line| line.role.is_some_and(is_tax))?;
    let bands = |formula: &Formula| match formula {
        Formula::Bands { of, .. } => Some(*of),
        _ => None,
    };
    let slice = |formula: &Formula| match formula {
        Formula::Slice { of, .. } => Some(*of),
        _ => None,
    };
    nearest(lines, tax, &bands).or_else(|| nearest(lines, tax, &slice))
}

/// Depth-first search, in the order of the arguments. Lines refer only to earlier lines, so the search terminates.
fn nearest(
    lines: &[RuleLine],
    line: usize,
    wanted: &impl Fn(&Formula) -> Option<Name>,
) -> Option<Name> {
    let formula = &lines[line].formula;
    wanted(formula).or_else(|| {
        let mut parts = formula.names().filter_map(|name| match name {
            Name::Line(part) => Some(part),
            Name::Base(_) | Name::Input(_) => None,
        });
        parts.find_map(|part| nearest(lines, part, wanted))
    })
}

/// Whether lines to date need the number of periods. A slice of actual totals does not.
fn counts_periods(lines: &[RuleLine], inputs: &[Input]) -> bool {
    let accumulates = |name: Name| match name {
        Name::Base(_) => true,
        Name::Input(_) => false,
        Name::Line(line) => lines[line].role.is_some(),
    };
    let is_window = |name: Name| match name {
        Name::Line(line) => {
            lines[line].per == Frame::Ytd && matches!(lines[line].formula, Formula::Slice { .. })
        }
        Name::Base(_) | Name::Input(_) => false,
    };
    let line_counts = |line: &RuleLine| match &line.formula {
        Formula::Slice { of, .. } => !accumulates(*of),
        Formula::Left { .. } => {
            !line.formula.names().all(|name| accumulates(name) || is_window(name))
        }
        _ => true,
    };
    let condition_counts = |when: &When| {
        let to_date = |(of, per): (Name, Frame)| per == Frame::Ytd && !accumulates(of);
        when.counts_periods() || when.values().into_iter().any(to_date)
    };
    lines.iter().any(|line| {
        let mut conditions = line.when.iter().chain(&line.alone);
        (line.per == Frame::Ytd && line_counts(line)) || conditions.any(condition_counts)
    }) || inputs.iter().any(|input| input.per == Frame::Ytd)
}
