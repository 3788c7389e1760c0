//! What a model says, and how it gets to the agent: whole, in a stream, or not as it should.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::fault::ModelFault;
use super::script::ScriptedTalk;
use super::tools::Call;
use crate::http::Reply;

/// Between two bits of a stream that never ends.
const PACE: Duration = Duration::from_millis(100);

/// What a stream says that is cut or never ends.
pub(super) const AGAIN: &str = "Once more. ";

/// An answer of the model.
#[derive(Debug, Clone)]
pub(super) struct ModelReply {
    /// No two answers have the same.
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) thought: Option<String>,
    pub(super) text: Option<String>,
    pub(super) call: Option<Call>,
    pub(super) usage: (u64, u64),
}

impl ModelReply {
    pub(super) fn new(number: u64, usage: (u64, u64), body: &Value) -> Self {
        Self {
            number,
            model: body["model"].as_str().unwrap_or("stub-model").to_owned(),
            thought: None,
            text: None,
            call: None,
            usage,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Status(u16),
    Context,
}

/// The format that a provider speaks.
pub(super) trait Wire {
    fn talk(&self, body: &Value) -> ScriptedTalk;
    fn whole(&self, said: &ModelReply) -> Value;
    fn stream(&self, said: &ModelReply) -> Vec<String>;
    /// A stream that has begun to say something, and one more bit of it.
    fn beginning(&self, said: &ModelReply) -> (Vec<String>, String);
    /// Why there is no answer, as a status and its body.
    fn refusal(&self, why: Refusal) -> (u16, Value);
    /// The same in the middle of a stream; none where this provider would give a status.
    fn broken(&self, why: Refusal, said: &ModelReply) -> Option<String>;
}

pub(super) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// An event of a stream that has no name.
pub(super) fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

pub(super) fn spoken(wire: &dyn Wire, said: &ModelReply, is_streamed: bool) -> Reply {
    if is_streamed {
        streamed(wire.stream(said), Ending::Good)
    } else {
        json_answer(200, &[], &wire.whole(said))
    }
}

pub(super) fn failed(
    wire: &dyn Wire,
    fault: &ModelFault,
    said: &ModelReply,
    is_streamed: bool,
) -> Reply {
    let refuse = |why, headers: &[String]| {
        let (status, body) = wire.refusal(why);
        json_answer(status, headers, &body)
    };
    let (mut frames, more) = wire.beginning(said);
    match fault {
        ModelFault::Status(status, wait) => {
            let wait = wait.map(|seconds| format!("Retry-After: {seconds}"));
            refuse(Refusal::Status(*status), wait.as_slice())
        }
        ModelFault::Context => match wire.broken(Refusal::Context, said) {
            Some(broken) if is_streamed => {
                frames.truncate(1);
                frames.push(broken);
                streamed(frames, Ending::Good)
            }
            _ => refuse(Refusal::Context, &[]),
        },
        ModelFault::Hang => Reply::Stream(Box::new(until_gone)),
        ModelFault::Cut => {
            frames.push(more);
            streamed(frames, Ending::Cut)
        }
        ModelFault::Broken => match wire.broken(Refusal::Status(529), said) {
            Some(broken) if is_streamed => {
                frames.push(broken);
                streamed(frames, Ending::Good)
            }
            _ => refuse(Refusal::Status(529), &[]),
        },
        ModelFault::Endless => streamed(frames, Ending::Never(more)),
    }
}

/// How a stream ends.
enum Ending {
    Good,
    Cut,
    /// This is said again and again.
    Never(String),
}

fn streamed(frames: Vec<String>, ending: Ending) -> Reply {
    Reply::Stream(Box::new(move |mut client| {
        client.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n\
              Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        )?;
        for frame in &frames {
            chunk(client, frame)?;
        }
        match ending {
            Ending::Good => client.write_all(b"0\r\n\r\n"),
            Ending::Cut => Ok(()),
            Ending::Never(more) => {
                client.set_read_timeout(Some(PACE))?;
                let mut count = 0_u64;
                while is_there(client)? {
                    count += 1;
                    // Agents give up on a model that says the same again and again.
                    chunk(
                        client,
                        &more.replace(AGAIN, &format!("Line {count} of many. ")),
                    )?;
                }
                Ok(())
            }
        }
    }))
}

fn chunk(mut client: &TcpStream, text: &str) -> io::Result<()> {
    client.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

/// Waits for a while whether the client goes away.
fn is_there(mut client: &TcpStream) -> io::Result<bool> {
    match client.read(&mut [0; 64]) {
        Ok(count) => Ok(count > 0),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

fn until_gone(mut client: &TcpStream) -> io::Result<()> {
    client.set_read_timeout(None)?;
    client.read_to_end(&mut Vec::new()).map(drop)
}

pub(super) fn json_answer(status: u16, headers: &[String], body: &Value) -> Reply {
    let words = match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Status",
    };
    let body = body.to_string();
    let mut head = format!("HTTP/1.1 {status} {words}\r\nContent-Type: application/json\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    let end = format!(
        "Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    Reply::Bytes((head + &end).into_bytes())
}
