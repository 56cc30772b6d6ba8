//! The value of each kind of line, in the second evaluator.

use toml::{Table, Value};

use super::{Fraction, Reference, rate, round, whole};

impl Reference<'_> {
    /// An end of a slice: a number, or an earlier line by name. The window of `ytd` is of the year.
    fn end(&self, line: &Table, key: &str) -> Option<Fraction> {
        let Some(name) = line.get(key).and_then(Value::as_str) else {
            return self.number(line, key);
        };
        let frame = line.get("per").map_or("pay", |per| per.as_str().unwrap());
        Some(self.value(name, if frame == "ytd" { "year" } else { frame }))
    }

    pub(super) fn slice(&self, line: &Table, base: Fraction) -> Fraction {
        let over = self.end(line, "over").unwrap_or_else(|| whole(0));
        let top = self.end(line, "upto").map_or(base, |upto| base.min(upto));
        self.clamped(line, self.rate(line) * (top - over).max(whole(0)), base)
    }

    pub(super) fn computed(&self, line: &Table, frame: &str) -> Fraction {
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
            "slab" => self.slab(line, of()),
            "left" => {
                let taken = self.before(line["taken"].as_str().unwrap());
                (self.args(line, frame).into_iter().sum::<Fraction>() - taken) * self.rate(line)
            }
            "share" => {
                let named = |key: &str| self.value(line[key].as_str().unwrap(), frame);
                let (part, all) = (named("part"), named("whole"));
                let rule = line.get("round").map_or("half_up", |rule| rule.as_str().unwrap());
                if all > whole(0) { round(of() * part / all, rule) } else { whole(0) }
            }
            other => panic!("{other}"),
        };
        self.clamped(line, value, value)
    }

    fn slab(&self, line: &Table, base: Fraction) -> Fraction {
        let rows = self.looked_up(line, "bands").unwrap().as_array().unwrap();
        let is_in = |row: &&&Value| base > whole(row[0].as_integer().unwrap());
        let Some(row) = rows.iter().take_while(|row| is_in(&row)).last() else {
            return whole(0);
        };
        let from = whole(row[0].as_integer().unwrap());
        match row.get(2) {
            None => rate(&row[1]) * base,
            Some(excess) => rate(&row[1]) * from + rate(excess) * (base - from),
        }
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
