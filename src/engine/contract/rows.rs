//! What an overlay says of operations; aliases are held against the paths that are served already.

use core::ops::Range;

use toml::de::DeTable;

use crate::api;
use crate::api::operation::{Contract, Operation};
use crate::engine::contract::values::{Reader, Section, expected, kind};
use crate::engine::contract::{Overlay, Row};
use crate::value::Diagnostic;
use crate::value::diagnostic::nearest;

/// Paths under which something else is served.
const RESERVED: [&str; 3] = ["/_sandbox", "/docs", "/openapi.json"];
/// A path longer than this is a mistake.
const LONGEST: usize = 200;

/// An alias as it stands in the file.
pub(super) struct Alias {
    pub(super) row: &'static Operation,
    pub(super) path: String,
    pub(super) span: Range<usize>,
}

impl Reader {
    /// `[operations]`, a section an operation.
    pub(super) fn operations<'t>(&mut self, overlay: &mut Overlay, root: &'t DeTable<'t>) {
        let root = Section { name: "", table: root };
        let Some((key, value)) = root.get("operations") else {
            return;
        };
        let Some(table) = value.get_ref().as_table() else {
            let message = format!("`operations` is a section, and {} here", kind(value.get_ref()));
            self.found.push(
                Diagnostic::new(key.span(), message).expected("expected [operations.runPayroll]"),
            );
            return;
        };
        for (key, value) in table {
            let id: &str = key.get_ref();
            let Some(row) = find(id) else {
                self.found.push(unknown(id, key.span()));
                continue;
            };
            let Some(table) = value.get_ref().as_table() else {
                let message = format!("`operations.{id}` is {}", kind(value.get_ref()));
                self.found.push(
                    Diagnostic::new(key.span(), message)
                        .expected(format!("expected [operations.{id}]")),
                );
                continue;
            };
            if overlay.rows.published_only && row.contract != Contract::Published {
                let message = format!("`{id}` is not served: the specification does not show it");
                self.found.push(
                    Diagnostic::new(key.span(), message)
                        .expected("assumed, and left out by serve = \"published\""),
                );
                continue;
            }
            let section = Section { name: "operations.*", table };
            self.unknown(section, &format!("operations.{id}"));
            let changed = self.operation(section, row);
            overlay.rows.changed.insert(row.name, changed);
        }
    }

    fn operation(&mut self, section: Section<'_>, row: &'static Operation) -> Row {
        let mut changed = Row::default();
        if let Some((status, span)) = self.integer(section, "status") {
            match u16::try_from(status) {
                Ok(status) if (200..300).contains(&status) => {
                    changed.status = self.status(row, status, span);
                }
                _ => self.found.push(
                    Diagnostic::new(span, format!("{status} is no status of a success"))
                        .expected(expected(section, "status")),
                ),
            }
        }
        for (path, span) in self.texts(section, "aliases") {
            let alias = Alias { row, path: path.to_owned(), span };
            if let Some(wrong) = check(&alias) {
                self.found.push(wrong);
            } else {
                changed.aliases.push(alias.path.clone());
                self.aliases.push(alias);
            }
        }
        if let Some((false, span)) = self.switch(section, "enabled") {
            let id = row.operation_id();
            changed.disabled = true;
            let others = ["status", "aliases"].map(|name| section.get(name));
            if row.contract == Contract::Published {
                let message = format!("`{id}` cannot be switched off");
                self.found.push(
                    Diagnostic::new(span, message)
                        .expected("the specification shows this operation, §4"),
                );
            } else if let Some((other, _)) = others.into_iter().flatten().next() {
                let message = format!("`{id}` is switched off and described at the same time");
                self.found.push(
                    Diagnostic::new(span, message)
                        .expected("off here")
                        .against(other.span(), "and this of an operation that nobody can call"),
                );
            }
        }
        changed
    }

    /// The status that a row may answer with.
    fn status(&mut self, row: &Operation, status: u16, span: Range<usize>) -> Option<u16> {
        if row.name == "list_employees" && status != row.success {
            self.found.push(
                Diagnostic::new(span, "the status of `listEmployees` is published")
                    .expected("the specification, §4.2, shows 200 OK"),
            );
            return None;
        }
        if matches!(status, 204..=206) {
            let message = format!("`{}` answers with a whole body", row.operation_id());
            let label = if status == 206 { "206 is a part of one" } else { "this status has none" };
            self.found.push(Diagnostic::new(span, message).expected(label));
            return None;
        }
        Some(status)
    }
}

/// The product's row with that `operationId`.
fn find(id: &str) -> Option<&'static Operation> {
    api::product().find(|row| row.operation_id() == id)
}

/// What is wrong with an `operationId` that no row of the product has.
fn unknown(id: &str, span: Range<usize>) -> Diagnostic {
    let found = Diagnostic::new(span, format!("there is no operation `{id}`"))
        .expected("expected an operationId of the product");
    if api::control().any(|row| row.operation_id() == id) {
        return found
            .help("operations of the control plane are the sandbox's own and stay as they are");
    }
    let ids: Vec<String> = api::product().map(Operation::operation_id).collect();
    match nearest(id, ids.iter().map(String::as_str)) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None => found.help("`sandbox openapi` lists every operationId"),
    }
}

/// What is wrong with an alias by itself.
fn check(alias: &Alias) -> Option<Diagnostic> {
    let wrong = |message: String, label: &str| {
        Some(Diagnostic::new(alias.span.clone(), message).expected(label))
    };
    let path = alias.path.as_str();
    if path.len() > LONGEST {
        return wrong(format!("an alias has {LONGEST} characters at most"), "this is longer");
    }
    if !path.starts_with('/') || path.len() < 2 || path.ends_with('/') || path.contains("//") {
        return wrong("an alias is a path".to_owned(), "expected the like of \"/v2/payroll/run\"");
    }
    let reserved = RESERVED.iter().find(|reserved| {
        path.strip_prefix(**reserved).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if let Some(reserved) = reserved {
        return wrong(format!("{reserved} is the sandbox's own"), "expected another path");
    }
    for part in path.split('/').skip(1) {
        let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        let letters = name.unwrap_or(part);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if letters.is_empty() || !letters.bytes().all(plain) {
            return wrong(
                format!("`{part}` is no part of a path"),
                "expected letters, digits, `-`, `.`, `_`, `~`, or a whole `{parameter}`",
            );
        }
    }
    let (mut own, mut theirs) = (parameters(path), parameters(alias.row.path));
    own.sort_unstable();
    theirs.sort_unstable();
    if own != theirs {
        let expected = match theirs.as_slice() {
            [] => "expected a path without parameters".to_owned(),
            names => format!("expected exactly {{{}}}", names.join("}, {")),
        };
        let message =
            format!("the parameters of an alias are those of its operation, {}", alias.row.path);
        return Some(Diagnostic::new(alias.span.clone(), message).expected(expected));
    }
    None
}

/// What is wrong with the aliases of an overlay together.
pub(super) fn collisions(overlay: &Overlay, aliases: &[Alias]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let served = || api::product().filter(|row| overlay.rows.serves(row));
    for (place, alias) in aliases.iter().enumerate() {
        let shape = shape(&alias.path);
        let own =
            served().find(|row| self::shape(row.path) == shape && row.method == alias.row.method);
        if let Some(row) = own {
            let message = format!("{} is a path already", alias.path);
            let taken = format!("{} {} is {}", row.method.name(), row.path, row.operation_id());
            found.push(Diagnostic::new(alias.span.clone(), message).expected(taken));
            continue;
        }
        let earlier = &aliases[..place];
        let same = earlier.iter().find(|other| {
            self::shape(&other.path) == shape && other.row.method == alias.row.method
        });
        if let Some(other) = same {
            let message = format!("{} is the alias of two operations", alias.path);
            found.push(
                Diagnostic::new(alias.span.clone(), message)
                    .expected(format!("here of {}", alias.row.operation_id()))
                    .against(other.span.clone(), format!("here of {}", other.row.operation_id())),
            );
            continue;
        }
        // Of another method, the path may be shared, if both call its parameters the same.
        let paths = served().map(|row| row.path);
        let mut paths = paths.chain(earlier.iter().map(|other| other.path.as_str()));
        if let Some(other) = paths.find(|path| self::shape(path) == shape && *path != alias.path) {
            let message = format!("{} calls its parameters otherwise than {other}", alias.path);
            found.push(
                Diagnostic::new(alias.span.clone(), message)
                    .expected(format!("expected {other:?}")),
            );
        }
    }
    found
}

fn parameters(path: &str) -> Vec<&str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

/// The path with every parameter alike: what a router cannot tell apart is equal.
fn shape(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}
