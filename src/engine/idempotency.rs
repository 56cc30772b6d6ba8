//! Idempotency keys: a request that is sent twice is one request (IETF draft semantics;
//! `docs/conventions.md`).

use std::collections::BTreeSet;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use imbl::{HashMap, Vector};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::json;
use crate::engine::headers::{IDEMPOTENCY_KEY, REPLAYED};
use crate::engine::lazy_body::{LazyBody, StoredBody};
use crate::engine::response::Replayed;
use crate::tester::request_log::KeyOutcome;
use crate::value::{ApiError, ErrorCode, Timestamp, Violation};

/// The time for which an answer is stored, in virtual time.
const LIFETIME_MS: i64 = 24 * 60 * 60 * 1_000;
/// The most answers that a world stores; beyond it the oldest are dropped.
const MOST: usize = 10_000;

/// A key, a space, and the path for which it counts. The table belongs to a world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct IdempotencyKey(Arc<str>);

impl IdempotencyKey {
    fn new(key: &str, path: &str) -> Self {
        Self([key, path].join(" ").into())
    }

    /// The key, which contains no space, and the path.
    fn parts(&self) -> (&str, &str) {
        self.0.split_once(' ').unwrap_or((&self.0, ""))
    }

    /// The key of a POST to this path of the table, if it has one. A required key must be present.
    pub(super) fn of(head: &Parts, path: &str, required: bool) -> Result<Option<Self>, ApiError> {
        let mut values = head.headers.get_all(IDEMPOTENCY_KEY).iter();
        let (Some(value), Method::POST) = (values.next(), head.method.clone()) else {
            if required {
                let detail = "this operation requires an Idempotency-Key: send a new one with every new request";
                return Err(ApiError::new(ErrorCode::IdempotencyKeyInvalid, detail));
            }
            return Ok(None);
        };
        let text = value.to_str().ok().filter(|_| values.next().is_none());
        let key = text.map(|text| {
            text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
        });
        match key {
            Some(key)
                if (1..=255).contains(&key.len())
                    && key.bytes().all(|byte| byte.is_ascii_graphic()) =>
            {
                Ok(Some(Self::new(key, path)))
            }
            _ => {
                let detail = "an Idempotency-Key must be sent once and have 1 to 255 visible ASCII characters, quoted or bare";
                Err(ApiError::new(ErrorCode::IdempotencyKeyInvalid, detail))
            }
        }
    }

    /// The key without quotes.
    pub(super) fn text(&self) -> Box<str> {
        self.parts().0.into()
    }
}

/// Whether an answer is stored: all answers after the start of the execution. An earlier refusal is not
/// stored, so that the caller can correct and repeat the request. A 402 is not stored either: the same request
/// succeeds when there is more money.
pub(crate) fn is_kept(status: StatusCode) -> bool {
    !matches!(status.as_u16(), 400..=404 | 412 | 429 | 500..)
}

/// The state of a key.
pub(super) enum Seen {
    /// Unknown; its request is running from now on.
    Never,
    /// The same request is being processed.
    Running(ApiError),
    Replay(Response<LazyBody>),
    OtherBody(ApiError),
}

impl Seen {
    /// Its entry in the request log.
    pub(super) const fn outcome(&self) -> KeyOutcome {
        match self {
            Self::Never => KeyOutcome::Fresh,
            Self::Running(_) => KeyOutcome::InProgress,
            Self::Replay(_) => KeyOutcome::Replayed,
            Self::OtherBody(_) => KeyOutcome::Reused,
        }
    }
}

/// Answers by key.
#[derive(Debug, Default)]
pub(super) struct SeenKeys {
    answers: Answers,
    running: BTreeSet<IdempotencyKey>,
    /// Counts the replacements of all answers. An answer from before a replacement is not stored after it.
    age: u64,
}

/// The stored answers. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    by_key: HashMap<IdempotencyKey, Arc<Kept>>,
    /// The keys in the order in which they expire, with the instant.
    stored: Vector<(Timestamp, IdempotencyKey)>,
    /// How many of them are refusals.
    refusals: u64,
}

#[derive(Debug)]
struct Kept {
    /// As it was sent.
    body: Box<[u8]>,
    status: StatusCode,
    headers: HeaderLines,
    answer: StoredBody,
    /// The code of a refusal, for the request log.
    error: Option<ErrorCode>,
}

/// Headers as lines `name:value`, because a map of them takes three times the memory.
#[derive(Debug)]
struct HeaderLines(Box<[u8]>);

impl HeaderLines {
    fn of<'a, I: Iterator<Item = (&'a [u8], &'a [u8])>>(headers: impl Fn() -> I) -> Self {
        // The exact size, because the allocator keeps the whole block if a vector shrinks by less than half.
        let size = headers().map(|(name, value)| name.len() + value.len() + 2).sum();
        let mut lines = Vec::with_capacity(size);
        for (name, value) in headers() {
            lines.extend_from_slice(name);
            lines.push(b':');
            lines.extend_from_slice(value);
            lines.push(b'\n');
        }
        Self(lines.into())
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.0.split_inclusive(|&byte| byte == b'\n');
        lines.filter_map(|line| {
            let name = line.iter().position(|&byte| byte == b':')?;
            Some((&line[..name], &line[name + 1..line.len() - 1]))
        })
    }

    fn map(&self) -> HeaderMap {
        let header = |(name, value)| {
            let name = HeaderName::from_bytes(name).expect("only headers are stored");
            (name, HeaderValue::from_bytes(value).expect("only headers are stored"))
        };
        self.iter().map(header).collect()
    }
}

impl SeenKeys {
    /// A memory with these answers.
    pub(super) fn with(answers: Answers) -> Self {
        Self { answers, ..Self::default() }
    }

    /// The state of a key for this body. A new key is running until its `end`.
    pub(super) fn begin(&mut self, key: &IdempotencyKey, body: &[u8], now: Timestamp) -> Seen {
        self.answers.forget(now);
        match self.answers.by_key.get(key) {
            Some(kept) => kept.seen(body),
            None if self.running.insert(key.clone()) => Seen::Never,
            None => {
                let detail = "a request with this key is still being processed: retry in a moment";
                Seen::Running(ApiError::new(ErrorCode::RequestInProgress, detail))
            }
        }
    }

    /// Whether a key has an answer, so that its request changes nothing.
    pub(super) fn has_answer(&mut self, key: &IdempotencyKey, now: Timestamp) -> bool {
        self.answers.forget(now);
        self.answers.by_key.contains_key(key)
    }

    /// Number of stored refusals. They change nothing else in the world.
    pub(super) fn refusals(&mut self, now: Timestamp) -> u64 {
        self.answers.forget(now);
        self.answers.refusals
    }

    /// The request of a key has ended.
    pub(super) fn end(&mut self, key: &IdempotencyKey) {
        self.running.remove(key);
    }

    /// Whether a request with a key is running.
    pub(super) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Changes whenever all answers are exchanged.
    pub(super) const fn age(&self) -> u64 {
        self.age
    }

    /// The current answers.
    pub(super) const fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Whether there are no answers.
    pub(super) fn is_empty(&self) -> bool {
        self.answers.by_key.is_empty()
    }

    /// Replaces all answers by these, because the world was reset or restored. A running request belongs to
    /// the old world, so its answer is not stored.
    pub(super) fn exchange(&mut self, answers: Answers) {
        self.answers = answers;
        self.age += 1;
    }

    /// Stores the answer to the request with this key and body.
    pub(super) fn store(
        &mut self,
        (key, sent): (IdempotencyKey, &[u8]),
        reply: &Response<LazyBody>,
        now: Timestamp,
    ) {
        if self.answers.stored.len() >= MOST {
            self.answers.forget_first();
        }
        let headers =
            || reply.headers().iter().map(|(name, value)| (name.as_ref(), value.as_bytes()));
        let answer = Kept {
            body: sent.into(),
            status: reply.status(),
            headers: HeaderLines::of(headers),
            answer: reply.body().stored(),
            error: reply.extensions().get().copied(),
        };
        self.answers.add(now.plus_millis(LIFETIME_MS), key, answer);
    }
}

/// A stored answer, as a checkpoint stores it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WrittenAnswer {
    expires: Timestamp,
    key: String,
    path: String,
    body: String,
    status: u16,
    headers: Vec<(String, String)>,
    answer: String,
    error: Option<String>,
}

impl WrittenAnswer {
    fn of(expires: Timestamp, key: &IdempotencyKey, kept: &Kept) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let header = |(name, value): (&[u8], &[u8])| Some((text(name)?, text(value)?));
        let (key, path) = key.parts();
        Some(Self {
            expires,
            key: key.to_owned(),
            path: path.to_owned(),
            body: text(&kept.body)?,
            status: kept.status.as_u16(),
            headers: kept.headers.iter().map(header).collect::<Option<_>>()?,
            answer: String::from_utf8(kept.answer.to_bytes()).ok()?,
            error: kept.error.map(|error| error.code().to_owned()),
        })
    }

    fn read(self) -> Option<(Timestamp, IdempotencyKey, Kept)> {
        let is_header = |(name, value): &(String, String)| {
            HeaderName::try_from(name).is_ok() && HeaderValue::try_from(value).is_ok()
        };
        if !self.headers.iter().all(is_header) {
            return None;
        }
        let error = match self.error {
            Some(code) => Some(*ErrorCode::ALL.iter().find(|error| error.code() == code)?),
            None => None,
        };
        let headers =
            || self.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let kept = Kept {
            body: self.body.into_bytes().into(),
            status: StatusCode::from_u16(self.status).ok()?,
            headers: HeaderLines::of(headers),
            answer: StoredBody::Bytes(self.answer.into_bytes().into()),
            error,
        };
        Some((self.expires, IdempotencyKey::new(&self.key, &self.path), kept))
    }
}

impl Answers {
    /// All answers in the stored form; `None` if one of them is not text.
    pub(super) fn written(&self) -> Option<Vec<WrittenAnswer>> {
        let written = |(expires, key): &(Timestamp, IdempotencyKey)| {
            WrittenAnswer::of(*expires, key, self.by_key.get(key)?)
        };
        self.stored.iter().map(written).collect()
    }

    /// The stored answers; none if one of them is not in its form.
    pub(super) fn read(written: Vec<WrittenAnswer>) -> Option<Self> {
        let mut answers = Self::default();
        for written in written {
            let (expires, key, kept) = written.read()?;
            answers.add(expires, key, kept);
        }
        Some(answers)
    }

    fn add(&mut self, expires: Timestamp, key: IdempotencyKey, kept: Kept) {
        // Two replies are rarely stored in another order than that of their instants.
        let later = self.stored.iter().rev().take_while(|(other, _)| *other > expires).count();
        self.stored.insert(self.stored.len() - later, (expires, key.clone()));
        self.refusals += u64::from(kept.is_refusal());
        self.by_key.insert(key, Arc::new(kept));
    }

    fn forget(&mut self, now: Timestamp) {
        while self.stored.front().is_some_and(|(expires, _)| *expires <= now) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((_, key)) = self.stored.pop_front()
            && let Some(kept) = self.by_key.remove(&key)
        {
            self.refusals -= u64::from(kept.is_refusal());
        }
    }
}

impl Kept {
    fn is_refusal(&self) -> bool {
        self.status.is_client_error()
    }

    /// The result for a request with this key and body: the stored answer if the bodies are equivalent.
    fn seen(&self, body: &[u8]) -> Seen {
        if *self.body == *body {
            return Seen::Replay(self.replay());
        }
        // Only an empty body, which counts as an empty object, was accepted without being JSON.
        let parse = |text: &[u8]| json::parse(text).unwrap_or_else(|_| Map::new().into());
        let (kept, sent) = (parse(&self.body), parse(body));
        if json::canonical(&kept) == json::canonical(&sent) {
            Seen::Replay(self.replay())
        } else {
            Seen::OtherBody(other_body(&kept, &sent))
        }
    }

    fn replay(&self) -> Response<LazyBody> {
        let mut response = Response::new(self.answer.lazy());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.map();
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        response.extensions_mut().insert(Replayed);
        if let Some(code) = self.error {
            response.extensions_mut().insert(code);
        }
        response
    }
}

fn other_body(kept: &Value, sent: &Value) -> ApiError {
    let pointers = json::differing_pointers(kept, sent);
    let places = match pointers.as_slice() {
        [whole] if whole.is_empty() => "one is no object".to_owned(),
        some if some.len() == json::MOST_DIFFERENCES => {
            format!("they differ at {} and possibly at others", some.join(", "))
        }
        all => format!("they differ at {}", all.join(", ")),
    };
    let detail = format!("this key was used with another body: {places}");
    let differs = |pointer| {
        Violation::new(pointer, "differs", "differs from the earlier request with this key")
    };
    ApiError::new(ErrorCode::IdempotencyKeyReused, detail)
        .with_errors(pointers.into_iter().map(differs).collect())
}
