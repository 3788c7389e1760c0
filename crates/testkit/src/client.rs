//! A client of HTTP that says exactly what it is told to, over loopback or otherwise.
//!
//! Knows nothing of what it speaks to.

use std::fmt;
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::connection::{Loopback, read_reply};
use crate::event_stream::EventStream;
use crate::transport::{PendingResponse, Response, Transport};

/// Somebody who speaks to a server and shows a token.
#[derive(Clone)]
pub struct Client {
    /// Where the server listens, or says that it does.
    pub address: SocketAddr,
    /// What is shown to it.
    pub token: String,
    transport: Arc<dyn Transport>,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a client of {}", self.address)
    }
}

impl Client {
    /// Speaks to a server on loopback.
    pub fn new(address: SocketAddr, token: &str) -> Self {
        Self::over(Loopback { address }, address, token)
    }

    /// Speaks to a server that is reached in another way, and believes to have that address.
    pub fn over(transport: impl Transport + 'static, address: SocketAddr, token: &str) -> Self {
        Self {
            address,
            token: token.trim().to_owned(),
            transport: Arc::new(transport),
        }
    }

    pub fn get(&self, path: &str) -> Response {
        self.ask("GET", path, None, &[])
    }

    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.ask("POST", path, Some(body), &[])
    }

    /// Any other method, with further headers.
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Response {
        let body = body.map(Value::to_string);
        let mut all = headers.to_vec();
        if body.is_some() {
            all.push(("Content-Type", "application/json"));
        }
        let answer = self.send(method, path, &all, body.unwrap_or_default().as_bytes());
        answer
            .and_then(PendingResponse::read)
            .expect("the server answers")
    }

    #[track_caller]
    pub fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let answer = self.get(path).good(200);
            if is_so(&answer) {
                return answer;
            }
            assert!(Instant::now() < deadline, "{path}: {answer}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Says just this, and nothing of its own but how long the body is.
    pub fn say(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Response> {
        let reply = self.transport.send(method, path, headers, body);
        reply.and_then(PendingResponse::read)
    }

    /// A connection over loopback on which nothing was said yet.
    pub fn connect(&self) -> io::Result<TcpStream> {
        Loopback {
            address: self.address,
        }
        .connect()
    }

    /// Listens to events at a path.
    pub fn listen(&self, path: &str, headers: &[(&str, &str)]) -> io::Result<EventStream> {
        let reply = self.send("GET", path, headers, b"")?;
        if reply.status == 200 {
            return Ok(EventStream::new(reply));
        }
        let answer = reply.read()?;
        let told = format!("{} {}", answer.status, answer.text());
        Err(io::Error::other(told))
    }

    /// Says who it is, and to whom it speaks.
    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<PendingResponse> {
        let token = format!("Bearer {}", self.token);
        let host = self.address.to_string();
        let mut all = vec![("Host", host.as_str()), ("Authorization", token.as_str())];
        all.extend(headers);
        self.transport.send(method, path, &all, body)
    }
}

/// Reads one answer from a connection.
pub fn hear(stream: TcpStream) -> io::Result<Response> {
    read_reply(BufReader::new(stream)).and_then(PendingResponse::read)
}
