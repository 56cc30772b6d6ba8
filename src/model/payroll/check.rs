//! From TOML to a [`Pack`]: resolves every name and checks every table, or refuses it with position and reason.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::error::PackError;
use super::filing::Filing;
use super::line::{self, Scope, attribute_text};
use super::pack::{
    Attribute, Attributes, Base, Input, MAX_ATTRIBUTES, MAX_COMPONENTS, Pack, Role, RoleLine,
};
use super::period::PayPeriod;
use super::plan::Plan;
use super::rule::{Formula, Frame, Name, RuleLine, When};
use super::schema::{RawAttribute, RawLine, RawPack};

/// Maximum number of cases in a pack; plans are cached by case.
const MAX_CASES: usize = 1 << 20;

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
    let components = components(&raw)?;
    let mut scope = Scope {
        bases: bases(&raw, &components),
        inputs: inputs(&raw),
        attributes: attributes(&raw)?,
        periods: raw.periods,
        lines: Vec::with_capacity(raw.line.len()),
    };
    let mut role_lines = Vec::new();
    for raw_line in raw.line {
        let id = raw_line.id.clone();
        let in_line = |message| Problem::Line(id.clone(), message);
        if scope.name(&raw_line.id).is_ok() {
            return Err(in_line(
                "this name is taken: names of bases, inputs and lines are unique".to_owned(),
            ));
        }
        let role = role_line(&raw_line, &raw.filing);
        let index = role.as_ref().map(|_| role_lines.len());
        let line = line::read(raw_line, index, &scope).map_err(in_line)?;
        scope.lines.push(line);
        role_lines.extend(role);
    }
    check_filings(&raw.filing, &role_lines)?;
    let taxable = taxable(&scope.lines, &role_lines);
    let counts_periods = counts_periods(&scope);
    let plans = plan_slots(&scope, counts_periods)?;
    Ok(Pack {
        code: code.to_owned(),
        country: raw.country,
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
        default_inputs: scope.inputs.iter().map(|input| input.default).collect(),
        inputs: scope.inputs,
        bases: scope.bases,
        components,
        lines: scope.lines,
        role_lines,
        taxable,
        counts_periods,
        plans,
    })
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

/// Every component that a base names, once.
fn components(raw: &RawPack) -> Result<Vec<String>, String> {
    let mut named = BTreeSet::new();
    for (base, parts) in &raw.bases {
        if raw.inputs.contains_key(base) {
            return Err(format!("`{base}` is both a base and an input"));
        }
        if parts.is_empty() || (parts.len() > 1 && parts.iter().any(|part| part == "*")) {
            return Err(format!("base `{base}` must be [\"*\"] or a list of components"));
        }
        named.extend(parts.iter().filter(|part| *part != "*").cloned());
    }
    if named.len() > MAX_COMPONENTS {
        return Err(format!("`[bases]` names more than {MAX_COMPONENTS} components"));
    }
    Ok(named.into_iter().collect())
}

fn bases(raw: &RawPack, components: &[String]) -> Vec<Base> {
    let bit = |part: &String| components.iter().position(|known| known == part).map(|i| 1_u64 << i);
    let mask = |parts: &[String]| {
        if parts[0] == "*" {
            u64::MAX
        } else {
            parts.iter().filter_map(bit).fold(0, |all, one| all | one)
        }
    };
    raw.bases.iter().map(|(name, parts)| Base { name: name.clone(), mask: mask(parts) }).collect()
}

fn inputs(raw: &RawPack) -> Vec<Input> {
    let read = raw.inputs.iter().map(|(name, input)| Input {
        name: name.clone(),
        default: input.default,
        scope: input.scope,
        per: input.per,
    });
    read.collect()
}

fn attributes(raw: &RawPack) -> Result<Vec<Attribute>, String> {
    if raw.attributes.len() > MAX_ATTRIBUTES {
        return Err(format!("`[attributes]` has more than {MAX_ATTRIBUTES}"));
    }
    raw.attributes.iter().map(|(name, attribute)| read_attribute(name, attribute)).collect()
}

fn read_attribute(name: &str, raw: &RawAttribute) -> Result<Attribute, String> {
    let in_attribute = |message: &str| format!("attribute `{name}`: {message}");
    if name == "period" {
        return Err(in_attribute("the pay period is built in"));
    }
    let text = |value: &toml::Value| {
        attribute_text(value)
            .ok_or_else(|| in_attribute("values must be strings, booleans or integers"))
    };
    let values = raw.values.iter().map(text).collect::<Result<Vec<String>, String>>()?;
    if values.len() > usize::from(u8::MAX)
        || values.iter().collect::<BTreeSet<_>>().len() != values.len()
    {
        return Err(in_attribute("values must be unique, and at most 255"));
    }
    let default = text(&raw.default)?;
    match values.iter().position(|value| *value == default) {
        Some(default) => Ok(Attribute { name: name.to_owned(), values, default }),
        None => Err(in_attribute("the default is not one of the values")),
    }
}

fn role_line(raw: &RawLine, filings: &[Filing]) -> Option<RoleLine> {
    let filing = filings.iter().find(|filing| filing.lines.contains(&raw.id));
    Some(RoleLine {
        id: raw.id.clone(),
        label: raw.label.clone().unwrap_or_else(|| readable(&raw.id)),
        role: raw.role?,
        authority: filing.map(|filing| filing.authority.clone()),
    })
}

/// `ei_employer` as a display name: `Ei employer`.
fn readable(id: &str) -> String {
    let spaced = id.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
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

/// The amount that the first employee tax is charged on: the base of the nearest `bands` among the lines it uses, or else of the nearest
/// `slice`. `None` if the pack has neither.
fn taxable(lines: &[RuleLine], role_lines: &[RoleLine]) -> Option<Name> {
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

/// Depth first, in the order the arguments are written. Lines name earlier lines only, so it ends.
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

/// A slice of real totals does not need the number of periods; everything else to date does.
fn counts_periods(scope: &Scope) -> bool {
    let accumulates = |name: Name| match name {
        Name::Base(_) => true,
        Name::Input(_) => false,
        Name::Line(line) => scope.lines[line].role.is_some(),
    };
    let line_counts = |line: &RuleLine| match &line.formula {
        Formula::Slice { of, .. } => !accumulates(*of),
        _ => true,
    };
    let gate_counts = |line: &RuleLine| match &line.when {
        Some(When::Value { of, per: Frame::Ytd, .. }) => !accumulates(*of),
        _ => false,
    };
    scope
        .lines
        .iter()
        .any(|line| (line.per == Frame::Ytd && line_counts(line)) || gate_counts(line))
        || scope.inputs.iter().any(|input| input.per == Frame::Ytd)
}

/// An empty slot for every case: pay periods (each number, if it matters) × attribute values.
fn plan_slots(scope: &Scope, counts_periods: bool) -> Result<Vec<OnceLock<Box<Plan>>>, String> {
    let numbers = |period: &PayPeriod| {
        if counts_periods { period.last_number() as usize } else { 1 }
    };
    let periods: usize = scope.periods.iter().map(numbers).sum();
    let mut values = scope.attributes.iter().map(|attribute| attribute.values.len());
    let cases = values.try_fold(periods, usize::checked_mul);
    match cases {
        Some(cases) if cases <= MAX_CASES => {
            Ok(std::iter::repeat_with(OnceLock::new).take(cases).collect())
        }
        _ => Err(format!("the attributes distinguish more than {MAX_CASES} cases")),
    }
}

impl Attributes {
    /// A number below the product of the attributes' sizes, unique to these values; `None` if one is not a value of its attribute.
    pub(super) fn rank(self, attributes: &[Attribute]) -> Option<usize> {
        let mut digits = self.0.iter().zip(attributes);
        digits.try_fold(0, |rank, (&value, attribute)| {
            let (digit, base) = (usize::from(value), attribute.values.len());
            (digit < base).then_some(rank * base + digit)
        })
    }
}
