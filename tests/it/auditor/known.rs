//! Values that a walk has collected from answers: ids with their company, and values of members.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::walk::Chance;

/// Members whose values are inputs of other calls.
const WORDS: [&str; 5] = ["authority", "currency", "country", "code", "bank_code"];

#[derive(Default)]
pub(super) struct Known {
    /// By prefix, in the order of their first appearance.
    ids: BTreeMap<String, Vec<String>>,
    met: BTreeSet<String>,
    home: BTreeMap<String, String>,
    words: BTreeMap<(String, String), Vec<String>>,
}

/// The prefix of a text that is an id.
pub(super) fn prefix(text: &str) -> Option<&str> {
    let (prefix, rest) = text.split_once('_')?;
    let letters = |text: &str, most| {
        (2..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase())
    };
    let coded = rest.len() == 13 && rest.bytes().all(|b| b.is_ascii_alphanumeric());
    (letters(prefix, 3) && coded).then_some(prefix)
}

impl Known {
    /// Learns from an answer of any form.
    pub(super) fn learn(&mut self, value: &Value) {
        match value {
            Value::Array(rows) => rows.iter().for_each(|row| self.learn(row)),
            Value::Object(members) => {
                if let (Some(id), Some(_)) = (members.get("id"), members.get("object")) {
                    let id = id.as_str().unwrap_or_default();
                    let own = if id.starts_with("com_") { id } else { "" };
                    let company = members.get("company_id").and_then(Value::as_str);
                    self.meet(id, company.unwrap_or(own));
                    self.words_of(company.unwrap_or(own), value);
                }
                members.values().for_each(|member| self.learn(member));
            }
            Value::String(text) => self.meet(text, ""),
            _ => {}
        }
    }

    fn meet(&mut self, id: &str, company: &str) {
        let Some(prefix) = prefix(id) else { return };
        if !company.is_empty() {
            self.home.insert(id.to_owned(), company.to_owned());
        }
        if self.met.insert(id.to_owned()) {
            let ids = self.ids.entry(prefix.to_owned()).or_default();
            ids.push(id.to_owned());
        }
    }

    fn words_of(&mut self, company: &str, object: &Value) {
        for name in WORDS {
            let Some(word) = object[name].as_str() else {
                continue;
            };
            let words = self.words.entry((company.to_owned(), name.to_owned()));
            let words = words.or_default();
            if !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
    }

    /// An id with this prefix: mostly of the given company, and mostly a recent one.
    pub(super) fn id(&self, chance: &mut Chance, prefix: &str, company: &str) -> Option<String> {
        let all = self.ids.get(prefix)?;
        let of = |id: &&String| self.home.get(*id).is_some_and(|home| home == company);
        let own: Vec<&String> = all.iter().filter(of).collect();
        let any: Vec<&String> = all.iter().collect();
        let from = if own.is_empty() || chance.once_in(15) { any } else { own };
        let lately = if chance.once_in(3) { from.len() } else { from.len().min(5) };
        Some(from[from.len() - 1 - chance.below(lately)].clone())
    }

    /// The company that a resource belongs to.
    pub(super) fn home(&self, id: &str) -> Option<String> {
        self.home.get(id).cloned()
    }

    /// A value that a resource of this company has under this name.
    pub(super) fn word(&self, chance: &mut Chance, name: &str, company: &str) -> Option<String> {
        let words = self.words.get(&(company.to_owned(), name.to_owned()))?;
        Some(chance.pick(words).clone())
    }
}
