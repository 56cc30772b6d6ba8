//! The part of an overlay's text that a report may show: everything except keys.
//!
//! It works on lines and does not parse TOML, so a key is hidden even in an invalid file or a misspelt
//! section. Every byte keeps its position, so that columns are unchanged.

use crate::engine::contract::values::KEYS;
use crate::value::diagnostic::nearest;

/// Sections, and the keys outside them, without secrets.
const HARMLESS: [&str; 8] =
    ["operations", "errors", "paging", "idempotency", "webhooks", "headers", "serve", "base_path"];

/// The text with stars for possible keys.
pub(super) fn masked(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut section = String::new();
    // Whether a hidden value continues.
    let mut open = false;
    for line in source.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if !open && trimmed.starts_with('[') {
            section = first_word(trimmed.trim_start_matches('['));
            let known = section == "auth" || HARMLESS.contains(&section.as_str());
            let shown = known || !line.contains(['"', '\'']);
            text.push_str(&if shown { line.to_owned() } else { stars(line) });
            continue;
        }
        let (key, value) = match line.find('=') {
            Some(at) => line.split_at(at + 1),
            None => ("", line),
        };
        if !open && !is_secret(&section, key) {
            text.push_str(line);
            continue;
        }
        if open || key.is_empty() || !is_known(&section, key) {
            text.push_str(&stars(line));
        } else {
            text.push_str(key);
            text.push_str(&stars(value));
        }
        if !open && trimmed.starts_with('#') {
            continue;
        }
        let nothing_yet = !key.is_empty() && value.trim().is_empty();
        let begins = value.contains('[') || value.contains("\"\"\"") || value.contains("'''");
        open = (open || begins || nothing_yet) && !value.contains(']');
    }
    text
}

/// Whether the value of this key may be an API key.
fn is_secret(section: &str, key: &str) -> bool {
    let own = first_word(key);
    let names_keys = key
        .split(['.', '=', ' ', '"', '\''])
        .any(|part| part.starts_with("key") || part.ends_with("key") || part.ends_with("keys"));
    let of_headers = section == "headers" || own == "headers";
    let section = if section.is_empty() { &own } else { section };
    (names_keys && !of_headers) || !HARMLESS.contains(&section)
}

/// Whether the name before the `=` is a known name or similar to one. Another name could be an API key
/// itself.
fn is_known(section: &str, key: &str) -> bool {
    let known = KEYS.iter().flat_map(|known| [known.section, known.name]).chain(["key"]);
    let own = first_word(key);
    let rest = key.trim_start().strip_prefix(own.as_str()).unwrap_or_default();
    let plain =
        rest.trim_matches([' ', '\t', '=']).is_empty() || (section.is_empty() && own == "auth");
    plain && nearest(&own, known.filter(|name| !name.is_empty())).is_some()
}

/// The first part of a dotted key.
fn first_word(text: &str) -> String {
    let text = text.trim_start().trim_start_matches(['"', '\'']);
    text.chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
        .collect()
}

/// Replaces all characters except those of list syntax by stars, because a key can contain any other
/// character.
fn stars(text: &str) -> String {
    let harmless =
        |letter: char| matches!(letter, '[' | ']' | ',' | '"' | '\'' | '\n' | '\r' | ' ');
    let mut stars = String::with_capacity(text.len());
    for letter in text.chars() {
        if harmless(letter) {
            stars.push(letter);
        } else {
            stars.extend(std::iter::repeat_n('*', letter.len_utf8()));
        }
    }
    stars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_masked_everywhere_and_columns_are_unchanged() {
        for source in [
            "[auth]\nkeys = [\"s3cret\"]\n",
            "[auth]\nkeys = [\n  \"s3cret\",\n  's3cret-é', # s3cret\n]\nrefuse_live = false\n",
            "[auth]\nkey = \"s3cret\"\n",
            "[auth]\nkeys = \"s3cret",
            "[auth]\nkeys = [\"s3cret\n[errors]\nformat = 3\n",
            "[auht]\nkesy = [\"s3cret\"]\n",
            "[errors]\nkeys = [\"s3cret\"]\n",
            "auth = { keys = [\"s3cret\"] }\n",
            "auth.keys = [\"s3cret\"]\n",
            "keys = [\"s3cret\"]\n",
            "[\"auth\"]\n\"keys\" = [\"s3cret==\"]\n",
            "[auth]\nkeys = [\n\"s3cret=a\",\n\"b=s3cret\"]\n",
            "s3cret = s3cret",
            "[auth]\ns3cret = true\n",
            "[auth]\nkeys.s3cret = true\n",
            "[auth]\nkeys =\n  [\"s3cret\"]\n",
            "[auth]\nkeys\n[\"s3cret\"]\n",
            "[auth]\nkeys = [\"\"\"\ns3]cret\ns3cret\"\"\"]\n",
        ] {
            let masked = masked(source);
            assert!(!masked.contains("s3cret"), "{source}\n{masked}");
            assert_eq!(masked.len(), source.len());
            assert_eq!(masked.lines().count(), source.lines().count());
        }
    }

    #[test]
    fn text_without_keys_is_not_masked() {
        let source = "serve = \"all\"\n\n[operations.runPayroll]\nstatus = 202\naliases = [\n  \"/a\",\n]\n[errors]\n\
                      format = \"envelope\"\n[headers]\nidempotency_key = \"Idem\"\n";
        assert_eq!(masked(source), source);
    }
}
