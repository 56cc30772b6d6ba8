//! The operations as text for language models: `/llms.txt` lists them, `/llms-full.txt` describes them (llmstxt.org). Both are loops over
//! the table.

use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::Value;

use crate::api;
use crate::api::operation::{Contract, Operation};
use crate::engine::Page;
use crate::engine::contract::{BasePath, Overlay};
use crate::render::openapi::tags;
use crate::render::pages::prepared_page;

const POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";

/// What every reader must know first.
const HEAD: &str = "# sandbox

> A seeded simulator of a financial-infrastructure API: payroll, payments, accounting, compliance, identity and capital. No real money moves.

- Send `Authorization: Bearer KEY` with any test key. Each key opens a world of its own.
- Amounts are integers in minor units. Instants are RFC 3339 in UTC. Ids have a prefix, such as `com_` or `pyo_`.
- Send an `Idempotency-Key` with every write. A retry of the same purchase sends the same key; only another purchase has another key.
- A refusal is a problem document (RFC 9457) with `code` and `detail`. A refused call changes nothing.
- The clock is virtual: `POST /_sandbox/clock/advance` moves it, and `POST /_sandbox/faults` loses replies.
- The schemas are in [openapi.json](/openapi.json), and those of the test tools in [the control document](/_sandbox/openapi.json).
";

/// The page of that path, if it is one of the two.
pub(super) fn page(path: &str, overlay: &Overlay) -> Option<Page> {
    let text = match path {
        "/llms.txt" => text(overlay, line),
        "/llms-full.txt" => text(overlay, section),
        _ => return None,
    };
    let text = below(&overlay.base_path, text);
    Some(prepared_page(Bytes::from(text), "text/plain; charset=utf-8", POLICY))
}

/// The same for a server with a base path.
fn below(base_path: &BasePath, text: String) -> String {
    let base = base_path.as_str();
    if base.is_empty() {
        return text;
    }
    let said = format!("\n- Every path comes after `{base}`: `{base}/v1/payroll/run`.\n- Send");
    text.replace("](/", &format!("]({base}/")).replacen("\n- Send", &said, 1)
}

/// All served operations by topic, in the order of the table.
fn text(overlay: &Overlay, shown: fn(&Operation) -> String) -> String {
    let mut text = HEAD.to_owned();
    let rows = api::product().filter(|row| overlay.rows.serves(row)).chain(api::control());
    let mut topic = Value::Null;
    for row in rows {
        let own = tags::of_row(row);
        if own != topic {
            let _ = write!(text, "\n## {}\n\n", own.as_str().unwrap_or_default());
            topic = own;
        }
        text.push_str(&shown(row));
    }
    text
}

fn line(row: &Operation) -> String {
    let document = if row.contract == Contract::Control { "/docs/control" } else { "/docs" };
    format!(
        "- [{}]({document}): {} {}. {}\n",
        row.operation_id(),
        row.method.name(),
        row.path,
        row.summary
    )
}

fn section(row: &Operation) -> String {
    let mut text = format!(
        "### {}: {} {}\n\n{}. {}\n",
        row.operation_id(),
        row.method.name(),
        row.path,
        row.summary,
        row.description
    );
    if !row.example.is_empty() {
        let _ = writeln!(text, "Example of a body: `{}`", row.example);
    }
    if !row.errors.is_empty() {
        let codes: Vec<&str> = row.errors.iter().map(|code| code.code()).collect();
        let _ = writeln!(text, "Errors of its own: {}", codes.join(", "));
    }
    if !row.emits.is_empty() {
        let _ = writeln!(text, "Events: {}", row.emits.join(", "));
    }
    let _ = writeln!(text, "Success: {}\n", row.success);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_listed_once_and_described() {
        let all = Overlay::default();
        let (short, full) = (text(&all, line), text(&all, section));
        for row in api::product().chain(api::control()) {
            let listed = format!("- [{}](", row.operation_id());
            assert_eq!(short.matches(&listed).count(), 1, "{listed}");
            let described =
                format!("### {}: {} {}\n", row.operation_id(), row.method.name(), row.path);
            assert_eq!(full.matches(&described).count(), 1, "{described}");
            assert!(full.contains(row.description), "{described}");
        }
    }

    #[test]
    fn operations_that_are_not_served_are_not_listed() {
        let published = text(&Overlay::published(), line);
        assert!(published.contains("[runPayroll]") && !published.contains("[createPayout]"));
    }
}
