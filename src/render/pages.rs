//! The pages beside the operations: the OpenAPI documents, and RapiDoc under `/docs`. The binary contains all
//! of them.
//!
//! The pages load nothing from other servers, and their policy forbids it. Deliberately absent: compression;
//! the viewer is stored compressed, and the rest is
//! small.

use std::sync::OnceLock;

use bytes::Bytes;

use crate::engine::Page;
use crate::engine::contract::Overlay;
use crate::render::openapi::{Plane, document, document_under};

/// The product's document.
const PRODUCT_DOCUMENT: &str = "/openapi.json";
/// The control plane's document.
const CONTROL_DOCUMENT: &str = "/_sandbox/openapi.json";

/// RapiDoc 9.3.8, minified and gzipped; there is no other form, because every browser accepts this one.
/// Licence: `assets/rapidoc-LICENSE.txt`.
const RAPIDOC: &[u8] = include_bytes!("assets/rapidoc-min.js.gz");

/// RapiDoc adds styles to the page while it renders, so styles need `unsafe-inline`; scripts come only from
/// our own file.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    font-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// The page of a path, if there is one.
pub(crate) fn page(path: &str, overlay: &Overlay) -> Option<Page> {
    match path {
        PRODUCT_DOCUMENT if *overlay != Overlay::default() => {
            // Not cached: it is read rarely, and there are many overlays.
            Some(document_page(document_under(Plane::Product, overlay).to_string().into()))
        }
        PRODUCT_DOCUMENT => Some(json(Plane::Product)),
        CONTROL_DOCUMENT => Some(json(Plane::Control)),
        "/" | "/docs" => {
            Some(reference("Sandbox", PRODUCT_DOCUMENT, ("/docs/control", "Control plane")))
        }
        "/docs/control" => {
            Some(reference("Sandbox control plane", CONTROL_DOCUMENT, ("/docs", "Product")))
        }
        "/docs/rapidoc.js" => Some(script(RAPIDOC, true)),
        "/docs/key.js" => Some(script(include_bytes!("assets/key.js"), false)),
        _ => None,
    }
}

/// A document, built at its first request.
fn json(plane: Plane) -> Page {
    static PRODUCT: OnceLock<Bytes> = OnceLock::new();
    static CONTROL: OnceLock<Bytes> = OnceLock::new();
    let built = match plane {
        Plane::Product => &PRODUCT,
        Plane::Control => &CONTROL,
    };
    let body = built.get_or_init(|| Bytes::from(document(plane).to_string())).clone();
    document_page(body)
}

fn document_page(body: Bytes) -> Page {
    Page { content_type: "application/json", body, gzip: false, csp: POLICY }
}

fn script(body: &'static [u8], gzip: bool) -> Page {
    Page {
        content_type: "text/javascript; charset=utf-8",
        body: Bytes::from_static(body),
        gzip,
        csp: POLICY,
    }
}

fn reference(title: &str, document: &str, (other, label): (&str, &str)) -> Page {
    let html = include_str!("assets/docs.html")
        .replace("{title}", title)
        .replace("{document}", document)
        .replace("{other}", other)
        .replace("{label}", label);
    Page {
        content_type: "text/html; charset=utf-8",
        body: Bytes::from(html),
        gzip: false,
        csp: POLICY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_load_nothing_from_other_servers() {
        for path in ["/docs", "/docs/control"] {
            let page = super::page(path, &Overlay::default()).expect("it is listed");
            let html = String::from_utf8(page.body.to_vec()).expect("it is text");
            assert!(!html.contains("://"), "{path}");
            assert!(!html.contains('{'), "{path}: a placeholder is left");
            for script in html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(
                    super::page(script, &Overlay::default()).is_some(),
                    "{path} loads {script}"
                );
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
    fn the_viewer_is_gzipped() {
        let viewer = page("/docs/rapidoc.js", &Overlay::default()).expect("it is listed");
        assert!(viewer.gzip);
        assert_eq!(viewer.body[..3], [0x1f, 0x8b, 8], "magic number and method of RFC 1952");
    }
}
