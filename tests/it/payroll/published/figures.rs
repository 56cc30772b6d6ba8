//! Published figures, read as exact fractions in units of the currency, and the ways to round them.

use num_rational::Ratio;
use toml::{Table, Value};

/// An exact amount in units of the currency, not in cents.
pub(super) type Exact = Ratio<i128>;

/// The figures of one file, or of a part of it.
#[derive(Clone)]
pub(super) struct Figures(Table);

impl Figures {
    /// Every file names its sources.
    pub(super) fn read(text: &str) -> Self {
        let table: Table = text.parse().unwrap();
        let sources = table["source"].as_array().unwrap();
        assert!(sources.iter().all(|source| source["title"].as_str().is_some()));
        Self(table)
    }

    fn value(&self, path: &str) -> &Value {
        let mut parts = path.split('.');
        let first = &self.0[parts.next().unwrap()];
        parts.fold(first, |value, part| &value[part])
    }

    pub(super) fn part(&self, path: &str) -> Self {
        Self(self.value(path).as_table().unwrap_or_else(|| panic!("{path}")).clone())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    pub(super) fn number(&self, path: &str) -> Exact {
        exact(self.value(path))
    }

    pub(super) fn texts(&self, path: &str) -> Vec<String> {
        let texts = self.value(path).as_array().unwrap().iter();
        texts.map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn numbers(&self, path: &str) -> Vec<Exact> {
        self.value(path).as_array().unwrap().iter().map(exact).collect()
    }

    /// A printed table of any columns.
    pub(super) fn cells(&self, path: &str) -> Vec<Vec<Exact>> {
        let rows = self.value(path).as_array().unwrap().iter();
        rows.map(|row| row.as_array().unwrap().iter().map(exact).collect()).collect()
    }

    /// A printed table of starts, rates and, if they are printed, bases.
    pub(super) fn rows(&self, path: &str) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for cells in self.cells(path) {
            let sum = rows.last().map_or(whole(0), |it| it.base + it.rate * (cells[0] - it.start));
            let base = cells.get(2).copied().unwrap_or(sum);
            rows.push(Row { start: cells[0], rate: cells[1], base });
        }
        rows
    }
}

/// A row of a table: `base` and `rate` of what exceeds `start`. A table without printed bases has the sum of the rows before.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) start: Exact,
    pub(super) rate: Exact,
    pub(super) base: Exact,
}

/// Whether an amount equal to the start of a row is in that row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// "At least …, but less than …".
    AtLeast,
    /// "Over …, but not over …".
    Over,
}

pub(super) fn by_table(rows: &[Row], edge: Edge, amount: Exact) -> Exact {
    let is_in = |row: &&Row| match edge {
        Edge::AtLeast => amount >= row.start,
        Edge::Over => amount > row.start,
    };
    let row = rows.iter().rfind(is_in);
    row.map_or(whole(0), |row| row.base + row.rate * (amount - row.start))
}

fn exact(value: &Value) -> Exact {
    value.as_integer().map_or_else(|| read(value.as_str().unwrap()), |it| whole(i128::from(it)))
}

/// `"1,240.50"`, `"6.2 %"` or `"1/3"`.
pub(super) fn read(text: &str) -> Exact {
    let text = text.replace(',', "");
    if let Some(percentage) = text.strip_suffix(" %") {
        return decimal(percentage) / whole(100);
    }
    text.split_once('/').map_or_else(|| decimal(&text), |(a, b)| decimal(a) / decimal(b))
}

fn decimal(text: &str) -> Exact {
    let (units, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits: i128 = format!("{units}{decimals}").parse().unwrap();
    Exact::new(digits, 10_i128.pow(u32::try_from(decimals.len()).unwrap()))
}

pub(super) fn whole(number: i128) -> Exact {
    Exact::from_integer(number)
}

/// An amount in cents as an amount in units.
pub(super) fn cents(amount: i64) -> Exact {
    Exact::new(i128::from(amount), 100)
}

/// Rounds half a cent up.
pub(super) fn to_cent(amount: Exact) -> Exact {
    (amount * whole(100) + Exact::new(1, 2)).floor() / whole(100)
}

pub(super) fn down_to_cent(amount: Exact) -> Exact {
    (amount * whole(100)).floor() / whole(100)
}

pub(super) fn up_to_cent(amount: Exact) -> Exact {
    (amount * whole(100)).ceil() / whole(100)
}

pub(super) fn not_negative(amount: Exact) -> Exact {
    amount.max(whole(0))
}

/// The part of this pay that is between two limits of the year.
pub(super) fn part_of_year(before: Exact, pay: Exact, over: Exact, upto: Exact) -> Exact {
    (before + pay).clamp(over, upto) - before.clamp(over, upto)
}

/// Amounts in cents at, just below and just above an amount that may be no whole cent.
pub(super) fn around(amount: Exact) -> Vec<i64> {
    let below = i64::try_from((amount * whole(100)).floor().to_integer()).unwrap();
    let above = i64::try_from((amount * whole(100)).ceil().to_integer()).unwrap();
    let mut around = vec![below - 1, below, above, above + 1];
    around.dedup();
    around.retain(|amount| *amount >= 0);
    around
}
