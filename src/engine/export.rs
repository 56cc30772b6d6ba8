//! A whole list as CSV or as lines of JSON.
//!
//! A list in the world is sent in pieces. It is read from a copy of the world, which shares all data with the world, so the pieces agree and
//! no other request waits. A list of the tester is bounded, and is written at once.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, VARY};
use http::{HeaderValue, Response};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::crud::EXPORT_ROWS;
use crate::api::reply::{Reply, ReplyBody};
use crate::engine::columns::Column;
use crate::engine::headers::{REQUEST_ID, SANDBOX_TIME};
use crate::engine::lock::lock;
use crate::engine::problem;
use crate::engine::represent::Form;
use crate::engine::request::{Request, request_id};
use crate::engine::slot::Slot;
use crate::value::{ApiError, long_work};
use crate::world::World;

/// Reads a world.
pub(super) type ReadCall = fn(&World, Value) -> Result<Reply, ApiError>;

/// In a reply's extensions: the export that the network layer sends.
#[derive(Clone)]
pub(crate) struct Exported(Arc<Mutex<Option<Export>>>);

impl Exported {
    /// The export, once.
    pub(crate) fn take(&self) -> Option<Export> {
        lock(&self.0).take()
    }
}

/// A list that is being sent.
pub(crate) struct Export {
    world: World,
    call: ReadCall,
    table: Table,
    /// The first piece, until it is sent.
    first: Option<Vec<u8>>,
}

impl Export {
    /// The next piece; none after the last one.
    pub(crate) fn next(&mut self) -> Option<Result<Bytes, ApiError>> {
        let piece = self.first.take().map_or_else(|| self.piece(), |first| Some(Ok(first)));
        piece.map(|piece| piece.map(Bytes::from))
    }

    fn piece(&mut self) -> Option<Result<Vec<u8>, ApiError>> {
        let (world, call) = (&self.world, self.call);
        self.table.piece(|input| long_work::run(|| call(world, input).map(Reply::into_bytes)))
    }
}

/// The rows of a list, page by page.
struct Table {
    form: Form,
    columns: &'static [Column],
    input: Value,
    /// The number of the last page that was read.
    page: u64,
    /// The rows that are not read yet; none before the first page.
    left: Option<u64>,
}

/// A page as the handler writes it.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
    meta: Total,
}

#[derive(Deserialize)]
struct Total {
    total: u64,
}

impl Table {
    fn new(request: &Request<'_>, input: Value) -> Self {
        let columns = request.route.columns().expect("only a list has such a form");
        Self { form: request.form, columns, input, page: 0, left: None }
    }

    /// The next page, written; none after the last one.
    fn piece(
        &mut self,
        read: impl FnOnce(Value) -> Result<Vec<u8>, ApiError>,
    ) -> Option<Result<Vec<u8>, ApiError>> {
        if self.left == Some(0) {
            return None;
        }
        self.page += 1;
        self.input["page"] = self.page.into();
        self.input["per_page"] = EXPORT_ROWS.into();
        let page = match read(self.input.clone()) {
            Ok(page) => page,
            Err(error) => return Some(Err(error)),
        };
        let page: Page<'_> = serde_json::from_slice(&page).expect("a list has rows and a total");
        let left = self.left.unwrap_or(page.meta.total);
        // A short list may have all of its rows on its first page.
        let rows = (page.data.len() as u64).max(EXPORT_ROWS);
        self.left = Some(left.saturating_sub(rows));
        let mut out = Vec::new();
        if self.form == Form::Csv && self.page == 1 {
            line(&mut out, self.columns.iter().map(|column| cell(column.join("."))));
        }
        for row in page.data {
            if self.form == Form::Csv {
                let row: Value = serde_json::from_str(row.get()).expect("a row is JSON");
                line(&mut out, self.columns.iter().map(|column| cell_of(&row, column)));
            } else {
                out.extend_from_slice(row.get().as_bytes());
                out.push(b'\n');
            }
        }
        Some(Ok(out))
    }
}

fn line(out: &mut Vec<u8>, cells: impl Iterator<Item = String>) {
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(cell.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

/// The cell of a member. Null and absent members are empty; an empty text is a pair of quotes.
fn cell_of(row: &Value, column: &Column) -> String {
    let found = column.iter().try_fold(row, |value, name| value.get(name));
    match found {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Value::String(text)) => cell(text.clone()),
        Some(other) => cell(other.to_string()),
    }
}

/// A cell after RFC 4180.
fn cell(text: String) -> String {
    if text.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// The reply to a request for a list of the world.
pub(super) fn open(
    request: &Request<'_>,
    slot: &Slot,
    world: World,
    call: ReadCall,
) -> Response<Bytes> {
    request.trace.now.set(Some(world.now()));
    let time = slot.memory().time_header(world.now());
    let id = world.base().key().with("export").at(world.version()).with(request.target());
    let begun = request.bind(None).and_then(|input| {
        let table = Table::new(request, input);
        let mut export = Export { world, call, table, first: None };
        export.first = export.piece().transpose()?;
        Ok(export)
    });
    let mut response = match begun {
        Ok(mut export) if export.table.left == Some(0) => {
            Response::new(Bytes::from(export.first.take().unwrap_or_default()))
        }
        Ok(export) => {
            let mut response = Response::new(Bytes::new());
            response.extensions_mut().insert(Exported(Arc::new(Mutex::new(Some(export)))));
            response
        }
        Err(error) => {
            let mut response = problem::reply(&error, &request.refused_id(&slot.world()));
            response.headers_mut().insert(SANDBOX_TIME, time);
            return response;
        }
    };
    let headers = response.headers_mut();
    mark(headers, request);
    headers.insert(REQUEST_ID, request_id(id));
    headers.insert(SANDBOX_TIME, time);
    response
}

/// The headers of an export: its media type and the name of the file.
pub(super) fn mark(headers: &mut http::HeaderMap, request: &Request<'_>) {
    headers.insert(CONTENT_TYPE, request.form.content_type());
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    let name = request.route.operation.path.rsplit('/').next().unwrap_or_default();
    let ending = if request.form == Form::Csv { "csv" } else { "ndjson" };
    let file = format!("attachment; filename=\"{name}.{ending}\"");
    headers.extend(HeaderValue::try_from(file).ok().map(|file| (CONTENT_DISPOSITION, file)));
}

/// Calls the tester for a list, and writes all of its pages if the request has such a form.
pub(super) fn of_tester(
    request: &Request<'_>,
    input: Value,
    mut call: impl FnMut(Value) -> Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    if !request.form.is_export() {
        return call(input);
    }
    let (mut table, mut whole) = (Table::new(request, input), Vec::new());
    while let Some(piece) = table.piece(|input| call(input).map(Reply::into_bytes)) {
        whole.append(&mut piece?);
    }
    Ok(Reply::of(ReplyBody::Bytes(whole)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_follow_rfc_4180() {
        let row =
            json!({"a": "x, \"y\"", "b": null, "c": {"d": 1}, "e": [1, "z"], "f": "", "g": "=1"});
        let cell = |path: &[&str]| {
            let column: Column = path.iter().map(|&name| name.to_owned()).collect();
            cell_of(&row, &column)
        };
        assert_eq!(cell(&["a"]), r#""x, ""y""""#);
        assert_eq!(cell(&["b"]), "");
        assert_eq!(cell(&["c", "d"]), "1");
        assert_eq!(cell(&["e"]), r#""[1,""z""]""#);
        assert_eq!(cell(&["f"]), "\"\"");
        assert_eq!(cell(&["g"]), "=1");
        assert_eq!(cell(&["h", "i"]), "");
    }
}
