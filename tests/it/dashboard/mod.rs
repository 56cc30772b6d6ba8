//! The dashboard at `/` and its reads: the page, observing reads, the event stream, the next pay day.

#[cfg(target_os = "linux")]
mod memory;
mod modules;
mod observer;
mod past;
mod pay_day;
mod reads;
mod stream;

use crate::harness::{Caller, Request};

#[test]
fn the_page_needs_no_key_and_loads_only_its_own_files() {
    let caller = Caller::instant();
    let page = Request::new("GET", "/").send(caller.port());
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.split("; ").any(|found| found == part), "{part}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert!(!page.text().contains("://") && !page.text().contains("<style"), "no inline code");
}

#[test]
fn a_file_of_the_page_is_compressed_and_has_a_version() {
    let caller = Caller::instant();
    for path in
        ["/", "/dashboard/main.js", "/dashboard/style.css", "/dashboard/vendor/htm-preact.js"]
    {
        let get = || Request::new("GET", path);
        let plain = get().send(caller.port());
        let small = get().header("Accept-Encoding", "gzip").send(caller.port());
        assert_eq!((plain.status, small.status), (200, 200), "{path}");
        assert_eq!(small.header("content-encoding"), Some("gzip"), "{path}");
        assert!(small.body.len() < plain.body.len(), "{path}");
        let etag = plain.header("etag").unwrap().to_owned();
        let known = get().header("If-None-Match", &etag).send(caller.port());
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
    }
}

#[test]
fn an_unknown_file_and_another_method_are_refused() {
    let caller = Caller::instant();
    Request::new("GET", "/dashboard/nothing.js")
        .send(caller.port())
        .refused(404, "route_not_found");
    Request::new("GET", "/dashboard/").send(caller.port()).refused(404, "route_not_found");
    Request::new("POST", "/").send(caller.port()).refused(405, "method_not_allowed");
}

#[test]
fn a_page_of_another_name_is_not_served() {
    let caller = Caller::instant();
    let foreign = Request::new("GET", "/").header("Host", "rebound.example.com");
    foreign.send(caller.port()).refused(421, "misdirected_request");
}
