//! Reads, with a cache of answers until the world changes.

use std::sync::{MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::engine::cache::{Cached, ReadCache};
use crate::engine::export::{self, ReadCall};
use crate::engine::headers::{NOSNIFF, REQUEST_ID, SANDBOX_TIME};
use crate::engine::past::{AS_OF, AsOf};
use crate::engine::represent::Form;
use crate::engine::request::{Request, etag, request_id};
use crate::engine::response::is_known;
use crate::engine::slot::Slot;
use crate::engine::state::Engine;
use crate::engine::write;
use crate::value::error::ApiError;
use crate::world::{ClockMode, World};

impl Engine {
    /// A read is a pure function of the world's version, path and query. Its answer is cached until the world
    /// changes.
    pub(super) fn read(
        &self,
        request: &Request<'_>,
        slot: &Slot,
        call: ReadCall,
    ) -> Response<Bytes> {
        let form = request.form;
        let (head, route) = (request.head, request.route);
        if let Ok(Some(as_of)) = AsOf::of(route, &head.method, request.own) {
            return self.read_past(request, slot, call, as_of);
        }
        if form.is_export() {
            return export::open(request, slot, slot.world().clone(), call);
        }
        let (place, world) = (form.place(request.target()), slot.world());
        request.trace.now.set(Some(world.now()));
        let untouched = world.is_fresh();
        // If the wall clock drives the world, time alone changes the answers.
        let is_lasting = world.mode() != ClockMode::Real;
        let (kept, time) = {
            let mut memory = slot.memory();
            let kept = if untouched || !is_lasting { None } else { memory.reads.get(&place) };
            (kept, memory.time_header(world.now()))
        };
        let kept = if untouched && is_lasting { self.shared_cache().get(&place) } else { kept };
        let answer = match kept {
            Some(cached) => Ok(cached),
            None => read(request, &world, call, &time).map(|cached| {
                if !is_lasting {
                    cached
                } else if untouched {
                    self.shared_cache().put(&place, cached)
                } else {
                    slot.memory().reads.put(&place, cached)
                }
            }),
        };
        match answer {
            Ok(cached) => cached.reply(&request.head.headers),
            Err(error) => write::refused(request, slot, &world, &error),
        }
    }

    /// A read of an earlier state. Answers are not cached, because the dashboard's slider reads each state once.
    fn read_past(
        &self,
        request: &Request<'_>,
        slot: &Slot,
        call: ReadCall,
        as_of: AsOf,
    ) -> Response<Bytes> {
        let world = match self.as_of(slot, as_of) {
            Ok(world) => world,
            Err(error) => return write::refused(request, slot, &slot.world(), &error),
        };
        request.trace.now.set(Some(world.now()));
        let length = HeaderValue::from(world.log_length());
        let mut response = if request.form.is_export() {
            export::open(request, slot, world, call)
        } else {
            let time = slot.memory().time_header(world.now());
            match read(request, &world, call, &time) {
                Ok(answer) => answer.reply(&request.head.headers),
                Err(error) => write::refused(request, slot, &world, &error),
            }
        };
        response.headers_mut().insert(AS_OF, length);
        response
    }

    /// A panic under the lock cannot leave an incomplete answer, because each is inserted by one call.
    fn shared_cache(&self) -> MutexGuard<'_, ReadCache> {
        self.untouched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(
    request: &Request<'_>,
    world: &World,
    call: ReadCall,
    time: &HeaderValue,
) -> Result<Cached, ApiError> {
    let (row, form) = (request.route.operation, request.form);
    let input = request.bind(None)?;
    let pdf = row.pdf.filter(|_| form == Form::Pdf);
    let (body, single, list, file) = if let Some(pdf) = pdf {
        let pdf = pdf(world, input)?;
        let file = format!("inline; filename=\"{}.pdf\"", pdf.file);
        (pdf.to_pdf(), true, false, HeaderValue::try_from(file).ok())
    } else {
        let reply = call(world, input)?;
        let (single, list) = (reply.single, reply.list);
        (reply.into_bytes(), single, list, None)
    };
    let key =
        world.base().key().with("read").at(world.version()).with(&form.place(request.target()));
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, form.content_type());
    headers.insert(REQUEST_ID, request_id(key));
    if (row.pdf.is_some() && !row.only_pdf) || list {
        headers.insert(VARY, HeaderValue::from_static("Accept"));
    }
    headers.extend(file.map(|file| (CONTENT_DISPOSITION, file)));
    if single {
        headers.insert(ETAG, etag(&body));
    }
    headers.insert(SANDBOX_TIME, time.clone());
    // The network layer adds this header to every reply. A stored answer has it already, because adding it to a copy allocates a larger table.
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    Ok(Cached { body: Bytes::from(body), headers })
}

impl Cached {
    /// The reply, or 304 if the caller already has it.
    fn reply(self, sent: &HeaderMap) -> Response<Bytes> {
        let is_sent = sent.contains_key(IF_NONE_MATCH)
            && self.headers.get(ETAG).is_some_and(|etag| is_known(sent, etag));
        let mut response = Response::new(if is_sent { Bytes::new() } else { self.body });
        if is_sent {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        *response.headers_mut() = self.headers;
        response
    }
}
