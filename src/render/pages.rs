//! The pages beside the operations: the dashboard at `/`, the OpenAPI documents, RapiDoc under `/docs`, and text for language models. The binary
//! contains all of them.
//!
//! The pages load nothing from other servers, and their policy forbids it. The viewer is stored compressed, and a document is
//! compressed once. The rest is small.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::HeaderValue;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

use crate::engine::Page;
use crate::engine::contract::{BasePath, Overlay};
use crate::render::openapi::{Plane, SERVER, document_served, variant};
use crate::render::{dashboard, llms};
use crate::world::{Base, Shape};

/// The product's document.
const PRODUCT_DOCUMENT: &str = "/openapi.json";
/// The control plane's document.
const CONTROL_DOCUMENT: &str = "/_sandbox/openapi.json";

/// RapiDoc 9.3.8, minified and gzipped. Every browser accepts gzip, so there is no uncompressed form. Licence:
/// `assets/rapidoc-LICENSE.txt`.
const RAPIDOC: &[u8] = include_bytes!("assets/rapidoc-min.js.gz");

/// RapiDoc adds styles to the page while it renders, so styles need `unsafe-inline`; scripts come only from the
/// server's own file.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    font-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// The page that a request names, if there is one.
pub(crate) fn page(head: &Parts, overlay: &Overlay, base: &Base) -> Option<Page> {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = head.uri.authority().map(Authority::as_str).or(host);
    let mut server = host.map_or_else(|| SERVER.to_owned(), |host| format!("http://{host}"));
    server.push_str(overlay.base_path.as_str());
    find(head.uri.path(), &server, overlay, base)
}

fn find(path: &str, server: &str, overlay: &Overlay, base: &Base) -> Option<Page> {
    match path {
        PRODUCT_DOCUMENT => Some(json(Plane::Product, server, overlay, base)),
        CONTROL_DOCUMENT => Some(json(Plane::Control, server, overlay, base)),
        "/docs" => {
            let other = ("/docs/control", "Control plane");
            Some(reference("Sandbox", PRODUCT_DOCUMENT, other, &overlay.base_path))
        }
        "/docs/control" => {
            let other = ("/docs", "Product");
            Some(reference("Sandbox control plane", CONTROL_DOCUMENT, other, &overlay.base_path))
        }
        "/docs/rapidoc.js" => Some(script(RAPIDOC, true)),
        "/docs/key.js" => Some(script(include_bytes!("assets/key.js"), false)),
        _ => llms::page(path, overlay).or_else(|| dashboard::page(path, &overlay.base_path)),
    }
}

/// The documents that were served last, at most [`MOST`].
static PREPARED: Mutex<Vec<Prepared>> = Mutex::new(Vec::new());
/// Maximum number of prepared documents. A process has few contracts, and callers use few host names for it.
const MOST: usize = 8;

/// A document as it is sent to callers that use one host name of the server.
struct Prepared {
    plane: Plane,
    server: String,
    overlay: Overlay,
    /// The world whose ids it contains.
    seed: u64,
    shape: Shape,
    page: Page,
}

/// A document, built and compressed at its first request.
fn json(plane: Plane, server: &str, overlay: &Overlay, base: &Base) -> Page {
    let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = prepared.iter().find(|one| {
        one.plane == plane
            && one.server == server
            && one.seed == base.seed()
            && one.shape == *base.shape()
            && (plane == Plane::Control || one.overlay == *overlay)
    });
    if let Some(one) = known {
        return one.page.clone();
    }
    let mut document = document_served(plane, overlay, base);
    variant::serve_at(&mut document, server);
    let page = prepared_page(document.to_string().into(), "application/json", POLICY);
    if prepared.len() >= MOST {
        prepared.remove(0);
    }
    let (server, overlay) = (server.to_owned(), overlay.clone());
    let (seed, shape) = (base.seed(), base.shape().clone());
    prepared.push(Prepared { plane, server, overlay, seed, shape, page: page.clone() });
    page
}

/// A page with its compressed form and its version.
pub(super) fn prepared_page(body: Bytes, content_type: &'static str, csp: &'static str) -> Page {
    // Weak, because the plain and the compressed form have the same.
    let etag = format!("W/\"{:08x}{:x}\"", crc32fast::hash(&body), body.len());
    Page {
        content_type,
        gzip: false,
        compressed: Some(gzip(&body)),
        etag: HeaderValue::try_from(etag).ok(),
        body,
        csp,
    }
}

/// RFC 1952: a header without a name and a time, the compressed bytes, their checksum and length.
fn gzip(bytes: &[u8]) -> Bytes {
    const LEVEL: u8 = 6;
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(miniz_oxide::deflate::compress_to_vec(bytes, LEVEL));
    out.extend(crc32fast::hash(bytes).to_le_bytes());
    // The length is modulo 2^32.
    out.extend_from_slice(&bytes.len().to_le_bytes()[..4]);
    out.into()
}

fn script(body: &'static [u8], gzip: bool) -> Page {
    Page {
        content_type: "text/javascript; charset=utf-8",
        body: Bytes::from_static(body),
        gzip,
        compressed: None,
        etag: None,
        csp: POLICY,
    }
}

fn reference(
    title: &str,
    document: &str,
    (other, label): (&str, &str),
    base_path: &BasePath,
) -> Page {
    let html = include_str!("assets/docs.html")
        .replace("{title}", title)
        .replace("{document}", document)
        .replace("{other}", other)
        .replace("{label}", label)
        .replace("{base}", base_path.as_str());
    Page {
        content_type: "text/html; charset=utf-8",
        body: Bytes::from(html),
        gzip: false,
        compressed: None,
        etag: None,
        csp: POLICY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, overlay: &Overlay) -> Option<Page> {
        at(path, SERVER, overlay)
    }

    fn at(path: &str, server: &str, overlay: &Overlay) -> Option<Page> {
        find(path, server, overlay, &Base::new(42, Shape::default()))
    }

    #[test]
    fn pages_load_nothing_from_other_servers() {
        for path in ["/docs", "/docs/control"] {
            let page = page(path, &Overlay::default()).expect("it is listed");
            let html = String::from_utf8(page.body.to_vec()).expect("it is text");
            assert!(!html.contains("://"), "{path}");
            assert!(!html.contains('{'), "{path}: a placeholder is left");
            for script in html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(at(script, SERVER, &Overlay::default()).is_some(), "{path} loads {script}");
            }
        }
        assert!(page("/docs/", &Overlay::default()).is_none());
    }

    #[test]
    fn each_page_shows_its_own_document_and_links_to_the_other() {
        let html = |path| {
            String::from_utf8(page(path, &Overlay::default()).expect("it is listed").body.to_vec())
                .expect("it is text")
        };
        assert!(html("/docs").contains("spec-url=\"/openapi.json\""));
        assert!(html("/docs").contains("href=\"/docs/control\""));
        assert!(html("/docs/control").contains("spec-url=\"/_sandbox/openapi.json\""));
        assert!(html("/docs/control").contains("href=\"/docs\""));
    }

    #[test]
    fn a_document_is_compressed_and_names_its_server() {
        let page = at(PRODUCT_DOCUMENT, "http://example.test:1", &Overlay::default());
        let page = page.expect("it is listed");
        let compressed = page.compressed.expect("it is compressed");
        assert!(
            compressed.len() * 4 < page.body.len(),
            "{} of {}",
            compressed.len(),
            page.body.len()
        );
        let end = compressed.len() - 8;
        let inflated = miniz_oxide::inflate::decompress_to_vec(&compressed[10..end]);
        assert_eq!(inflated.expect("deflate"), page.body);
        assert_eq!(compressed[end..end + 4], crc32fast::hash(&page.body).to_le_bytes());
        let document: serde_json::Value = serde_json::from_slice(&page.body).expect("JSON");
        assert_eq!(document["servers"][0]["url"], "http://example.test:1");
        let again = at(PRODUCT_DOCUMENT, SERVER, &Overlay::default()).expect("it is listed");
        assert_ne!(page.etag, again.etag, "another server is another version");
    }

    #[test]
    fn the_viewer_is_gzipped() {
        let viewer = page("/docs/rapidoc.js", &Overlay::default()).expect("it is listed");
        assert!(viewer.gzip);
        assert_eq!(viewer.body[..3], [0x1f, 0x8b, 8], "magic number and method of RFC 1952");
    }
}
