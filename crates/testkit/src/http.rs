//! HTTP/1.1 on loopback, as far as git and programs that ask forges speak it.
//!
//! Knows nothing of what is served; lets git itself answer for repositories.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// More than any test opens at once.
const MOST_CONNECTIONS: usize = 64;
/// More than any test sends.
const LARGEST_BODY: usize = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const UNAUTHORIZED: &str = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\n\
                                       Content-Length: 0\r\nConnection: close\r\n\r\n";

/// What comes of a request.
pub(crate) enum Reply {
    /// These bytes are sent back.
    Bytes(Vec<u8>),
    /// The connection ends without a word.
    Cut,
    /// Nothing happens until the client has had enough.
    Silence,
    /// Somebody else writes to the client, for as long as it takes.
    Stream(StreamWriter),
}

/// Writes an answer bit by bit.
pub(crate) type StreamWriter = Box<dyn FnOnce(&TcpStream) -> io::Result<()>>;

/// Gives the answers of a server.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Answers one request; an error cuts the connection.
    fn answer(&self, asked: &HttpRequest) -> io::Result<Reply>;
}

/// A server that runs until it is dropped.
pub(crate) struct Listening {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Starts to serve on a free port.
    pub(crate) fn start(answers: Arc<dyn Handler>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || serve(&listener, &answers, &over));
        Self {
            address,
            is_over,
            thread: Some(thread),
        }
    }

    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for somebody to come.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, answers: &Arc<dyn Handler>, is_over: &AtomicBool) {
    let connections = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if connections.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            connections.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (answers, connections) = (Arc::clone(answers), Arc::clone(&connections));
        thread::spawn(move || {
            // A client that goes away is its own business.
            let _ = converse(&stream, &*answers);
            connections.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn converse(mut stream: &TcpStream, answers: &dyn Handler) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let asked = HttpRequest::read(&mut BufReader::new(stream))?;
    match answers.answer(&asked)? {
        Reply::Bytes(bytes) => stream.write_all(&bytes),
        Reply::Cut => Ok(()),
        Reply::Silence => {
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).map(drop)
        }
        Reply::Stream(write) => write(stream),
    }
}

/// A request, read to its end.
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let first = line(stream)?;
        let mut words = first.split(' ').map(str::to_owned);
        let method = words.next().unwrap_or_default();
        let target = words.next().unwrap_or_default();
        let mut headers = HashMap::new();
        while let Some((name, value)) = line(stream)?.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let is_chunked = headers
            .get("transfer-encoding")
            .is_some_and(|way| way == "chunked");
        let length = headers
            .get("content-length")
            .and_then(|length| length.parse().ok());
        let body = if is_chunked {
            chunks(stream)?
        } else {
            exactly(stream, length.unwrap_or(0))?
        };
        Ok(Self {
            method,
            target,
            headers,
            body,
        })
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.take(64 << 10).read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn exactly(stream: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    if length > LARGEST_BODY {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let length = usize::from_str_radix(&line(stream)?, 16);
        let length = length.map_err(|_| io::ErrorKind::InvalidData)?;
        body.extend(exactly(stream, length)?);
        line(stream)?;
        if length == 0 {
            return Ok(body);
        }
        if body.len() > LARGEST_BODY {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

pub(crate) fn backend(root: &Path, asked: &HttpRequest) -> io::Result<Vec<u8>> {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let header = |name: &str| asked.headers.get(name).map_or("", String::as_str);
    let mut child = Command::new("git")
        .arg("http-backend")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &asked.method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", asked.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("REMOTE_USER", "somebody")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let body = asked.body.clone();
    let writer = thread::spawn(move || stdin.write_all(&body));
    let printed = child.wait_with_output()?.stdout;
    let _ = writer.join();
    Ok(from_cgi(&printed))
}

/// Makes a response of what a CGI program printed.
fn from_cgi(printed: &[u8]) -> Vec<u8> {
    let end = printed.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = printed.split_at(end.map_or(printed.len(), |end| end + 4));
    let head = String::from_utf8_lossy(head);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: "));
    let mut response = format!("HTTP/1.1 {}\r\n", status.unwrap_or("200 OK"));
    for line in head
        .lines()
        .filter(|line| !line.starts_with("Status: ") && !line.is_empty())
    {
        response.push_str(line);
        response.push_str("\r\n");
    }
    let end = format!(
        "Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    response.push_str(&end);
    [response.as_bytes(), body].concat()
}

/// The `name:password` of a basic login.
pub(crate) fn login(header: &str) -> String {
    let encoded = header.strip_prefix("Basic ").unwrap_or_default();
    let (mut bits, mut have, mut bytes) = (0_u32, 0, Vec::new());
    for letter in encoded.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push(u8::try_from(bits >> have & 0xff).expect("eight bits are a byte"));
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether any process of this machine has a text on its command line.
pub(crate) fn is_in_argv(password: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    let mut lines = processes.filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    !password.is_empty() && lines.any(|line| String::from_utf8_lossy(&line).contains(password))
}

/// Text in an address as it was meant.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = hex.and_then(|two| u8::from_str_radix(two, 16).ok());
        let decoded = value.filter(|_| *first == b'%');
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::login;

    #[test]
    fn logins_are_decoded() {
        assert_eq!(login("Basic YW5uOnMzY3JldA=="), "ann:s3cret");
        assert_eq!(login("Bearer x"), "");
    }
}
