//! The reference: hyper with constant bytes, on the same runtime as the sandbox.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Serves a body of this many bytes to every request, until it is killed.
pub(crate) fn serve(body_bytes: usize) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        println!("listening on http://{}", listener.local_addr()?);
        let body = Bytes::from(vec![b'x'; body_bytes]);
        let mut http = http1::Builder::new();
        http.header_read_timeout(None).pipeline_flush(true);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let body = body.clone();
            let answer = move |_: Request<Incoming>| {
                let mut response = Response::new(Full::new(body.clone()));
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                std::future::ready(Ok::<_, Infallible>(response))
            };
            let connection = http.serve_connection(TokioIo::new(stream), service_fn(answer));
            // An error is a client that left.
            tokio::spawn(async move { drop(connection.await) });
        }
    })
}
