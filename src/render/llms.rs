//! The operations as text for language models (llmstxt.org): `/llms.txt` names them by resource, a page of each resource describes its own, and
//! `/llms-full.txt` describes all. All are loops over the table.

use std::fmt::Write as _;

use bytes::Bytes;
use schemars::SchemaGenerator;

use crate::api;
use crate::api::operation::{Contract, Domain, Operation};
use crate::engine::Page;
use crate::engine::contract::{BasePath, Overlay};
use crate::render::openapi::tags;
use crate::render::pages::prepared_page;

const POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The introduction.
const HEAD: &str = "# sandbox

> A seeded simulator of a financial-infrastructure API: payroll, payments, accounting, compliance, identity and capital. No real money moves.

- Send `Authorization: Bearer KEY` with any test key. Each key opens a world of its own.
- Amounts are integers in minor units. Instants are RFC 3339 in UTC. Ids have a prefix, such as `com_` or `pyo_`.
- Send an `Idempotency-Key` with every write. A retry of the same purchase sends the same key; only another purchase has another key.
- A refusal is a problem document (RFC 9457) with `code` and `detail`. A refused call changes nothing.
- The clock is virtual: `POST /_sandbox/clock/advance` moves it, and `POST /_sandbox/faults` loses replies.
";

/// Links below the list.
const OPTIONAL: &str = "
## Optional

- [All operations in one text](/llms-full.txt): with inputs, errors and examples.
- [OpenAPI document](/openapi.json): the schemas of the product.
- [OpenAPI document of the test tools](/_sandbox/openapi.json): the schemas of `/_sandbox`.
- [Reference pages](/docs): for a browser.
";

/// The page of that path, if it is one of these.
pub(super) fn page(path: &str, overlay: &Overlay) -> Option<Page> {
    let text = match path {
        "/llms.txt" => list(overlay),
        "/llms-full.txt" => full(overlay),
        _ => of_group(path.strip_prefix("/llms/")?.strip_suffix(".md")?, overlay)?,
    };
    let text = below(&overlay.base_path, text);
    Some(prepared_page(Bytes::from(text), MARKDOWN, POLICY))
}

/// The text for a server with a base path.
fn below(base_path: &BasePath, text: String) -> String {
    let base = base_path.as_str();
    if base.is_empty() {
        return text;
    }
    let said = format!("\n- Every path comes after `{base}`: `{base}/v1/payroll/run`.\n- Send");
    text.replace("](/", &format!("]({base}/")).replacen("\n- Send", &said, 1)
}

/// The operations of one resource, or of one topic of the test tools.
struct Group {
    /// `payouts`; the name of its page.
    name: String,
    /// `Payments`.
    section: String,
    rows: Vec<&'static Operation>,
}

/// The groups of all served operations: the domains of the product, then the test tools.
fn groups(overlay: &Overlay) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for row in api::product().filter(|row| overlay.rows.serves(row)).chain(api::control()) {
        let (section, name) = match row.contract {
            Contract::Control => {
                let topic = tags::of_row(row);
                let topic = topic.as_str().unwrap_or_default().to_lowercase().replace(' ', "-");
                ("Test tools".to_owned(), topic)
            }
            _ => (format!("{:?}", row.domain), resource(row.path).to_owned()),
        };
        match groups.iter_mut().find(|group| group.section == section && group.name == name) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { name, section, rows: vec![row] }),
        }
    }
    let domains = [Domain::Business, Domain::Payments, Domain::Identity, Domain::Capital];
    let place =
        |group: &Group| domains.iter().position(|domain| format!("{domain:?}") == group.section);
    groups.sort_by_key(|group| place(group).unwrap_or(domains.len()));
    groups
}

/// `payouts` of `/api/payments/payouts/{payout_id}`, `payroll` of `/v1/payroll/run`.
fn resource(path: &str) -> &str {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let skipped = if path.starts_with("/api/") { 2 } else { 1 };
    parts.nth(skipped).unwrap_or_default()
}

/// A link for each group, by section.
fn list(overlay: &Overlay) -> String {
    let mut text = HEAD.to_owned();
    let mut section = String::new();
    for group in groups(overlay) {
        if group.section != section {
            let _ = write!(text, "\n## {}\n\n", group.section);
            section.clone_from(&group.section);
        }
        let names: Vec<String> = group.rows.iter().map(|row| row.operation_id()).collect();
        let Group { name, .. } = &group;
        let _ = writeln!(text, "- [{name}](/llms/{name}.md): {}", names.join(", "));
    }
    text + OPTIONAL
}

fn full(overlay: &Overlay) -> String {
    let mut text = HEAD.to_owned();
    for group in groups(overlay) {
        let _ = write!(text, "\n## {}: {}\n\n", group.section, group.name);
        text.extend(group.rows.iter().map(|row| described(row)));
    }
    text
}

fn of_group(name: &str, overlay: &Overlay) -> Option<String> {
    let group = groups(overlay).into_iter().find(|group| group.name == name)?;
    let mut text =
        format!("# {}: {name}\n\nRules for all calls: [llms.txt](/llms.txt).\n\n", group.section);
    text.extend(group.rows.iter().map(|row| described(row)));
    Some(text)
}

fn described(row: &Operation) -> String {
    let mut text = format!(
        "### {}: {} {}\n\n{}. {}\n",
        row.operation_id(),
        row.method.name(),
        row.path,
        row.summary,
        row.description
    );
    let input = input(row);
    if !input.is_empty() {
        let _ = writeln!(text, "Input, `*` is required: {}", input.join(", "));
    }
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

/// The members of path, query and body.
fn input(row: &Operation) -> Vec<String> {
    let schema = (row.input)(&mut SchemaGenerator::default()).to_value();
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let members = schema["properties"].as_object();
    let names = members.into_iter().flat_map(serde_json::Map::keys);
    names.map(|name| format!("`{name}`{}", if is_required(name) { "*" } else { "" })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most bytes of `/llms.txt`.
    const MOST: usize = 12_000;
    /// The most bytes of `/llms-full.txt`.
    const MOST_OF_ALL: usize = 200_000;

    #[test]
    fn every_operation_is_named_once_and_described_on_the_page_of_its_group() {
        let all = Overlay::default();
        let (short, full) = (list(&all), full(&all));
        assert!(short.len() <= MOST && full.len() <= MOST_OF_ALL, "{} {}", short.len(), full.len());
        for group in groups(&all) {
            let page = page(&format!("/llms/{}.md", group.name), &all);
            assert!(page.is_some(), "{}", group.name);
            let own = of_group(&group.name, &all).unwrap_or_default();
            for row in group.rows {
                let names =
                    short.split([' ', ',', '\n']).filter(|word| *word == row.operation_id());
                assert_eq!(names.count(), 1, "{}", row.operation_id());
                let described =
                    format!("### {}: {} {}\n", row.operation_id(), row.method.name(), row.path);
                for text in [&own, &full] {
                    assert_eq!(text.matches(&described).count(), 1, "{described}");
                }
                assert!(own.contains(row.description), "{described}");
            }
        }
        assert!(own_input("createPayout").contains(&"`wallet_id`*".to_owned()));
        assert!(own_input("listPayouts").contains(&"`page`".to_owned()));
    }

    fn own_input(id: &str) -> Vec<String> {
        let row = api::product().find(|row| row.operation_id() == id);
        input(row.expect("an operation"))
    }

    #[test]
    fn operations_that_are_not_served_are_not_listed() {
        let published = list(&Overlay::published());
        assert!(published.contains(" runPayroll") && !published.contains("createPayout"));
        assert!(page("/llms/payouts.md", &Overlay::published()).is_none());
        assert!(page("/llms/none.md", &Overlay::default()).is_none());
    }
}
