//! Network faults and limits: selects the row for a request, with reproducible counters and draws.
//!
//! The rate limit uses wall-clock time, independent of virtual time, because a client's rate is measured by its own clock. Deliberately
//! absent: the effect of a fault (the engine before and after the commit, the edge for bytes).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::value::Key;
use crate::value::id::encode_to_string;
use crate::world::script::{Fault, FaultRow, Limits, Rate, Selector};

/// Faults and limits of one key.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Wire {
    /// Rows added at run time, then rows of scenarios. The first match applies.
    rows: Vec<Armed>,
    limits: Limits,
    /// Start of the rate limit's window in wall-clock time, and the number of requests in it. A new process starts a
    /// new window.
    #[serde(skip)]
    window: Option<(u64, u64)>,
    /// Number of requests since the limits were set; it keys the draws of latency.
    requests: u64,
    /// Number of rows so far; it numbers the ids.
    made: u64,
}

/// A row with its counters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Armed {
    pub(crate) id: String,
    pub(crate) row: FaultRow,
    /// Number of requests that its `on` and its conditions matched.
    pub(crate) asked: u64,
    /// Number of times that it was applied.
    pub(crate) hits: u64,
    /// Added by a call, not by a scenario.
    pub(crate) at_run_time: bool,
    /// Added as a rule (`POST /_sandbox/rules`).
    #[serde(default)]
    pub(crate) is_rule: bool,
    /// Whether its counters have changed since they were stored.
    #[serde(skip)]
    changed: bool,
    source: Arc<str>,
}

/// The counters of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "FaultCounters")]
pub(crate) struct SpentRow {
    /// The fault.
    pub(crate) id: String,
    /// Number of calls that it matched.
    pub(crate) asked: u64,
    /// Number of times that it acted.
    pub(crate) hits: u64,
}

/// The properties that rows are matched with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange<'a> {
    /// The operation's name, such as `run_payroll`.
    pub(crate) operation: &'a str,
    /// Its domain, such as `payments`.
    pub(crate) domain: &'a str,
    /// Whether it belongs to the product API, not to the control API.
    pub(crate) product: bool,
}

/// The faults and limits for a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExchangePlan {
    pub(crate) fault: Option<Applied>,
    /// Latency that applies to every call.
    pub(crate) latency_ms: u64,
    /// The remaining rate of the caller, if there is a limit.
    pub(crate) allowance: Option<Allowance>,
}

/// A fault to apply, and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// `flaky-503.toml:7`, `rule flt_…`, `Sandbox-Fault`.
    pub(crate) source: Arc<str>,
    pub(crate) fault: Fault,
    /// Number of requests that the row has matched so far.
    pub(crate) place: u64,
}

/// The caller's remaining requests in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) rate: Rate,
    pub(crate) remaining: u64,
    /// Time until the window ends.
    pub(crate) reset_ms: u64,
    pub(crate) exceeded: bool,
}

impl Wire {
    /// Replaces the rows and limits of scenarios. Rows added at run time stay first.
    pub(crate) fn set(&mut self, rows: Vec<FaultRow>, limits: Limits, key: Key) {
        self.rows.retain(|armed| armed.at_run_time);
        for row in rows {
            let armed = self.arm(row, false, key);
            self.rows.push(armed);
        }
        self.set_limits(limits);
    }

    /// Sets only the limits.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.window = None;
        self.requests = 0;
    }

    /// Adds a row as a rule.
    pub(crate) fn add_rule(&mut self, row: FaultRow, key: Key) -> &Armed {
        let place = self.add_row(row, key);
        self.rows[place].is_rule = true;
        &self.rows[place]
    }

    /// Adds a row at run time, after earlier ones and before those of scenarios.
    pub(crate) fn add(&mut self, row: FaultRow, key: Key) -> &Armed {
        let place = self.add_row(row, key);
        &self.rows[place]
    }

    fn add_row(&mut self, row: FaultRow, key: Key) -> usize {
        let armed = self.arm(row, true, key);
        let place = self.rows.partition_point(|armed| armed.at_run_time);
        self.rows.insert(place, armed);
        place
    }

    fn arm(&mut self, mut row: FaultRow, at_run_time: bool, key: Key) -> Armed {
        self.made += 1;
        let code = encode_to_string(key.with("fault").at(self.made).hash());
        let id = format!("flt_{code}");
        if row.source.is_empty() {
            row.source = format!("rule {id}");
        }
        Armed {
            source: row.source.as_str().into(),
            id,
            row,
            asked: 0,
            hits: 0,
            at_run_time,
            is_rule: false,
            changed: false,
        }
    }

    /// Removes the row with that id. Returns whether it existed.
    pub(crate) fn remove(&mut self, id: &str) -> bool {
        let before = self.rows.len();
        self.rows.retain(|armed| armed.id != id);
        self.rows.len() < before
    }

    /// Removes every row, including those of scenarios. Returns their number. Limits stay.
    pub(crate) fn clear(&mut self) -> usize {
        std::mem::take(&mut self.rows).len()
    }

    /// Every row, in the order of evaluation.
    pub(crate) fn rows(&self) -> &[Armed] {
        &self.rows
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether any row or limit could apply.
    pub(crate) fn is_armed(&self) -> bool {
        !self.rows.is_empty() || self.limits != Limits::default()
    }

    /// Whether a row about this exchange has conditions on its input.
    pub(crate) fn needs_input(&self, exchange: Exchange<'_>) -> bool {
        let mut rows = self.rows.iter().map(|armed| &armed.row);
        rows.any(|row| !row.when.select.is_empty() && names(&row.on, exchange))
    }

    /// The conditions of all rows.
    pub(crate) fn conditions(&self) -> Vec<Selector> {
        self.rows.iter().flat_map(|armed| armed.row.when.select.iter().cloned()).collect()
    }

    /// Selects the faults and limits for a request at that wall-clock time. Draws use `key`. `selects` compares a
    /// condition with the input of the request. A fault in the request's own header applies instead of the rows,
    /// which are then not evaluated.
    pub(crate) fn judge(
        &mut self,
        exchange: Exchange<'_>,
        selects: &dyn Fn(&Selector) -> bool,
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
            None => self.fault(exchange, selects, key),
        };
        verdict
    }

    /// The first row that applies. Every row that matches the request counts it, so `nth` of a row does not depend on
    /// other rows.
    fn fault(
        &mut self,
        exchange: Exchange<'_>,
        selects: &dyn Fn(&Selector) -> bool,
        key: Key,
    ) -> Option<Applied> {
        let mut applied = None;
        for armed in &mut self.rows {
            if !names(&armed.row.on, exchange) || !armed.row.when.select.iter().all(selects) {
                continue;
            }
            armed.asked += 1;
            armed.changed = true;
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

    /// The counters that have changed since the last call.
    pub(crate) fn take_spent(&mut self) -> Vec<SpentRow> {
        let row = |armed: &mut Armed| {
            let Armed { id, asked, hits, changed, .. } = armed;
            let row = SpentRow { id: id.clone(), asked: *asked, hits: *hits };
            std::mem::take(changed).then_some(row)
        };
        self.rows.iter_mut().filter_map(row).collect()
    }

    /// Sets stored counters.
    pub(crate) fn put_spent(&mut self, rows: &[SpentRow]) {
        for row in rows {
            if let Some(armed) = self.rows.iter_mut().find(|armed| armed.id == row.id) {
                (armed.asked, armed.hits) = (row.asked, row.hits);
            }
        }
    }

    /// Drawn uniformly, keyed by the number of the request.
    fn latency(&self, key: Key) -> u64 {
        let Some(latency) = self.limits.latency else { return 0 };
        let spread = latency.spread_ms.min(latency.mean_ms);
        let drawn = key.with("latency").at(self.requests).below(2 * spread + 1);
        latency.mean_ms - spread + drawn
    }

    /// Counts a request in its window. A window starts with the first request after the previous one ended.
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

/// Whether `on` matches the request: `*` is the whole product API, `payments.*` a domain, `runPayroll` an operation.
fn names(on: &str, exchange: Exchange<'_>) -> bool {
    match on.strip_suffix(".*") {
        Some(domain) => domain == exchange.domain,
        None if on == "*" => exchange.product,
        None => is_id_of(on, exchange.operation),
    }
}

/// `runPayroll` is the id of `run_payroll`. Compared without allocation, because it runs for every row and request.
pub(crate) fn is_id_of(id: &str, name: &str) -> bool {
    let letters = name.bytes().filter(|byte| *byte != b'_');
    id.len() == letters.clone().count()
        && id.bytes().zip(letters).all(|(a, b)| a.eq_ignore_ascii_case(&b))
}

/// Parses `100/min`; an error says what was expected.
pub(crate) fn parse_rate(text: &str) -> Result<Rate, &'static str> {
    const EXPECTED: &str =
        "expected requests per time window, such as 10/s, 100/min, 1000/h or 5/10s";
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
