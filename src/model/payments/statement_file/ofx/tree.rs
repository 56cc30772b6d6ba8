//! The elements of an OFX file. SGML leaves the end tags of values out: `<TRNAMT>-12.50` ends at the next tag.

use crate::model::payments::statement_file::entries::Wrong;
use crate::model::payments::statement_file::xml::{self, Element};

/// Maximum depth of elements. The format has about ten levels.
const MOST_DEPTH: usize = 40;

/// An element: a value, or other elements.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregate {
    pub(super) name: String,
    /// Position of the start tag.
    pub(super) place: usize,
    pub(super) text: String,
    pub(super) text_at: usize,
    pub(super) children: Vec<Aggregate>,
}

impl Aggregate {
    pub(super) fn maybe(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(super) fn one(&self, name: &str) -> Result<&Self, Wrong> {
        let found = self.maybe(name).ok_or_else(|| self.missing(name))?;
        if found.text.is_empty() {
            let detail = format!("expected a value of <{name}>");
            return Err(Wrong::at(found.text_at, detail));
        }
        Ok(found)
    }

    pub(super) fn missing(&self, name: &str) -> Wrong {
        Wrong::at(self.place, format!("expected <{name}> in <{}>", self.name))
    }

    /// The elements with one of those names, in the order of the file.
    pub(super) fn find_all<'a>(&'a self, names: &[&str], found: &mut Vec<&'a Self>) {
        for child in &self.children {
            if names.contains(&child.name.as_str()) {
                found.push(child);
            } else {
                child.find_all(names, found);
            }
        }
    }
}

/// The element `OFX`.
pub(super) fn parse(text: &str) -> Result<Aggregate, Wrong> {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\r', '\n', '\t']);
    if start.starts_with("<?xml") || start.contains("<?OFX") {
        // The parser takes no white space before the declaration.
        let skipped = text.len() - start.len();
        let tree = match xml::parse(start, "OFX") {
            Ok(tree) => tree,
            // Some banks write the header of version 2 but leave out end tags, as in version 1.
            Err(wrong) if start.contains("<!") => return Err(shifted(wrong, skipped)),
            Err(wrong) => return of_sgml(text).map_err(|_| shifted(wrong, skipped)),
        };
        let root = tree.root_element();
        if root.tag_name().name() != "OFX" {
            return Err(Wrong::at(skipped + xml::start(root), "expected <OFX>"));
        }
        return of_xml(root, skipped, 0);
    }
    of_sgml(text)
}

fn shifted(wrong: Wrong, by: usize) -> Wrong {
    Wrong { place: wrong.place + by, ..wrong }
}

fn too_deep(place: usize) -> Wrong {
    Wrong::at(place, format!("expected at most {MOST_DEPTH} levels of elements"))
}

fn of_xml(node: Element<'_, '_>, skipped: usize, depth: usize) -> Result<Aggregate, Wrong> {
    if depth > MOST_DEPTH {
        return Err(too_deep(skipped + xml::start(node)));
    }
    let children = node.children().filter(Element::is_element);
    Ok(Aggregate {
        name: node.tag_name().name().to_ascii_uppercase(),
        place: skipped + xml::start(node),
        text: xml::words(node).to_owned(),
        text_at: skipped + xml::words_at(node),
        children: children
            .map(|child| of_xml(child, skipped, depth + 1))
            .collect::<Result<_, _>>()?,
    })
}

/// The text before `<OFX>` is a header of `NAME:VALUE` lines.
fn of_sgml(text: &str) -> Result<Aggregate, Wrong> {
    let Some(first) = text.find("<OFX>") else {
        return Err(Wrong::at(0, "expected <OFX>"));
    };
    let mut open: Vec<Aggregate> = Vec::new();
    let mut place = first;
    while let Some(at) = text[place..].find('<').map(|at| place + at) {
        let Some(end) = text[at..].find('>').map(|end| at + end) else {
            return Err(Wrong::at(at, "expected the end of this tag, >"));
        };
        let name = text[at + 1..end].trim().to_ascii_uppercase();
        let next = text[end + 1..].find('<').map_or(text.len(), |next| end + 1 + next);
        place = next;
        if let Some(closed) = name.strip_prefix('/') {
            if let Some(root) = close(&mut open, closed, at)? {
                let rest = &text[end + 1..];
                let extra = rest.len() - rest.trim_start().len();
                let nothing =
                    rest.trim_matches(|one: char| one.is_whitespace() || one.is_control());
                return if nothing.is_empty() {
                    Ok(root)
                } else {
                    Err(Wrong::at(end + 1 + extra, "expected the end of the file"))
                };
            }
            continue;
        }
        if name.is_empty()
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
        {
            return Err(Wrong::at(at, "expected a tag such as <STMTTRN>"));
        }
        // A value without an end tag ends here.
        if open.last().is_some_and(|last| !last.text.is_empty() && last.children.is_empty()) {
            fold(&mut open);
        }
        if open.len() >= MOST_DEPTH {
            return Err(too_deep(at));
        }
        let raw = &text[end + 1..next];
        open.push(Aggregate {
            name,
            place: at,
            text: unescaped(raw.trim()),
            text_at: end + 1 + (raw.len() - raw.trim_start().len()),
            children: Vec::new(),
        });
    }
    Err(Wrong::at(text.len(), "expected the rest of the file: it ends before </OFX>"))
}

/// Closes the innermost element of that name; elements within it have no end tag. Returns the root when it is closed.
fn close(open: &mut Vec<Aggregate>, name: &str, at: usize) -> Result<Option<Aggregate>, Wrong> {
    let Some(depth) = open.iter().rposition(|one| one.name == name) else {
        let shown: String = name.chars().filter(|one| !one.is_control()).take(40).collect();
        return Err(Wrong::at(at, format!("expected no </{shown}>: it was not opened")));
    };
    // Only values and empty elements can have no end tag.
    if let Some(left) = open[depth + 1..].iter().find(|one| !one.children.is_empty()) {
        return Err(Wrong::at(at, format!("expected </{}> first", left.name)));
    }
    while open.len() > depth + 1 {
        fold(open);
    }
    if depth == 0 {
        return Ok(open.pop());
    }
    fold(open);
    Ok(None)
}

/// Puts the innermost element into its parent.
fn fold(open: &mut Vec<Aggregate>) {
    if let Some(done) = open.pop() {
        if let Some(parent) = open.last_mut() {
            parent.children.push(done);
        } else {
            open.push(done);
        }
    }
}

fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&")
}
