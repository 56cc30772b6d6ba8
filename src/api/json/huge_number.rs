//! A number that is too large to be read, such as `1e400`. It is well-formed JSON, so the body is
//! not malformed, but no member accepts it.

use crate::value::{ApiError, Violation};

/// The refusal of a body that contains such a number, with the pointer to it; none if the body has another mistake.
pub(super) fn refusal(text: &str, error: &serde_json::Error) -> Option<ApiError> {
    // The parser has no code for it, only this text.
    if !error.to_string().starts_with("number out of range") {
        return None;
    }
    let pointer = pointer_of_huge(text)?;
    let detail = "the number is too large: no number may exceed 1.8e308";
    Some(ApiError::invalid(vec![Violation::new(pointer, "range", detail)]))
}

/// An array or object around the current place.
enum Around {
    Array(usize),
    Object(String),
}

/// The place of the first number that is infinite as a float.
fn pointer_of_huge(text: &str) -> Option<String> {
    let mut around: Vec<Around> = Vec::new();
    let mut rest = text;
    let mut last_text = String::new();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let length = length_of_text(rest)?;
                last_text = serde_json::from_str(&rest[..length]).ok()?;
                length
            }
            ':' => {
                if let Some(Around::Object(name)) = around.last_mut() {
                    name.clone_from(&last_text);
                }
                1
            }
            '{' | '[' => {
                let object = first == '{';
                around.push(if object { Around::Object(String::new()) } else { Around::Array(0) });
                1
            }
            '}' | ']' => {
                around.pop();
                1
            }
            ',' => {
                if let Some(Around::Array(place)) = around.last_mut() {
                    *place += 1;
                }
                1
            }
            '-' | '0'..='9' => {
                let end =
                    rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
                let length = end.unwrap_or(rest.len());
                if rest[..length].parse::<f64>().is_ok_and(f64::is_infinite) {
                    return Some(around.iter().map(Around::pointer).collect());
                }
                length
            }
            other => other.len_utf8(),
        };
        rest = &rest[length..];
    }
    None
}

/// The bytes of a text with its quotes.
fn length_of_text(rest: &str) -> Option<usize> {
    let mut escaped = false;
    for (place, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(place + 1),
            _ => {}
        }
    }
    None
}

impl Around {
    fn pointer(&self) -> String {
        match self {
            Self::Array(place) => format!("/{place}"),
            Self::Object(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_names_the_first_number_that_is_too_large() {
        for (text, pointer) in [
            ("1e400", ""),
            (r#"{"amount": -1e400}"#, "/amount"),
            (r#"{"a": [1, {"b/c": 2, "d\"~": [3, 1E999]}], "e": 1e400}"#, r#"/a/1/d"~0/1"#),
        ] {
            assert_eq!(pointer_of_huge(text).as_deref(), Some(pointer), "{text}");
            let error = crate::api::json::parse(text.as_bytes()).expect_err("it is too large");
            assert_eq!((error.code.status(), error.errors[0].pointer.as_str()), (422, pointer));
        }
        let malformed = crate::api::json::parse(br#"{"a": 1e}"#).expect_err("it is malformed");
        assert_eq!(malformed.code.status(), 400);
    }
}
