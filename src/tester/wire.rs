//! Faults of the wire and limits: which row acts on which exchange, counted and drawn so that it is the same every run.
//!
//! Told the time of the wall clock, which only the window of a rate limit looks at: whatever drives virtual time, a client's pace
//! is measured by its own. Deliberately absent: what a fault does (the engine before and after the commit, the edge to the bytes).

use std::sync::Arc;

use crate::value::Key;
use crate::value::id::encode_to_string;
use crate::world::script::{Fault, FaultRow, Limits, Rate};

/// One key's faults and limits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    /// Rows added at run time, then those of scenarios: the first that matches wins.
    rows: Vec<Armed>,
    limits: Limits,
    /// When the window of the rate limit began, by the wall clock, and how many requests came in it.
    window: Option<(u64, u64)>,
    /// Requests since the limits were set: numbers the draws of their latency.
    requests: u64,
    /// Rows so far: numbers the ids.
    made: u64,
}

/// A row with its counters.
#[derive(Clone, Debug)]
pub(crate) struct Armed {
    pub(crate) id: String,
    pub(crate) row: FaultRow,
    /// How often an exchange came that its `on` names.
    pub(crate) asked: u64,
    /// How often it acted.
    pub(crate) hits: u64,
    /// Added by a call, and not by a scenario.
    pub(crate) at_run_time: bool,
    source: Arc<str>,
}

/// What rows are matched against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange<'a> {
    /// The operation's name, `run_payroll`.
    pub(crate) operation: &'a str,
    /// Its domain, `payments`.
    pub(crate) domain: &'a str,
    /// Part of the product, and not of the control plane.
    pub(crate) product: bool,
}

/// What happens to an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExchangePlan {
    pub(crate) fault: Option<Applied>,
    /// Latency that every call has.
    pub(crate) latency_ms: u64,
    /// Where the caller stands with its rate, if there is a limit.
    pub(crate) allowance: Option<Allowance>,
}

/// A fault that acts, and whence it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// `flaky-503.toml:7`, `rule flt_…`, `Sandbox-Fault`.
    pub(crate) source: Arc<str>,
    pub(crate) fault: Fault,
    /// How many exchanges the row was asked about so far.
    pub(crate) place: u64,
}

/// Where a caller stands in its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) rate: Rate,
    pub(crate) remaining: u64,
    /// Until the window ends.
    pub(crate) reset_ms: u64,
    pub(crate) exceeded: bool,
}

impl Wire {
    /// Takes the rows and limits of the running scenarios in place of those before. Rows added at run time stay, and come first.
    pub(crate) fn set(&mut self, rows: Vec<FaultRow>, limits: Limits, key: Key) {
        self.rows.retain(|armed| armed.at_run_time);
        for row in rows {
            let armed = self.arm(row, false, key);
            self.rows.push(armed);
        }
        self.set_limits(limits);
    }

    /// Sets the limits alone.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.window = None;
        self.requests = 0;
    }

    /// Adds a row at run time, behind those added before and ahead of those of scenarios. Gives its id.
    pub(crate) fn add(&mut self, row: FaultRow, key: Key) -> &Armed {
        let armed = self.arm(row, true, key);
        let place = self.rows.partition_point(|armed| armed.at_run_time);
        self.rows.insert(place, armed);
        &self.rows[place]
    }

    fn arm(&mut self, mut row: FaultRow, at_run_time: bool, key: Key) -> Armed {
        self.made += 1;
        let code = encode_to_string(key.with("fault").at(self.made).hash());
        let id = format!("flt_{code}");
        if row.source.is_empty() {
            row.source = format!("rule {id}");
        }
        Armed { source: row.source.as_str().into(), id, row, asked: 0, hits: 0, at_run_time }
    }

    /// Removes the row of that id; whether there was one.
    pub(crate) fn remove(&mut self, id: &str) -> bool {
        let before = self.rows.len();
        self.rows.retain(|armed| armed.id != id);
        self.rows.len() < before
    }

    /// Removes every row, those of scenarios too; how many there were. Limits stay.
    pub(crate) fn clear(&mut self) -> usize {
        std::mem::take(&mut self.rows).len()
    }

    /// Every row in the order in which they are asked.
    pub(crate) fn rows(&self) -> &[Armed] {
        &self.rows
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether anything could happen to an exchange.
    pub(crate) fn is_armed(&self) -> bool {
        !self.rows.is_empty() || self.limits != Limits::default()
    }

    /// What happens to an exchange that came at that time of the wall clock. Draws are made below `key`. A fault that the request
    /// itself asks for acts instead of the rows, which are not asked then.
    pub(crate) fn judge(
        &mut self,
        exchange: Exchange<'_>,
        asked: Option<Fault>,
        key: Key,
        wall_ms: u64,
    ) -> ExchangePlan {
        let mut verdict = ExchangePlan::default();
        if exchange.product {
            self.requests += 1;
            verdict.latency_ms = self.latency(key);
            verdict.allowance = self.allow(wall_ms);
            if verdict.allowance.is_some_and(|at| at.exceeded) {
                return verdict;
            }
        }
        verdict.fault = match asked {
            Some(fault) => Some(Applied { source: "Sandbox-Fault".into(), fault, place: 0 }),
            None => self.fault(exchange, key),
        };
        verdict
    }

    /// The first row that acts. All rows that name the exchange count it, so that the second call is the second for each.
    fn fault(&mut self, exchange: Exchange<'_>, key: Key) -> Option<Applied> {
        let mut applied = None;
        for armed in &mut self.rows {
            if !names(&armed.row.on, exchange) {
                continue;
            }
            armed.asked += 1;
            if applied.is_none() && armed.acts(key) {
                armed.hits += 1;
                applied = Some(Applied {
                    source: Arc::clone(&armed.source),
                    fault: armed.row.fault.clone(),
                    place: armed.asked,
                });
            }
        }
        applied
    }

    /// Evenly drawn by the request's number.
    fn latency(&self, key: Key) -> u64 {
        let Some(latency) = self.limits.latency else {
            return 0;
        };
        let spread = latency.spread_ms.min(latency.mean_ms);
        let drawn = key.with("latency").at(self.requests).below(2 * spread + 1);
        latency.mean_ms - spread + drawn
    }

    /// Counts a request in its window, which begins with the first request after the last one ended.
    fn allow(&mut self, wall_ms: u64) -> Option<Allowance> {
        let rate = self.limits.rate?;
        let (from, used) = self
            .window
            .filter(|(from, _)| wall_ms.saturating_sub(*from) < rate.window_ms)
            .unwrap_or((wall_ms, 0));
        let used = used.saturating_add(1);
        self.window = Some((from, used));
        Some(Allowance {
            rate,
            remaining: rate.requests.saturating_sub(used),
            reset_ms: (from + rate.window_ms).saturating_sub(wall_ms),
            exceeded: used > rate.requests,
        })
    }
}

impl Armed {
    fn acts(&self, key: Key) -> bool {
        let when = &self.row.when;
        let nth = when.nth.is_empty()
            || when.nth.iter().any(|range| {
                range.first <= self.asked && range.last.is_none_or(|last| self.asked <= last)
            });
        let left = when.times.is_none_or(|times| self.hits < times);
        let drawn = |ppm: u32| {
            let key = key.with("fault").with(&self.source).with(&self.row.on);
            key.at(self.asked).below(1_000_000) < u64::from(ppm)
        };
        nth && left && when.chance_ppm.is_none_or(drawn)
    }
}

/// Whether `on` names the exchange: `*` is the product, `payments.*` a domain, `runPayroll` an operation.
fn names(on: &str, exchange: Exchange<'_>) -> bool {
    match on.strip_suffix(".*") {
        Some(domain) => domain == exchange.domain,
        None if on == "*" => exchange.product,
        None => is_id_of(on, exchange.operation),
    }
}

/// `runPayroll` is the id of `run_payroll`. Compared without making either: it is asked of every row at every exchange.
pub(crate) fn is_id_of(id: &str, name: &str) -> bool {
    let letters = name.bytes().filter(|byte| *byte != b'_');
    id.len() == letters.clone().count()
        && id.bytes().zip(letters).all(|(a, b)| a.eq_ignore_ascii_case(&b))
}

/// `100/min`: an error says what was expected.
pub(crate) fn parse_rate(text: &str) -> Result<Rate, &'static str> {
    const EXPECTED: &str =
        "expected requests in a window of time, such as 10/s, 100/min, 1000/h or 5/10s";
    let (requests, window) = text.split_once('/').ok_or(EXPECTED)?;
    let digits = (1..=9).contains(&requests.len()) && requests.bytes().all(|b| b.is_ascii_digit());
    let requests = requests.parse().map_err(|_| EXPECTED)?;
    let window_ms = match window {
        "s" | "sec" | "second" => 1_000,
        "m" | "min" | "minute" => 60_000,
        "h" | "hour" => 3_600_000,
        "d" | "day" => 86_400_000,
        other => crate::tester::fault::wall_ms(other).map_err(|_| EXPECTED)?,
    };
    let good = digits && requests > 0 && window_ms > 0;
    good.then_some(Rate { requests, window_ms }).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests;
