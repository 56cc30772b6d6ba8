//! Replies: the envelope of the contract, and the serialisation of each kind of reply.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::model::{Entity, Wire};
use crate::value::json_sink::JsonSink;

/// Writes the body of a reply: the same bytes each time.
pub(crate) type WriteBody = Arc<dyn Fn() -> Vec<u8> + Send + Sync>;

/// The body of a reply.
pub(crate) enum ReplyBody {
    Bytes(Vec<u8>),
    Unwritten(WriteBody),
}

/// A reply with metadata for the engine. Its body is written on demand, after the step has released its world.
pub(crate) struct Reply {
    pub(crate) body: ReplyBody,
    /// Whether it is a single resource: it gets an `ETag`, and a created one a `Location`.
    pub(crate) single: bool,
    /// Whether it is a page of a list, which also has formats other than JSON.
    pub(crate) list: bool,
    /// The id of that resource.
    pub(crate) id: Option<String>,
}

impl Reply {
    /// A reply that is not a single resource.
    pub(crate) fn new(write: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::of(ReplyBody::Unwritten(Arc::new(write)))
    }

    /// A reply whose body is known.
    pub(crate) const fn of(body: ReplyBody) -> Self {
        Self { body, single: false, list: false, id: None }
    }

    /// The bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self.body {
            ReplyBody::Bytes(bytes) => bytes,
            ReplyBody::Unwritten(write) => write(),
        }
    }
}

/// Initial capacity: most replies fit.
const USUAL_BYTES: usize = 2_048;

/// A result that a handler can return.
pub(crate) trait IntoReply {
    /// The bytes.
    fn into_reply(self) -> Reply;

    /// Their schema.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// A single resource: `{"data": {…}}`.
pub(crate) struct Data<T>(pub(crate) T);

/// A page: `{"data": […], "meta": {"total", "page"}}`, exactly as published (specification, §2). The `meta` of a list of the control API
/// may have more members.
pub(crate) struct List<T, M = Meta> {
    pub(crate) data: Vec<T>,
    pub(crate) meta: M,
}

impl<T> List<T> {
    /// All rows on one page, for the short lists of the control API.
    pub(crate) fn whole(data: Vec<T>) -> Self {
        Self { meta: Meta { total: data.len() as u64, page: 1 }, data }
    }
}

/// The `meta` of a page.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Meta {
    /// Total number of rows.
    pub(crate) total: u64,
    /// Page number, from 1.
    pub(crate) page: u64,
}

/// Data that is no single resource, in the same envelope: replies of the control API, without `ETag` and `Location`.
pub(crate) struct Plain<T>(pub(crate) T);

/// A resource in its public form.
pub(crate) struct Shown<T>(pub(crate) Arc<T>);

impl<T: Wire> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.wire().serialize(serializer)
    }
}

impl<T> JsonSchema for Shown<T>
where
    T: Wire + 'static,
    T::Shape<'static>: JsonSchema,
{
    fn inline_schema() -> bool {
        T::Shape::<'static>::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::Shape::<'static>::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::Shape::<'static>::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::Shape::<'static>::json_schema(generator)
    }
}

/// A type with an id.
pub(crate) trait Identified {
    /// The id as text.
    fn id_text(&self) -> Option<String>;
}

impl<T: Entity> Identified for Shown<T> {
    fn id_text(&self) -> Option<String> {
        Some(self.0.id().to_string())
    }
}

impl<T: Serialize + JsonSchema + Identified + Send + Sync + 'static> IntoReply for Data<T> {
    fn into_reply(self) -> Reply {
        let id = self.0.id_text();
        Reply { single: true, id, ..Reply::new(move || enveloped(&self.0)) }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        data_schema(generator.subschema_for::<T>())
    }
}

fn enveloped(data: &impl Serialize) -> Vec<u8> {
    let mut body = Vec::with_capacity(USUAL_BYTES);
    body.extend_from_slice(b"{\"data\":");
    write(&mut body, data);
    body.push(b'}');
    body
}

/// The envelope around a single resource.
fn data_schema(data: Schema) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { "data": data },
        "required": ["data"],
        "additionalProperties": false,
    })
}

impl<T, M> IntoReply for List<T, M>
where
    T: Serialize + JsonSchema + Send + Sync + 'static,
    M: Serialize + JsonSchema + Send + Sync + 'static,
{
    fn into_reply(self) -> Reply {
        let write = move || {
            let mut body = Vec::with_capacity(USUAL_BYTES);
            body.extend_from_slice(b"{\"data\":");
            write(&mut body, &self.data);
            body.extend_from_slice(b",\"meta\":");
            write(&mut body, &self.meta);
            body.push(b'}');
            body
        };
        Reply { list: true, ..Reply::new(write) }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<T>();
        page_schema(item, generator.subschema_for::<M>())
    }
}

/// The published envelope for a page of `T`.
pub(crate) fn list_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let item = generator.subschema_for::<T>();
    page_schema(item, generator.subschema_for::<Meta>())
}

fn page_schema(item: Schema, meta: Schema) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { "data": { "type": "array", "items": item }, "meta": meta },
        "required": ["data", "meta"],
        "additionalProperties": false,
    })
}

impl<T: Serialize + JsonSchema + Send + Sync + 'static> IntoReply for Plain<T> {
    fn into_reply(self) -> Reply {
        Reply::new(move || enveloped(&self.0))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        data_schema(generator.subschema_for::<T>())
    }
}

fn write(body: &mut Vec<u8>, value: &impl Serialize) {
    let mut sink = JsonSink::after(std::mem::take(body));
    sink.add(value);
    *body = sink.finish();
}
