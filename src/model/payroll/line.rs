//! Reads one `[[line]]` of TOML as a [`RuleLine`]: checks the keys of its kind, its names and its tables.

use super::condition;
use super::exact::{Ratio, Rounding};
use super::pack::{Attribute, Base, Input, Role};
use super::period::PayPeriod;
use super::rule::{Arg, Axis, Band, Bound, Cap, Formula, Lookup, Name, RuleLine, Taken, When};
use super::schema::{Kind, RawArg, RawCap, RawLine, RawWhen};

/// The names that a line can refer to: those defined before it.
pub(super) struct Scope {
    pub(super) bases: Vec<Base>,
    pub(super) inputs: Vec<Input>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) periods: Vec<PayPeriod>,
    /// Ids of all lines with a role, including later ones, because `taken` can refer to them.
    pub(super) roles: Vec<String>,
    pub(super) lines: Vec<RuleLine>,
}

impl Scope {
    pub(super) fn name(&self, text: &str) -> Result<Name, String> {
        let base = self.bases.iter().position(|base| base.name == text).map(Name::Base);
        let input = || self.inputs.iter().position(|input| input.name == text).map(Name::Input);
        let line = || self.lines.iter().position(|line| line.id == text).map(Name::Line);
        base.or_else(input)
            .or_else(line)
            .ok_or_else(|| format!("`{text}` is not a base, an input or an earlier line"))
    }
}

/// The text of an attribute's value, such as `true` for a boolean, as used in a table's keys and in CSV.
pub(super) fn attribute_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        toml::Value::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Checks and resolves a line; `role` is its index among the role lines. The caller adds the line to errors.
pub(super) fn read(raw: RawLine, role: Option<usize>, scope: &Scope) -> Result<RuleLine, String> {
    check_id(&raw.id)?;
    check_keys(&raw)?;
    let tables = Tables { scope, axes: axes(&raw.by, scope)? };
    let default_rounding = if role.is_some() { Rounding::HALF_UP } else { Rounding::EXACT };
    Ok(RuleLine {
        role,
        per: raw.per,
        formula: formula(&raw, &tables)?,
        min: tables.optional("min", raw.min.as_ref(), money)?,
        max: tables.optional("max", raw.max.as_ref(), money)?,
        max_year: tables.optional("max_year", raw.max_year.as_ref(), money)?,
        when: raw.when.map(|when| condition::read(when, scope)).transpose()?,
        round: raw.round.map_or(Ok(default_rounding), |text| text.parse())?,
        alone: raw.alone.map(|alone| read_alone(alone, scope)).transpose()?,
        cap: raw.cap.as_ref().map(|cap| read_cap(cap, scope)).transpose()?,
        counts_as: raw.counts_as,
        id: raw.id,
    })
}

fn check_id(id: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if id.is_empty() || !id.bytes().all(plain) {
        return Err(
            "an `id` may contain only lower-case letters, digits and underscores".to_owned()
        );
    }
    Ok(())
}

/// Refuses a key that the kind does not use. Ignoring it would hide a mistake in the pack.
fn check_keys(raw: &RawLine) -> Result<(), String> {
    use Kind::{Bands, Const, Greatest, Least, Left, Share, Slab, Slice, Sum, Taper};
    let keys: [(&str, bool, &[Kind]); 12] = [
        ("of", raw.of.is_some(), &[Bands, Slab, Slice, Taper, Share]),
        ("args", raw.args.is_some(), &[Sum, Least, Greatest, Left]),
        ("amount", raw.amount.is_some(), &[Const, Taper]),
        ("bands", raw.bands.is_some(), &[Bands, Slab]),
        ("rate", raw.rate.is_some(), &[Sum, Slice, Taper, Left]),
        ("over", raw.over.is_some(), &[Slice, Taper]),
        ("upto", raw.upto.is_some(), &[Slice]),
        ("select", raw.select.is_some(), &[Bands]),
        ("edge", raw.edge.is_some(), &[Bands]),
        ("taken", raw.taken.is_some(), &[Left]),
        ("part", raw.part.is_some(), &[Share]),
        ("whole", raw.whole.is_some(), &[Share]),
    ];
    match keys.iter().find(|(_, given, kinds)| *given && !kinds.contains(&raw.kind)) {
        Some((key, ..)) => Err(format!("`{key}` is not a key of this kind of line")),
        None if raw.max_year.is_some() && raw.role.is_none() => {
            Err("`max_year` caps a line by its own year to date, so the line must have a role"
                .to_owned())
        }
        None if raw.cap.is_some() && raw.role.is_none() => {
            Err("`cap` limits what a line takes from a pay, so the line must have a role"
                .to_owned())
        }
        None if raw.counts_as.is_some() && raw.role.is_some() => {
            Err("`as` is for memo lines; a line with a role is money of the pay".to_owned())
        }
        None if raw.order != 0 && raw.role != Some(Role::EmployeeDeduction) => {
            Err("`order` is for lines of the role `employee_deduction`".to_owned())
        }
        None if raw.show && raw.role.is_some() => {
            Err("`show` is for memo lines; a line with a role is always shown".to_owned())
        }
        None => Ok(()),
    }
}

fn axes(by: &[String], scope: &Scope) -> Result<Vec<Axis>, String> {
    let axis = |name: &String| {
        if name == "period" {
            return Ok(Axis::Period);
        }
        let found = scope.attributes.iter().position(|attribute| attribute.name == *name);
        found.map(Axis::Attribute).ok_or_else(|| format!("`by`: there is no attribute `{name}`"))
    };
    by.iter().map(axis).collect()
}

fn formula(raw: &RawLine, tables: &Tables) -> Result<Formula, String> {
    let scope = tables.scope;
    let of = || required("of", raw.of.as_ref()).and_then(|name| scope.name(name));
    let rate = || tables.optional("rate", raw.rate.as_ref(), ratio);
    let rate_or_one = || Ok::<_, String>(rate()?.unwrap_or(Lookup::One(Ratio::ONE)));
    let over = || tables.optional("over", raw.over.as_ref(), money);
    let amount = || required("amount", tables.optional("amount", raw.amount.as_ref(), money)?);
    Ok(match raw.kind {
        Kind::Const => Formula::Const { amount: amount()? },
        Kind::Sum => Formula::Sum { args: args(raw, scope)?, rate: rate_or_one()? },
        Kind::Least => Formula::Least { args: args(raw, scope)? },
        Kind::Greatest => Formula::Greatest { args: args(raw, scope)? },
        Kind::Bands => Formula::Bands {
            of: of()?,
            bands: required("bands", tables.optional("bands", raw.bands.as_ref(), bands)?)?,
            select: raw.select.as_ref().map(|name| scope.name(name)).transpose()?,
            edge: raw.edge.as_ref().map_or(Ok(Rounding::EXACT), |text| text.parse())?,
        },
        Kind::Slice => Formula::Slice {
            of: of()?,
            rate: rate_or_one()?,
            over: tables.bound("over", raw.over.as_ref())?.unwrap_or(Bound::Number(Lookup::One(0))),
            upto: tables.bound("upto", raw.upto.as_ref())?,
        },
        Kind::Slab => Formula::Bands {
            of: of()?,
            bands: required("bands", tables.optional("bands", raw.bands.as_ref(), slabs)?)?,
            select: None,
            edge: Rounding::EXACT,
        },
        Kind::Share => Formula::Share {
            of: of()?,
            part: scope.name(required("part", raw.part.as_ref())?)?,
            whole: scope.name(required("whole", raw.whole.as_ref())?)?,
            round: raw.round.as_ref().map_or(Ok(Rounding::HALF_UP), |text| text.parse())?,
        },
        Kind::Left => Formula::Left {
            args: args(raw, scope)?,
            taken: taken(required("taken", raw.taken.as_ref())?, scope)?,
            rate: rate_or_one()?,
        },
        Kind::Taper => Formula::Taper {
            of: of()?,
            amount: amount()?,
            rate: required("rate", rate()?)?,
            over: required("over", over()?)?,
        },
    })
}

fn required<T>(key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("this kind of line needs `{key}`"))
}

fn args(raw: &RawLine, scope: &Scope) -> Result<Vec<Arg>, String> {
    let args = required("args", raw.args.as_ref())?;
    if args.is_empty() {
        return Err("`args` must not be empty".to_owned());
    }
    let read = |arg: &RawArg| match arg {
        RawArg::Number(number) => Ok(Arg::Number(*number)),
        RawArg::Name(text) => {
            let (name, negative) =
                text.strip_prefix('-').map_or((text.as_str(), false), |name| (name, true));
            Ok(Arg::Value { name: scope.name(name)?, negative })
        }
    };
    args.iter().map(read).collect()
}

fn taken(name: &str, scope: &Scope) -> Result<Taken, String> {
    let base = scope.bases.iter().position(|base| base.name == name).map(Taken::Base);
    let role = || scope.roles.iter().position(|id| id == name).map(Taken::Role);
    base.or_else(role)
        .ok_or_else(|| format!("`taken`: `{name}` is not a base or a line with a role"))
}

fn read_cap(raw: &RawCap, scope: &Scope) -> Result<Cap, String> {
    let rate = raw.rate.as_ref().map_or(Ok(Ratio::ONE), |text| text.parse())?;
    let round = raw.round.as_ref().map_or(Ok(Rounding::HALF_UP), |text| text.parse())?;
    Ok(Cap { of: scope.name(&raw.of)?, rate, round })
}

fn read_alone(raw: RawWhen, scope: &Scope) -> Result<When, String> {
    let when = condition::read(raw, scope)?;
    if when.values().is_empty() {
        Ok(when)
    } else {
        Err("`alone` is decided by attributes, not by a value".to_owned())
    }
}

/// Reads values that may be tables by the axes of one line.
struct Tables<'a> {
    scope: &'a Scope,
    axes: Vec<Axis>,
}

impl Tables<'_> {
    fn optional<T>(
        &self,
        key: &str,
        value: Option<&toml::Value>,
        leaf: fn(&toml::Value) -> Result<T, String>,
    ) -> Result<Option<Lookup<T>>, String> {
        let read = |value| {
            self.lookup(value, &self.axes, leaf).map_err(|problem| format!("`{key}`: {problem}"))
        };
        value.map(read).transpose()
    }

    /// An end of a slice: a number or a table of numbers, or the name of an earlier value.
    fn bound(&self, key: &str, value: Option<&toml::Value>) -> Result<Option<Bound>, String> {
        match value {
            Some(toml::Value::String(name)) => self.scope.name(name).map(Bound::Value).map(Some),
            other => Ok(self.optional(key, other, money)?.map(Bound::Number)),
        }
    }

    /// A scalar ends the look-up. A table must have exactly one entry for every value of the next axis.
    fn lookup<T>(
        &self,
        value: &toml::Value,
        axes: &[Axis],
        leaf: fn(&toml::Value) -> Result<T, String>,
    ) -> Result<Lookup<T>, String> {
        let toml::Value::Table(table) = value else { return leaf(value).map(Lookup::One) };
        let Some((&first, rest)) = axes.split_first() else {
            return Err("this is a table, but `by` names no further attribute for it".to_owned());
        };
        let (name, values) = self.axis(first);
        if let Some(stray) = table.keys().find(|key| !values.contains(key)) {
            return Err(format!("`{stray}` is not a value of `{name}`"));
        }
        let entry = |value: &String| match table.get(value) {
            Some(entry) => self.lookup(entry, rest, leaf),
            None => Err(format!("no entry for {name} = `{value}`")),
        };
        Ok(Lookup::By { axis: first, entries: values.iter().map(entry).collect::<Result<_, _>>()? })
    }

    fn axis(&self, axis: Axis) -> (&str, Vec<String>) {
        match axis {
            Axis::Period => {
                ("period", self.scope.periods.iter().map(ToString::to_string).collect())
            }
            Axis::Attribute(index) => {
                let attribute = &self.scope.attributes[index];
                (&attribute.name, attribute.values.clone())
            }
        }
    }
}

fn money(value: &toml::Value) -> Result<i64, String> {
    value.as_integer().ok_or_else(|| format!("`{value}` must be a whole number of minor units"))
}

fn ratio(value: &toml::Value) -> Result<Ratio, String> {
    let text = value.as_str().ok_or_else(|| format!("`{value}`: a rate must be a string"))?;
    text.parse()
}

fn bands(value: &toml::Value) -> Result<Vec<Band>, String> {
    let rows = value.as_array().ok_or("bands must be a list of [from, \"rate\"]")?;
    let bands = rows.iter().map(band).collect::<Result<Vec<Band>, String>>()?;
    if bands.is_empty() {
        return Err("bands must not be empty".to_owned());
    }
    if bands.windows(2).any(|pair| pair[0].from >= pair[1].from) {
        return Err("bands must ascend: each must start above the one before".to_owned());
    }
    if bands.windows(2).any(|pair| pair[0].less.is_some() != pair[1].less.is_some()) {
        return Err("either all bands have a third number (a K-table) or none".to_owned());
    }
    Ok(bands)
}

/// Rows whose rate applies to the whole amount; a third number is the rate of what exceeds the row's start.
fn slabs(value: &toml::Value) -> Result<Vec<Band>, String> {
    let rows = value.as_array().ok_or("bands must be a list of [over, \"rate\"]")?;
    let bands = rows.iter().map(slab).collect::<Result<Vec<Band>, String>>()?;
    if bands.is_empty() || bands.windows(2).any(|pair| pair[0].from >= pair[1].from) {
        return Err("bands must ascend, and there must be one".to_owned());
    }
    Ok(bands)
}

fn slab(row: &toml::Value) -> Result<Band, String> {
    let overflow = || format!("`{row}` is too large");
    match row.as_array().map(Vec::as_slice) {
        Some([from, rate]) => {
            Ok(Band { from: money(from)?, rate: ratio(rate)?, less: Some(Ratio::ZERO) })
        }
        Some([from, rate, excess]) => {
            let (from, rate, excess) = (money(from)?, ratio(rate)?, ratio(excess)?);
            let step = excess.minus(rate).ok_or_else(overflow)?;
            let less = step.times(Ratio::whole(i128::from(from))).ok_or_else(overflow)?;
            Ok(Band { from, rate: excess, less: Some(less) })
        }
        _ => Err(format!(
            "`{row}` is not a row: expected [over, \"rate\"] or [over, \"rate\", \"rate of the excess\"]"
        )),
    }
}

fn band(row: &toml::Value) -> Result<Band, String> {
    match row.as_array().map(Vec::as_slice) {
        Some([from, rate]) => Ok(Band { from: money(from)?, rate: ratio(rate)?, less: None }),
        Some([from, rate, less]) => {
            let less = Ratio::whole(i128::from(money(less)?));
            Ok(Band { from: money(from)?, rate: ratio(rate)?, less: Some(less) })
        }
        _ => Err(format!(
            "`{row}` is not a band: expected [from, \"rate\"], or [from, \"rate\", c] in a K-table"
        )),
    }
}

impl Formula {
    /// The names that the formula uses, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        let (args, of, select): (&[Arg], _, _) = match self {
            Self::Const { .. } => (&[], None, None),
            Self::Sum { args, .. }
            | Self::Least { args }
            | Self::Greatest { args }
            | Self::Left { args, .. } => (args, None, None),
            Self::Bands { of, select, .. } => (&[], Some(*of), *select),
            Self::Slice { of, .. } | Self::Taper { of, .. } | Self::Share { of, .. } => {
                (&[], Some(*of), None)
            }
        };
        let named = args.iter().filter_map(|arg| match arg {
            Arg::Number(_) => None,
            Arg::Value { name, .. } => Some(*name),
        });
        named.chain(of).chain(select)
    }
}
