//! One persistent connection, because a walk makes tens of thousands of calls.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use crate::harness::http::read_answer;
use crate::harness::{Answer, Request};

pub(super) struct WireLine {
    stream: TcpStream,
}

impl WireLine {
    pub(super) fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_nodelay(true).expect("a socket option");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("a socket option");
        Self { stream }
    }

    pub(super) fn send(&mut self, request: &Request) -> Answer {
        let request = request.clone().header("Connection", "keep-alive");
        self.stream.write_all(&request.wire()).unwrap_or_else(|error| panic!("{request}: {error}"));
        read_answer(&mut self.stream, false).unwrap_or_else(|error| panic!("{request}: {error}"))
    }
}
