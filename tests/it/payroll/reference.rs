//! A second evaluator of schema 1, written from its description over the plain TOML with a library's
//! fractions. It shares no code with the engine; it is slow and
//! simple. `agreement` compares the two.

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
    Reference { pack, question, known: BTreeMap::new() }.amounts()
}

struct Reference<'a> {
    pack: &'a Table,
    question: &'a Question,
    known: BTreeMap<String, Known>,
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

impl Reference<'_> {
    fn amounts(mut self) -> Vec<i64> {
        let mut amounts = Vec::new();
        for line in self.pack["line"].as_array().unwrap() {
            let line = line.as_table().unwrap();
            let known = self.line(line);
            amounts.extend(known.money.map(|money| i64::try_from(money).unwrap()));
            self.known.insert(line["id"].as_str().unwrap().to_owned(), known);
        }
        amounts
    }

    fn per_year(&self, frame: &str) -> Fraction {
        let periods = whole(i64::from(self.question.period.per_year()));
        match frame {
            "pay" => periods,
            "month" => whole(12),
            "year" => whole(1),
            "ytd" => periods / whole(i64::from(self.question.number)),
            other => panic!("{other}"),
        }
    }

    fn before(&self, name: &str) -> Fraction {
        whole(self.question.totals.get(name).copied().unwrap_or(0))
    }

    fn base(&self, name: &str) -> Option<Fraction> {
        let parts = self.pack["bases"].get(name)?.as_array().unwrap();
        let counts = |component: &str| {
            parts.iter().any(|part| part.as_str() == Some("*") || part.as_str() == Some(component))
        };
        let amounts = self.question.components.iter().filter(|(component, _)| counts(component));
        Some(whole(amounts.map(|(_, amount)| amount).sum()))
    }

    fn is_kept(&self, name: &str) -> bool {
        self.base(name).is_some() || self.known.get(name).is_some_and(|known| known.money.is_some())
    }

    fn value(&self, name: &str, frame: &str) -> Fraction {
        if let Some(now) = self.base(name) {
            return if frame == "ytd" {
                self.before(name) + now
            } else {
                self.moved(now, "pay", frame)
            };
        }
        if let Some(input) = self.pack.get("inputs").and_then(|inputs| inputs.get(name)) {
            let default = input["default"].as_integer().unwrap();
            let given = whole(self.question.inputs.get(name).copied().unwrap_or(default));
            return self.moved(given, input["per"].as_str().unwrap(), frame);
        }
        let known = &self.known[name];
        match (frame, known.money, known.to_date) {
            ("ytd", Some(money), _) => self.before(name) + Fraction::from_integer(money),
            ("ytd", None, Some(to_date)) => to_date,
            _ => self.moved(known.value, &known.frame, frame),
        }
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
        let Some(when) = line.get("when") else {
            return true;
        };
        if let Some(attribute) = when.get("attr") {
            return self.attribute(attribute.as_str().unwrap()) == text(&when["is"]);
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
            value = to_date - self.slice(line, self.value_before(of));
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
                frame: frame.to_owned(),
                money: None,
                to_date,
            };
        }
        let mut amount = match frame {
            "ytd" if applies => value - self.before(id),
            "ytd" => whole(0),
            frame => self.moved(value, frame, "pay"),
        };
        if let Some(cap) = self.number(line, "max_year").filter(|_| applies) {
            amount = amount.min((cap - self.before(id)).max(whole(0)));
        }
        let money = round(amount, rounding);
        assert!(money.is_integer(), "{id}");
        Known {
            value: money,
            frame: "pay".to_owned(),
            money: Some(money.to_integer()),
            to_date: None,
        }
    }

    fn value_before(&self, name: &str) -> Fraction {
        if self.is_kept(name) {
            return self.before(name);
        }
        self.value(name, "pay") * whole(i64::from(self.question.number) - 1)
    }

    fn slice(&self, line: &Table, base: Fraction) -> Fraction {
        let over = self.number(line, "over").unwrap_or_else(|| whole(0));
        let top = self.number(line, "upto").map_or(base, |upto| base.min(upto));
        self.clamped(line, self.rate(line) * (top - over).max(whole(0)), base)
    }

    fn computed(&self, line: &Table, frame: &str) -> Fraction {
        let of = || self.value(line["of"].as_str().unwrap(), frame);
        let annual = |number: Fraction| {
            if frame == "ytd" { self.moved(number, "year", "ytd") } else { number }
        };
        let value = match line["kind"].as_str().unwrap() {
            "slice" => return self.slice(line, of()),
            "const" => self.number(line, "amount").unwrap(),
            "sum" => self.args(line, frame).into_iter().sum::<Fraction>() * self.rate(line),
            "least" => self.args(line, frame).into_iter().min().unwrap(),
            "greatest" => self.args(line, frame).into_iter().max().unwrap(),
            "taper" => {
                let excess = (of() - annual(self.number(line, "over").unwrap())).max(whole(0));
                annual(self.number(line, "amount").unwrap()) - self.rate(line) * excess
            }
            "bands" => self.bands(line, frame, of()),
            other => panic!("{other}"),
        };
        self.clamped(line, value, value)
    }

    fn bands(&self, line: &Table, frame: &str, base: Fraction) -> Fraction {
        let rows = self.looked_up(line, "bands").unwrap().as_array().unwrap();
        let scaled = |row: &Value, column: usize| {
            let number = whole(row[column].as_integer().unwrap());
            if frame == "ytd" { self.moved(number, "year", "ytd") } else { number }
        };
        let edge = line.get("edge").map_or("none", |edge| edge.as_str().unwrap());
        let selecting =
            line.get("select").map_or(base, |name| self.value(name.as_str().unwrap(), frame));
        let is_in = |row: &&Value| selecting > round(scaled(row, 0), edge);
        let count = rows.iter().take_while(is_in).count();
        if count == 0 {
            return whole(0);
        }
        let top = &rows[count - 1];
        if top.as_array().unwrap().len() == 3 {
            return rate(&top[1]) * base - scaled(top, 2);
        }
        let below = rows[..count]
            .windows(2)
            .map(|pair| rate(&pair[0][1]) * (scaled(&pair[1], 0) - scaled(&pair[0], 0)));
        below.sum::<Fraction>() + rate(&top[1]) * (base - scaled(top, 0))
    }
}
