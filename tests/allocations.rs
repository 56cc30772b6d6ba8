//! Memory allocations of five requests, compared with a baseline, so that a more expensive request is noticed.
//!
//! The number of allocations does not depend on the machine or its load. A binary of its own, because its allocator counts those of all
//! threads: the server and the client run in this process, and the client prepares everything before the count.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test fails by panicking, and opens sockets"
)]

use std::alloc::System;
use std::io::{Read, Write};
use std::net::TcpStream;

use sandbox::Sandbox;
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The requests of a measurement. Growing buffers and lists are shared by all of them.
const MEASURED: usize = 200;
/// Uncounted requests before.
const WARM: usize = 50;

/// The allocations and the bytes of one request, in hundredths. After an intended change, replace a row by the numbers of the message.
const BASELINE: [(&str, [usize; 2]); 5] = [
    ("read a page", [1_334, 938_784]),
    ("read a small object", [5_543, 668_011]),
    ("create an employee", [5_656, 884_736]),
    ("create a company", [5_428, 1_035_990]),
    ("pay out", [10_956, 1_324_764]),
];

/// A connection that allocates nothing for an exchange.
struct Client {
    stream: TcpStream,
    buffer: Box<[u8]>,
}

impl Client {
    fn of(sandbox: &Sandbox) -> Self {
        let address = sandbox.url().trim_start_matches("http://");
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: vec![0; 64 * 1_024].into() }
    }

    /// Sends the request, and returns the status and the body of the reply.
    fn exchange(&mut self, request: &[u8]) -> (&[u8], &[u8]) {
        const LENGTH: &[u8] = b"\r\ncontent-length: ";
        self.stream.write_all(request).unwrap();
        let mut filled = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[filled..]).unwrap();
            assert!(read > 0, "the server closed the connection");
            filled += read;
            let got = &self.buffer[..filled];
            let Some(end) = got.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
            let head = &got[..end];
            let length = head.windows(LENGTH.len()).position(|bytes| bytes == LENGTH).unwrap();
            let digits =
                head[length + LENGTH.len()..].iter().take_while(|byte| byte.is_ascii_digit());
            let length = digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
            if filled == end + 4 + length {
                return (&self.buffer[9..12], &self.buffer[end + 4..filled]);
            }
        }
    }

    fn value(&mut self, request: &[u8]) -> Value {
        let (status, body) = self.exchange(request);
        let value: Value = serde_json::from_slice(body).unwrap();
        assert!(status[0] == b'2', "{value}");
        value
    }

    /// The allocations and bytes of each of these requests, in hundredths.
    fn measure(&mut self, requests: &[Vec<u8>]) -> [usize; 2] {
        assert_eq!(requests.len(), WARM + MEASURED);
        let (warm, measured) = requests.split_at(WARM);
        for request in warm {
            self.value(request);
        }
        let region = Region::new(COUNTING);
        for request in measured {
            let (status, _) = self.exchange(request);
            assert!(status[0] == b'2');
        }
        let counted = region.change();
        let count = counted.allocations + counted.reallocations;
        [count, counted.bytes_allocated].map(|total| total * 100 / MEASURED)
    }
}

fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_key\r\n\r\n")
        .into()
}

fn post(path: &str, number: usize, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_key\r\nContent-Type: application/json\r\n\
         Idempotency-Key: {number}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into()
}

/// As many requests as a measurement needs, each made from its number. No two are equal, so no answer comes from a cache.
fn numbered(first: usize, request: impl Fn(usize) -> Vec<u8>) -> Vec<Vec<u8>> {
    (first..first + WARM + MEASURED).map(request).collect()
}

/// The requests of each row, in its order.
fn requests(client: &mut Client) -> [Vec<Vec<u8>>; 5] {
    const EMPLOYEES: &str = "/api/business/employees";
    let companies = client.value(&get("/api/business/companies?per_page=1"));
    let company = &companies["data"][0]["id"];
    let wallets = format!("/api/payments/wallets?company_id={}", company.as_str().unwrap());
    let wallet = &client.value(&get(&wallets))["data"][0];
    let money = json!({ "company_id": company, "amount": 900_000_000_000_000_u64 });
    client.value(&post("/_sandbox/inbound/bank_transfer", 0, &money));
    let account = json!({ "bank_code": "058", "account_number": "9999999900", "country": "NG", "currency": wallet["currency"] });
    let payee = json!({ "company_id": company, "name": "Ada Bello", "type": "individual", "account": account });
    let payee = &client.value(&post("/api/payments/beneficiaries", 1, &payee))["data"]["id"];
    client.value(&post("/_sandbox/clock/advance", 2, &json!({ "by": "1m" })));
    let people: Vec<String> = (1..=10)
        .flat_map(|page| {
            let list = client.value(&get(&format!("{EMPLOYEES}?per_page=25&page={page}")));
            list["data"].as_array().unwrap().clone()
        })
        .map(|person| person["id"].as_str().unwrap().to_owned())
        .collect();
    [
        numbered(100, |number| get(&format!("{EMPLOYEES}?per_page=25&page={number}"))),
        numbered(0, |number| get(&format!("{EMPLOYEES}/{}", people[number]))),
        numbered(1_000, |number| {
            let name = format!("Ada Bench {number}");
            let role = json!({ "company_id": company, "name": name, "role": "Engineer", "department": "Engineering", "start_date": "2030-01-01" });
            post(EMPLOYEES, number, &role)
        }),
        numbered(2_000, |number| {
            let name = format!("Bench {number} Limited");
            let company = json!({ "legal_name": name, "country": "NG", "currency": "NGN" });
            post("/api/business/companies", number, &company)
        }),
        numbered(3_000, |number| {
            let reference = format!("Bench {number}");
            let payout = json!({
                "company_id": company, "wallet_id": wallet["id"], "beneficiary_id": payee, "amount": 100,
                "currency": wallet["currency"], "rail": "instant", "reference": reference,
            });
            post("/api/payments/payouts", number, &payout)
        }),
    ]
}

#[test]
fn five_requests_allocate_as_much_as_their_baseline() {
    let sandbox = Sandbox::builder().companies(100).employees_per_company(1_000);
    let sandbox = sandbox.start().unwrap();
    let mut client = Client::of(&sandbox);
    let measured = requests(&mut client).map(|requests| client.measure(&requests));
    let rows = BASELINE.iter().zip(measured);
    let wrong: Vec<_> = rows
        .filter(|((_, baseline), measured)| {
            let pairs = baseline.iter().zip(measured);
            // A tenth more is a regression. A tenth less is a new baseline, below which later regressions would hide.
            let mut pairs = pairs.map(|(baseline, measured)| measured * 100 / baseline.max(&1));
            pairs.any(|percent| !(90..=110).contains(&percent))
        })
        .map(|((name, baseline), measured)| {
            format!("(\"{name}\", {measured:?}), // was {baseline:?}")
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "a request has another cost than its baseline:\n{}",
        wrong.join("\n")
    );
}
