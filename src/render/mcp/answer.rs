//! Answers of tools: short, escaped, and in pages that can be continued.
//!
//! A long answer is stored whole when it is made, so that its next page never repeats a call. Text in a world can
//! contain instructions for a language model, so it stays inside JSON strings, without characters that hide or
//! reorder text.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde_json::{Value, json};

/// The most bytes of an answer, without the member `next`.
const MOST_BYTES: usize = 5_900;
/// Maximum size of an answer outside the container that is split into pages.
const MOST_BESIDE: usize = 1_500;
/// Maximum size of an entry of that container.
const MOST_OF_ENTRY: usize = MOST_BYTES - MOST_BESIDE - 200;
/// The only row of an array, as a part of a path.
const ONLY_ROW: &str = "0";
/// The most bytes of all stored answers.
const MOST_STORED: usize = 16 << 20;

/// The rest of long answers.
#[derive(Debug, Default)]
pub(super) struct Stored {
    answers: VecDeque<LongAnswer>,
    bytes: usize,
    /// The number of the next one.
    next: u64,
}

/// A long answer.
#[derive(Debug)]
struct LongAnswer {
    number: u64,
    /// A hash of the caller's credentials.
    caller: u64,
    is_error: bool,
    pages: Vec<String>,
}

/// One page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Stored {
    /// The first page of an answer. The others are stored for its caller.
    pub(super) fn page(&mut self, caller: u64, answer: Value, is_error: bool) -> Page {
        let mut pages = pages(answer);
        if pages.len() < 2 {
            return Page { text: pages.pop().unwrap_or_default(), is_error };
        }
        let number = self.next;
        self.next += 1;
        let answer = LongAnswer { number, caller, is_error, pages };
        let first = answer.page(0);
        self.bytes += answer.bytes();
        self.answers.push_back(answer);
        while self.bytes > MOST_STORED
            && let Some(oldest) = self.answers.pop_front()
        {
            self.bytes -= oldest.bytes();
        }
        first
    }

    /// The page of a cursor, if the same caller got the cursor.
    pub(super) fn continued(&self, caller: u64, cursor: &str) -> Option<Page> {
        let (number, place) = cursor.strip_prefix("answer-")?.split_once('-')?;
        let (number, place): (u64, usize) = (number.parse().ok()?, place.parse().ok()?);
        let is_it = |answer: &&LongAnswer| answer.number == number && answer.caller == caller;
        let answer = self.answers.iter().find(is_it)?;
        (place < answer.pages.len()).then(|| answer.page(place))
    }
}

impl LongAnswer {
    fn bytes(&self) -> usize {
        self.pages.iter().map(String::len).sum()
    }

    fn page(&self, place: usize) -> Page {
        let mut text = self.pages[place].clone();
        if place + 1 < self.pages.len() {
            text.pop(); // the end of the object
            let _ = write!(text, ",\"next\":\"answer-{}-{}\"}}", self.number, place + 1);
        }
        Page { text, is_error: self.is_error }
    }
}

/// The pages of an answer, each a JSON object.
fn pages(answer: Value) -> Vec<String> {
    let mut answer = match answer {
        Value::Object(_) => answer,
        other => json!({ "result": other }),
    };
    if size(&answer) <= MOST_BYTES {
        return vec![text(&answer)];
    }
    let path = place_to_cut(&answer);
    let later = frame(&answer, &path);
    let blank = at(&mut later.clone(), &path).take();
    let container = std::mem::replace(at(&mut answer, &path), blank);
    let mut pages = Vec::new();
    let mut page = if path.is_empty() { later.clone() } else { answer };
    let (mut bytes, mut is_empty) = (size(&page), true);
    for (name, mut value) in entries(container) {
        if size(&value) > MOST_OF_ENTRY {
            // A long entry has pages of its own, unless it is one text. The first of them also has a few short entries before it.
            let cut = |before: &Value| {
                let mut whole = before.clone();
                add(&mut whole, &path, name.clone(), value.clone());
                (place_to_cut(&whole).len() > path.len()).then_some(whole)
            };
            if let Some(whole) = cut(&page) {
                pages.extend(self::pages(whole));
                page = later.clone();
                (bytes, is_empty) = (size(&page), true);
                continue;
            }
            if let Some(whole) = cut(&later) {
                pages.push(text(&std::mem::replace(&mut page, later.clone())));
                pages.extend(self::pages(whole));
                (bytes, is_empty) = (size(&page), true);
                continue;
            }
            value = too_long(&value);
        }
        let more = size(&value) + name.as_ref().map_or(1, |name| name.len() + 4);
        if bytes + more > MOST_BYTES && (!is_empty || page != later) {
            pages.push(text(&std::mem::replace(&mut page, later.clone())));
            bytes = size(&page);
        }
        add(&mut page, &path, name, value);
        (bytes, is_empty) = (bytes + more, false);
    }
    if !is_empty || pages.is_empty() {
        pages.push(text(&page));
    }
    pages
}

/// Adds an entry to the container at that path.
fn add(page: &mut Value, path: &[String], name: Option<String>, value: Value) {
    match (at(page, path), name) {
        (Value::Array(rows), _) => rows.push(value),
        (Value::Object(members), Some(name)) => drop(members.insert(name, value)),
        _ => unreachable!("a frame ends with an empty container"),
    }
}

/// Only the containers of that path; the last one is empty.
fn frame(answer: &Value, path: &[String]) -> Value {
    let Some((name, rest)) = path.split_first() else {
        return if answer.is_array() { json!([]) } else { json!({}) };
    };
    match answer {
        Value::Array(rows) => json!([frame(&rows[0], rest)]),
        _ => json!({ name: frame(&answer[name.as_str()], rest) }),
    }
}

/// The container whose entries become pages: the largest one that has little beside it.
fn place_to_cut(answer: &Value) -> Vec<String> {
    let (mut path, mut current, whole) = (Vec::new(), answer, size(answer));
    loop {
        let largest = match current {
            Value::Array(rows) if rows.len() == 1 => Some((ONLY_ROW, &rows[0])),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (name.as_str(), value));
                members.max_by_key(|(_, value)| size(value))
            }
            _ => None,
        };
        let Some((name, value)) = largest.filter(|(_, value)| has_entries(value)) else { break };
        if whole - size(value) > MOST_BESIDE {
            break;
        }
        path.push(name.to_owned());
        current = value;
    }
    path
}

/// Whether it can be cut into its entries.
fn has_entries(value: &Value) -> bool {
    let is_long = |value: &Value| size(value) > MOST_OF_ENTRY;
    match value {
        Value::Array(rows) => rows.len() > 1 || rows.iter().any(is_long),
        Value::Object(members) => members.len() > 1 || members.values().any(is_long),
        _ => false,
    }
}

fn entries(container: Value) -> Vec<(Option<String>, Value)> {
    match container {
        Value::Array(rows) => rows.into_iter().map(|row| (None, row)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (Some(name), value)).collect()
        }
        other => vec![(None, other)],
    }
}

/// The value at this path.
fn at<'a>(value: &'a mut Value, path: &[String]) -> &'a mut Value {
    path.iter().fold(value, |value, name| match value {
        Value::Array(rows) => &mut rows[0],
        value => &mut value[name.as_str()],
    })
}

/// What is shown of a text that has no parts.
fn too_long(value: &Value) -> Value {
    format!("({} bytes: too long to show)", size(value)).into()
}

fn size(value: &Value) -> usize {
    text(value).len()
}

/// Compact JSON, in which characters that change how text looks are escaped.
pub(super) fn text(value: &Value) -> String {
    let plain = value.to_string();
    if !plain.chars().any(is_hidden) {
        return plain;
    }
    let mut text = String::with_capacity(plain.len() * 2);
    for letter in plain.chars() {
        if is_hidden(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(letter);
        }
    }
    text
}

/// Control characters, separators of lines, marks of direction, and characters without a width.
const fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn all(stored: &mut Stored, answer: Value) -> Vec<Value> {
        let mut pages = vec![stored.page(1, answer, false)];
        loop {
            let last: Value = serde_json::from_str(&pages.last().expect("one").text).expect("JSON");
            let Some(cursor) = last["next"].as_str() else { break };
            pages.push(stored.continued(1, cursor).expect("it is stored"));
        }
        for page in &pages {
            assert!(page.text.len() <= 6_000, "{}", page.text.len());
        }
        pages.iter().map(|page| serde_json::from_str(&page.text).expect("JSON")).collect()
    }

    #[test]
    fn a_long_list_is_cut_between_rows_and_none_is_lost() {
        let rows: Vec<Value> = (0..200).map(|n| json!({"id": n, "text": "x".repeat(n)})).collect();
        let pages = all(
            &mut Stored::default(),
            json!({"status": 200, "body": {"data": rows, "meta": {"total": 200}}}),
        );
        assert!(pages.len() > 3);
        assert_eq!(pages[0]["body"]["meta"]["total"], 200);
        let shown: Vec<&Value> =
            pages.iter().flat_map(|page| page["body"]["data"].as_array().expect("rows")).collect();
        assert_eq!(shown, rows.iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_long_object_is_cut_between_members() {
        let members: Map<String, Value> =
            (0..50).map(|n| (format!("m{n}"), "y".repeat(400).into())).collect();
        let pages = all(&mut Stored::default(), Value::Object(members.clone()));
        let mut shown = Map::new();
        for mut page in pages {
            let members = page.as_object_mut().expect("an object");
            members.shift_remove("next");
            shown.append(members);
        }
        assert_eq!(shown, members);
    }

    #[test]
    fn a_long_entry_has_pages_of_its_own_and_nothing_is_lost() {
        fn merge(whole: &mut Value, part: Value) {
            match (whole, part) {
                (Value::Object(whole), Value::Object(part)) => {
                    for (name, value) in part {
                        merge(whole.entry(name).or_insert(Value::Null), value);
                    }
                }
                (Value::Array(whole), Value::Array(part)) => whole.extend(part),
                (whole, part) => *whole = part,
            }
        }
        let members = |count: usize, bytes: usize| -> Value {
            (0..count)
                .map(|n| (format!("m{n}"), json!("x".repeat(bytes))))
                .collect::<Map<_, _>>()
                .into()
        };
        let answer = json!({
            "operation": "op",
            "output": {"a": members(30, 300), "b": 1, "c": {"only": {"d": members(40, 200)}}, "e": [members(20, 400)]},
        });
        let pages = all(&mut Stored::default(), answer.clone());
        let mut whole = Value::Null;
        for mut page in pages {
            page.as_object_mut().expect("an object").shift_remove("next");
            // The only row of an array is cut, too: its parts are rows of the pages.
            if let Some(Value::Object(members)) = page.pointer_mut("/output/e/0").map(Value::take) {
                page["output"]["e"] = Value::Object(members);
            }
            merge(&mut whole, page);
        }
        whole["output"]["e"] = json!([whole["output"]["e"]]);
        assert_eq!(whole, answer);
    }

    #[test]
    fn short_entries_are_on_the_first_page_of_a_long_entry() {
        let rows = |name: &str| vec![json!({name: "x".repeat(200)}); 40];
        let answer = json!({"total": 40, "steps": rows("step"), "amount": {"lines": rows("line")}});
        let pages = all(&mut Stored::default(), answer);
        assert_eq!(pages[0]["total"], 40);
        assert!(pages[0]["steps"].as_array().is_some_and(|steps| steps.len() > 15));
        let shown = |name: &str| {
            let rows = pages.iter().filter_map(|page| page.pointer(name)?.as_array());
            rows.map(Vec::len).sum::<usize>()
        };
        assert_eq!([shown("/steps"), shown("/amount/lines")], [40, 40]);
    }

    #[test]
    fn a_value_that_is_too_long_is_named_and_a_hidden_character_counts_escaped() {
        let answer = json!({"a": 1, "b": "\u{200b}".repeat(3_000), "c": ["d".repeat(9_000)]});
        let pages = all(&mut Stored::default(), answer);
        let shown: Vec<Value> = pages
            .into_iter()
            .flat_map(|page| page.as_object().expect("an object").clone())
            .filter_map(|(name, value)| (name != "next").then_some(value))
            .collect();
        let [b, c] = [18_002, 9_002].map(|bytes| format!("({bytes} bytes: too long to show)"));
        assert_eq!(shown, [json!(1), json!(b), json!([c])]);
        assert_eq!(text(&json!("a\u{202e}b\u{e0041}")), r#""a\u202eb\udb40\udc41""#);
    }

    #[test]
    fn a_cursor_of_another_caller_or_page_is_unknown() {
        let mut stored = Stored::default();
        let page = stored.page(1, json!({"rows": vec!["z".repeat(100); 200]}), true);
        let page: Value = serde_json::from_str(&page.text).expect("JSON");
        let cursor = page["next"].as_str().expect("there is more");
        assert!(stored.continued(1, cursor).is_some_and(|page| page.is_error));
        assert_eq!(stored.continued(2, cursor), None);
        for wrong in ["", "answer-0-99", "answer-7-1", "answer-0-x", "0-1"] {
            assert_eq!(stored.continued(1, wrong), None, "{wrong}");
        }
    }
}
