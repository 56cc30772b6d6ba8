//! From one `[[line]]` of TOML to a [`RuleLine`]: checks the keys of its kind, its names and its tables.

use super::exact::{Ratio, Rounding};
use super::pack::{Attribute, Base, Input};
use super::period::PayPeriod;
use super::rule::{Arg, Axis, Band, Formula, Lookup, Name, RuleLine, When};
use super::schema::{Kind, RawArg, RawLine, RawWhen};

/// What a line may refer to: everything before it.
pub(super) struct Scope {
    pub(super) bases: Vec<Base>,
    pub(super) inputs: Vec<Input>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) periods: Vec<PayPeriod>,
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
        when: raw.when.map(|when| read_when(when, scope)).transpose()?,
        round: raw.round.map_or(Ok(default_rounding), |text| text.parse())?,
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
    use Kind::{Bands, Const, Greatest, Least, Slice, Sum, Taper};
    let keys: [(&str, bool, &[Kind]); 9] = [
        ("of", raw.of.is_some(), &[Bands, Slice, Taper]),
        ("args", raw.args.is_some(), &[Sum, Least, Greatest]),
        ("amount", raw.amount.is_some(), &[Const, Taper]),
        ("bands", raw.bands.is_some(), &[Bands]),
        ("rate", raw.rate.is_some(), &[Sum, Slice, Taper]),
        ("over", raw.over.is_some(), &[Slice, Taper]),
        ("upto", raw.upto.is_some(), &[Slice]),
        ("select", raw.select.is_some(), &[Bands]),
        ("edge", raw.edge.is_some(), &[Bands]),
    ];
    match keys.iter().find(|(_, given, kinds)| *given && !kinds.contains(&raw.kind)) {
        Some((key, ..)) => Err(format!("`{key}` is not a key of this kind of line")),
        None if raw.max_year.is_some() && raw.role.is_none() => {
            Err("`max_year` caps a line by its own year to date, so the line must have a role"
                .to_owned())
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
            over: over()?.unwrap_or(Lookup::One(0)),
            upto: tables.optional("upto", raw.upto.as_ref(), money)?,
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

fn read_when(raw: RawWhen, scope: &Scope) -> Result<When, String> {
    match raw {
        RawWhen {
            attr: Some(attr),
            is: Some(is),
            of: None,
            per: None,
            over: None,
            at_least: None,
        } => when_attribute(&attr, &is, scope),
        RawWhen { attr: None, is: None, of: Some(of), per, over, at_least } => {
            let (limit, or_equal) = match (over, at_least) {
                (Some(over), None) => (over, false),
                (None, Some(at_least)) => (at_least, true),
                _ => return Err("`when` must have exactly one of `over` and `at_least`".to_owned()),
            };
            Ok(When::Value { of: scope.name(&of)?, per: per.unwrap_or_default(), limit, or_equal })
        }
        _ => Err("`when` must be { attr, is } or { of, per, over | at_least }".to_owned()),
    }
}

fn when_attribute(attr: &str, is: &toml::Value, scope: &Scope) -> Result<When, String> {
    let text = attribute_text(is).unwrap_or_default();
    if attr == "period" {
        return text.parse::<PayPeriod>().map(When::PayPeriod);
    }
    let found = scope.attributes.iter().position(|attribute| attribute.name == attr);
    let attribute = found.ok_or_else(|| format!("`when`: there is no attribute `{attr}`"))?;
    let value = scope.attributes[attribute].values.iter().position(|value| *value == text);
    let value = value.ok_or_else(|| format!("`when`: `{is}` is not a value of `{attr}`"))?;
    Ok(When::Attribute { attribute, value: u8::try_from(value).expect("at most 255 values") })
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

fn band(row: &toml::Value) -> Result<Band, String> {
    match row.as_array().map(Vec::as_slice) {
        Some([from, rate]) => Ok(Band { from: money(from)?, rate: ratio(rate)?, less: None }),
        Some([from, rate, less]) => {
            Ok(Band { from: money(from)?, rate: ratio(rate)?, less: Some(money(less)?) })
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
            Self::Sum { args, .. } | Self::Least { args } | Self::Greatest { args } => {
                (args, None, None)
            }
            Self::Bands { of, select, .. } => (&[], Some(*of), *select),
            Self::Slice { of, .. } | Self::Taper { of, .. } => (&[], Some(*of), None),
        };
        let named = args.iter().filter_map(|arg| match arg {
            Arg::Number(_) => None,
            Arg::Value { name, .. } => Some(*name),
        });
        named.chain(of).chain(select)
    }
}
