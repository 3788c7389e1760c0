//! A client of HTTP/1.1 on loopback that says exactly what it is told to, and reads streams of events.
//!
//! Knows nothing of what it speaks to.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Longer than any answer may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// Somebody who speaks to a server and shows a token.
#[derive(Debug, Clone)]
pub struct Client {
    /// Where the server listens.
    pub address: SocketAddr,
    /// What is shown to it.
    pub token: String,
}

/// What a server answered.
#[derive(Debug)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answered {
    /// The value of a header, if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
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

impl Client {
    /// Asks for a path.
    pub fn get(&self, path: &str) -> Answered {
        self.ask("GET", path, None, &[])
    }

    /// Posts JSON.
    pub fn post(&self, path: &str, body: &Value) -> Answered {
        self.ask("POST", path, Some(body), &[])
    }

    /// Any other method, with further headers.
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Answered {
        let token = format!("Bearer {}", self.token);
        let host = self.address.to_string();
        let mut all = vec![("Host", host.as_str()), ("Authorization", token.as_str())];
        all.extend(headers);
        let body = body.map(Value::to_string);
        if body.is_some() {
            all.push(("Content-Type", "application/json"));
        }
        self.say(method, path, &all, body.unwrap_or_default().as_bytes())
            .expect("the server answers")
    }

    /// Says just this, and nothing of its own but how long the body is.
    pub fn say(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answered> {
        let mut stream = self.connect()?;
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let length = body.len();
        let _ = write!(
            head,
            "Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        hear(&mut BufReader::new(stream))
    }

    /// A connection on which nothing was said yet.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Listens to events at a path.
    pub fn listen(&self, path: &str, headers: &[(&str, &str)]) -> io::Result<Listener> {
        let mut stream = self.connect()?;
        let mut head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n",
            self.address, self.token
        );
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader)?;
        if status != 200 {
            let body = read_body(&mut reader, &headers)?;
            return Err(io::Error::other(format!(
                "{status} {}",
                String::from_utf8_lossy(&body)
            )));
        }
        Ok(Listener {
            reader,
            chunk_left: 0,
            last_id: String::new(),
        })
    }
}

/// Reads one answer from a connection.
pub fn hear(reader: &mut impl BufRead) -> io::Result<Answered> {
    let (status, headers) = read_head(reader)?;
    let body = read_body(reader, &headers)?;
    Ok(Answered {
        status,
        headers,
        body,
    })
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn read_head(reader: &mut impl BufRead) -> io::Result<(u16, Vec<(String, String)>)> {
    let first = line(reader)?;
    let status = first
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no answer: {first}")))?;
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            return Ok((status, headers));
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
    }
}

fn read_body(reader: &mut impl BufRead, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
    let header = |name: &str| headers.iter().find(|(known, _)| known == name);
    let mut body = Vec::new();
    if header("transfer-encoding").is_some() {
        loop {
            let size = line(reader)?;
            let size = u64::from_str_radix(&size, 16).map_err(io::Error::other)?;
            reader.by_ref().take(size).read_to_end(&mut body)?;
            line(reader)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    let length = header("content-length").and_then(|(_, value)| value.parse().ok());
    reader.take(length.unwrap_or(0)).read_to_end(&mut body)?;
    Ok(body)
}

/// Somebody who hears events.
#[derive(Debug)]
pub struct Listener {
    reader: BufReader<TcpStream>,
    /// What is left of the chunk that is being read.
    chunk_left: usize,
    /// The last id that was heard, which is what a browser would go on from.
    pub last_id: String,
}

/// An event as it was heard.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// Its number, if it has one of its own.
    pub id: Option<u64>,
    /// Its name.
    pub event: String,
    /// What it carries.
    pub data: Value,
}

impl Listener {
    /// The next event with data; an error when the stream ends or nothing comes for long.
    pub fn next_event(&mut self) -> io::Result<Heard> {
        let (mut id, mut event, mut data) = (None, String::from("message"), String::new());
        loop {
            let line = self.line()?;
            if line.is_empty() {
                if !data.is_empty() {
                    let data = serde_json::from_str(&data)?;
                    return Ok(Heard { id, event, data });
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

    /// The next line of the stream, comments included.
    pub fn line(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        loop {
            if self.chunk_left == 0 {
                self.chunk_left = self.next_chunk()?;
            }
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let here = &buffer[..buffer.len().min(self.chunk_left)];
            let end = here.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(here.len(), |end| end + 1);
            bytes.extend_from_slice(&here[..end.unwrap_or(taken)]);
            self.reader.consume(taken);
            self.chunk_left -= taken;
            if self.chunk_left == 0 {
                line(&mut self.reader)?;
            }
            if end.is_some() {
                return String::from_utf8(bytes).map_err(io::Error::other);
            }
        }
    }

    fn next_chunk(&mut self) -> io::Result<usize> {
        let size = line(&mut self.reader)?;
        match usize::from_str_radix(&size, 16).map_err(io::Error::other)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            size => Ok(size),
        }
    }

    /// The connection, to be cut or left alone.
    pub fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }
}
