//! HAR 1.2: the traffic that a browser or a proxy exported.

use std::collections::BTreeMap;

use http::Uri;
use serde::Deserialize;
use serde_json::Value;

use crate::cli::learn::call::{Call, Headers, Key, Shape};
use crate::engine::keys::looks_live;

#[derive(Deserialize)]
struct Entry {
    request: Request,
    response: Response,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    #[serde(default, rename = "postData")]
    body: Option<Content>,
}

#[derive(Deserialize)]
struct Response {
    status: u16,
    #[serde(default)]
    headers: Vec<Pair>,
    #[serde(default)]
    content: Option<Content>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    text: String,
}

/// Headers with credentials: their values are dropped here.
const SECRET: [&str; 5] =
    ["authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"];

/// The calls of the entries.
pub(super) fn calls(name: &str, log: &Value) -> Result<Vec<Call>, String> {
    let entries = log["entries"].as_array().ok_or("`log.entries` must be a list")?;
    if entries.is_empty() {
        return Err("`log.entries` is empty: the file contains no calls".to_owned());
    }
    let read = |(place, entry): (usize, &Value)| {
        let at = format!("{name}, entry {}", place + 1);
        let entry = Entry::deserialize(entry)
            .map_err(|error| format!("entry {} of `log.entries`: {error}", place + 1))?;
        call(at, entry).map_err(|why| format!("entry {} of `log.entries`: {why}", place + 1))
    };
    entries.iter().enumerate().map(read).collect()
}

fn call(at: String, entry: Entry) -> Result<Call, String> {
    let Entry { request, response } = entry;
    let url: Uri =
        request.url.parse().map_err(|error| format!("`request.url` is no URL: {error}"))?;
    let mut call = Call::new(at, &request.method, url.path(), response.status);
    call.host = url.authority().map(ToString::to_string).unwrap_or_default();
    call.query = query(url.query().unwrap_or_default());
    call.key = key(&request.headers);
    call.sent = Some(headers(request.headers));
    call.replied = Some(headers(response.headers));
    call.request = body(request.body);
    call.reply = body(response.content);
    Ok(call)
}

/// The form of a body in JSON; unknown if it is not JSON.
fn body(content: Option<Content>) -> Shape {
    let value = content.and_then(|content| serde_json::from_str::<Value>(&content.text).ok());
    value.map_or(Shape::Unknown, |value| Shape::of(&value))
}

fn headers(pairs: Vec<Pair>) -> Headers {
    let named = pairs.into_iter().map(|Pair { name, value }| {
        let lower = name.to_ascii_lowercase();
        let value = if SECRET.contains(&lower.as_str()) { String::new() } else { value };
        (lower, (name, value))
    });
    named.collect()
}

/// What kind of key the request has.
fn key(headers: &[Pair]) -> Key {
    let sent = headers.iter().find(|it| it.name.eq_ignore_ascii_case("authorization"));
    let Some(sent) = sent else { return Key::Absent };
    let key = sent.value.rsplit(' ').next().unwrap_or_default();
    if looks_live(key) { Key::Live } else { Key::Test }
}

fn query(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
