//! The refusals of the network layer.

use bytes::Bytes;
use http::Response;
use http::header::{CONNECTION, HeaderValue};
use http::request::Parts;

use crate::io::body::Unread;
use crate::io::edge::Edge;
use crate::io::handler::RequestHandler;
use crate::io::limits::Limits;
use crate::value::ErrorCode;

const CLOSE: HeaderValue = HeaderValue::from_static("close");

impl<A: RequestHandler> Edge<A> {
    pub(super) fn refuse(
        &self,
        head: Option<&Parts>,
        code: ErrorCode,
        detail: &str,
    ) -> Response<Bytes> {
        self.shared.engine.refuse(head, code, detail)
    }

    /// Reports the refusal to the engine, then sends it.
    pub(super) fn report_refusal(
        &self,
        mut refusal: Response<Bytes>,
        head: &Parts,
        body: &Bytes,
    ) -> Response<Bytes> {
        self.shared.engine.refused(head, body, &mut refusal);
        refusal
    }

    pub(super) fn refuse_unread(
        &self,
        head: &Parts,
        unread: Unread,
        admitted: &A::Admitted,
    ) -> Response<Bytes> {
        let Limits { body, body_bytes, .. } = self.shared.limits;
        let refusal = match unread {
            Unread::TooLarge => {
                let detail = format!("the body is larger than {body_bytes} bytes");
                self.refuse(Some(head), ErrorCode::PayloadTooLarge, &detail)
            }
            Unread::TooSlow => {
                let detail = format!("the body was not complete within {} s", body.as_secs());
                self.refuse(Some(head), ErrorCode::RequestTimeout, &detail)
            }
            Unread::Broken => {
                let detail = "the body ends early or its chunks are malformed";
                self.refuse(Some(head), ErrorCode::InvalidHeader, detail)
            }
        };
        self.shared.engine.unread(admitted, head, &refusal);
        self.closing(refusal)
    }

    /// A refusal before the end of its body closes the connection, after the client could read the refusal.
    pub(super) fn closing(&self, mut refusal: Response<Bytes>) -> Response<Bytes> {
        self.activity.linger();
        refusal.headers_mut().insert(CONNECTION, CLOSE);
        refusal
    }
}
