//! The operations of an overlay. Aliases are compared with the existing paths.

use core::ops::Range;

use toml::de::DeTable;

use crate::api;
use crate::api::operation::{Contract, Operation};
use crate::engine::contract::values::{Alias, Reader, Section, expected, kind};
use crate::engine::contract::{Overlay, Row};
use crate::value::Diagnostic;
use crate::value::diagnostic::nearest;

/// Paths that the sandbox uses itself.
const RESERVED: [&str; 3] = ["/_sandbox", "/docs", "/openapi.json"];
/// The longest allowed path.
const LONGEST: usize = 200;

impl Reader {
    /// `[operations]`, with one section for each operation.
    pub(super) fn operations<'t>(&mut self, overlay: &mut Overlay, root: &'t DeTable<'t>) {
        let root = Section { name: "", table: root };
        let Some((key, value)) = root.get("operations") else { return };
        let Some(table) = value.get_ref().as_table() else {
            let message =
                format!("`operations` must be a section, and is {} here", kind(value.get_ref()));
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
                        .expected("assumed, and excluded by serve = \"published\""),
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
                    Diagnostic::new(span, format!("{status} is not a success status"))
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
                let message = format!("`{id}` cannot be disabled");
                self.found.push(
                    Diagnostic::new(span, message)
                        .expected("the specification publishes this operation, §4"),
                );
            } else if let Some((other, _)) = others.into_iter().flatten().next() {
                let message = format!("`{id}` is disabled and configured at the same time");
                self.found.push(
                    Diagnostic::new(span, message)
                        .expected("off here")
                        .against(other.span(), "and this changes an operation that is off"),
                );
            }
        }
        changed
    }

    /// The statuses that a row may use.
    fn status(&mut self, row: &Operation, status: u16, span: Range<usize>) -> Option<u16> {
        if row.name == "list_employees" && status != row.success {
            self.found.push(
                Diagnostic::new(span, "the status of `listEmployees` is published")
                    .expected("the specification, §4.2, shows 200 OK"),
            );
            return None;
        }
        if matches!(status, 204..=206) {
            let message = format!("`{}` returns a complete body", row.operation_id());
            let label = if status == 206 {
                "206 means a partial body"
            } else {
                "this status has no \
                body"
            };
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

/// The mistake of an `operationId` that is not in the product.
fn unknown(id: &str, span: Range<usize>) -> Diagnostic {
    let found = Diagnostic::new(span, format!("there is no operation `{id}`"))
        .expected("expected an operationId of the product");
    if api::control().any(|row| row.operation_id() == id) {
        return found.help("operations of the control plane cannot be changed");
    }
    let ids: Vec<String> = api::product().map(Operation::operation_id).collect();
    match nearest(id, ids.iter().map(String::as_str)) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None => found.help("`sandbox openapi` lists every operationId"),
    }
}

/// The mistake of an alias by itself.
fn check(alias: &Alias) -> Option<Diagnostic> {
    let path = alias.path.as_str();
    if let Some(wrong) = check_path("an alias", path, &alias.span) {
        return Some(wrong);
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
            format!("an alias must have the parameters of its operation, {}", alias.row.path);
        return Some(Diagnostic::new(alias.span.clone(), message).expected(expected));
    }
    None
}

/// The mistake of a path by itself.
fn check_path(what: &str, path: &str, span: &Range<usize>) -> Option<Diagnostic> {
    let wrong =
        |message: String, label: &str| Some(Diagnostic::new(span.clone(), message).expected(label));
    if path.len() > LONGEST {
        return wrong(format!("{what} must have at most {LONGEST} characters"), "this is longer");
    }
    if !path.starts_with('/') || path.len() < 2 || path.ends_with('/') || path.contains("//") {
        return wrong(
            format!("{what} must be a path"),
            "expected a path such as \"/v2/payroll/run\"",
        );
    }
    let reserved = RESERVED.iter().find(|reserved| {
        path.strip_prefix(**reserved).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if let Some(reserved) = reserved {
        return wrong(format!("{reserved} is reserved for the sandbox"), "expected another path");
    }
    for part in path.split('/').skip(1) {
        let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        let letters = name.unwrap_or(part);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if letters.is_empty() || !letters.bytes().all(plain) {
            return wrong(
                format!("`{part}` is not a valid part of a path"),
                "expected letters, digits, `-`, `.`, `_`, `~`, or a whole `{parameter}`",
            );
        }
    }
    None
}

/// The mistake of the path of webhook endpoints. Operations with paths below it could not be distinguished from an endpoint.
pub(super) fn check_endpoints(
    overlay: &Overlay,
    aliases: &[Alias],
    path: &str,
    span: &Range<usize>,
) -> Option<Diagnostic> {
    if let Some(wrong) = check_path("the path of webhook endpoints", path, span) {
        return Some(wrong);
    }
    let wrong = |message: String| Diagnostic::new(span.clone(), message);
    if path.contains('{') {
        let message = "the path of webhook endpoints has a parameter".to_owned();
        return Some(wrong(message).expected("expected a path without parameters"));
    }
    let served = api::product().filter(|row| overlay.rows.serves(row)).map(|row| row.path);
    let mut taken = served.chain(aliases.iter().map(|alias| alias.path.as_str()));
    let is_within = |other: &&str| {
        other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let other = taken.find(is_within)?;
    let message = format!("{path} is already the path of other operations");
    Some(wrong(message).expected(format!("{other} is one of them")))
}

/// The mistakes of an overlay's aliases together.
pub(super) fn collisions(overlay: &Overlay, aliases: &[Alias]) -> Vec<Diagnostic> {
    let places = aliases.iter().enumerate();
    places.filter_map(|(place, alias)| collision(overlay, alias, &aliases[..place])).collect()
}

/// Whether an alias could be added to an overlay.
pub(crate) fn takes_alias(overlay: &Overlay, row: &'static Operation, path: &str) -> bool {
    let alias = |row, path: &str| Alias { row, path: path.to_owned(), span: 0..0 };
    let known = api::product()
        .flat_map(|row| overlay.rows.aliases(row).iter().map(move |path| alias(row, path)));
    let added = [alias(row, path)];
    let endpoints = overlay.rows.webhook_endpoints.as_ref();
    overlay.rows.serves(row)
        && check(&added[0]).is_none()
        && collision(overlay, &added[0], &known.collect::<Vec<_>>()).is_none()
        && endpoints.is_none_or(|path| check_endpoints(overlay, &added, path, &(0..0)).is_none())
}

/// The conflict of an alias with a served path or an earlier alias, if any.
fn collision(overlay: &Overlay, alias: &Alias, earlier: &[Alias]) -> Option<Diagnostic> {
    let served = || api::product().filter(|row| overlay.rows.serves(row));
    let wrong = |message: String| Diagnostic::new(alias.span.clone(), message);
    let is_same = |path: &str| is_same_shape(path, &alias.path);
    if let Some(row) = served().find(|row| is_same(row.path) && row.method == alias.row.method) {
        let taken = format!("{} {} is {}", row.method.name(), row.path, row.operation_id());
        return Some(wrong(format!("{} is already a path", alias.path)).expected(taken));
    }
    let mut same = earlier.iter().filter(|other| is_same(&other.path));
    if let Some(other) = same.find(|other| other.row.method == alias.row.method) {
        let message = format!("{} is the alias of two operations", alias.path);
        let here = |row: &Operation| format!("here for {}", row.operation_id());
        return Some(
            wrong(message).expected(here(alias.row)).against(other.span.clone(), here(other.row)),
        );
    }
    // Another method may share the path if both use the same parameter names.
    let paths = served().map(|row| row.path);
    let mut paths = paths.chain(earlier.iter().map(|other| other.path.as_str()));
    let other = paths.find(|path| is_same(path) && *path != alias.path)?;
    let message = format!("{} has other parameter names than {other}", alias.path);
    Some(wrong(message).expected(format!("expected {other:?}")))
}

fn parameters(path: &str) -> Vec<&str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

/// Whether a router cannot distinguish two paths: they differ only in the names of parameters.
fn is_same_shape(one: &str, other: &str) -> bool {
    let is_same =
        |(one, other): (&str, &str)| one == other || one.starts_with('{') && other.starts_with('{');
    one.split('/').count() == other.split('/').count()
        && one.split('/').zip(other.split('/')).all(is_same)
}
