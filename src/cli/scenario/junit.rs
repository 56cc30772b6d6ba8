//! The results of `sandbox scenario test` as JUnit XML, which CI services read. It has no times, so the same results are the same bytes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;

/// A test of one scenario.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) verdict: Verdict,
}

/// How it ended.
pub(super) enum Verdict {
    Passed,
    /// The results differ from the expected ones: the first difference, and the whole report.
    Failed(String, String),
    /// The scenario could not be run.
    Error(String),
    /// It was not run, because of an error before it.
    Skipped,
}

/// A file that is open for writing.
pub(super) struct Junit {
    path: PathBuf,
    file: File,
}

impl Junit {
    /// Opens the file before the first test, so that a wrong path is noticed at once.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| {
            Failure::Usage(format!("cannot write --junit {}: {error}", path.display()))
        })?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub(super) fn write(mut self, cases: &[Case]) -> Result<(), Failure> {
        self.file.write_all(document(cases).as_bytes()).map_err(|error| {
            Failure::Impossible(format!("cannot write {}: {error}", self.path.display()))
        })
    }
}

fn document(cases: &[Case]) -> String {
    let count = |is: fn(&Verdict) -> bool| cases.iter().filter(|case| is(&case.verdict)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        count(|verdict| matches!(verdict, Verdict::Failed(..))),
        count(|verdict| matches!(verdict, Verdict::Error(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped)),
    );
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites {counts}>\n<testsuite name=\"sandbox scenario test\" {counts}>"
    );
    for case in cases {
        let _ = write!(text, "<testcase classname=\"scenario\" name=\"{}\">", escaped(&case.name));
        let _ = match &case.verdict {
            Verdict::Passed => Ok(()),
            Verdict::Failed(first, report) => write!(
                text,
                "<failure message=\"{}\">{}</failure>",
                escaped(first),
                escaped(report)
            ),
            Verdict::Error(why) => write!(text, "<error message=\"{}\"/>", escaped(why)),
            Verdict::Skipped => write!(text, "<skipped/>"),
        };
        text.push_str("</testcase>\n");
    }
    text.push_str("</testsuite>\n</testsuites>\n");
    text
}

/// For an attribute or an element. XML cannot contain control characters, not even escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\r' => escaped.push_str("&#13;"),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_read_back_by_an_xml_parser() {
        let hostile = "<a b=\"c\" d='e'>&amp;]]>\r\n\té\u{1F600}";
        let case = |verdict| Case { name: hostile.to_owned(), verdict };
        let text = document(&[
            case(Verdict::Passed),
            case(Verdict::Failed(hostile.to_owned(), hostile.to_owned())),
            case(Verdict::Error(format!("\0\x1b{hostile}\u{ffff}"))),
            case(Verdict::Skipped),
        ]);
        let xml = roxmltree::Document::parse(&text).unwrap();
        let suite = xml.root_element().first_element_child().unwrap();
        let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name));
        assert_eq!(counts, [Some("4"), Some("1"), Some("1"), Some("1")]);
        let cases: Vec<_> = suite.children().filter(roxmltree::Node::is_element).collect();
        assert!(cases.iter().all(|case| case.attribute("name") == Some(hostile)));
        let inner = |case: usize| cases[case].first_element_child();
        assert_eq!(inner(0), None);
        assert_eq!(inner(1).unwrap().attribute("message"), Some(hostile));
        assert_eq!(inner(1).unwrap().text(), Some(hostile));
        let why = format!("\u{fffd}\u{fffd}{hostile}\u{fffd}");
        assert_eq!(inner(2).unwrap().attribute("message"), Some(why.as_str()));
        assert!(inner(3).unwrap().has_tag_name("skipped"));
    }
}
