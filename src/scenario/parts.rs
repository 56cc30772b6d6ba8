//! The parts that are not rows: `[world]`, `[limits]`, `[[step]]`, `[expect]`.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::api::json::quoted;
use crate::model::payments::{FeeSchedule, FeeTier};
use crate::scenario::form::{EXPECTED_SEED, FEE_TIER, LATENCY, MOST_INTEGER, Spelling};
use crate::scenario::members::Refers;
use crate::scenario::reading::{At, Fields, Reading};
use crate::scenario::vocabulary::vocabulary;
use crate::scenario::words::FEES;
use crate::value::{Diagnostic, Span, Timestamp};
use crate::world::script::{
    CallStep, Expectation, Latency, Limits, Rate, Reaction, Step, WorldPart,
};
use crate::world::{ClockMode, Shape};

/// In a list of events: matches any number of events.
pub(crate) const ANY: &str = "…";

impl<'a> Reading<'a> {
    /// `[world]`.
    pub(crate) fn world(&mut self, part: &Fields<'a>) -> WorldPart {
        let seed = self.seed(part);
        let companies = self.count(part, "companies");
        let employees = self.count(part, "employees_per_company");
        let countries = self.countries(part);
        let start = self.spelt::<Timestamp>(part, "start");
        let clock = self.name(part, "clock");
        if let Some(start) = &start {
            let shape = Shape { start: start.value, ..Shape::default() };
            self.shaped(&shape, &start.span);
        }
        let fallback = Shape::default();
        let shape = Shape {
            companies: companies.as_ref().map_or(fallback.companies, |it| it.value),
            employees_per_company: employees
                .as_ref()
                .map_or(fallback.employees_per_company, |it| it.value),
            ..fallback
        };
        if let Some(count) = employees.as_ref().or(companies.as_ref()) {
            self.shaped(&shape, &count.span);
        }
        let clock = clock.map(|clock| match clock.value {
            "manual" => ClockMode::Manual,
            "real" => ClockMode::Real,
            _ => ClockMode::Instant,
        });
        WorldPart {
            seed,
            companies: companies.map(|it| it.value),
            employees_per_company: employees.map(|it| it.value),
            countries,
            start: start.map(|it| it.value),
            clock,
        }
    }

    /// A seed: an integer, or digits in a text.
    fn seed(&mut self, part: &Fields<'a>) -> Option<u64> {
        let found = part.get("seed")?;
        let (shown, value) = match found.get_ref() {
            DeValue::Integer(number) => {
                let value = u64::from_str_radix(number.as_str(), number.radix()).ok();
                (number.to_string(), value.filter(|value| *value <= MOST_INTEGER))
            }
            DeValue::String(digits) => {
                let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
                (quoted(digits), digits.parse().ok().filter(|_| is_decimal))
            }
            _ => {
                self.wrong_type("seed", found, "a whole number, or its digits in a text");
                return None;
            }
        };
        if value.is_none() {
            let message = format!("`seed` cannot be {shown}");
            self.note(Diagnostic::new(found.span(), message).expected(EXPECTED_SEED));
        }
        value
    }

    fn countries(&mut self, part: &Fields<'a>) -> Option<Vec<String>> {
        let list = self.list(part, "countries")?;
        let mut countries = Vec::new();
        for item in list {
            let Some(country) = self.text_of("countries", item) else {
                continue;
            };
            let shape = Shape { countries: vec![country.value.to_owned()], ..Shape::default() };
            if self.shaped(&shape, &country.span) {
                countries.push(country.value.to_owned());
            }
        }
        if list.is_empty() {
            let span = part.key_span("countries").unwrap_or_default();
            self.note(Diagnostic::new(span, "a world must have at least one country"));
        }
        Some(countries)
    }

    /// Whether the shape is valid.
    fn shaped(&mut self, shape: &Shape, span: &core::ops::Range<usize>) -> bool {
        match shape.check() {
            Ok(()) => true,
            Err(why) => {
                self.note(
                    Diagnostic::new(span.clone(), "the shape of this world is invalid")
                        .expected(why),
                );
                false
            }
        }
    }

    /// `[limits]`.
    pub(crate) fn limits(&mut self, part: &Fields<'a>) -> Limits {
        let rate = self.text(part, "rate");
        let rate = rate.and_then(|text| {
            let rate = rate_of(text.value);
            if rate.is_none() {
                self.misspelt("rate", &text, Spelling::Rate.expected());
            }
            rate
        });
        let monthly_fee = self.count(part, "monthly_fee");
        Limits {
            rate,
            latency: self.latency(part),
            platform_fee: self.platform_fee(part),
            monthly_fee: monthly_fee.and_then(|fee| i64::try_from(fee.value).ok()),
        }
    }

    fn platform_fee(&mut self, part: &Fields<'a>) -> Option<FeeSchedule> {
        let found = part.get("platform_fee")?;
        if found.get_ref().is_str() {
            let name = self.text_of("platform_fee", found)?;
            if !FEES.contains(&name.value) {
                let message = format!("`platform_fee` cannot be {}", quoted(name.value));
                let known = FEES.map(str::to_owned);
                self.unknown_name(name.span, message, name.value, &known);
                return None;
            }
            return Some(match name.value {
                "off" => FeeSchedule::Off,
                _ => FeeSchedule::Standard,
            });
        }
        let Some(rows) = found.get_ref().as_array() else {
            let expected = "\"off\", \"standard\", or a list of tiers";
            self.wrong_type("platform_fee", found, expected);
            return None;
        };
        let mut tiers = Vec::new();
        for row in rows {
            let row = self.part_of("platform_fee", row, &FEE_TIER)?;
            let (from, points) = (self.count(&row, "from"), self.count(&row, "basis_points"));
            tiers.push(FeeTier {
                from: i64::try_from(from?.value).ok()?,
                basis_points: u32::try_from(points?.value).ok()?,
            });
        }
        match FeeSchedule::of(tiers) {
            Ok(schedule) => Some(schedule),
            Err(why) => {
                let message = "`platform_fee` cannot have these tiers";
                self.note(Diagnostic::new(found.span(), message).expected(why));
                None
            }
        }
    }

    fn latency(&mut self, part: &Fields<'a>) -> Option<Latency> {
        let found = part.get("latency")?;
        if found.get_ref().is_str() {
            let mean_ms = self.wall(part, "latency")?;
            return Some(Latency { mean_ms, spread_ms: 0 });
        }
        if !found.get_ref().is_table() {
            self.wrong_type("latency", found, "a duration, or a table of mean and spread");
            return None;
        }
        let table = self.part_of("latency", found, &LATENCY)?;
        let mean = self.wall(&table, "mean");
        let spread_ms = self.wall(&table, "spread").unwrap_or(0);
        let mean_ms = mean?;
        if spread_ms > mean_ms {
            self.contradiction(&table, "mean", "spread", "the spread must not exceed the mean");
        }
        Some(Latency { mean_ms, spread_ms })
    }

    /// Every `[[step]]`, in order. `saves` has the names that earlier steps have saved.
    pub(crate) fn steps(&mut self, rows: &[Fields<'a>], saves: &mut Vec<String>) -> Vec<Step> {
        rows.iter().filter_map(|row| self.step(row, saves)).collect()
    }

    fn step(&mut self, row: &Fields<'a>, saves: &mut Vec<String>) -> Option<Step> {
        let source = self.place(&row.span);
        let call = self.name(row, "call");
        let advance = self.spelt::<Span>(row, "advance");
        let idle = self.truth(row, "idle");
        let two = "a step does one thing: write two steps";
        self.contradiction(row, "call", "advance", two);
        self.contradiction(row, "call", "idle", two);
        self.contradiction(row, "advance", "idle", two);
        let moves = row.key_span("advance").or_else(|| row.key_span("idle"));
        for key in ["with", "headers", "expect", "save"] {
            if let (Some(_), None, Some(span)) = (&moves, row.key_span("call"), row.key_span(key)) {
                self.note(
                    Diagnostic::new(span, format!("a step that advances the clock has no `{key}`"))
                        .expected("belongs to a step with `call`"),
                );
            }
        }
        if moves.is_none() && row.key_span("call").is_none() {
            self.note(
                Diagnostic::new(row.span.clone(), "this step does nothing")
                    .expected("one of `call`, `advance`, `idle` is missing"),
            );
        }
        if idle.as_ref().is_some_and(|idle| !idle.value) {
            let span = row.key_span("idle").unwrap_or_default();
            self.note(Diagnostic::new(span, "this step does nothing").expected("leave it out"));
        }
        // Always read, so that its mistakes are reported.
        let made = self.call_step(row, call, saves, source.clone());
        match (made, advance, idle) {
            (Some(call), ..) => Some(Step::Call(Box::new(call))),
            (None, Some(by), _) => Some(Step::Advance { by: by.value, source }),
            (None, None, Some(_)) => Some(Step::Idle { source }),
            (None, None, None) => None,
        }
    }

    fn call_step(
        &mut self,
        row: &Fields<'a>,
        call: Option<At<&'a str>>,
        saves: &mut Vec<String>,
        source: String,
    ) -> Option<CallStep> {
        let with = self.members("with", row.get("with"), Refers::ToSaves(saves));
        if let Some(call) = &call
            && let Some(callable) = vocabulary().operations.get(call.value)
        {
            self.check_input(call.value, callable, row.get("with"), call.span.clone(), &with);
        }
        let headers = self.headers(row);
        let expect = self.reaction(row, saves);
        let save = self.text(row, "save");
        if let Some(save) = &save {
            self.may_save(save, saves);
        }
        Some(CallStep {
            call: call?.value.to_owned(),
            with,
            headers,
            expect,
            save: save.map(|save| save.value.to_owned()),
            source,
        })
    }

    fn may_save(&mut self, save: &At<&str>, saves: &mut Vec<String>) {
        let mut letters = save.value.bytes();
        let first = letters.next().is_some_and(|byte| byte.is_ascii_lowercase());
        let spelt = first
            && letters
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if !spelt {
            self.misspelt("save", save, Spelling::Identifier.expected());
        } else if saves.iter().any(|name| name == save.value) {
            let message = format!("two steps save {}", quoted(save.value));
            self.note(
                Diagnostic::new(save.span.clone(), message)
                    .expected("an earlier step has this name"),
            );
        }
        // Counts as known even if it is misspelt, so that references to it are no further mistakes.
        saves.push(save.value.to_owned());
    }

    fn headers(&mut self, row: &Fields<'a>) -> BTreeMap<String, String> {
        let Some(entries) = row.get("headers").and_then(|found| self.entries("headers", found))
        else {
            return BTreeMap::new();
        };
        let mut headers = BTreeMap::new();
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            if http::HeaderName::try_from(name).is_err() {
                self.note(
                    Diagnostic::new(key.span(), format!("{} is not a header", quoted(name)))
                        .expected("expected the name of a header, such as Idempotency-Key"),
                );
            }
            let Some(text) = self.text_of(name, value) else {
                continue;
            };
            if http::HeaderValue::try_from(text.value).is_err() {
                self.misspelt(name, &text, "expected visible characters");
            }
            headers.insert(name.to_owned(), text.value.to_owned());
        }
        headers
    }

    fn reaction(&mut self, row: &Fields<'a>, saves: &[String]) -> Reaction {
        let Some(part) = self.part(row, "expect") else {
            return Reaction::default();
        };
        let status = self.count(&part, "status");
        let body =
            part.get("body").map(|found| self.members("body", Some(found), Refers::ToSaves(saves)));
        let headers = self.headers(&part);
        let lost = self.truth(&part, "lost").is_some_and(|lost| lost.value);
        if lost {
            let why = "a lost exchange has no reply to compare";
            for key in ["status", "body", "headers"] {
                self.contradiction(&part, "lost", key, why);
            }
        }
        Reaction {
            status: status.and_then(|status| status.value.try_into().ok()),
            body,
            headers,
            lost,
        }
    }

    /// `[expect]`.
    pub(crate) fn expectation(&mut self, part: &Fields<'a>) -> Expectation {
        let mut events = Vec::new();
        for item in self.list(part, "events").into_iter().flatten() {
            let Some(name) = self.text_of("events", item) else {
                continue;
            };
            match name.value {
                ANY | "..." => events.push(ANY.to_owned()),
                _ if self.is_event(&name) => events.push(name.value.to_owned()),
                _ => {}
            }
        }
        let counts = part.get("deliveries").and_then(|found| self.entries("deliveries", found));
        let mut deliveries = BTreeMap::new();
        for (key, value) in counts.into_iter().flatten() {
            let name = At { value: key.get_ref().as_ref(), span: key.span() };
            let known = self.is_event(&name);
            let count = self.count_of(name.value, value, 0, u64::MAX);
            if let (true, Some(count)) = (known, count) {
                deliveries.insert(name.value.to_owned(), count.value);
            }
        }
        Expectation { events, deliveries }
    }
}

/// `100/min`.
fn rate_of(text: &str) -> Option<Rate> {
    let (requests, window) = text.split_once('/')?;
    let plain = !requests.is_empty() && requests.bytes().all(|byte| byte.is_ascii_digit());
    let requests = plain.then(|| requests.parse().ok()).flatten();
    let window_ms = match window {
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let requests = requests.filter(|requests| (1..=1_000_000_000).contains(requests))?;
    Some(Rate { requests, window_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        let of = |requests, window_ms| Some(Rate { requests, window_ms });
        assert_eq!(rate_of("100/min"), of(100, 60_000));
        assert_eq!(rate_of("10/s"), of(10, 1_000));
        assert_eq!(rate_of("1000/h"), of(1_000, 3_600_000));
        for text in ["", "100", "0/s", "-1/s", "10/d", "1e3/s", "/s"] {
            assert_eq!(rate_of(text), None, "{text}");
        }
    }
}
