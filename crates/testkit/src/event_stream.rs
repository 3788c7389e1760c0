//! Reads a stream of server-sent events, line by line and event by event.
//!
//! Knows nothing of what the events mean.

use std::io::{self, BufRead};
use std::net::TcpStream;

use serde_json::Value;

use crate::transport::PendingResponse;

/// Somebody who hears events.
pub struct EventStream {
    reader: Box<dyn BufRead + Send>,
    stream: Option<TcpStream>,
    /// The last id that was heard, which is what a browser would go on from.
    pub last_id: String,
}

/// An event as it was heard.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedEvent {
    pub id: Option<u64>,
    pub event: String,
    pub data: Value,
}

impl EventStream {
    pub(crate) fn new(reply: PendingResponse) -> Self {
        Self {
            reader: reply.body,
            stream: reply.stream,
            last_id: String::new(),
        }
    }

    /// The next event with data; an error when the stream ends or nothing comes for long.
    pub fn next_event(&mut self) -> io::Result<ReceivedEvent> {
        let (mut id, mut event, mut data) = (None, String::from("message"), String::new());
        loop {
            let line = self.line()?;
            if line.is_empty() {
                if !data.is_empty() {
                    let data = serde_json::from_str(&data)?;
                    return Ok(ReceivedEvent { id, event, data });
                }
                (id, event) = (None, String::from("message"));
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => {
                    id = value.parse().ok();
                    value.clone_into(&mut self.last_id);
                }
                "event" => value.clone_into(&mut event),
                "data" => data.push_str(value),
                _ => {}
            }
        }
    }

    /// The next event of the log, which has a number.
    pub fn next_numbered(&mut self) -> io::Result<ReceivedEvent> {
        loop {
            let heard = self.next_event()?;
            if heard.id.is_some() {
                return Ok(heard);
            }
        }
    }

    /// The next line of the stream, comments included.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.pop();
        Ok(line)
    }

    /// The connection, to be cut or left alone.
    pub fn stream(&self) -> &TcpStream {
        self.stream.as_ref().expect("it listens over a connection")
    }
}
