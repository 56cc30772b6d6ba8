//! Files that were read, and their mistakes.

use std::fmt::Write as _;

use crate::value::diagnostic::report;
use crate::value::{ApiError, Diagnostic, Look, Violation};

/// One file and its mistakes.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) path: String,
    pub(super) source: String,
    pub(super) found: Vec<Diagnostic>,
    /// Why it was not parsed.
    pub(super) refused: Option<String>,
}

impl Judged {
    /// A file without mistakes.
    pub(super) const fn new(path: String, source: String) -> Self {
        Self { path, source, found: Vec::new(), refused: None }
    }

    /// Whether it has a mistake.
    pub(super) fn is_wrong(&self) -> bool {
        self.refused.is_some() || self.found.iter().any(|found| !found.is_warning())
    }

    /// All mistakes and warnings of these files, as text; empty if there are none.
    pub(super) fn report(files: &[Self], look: Look) -> String {
        let mut text = String::new();
        for file in files {
            if let Some(why) = &file.refused {
                let _ = writeln!(text, "error: {}: {why}", file.path);
            }
            if !file.found.is_empty() {
                text.push_str(&report(&file.path, &file.source, &file.found, look));
            }
        }
        text
    }

    /// A refusal with the report as its detail, and each mistake with its file, line and column.
    pub(super) fn refusal(files: &[Self], code: &'static str) -> ApiError {
        let mut found = Vec::new();
        for file in files {
            let mistakes = file.found.iter().filter(|one| !one.is_warning());
            let mistakes = mistakes.map(|one| one.sentence(&file.source));
            for detail in mistakes.chain(file.refused.clone()) {
                found.push(Violation::new("/text", code, format!("{}: {detail}", file.path)));
            }
        }
        let mut refusal = ApiError::invalid(found);
        Self::report(files, Look::Plain).trim_end().clone_into(&mut refusal.detail);
        refusal
    }
}
