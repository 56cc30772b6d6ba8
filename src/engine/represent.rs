//! The form of a reply: JSON, or PDF if the caller prefers it and the row has it.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::api::operation::Operation;
use crate::api::pdf::PDF;

/// The form of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Json,
    Pdf,
}

impl Form {
    /// The form that the caller prefers among those of the row. If none fits, it is JSON, as from every other
    /// row.
    pub(super) fn wanted(row: &Operation, headers: &HeaderMap) -> Self {
        if row.pdf.is_none() {
            return Self::Json;
        }
        let sent = headers.get_all(ACCEPT).iter();
        let sent: Vec<&str> = sent.filter_map(|value| value.to_str().ok()).collect();
        if preference(&sent, PDF) > preference(&sent, "application/json") {
            Self::Pdf
        } else {
            Self::Json
        }
    }

    /// The key of a cached answer.
    pub(super) fn place(self, target: &str) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Json => target.into(),
            // A target never contains a space.
            Self::Pdf => format!("{target} pdf").into(),
        }
    }
}

/// The weight of a media type in thousandths, by the most specific range that contains it (RFC 9110,
/// §12.5.1).
fn preference(accept: &[&str], wanted: &str) -> u32 {
    let family = wanted.split('/').next().unwrap_or_default();
    let mut found = (0, 0);
    for range in accept.iter().flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let specific = match name.split_once('/') {
            _ if name == wanted => 3,
            Some((of, "*")) if of == family => 2,
            Some(("*", "*")) => 1,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        if specific > found.0 {
            found = (specific, weight.map_or(1_000, thousandths));
        }
    }
    found.1
}

/// `0.8` as 800; an invalid weight is 0.
fn thousandths(weight: &str) -> u32 {
    let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = part.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "1" => 1_000,
        "0" if digits && part.len() <= 3 => format!("{part:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;

    #[test]
    fn a_pdf_is_returned_if_the_caller_prefers_it() {
        let rows: Vec<&Operation> = api::product().collect();
        let row = rows.iter().find(|row| row.pdf.is_some()).expect("a row with a PDF");
        let form = |accept: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(ACCEPT, value.parse().expect("a header"));
            }
            Form::wanted(row, &headers)
        };
        for json in [
            &[][..],
            &["*/*"],
            &["application/*"],
            &["application/json"],
            &["text/html, */*;q=0.8"],
            &["application/pdf;q=0.5, application/json"],
            &["application/pdf;q=0"],
            &["application/pdf;q=0.8, */*;q=0.9"],
            &["text/csv"],
            &["application/pdf;q=nonsense"],
            &[""],
        ] {
            assert_eq!(form(json), Form::Json, "{json:?}");
        }
        for pdf in [
            &["application/pdf"][..],
            &["APPLICATION/PDF"],
            &["application/pdf, */*;q=0.8"],
            &["application/json;q=0.2, application/pdf;q=0.3"],
            &["application/*;q=0.5, application/pdf"],
            &["text/html", "application/pdf"],
            &["application/json;q=0, */*"],
        ] {
            assert_eq!(form(pdf), Form::Pdf, "{pdf:?}");
        }
        let other = rows.iter().find(|row| row.pdf.is_none()).expect("a row without");
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, "application/pdf".parse().expect("a header"));
        assert_eq!(Form::wanted(other, &headers), Form::Json);
    }
}
