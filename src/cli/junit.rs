//! Results as JUnit XML, which CI services read. It has no times, so equal results are byte-identical.

use std::fmt::Write as _;

/// One test.
pub(super) struct Case {
    pub(super) class: String,
    pub(super) name: String,
    pub(super) verdict: Verdict,
}

/// The result of the test.
pub(super) enum Verdict {
    Passed,
    /// It passed, and this is worth reading.
    PassedWith(String),
    /// The results differ from the expected ones.
    Failed {
        /// The name of the violated rule, if rules have names.
        kind: Option<String>,
        /// The first difference.
        message: String,
        /// The whole report.
        report: String,
    },
    /// It could not be run.
    Error(String),
    /// It was not run, and possibly why.
    Skipped(Option<String>),
}

/// The XML of all tests.
pub(super) fn document(suite: &str, cases: &[Case]) -> String {
    let count = |is: fn(&Verdict) -> bool| cases.iter().filter(|case| is(&case.verdict)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        count(|verdict| matches!(verdict, Verdict::Failed { .. })),
        count(|verdict| matches!(verdict, Verdict::Error(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped(_))),
    );
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ =
        writeln!(text, "<testsuites {counts}>\n<testsuite name=\"{}\" {counts}>", escaped(suite));
    for case in cases {
        let (class, name) = (escaped(&case.class), escaped(&case.name));
        let _ = write!(text, "<testcase classname=\"{class}\" name=\"{name}\">");
        let _ = match &case.verdict {
            Verdict::Passed => Ok(()),
            Verdict::PassedWith(note) => {
                write!(text, "<system-out>{}</system-out>", escaped(note))
            }
            Verdict::Failed { kind, message, report } => {
                let kind = kind.as_ref().map(|kind| format!(" type=\"{}\"", escaped(kind)));
                write!(
                    text,
                    "<failure{} message=\"{}\">{}</failure>",
                    kind.unwrap_or_default(),
                    escaped(message),
                    escaped(report)
                )
            }
            Verdict::Error(why) => write!(text, "<error message=\"{}\"/>", escaped(why)),
            Verdict::Skipped(None) => write!(text, "<skipped/>"),
            Verdict::Skipped(Some(why)) => {
                write!(text, "<skipped message=\"{}\"/>", escaped(why))
            }
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
        let case = |verdict| Case { class: "c".to_owned(), name: hostile.to_owned(), verdict };
        let text = document(
            hostile,
            &[
                case(Verdict::Passed),
                case(Verdict::Failed {
                    kind: Some(hostile.to_owned()),
                    message: hostile.to_owned(),
                    report: hostile.to_owned(),
                }),
                case(Verdict::Error(format!("\0\x1b{hostile}\u{ffff}"))),
                case(Verdict::Skipped(Some(hostile.to_owned()))),
                case(Verdict::PassedWith(hostile.to_owned())),
            ],
        );
        let xml = roxmltree::Document::parse(&text).unwrap();
        let suite = xml.root_element().first_element_child().unwrap();
        let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name));
        assert_eq!(suite.attribute("name"), Some(hostile));
        assert_eq!(counts, [Some("5"), Some("1"), Some("1"), Some("1")]);
        let cases: Vec<_> = suite.children().filter(roxmltree::Node::is_element).collect();
        assert!(cases.iter().all(|case| case.attribute("name") == Some(hostile)));
        let inner = |case: usize| cases[case].first_element_child();
        assert_eq!(inner(0), None);
        assert_eq!(inner(1).unwrap().attribute("message"), Some(hostile));
        assert_eq!(inner(1).unwrap().text(), Some(hostile));
        let why = format!("\u{fffd}\u{fffd}{hostile}\u{fffd}");
        assert_eq!(inner(2).unwrap().attribute("message"), Some(why.as_str()));
        assert_eq!(inner(1).unwrap().attribute("type"), Some(hostile));
        assert_eq!(inner(3).unwrap().attribute("message"), Some(hostile));
        assert_eq!(inner(4).unwrap().text(), Some(hostile));
    }
}
