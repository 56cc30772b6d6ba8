//! The form of a reply: JSON, or another form of the row that the caller prefers.

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};

use crate::api::list::{CSV, LINES};
use crate::api::operation::Operation;
use crate::api::pdf::PDF;
use crate::engine::router::Route;
use crate::value::{ApiError, ErrorCode};

/// The form of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Json,
    Pdf,
    /// A whole list as CSV.
    Csv,
    /// A whole list as lines of JSON.
    Lines,
    /// The event stream.
    Stream,
}

impl Form {
    /// The form that the caller prefers among those of the row. 406 if it has none of the accepted ones.
    pub(super) fn wanted(route: &Route, headers: &HeaderMap) -> Result<Self, ApiError> {
        let row = route.operation;
        let usual = match row {
            Operation { streams: true, .. } => Self::Stream,
            Operation { only_pdf: true, .. } => Self::Pdf,
            _ => Self::Json,
        };
        let sent = headers.get_all(ACCEPT).iter();
        let sent: Vec<&str> = sent.filter_map(|value| value.to_str().ok()).collect();
        let accepts_all = sent.iter().all(|value| value.trim().is_empty());
        let weight = |form: Self| preference(&sent, form.media_type());
        // A reply without a body meets every header.
        if accepts_all || row.success == 204 || weight(usual) == MOST {
            return Ok(usual);
        }
        let mut forms = vec![usual];
        forms.extend(row.pdf.filter(|_| !row.only_pdf).map(|_| Self::Pdf));
        if route.columns().is_some() {
            forms.extend([Self::Csv, Self::Lines]);
        }
        // The first of equal ones.
        let best = forms.iter().copied().rev().max_by_key(|form| weight(*form)).unwrap_or(usual);
        if weight(best) > 0 {
            return Ok(best);
        }
        let names: Vec<&str> = forms.iter().map(|form| form.media_type()).collect();
        let detail =
            format!("change the Accept header: this operation returns {}", names.join(", "));
        Err(ApiError::new(ErrorCode::NotAcceptable, detail))
    }

    /// Its media type.
    const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Pdf => PDF,
            Self::Csv => CSV,
            Self::Lines => LINES,
            Self::Stream => "text/event-stream",
        }
    }

    /// Its `Content-Type`.
    pub(super) fn content_type(self) -> HeaderValue {
        match self {
            Self::Csv => HeaderValue::from_static("text/csv; charset=utf-8; header=present"),
            other => HeaderValue::from_static(other.media_type()),
        }
    }

    /// Whether it is a whole list.
    pub(super) const fn is_export(self) -> bool {
        matches!(self, Self::Csv | Self::Lines)
    }

    /// The key of a cached answer.
    pub(super) fn place(self, target: &str) -> std::borrow::Cow<'_, str> {
        match self {
            // A target never contains a space.
            Self::Pdf => format!("{target} pdf").into(),
            _ => target.into(),
        }
    }
}

/// The weight of a media type without a `q`.
const MOST: u32 = 1_000;

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
            found = (specific, weight.map_or(MOST, thousandths));
        }
    }
    found.1
}

/// `0.8` as 800; an invalid weight is 0.
fn thousandths(weight: &str) -> u32 {
    let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = part.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "1" => MOST,
        "0" if digits && part.len() <= 3 => format!("{part:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::contract::Rows;
    use crate::engine::router::Router;

    fn route(fits: impl Fn(&Operation) -> bool) -> &'static Route {
        let routes = Router::new(&Rows::default()).routes();
        routes.iter().find(|route| fits(route.operation)).expect("a row")
    }

    fn form(route: &Route, accept: &[&'static str]) -> Option<Form> {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(ACCEPT, value.parse().expect("a header"));
        }
        let form = Form::wanted(route, &headers);
        form.map_err(|refused| assert_eq!(refused.code, ErrorCode::NotAcceptable)).ok()
    }

    #[test]
    fn a_pdf_is_returned_if_the_caller_prefers_it() {
        let row = route(|row| row.pdf.is_some());
        for json in [
            &[][..],
            &["*/*"],
            &["application/*"],
            &["application/json"],
            &["text/html, */*;q=0.8"],
            &["application/pdf;q=0.5, application/json"],
            &["application/pdf;q=0.8, */*;q=0.9"],
            &[""],
        ] {
            assert_eq!(form(row, json), Some(Form::Json), "{json:?}");
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
            assert_eq!(form(row, pdf), Some(Form::Pdf), "{pdf:?}");
        }
        for neither in ["text/csv", "application/pdf;q=0", "application/pdf;q=nonsense", "text/*"] {
            assert_eq!(form(row, &[neither]), None, "{neither}");
        }
        let other = route(|row| row.name == "get_company");
        assert_eq!(form(other, &["application/pdf"]), None);
        assert_eq!(form(other, &["application/pdf, application/json;q=0.1"]), Some(Form::Json));
    }

    #[test]
    fn a_list_is_returned_as_a_table_if_the_caller_prefers_it() {
        let list = route(|row| row.name == "list_payouts");
        for (accept, expected) in [
            ("text/csv", Some(Form::Csv)),
            ("text/*", Some(Form::Csv)),
            ("text/csv; charset=utf-8", Some(Form::Csv)),
            ("application/x-ndjson", Some(Form::Lines)),
            ("application/x-ndjson, text/csv;q=0.9", Some(Form::Lines)),
            ("text/csv, application/json;q=0.1", Some(Form::Csv)),
            ("text/csv, application/json", Some(Form::Json)),
            ("*/*", Some(Form::Json)),
            ("application/pdf", None),
            ("application/xml, image/*", None),
        ] {
            assert_eq!(form(list, &[accept]), expected, "{accept}");
        }
        assert_eq!(form(route(|row| row.name == "get_payout"), &["text/csv"]), None);
        let stream = route(|row| row.streams);
        assert_eq!(form(stream, &["text/event-stream"]), Some(Form::Stream));
        assert_eq!(form(stream, &["application/json"]), None);
    }
}
