//! A small HTTP server on loopback that serves git repositories and may want a password.
//!
//! Knows HTTP/1.1 as far as git speaks it; remembers every request for the test to look at.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// More than any test opens at once.
const MOST_CONNECTIONS: usize = 16;
/// More than any test sends.
const LARGEST_BODY: usize = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

const UNAUTHORIZED: &str = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\n\
                            Content-Length: 0\r\nConnection: close\r\n\r\n";

/// Who is let in.
#[derive(Debug, Clone)]
pub enum Access {
    /// Everybody.
    Open,
    /// Who knows the password, whatever the name.
    Password(String),
    /// Nobody: all are sent to another server.
    SentOnTo(String),
    /// Who knows the password is sent to another server.
    PasswordThenSentOnTo(String, String),
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// The path and what follows it.
    pub target: String,
    /// The name and password that came with it.
    pub login: Option<String>,
    /// Whether any process of this machine had the password on its command line then.
    pub is_password_in_argv: bool,
}

/// Serves the repositories below a folder until it is dropped.
pub struct GitServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    root: PathBuf,
    access: Access,
    /// What must be on no command line.
    password: String,
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    is_over: AtomicBool,
}

impl GitServer {
    /// Starts to serve; `password` is what is looked for on command lines.
    pub fn start(root: &Path, access: Access, password: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            root: root.to_owned(),
            access,
            password: password.to_owned(),
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let thread = thread::spawn(move || serving.serve(&listener));
        Self {
            shared,
            address,
            thread: Some(thread),
        }
    }

    /// The host and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The address of a repository by its path below the root.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Everything that was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        let requests = self.shared.requests.lock();
        requests.expect("no thread panics while it notes").clone()
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for somebody to come.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            if self.connections.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
                self.connections.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let shared = Arc::clone(&self);
            thread::spawn(move || {
                // A client that goes away is its own business.
                let _ = shared.answer(&stream);
                shared.connections.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }

    fn answer(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let asked = Asked::read(&mut BufReader::new(stream))?;
        let login = asked.headers.get("authorization").map(|value| login(value));
        let request = Request {
            target: asked.target.clone(),
            login: login.clone(),
            is_password_in_argv: is_in_argv(&self.password),
        };
        if let Ok(mut requests) = self.requests.lock() {
            requests.push(request);
        }
        let password = login.as_deref().and_then(|login| login.split_once(':'));
        let is_unknown = |wanted: &String| password.is_none_or(|(_, given)| given != wanted);
        let response = match &self.access {
            Access::Password(wanted) | Access::PasswordThenSentOnTo(wanted, _)
                if is_unknown(wanted) =>
            {
                UNAUTHORIZED.as_bytes().to_vec()
            }
            Access::SentOnTo(place) | Access::PasswordThenSentOnTo(_, place) => {
                let place = format!("{place}{}", asked.target);
                format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    .into_bytes()
            }
            Access::Open | Access::Password(_) => self.backend(&asked)?,
        };
        stream.write_all(&response)
    }

    /// Lets git itself answer.
    fn backend(&self, asked: &Asked) -> io::Result<Vec<u8>> {
        let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
        let header = |name: &str| asked.headers.get(name).map_or("", String::as_str);
        let mut child = Command::new("git")
            .arg("http-backend")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.root)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_PROJECT_ROOT", &self.root)
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
}

/// A request, read to its end.
struct Asked {
    method: String,
    target: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

impl Asked {
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
fn login(header: &str) -> String {
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

fn is_in_argv(password: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    let mut lines = processes.filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    !password.is_empty() && lines.any(|line| String::from_utf8_lossy(&line).contains(password))
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
