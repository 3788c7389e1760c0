//! A request on its way to a server and its answer on the way back, whatever carries them.

use std::io::{self, BufRead, Read as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Longer than any answer may take.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// How requests reach a server.
pub trait Transport: Send + Sync {
    /// Sends a request with just these headers, and how long the body is.
    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<PendingResponse>;
}

/// An answer whose body is still coming.
pub struct PendingResponse {
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Box<dyn BufRead + Send>,
    /// The connection that it comes by, if there is one.
    pub stream: Option<TcpStream>,
}

impl PendingResponse {
    pub(crate) fn read(mut self) -> io::Result<Response> {
        let mut body = Vec::new();
        self.body.read_to_end(&mut body)?;
        Ok(Response {
            status: self.status,
            headers: self.headers,
            body,
        })
    }
}

/// What a server answered.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a header, if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }

    /// The body of an answer with that status.
    #[track_caller]
    pub fn good(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// The code of an error with that status, which has a message and a hint.
    #[track_caller]
    pub fn bad(&self, status: u16) -> String {
        let body = self.good(status);
        let error = &body["error"];
        assert!(
            error["message"].is_string() && error["hint"].is_string(),
            "{body}"
        );
        error["code"].as_str().unwrap_or_default().to_owned()
    }
}
