//! The measured requests, as bytes.

use std::io::Write as _;
use std::rc::Rc;

use crate::load::Write;

pub(crate) const KEY: &str = "test_key";

/// The same GET each time.
pub(crate) fn get(path: &str) -> Write {
    let bytes = head("GET", path, KEY, "") + "\r\n";
    Rc::new(move |_, out| out.extend_from_slice(bytes.as_bytes()))
}

/// A page at a random position of this many.
pub(crate) fn random_page(path: &'static str, pages: u64) -> Write {
    let tail = head("GET", "", KEY, "");
    let tail = tail.strip_prefix("GET ").unwrap_or(&tail).to_owned() + "\r\n";
    Rc::new(move |number, out| {
        let page = mix(number) % pages + 1;
        write!(out, "GET {path}page={page}&per_page=25{tail}").expect("a vector grows");
    })
}

/// A GET with an unused key.
pub(crate) fn get_by_new_key(path: &'static str, prefix: &'static str) -> Write {
    Rc::new(move |number, out| {
        let head = head("GET", path, &format!("{prefix}{number}"), "\r\n");
        out.extend_from_slice(head.as_bytes());
    })
}

/// A POST with a new idempotency key. `body` may contain `#`, which becomes the request's number.
pub(crate) fn post(path: &'static str, body: String) -> Write {
    Rc::new(move |number, out| {
        let body = body.replace('#', &number.to_string());
        post_to(out, path, KEY, number, &body);
    })
}

/// A POST with an unused key: the first request to a fresh world.
pub(crate) fn post_by_new_key(path: &'static str, body: String) -> Write {
    Rc::new(move |number, out| post_to(out, path, &format!("test_p{number}"), number, &body))
}

pub(crate) fn post_to(out: &mut Vec<u8>, path: &str, key: &str, number: u64, body: &str) {
    let length = body.len();
    let fields = format!(
        "Content-Type: application/json\r\nIdempotency-Key: bench-{number}\r\nContent-Length: {length}\r\n\r\n"
    );
    out.extend_from_slice(head("POST", path, key, &fields).as_bytes());
    out.extend_from_slice(body.as_bytes());
}

fn head(method: &str, path: &str, key: &str, rest: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nAccept: */*\r\n{rest}"
    )
}

/// Scatters consecutive numbers (the finaliser of splitmix64).
pub(crate) fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
