//! Reads the text of an overlay, or reports all of its mistakes.

use core::ops::Range;

use http::HeaderName;
use toml::de::{DeTable, DeValue};

use crate::api::crud::PER_PAGE_CEILING;
use crate::engine::contract::dialect::{ErrorFormat, Header, Name};
use crate::engine::contract::values::{Alias, KEYS, Reader, Section, expected, kind};
use crate::engine::contract::{Overlay, Paging, mask, rows};
use crate::engine::keys::{is_well_formed, looks_live};
use crate::value::Diagnostic;
use crate::value::diagnostic::{Look, nearest, report};

/// Sections of the file.
const SECTIONS: [&str; 7] =
    ["operations", "errors", "paging", "auth", "idempotency", "webhooks", "headers"];
/// Keys outside of sections.
const ROOT: [&str; 2] = ["serve", "base_path"];

/// Headers with their own meaning, whose names an overlay cannot use.
const TAKEN: [&str; 22] = [
    "accept",
    "allow",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-security-policy",
    "content-type",
    "cookie",
    "date",
    "etag",
    "expect",
    "host",
    "if-match",
    "if-none-match",
    "location",
    "origin",
    "retry-after",
    "sandbox-admin-token",
    "sandbox-scenario",
    "traceparent",
    "transfer-encoding",
];

impl Overlay {
    /// Parses the overlay of a file. An error is the report of all its mistakes, and shows no key.
    pub(crate) fn parse(file: &str, source: &str, look: Look) -> Result<Self, String> {
        read(source).map_err(|found| report(file, &mask::masked(source), &found, look))
    }
}

/// The overlay, or every mistake.
fn read(source: &str) -> Result<Overlay, Vec<Diagnostic>> {
    let (document, errors) = DeTable::parse_recoverable(source);
    let mut reader = Reader::default();
    let mut broken = Vec::new();
    for error in errors {
        let span = error.span().unwrap_or_default();
        broken.push(line_of(source, span.start));
        reader
            .found
            .push(Diagnostic::new(span, "this is not valid TOML").expected(error.message()));
    }
    let mut overlay = Overlay::default();
    reader.root(&mut overlay, document.get_ref());
    // A message about an unreadable line is a guess.
    let syntax = broken.len();
    let mut place = 0;
    reader.found.retain(|one| {
        place += 1;
        place <= syntax || !broken.contains(&line_of(source, one.start()))
    });
    if reader.found.is_empty() { Ok(overlay) } else { Err(reader.found) }
}

fn line_of(source: &str, at: usize) -> usize {
    let before = source.as_bytes().get(..at).unwrap_or(source.as_bytes());
    before.split(|byte| *byte == b'\n').count()
}

impl Reader {
    fn root<'t>(&mut self, overlay: &mut Overlay, table: &'t DeTable<'t>) {
        let root = Section { name: "", table };
        for (key, _) in table.iter().filter(|(key, _)| {
            let name: &str = key.get_ref();
            !ROOT.contains(&name) && !SECTIONS.contains(&name)
        }) {
            let name: &str = key.get_ref();
            let known = SECTIONS.iter().copied().chain(ROOT);
            self.found.push(
                Diagnostic::new(key.span(), format!("an overlay has no key `{name}`"))
                    .expected("unknown key")
                    .one_of(name, known),
            );
        }
        if let Some((word, span)) = self.text(root, "serve") {
            match word {
                "all" => {}
                "published" => overlay.rows.published_only = true,
                _ => self.value(root, "serve", word, span, &["all", "published"]),
            }
        }
        self.base_path(overlay, root);
        self.operations(overlay, table);
        if let Some(section) = self.section("errors", root) {
            self.errors(overlay, section);
        }
        if let Some(section) = self.section("paging", root) {
            self.paging(overlay, section);
        }
        if let Some(section) = self.section("auth", root) {
            self.auth(overlay, section);
        }
        let idempotency = self.section("idempotency", root);
        let required = idempotency.and_then(|section| self.switch(section, "required"));
        overlay.rows.key_required = required.as_ref().is_some_and(|(on, _)| *on);
        if let Some(section) = self.section("headers", root) {
            self.headers(overlay, section);
            self.required_key(overlay, section, required);
        }
        let aliases = core::mem::take(&mut self.aliases);
        self.found.extend(rows::collisions(overlay, &aliases));
        if let Some(section) = self.section("webhooks", root) {
            self.webhooks(overlay, section, &aliases);
        }
    }

    fn base_path(&mut self, overlay: &mut Overlay, root: Section<'_>) {
        let Some((path, span)) = self.text(root, "base_path") else { return };
        match path.parse() {
            Ok(path) => overlay.base_path = path,
            Err(expected) => self
                .found
                .push(Diagnostic::new(span, "this cannot be the base path").expected(expected)),
        }
    }

    fn webhooks(&mut self, overlay: &mut Overlay, section: Section<'_>, aliases: &[Alias]) {
        let Some((path, span)) = self.text(section, "endpoints") else { return };
        match rows::check_endpoints(overlay, aliases, path, &span) {
            None => overlay.rows.webhook_endpoints = Some(path.to_owned()),
            Some(wrong) => self.found.push(wrong),
        }
    }

    /// A table of the root; reports its unknown keys.
    fn section<'t>(&mut self, name: &'static str, root: Section<'t>) -> Option<Section<'t>> {
        let (key, value) = root.get(name)?;
        let Some(table) = value.get_ref().as_table() else {
            let message =
                format!("`{name}` must be a section, and is {} here", kind(value.get_ref()));
            self.found
                .push(Diagnostic::new(key.span(), message).expected(format!("expected [{name}]")));
            return None;
        };
        let section = Section { name, table };
        self.unknown(section, name);
        Some(section)
    }

    pub(super) fn unknown(&mut self, section: Section<'_>, shown: &str) {
        let known = KEYS.iter().filter(|key| key.section == section.name).map(|key| key.name);
        for (key, _) in section.table {
            let name: &str = key.get_ref();
            if section.name == "auth" && nearest(name, known.clone()).is_none() {
                // The text can be an API key in the wrong place.
                self.found.push(
                    Diagnostic::new(key.span(), "`auth` has no such key")
                        .expected("unknown key")
                        .help("use `keys` or `refuse_live`"),
                );
            } else if !known.clone().any(|known| known == name) {
                self.found.push(
                    Diagnostic::new(key.span(), format!("`{shown}` has no key `{name}`"))
                        .expected("unknown key")
                        .one_of(name, known.clone()),
                );
            }
        }
    }

    fn errors(&mut self, overlay: &mut Overlay, section: Section<'_>) {
        if let Some((word, span)) = self.text(section, "format") {
            match word {
                "problem" => overlay.dialect.errors = ErrorFormat::Problem,
                "envelope" => overlay.dialect.errors = ErrorFormat::Envelope,
                _ => self.value(section, "format", word, span, &["problem", "envelope"]),
            }
        }
    }

    fn paging(&mut self, overlay: &mut Overlay, section: Section<'_>) {
        let ours = Paging::default();
        let default = self.rows_a_page(section, "per_page_default");
        let most = self.rows_a_page(section, "per_page_max");
        let paging = Paging {
            default: default.as_ref().map_or(ours.default, |(rows, _)| *rows),
            most: most.as_ref().map_or(ours.most, |(rows, _)| *rows),
        };
        if paging.default > paging.most {
            let message = "the default number of rows of a page exceeds the maximum";
            let found = match (default, most) {
                (Some((rows, span)), Some((most, other))) => Diagnostic::new(span, message)
                    .expected(format!("default {rows}"))
                    .against(other, format!("maximum {most}")),
                (Some((rows, span)), None) => Diagnostic::new(span, message)
                    .expected(format!("{rows} by default, and {} at most", ours.most))
                    .help("set `per_page_max`, too"),
                (_, most) => {
                    let (most, span) = most.expect("one of both is set");
                    Diagnostic::new(span, message)
                        .expected(format!("{most} at most, and {} by default", ours.default))
                        .help("set `per_page_default`, too")
                }
            };
            self.found.push(found);
        }
        overlay.rows.paging = paging;
    }

    fn rows_a_page(
        &mut self,
        section: Section<'_>,
        name: &'static str,
    ) -> Option<(u64, Range<usize>)> {
        let (rows, span) = self.integer(section, name)?;
        match u64::try_from(rows) {
            Ok(rows) if (1..=PER_PAGE_CEILING).contains(&rows) => Some((rows, span)),
            _ => {
                self.found.push(
                    Diagnostic::new(
                        span,
                        format!(
                            "{rows} is not a possible number of rows per \
                        page"
                        ),
                    )
                    .expected(expected(section, name)),
                );
                None
            }
        }
    }

    /// Its messages contain no key.
    fn auth(&mut self, overlay: &mut Overlay, section: Section<'_>) {
        let refuse = self.switch(section, "refuse_live");
        overlay.auth.refuse_live = refuse.as_ref().is_none_or(|(on, _)| *on);
        let keys = self.texts(section, "keys");
        let listed = section
            .get("keys")
            .filter(|(_, value)| value.get_ref().as_array().is_some_and(|keys| keys.is_empty()));
        if let Some((_, value)) = listed {
            self.found.push(
                Diagnostic::new(value.span(), "no key could open a world")
                    .expected("expected at least one key")
                    .help("leave `keys` out to accept any test key"),
            );
        }
        let mut seen: Vec<(&str, Range<usize>)> = Vec::new();
        for (key, span) in keys {
            if !is_well_formed(key) {
                self.found.push(
                    Diagnostic::new(span, "no request can send this key")
                        .expected("expected 1 to 255 visible ASCII characters"),
                );
            } else if overlay.auth.refuse_live && looks_live(key) {
                self.found.push(
                    Diagnostic::new(
                        span,
                        "this key looks like a key of a live system, which is refused",
                    )
                    .expected("expected a test key")
                    .help("set `refuse_live = false` if test keys look like this, too"),
                );
            } else if let Some((_, first)) = seen.iter().find(|(other, _)| *other == key) {
                self.found.push(
                    Diagnostic::new(span, "a key is listed twice")
                        .expected("again here")
                        .against(first.clone(), "first here"),
                );
            } else {
                seen.push((key, span));
                overlay.auth.keys.push(key.to_owned());
            }
        }
    }

    fn headers(&mut self, overlay: &mut Overlay, section: Section<'_>) {
        let mut named: Vec<(Header, String, Range<usize>)> = Vec::new();
        for header in Header::ALL {
            let Some((_, value)) = section.get(header.key) else {
                named.push((header, header.name.to_ascii_lowercase(), 0..0));
                continue;
            };
            match value.get_ref() {
                DeValue::Boolean(false) => overlay.dialect.headers.push((header, None)),
                DeValue::String(written) => {
                    let wire = HeaderName::try_from(&**written).ok();
                    let free = wire.filter(|wire| {
                        !TAKEN.contains(&wire.as_str())
                            && !wire.as_str().starts_with("access-control-")
                    });
                    let Some(wire) = free else {
                        let message = format!("{written:?} cannot be the name of this header");
                        self.found.push(Diagnostic::new(value.span(), message).expected(
                            "expected letters, digits and hyphens, and not a name that HTTP or \
                                    the sandbox uses",
                        ));
                        continue;
                    };
                    named.push((header, wire.as_str().to_owned(), value.span()));
                    if wire != header.own() {
                        let written = written.clone().into_owned();
                        overlay.dialect.headers.push((header, Some(Name { written, wire })));
                    }
                }
                other => self.mismatch(section, header.key, other, value.span()),
            }
        }
        for (place, (header, name, span)) in named.iter().enumerate() {
            let clash = named[..place]
                .iter()
                .find(|(other, taken, _)| taken == name && other.of_requests == header.of_requests);
            if let Some((other, _, first)) = clash {
                let message = format!("{} and {} have the same name", other.key, header.key);
                let (here, there) = if span.is_empty() { (first, span) } else { (span, first) };
                let mut found = Diagnostic::new(here.clone(), message).expected("taken");
                if !there.is_empty() {
                    found = found.against(there.clone(), "already used here");
                }
                self.found.push(found);
            }
        }
    }

    /// A required key needs a header.
    fn required_key(
        &mut self,
        overlay: &Overlay,
        section: Section<'_>,
        required: Option<(bool, Range<usize>)>,
    ) {
        let off = overlay
            .dialect
            .headers
            .iter()
            .any(|(header, name)| header.key == "idempotency_key" && name.is_none());
        let off = off.then(|| section.get("idempotency_key")).flatten();
        if let (Some((true, span)), Some((key, _))) = (required, off) {
            self.found.push(
                Diagnostic::new(span, "an idempotency key is required, but its header is off")
                    .expected("required here")
                    .against(key.span(), "but its header is disabled here"),
            );
        }
    }
}
