//! A second evaluator of schema 1, written from its description over the plain TOML with a library's
//! fractions. It shares no code with the engine; it is slow and
//! simple. `agreement` compares the two.

mod kinds;

use std::collections::BTreeMap;

use num_rational::Ratio;
use sandbox::model::payroll::PayPeriod;
use toml::{Table, Value};

type Fraction = Ratio<i128>;

/// One question to both evaluators.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) period: PayPeriod,
    pub(super) number: u32,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) inputs: BTreeMap<String, i64>,
    pub(super) components: BTreeMap<String, i64>,
    pub(super) totals: BTreeMap<String, i64>,
}

/// A calculated line.
struct Known {
    value: Fraction,
    frame: String,
    /// Whole minor units of this pay, if the line has a role.
    money: Option<i128>,
    /// The part of a `ytd` slice that includes earlier pays.
    to_date: Option<Fraction>,
}

/// Amounts of the lines with a role, in the pack's order.
pub(super) fn amounts(pack: &Table, question: &Question) -> Vec<i64> {
    Reference { pack, question, known: BTreeMap::new(), alone: false }.amounts()
}

struct Reference<'a> {
    pack: &'a Table,
    question: &'a Question,
    known: BTreeMap<String, Known>,
    /// Whether the line is calculated as period 1 with nothing to date.
    alone: bool,
}

fn whole(number: i64) -> Fraction {
    Fraction::from_integer(i128::from(number))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn rate(value: &Value) -> Fraction {
    let written = value.as_str().unwrap();
    if let Some((above, below)) = written.split_once('/') {
        return Fraction::new(above.parse().unwrap(), below.parse().unwrap());
    }
    let decimals = written.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let digits: i128 = written.replace('.', "").parse().unwrap();
    Fraction::new(digits, 10_i128.pow(u32::try_from(decimals).unwrap()))
}

fn round(value: Fraction, rule: &str) -> Fraction {
    let (mode, unit) = rule.split_once(':').unwrap_or((rule, "1"));
    let unit = whole(unit.parse().unwrap());
    let half = Fraction::new(1, 2);
    let scaled = value / unit;
    let rounded = match mode {
        "none" => return value,
        "floor" => scaled.floor(),
        "ceil" => scaled.ceil(),
        "half_up" => (scaled + half).floor(),
        "half_down" => (scaled - half).ceil(),
        "half_even" => {
            let (down, up) = ((scaled - half).ceil(), (scaled + half).floor());
            if down.to_integer() % 2 == 0 { down } else { up }
        }
        "nic" => ((scaled * whole(10)).trunc() / whole(10) - half).ceil(),
        other => panic!("{other}"),
    };
    rounded * unit
}

fn is_all(base: &Value) -> bool {
    base.as_array().is_some_and(|of| of[0].as_str() == Some("*"))
}

impl Reference<'_> {
    fn amounts(mut self) -> Vec<i64> {
        let mut amounts = Vec::new();
        for line in self.pack["line"].as_array().unwrap() {
            let line = line.as_table().unwrap();
            self.alone = line.get("alone").is_some_and(|alone| self.holds(alone));
            let known = self.line(line);
            amounts.extend(known.money.map(|money| i64::try_from(money).unwrap()));
            self.known.insert(line["id"].as_str().unwrap().to_owned(), known);
        }
        amounts
    }

    /// The number of the period, which is 1 for a line that is calculated alone.
    fn number_of_period(&self) -> u32 {
        if self.alone { 1 } else { self.question.number }
    }

    fn per_year(&self, frame: &str) -> Fraction {
        let periods = whole(i64::from(self.question.period.per_year()));
        match frame {
            "pay" => periods,
            "month" => whole(12),
            "year" => whole(1),
            "ytd" => periods / whole(i64::from(self.number_of_period())),
            other => panic!("{other}"),
        }
    }

    /// A total before this pay. A base of all components without one has the total of the plain base.
    fn before(&self, name: &str) -> Fraction {
        let totals = &self.question.totals;
        let table = self.pack["bases"].get(name).and_then(Value::as_table);
        let of_all = table.is_some_and(|table| is_all(&table["of"]));
        let bases = self.pack["bases"].as_table().unwrap();
        let plain = || bases.iter().find(|(_, base)| is_all(base)).map(|(name, _)| name.as_str());
        let followed = || if of_all { plain().and_then(|plain| totals.get(plain)) } else { None };
        whole(totals.get(name).or_else(followed).copied().unwrap_or(0))
    }

    /// The total taken before this pay, for this line.
    fn to_date(&self, name: &str) -> Fraction {
        if self.alone { whole(0) } else { self.before(name) }
    }

    fn is_benefit(&self, component: &str) -> bool {
        let kinds = self.pack.get("earning").and_then(Value::as_array);
        let mut kinds = kinds.into_iter().flatten();
        kinds.any(|kind| {
            kind["id"].as_str() == Some(component)
                && kind.get("cash").and_then(Value::as_bool) == Some(false)
        })
    }

    fn deducted(&self, base: &str) -> impl Iterator<Item = i64> {
        let kinds = self.pack.get("deduction").and_then(Value::as_array);
        let reduces = move |kind: &&Value| {
            let bases = kind.get("reduces").and_then(Value::as_array);
            bases.is_some_and(|bases| bases.iter().any(|name| name.as_str() == Some(base)))
        };
        let inputs = &self.question.inputs;
        let amount = |kind: &Value| {
            let name = format!("deduction.{}", kind["id"].as_str().unwrap());
            inputs.get(&name).copied().unwrap_or(0)
        };
        kinds.into_iter().flatten().filter(reduces).map(amount).collect::<Vec<_>>().into_iter()
    }

    fn base(&self, name: &str) -> Option<Fraction> {
        let base = self.pack["bases"].get(name)?;
        if base.get("when").is_some_and(|when| !self.holds(when)) {
            return Some(whole(0));
        }
        let of = base.get("of").unwrap_or(base).as_array().unwrap();
        let plus = base.get("plus").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let counts = |component: &str| {
            let named = |part: &Value| part.as_str() == Some(component);
            (of[0].as_str() == Some("*") && !self.is_benefit(component))
                || of.iter().chain(plus).any(named)
        };
        let amounts = self.question.components.iter().filter(|(component, _)| counts(component));
        let sum: i64 = amounts.map(|(_, amount)| amount).sum();
        Some(whole(self.deducted(name).fold(sum, |left, taken| (left - taken).max(0))))
    }

    fn is_kept(&self, name: &str) -> bool {
        self.base(name).is_some() || self.known.get(name).is_some_and(|known| known.money.is_some())
    }

    fn value(&self, name: &str, frame: &str) -> Fraction {
        if let Some(now) = self.base(name) {
            return if frame == "ytd" {
                self.to_date(name) + now
            } else {
                self.moved(now, "pay", frame)
            };
        }
        if let Some(input) = self.pack.get("inputs").and_then(|inputs| inputs.get(name)) {
            let default = input["default"].as_integer().unwrap();
            let given = whole(self.question.inputs.get(name).copied().unwrap_or(default));
            return self.moved(given, input["per"].as_str().unwrap(), frame);
        }
        if name.starts_with("deduction.") || self.is_number_of_code(name) {
            let given =
                self.question.inputs.get(name).copied().unwrap_or_else(|| self.of_code(name));
            return self.moved(whole(given), "pay", frame);
        }
        let known = &self.known[name];
        match (frame, known.money, known.to_date) {
            ("ytd", Some(money), _) => self.to_date(name) + Fraction::from_integer(money),
            ("ytd", None, Some(to_date)) => to_date,
            _ => self.moved(known.value, &known.frame, frame),
        }
    }

    fn is_number_of_code(&self, name: &str) -> bool {
        let attributes = self.pack.get("attributes").and_then(Value::as_table);
        let code = name.split_once('.').and_then(|(code, _)| attributes?.get(code));
        code.is_some_and(|code| code.get("forms").is_some())
    }

    /// The number in the default of a code.
    fn of_code(&self, name: &str) -> i64 {
        let Some((code, _)) = name.split_once('.').filter(|_| self.is_number_of_code(name)) else {
            return 0;
        };
        let default = self.pack["attributes"][code]["default"].as_str().unwrap();
        default.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap()
    }

    fn moved(&self, value: Fraction, from: &str, to: &str) -> Fraction {
        value * self.per_year(from) / self.per_year(to)
    }

    fn args(&self, line: &Table, frame: &str) -> Vec<Fraction> {
        let arg = |arg: &Value| match arg {
            Value::Integer(number) => whole(*number),
            name => {
                let name = name.as_str().unwrap();
                name.strip_prefix('-')
                    .map_or_else(|| self.value(name, frame), |name| -self.value(name, frame))
            }
        };
        line["args"].as_array().unwrap().iter().map(arg).collect()
    }

    /// A key that may be a table, looked up by the attributes of `by` in turn.
    fn looked_up<'b>(&self, line: &'b Table, key: &str) -> Option<&'b Value> {
        let mut value = line.get(key)?;
        for name in line.get("by").and_then(Value::as_array).into_iter().flatten() {
            let Some(table) = value.as_table() else { break };
            let name = name.as_str().unwrap();
            value = &table[&self.attribute(name)];
        }
        Some(value)
    }

    fn attribute(&self, name: &str) -> String {
        if name == "period" {
            self.question.period.to_string()
        } else {
            self.question.attributes[name].clone()
        }
    }

    fn number(&self, line: &Table, key: &str) -> Option<Fraction> {
        self.looked_up(line, key).map(|value| whole(value.as_integer().unwrap()))
    }

    fn rate(&self, line: &Table) -> Fraction {
        self.looked_up(line, "rate").map_or_else(|| whole(1), rate)
    }

    fn applies(&self, line: &Table) -> bool {
        line.get("when").is_none_or(|when| self.holds(when))
    }

    fn holds(&self, when: &Value) -> bool {
        let all = |key: &str| when.get(key).and_then(Value::as_array);
        if let Some(parts) = all("any") {
            return parts.iter().any(|part| self.holds(part));
        }
        if let Some(parts) = all("all") {
            return parts.iter().all(|part| self.holds(part));
        }
        if let Some(part) = when.get("not") {
            return !self.holds(part);
        }
        if let Some(attribute) = when.get("attr") {
            let (number, usual) = (self.question.number, self.question.period.per_year());
            let yes = |truth: bool| if truth { "yes" } else { "no" }.to_owned();
            let value = match attribute.as_str().unwrap() {
                "final" => yes(number >= usual),
                "odd_week" => yes(number > usual),
                name => self.attribute(name),
            };
            return value == text(&when["is"]);
        }
        let frame = when.get("per").map_or("pay", |per| per.as_str().unwrap());
        let value = self.value(when["of"].as_str().unwrap(), frame);
        match (when.get("over"), when.get("at_least")) {
            (Some(over), None) => value > whole(over.as_integer().unwrap()),
            (None, Some(least)) => value >= whole(least.as_integer().unwrap()),
            _ => panic!("{when}"),
        }
    }

    fn clamped(&self, line: &Table, value: Fraction, base: Fraction) -> Fraction {
        let is_slice = line["kind"].as_str() == Some("slice");
        let min = self.number(line, "min").filter(|_| !is_slice || base > whole(0));
        let floored = min.map_or(value, |min| value.max(min));
        self.number(line, "max").map_or(floored, |max| floored.min(max))
    }

    fn line(&self, line: &Table) -> Known {
        let role = line.get("role");
        let id = line["id"].as_str().unwrap();
        let mut frame = line.get("per").map_or("pay", |per| per.as_str().unwrap());
        let rounding = line
            .get("round")
            .map_or(if role.is_some() { "half_up" } else { "none" }, |r| r.as_str().unwrap());
        let applies = self.applies(line);
        let is_window = frame == "ytd" && line["kind"].as_str() == Some("slice");
        let (mut value, mut to_date) = (whole(0), whole(0));
        if applies && is_window {
            let of = line["of"].as_str().unwrap();
            to_date = self.slice(line, self.value(of, "ytd"));
            let earlier = if self.alone { whole(0) } else { self.value_before(of) };
            value = to_date - self.slice(line, earlier);
        } else if applies {
            value = self.computed(line, frame);
        }
        if is_window {
            frame = "pay";
        }
        if role.is_none() {
            let to_date = is_window.then(|| round(to_date, rounding));
            return Known {
                value: round(value, rounding),
                frame: self.counts_as(line, frame).to_owned(),
                money: None,
                to_date,
            };
        }
        let mut amount = match frame {
            "ytd" if applies => value - self.to_date(id),
            "ytd" => whole(0),
            frame => self.moved(value, frame, "pay"),
        };
        if let Some(cap) = self.number(line, "max_year").filter(|_| applies) {
            amount = amount.min((cap - self.before(id)).max(whole(0)));
        }
        let mut money = round(amount, rounding);
        if let Some(cap) = line.get("cap").filter(|_| applies) {
            let part = cap.get("rate").map_or_else(|| whole(1), rate);
            let most = self.value(cap["of"].as_str().unwrap(), "pay") * part;
            money = money.min(round(most, cap["round"].as_str().unwrap()));
        }
        assert!(money.is_integer(), "{id}");
        Known {
            value: money,
            frame: "pay".to_owned(),
            money: Some(money.to_integer()),
            to_date: None,
        }
    }

    fn counts_as<'b>(&self, line: &'b Table, frame: &'b str) -> &'b str {
        match line.get("as").and_then(Value::as_str) {
            Some(other) => other,
            None if line["kind"].as_str() == Some("left") || (frame == "ytd" && self.alone) => {
                "pay"
            }
            None => frame,
        }
    }

    fn value_before(&self, name: &str) -> Fraction {
        if self.is_kept(name) {
            return self.before(name);
        }
        self.value(name, "pay") * whole(i64::from(self.question.number) - 1)
    }
}
