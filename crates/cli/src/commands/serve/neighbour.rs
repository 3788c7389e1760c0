//! What to do when the port is taken: a server of the same user gives another link, a stranger is told of.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use pleach_engine::state_folder::StateFolder;
use pleach_server::Token;
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
    let token = Token::of(state.path())?;
    let Some(path) = ask_for_link(port, &token) else {
        let message = format!("port {port} is taken by another program");
        return Err(Failure::new(Exit::Environment, "port_taken", message)
            .hint("--port chooses another one; 0 takes any that is free")
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
            "Pleach serves at {address} already\n  open it   {link}\n            (the link works once, for 15 minutes)\n"
        ));
    }
    if arguments.open {
        open(&link);
    }
    Ok(Exit::Success)
}

/// The path of a link, if a Pleach listens there that knows the same token.
fn ask_for_link(port: u16, token: &Token) -> Option<String> {
    // Looked at first: a stranger is not shown the token.
    let health = ask(port, "GET /health", "").ok()?;
    if health.get("status")? != "ok" || health.get("version").is_none() {
        return None;
    }
    let shown = format!("Authorization: Bearer {}\r\n", token.as_str());
    let link = ask(port, "POST /api/links", &shown).ok()?;
    Some(link.get("path")?.as_str()?.to_owned())
}

fn ask(port: u16, what: &str, headers: &str) -> io::Result<Value> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(LONGEST_ANSWER).read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    Ok(serde_json::from_str(body)?)
}
