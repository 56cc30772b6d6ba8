//! Reads one source file: its modules, the names it defines and imports, and the paths it names.
//!
//! Comments, literals and everything below `#[cfg(test)]` are left out. Bodies of macros are read like other code.

use std::collections::{BTreeMap, BTreeSet};

/// One module: a file, or an inline `mod name { … }` in it.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// From the root of the crate: `["world", "log"]`.
    pub(super) path: Vec<String>,
    pub(super) defines: BTreeSet<String>,
    /// Names that `use` brings into scope, and the path of each as it is written.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    /// The names of `imports` that are only passed on: `pub use`.
    pub(super) passed_on: BTreeSet<String>,
    pub(super) globs: Vec<Vec<String>>,
    /// Paths in code, as they are written; a single word is a path, too.
    pub(super) names: BTreeSet<Vec<String>>,
    /// Words that appear otherwise than in `Id<Word>`.
    pub(super) more_than_an_id: BTreeSet<String>,
}

/// The modules of a file; the first is the file itself.
pub(super) fn modules(path: Vec<String>, text: &str) -> Vec<Module> {
    let tokens = without_tests(&tokens(text));
    let mut found = Vec::new();
    read(path, &tokens, &mut found);
    found
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single characters of the code.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            string(rest)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '\'' {
            character(rest)
        } else if first.is_alphanumeric() || first == '_' {
            let length =
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(&rest[..length]);
            length
        } else {
            let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            found.push(&rest[..length]);
            length
        };
        rest = rest[length..].trim_start();
    }
    found
}

/// The length of the string literal that `text` begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(place, _)| place + 1)
}

fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let count = hashes.len() - hashes.trim_start_matches('#').len();
    hashes[count..].strip_prefix('"')?;
    let start = text.len() - hashes.len() + count + 1;
    let end = format!("\"{}", "#".repeat(count));
    Some(text[start..].find(&end).map_or(text.len(), |place| start + place + end.len()))
}

/// The length of a character literal, or 1 for the quote of a lifetime.
fn character(text: &str) -> usize {
    let mut inside = text.char_indices().skip(1);
    match inside.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(text.len(), |place| place + 4),
        _ => match inside.next() {
            Some((place, '\'')) => place + 1,
            _ => 1,
        },
    }
}

fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut found = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        if tokens[place..].starts_with(&MARK) {
            place += MARK.len();
            place += item(&tokens[place..]);
        } else {
            found.push(tokens[place]);
            place += 1;
        }
    }
    found
}

/// The number of tokens of the item at the start: to its `;`, or to the brace that closes it.
fn item(tokens: &[&str]) -> usize {
    let is_use = tokens.first() == Some(&"use");
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *token == "}" && !is_use {
                    return place + 1;
                }
            }
            ";" | "," if depth == 0 => return place + 1,
            _ => {}
        }
    }
    tokens.len()
}

fn read(path: Vec<String>, tokens: &[&str], found: &mut Vec<Module>) {
    let here = found.len();
    let mut module = Module { path, ..Module::default() };
    found.push(Module::default());
    let mut place = 0;
    let mut depth = 0_usize;
    while place < tokens.len() {
        let (token, next) = (tokens[place], tokens.get(place + 1).copied().unwrap_or_default());
        match token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "mod" if is_word(next) && tokens.get(place + 2) == Some(&"{") => {
                let length = item(&tokens[place..]);
                let inner: Vec<_> = module.path.iter().cloned().chain([next.to_owned()]).collect();
                read(inner, &tokens[place + 3..place + length - 1], found);
                place += length;
                continue;
            }
            "use" if is_word(next) || next == "{" => {
                let length = item(&tokens[place..]);
                let public = place > 0 && matches!(tokens[place - 1], "pub" | ")");
                let mut uses = Vec::new();
                tree(&mut &tokens[place + 1..place + length - 1], &[], &mut uses);
                module.take_uses(uses, public);
                place += length;
                continue;
            }
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "macro_rules"
                if depth == 0 =>
            {
                let name = tokens[place + 1..].iter().find(|t| is_word(t) && **t != "mut");
                module.defines.extend(name.map(|name| (*name).to_owned()));
            }
            _ if is_word(token) => {
                place += module.take_path(tokens, place);
                continue;
            }
            _ => {}
        }
        place += 1;
    }
    found[here] = module;
}

impl Module {
    fn take_uses(&mut self, uses: Vec<(String, Vec<String>)>, public: bool) {
        for (name, path) in uses {
            if name == "*" {
                self.globs.push(path);
                continue;
            }
            if public {
                self.passed_on.insert(name.clone());
            }
            self.imports.insert(name, path);
        }
    }

    /// Takes the path at `place`, and returns how many tokens it has.
    fn take_path(&mut self, tokens: &[&str], place: usize) -> usize {
        let mut path = vec![tokens[place].to_owned()];
        let mut length = 1;
        while tokens.get(place + length) == Some(&"::")
            && tokens.get(place + length + 1).is_some_and(|next| is_word(next))
        {
            path.push(tokens[place + length + 1].to_owned());
            length += 2;
        }
        let before = place.checked_sub(1).map(|before| tokens[before]);
        if matches!(before, Some("." | "::")) {
            return length;
        }
        let id = length == 1
            && place >= 2
            && tokens[place - 2..place] == ["Id", "<"]
            && tokens.get(place + 1) == Some(&">");
        if !id {
            self.more_than_an_id.insert(path[0].clone());
        }
        self.names.insert(path);
        length
    }
}

/// The names and paths of a tree of `use`.
fn tree(tokens: &mut &[&str], above: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let mut path = above.to_vec();
    while let Some((&token, rest)) = tokens.split_first() {
        match token {
            "{" => {
                *tokens = rest;
                while tokens.first().is_some_and(|next| *next != "}") {
                    tree(tokens, &path, found);
                    if tokens.first() == Some(&",") {
                        *tokens = &tokens[1..];
                    }
                }
                *tokens = tokens.get(1..).unwrap_or_default();
                return;
            }
            "," | "}" => break,
            "as" => {
                found.push((rest[0].to_owned(), path));
                *tokens = &rest[1..];
                return;
            }
            "::" => {}
            "*" => {
                found.push(("*".to_owned(), path));
                *tokens = rest;
                return;
            }
            "self" if !path.is_empty() => {}
            word => path.push(word.to_owned()),
        }
        *tokens = rest;
    }
    if let Some(last) = path.last() {
        found.push((last.clone(), path));
    }
}
