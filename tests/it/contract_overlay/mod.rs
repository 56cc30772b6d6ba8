//! Contract overlays: the effect of each key on the answers and on the document.

mod base_path;
mod effects;
mod endpoints;
mod errors;
mod learned_files;
mod learning;
mod listing;
mod mistakes;
mod printing;

use std::io::Write as _;
use std::sync::Arc;

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::harness::contract::{printed, promised_by};
use crate::harness::{Answer, Request, Server};

/// An overlay as a file.
fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// A sandbox with an overlay, and its document.
struct Under {
    server: Arc<Server>,
    document: Value,
    _file: Option<NamedTempFile>,
}

impl Under {
    /// With this text.
    fn text(text: &str) -> Self {
        let file = file(text);
        let name = file.path().to_str().unwrap().to_owned();
        Self { _file: Some(file), ..Self::named(&name) }
    }

    /// With this value of `--contract`.
    fn named(name: &str) -> Self {
        Self {
            server: Arc::new(Server::start(&["--seed", "42", "--contract", name])),
            document: printed(&["openapi", "--contract", name]),
            _file: None,
        }
    }

    fn port(&self) -> u16 {
        self.server.port()
    }

    /// Sends a request and checks its answer against the document.
    #[track_caller]
    fn send(&self, request: &Request) -> Answer {
        let answer = request.send(self.port());
        let path = request.path().split('?').next().unwrap();
        if !path.starts_with("/_sandbox") {
            let promised = promised_by(&self.document, request.method(), path, &answer);
            assert_eq!(promised, Ok(()), "{request}\n{}", answer.text());
        }
        answer
    }

    #[track_caller]
    fn get(&self, path: &str) -> Answer {
        self.send(&Request::new("GET", path).key("test_key"))
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(&Request::new("POST", path).key("test_key").json(body))
    }

    /// The first company.
    fn company(&self) -> String {
        let companies = self.get("/api/business/companies?per_page=1").data();
        companies[0]["id"].as_str().unwrap().to_owned()
    }

    /// Every answer of a list or a report without parameters agrees with the document.
    fn walk(&self) -> usize {
        let paths = self.document["paths"].as_object().unwrap();
        let open =
            |(path, methods): &(&String, &Value)| !path.contains('{') && !methods["get"].is_null();
        let paths: Vec<&String> = paths.iter().filter(open).map(|(path, _)| path).collect();
        for path in &paths {
            self.get(path);
            self.get(&format!("{path}?nonsense=1"));
            self.send(&Request::new("GET", path));
            self.send(&Request::new("DELETE", path).key("test_key"));
        }
        paths.len()
    }
}
