//! The dashboard at `/`: a page that shows one world and drives it through documented operations only.
//!
//! The binary contains its source files: there is no build step. All files are compressed at the first request for
//! one of them. Deliberately absent: data. The page reads data with a key, like any other client.

use std::sync::LazyLock;

use bytes::Bytes;

use crate::engine::Page;
use crate::engine::contract::BasePath;
use crate::render::pages::prepared_page;

/// Scripts and styles come only from the server's own files. A payslip is shown from a `blob:` URL, because a frame
/// cannot send the key.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    frame-src blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file below `dashboard/`, with its path and content.
macro_rules! script {
    ($file:literal) => {
        (concat!("/dashboard/", $file), SCRIPT, include_bytes!(concat!("dashboard/", $file)))
    };
}

/// Path, type and content of each file. The licences of the vendored library are beside it; its checksum is tested.
const FILES: &[(&str, &str, &[u8])] = &[
    ("/", HTML, include_bytes!("dashboard/index.html")),
    ("/dashboard/style.css", CSS, include_bytes!("dashboard/style.css")),
    script!("api.js"),
    script!("clock.js"),
    script!("format.js"),
    script!("main.js"),
    script!("screens/books.js"),
    script!("screens/control.js"),
    script!("screens/explain.js"),
    script!("screens/identity.js"),
    script!("screens/overview.js"),
    script!("screens/payroll.js"),
    script!("screens/reasons.js"),
    script!("screens/webhooks.js"),
    script!("store.js"),
    script!("ui.js"),
    script!("vendor/htm-preact.js"),
];

/// The files as they are sent, in the order of [`FILES`].
static PREPARED: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let page = |&(_, content_type, body): &(&'static str, &'static str, &'static [u8])| {
        prepared_page(Bytes::from_static(body), content_type, POLICY)
    };
    FILES.iter().map(page).collect()
});

/// The file of the dashboard at a path, if there is one.
pub(super) fn page(path: &str, base_path: &BasePath) -> Option<Page> {
    let place = FILES.iter().position(|(known, ..)| *known == path)?;
    if path == "/" && !base_path.as_str().is_empty() {
        // Only this page has absolute paths: the scripts import by relative ones.
        let html = include_str!("dashboard/index.html");
        let html = html.replace("=\"/", &format!("=\"{base_path}/"));
        return Some(prepared_page(Bytes::from(html), HTML, POLICY));
    }
    PREPARED.get(place).cloned()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use sha2::{Digest, Sha256};

    use super::*;
    use crate::value::Currency;

    /// The most bytes of all compressed files together.
    const MOST_BYTES: usize = 100_000;

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/render/dashboard")
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads the files of the repository")]
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("the folder exists");
        let paths = entries.map(|entry| entry.expect("it can be read").path());
        paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    fn text(path: &str) -> String {
        let page = page(path, &BasePath::default()).expect("it is in the table");
        String::from_utf8(page.body.to_vec()).expect("it is text")
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut served = 0;
        for file in files(&folder()) {
            let name = file.strip_prefix(folder()).expect("below it").display().to_string();
            let is_sent = [".js", ".css", ".html"].iter().any(|end| name.ends_with(end));
            if is_sent {
                let path = match &*name {
                    "index.html" => "/".to_owned(),
                    name => format!("/dashboard/{name}"),
                };
                assert!(page(&path, &BasePath::default()).is_some(), "{name} is not in the table");
                served += 1;
            }
        }
        assert_eq!(served, FILES.len());
    }

    #[test]
    fn all_files_together_are_small() {
        let compressed = |page: &Page| page.compressed.as_ref().map_or(usize::MAX, Bytes::len);
        let sum: usize = PREPARED.iter().map(compressed).sum();
        assert!(sum <= MOST_BYTES, "{sum} bytes");
    }

    #[test]
    fn no_file_loads_from_elsewhere_or_makes_markup_of_text() {
        for (path, ..) in FILES.iter().filter(|(path, ..)| !path.contains("/vendor/")) {
            let text = text(path);
            for forbidden in ["https://", "dangerouslySetInnerHTML", "innerHTML", "eval("] {
                assert!(!text.contains(forbidden), "{path} contains {forbidden}");
            }
            for address in text.split("http://").skip(1) {
                assert!(address.starts_with("127.0.0.1"), "{path} names {address:.40}");
            }
        }
    }

    /// Browsers show some currencies with other decimals than ISO 4217.
    #[test]
    fn amounts_have_the_decimals_of_the_ledger() {
        let script = text("/dashboard/format.js");
        let codes = |name: &str| {
            let (_, rest) = script.split_once(&format!("const {name} = '")).expect("a list");
            rest.split('\'').next().expect("its end").to_owned()
        };
        let (whole, thousandths) = (codes("WHOLE"), codes("THOUSANDTHS"));
        for currency in Currency::all() {
            let exponent = match currency.code() {
                code if whole.contains(code) => 0,
                code if thousandths.contains(code) => 3,
                _ => 2,
            };
            assert_eq!(exponent, currency.exponent(), "{}", currency.code());
        }
        assert!(!script.contains("maximumFractionDigits;"), "the browser decides nothing");
    }

    #[test]
    fn every_file_that_a_page_loads_exists() {
        let html = text("/");
        let loaded: Vec<&str> = ["src=\"", "href=\""]
            .iter()
            .flat_map(|name| html.split(name).skip(1))
            .filter_map(|rest| rest.split('"').next())
            .filter(|target| target.starts_with("/dashboard/"))
            .collect();
        assert!(loaded.len() >= 3, "{loaded:?}");
        for target in loaded {
            assert!(page(target, &BasePath::default()).is_some(), "the page loads {target}");
        }
    }

    /// The sum is that of htm 3.1.1, file `preact/standalone.module.js`, as published.
    #[test]
    fn the_vendored_library_is_unchanged() {
        let sums = include_str!("dashboard/vendor/SHA256SUMS");
        let library = page("/dashboard/vendor/htm-preact.js", &BasePath::default());
        let library = library.expect("it is in the table");
        let hash = Sha256::digest(&library.body);
        let hash = hash.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert!(sums.contains(&format!("{hash}  htm-preact.js")), "{hash} is not in:\n{sums}");
    }
}
