//! What to do when the port is taken: a server of the same user gives another link, a stranger is told of.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use pleach_server::{Challenge, Token};
use pleach_system::state_folder::StateFolder;
use serde_json::{Value, json};

use super::open;
use crate::args::ServeArgs;
use crate::failure::{Exit, Failure, Failures};
use crate::output::tell;

const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_ANSWER: u64 = 64 << 10;

/// Asks whoever listens there for a link.
pub(super) fn visit(
    state: &StateFolder,
    port: u16,
    arguments: &ServeArgs,
) -> Result<Exit, Failures> {
    let token = Token::load_or_create(state.path())?;
    let Ok(path) = ask_for_link(port, &token) else {
        let message = format!("port {port} is taken by another program");
        return Err(Failure::new(Exit::Environment, "port_taken", message)
            .hint("choose another with --port (0 for any free one); if an older Pleach is serving there, stop it first")
            .into());
    };
    let address = format!("http://127.0.0.1:{port}");
    let link = format!("{address}{path}");
    if arguments.json {
        tell(format_args!(
            "{}\n",
            json!({"address": address, "link": link, "tokenFile": state.path().join("token"), "wasThere": true})
        ));
    } else {
        tell(format_args!(
            "Pleach is already serving {address}\n  board     {link}\n            (the link works once, for 15 minutes)\n"
        ));
    }
    if arguments.open {
        open(state, &link);
    }
    Ok(Exit::Success)
}

/// The path of a link, if a Pleach listens there that knows the same token.
///
/// Anybody can listen, an agent too, and answer as we would; so the token is shown only on a connection whose other end
/// has proved that it knows it.
fn ask_for_link(port: u16, token: &Token) -> io::Result<String> {
    let mut server = Connection::open(port)?;
    let challenge = Challenge::new();
    let answer = server.ask("GET", &challenge.path(), "")?;
    let proof = answer["proof"].as_str().unwrap_or_default();
    if !challenge.is_met(token, server.stream.get_ref().stream.peer_addr()?, proof) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let shown = format!("Authorization: Bearer {}\r\n", token.as_str());
    let link = server.ask("POST", "/api/links", &shown)?;
    let path = link["path"].as_str().ok_or(io::ErrorKind::InvalidData)?;
    Ok(path.to_owned())
}

/// One connection for several requests.
struct Connection {
    port: u16,
    stream: BufReader<DeadlineStream>,
}

/// A stream that is read until a certain moment, however little comes at a time.
struct DeadlineStream {
    stream: TcpStream,
    deadline: Instant,
}

impl Read for DeadlineStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

impl Connection {
    fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let deadline = Instant::now() + PATIENCE;
        let stream = BufReader::new(DeadlineStream { stream, deadline });
        Ok(Self { port, stream })
    }

    fn ask(&mut self, method: &str, path: &str, headers: &str) -> io::Result<Value> {
        let port = self.port;
        write!(
            self.stream.get_mut().stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}Content-Length: 0\r\n\r\n"
        )?;
        let mut answer = self.stream.by_ref().take(LONGEST_ANSWER);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line)?;
            let line = line.trim_ascii_end().to_ascii_lowercase();
            if let Some(announced) = line.strip_prefix("content-length:") {
                length = announced.trim().parse().map_err(io::Error::other)?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = Vec::new();
        answer.take(length).read_to_end(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}
