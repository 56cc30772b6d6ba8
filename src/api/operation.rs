//! The row type of the operation table. Router, validation, OpenAPI document, docs, CLI and tests are loops over these rows.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::check::Checker;
use crate::api::host::{Process, Session};
use crate::api::pdf::PdfDocument;
use crate::api::reply::{IntoReply, Reply};
use crate::model::task::TaskKind;
use crate::value::{ApiError, ErrorCode, Violation};
use crate::world::World;

/// The methods of rows. The edge answers HEAD like GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// Every method, in the order of an `Allow` header.
    pub(crate) const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// The method in HTTP.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether its input is in the body; otherwise it is in the query.
    pub(crate) const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// The source of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Contract {
    /// The specification shows it: path, method, headers and members are exactly as published.
    Published,
    /// The specification names the area only; the form is an assumption of this project.
    Assumed,
    /// The sandbox's control API, not part of the product.
    Control,
}

/// The tag of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Domain {
    Business,
    Payments,
    Identity,
    Capital,
    Sandbox,
}

impl Domain {
    /// The rows of one file, with this domain. A row that names no contract gets the domain's contract.
    pub(crate) const fn table<const N: usize>(self, mut rows: [Operation; N]) -> [Operation; N] {
        let mut place = 0;
        while place < N {
            rows[place].domain = self;
            if matches!(self, Self::Sandbox) {
                rows[place].contract = Contract::Control;
            }
            place += 1;
        }
        rows
    }
}

/// The function that a row calls. Its type says whether it may write.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// A pure function of the world.
    Read(fn(&World, Value) -> Result<Reply, ApiError>),
    /// May change the world, completely or not at all.
    Write(fn(&mut World, Value) -> Result<Reply, ApiError>),
    /// Changes the world in its own transactions: the clock, a reset. A refusal is possible only before the first of them.
    Drive(fn(&mut World, Value) -> Result<Reply, ApiError>),
    /// Acts on the tester state: webhooks, request log, snapshots, scenarios. It changes the world in its own transactions.
    Tester(fn(&mut Session<'_>, Value) -> Result<Reply, ApiError>),
    /// Returns data about the process. It needs no key, and gets the key's world if a key is sent.
    Open(fn(&Process, Option<&World>) -> Reply),
}

/// Creates a PDF document from a validated input.
pub(crate) type PdfCall = fn(&World, Value) -> Result<PdfDocument, ApiError>;

/// The possible effects of an operation or a timer.
#[derive(Clone, Copy)]
pub(crate) struct Effects {
    /// The events that it emits itself.
    pub(crate) emits: &'static [&'static str],
    /// The timers that it starts: their events follow later.
    pub(crate) starts: &'static [TaskKind],
}

impl Effects {
    /// The effects of the operation with that name. A name that the table does not have is a compile error.
    pub(crate) const fn of(table: &[Operation], name: &str) -> Self {
        let mut place = 0;
        while !is_same(table[place].name, name) {
            place += 1;
        }
        Self { emits: table[place].emits, starts: table[place].starts }
    }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

/// One operation.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the operation")]
pub(crate) struct Operation {
    /// The handler's name; `operationId` is the same in camelCase.
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    /// With `{name}` for path parameters.
    pub(crate) path: &'static str,
    pub(crate) domain: Domain,
    pub(crate) contract: Contract,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    /// A body as JSON that works on a fresh world of the default seed; empty if there is no body.
    pub(crate) example: &'static str,
    pub(crate) success: u16,
    /// The handler's own error codes, in addition to those of every row.
    pub(crate) errors: &'static [ErrorCode],
    /// The events emitted directly by the call.
    pub(crate) emits: &'static [&'static str],
    /// The timers that it starts: their events follow later.
    pub(crate) starts: &'static [TaskKind],
    /// The timers and operations that it runs at once: it can cause all that they cause.
    pub(crate) runs: &'static [&'static [Effects]],
    pub(crate) call: Call,
    /// Whether the call can take many milliseconds in a large world, so that the server must first move its other
    /// work to another thread.
    pub(crate) long: bool,
    /// Creates the resource as a PDF, if a caller accepts `application/pdf` instead of JSON. Only for rows that read one resource.
    pub(crate) pdf: Option<PdfCall>,
    /// Returns only the PDF, at a path of its own: generated clients have one type for each operation.
    pub(crate) only_pdf: bool,
    /// It opens no world: a key without one is a 404.
    pub(crate) existing: bool,
    /// Its reply is a stream of Server-Sent Events that lasts until the caller disconnects.
    pub(crate) streams: bool,
    pub(crate) input: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) output: fn(&mut SchemaGenerator) -> Schema,
}

impl Operation {
    /// `listEmployees` for `list_employees`.
    pub(crate) fn operation_id(&self) -> String {
        let mut words = self.name.split('_');
        let mut id = words.next().unwrap_or_default().to_owned();
        for word in words {
            let (first, rest) = word.split_at(1);
            id.push_str(&first.to_ascii_uppercase());
            id.push_str(rest);
        }
        id
    }

    /// The checker of its complete input, compiled anew, for calls without a route.
    pub(crate) fn checker(&self) -> Checker {
        let mut generator = SchemaGenerator::default();
        let schema = (self.input)(&mut generator).to_value();
        let definitions = generator.take_definitions(true);
        Checker::compile(&schema, &definitions)
    }

    /// Validates an input that did not come through a route.
    pub(crate) fn check(&self, input: &Value) -> Result<(), ApiError> {
        match self.checker().check(input) {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(ApiError::invalid(wrong)),
        }
    }

    /// Its own effects, and those of the rows that it runs.
    pub(crate) fn effects(&self) -> impl Iterator<Item = Effects> + Clone {
        let own = Effects { emits: self.emits, starts: self.starts };
        core::iter::once(own).chain(self.runs.iter().copied().flatten().copied())
    }

    /// Names in braces, in path order.
    pub(crate) fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// The members of a row that follow from the handler's type: `..operation!(write create_payout)`.
macro_rules! operation {
    (read $handler:ident) => {
        $crate::api::operation::operation!(reading $handler, stringify!($handler))
    };
    (get $name:ident: $resource:ty) => {{
        use $crate::api::crud::get;
        $crate::api::operation::operation!(reading (get::<$resource>), stringify!($name))
    }};
    (reading $handler:tt, $name:expr) => {
        $crate::api::operation::Operation {
            name: $name,
            call: $crate::api::operation::Call::Read(|world, input| {
                $crate::api::operation::answer($handler(
                    world,
                    $crate::api::operation::decode(input)?,
                ))
            }),
            input: |generator| $crate::api::operation::input_of_read($handler, generator),
            output: |generator| $crate::api::operation::output_of_read($handler, generator),
            ..$crate::api::operation::BLANK
        }
    };
    (write $handler:ident) => {
        $crate::api::operation::operation!(changing Write $handler)
    };
    (drive $handler:ident) => {
        $crate::api::operation::operation!(changing Drive $handler)
    };
    (changing $call:ident $handler:ident) => {
        $crate::api::operation::Operation {
            name: stringify!($handler),
            method: $crate::api::operation::Method::Post,
            call: $crate::api::operation::Call::$call(|world, input| {
                $crate::api::operation::answer($handler(
                    world,
                    $crate::api::operation::decode(input)?,
                ))
            }),
            input: |generator| $crate::api::operation::input_of_write($handler, generator),
            output: |generator| $crate::api::operation::output_of_write($handler, generator),
            ..$crate::api::operation::BLANK
        }
    };
    (tester $handler:ident) => {
        $crate::api::operation::Operation {
            name: stringify!($handler),
            call: $crate::api::operation::Call::Tester(|session, input| {
                $crate::api::operation::answer($handler(
                    session,
                    $crate::api::operation::decode(input)?,
                ))
            }),
            input: |generator| $crate::api::operation::input_of_tester($handler, generator),
            output: |generator| $crate::api::operation::output_of_tester($handler, generator),
            ..$crate::api::operation::BLANK
        }
    };
    (open $handler:ident) => {
        $crate::api::operation::Operation {
            name: stringify!($handler),
            call: $crate::api::operation::Call::Open(|process, world| {
                $crate::api::reply::IntoReply::into_reply($handler(process, world))
            }),
            input: |generator| {
                <$crate::api::operation::Nothing as schemars::JsonSchema>::json_schema(generator)
            },
            output: |generator| $crate::api::operation::output_of_open($handler, generator),
            ..$crate::api::operation::BLANK
        }
    };
}
pub(crate) use operation;

/// An input without members.
#[derive(serde::Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

/// The default members of a row.
pub(crate) const BLANK: Operation = Operation {
    long: false,
    name: "",
    method: Method::Get,
    path: "",
    domain: Domain::Business,
    contract: Contract::Assumed,
    summary: "",
    description: "",
    example: "",
    success: 200,
    errors: &[],
    emits: &[],
    starts: &[],
    runs: &[],
    call: Call::Open(|_, _| unreachable!("every row is filled by operation!")),
    pdf: None,
    only_pdf: false,
    existing: false,
    streams: false,
    input: |generator| Nothing::json_schema(generator),
    output: |generator| Nothing::json_schema(generator),
};

/// Decodes validated input to the handler's type. The schema has already refused everything that serde would refuse. If they ever differ,
/// the caller gets a 422 and not a crash.
pub(crate) fn decode<I: DeserializeOwned>(input: Value) -> Result<I, ApiError> {
    serde_json::from_value(input).map_err(misshapen)
}

fn misshapen(error: serde_json::Error) -> ApiError {
    ApiError::invalid(vec![Violation::new("", "shape", error.to_string())])
}

/// A handler's result as a reply.
pub(crate) fn answer<O: IntoReply>(result: Result<O, ApiError>) -> Result<Reply, ApiError> {
    result.map(IntoReply::into_reply)
}

type Reading<I, O> = fn(&World, I) -> Result<O, ApiError>;
type Writing<I, O> = fn(&mut World, I) -> Result<O, ApiError>;
type WithTester<I, O> = fn(&mut Session<'_>, I) -> Result<O, ApiError>;
type Opening<O> = fn(&Process, Option<&World>) -> O;

pub(crate) fn input_of_read<I: JsonSchema, O>(
    _: Reading<I, O>,
    generator: &mut SchemaGenerator,
) -> Schema {
    I::json_schema(generator)
}

pub(crate) fn output_of_read<I, O: IntoReply>(
    _: Reading<I, O>,
    generator: &mut SchemaGenerator,
) -> Schema {
    O::schema(generator)
}

pub(crate) fn input_of_write<I: JsonSchema, O>(
    _: Writing<I, O>,
    generator: &mut SchemaGenerator,
) -> Schema {
    I::json_schema(generator)
}

pub(crate) fn output_of_write<I, O: IntoReply>(
    _: Writing<I, O>,
    generator: &mut SchemaGenerator,
) -> Schema {
    O::schema(generator)
}

pub(crate) fn input_of_tester<I: JsonSchema, O>(
    _: WithTester<I, O>,
    generator: &mut SchemaGenerator,
) -> Schema {
    I::json_schema(generator)
}

pub(crate) fn output_of_tester<I, O: IntoReply>(
    _: WithTester<I, O>,
    generator: &mut SchemaGenerator,
) -> Schema {
    O::schema(generator)
}

pub(crate) fn output_of_open<O: IntoReply>(
    _: Opening<O>,
    generator: &mut SchemaGenerator,
) -> Schema {
    O::schema(generator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_ids_are_camel_case() {
        let row = Operation { name: "list_payroll_items", path: "/a/{b}/c/{d}", ..BLANK };
        assert_eq!(row.operation_id(), "listPayrollItems");
        assert_eq!(row.path_parameters().collect::<Vec<_>>(), ["b", "d"]);
    }
}
