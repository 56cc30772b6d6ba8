//! The operation table's row type. Router, validation, OpenAPI document, docs, CLI and tests are loops over such rows.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::check::Checker;
use crate::api::pdf::PdfDocument;
use crate::api::reply::{IntoReply, Reply};
use crate::tester::Tester;
use crate::tester::snapshots::TesterPart;
use crate::value::{ApiError, ErrorCode, Timestamp, Violation};
use crate::world::World;
use crate::world::script::Scenario;

/// The methods that rows use. HEAD is answered as GET by the edge.
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

    /// The method on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether its input travels in a body; otherwise it is in the query.
    pub(crate) const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// What vouches for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Contract {
    /// The specification shows it: path, method, headers and members are kept to the letter.
    Published,
    /// The specification names the area and leaves the shape open; ours.
    Assumed,
    /// The sandbox's own control plane, no part of the product.
    Control,
}

/// Which tag a row stands under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Domain {
    Business,
    Payments,
    Identity,
    #[allow(dead_code, reason = "its rows come next")]
    Capital,
    Sandbox,
}

/// What happens when a row is called. The type says which may write.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// A function of the world as it stands.
    Read(fn(&World, Value) -> Result<Reply, ApiError>),
    /// May change the world, wholly or not at all.
    Write(fn(&mut World, Value) -> Result<Reply, ApiError>),
    /// Drives the world through transactions of its own: the clock, a reset. Refuses before the first of them or not at all.
    Drive(fn(&mut World, Value) -> Result<Reply, ApiError>),
    /// Acts on the tester beside the world: webhooks, the journal, snapshots, scenarios. What it does to the world is
    /// done in transactions of its own.
    Tester(fn(&mut Session<'_>, Value) -> Result<Reply, ApiError>),
    /// Answers about the process; needs no key, and sees the key's world where one is sent.
    Open(fn(&Process, Option<&World>) -> Reply),
}

/// One key's world and tester, held alone, and the host around them.
pub(crate) struct Session<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) tester: &'a mut Tester,
    pub(crate) host: &'a dyn Host,
}

/// What a row of the control plane may ask beyond its own key: the engine answers.
pub(crate) trait Host {
    /// Every scenario that can be loaded by name, by name.
    fn scenarios(&self) -> Vec<Arc<Scenario>>;

    /// The scenario of that name; an error is the refusal that names the nearest.
    fn scenario(&self, name: &str) -> Result<Arc<Scenario>, ApiError>;

    /// Opens another key on that world and with that part of a tester. It must be a key that may open one and has none yet.
    fn open(&self, key: &str, world: World, part: TesterPart) -> Result<(), ApiError>;

    /// Where every open world stands, without waiting for any of them.
    fn worlds(&self) -> Vec<OpenWorld>;
}

/// Where an open world stood after its last change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenWorld {
    /// What the log names its key by.
    pub(crate) tag: u32,
    /// Its place among the worlds that this process has opened, from 1.
    pub(crate) opened: u64,
    pub(crate) seed: u64,
    pub(crate) now: Timestamp,
    pub(crate) version: u64,
    pub(crate) events: u64,
    pub(crate) records: u64,
    pub(crate) snapshots: u64,
}

impl OpenWorld {
    /// Where a world stands now.
    pub(crate) fn of(world: &World, tag: u32, opened: u64) -> Self {
        Self {
            tag,
            opened,
            seed: world.base().seed(),
            now: world.now(),
            version: world.version(),
            events: world.log().len(),
            records: world.record_count(),
            snapshots: 0,
        }
    }
}

/// What an open row may tell of the process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// The seed and shape that an unknown key's world is grown from.
    pub(crate) seed: u64,
    pub(crate) shape: crate::world::base::Shape,
    pub(crate) mode: crate::world::ClockMode,
    /// Worlds that are open.
    pub(crate) worlds: u64,
}

/// What makes a page of a checked input.
pub(crate) type PdfCall = fn(&World, Value) -> Result<PdfDocument, ApiError>;

/// One operation.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    /// The handler's name; `operationId` is the same in camelCase.
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    /// With `{name}` for what is in the path.
    pub(crate) path: &'static str,
    pub(crate) domain: Domain,
    pub(crate) contract: Contract,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    /// A body that works on a fresh world of the default seed, as JSON; empty where none is sent.
    pub(crate) example: &'static str,
    pub(crate) success: u16,
    /// What the handler itself may refuse with, beyond what every row may.
    pub(crate) errors: &'static [ErrorCode],
    /// The events of the call itself.
    pub(crate) emits: &'static [&'static str],
    /// Names of the system rows that it sets off: what they cause comes as the clock moves.
    pub(crate) starts: &'static [&'static str],
    pub(crate) call: Call,
    /// The same as a page to print, where a caller accepts `application/pdf` rather than JSON: of rows that read one resource.
    pub(crate) pdf: Option<PdfCall>,
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

    /// What checks its input as a whole, wherever its members travel. Compiled anew: for calls that no route carries.
    pub(crate) fn checker(&self) -> Checker {
        let mut generator = SchemaGenerator::default();
        let schema = (self.input)(&mut generator).to_value();
        let definitions = generator.take_definitions(true);
        Checker::compile(&schema, &definitions)
    }

    /// Checks an input that no route has bound.
    pub(crate) fn check(&self, input: &Value) -> Result<(), ApiError> {
        match self.checker().check(input) {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(ApiError::invalid(wrong)),
        }
    }

    /// Names in braces, in the order of the path.
    pub(crate) fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// The part of a row that the handler's own type says: `..operation!(write create_payout)`.
macro_rules! operation {
    (read $handler:ident) => {
        $crate::api::operation::Operation {
            name: stringify!($handler),
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

/// What a row has before its literal fills it in.
pub(crate) const BLANK: Operation = Operation {
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
    call: Call::Open(|_, _| unreachable!("every row is filled by operation!")),
    pdf: None,
    input: |generator| Nothing::json_schema(generator),
    output: |generator| Nothing::json_schema(generator),
};

/// Checked input as the handler's own type. The schema has already said everything that serde could refuse; should the two
/// ever differ, the caller still gets a 422 and not a crash.
pub(crate) fn decode<I: DeserializeOwned>(input: Value) -> Result<I, ApiError> {
    serde_json::from_value(input)
        .map_err(|error| ApiError::invalid(vec![Violation::new("", "shape", error.to_string())]))
}

/// A handler's answer as a reply.
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
