//! HAR 1.2: the traffic that a browser or a proxy exported.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use serde_json::Value;

use crate::cli::learn::call::{Call, Headers, Key, Shape};
use crate::engine::keys::looks_live;

/// Headers with credentials: their values are dropped here.
const SECRET: [&str; 5] =
    ["authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"];

/// The calls of the entries, and the number of other entries. The message about a mistake leaves out the value, which
/// can be a secret.
pub(super) fn calls(name: &str, log: &Value) -> Result<(Vec<Call>, usize), String> {
    let entries = log["entries"].as_array().ok_or("`log.entries` must be a list")?;
    if entries.is_empty() {
        return Err("`log.entries` is empty: the file contains no calls".to_owned());
    }
    let (mut calls, mut left_out) = (Vec::new(), 0);
    for (place, entry) in entries.iter().enumerate() {
        let place = place + 1;
        let read = call(format!("{name}, entry {place}"), entry);
        match read.map_err(|why| format!("entry {place} of `log.entries`: {why}"))? {
            Some(call) => calls.push(call),
            None => left_out += 1,
        }
    }
    Ok((calls, left_out))
}

/// The call of an entry; none if it has no reply, or no URL of HTTP: browsers also export `data:` and `blob:`.
fn call(at: String, entry: &Value) -> Result<Option<Call>, String> {
    let (request, response) = (&entry["request"], &entry["response"]);
    let method = request["method"].as_str().ok_or("`request.method` must be a text")?;
    let url = request["url"].as_str().ok_or("`request.url` must be a text")?;
    let status = &response["status"];
    let status = status.as_i64().ok_or("`response.status` must be a whole number")?;
    let sent = pairs("request.headers", &request["headers"])?;
    let replied = pairs("response.headers", &response["headers"])?;
    let request = body("request.postData", &request["postData"])?;
    let reply = body("response.content", &response["content"])?;
    let url = url
        .parse::<Uri>()
        .ok()
        .filter(|url| url.scheme_str().is_some_and(|scheme| ["http", "https"].contains(&scheme)));
    let status = u16::try_from(status).ok().filter(|status| *status >= 100);
    let Some((url, status)) = url.zip(status) else { return Ok(None) };
    let mut call = Call::new(at, method, url.path(), status);
    call.host = url.authority().map(ToString::to_string).unwrap_or_default();
    call.query = query(url.query().unwrap_or_default());
    call.key = key(&sent);
    (call.sent, call.replied) = (Some(headers(sent)), Some(headers(replied)));
    (call.request, call.reply) = (request, reply);
    Ok(Some(call))
}

/// The form of a body in JSON; unknown if it is not JSON.
fn body(place: &str, content: &Value) -> Result<Shape, String> {
    if !content.is_object() && !content.is_null() {
        return Err(format!("`{place}` must be an object"));
    }
    let text = &content["text"];
    if !text.is_string() && !text.is_null() {
        return Err(format!("`{place}.text` must be a text"));
    }
    let text = text.as_str().unwrap_or_default();
    let is_encoded = content["encoding"] == "base64";
    let bytes = if is_encoded { STANDARD.decode(text).ok() } else { Some(text.into()) };
    let value = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    Ok(value.map_or(Shape::Unknown, |value| Shape::of(&value)))
}

/// Names and values of headers.
fn pairs<'e>(place: &str, headers: &'e Value) -> Result<Vec<(&'e str, &'e str)>, String> {
    if headers.is_null() {
        return Ok(Vec::new());
    }
    let headers = headers.as_array().ok_or_else(|| format!("`{place}` must be a list"))?;
    let pair = |pair: &'e Value| {
        let name = pair["name"].as_str();
        let name = name.ok_or_else(|| format!("each of `{place}` must have a `name`"))?;
        Ok((name, pair["value"].as_str().unwrap_or_default()))
    };
    headers.iter().map(pair).collect()
}

fn headers(pairs: Vec<(&str, &str)>) -> Headers {
    let named = pairs.into_iter().map(|(name, value)| {
        let lower = name.to_ascii_lowercase();
        let value = if SECRET.contains(&lower.as_str()) { "" } else { value };
        (lower, (name.to_owned(), value.to_owned()))
    });
    named.collect()
}

/// The kind of the request's key.
fn key(headers: &[(&str, &str)]) -> Key {
    let sent = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    let Some((_, value)) = sent else { return Key::Absent };
    let key = value.rsplit(' ').next().unwrap_or_default();
    if looks_live(key) { Key::Live } else { Key::Test }
}

fn query(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
