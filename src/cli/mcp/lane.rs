//! The order of messages: calls of tools run one after another, and other messages are answered at once.
//!
//! So a slow call does not delay a `ping`. A cancelled call gets no answer. If it has not begun, it is not made. If it has, the next call
//! begins at once, because the sandbox cannot stop a call.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::Value;

use super::exchange;
use crate::cli::ask::SandboxArgs;
use crate::cli::failure::Failure;
use crate::render::mcp::invalid_request;

/// The most bytes of a line.
const MOST_BYTES: usize = 1 << 20;

enum Line {
    Message(Vec<u8>),
    TooLong,
}

enum Event {
    /// The next line of the input; none at its end.
    Read(io::Result<Option<Line>>),
    /// The call with this number has ended.
    Answered(u64, Option<String>),
}

/// A call of a tool.
struct Call {
    /// The `id` of the request; null in a notification.
    id: Value,
    message: Vec<u8>,
}

struct Lane {
    sandbox: Arc<SandboxArgs>,
    authorization: Arc<str>,
    events: Sender<Event>,
    waiting: VecDeque<Call>,
    /// The running call: its number and the `id` of its request.
    running: Option<(u64, Value)>,
    /// The number of calls that have begun.
    begun: u64,
}

/// Answers the messages of the input until it ends and each call has its answer.
pub(super) fn run(sandbox: SandboxArgs, authorization: String) -> Result<(), Failure> {
    let (events, received) = channel();
    let reading = events.clone();
    thread::spawn(move || read(&reading));
    let mut lane = Lane {
        sandbox: Arc::new(sandbox),
        authorization: authorization.into(),
        events,
        waiting: VecDeque::new(),
        running: None,
        begun: 0,
    };
    match lane.answer(&received, &mut io::stdout().lock()) {
        Ok(()) => Ok(()),
        Err(Ended::Input(error)) => Err(Failure::impossible(error)),
        Err(Ended::Output(error)) => Failure::of_output(&error),
    }
}

/// Why no more messages can be answered.
enum Ended {
    Input(io::Error),
    Output(io::Error),
}

impl Lane {
    fn answer(&mut self, events: &Receiver<Event>, output: &mut impl Write) -> Result<(), Ended> {
        let mut is_open = true;
        while is_open || self.running.is_some() {
            let Ok(event) = events.recv() else { break };
            let answer = match event {
                Event::Read(Err(error)) => return Err(Ended::Input(error)),
                Event::Read(Ok(None)) => {
                    is_open = false;
                    None
                }
                Event::Read(Ok(Some(Line::TooLong))) => {
                    Some(invalid_request("a message has at most 1 MiB"))
                }
                Event::Read(Ok(Some(Line::Message(message)))) => self.take(message),
                Event::Answered(number, answer) => self.ended(number).and(answer),
            };
            if let Some(answer) = answer {
                let written = writeln!(output, "{answer}").and_then(|()| output.flush());
                written.map_err(Ended::Output)?;
            }
            self.begin_next();
        }
        Ok(())
    }

    /// Adds a call to those that wait, or returns the answer to another message.
    fn take(&mut self, message: Vec<u8>) -> Option<String> {
        if message.trim_ascii().is_empty() {
            return None;
        }
        let read: Value = serde_json::from_slice(&message).unwrap_or_default();
        match read["method"].as_str() {
            Some("tools/call") => {
                self.waiting.push_back(Call { id: read["id"].clone(), message });
                None
            }
            Some("notifications/cancelled") => {
                self.cancel(&read["params"]["requestId"]);
                None
            }
            _ => exchange(&self.sandbox, &self.authorization, &message),
        }
    }

    fn cancel(&mut self, id: &Value) {
        if id.is_null() {
            return;
        }
        self.waiting.retain(|call| call.id != *id);
        self.running.take_if(|(_, running)| running == id);
    }

    /// The running call has ended. None if it was cancelled.
    fn ended(&mut self, number: u64) -> Option<()> {
        self.running.take_if(|(running, _)| *running == number).map(drop)
    }

    fn begin_next(&mut self) {
        if self.running.is_some() {
            return;
        }
        let Some(Call { id, message }) = self.waiting.pop_front() else { return };
        self.begun += 1;
        let number = self.begun;
        self.running = Some((number, id));
        let (sandbox, authorization) = (Arc::clone(&self.sandbox), Arc::clone(&self.authorization));
        let events = self.events.clone();
        thread::spawn(move || {
            let answer = exchange(&sandbox, &authorization, &message);
            // The receiver is gone if the program ends.
            drop(events.send(Event::Answered(number, answer)));
        });
    }
}

/// Sends each line of the input, and its end.
fn read(events: &Sender<Event>) {
    let mut input = io::stdin().lock();
    loop {
        let line = next_line(&mut input);
        let is_last = !matches!(line, Ok(Some(_)));
        if events.send(Event::Read(line)).is_err() || is_last {
            return;
        }
    }
}

/// The next line, without its end; none at the end of the input. Of a line that is too long, nothing is kept.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX) + 1;
    let mut line = Vec::new();
    if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(Line::Message(line)));
    }
    if line.len() <= MOST_BYTES {
        return Ok(Some(Line::Message(line)));
    }
    input.skip_until(b'\n')?;
    Ok(Some(Line::TooLong))
}
