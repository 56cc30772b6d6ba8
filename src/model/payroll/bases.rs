//! The bases of a pack: the components that each one sums, and the deductions that reduce it.

use std::collections::BTreeSet;

use super::exact::Ratio;
use super::line::{Scope, attribute_text};
use super::pack::{
    Attribute, Attributes, Base, Component, Input, InputScope, MAX_COMPONENTS, MOST_INPUT, byte,
};
use super::rule::Frame;
use super::schema::{RawBase, RawBaseWhen, RawDeduction, RawMost, RawPack};
use super::types::{DeductionType, MostOfPay};

/// Bases and components, before deductions are known.
pub(super) struct Bases {
    pub(super) sums: Vec<Base>,
    pub(super) components: Vec<String>,
    pub(super) not_cash: u64,
}

impl RawBase {
    fn of(&self) -> &[String] {
        match self {
            Self::Of(of) => of,
            Self::Table(table) => &table.of,
        }
    }

    fn when(&self) -> Option<&RawBaseWhen> {
        match self {
            Self::Of(_) => None,
            Self::Table(table) => table.when.as_ref(),
        }
    }

    fn plus(&self) -> &[String] {
        match self {
            Self::Of(_) => &[],
            Self::Table(table) => &table.plus,
        }
    }
}

impl Base {
    /// Whether a component counts for an employee with these attributes.
    pub(super) fn counts(&self, component: Component, attributes: Attributes) -> bool {
        let holds = |(attribute, value): (usize, u8)| attributes.0[attribute] == value;
        self.mask >> component.0 & 1 == 1 && self.when.is_none_or(holds)
    }
}

pub(super) fn read(raw: &RawPack, attributes: &[Attribute]) -> Result<Bases, String> {
    let components = components(raw)?;
    let bit = |part: &String| components.iter().position(|known| known == part).map(|i| 1_u64 << i);
    let bits = |parts: &[String]| parts.iter().filter_map(bit).fold(0, |all, one| all | one);
    let benefits: Vec<String> =
        raw.earning.iter().filter(|kind| !kind.cash).map(|kind| kind.id.clone()).collect();
    let not_cash = bits(&benefits);
    let is_all = |base: &RawBase| base.of()[0] == "*";
    // The plain list, which no deduction reduces.
    let plain = |base: &RawBase| matches!(base, RawBase::Of(_)) && is_all(base);
    let all_cash = raw.bases.values().position(plain);
    let base = |(index, (name, raw)): (usize, (&String, &RawBase))| {
        let when = raw.when().map(|when| read_when(name, when, attributes)).transpose()?;
        let of = if is_all(raw) { !not_cash } else { bits(raw.of()) };
        let follows = all_cash.filter(|all| is_all(raw) && *all != index);
        let mask = of | bits(raw.plus());
        Ok(Base { name: name.clone(), mask, when, less: Vec::new(), follows })
    };
    let sums = raw.bases.iter().enumerate().map(base).collect::<Result<_, String>>()?;
    Ok(Bases { sums, components, not_cash })
}

fn read_when(
    base: &str,
    when: &RawBaseWhen,
    attributes: &[Attribute],
) -> Result<(usize, u8), String> {
    let RawBaseWhen { attr, is } = when;
    let refusal = || format!("base `{base}`: `{attr}` is not an attribute with the value `{is}`");
    let index = attributes.iter().position(|known| known.name == *attr).ok_or_else(refusal)?;
    let text = attribute_text(is).unwrap_or_default();
    let value = attributes[index].values.iter().position(|known| *known == text);
    Ok((index, byte(value.ok_or_else(refusal)?)))
}

/// Every component that a base or a benefit names, once.
fn components(raw: &RawPack) -> Result<Vec<String>, String> {
    let mut named = BTreeSet::new();
    for (name, base) in &raw.bases {
        if raw.inputs.contains_key(name) {
            return Err(format!("`{name}` is both a base and an input"));
        }
        let of = base.of();
        if of.is_empty() || (of.len() > 1 && of.iter().any(|part| part == "*")) {
            return Err(format!("base `{name}` must be [\"*\"] or a list of components"));
        }
        named.extend(of.iter().chain(base.plus()).filter(|part| *part != "*").cloned());
    }
    named.extend(raw.earning.iter().filter(|kind| !kind.cash).map(|kind| kind.id.clone()));
    if named.len() > MAX_COMPONENTS {
        return Err(format!("`[bases]` names more than {MAX_COMPONENTS} components"));
    }
    Ok(named.into_iter().collect())
}

/// The components of the base of irregular pay.
pub(super) fn irregular(name: Option<&str>, bases: &[Base]) -> Result<u64, String> {
    let Some(name) = name else { return Ok(0) };
    let base = bases.iter().find(|base| base.name == name);
    base.map(|base| base.mask).ok_or_else(|| format!("`irregular`: `{name}` is not a base"))
}

/// Adds an input for each type of deduction: its amount of this pay.
pub(super) fn name_deductions(raw: &[RawDeduction], scope: &mut Scope) -> Result<(), String> {
    for deduction in raw {
        let name = format!("deduction.{}", deduction.id);
        if scope.inputs.iter().any(|input| input.name == name) {
            return Err(format!("`{name}` is listed twice"));
        }
        scope.inputs.push(Input {
            name,
            default: 0,
            scope: InputScope::Employee,
            company: None,
            one_year: false,
            limits: (0, MOST_INPUT),
            per: Frame::Pay,
        });
    }
    Ok(())
}

/// The types of deductions, each with the bases that it reduces.
pub(super) fn deductions(
    raw: Vec<RawDeduction>,
    scope: &mut Scope,
) -> Result<Vec<DeductionType>, String> {
    let names: Vec<String> = raw.iter().map(|one| one.id.clone()).collect();
    let read = |raw: RawDeduction| {
        let name = format!("deduction.{}", raw.id);
        let input = scope.inputs.iter().position(|input| input.name == name);
        let input = input.ok_or_else(|| format!("`{name}` has no input"))?;
        let base = |name: &String| {
            let found = scope.bases.iter().position(|base| base.name == *name);
            found.ok_or_else(|| format!("deduction `{}`: `{name}` is not a base", raw.id))
        };
        let reduces = raw.reduces.iter().map(base).collect::<Result<Vec<usize>, String>>()?;
        for base in &reduces {
            scope.bases[*base].less.push(input);
        }
        let known = |name: &String| {
            let found = names.contains(name);
            found
                .then_some(())
                .ok_or_else(|| format!("deduction `{}`: `{name}` is not a deduction", raw.id))
        };
        let listed = raw.most.iter().flat_map(|most| most.with.iter().chain(&most.less));
        raw.annual_limit_with.iter().chain(listed).try_for_each(known)?;
        if raw.annual_limit.is_some_and(|limit| limit <= 0) {
            return Err(format!("deduction `{}`: `annual_limit` must be above 0", raw.id));
        }
        let most = raw.most.map(|most| most_of_pay(&raw.id, most)).transpose()?;
        Ok(DeductionType {
            annual_limit: raw.annual_limit,
            annual_limit_with: raw.annual_limit_with,
            annual_limit_with_employer: raw.annual_limit_with_employer,
            most,
            contract_pay: raw.contract_pay,
            taken: raw.taken.map(|taken| taken.parse()).transpose()?,
            id: raw.id,
            label: raw.label,
            counts: !reduces.is_empty(),
            input,
            order: raw.order,
            short: raw.short,
        })
    };
    raw.into_iter().map(read).collect()
}

fn most_of_pay(id: &str, raw: RawMost) -> Result<MostOfPay, String> {
    let in_most = |error| format!("deduction `{id}`, `most`: {error}");
    let rate = part(&raw.rate).map_err(in_most)?;
    let above_rate = raw.above_rate.as_deref().map_or(Ok(Ratio::ONE), part).map_err(in_most)?;
    let RawMost { of, above, with, less, .. } = raw;
    Ok(MostOfPay { rate, of, above, above_rate, with, less })
}

/// A rate of at most 1.
pub(super) fn part(text: &str) -> Result<Ratio, String> {
    let rate: Ratio = text.parse()?;
    match rate.minus(Ratio::ONE).and_then(|over| over.over(over.denominator())) {
        Some(..=0) => Ok(rate),
        _ => Err(format!("the part {text} is above 1")),
    }
}
